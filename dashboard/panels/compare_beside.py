"""What the metrics do not show and a verdict rests on: leaks, failures of the run, missing labels."""

from __future__ import annotations

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


def facts(rows: list[Row], k: int) -> list[tuple[str, object]]:
    """What is worth a word: counts that are not 0 in both, and shares that a run has."""
    by_run = {row["role"]: row for row in rows}
    if len(by_run) < 2:
        return []
    base, cand = by_run["baseline"], by_run["candidate"]
    found: list[tuple[str, object]] = [
        (name, f"{base[column]:,} → {cand[column]:,}")
        for column, name in COUNTS.items()
        if base[column] or cand[column]
    ]
    for column, name in SHARES.items():
        if base[column] is not None and cand[column] is not None and (base[column] or cand[column]):
            share = f"{words.number(base[column])} → {words.number(cand[column])}"
            found.append((name.format(k=k), share))
    return found
