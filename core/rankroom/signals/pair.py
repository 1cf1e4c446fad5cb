"""Two runs as the rules look at them: their scores side by side, what is known of the queries, the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from rankroom.comparison import METRICS
from rankroom.paired import (
    MetricComparison,
    Sample,
    compare_metrics,
    compare_samples,
    holm,
    p_values,
    subtract,
)
from rankroom.resources import sql
from rankroom.tables import named_in
from rankroom.thresholds import Thresholds

Floats = NDArray[np.float64]
ASKED = (*METRICS, "judged")


@dataclass(frozen=True)
class Surroundings:
    """What is known beside the scores, the same for every pair of runs on a query set."""

    must_pass: frozenset[str]
    splits: dict[str, str]
    slices: dict[tuple[str, str], frozenset[str]]
    """The queries of every slice, by dimension and value."""
    with_steps: frozenset[str]
    """The runs that record more than one step of their pipelines."""
    rules: dict[str, tuple[str, str]]
    """Of each rule of the catalogue its title, and what to look at next."""
    _members: dict[tuple[str, ...], dict[tuple[str, str], NDArray[np.bool_]]] = field(default_factory=dict)

    def members(self, query_ids: Sequence[str]) -> dict[tuple[str, str], NDArray[np.bool_]]:
        """Which of these queries each slice holds. Most pairs are about the same queries: remembered."""
        ids = tuple(query_ids)
        if ids not in self._members:
            self._members[ids] = {
                key: np.fromiter((one in of_slice for one in ids), dtype=np.bool_, count=len(ids))
                for key, of_slice in self.slices.items()
            }
        return self._members[ids]

    @classmethod
    def read(cls, con: duckdb.DuckDBPyConnection, label_set: str) -> Surroundings:
        """Those of the queries that a label set is about."""
        ((query_set,),) = con.execute(
            "select query_set from label_sets where label_set = $label_set", {"label_set": label_set}
        ).fetchall()
        of_set = {"query_set": query_set}
        rows = con.execute(sql("signals/queries.sql"), of_set).fetchall()
        slices = con.execute(sql("signals/slices.sql"), of_set).fetchall()
        return cls(
            must_pass=frozenset(query_id for query_id, must_pass, _ in rows if must_pass),
            splits={query_id: split for query_id, _, split in rows if split is not None},
            slices={(dimension, value): frozenset(ids) for dimension, value, ids in slices},
            rules={
                rule: (title, look_next)
                for rule, title, look_next in con.execute(
                    "select rule, title, look_next from signal_rules order by position"
                ).fetchall()
            },
            with_steps=frozenset(run for (run,) in con.execute(sql("signals/with_steps.sql")).fetchall()),
        )


@dataclass(frozen=True)
class Scores:
    """The metrics of both runs at one k: a row a query, sorted by id, and a column a metric."""

    query_ids: list[str]
    baseline: Floats
    candidate: Floats

    def of(self, metric: str) -> tuple[Floats, Floats]:
        """Both runs' values of one metric."""
        at = ASKED.index(metric)
        return self.baseline[:, at], self.candidate[:, at]

    def change(self, metric: str) -> Floats:
        """Candidate minus baseline, query by query."""
        before, after = self.of(metric)
        return subtract(before, after)

    def only(self, queries: Sequence[str]) -> Scores:
        """Those of some queries."""
        wanted = {*queries}
        at = [place for place, query_id in enumerate(self.query_ids) if query_id in wanted]
        return Scores([self.query_ids[place] for place in at], self.baseline[at], self.candidate[at])

    def where(self, chosen: NDArray[np.bool_]) -> list[str]:
        """The ids of the queries that a mask chooses."""
        return [self.query_ids[at] for at in np.flatnonzero(chosen)]

    def by_size(self, metric: str, sign: int, chosen: NDArray[np.bool_] | None = None) -> list[str]:
        """The queries in which a metric rose (1) or fell (-1), the largest change first."""
        change = self.change(metric) * sign
        wanted = change > 0 if chosen is None else (change > 0) & chosen
        order = np.argsort(-change, kind="stable")
        return [self.query_ids[at] for at in order if wanted[at]]


