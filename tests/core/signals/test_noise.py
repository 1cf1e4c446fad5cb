"""Of runs without a real difference, few findings may be made: about as many as the tests promise."""

from __future__ import annotations

import noise
from rankroom.signals.search import RULES


def test_noise_seldom_fires() -> None:
    """No rule promises more than 5 %, and most ask for two things at once."""
    assert tuple(RULES) == noise.RULES
    pairs = 100
    found = noise.findings(pairs, n=40)
    fired = [any(one.status == "fired" for one in several) for several in found]
    assert sum(fired) <= 0.05 * pairs
    assert sum(bool(several) for several in found) <= 0.2 * pairs
