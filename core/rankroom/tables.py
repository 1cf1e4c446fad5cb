"""Which tables of a store hold what belongs to a run, and appending a workspace's rows to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

RUN_TABLES = (
    "runs",
    "run_stages",
    "run_config",
    "run_queries",
    "rankings",
    "ranking_lengths",
    "answer_scores",
)
"""What was read of a run."""

SCORE_TABLES = (
    "labelled_ranks",
    "query_metrics",
    "query_metrics_uncut",
    "slice_means",
    "unlabelled_queries",
    "run_suspects",
    "scorings",
)
"""What was computed of a run under a label set."""


def append(
    con: duckdb.DuckDBPyConnection, table: str, column: str, keys: list[str], subject_kind: str | None = None
) -> None:
    """Append to a table of the store the workspace's rows that belong to these keys."""
    if keys:
        con.execute(
            f"insert into store.main.{table} by name select * from memory.main.{table}"
            f" where list_contains($keys::varchar[], {column})"
            + (" and subject_kind = $kind" if subject_kind else ""),
            {"keys": keys} | ({"kind": subject_kind} if subject_kind else {}),
        )


def named_in(statement: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a statement names: DuckDB takes no others."""
    return {name: value for name, value in values.items() if f"${name}" in statement}


def copy_rows(
    stored: duckdb.DuckDBPyConnection,
    con: duckdb.DuckDBPyConnection,
    copies: dict[str, str],
    parameters: Mapping[str, Any],
) -> None:
    """Copy the results of these queries on a store into the workspace's tables of those names."""
    for table, query in copies.items():
        if rows := stored.sql(query, params=named_in(query, parameters)).to_arrow_table():
            con.register("copied", rows)
            con.execute(f"insert into {table} by name from copied")
            con.unregister("copied")
