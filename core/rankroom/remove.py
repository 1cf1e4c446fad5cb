"""Removing runs from a store. Data sets stay: other runs and later ones read them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import duckdb

from rankroom.errors import UsageError
from rankroom.store import WRITE_WAIT, Store
from rankroom.tables import RUN_TABLES, SCORE_TABLES


def remove_runs(store: Store, runs: Sequence[str], wait: float = WRITE_WAIT) -> None:
    """Remove these runs and all that was computed of them: all, or none if one of them is not there.

    Notes that people wrote stay, as they are about queries.
    """
    with store.read() as con:
        _check(store, con, runs, "")
    with closing(duckdb.connect()) as con, store.write(con, wait):
        _check(store, con, runs, "store.main.")
        for table in (*RUN_TABLES, *SCORE_TABLES):
            con.execute(
                f"delete from store.main.{table} where list_contains($runs::varchar[], run)",
                {"runs": list(runs)},
            )
        con.execute(
            "delete from store.main.signal_findings"
            " where list_contains($runs::varchar[], run) or list_contains($runs::varchar[], baseline)",
            {"runs": list(runs)},
        )
        con.execute(
            "delete from store.main.doubts"
            " where subject_kind = 'run' and list_contains($runs::varchar[], subject)",
            {"runs": list(runs)},
        )


def _check(store: Store, con: duckdb.DuckDBPyConnection, runs: Sequence[str], catalog: str) -> None:
    known = {run for (run,) in con.execute(f"select run from {catalog}runs").fetchall()}
    if missing := [run for run in runs if run not in known]:
        raise UsageError(f"there is no run named {missing[0]} in {store.path}: nothing was removed")
