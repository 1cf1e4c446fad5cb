"""Worked examples of SQL: files of sql/examples, each with a title and the question that it answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rankroom.resources import folder

from panels.question import Question, Value
from panels.store_access import Reader

NAMES = Question(
    """
with board as (
    select run, label_set, row_number() over labels as place,
           count(*) over (partition by label_set) as num_runs
    from run_summary
    where k = 5 and split = 'all'
    window labels as (partition by label_set order by ndcg desc nulls last, run)
), pairs as (
    select candidate.run as cand, baseline.run as base, 1 as preference, candidate.num_runs, runs.created
    from board as candidate
    join runs on runs.run = candidate.run
    join board as baseline on baseline.run = runs.baseline and baseline.label_set = candidate.label_set
    union all
    select first.run, coalesce(second.run, first.run), 2, first.num_runs, null
    from board as first
    left join board as second on second.label_set = first.label_set and second.place = 2
    where first.place = 1
)
select base, cand, if(exists (from queries where split = 'dev'), 'dev', 'all') as split
from pairs
order by num_runs desc, preference, created desc nulls last, cand
limit 1
"""
)
"""Names that the examples are filled with: the newest run that declares a baseline, else the best two."""

UNNAMED: dict[str, Value] = {"base": "BASELINE", "cand": "CANDIDATE", "split": "all"}


@dataclass(frozen=True)
class Example:
    """A statement with $base, $cand and $split where names of the store belong."""

    title: str
    question: str
    sql: str

    def filled(self, names: dict[str, Value]) -> str:
        """The statement for this store, under its question as a comment."""
        return f"-- {self.question}\n{Question(self.sql, names).shown().removesuffix(';')}"


@cache
def examples() -> tuple[Example, ...]:
    """The examples in the order of their files."""
    paths = sorted((folder("sql") / "examples").glob("*.sql"))
    return tuple(_example(path.read_text(encoding="utf-8")) for path in paths)


def names_of(store: Reader) -> dict[str, Value]:
    """What the examples are filled with in this store."""
    return UNNAMED | (store.row(NAMES) or {})


def _example(text: str) -> Example:
    title, question, sql = text.split("\n", 2)
    return Example(title.removeprefix("-- "), question.removeprefix("-- "), sql.strip())
