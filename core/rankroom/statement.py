"""One statement of SQL on a store, for the command line."""

from __future__ import annotations

from typing import Any

import duckdb

from rankroom.errors import RankroomError, UsageError
from rankroom.output import rows
from rankroom.store import Store


def ask(store: Store, statement: str) -> list[dict[str, Any]]:
    """The rows of one statement. The store is open for reading only."""
    with store.read() as con:
        try:
            statements = con.extract_statements(statement)
            if len(statements) != 1:
                raise UsageError(f"expected one SQL statement, and got {len(statements)}")
            return rows(con, statement)
        except duckdb.Error as error:
            raise RankroomError(str(error)) from error
