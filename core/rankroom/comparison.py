"""A candidate run compared with a baseline: can it be, what changed, by how much, for whom, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import duckdb

from rankroom import comparability
from rankroom.comparability import Reason
from rankroom.config_changes import Setting, absent_settings, config_changes, one_change
from rankroom.errors import UsageError
from rankroom.paired import (
    RESAMPLES,
    SEED,
    MetricComparison,
    Sample,
    compare_metrics,
    compare_samples,
    num_randomisations,
)
from rankroom.resources import sql
from rankroom.scoring import check_cutoffs
from rankroom.slicing import check_dimensions, check_number
from rankroom.thresholds import Thresholds, read_thresholds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METRICS = ("ndcg", "hit", "recall", "precision", "rr", "ap", "complete", "f1", "ndcg_exp")
"""The family: these metrics are tested, and corrected, together."""


@dataclass(frozen=True)
class AccountRow:
    """Moves of one kind: what they add to the change of one metric's mean."""

    metric: str
    """ndcg, recall, hit or rr."""
    move: str
    """entered (the first k), left (it), up or down (inside it), same, or outside (in both runs); or labels:
    what other labels did to the baseline."""
    baseline_hit: bool
    """Whether the baseline had a relevant document of these queries in the first k."""
    documents: int
    """How many moved so; of hit and rr, the first relevant document of each query."""
    queries: int
    share: float


@dataclass(frozen=True)
class SliceComparison(MetricComparison):
    """One metric in one slice, corrected over the slices that are shown with it."""

    slice: dict[str, str]
    """Its value in each dimension."""
    thin: bool
    """Whether it has so few queries that it decides nothing."""


@dataclass(frozen=True)
class SharedCandidates:
    """In how many queries, of those that both ran, the two pipelines began with the same documents."""

    identical: int
    of: int


@dataclass(frozen=True)
class Comparison:
    """Two runs compared. Where they cannot be, and `common` was not asked for, there are no metrics."""

    baseline: str
    candidate: str
    k: int
    label_set: str | None
    """The labels under which they are compared; None: there are none that both have scores under."""
    baseline_labels: str | None
    """Other labels of the baseline, where that was asked for."""
    split: str
    stage: str
    comparable: bool
    """Whether the same was asked of both, under the same labels, over the same collection."""
    reasons: list[Reason]
    """Why not; empty where they are comparable."""
    notes: list[Reason]
    """What should be known of a comparison all the same, such as queries that one of them left out."""
    common: int
    """How many answerable queries can be compared like with like."""
    on_common: bool
    """Whether it is only these that were compared, of more."""
    config_diff: list[Setting]
    one_change: str | None
    """Whether the effect can be credited to one setting, in a sentence; None: exactly one setting changed."""
    absent_settings: list[str]
    """Settings that most pipelines have, and that neither run names."""
    identical_candidates: SharedCandidates | None
    """None where not both runs record what stood before their final stage."""
    n: int
    metrics: list[MetricComparison]
    """One family, in the order of METRICS."""
    account: list[AccountRow]
    by: tuple[str, ...]
    slices: list[SliceComparison]
    """Of each of the slice metrics, one family."""
    smallest: float
    resamples: int
    """Of the interval."""
    randomisations: int
    """Of a p that is sampled, which it is beyond 20 queries that changed."""
    seed: int

    def metric(self, name: str) -> MetricComparison:
        """One metric; a KeyError where there is none of this name, or nothing was compared."""
        return {one.metric: one for one in self.metrics}[name]

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        from rankroom.verdict_words import verdict

        return verdict(self)

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        found: dict[str, Any] = {"sentence": self.sentence} | asdict(self)
        found["metrics"] = [_as_dict(one) for one in self.metrics]
        found["slices"] = [{"slice": one.slice, **_as_dict(one), "thin": one.thin} for one in self.slices]
        return found


def compare(
    con: duckdb.DuckDBPyConnection,
    baseline: str,
    candidate: str,
    *,
    k: int = 5,
    by: Sequence[str] = (),
    split: str = "all",
    label_set: str | None = None,
    stage: str = "final",
    slice_metrics: Sequence[str] = ("ndcg",),
    queries: Sequence[str] | None = None,
    common: bool = False,
    baseline_labels: str | None = None,
    thresholds: Thresholds | None = None,
    scored: duckdb.DuckDBPyConnection | None = None,
) -> Comparison:
    """Compare two runs of the store that `con` has open.

    `queries` leaves only those with these ids, as the filters of a page do. `common`: compare only what the
    runs share, also where they are not comparable. `baseline_labels`: take the baseline under these labels,
    so that the account tells what the labels moved from what the retriever moved. `scored` is a workspace
    that has the scores at k, where the store has none (`compare_stored` makes one).
    """
    check_cutoffs([k])
    check_number(by)
    if unknown := [name for name in slice_metrics if name not in METRICS]:
        raise UsageError(f"there is no metric {unknown[0]} to compare: there are {', '.join(METRICS)}")
    thresholds = thresholds or read_thresholds()
    found = comparability.examine(
        con,
        baseline,
        candidate,
        stage=stage,
        label_set=label_set,
        baseline_labels=baseline_labels,
        split=split,
        queries=queries,
        only_common=common,
    )
    scored = scored or con
    asked = {"base": baseline, "cand": candidate, "labels": found.label_set}
    at = asked | {"k": k, "stage": stage, "base_labels": found.baseline_labels}
    chosen = found.common if common else found.queries if found.like_with_like else []
    do = found.label_set is not None and (found.like_with_like or bool(chosen))
    if do:
        _check_cutoff(scored, k)
        check_dimensions(scored, str(found.label_set), by)
    metrics, slices = (
        _statistics(scored, at | {"queries": chosen}, by, slice_metrics, thresholds) if do else ([], [])
    )
    n = metrics[0].n if metrics else 0
    settings = config_changes(con, baseline, candidate)
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        k=k,
        label_set=found.label_set,
        baseline_labels=found.baseline_labels,
        split=split,
        stage=stage,
        comparable=found.comparable,
        reasons=found.reasons,
        notes=found.notes,
        common=len(found.common),
        on_common=do and n < len(found.queries),
        config_diff=settings,
        one_change=one_change(con, baseline, candidate, settings),
        absent_settings=absent_settings(con, baseline, candidate),
        identical_candidates=_identical_candidates(con, baseline, candidate, chosen if do else found.queries),
        n=n,
        metrics=metrics,
        account=_account(scored, at | {"queries": chosen}) if do else [],
        by=tuple(by),
        slices=slices,
        smallest=thresholds.smallest,
        resamples=RESAMPLES,
        randomisations=num_randomisations(len(METRICS)),
        seed=SEED,
    )


