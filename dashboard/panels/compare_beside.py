"""What the metrics do not show and a verdict rests on: leaks, failures of the run, missing labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from panels import words
from panels.compare_pair import Pair
from panels.compare_queries import values
from panels.filters import Filters
from panels.means import source
from panels.question import Question
from panels.store_access import Row

COUNTS = {
    "leaks": "leaks",
    "errored": "errors and timeouts",
    "left_out": "left out",
    "empty": "returned nothing",
}
SHARES = {
    "judged": "labelled in the first {k}",
    "correct_abstention": "declined where nothing answers",
    "false_abstention": "declined though an answer exists",
}

BESIDE = """
select asked.role, asked.run, {columns}
from (values ('baseline', $base), ('candidate', $cand)) as asked(role, run)
join {source} on means.run = asked.run
{where}order by asked.role
"""


def question(filters: Filters, pair: Pair, compared: tuple[str, ...] | None) -> Question:
    """What was counted of both runs, over the queries that are compared."""
    found, where = source(filters)
    if compared is not None:
        stage = "" if filters.stage == "final" else ", stage := $stage"
        found, where = f"means_of($compared, at_k := $k, label_set := $label_set{stage}) as means", ""
    sql = BESIDE.format(
        columns=", ".join(f"means.{name}" for name in (*COUNTS, *SHARES)),
        source=found,
        where=f"where {where}\n" if where else "",
    )
    return Question(sql, values(filters, pair, compared))


def facts(rows: list[Row], k: int) -> list[tuple[str, str]]:
    """What is worth a word: counts that are not 0 in both, and shares that a run has."""
    return [(name, _change(base, cand)) for name, base, cand in _both(rows, k) if base or cand]


def sentence(rows: list[Row], k: int) -> str | None:
    """Where two runs of the same scores differ all the same; None if they do not here either."""
    differing = [f"{name} {_change(base, cand)}" for name, base, cand in _both(rows, k) if base != cand]
    return f"They differ beside the metrics: {', '.join(differing)}." if differing else None


def _both(rows: list[Row], k: int) -> Iterator[tuple[str, Any, Any]]:
    by_run = {row["role"]: row for row in rows}
    if len(by_run) < 2:
        return
    for column, name in (COUNTS | SHARES).items():
        base, cand = by_run["baseline"][column], by_run["candidate"][column]
        if base is not None and cand is not None:
            yield name.format(k=k), base, cand


def _change(base: int | float, cand: int | float) -> str:
    before, after = (f"{one:,}" if isinstance(one, int) else words.number(one) for one in (base, cand))
    return f"{before} → {after}"
