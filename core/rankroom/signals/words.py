"""The pieces that sentences of findings are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankroom.counted import count
from rankroom.paired import MetricComparison
from rankroom.verdict_words import NAMES, metric_name, signed


def name(metric: str, k: int) -> str:
    """The mean of a metric at a cutoff."""
    return metric_name(metric, k) if metric in NAMES else f"{metric}@{k}"


def moved(what: str, one: MetricComparison) -> str:
    """What rose or fell by how much, with its interval: NDCG@5 fell by 0.041 [0.018, 0.065]."""
    return f"{what} {by(one)}"


def by(one: MetricComparison) -> str:
    """The same without its subject."""
    difference = one.difference or 0.0
    if difference < 0:
        return f"fell by {-difference:.3f}{interval(_minus(one.high), _minus(one.low))}"
    return f"rose by {difference:.3f}{interval(one.low, one.high)}"


def held(what: str, one: MetricComparison) -> str:
    """What stayed: hit rate@5 stayed at 0.860; or what at least is not seen to have moved."""
    if not one.flat:
        ends = f"{one.baseline or 0.0:.3f} to {one.candidate or 0.0:.3f}"
        unseen = "cannot be told to have moved" if one.verdict == "unresolvable" else "shows no clear change"
        return f"{what} {unseen} ({ends}, {signed(one.difference)}{interval(one.low, one.high)})"
    said = f"{what} stayed at {one.candidate or 0.0:.3f}"
    if not one.difference and one.low == one.high:
        return said
    return f"{said} ({signed(one.difference)}{interval(one.low, one.high)})"


def interval(low: float | None, high: float | None) -> str:
    """An interval after its number, if there is one."""
    return "" if low is None or high is None else f" [{low + 0.0:.3f}, {high + 0.0:.3f}]"


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def documents(number: int) -> str:
    """A count of relevant documents."""
    return count(number, "relevant document")


def listed(names: Sequence[str], most: int = 3) -> str:
    """Some names: a, b and 4 more."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def joined(parts: Iterable[str]) -> str:
    """Clauses of one sentence."""
    return "; ".join(part for part in parts if part)


def numbers(prefix: str, one: MetricComparison) -> dict[str, float | None]:
    """A comparison as numbers with names of their own."""
    return {
        f"{prefix}_baseline": one.baseline,
        f"{prefix}_candidate": one.candidate,
        f"{prefix}_difference": one.difference,
        f"{prefix}_low": one.low,
        f"{prefix}_high": one.high,
        f"{prefix}_p": one.p,
        f"{prefix}_p_holm": one.p_holm,
        f"{prefix}_wins": one.wins,
        f"{prefix}_ties": one.ties,
        f"{prefix}_losses": one.losses,
        f"{prefix}_n": one.n,
    }
