"""Two runs on the same queries, metric by metric: the paired statistics of a difference.

The bootstrap and the randomisation test are those of Sakai (Laboratory Experiments in Information
Retrieval, 2018) and of Smucker, Allan and Carterette (CIKM 2007). The queries are sorted by id and the seed
is fixed, so that the same question gets the same answer; all metrics of a family see the same resamples; and
to swap the runs mirrors it all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rankroom.thresholds import Thresholds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Verdict = Literal["improved", "regressed", "no_clear_change", "unresolvable"]

BINARY = ("hit", "complete")
"""Metrics that are 0 or 1 for a query: their p is that of the exact binomial test."""

SEED = 20_070_611
RESAMPLES = 10_000
"""So many bootstrap resamples, and at least so many of the randomisation test where it samples."""

PER_TEST = 20
"""A sampled p resolves alpha / family by so many resamples."""

ENUMERATED_UP_TO = 20
"""Of so many non-zero differences all patterns of signs are looked at."""

TOLERANCE = 1e-12
"""Differences and sums this close, relative to their size, are equal: floating point moves them apart."""

CHUNK = 60_000
"""So many numbers of a resampling are at hand at once: they stay in the processor's cache, and their products
are too small for several threads to wait for each other."""

POWER = 2.8
"""z(0.975) + z(0.8): what is detected in four of five experiments at a level of 0.05."""

FEW_QUERIES = 10
FEW_CHANGES = 5
"""Below so many queries, and with no more than so many that changed at all, no test can tell."""


@dataclass(frozen=True)
class MetricComparison:
    """One metric of two runs on the same n queries. What cannot be said of so few queries is None."""

    metric: str
    k: int
    baseline: float | None
    candidate: float | None
    difference: float | None
    """Candidate minus baseline, in the mean."""
    low: float | None
    high: float | None
    """The 95 % paired bootstrap interval of the difference."""
    p: float | None
    p_holm: float | None
    """p, two-sided, of this comparison alone, and corrected over its family."""
    wins: int
    ties: int
    losses: int
    n: int
    detectable: float | None
    """The difference that so many queries would show in four of five experiments."""
    verdict: Verdict
    flat: bool
    """Whether the whole interval lies within the smallest difference that matters."""


@dataclass(frozen=True)
class Sample:
    """Scores of two runs on the same queries: what one test is about."""

    metric: str
    query_ids: Sequence[str]
    baseline: Floats
    candidate: Floats


def compare_metrics(
    query_ids: Sequence[str],
    baseline: Floats,
    candidate: Floats,
    metrics: Sequence[str],
    k: int,
    thresholds: Thresholds | None = None,
) -> list[MetricComparison]:
    """A family of metrics on the same queries: matrices with a row a query and a column a metric."""
    import numpy as np

    order = _order(query_ids)
    base = np.asarray(baseline, dtype=np.float64).reshape(len(order), len(metrics))[order]
    cand = np.asarray(candidate, dtype=np.float64).reshape(len(order), len(metrics))[order]
    differences = subtract(base, cand)
    p = p_values(differences, metrics, len(metrics))
    return _compared(metrics, k, [base], [cand], [differences], [p], thresholds or Thresholds())


def compare_samples(
    samples: Sequence[Sample], k: int, thresholds: Thresholds | None = None
) -> list[MetricComparison]:
    """A family of one metric on several sets of queries, such as the slices of a query set."""
    import numpy as np

    bases, cands, differences, p = [], [], [], []
    for sample in samples:
        order = _order(sample.query_ids)
        bases.append(np.asarray(sample.baseline, dtype=np.float64)[order, None])
        cands.append(np.asarray(sample.candidate, dtype=np.float64)[order, None])
        differences.append(subtract(bases[-1], cands[-1]))
        p.append(p_values(differences[-1], [sample.metric], len(samples)))
    metrics = [sample.metric for sample in samples]
    return _compared(metrics, k, bases, cands, differences, p, thresholds or Thresholds())


def _compared(
    metrics: Sequence[str],
    k: int,
    bases: list[Floats],
    cands: list[Floats],
    differences: list[Floats],
    p: list[list[float | None]],
    thresholds: Thresholds,
) -> list[MetricComparison]:
    intervals = [interval for matrix in differences for interval in bootstrap(matrix)]
    flat_p = [one for several in p for one in several]
    columns = [
        (base[:, at], cand[:, at], matrix[:, at])
        for base, cand, matrix in zip(bases, cands, differences, strict=True)
        for at in range(matrix.shape[1])
    ]
    return [
        _of_metric(metric, k, column, interval, one, corrected, thresholds)
        for metric, column, interval, one, corrected in zip(
            metrics, columns, intervals, flat_p, holm(flat_p), strict=True
        )
    ]


def _of_metric(
    metric: str,
    k: int,
    column: tuple[Floats, Floats, Floats],
    interval: tuple[float | None, float | None],
    p: float | None,
    p_holm: float | None,
    thresholds: Thresholds,
) -> MetricComparison:
    base, cand, differences = column
    n = len(differences)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    difference = _mean(differences)
    detectable = POWER * float(differences.std(ddof=1)) / math.sqrt(n) if n > 1 else None
    low, high = interval
    return MetricComparison(
        metric=metric,
        k=k,
        baseline=_mean(base),
        candidate=_mean(cand),
        difference=difference,
        low=low,
        high=high,
        p=p,
        p_holm=p_holm,
        wins=wins,
        ties=n - wins - losses,
        losses=losses,
        n=n,
        detectable=detectable,
        verdict=_verdict(difference, p_holm, n, wins + losses, detectable, thresholds),
        flat=low is not None and high is not None and max(-low, high) <= thresholds.smallest,
    )


def _verdict(
    difference: float | None,
    p_holm: float | None,
    n: int,
    changed: int,
    detectable: float | None,
    thresholds: Thresholds,
) -> Verdict:
    if difference and p_holm is not None and p_holm < thresholds.alpha:
        return "improved" if difference > 0 else "regressed"
    too_few = n < FEW_QUERIES or 1 <= changed <= FEW_CHANGES
    return (
        "unresolvable"
        if too_few or detectable is None or detectable > thresholds.smallest
        else "no_clear_change"
    )


# Tests


def p_values(differences: Floats, metrics: Sequence[str], family: int) -> list[float | None]:
    """Two-sided p of each column of per-query differences; None where there is no query.

    `family` is how many tests are corrected together: it decides how finely a sampled p is resolved.
    """
    import numpy as np

    if not len(differences):
        return [None] * len(metrics)
    changed = np.count_nonzero(differences, axis=0)
    p: list[float | None] = [None] * len(metrics)
    sampled = []
    for at, metric in enumerate(metrics):
        column = differences[:, at]
        if metric in BINARY:
            p[at] = binomial_p(int((column > 0).sum()), int((column < 0).sum()))
        elif changed[at] <= ENUMERATED_UP_TO:
            p[at] = enumerated_p(column[column != 0])
        else:
            sampled.append(at)
    for at, one in zip(sampled, _sampled_p(differences[:, sampled], family), strict=True):
        p[at] = one
    return p


def binomial_p(wins: int, losses: int) -> float:
    """The exact two-sided sign test: as many heads, or as many tails, of a fair coin."""
    of = wins + losses
    term, below = 1, 0
    for at in range(min(wins, losses) + 1):
        below += term
        term = term * (of - at) // (at + 1)
    return min(1.0, 2 * below / 2**of)


def enumerated_p(differences: Floats) -> float:
    """The exact paired randomisation test: the share of all patterns of signs with as large a sum."""
    import numpy as np

    sums = np.zeros(1)
    # The first sign stays: the other half of the patterns mirrors this one.
    for at, difference in enumerate(differences):
        sums = sums + difference if at == 0 else np.concatenate([sums + difference, sums - difference])
    return float((np.abs(sums) >= _as_large(differences)).mean())


def _sampled_p(differences: Floats, family: int) -> list[float]:
    """The same by random patterns of signs, with the one that was observed among them."""
    import numpy as np

    if not differences.shape[1]:
        return []
    differences = differences[np.any(differences != 0, axis=1)]
    resamples = num_randomisations(family)
    reached = np.zeros(differences.shape[1], dtype=np.int64)
    least = np.array([_as_large(column) for column in differences.T])
    rng = np.random.default_rng(SEED)
    for size in _chunks(resamples, len(differences)):
        bits = rng.integers(0, 256, size=(size, -(-len(differences) // 8)), dtype=np.uint8)
        signs = np.unpackbits(bits, axis=1, count=len(differences)).astype(np.float64) * 2 - 1
        reached += (np.abs(signs @ differences) >= least).sum(axis=0)
    return [float(p) for p in (reached + 1) / (resamples + 1)]


def num_randomisations(family: int) -> int:
    """How many patterns of signs a sampled p is made of."""
    return max(RESAMPLES, math.ceil(PER_TEST * family / 0.05))


def _as_large(differences: Floats) -> float:
    """What a sum has to reach to count as no smaller than that of the differences as they are."""
    import numpy as np

    return float(abs(differences.sum()) - TOLERANCE * np.abs(differences).sum())


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's correction (1979): the chance of even one false finding in the family stays below alpha."""
    given = sorted((one, at) for at, one in enumerate(p) if one is not None)
    corrected: list[float | None] = [None] * len(p)
    largest = 0.0
    for before, (one, at) in enumerate(given):
        largest = max(largest, min(1.0, (len(given) - before) * one))
        corrected[at] = largest
    return corrected