@dataclass(frozen=True)
class Test:
    """A test of a family. Its interval takes longer than its p, and is made where a rule has use for it."""

    sample: Sample
    p: float | None
    p_holm: float | None

    @cached_property
    def _change(self) -> Floats:
        return subtract(self.sample.baseline, self.sample.candidate)

    @property
    def n(self) -> int:
        """How many queries."""
        return len(self._change)

    @property
    def difference(self) -> float | None:
        """Candidate minus baseline, in the mean."""
        return float(self._change.mean()) if self.n else None

    @property
    def wins(self) -> int:
        """Queries in which it rose."""
        return int((self._change > 0).sum())

    @property
    def losses(self) -> int:
        """Queries in which it fell."""
        return int((self._change < 0).sum())

    def full(self, k: int, limits: Thresholds) -> MetricComparison:
        """The same as a comparison shows it."""
        (one,) = compare_samples([self.sample], k, limits)
        return replace(one, p=self.p, p_holm=self.p_holm)


def family(samples: Sequence[Sample]) -> list[Test]:
    """Tests that are corrected together, each on queries of its own."""
    p: list[float | None] = []
    for sample in samples:
        change = subtract(sample.baseline, sample.candidate)[:, None]
        p += p_values(change, [sample.metric], len(samples))
    return _corrected(samples, p)


def _corrected(samples: Sequence[Sample], p: Sequence[float | None], families: int = 1) -> list[Test]:
    """By Holm in the family, and by Bonferroni over several such families."""
    return [
        Test(sample, one, None if corrected is None else min(1.0, corrected * families))
        for sample, one, corrected in zip(samples, p, holm(p), strict=True)
    ]


@dataclass(frozen=True)
class Slice:
    """A slice of the queries, and what NDCG does in it."""

    dimension: str
    value: str
    member: NDArray[np.bool_]
    of: Test


@dataclass(frozen=True)
class Move:
    """What became of one document that carries gain."""

    query_id: str
    move: str
    baseline_hit: bool
    relevant: bool


