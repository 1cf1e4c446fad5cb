"""What a comparison comes to, in words: the same on the command line, on a page and in a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankroom.comparison import Comparison
from rankroom.counted import queries
from rankroom.paired import BINARY, MetricComparison

NAMES = {
    "ndcg": "NDCG",
    "hit": "hit rate",
    "recall": "recall",
    "precision": "precision",
    "rr": "MRR",
    "ap": "MAP",
    "complete": "complete",
    "f1": "F1",
    "ndcg_exp": "NDCG (exp. gain)",
}
"""What people call the mean of a metric."""

VERDICTS = {
    "improved": "better",
    "regressed": "worse",
    "no_clear_change": "no clear change",
    "unresolvable": "cannot tell",
}

HEADLINE = ("ndcg", "hit", "recall", "rr")
"""Metrics that a verdict always speaks of; of the others it names those that go another way."""


def metric_name(metric: str, k: int) -> str:
    """The mean of a metric at a cutoff, as people write it: NDCG@5."""
    return f"{NAMES[metric]}@{k}"


def verdict(comparison: Comparison) -> str:
    """Whether the candidate is better than the baseline, and whether that can be told at all."""
    base, cand = _named(comparison)
    if base == cand:
        return f"{cand} is compared with itself: nothing differs"
    if not comparison.metrics:
        return _not_compared(comparison)
    if not comparison.n:
        return f"{cand} and {base} have no answerable query to be compared on"
    if all(one.ties == one.n for one in comparison.metrics):
        return f"{cand} and {base} have the same scores in each of {queries(comparison.n)}"
    said = _said_of(comparison)
    better = [one for one in said if one.verdict == "improved"]
    worse = [one for one in said if one.verdict == "regressed"]
    open_ones = [one for one in said if one not in better and one not in worse]
    parts = []
    if better:
        parts.append(f"{cand} is better than {base} at {_list(map(_by, better))}")
    if worse:
        begin = "but worse" if better else f"{cand} is worse than {base}"
        parts.append(f"{begin} at {_list(map(_by, worse))}")
    if not parts:
        parts.append(_undecided(comparison))
        open_ones = open_ones[1:]  # of the first, NDCG, it is said
    rest = _rest(open_ones)
    where = f"on the {queries(comparison.n)} that both share: " if comparison.on_common else ""
    return where + "; ".join([", ".join(parts), *rest])


def _named(comparison: Comparison) -> tuple[str, str]:
    """The two sides: by the run, and where their labels differ by those, too."""
    if not comparison.baseline_labels:
        return comparison.baseline, comparison.candidate
    return (
        f"{comparison.baseline} under {comparison.baseline_labels}",
        f"{comparison.candidate} under {comparison.label_set}",
    )


def metric_verdict(one: MetricComparison) -> str:
    """The verdict on one metric, in two or three words."""
    if one.n and one.ties == one.n:
        return "the same"
    return "flat" if _is_flat(one) else VERDICTS[one.verdict]


def _is_flat(one: MetricComparison) -> bool:
    """Whether it stayed: a narrow interval of so few changes that nothing can be told is no sign of that."""
    return one.flat and one.verdict == "no_clear_change"


def signed(value: float | None, places: int = 3) -> str:
    """A difference with its sign; a dash where there is none."""
    if value is None:
        return "–"
    spelt = f"{value:+.{places}f}"
    return spelt if float(spelt) else f"{0:.{places}f}"


def interval(one: MetricComparison) -> str:
    """The 95 % interval of a difference."""
    return "–" if one.low is None else f"[{signed(one.low)}, {signed(one.high)}]"


def _said_of(comparison: Comparison) -> list[MetricComparison]:
    heads = [comparison.metric(name) for name in HEADLINE]
    ways = {one.verdict for one in heads}
    others = [
        one
        for one in comparison.metrics
        if one.metric not in HEADLINE and one.verdict in ("improved", "regressed") and one.verdict not in ways
    ]
    return heads + others


def _by(one: MetricComparison) -> str:
    """NDCG@5 by 0.041 [0.018, 0.065]: how much better or, with the same signs turned, how much worse."""
    assert one.difference is not None  # a verdict is a matter of at least two queries
    name = metric_name(one.metric, one.k)
    if one.low is None or one.high is None:
        return f"{name} by {abs(one.difference):.3f}"
    low, high = (one.low, one.high) if one.difference > 0 else (-one.high, -one.low)
    return f"{name} by {abs(one.difference):.3f} [{_plain(low)}, {_plain(high)}]"


def _plain(value: float) -> str:
    return f"{value + 0.0:.3f}".replace("-0.000", "0.000")


def _undecided(comparison: Comparison) -> str:
    """No metric decides: because nothing moved much, or because so few queries cannot show it."""
    (base, cand), ndcg = _named(comparison), comparison.metric("ndcg")
    numbers = f"{metric_name('ndcg', comparison.k)} {signed(ndcg.difference)}"
    if ndcg.low is not None:  # a single query has no interval
        numbers += f" {interval(ndcg)}"
    if _is_flat(ndcg):
        return f"{cand} and {base} are alike within {comparison.smallest:g}: {numbers}"
    if ndcg.verdict == "no_clear_change":
        said = f"{cand} is neither clearly better nor clearly worse than {base}: {numbers}"
    else:
        few = f", as only {ndcg.n - ndcg.ties} of them changed" if ndcg.flat and ndcg.ties < ndcg.n else ""
        said = f"{queries(comparison.n)} cannot tell {cand} from {base}{few}: {numbers}"
    if alone := _clear_alone(ndcg):
        return f"{said}, {alone} as one of {len(comparison.metrics)} metrics"
    if ndcg.detectable is not None and ndcg.detectable > comparison.smallest:
        return f"{said}, where a difference shows from about {ndcg.detectable:.2f} on"
    return said


def _clear_alone(one: MetricComparison) -> str | None:
    """That the interval leaves 0 out, and that this is no finding among so many metrics, wants saying."""
    if one.low is None or one.high is None or one.p is None or one.p_holm is None:
        return None
    return f"p {one.p:.3f}, and {one.p_holm:.2f}" if one.low > 0 or one.high < 0 else None


def _rest(undecided: Sequence[MetricComparison]) -> list[str]:
    """The metrics on which there is no decision, those of one kind together."""
    same = [one for one in undecided if one.ties == one.n]
    flat = [one for one in undecided if _is_flat(one) and one not in same]
    open_ones = [one for one in undecided if one not in same and one not in flat]
    parts = [f"{metric_name(one.metric, one.k)} flat at {one.candidate:.3f} ({_moved(one)})" for one in flat]
    if same:
        parts.append(f"{_list(metric_name(one.metric, one.k) for one in same)} the same in every query")
    for kind in ("no_clear_change", "unresolvable"):
        if names := [metric_name(one.metric, one.k) for one in open_ones if one.verdict == kind]:
            parts.append(f"{_list(names)}: {VERDICTS[kind]} at n = {open_ones[0].n:,}")
    return parts


def _moved(one: MetricComparison) -> str:
    up, down = ("gained", "lost") if one.metric in BINARY else ("up", "down")
    return f"{one.wins:,} {up}, {one.losses:,} {down}"


def _not_compared(comparison: Comparison) -> str:
    why = "; ".join(reason.sentence for reason in comparison.reasons)
    offer = (
        f" {queries(comparison.common)} can be compared like with like."
        if comparison.common
        else " Nothing is common to both."
    )
    return f"{comparison.candidate} and {comparison.baseline} are not comparable: {why}.{offer}"


def _list(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
