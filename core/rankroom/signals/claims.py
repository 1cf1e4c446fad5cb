"""How sure a rule may be of what a comparison says: risen, fallen, or stayed where it was.

A metric has risen or fallen where the comparison's verdict says so, which is after Holm's correction over
all its metrics: a signal never says what the Compare page denies. p alone makes it possible.
"""

from __future__ import annotations

from typing import Protocol

from rankroom.paired import MetricComparison
from rankroom.signals.finding import Sure
from rankroom.thresholds import Thresholds


class Tested(Protocol):
    """What is asked of a test: a MetricComparison has it, and so has a Test."""

    @property
    def difference(self) -> float | None:
        """Candidate minus baseline, in the mean."""

    @property
    def p(self) -> float | None:
        """By itself."""

    @property
    def p_holm(self) -> float | None:
        """Corrected over its family."""


def risen(one: Tested, limits: Thresholds) -> Sure:
    """How sure it is that a metric rose."""
    return _moved(one, limits) if (one.difference or 0.0) > 0 else Sure.NO


def fallen(one: Tested, limits: Thresholds) -> Sure:
    """How sure it is that a metric fell."""
    return _moved(one, limits) if (one.difference or 0.0) < 0 else Sure.NO


def _moved(one: Tested, limits: Thresholds) -> Sure:
    if one.p is None or one.p_holm is None or one.p >= limits.alpha:
        return Sure.NO
    return Sure.YES if one.p_holm < limits.alpha else Sure.POSSIBLE


def stayed(one: MetricComparison, limits: Thresholds) -> Sure:
    """How sure it is that a metric is flat: its interval lies within the smallest difference that matters."""
    if one.flat:
        return Sure.YES
    if one.difference is None or one.p is None or one.low is None or one.high is None:
        return Sure.NO
    open_to_both = one.p >= limits.alpha and one.low <= 0 <= one.high
    return Sure.POSSIBLE if open_to_both and abs(one.difference) <= limits.smallest else Sure.NO


def leans(one: Tested, sign: int, limits: Thresholds) -> bool:
    """Whether it moved this way, and hardly by chance, though that is not clear."""
    moved = (one.difference or 0.0) * sign > 0
    return moved and one.p is not None and one.p < limits.signals.possible_p


def opposed(up: Tested, down: Tested, limits: Thresholds) -> Sure:
    """How sure it is that one rose while the other fell: possible where one is clear and the other leans."""
    if both := min(risen(up, limits), fallen(down, limits)):
        return both
    leaning = (risen(up, limits) and leans(down, -1, limits)) or (
        fallen(down, limits) and leans(up, 1, limits)
    )
    return Sure.POSSIBLE if leaning else Sure.NO