class Pair:
    """A candidate run against its baseline at k, over all queries or some. What a rule asks is read once."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        base: str,
        cand: str,
        k: int,
        label_set: str,
        about: Surroundings,
        limits: Thresholds,
        queries: Sequence[str] | None = None,
    ):
        self.con = con
        self.base, self.cand, self.k, self.label_set = base, cand, k, label_set
        self.about, self.limits = about, limits
        self._queries = None if queries is None else list(queries)

    # What the runs have

    @cached_property
    def by_cutoff(self) -> dict[int, Scores]:
        """The scores at every cutoff that both runs have."""
        found = self._ask("scores").fetchnumpy()
        return {
            int(k): Scores(
                [str(one) for one in found["query_id"][at]],
                *(
                    np.column_stack([_plain(found[f"{side}_{metric}"][at]) for metric in ASKED])
                    for side in ("b", "c")
                ),
            )
            for k, at in _groups(found["k"])
        }

    def only(self, queries: Sequence[str]) -> Pair:
        """The same pair over some of its queries."""
        part = Pair(self.con, self.base, self.cand, self.k, self.label_set, self.about, self.limits, queries)
        # Set where it would be remembered: what was read of all queries is not read again.
        part.by_cutoff = {k: scores.only(queries) for k, scores in self.by_cutoff.items()}
        return part

    @cached_property
    def scores(self) -> Scores:
        """The scores at k."""
        nothing = np.empty((0, len(ASKED)))
        return self.by_cutoff.get(self.k, Scores([], nothing, nothing))

    @property
    def n(self) -> int:
        """Labelled, answerable queries that both runs have."""
        return len(self.scores.query_ids)

    @cached_property
    def moves(self) -> list[Move]:
        """What became of every document that carries gain."""
        return [Move(*row) for row in self._ask("moves").fetchall()]

    @property
    def has_steps(self) -> bool:
        """Whether both runs record more than one step of their pipelines."""
        return {self.base, self.cand} <= self.about.with_steps

    @cached_property
    def costs(self) -> dict[str, Any]:
        """What each query took in both runs."""
        return self.columns("costs")

    @cached_property
    def answers(self) -> list[tuple[Any, ...]]:
        """The answer scores that both runs have."""
        return self.rows("answers")

    def columns(self, question: str) -> dict[str, Any]:
        """The answer to one of the statements in sql/signals, as columns."""
        return {
            name: values if values.dtype == object else _plain(values)
            for name, values in self._ask(question).fetchnumpy().items()
        }

    def rows(self, question: str) -> list[tuple[Any, ...]]:
        """The answer to one of the statements in sql/signals."""
        return self._ask(question).fetchall()

    def _ask(self, question: str) -> duckdb.DuckDBPyConnection:
        statement = sql(f"signals/{question}.sql")
        values = {
            "base": self.base,
            "cand": self.cand,
            "k": self.k,
            "label_set": self.label_set,
            # Those that count, which are known once the scores are.
            "queries": self._queries if question == "scores" else self.scores.query_ids,
        }
        return self.con.execute(statement, named_in(statement, values))

    # What the tests say

    @cached_property
    def tests(self) -> dict[str, Test]:
        """Every metric at k: one family, the one that a comparison shows."""
        changes = np.column_stack([self.scores.change(metric) for metric in METRICS])
        p = p_values(changes, METRICS, len(METRICS))
        return {
            metric: Test(Sample(metric, self.scores.query_ids, *self.scores.of(metric)), *both)
            for metric, *both in zip(METRICS, p, holm(p), strict=True)
        }

    @cached_property
    def at_k(self) -> dict[str, MetricComparison]:
        """The same as a comparison shows them, with their intervals."""
        wanted = [ASKED.index(metric) for metric in METRICS]
        found = compare_metrics(
            self.scores.query_ids,
            self.scores.baseline[:, wanted],
            self.scores.candidate[:, wanted],
            METRICS,
            self.k,
            self.limits,
        )
        return {one.metric: one for one in found}

    @cached_property
    def slices(self) -> list[Slice]:
        """NDCG at k in every slice that is not thin. The slices of a dimension are one family."""
        dimensions: dict[str, dict[str, NDArray[np.bool_]]] = {}
        for (dimension, value), member in self.about.members(self.scores.query_ids).items():
            if self.limits.thin <= member.sum() < self.n:
                dimensions.setdefault(dimension, {})[value] = member
        return [
            Slice(dimension, value, member, test)
            for dimension, members in dimensions.items()
            for (value, member), test in zip(
                members.items(), self.parts("ndcg", list(members.values()), len(dimensions)), strict=True
            )
        ]

    def parts(self, metric: str, members: Sequence[NDArray[np.bool_]], families: int = 1) -> list[Test]:
        """One metric in several parts of the queries, as one family."""
        before, after = self.scores.of(metric)
        ids = np.array(self.scores.query_ids, dtype=object)
        change = self.scores.change(metric)
        # A query outside the part is one that did not change: so signs are drawn once for all parts.
        inside = np.column_stack([np.where(member, change, 0.0) for member in members])
        p = p_values(inside, [metric] * len(members), len(members) * families)
        return _corrected(
            [Sample(metric, list(ids[member]), before[member], after[member]) for member in members],
            [one if member.any() else None for one, member in zip(p, members, strict=True)],
            families,
        )

    def full(self, test: Test) -> MetricComparison:
        """A test as a comparison shows it."""
        return test.full(self.k, self.limits)


def _groups(ks: NDArray[np.int32]) -> list[tuple[int, slice]]:
    """The rows of each k, of which there is one run of rows."""
    values, starts = np.unique(ks, return_index=True)
    ends = [*starts[1:], len(ks)][: len(starts)]
    return [(int(k), slice(int(a), int(b))) for k, a, b in zip(values, starts, ends, strict=True)]


def _plain(values: Any) -> Floats:
    """Numbers as floats, NULL as NaN."""
    filled: Floats = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
    return filled