def _check_cutoff(con: duckdb.DuckDBPyConnection, k: int) -> None:
    cutoffs = [there for (there,) in con.execute("select k from cutoffs order by k").fetchall()]
    if k not in cutoffs:
        raise UsageError(
            f"there are no scores at k = {k}: there are at {', '.join(map(str, cutoffs))};"
            " `rankroom rescore -k` adds a cutoff"
        )


# Statistics


def _statistics(
    con: duckdb.DuckDBPyConnection,
    asked: dict[str, Any],
    by: Sequence[str],
    slice_metrics: Sequence[str],
    thresholds: Thresholds,
) -> tuple[list[MetricComparison], list[SliceComparison]]:
    ids, base, cand = _scores(con, asked)
    metrics = compare_metrics(ids, base, cand, METRICS, asked["k"], thresholds)
    if not by or not ids:
        return metrics, []
    groups = _slices(con, asked["labels"], by, ids)
    return metrics, [
        one
        for name in slice_metrics
        for one in _compare_slices(name, ids, base, cand, groups, asked["k"], thresholds)
    ]


def _scores(
    con: duckdb.DuckDBPyConnection, asked: dict[str, Any]
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """The queries, and the scores of both runs: a row a query, and a column a metric of METRICS."""
    import numpy as np

    found = con.sql(sql("comparison/scores.sql"), params=asked).to_arrow_table()
    order = [sorted(METRICS).index(name) for name in METRICS]
    base, cand = (
        found[name].to_numpy().reshape(-1, len(METRICS)).astype(np.float64)[:, order]
        for name in ("baseline", "candidate")
    )
    return found["query_id"].to_pylist()[:: len(METRICS)], base, cand


def _slices(
    con: duckdb.DuckDBPyConnection, label_set: str, by: Sequence[str], ids: Sequence[str]
) -> list[tuple[dict[str, str], list[int]]]:
    """Each slice with the places of its queries, where it has any."""
    place = {query: at for at, query in enumerate(ids)}
    dimensions = dict(zip(("first", "second", "third"), [*by, None, None], strict=False))
    groups = []
    for *values, members in con.execute(
        sql("comparison/slices.sql"), {"labels": label_set, **dimensions}
    ).fetchall():
        if here := [place[query] for query in members if query in place]:
            groups.append((dict(zip(by, values, strict=False)), here))
    return groups


def _compare_slices(
    metric: str,
    ids: Sequence[str],
    base: NDArray[np.float64],
    cand: NDArray[np.float64],
    groups: Sequence[tuple[dict[str, str], list[int]]],
    k: int,
    thresholds: Thresholds,
) -> list[SliceComparison]:
    column = METRICS.index(metric)
    samples = [
        Sample(metric, [ids[at] for at in here], base[here, column], cand[here, column]) for _, here in groups
    ]
    return [
        SliceComparison(
            **{field.name: getattr(one, field.name) for field in fields(MetricComparison)},
            slice=values,
            thin=one.n < thresholds.thin,
        )
        for (values, _), one in zip(groups, compare_samples(samples, k, thresholds), strict=True)
    ]


# Facts


def _account(con: duckdb.DuckDBPyConnection, asked: dict[str, Any]) -> list[AccountRow]:
    return [AccountRow(*row) for row in con.execute(sql("comparison/account.sql"), asked).fetchall()]


def _identical_candidates(
    con: duckdb.DuckDBPyConnection, baseline: str, candidate: str, queries: Sequence[str] | None
) -> SharedCandidates | None:
    ((identical, of),) = con.execute(
        "select count(*) filter (identical), count(*) from candidate_lists($base, $cand)"
        " where $queries::varchar[] is null or query_id in (select unnest($queries::varchar[]))",
        {"base": baseline, "cand": candidate, "queries": queries},
    ).fetchall()
    return SharedCandidates(identical, of) if of else None


def _as_dict(one: MetricComparison) -> dict[str, Any]:
    """What the command's JSON promises of a metric."""
    return {
        field.name: getattr(one, field.name) for field in fields(MetricComparison) if field.name != "flat"
    }
