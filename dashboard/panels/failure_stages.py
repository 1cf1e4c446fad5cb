"""Runs that record different stages: their causes of failure differ even where they rank alike."""

from __future__ import annotations

from panels import words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

STEPS = """
select run, steps
from steps_before_final
where list_contains($runs, run)
order by list_position($runs, run)
"""

NEVER_RETRIEVED = (
    "never retrieved: no stage that the run records has a relevant document; where it records none before "
    "final, it is not in its results"
)


def question(filters: Filters, runs: list[str]) -> Question:
    """Which steps each of these runs records before its final one."""
    return Question(STEPS, filters.values() | {"runs": tuple(runs)})


def different_stages(rows: list[Row]) -> str:
    """That two runs record different stages, and what follows, as Markdown; empty if they do not."""
    if len({tuple(row["steps"]) for row in rows}) < 2:
        return ""
    first, second = sorted(rows, key=lambda row: len(row["steps"]) > 0)
    names = words.quoted(first["run"]), words.quoted(second["run"])
    if first["steps"]:
        return (
            f"{names[0]} and {names[1]} record different stages before `final`: what is lost at a stage in "
            "one may be lost at another, never retrieved, below the cutoff or partial in the other."
        )
    return (
        f"{names[0]} records no stage before `final`, {names[1]} does: what is lost at a stage in one is "
        "never retrieved, below the cutoff or partial in the other."
    )


def without_stages(rows: list[Row]) -> str:
    """Which of these runs record only their final ranking, as Markdown; empty if all or none do."""
    bare = [row["run"] for row in rows if not row["steps"]]
    if len(bare) in (0, len(rows)):
        return ""
    who = words.listed(bare, most=len(bare))
    one = len(bare) == 1
    return (
        f"{who} {'records' if one else 'record'} no stage before `final`: in {'it' if one else 'them'} never "
        "retrieved means not in the results, and nothing is lost at a stage."
    )
