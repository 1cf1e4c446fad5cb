"""One statement of SQL on a store, for the command line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb

from rankroom.errors import RankroomError, UsageError
from rankroom.faults import clip
from rankroom.output import rows
from rankroom.store import Store

ONLY_READS = "the store is open for reading only: a statement cannot change it (add, rescore and remove do)"
LINE = 300
"""DuckDB's messages quote the value they are about, however long."""


def ask(store: Store, statement: str) -> list[dict[str, Any]]:
    """The rows of one statement. The store is open for reading only."""
    with store.read() as con, ThreadPoolExecutor(1) as aside:
        # Aside, since DuckDB can keep the thread that it works in from hearing of Ctrl-C.
        answer = aside.submit(_ask, con, statement)
        try:
            return answer.result()
        except KeyboardInterrupt:
            con.interrupt()
            raise


def _ask(con: duckdb.DuckDBPyConnection, statement: str) -> list[dict[str, Any]]:
    try:
        statements = con.extract_statements(statement)
        if len(statements) != 1:
            raise UsageError(f"expected one SQL statement, and got {len(statements) or 'none'}")
        return rows(con, statement)
    except duckdb.Error as error:
        raise RankroomError(_sentence(str(error))) from error


def _sentence(message: str) -> str:
    if "read-only mode" in message:
        return ONLY_READS
    return "\n".join(clip(line, LINE) for line in message.splitlines())
