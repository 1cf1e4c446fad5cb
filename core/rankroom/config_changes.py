"""What changed between the configurations of two runs, and what the change can be credited to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

CONVENTIONAL = (
    "embedding.model",
    "lexical.analyzer",
    "candidates.n",
    "reranker.model",
    "filters",
    "final.k",
    "chunk.size",
)
"""Names of settings that most pipelines have. A run is free to name others, and none of these."""


@dataclass(frozen=True)
class Setting:
    """A setting in which two runs differ."""

    setting: str
    baseline: str | None
    """Its value; None where the run does not name it."""
    candidate: str | None


def config_changes(con: duckdb.DuckDBPyConnection, baseline: str, candidate: str) -> list[Setting]:
    """The settings in which the runs differ, by name."""
    return [
        Setting(*row)
        for row in con.execute(
            "select setting, baseline, candidate from config_diff($base, $cand) order by setting",
            {"base": baseline, "cand": candidate},
        ).fetchall()
    ]


def absent_settings(con: duckdb.DuckDBPyConnection, baseline: str, candidate: str) -> list[str]:
    """The conventional settings that neither run names."""
    named = {
        name
        for (name,) in con.execute(
            "select distinct setting from run_config where run in ($base, $cand)",
            {"base": baseline, "cand": candidate},
        ).fetchall()
    }
    # A run may name a whole group, as in filters.language.
    return [
        name
        for name in CONVENTIONAL
        if not any(there == name or there.startswith(f"{name}.") for there in named)
    ]


def one_change(
    con: duckdb.DuckDBPyConnection, baseline: str, candidate: str, changes: Sequence[Setting]
) -> str | None:
    """Why the effect cannot be credited to one setting; None where exactly one changed."""
    if len(changes) == 1 or baseline == candidate:
        return None
    if changes:
        return f"{len(changes)} settings changed: the effect cannot be credited to one of them"
    ((said,),) = con.execute(
        "select count(distinct run) from run_config where run in ($base, $cand)",
        {"base": baseline, "cand": candidate},
    ).fetchall()
    if said == 2:
        return "no setting changed: what made the difference is not among the settings that the runs name"
    return "the runs name no settings: what made the difference is not known"