# The interval


def bootstrap(differences: Floats) -> list[tuple[float | None, float | None]]:
    """The 95 % percentile interval of each column's mean: queries drawn with replacement.

    None of fewer than two queries, which are no sample of anything.
    """
    import numpy as np

    n, columns = differences.shape
    if n < 2:
        return [(None, None)] * columns
    means = np.empty((RESAMPLES, columns))
    rng = np.random.default_rng(SEED)
    at = 0
    for size in _chunks(RESAMPLES, n):
        drawn = rng.integers(0, n, size=(size, n))
        drawn += np.arange(size)[:, None] * n
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means[at : at + size] = counts.astype(np.float64) @ differences / n
        at += size
    means.sort(axis=0)
    # Order statistics as far from one end as from the other: the mirror image has the mirrored interval.
    cut = RESAMPLES // 40
    return [
        (float(low) + 0.0, float(high) + 0.0) for low, high in zip(means[cut], means[-1 - cut], strict=True)
    ]


def _chunks(resamples: int, n: int) -> Iterator[int]:
    size = max(1, CHUNK // n)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def _order(query_ids: Sequence[str]) -> Any:
    import numpy as np

    return np.array(sorted(range(len(query_ids)), key=query_ids.__getitem__), dtype=np.intp)


def subtract(base: Floats, cand: Floats) -> Floats:
    """Candidate minus baseline, where what only floating point moved apart has not changed."""
    import numpy as np

    differences = cand - base
    size = np.maximum(1, np.maximum(np.abs(base), np.abs(cand)))
    return np.where(np.abs(differences) <= TOLERANCE * size, 0.0, differences)


def _mean(values: Floats) -> float | None:
    return float(values.mean()) + 0.0 if len(values) else None
