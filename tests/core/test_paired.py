"""The statistics of a paired comparison: by hand, against scipy, and what must hold for any values."""

from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankroom.paired import (
    MetricComparison,
    Sample,
    binomial_p,
    compare_metrics,
    compare_samples,
    enumerated_p,
    holm,
    num_randomisations,
    p_values,
)
from rankroom.thresholds import Thresholds
from scipy.stats import binomtest

IDS = [f"q{at:02}" for at in range(20)]
NUMBERS = st.floats(min_value=0, max_value=1, allow_nan=False, allow_subnormal=False)


def one_metric(baseline: list[float], candidate: list[float], metric: str = "ndcg") -> MetricComparison:
    ids = [f"q{at:04}" for at in range(len(baseline))]
    return compare_metrics(ids, np.array([baseline]).T, np.array([candidate]).T, [metric], 5)[0]


def test_numbers_by_hand() -> None:
    """Eight queries and all 256 patterns of their signs."""
    baseline = [0.3, 0.5, 0.6, 0.2, 0.4, 0.7, 0.35, 0.3]
    candidate = [0.4, 0.6, 0.6, 0.4, 0.35, 0.9, 0.45, 0.35]
    found = one_metric(baseline, candidate)
    differences = np.array(candidate) - np.array(baseline)
    patterns = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=8)
    ]
    assert found.p == sum(one >= abs(differences.sum()) - 1e-12 for one in patterns) / 256
    assert (found.wins, found.ties, found.losses, found.n) == (6, 1, 1, 8)
    assert found.baseline == pytest.approx(0.41875)
    assert found.difference == pytest.approx(0.0875)
    assert found.detectable == pytest.approx(2.8 * differences.std(ddof=1) / math.sqrt(8))
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.0875 < found.high
    assert found.verdict == "improved"


def test_six_wins_of_six() -> None:
    assert enumerated_p(np.full(6, 0.1)) == 2 / 64
    assert one_metric([0.0] * 10, [0.1] * 6 + [0.0] * 4).p == 2 / 64


def test_p_is_blind_to_how_floats_add_up() -> None:
    """0.1 + 0.2 - 0.3 is not 0: patterns that tie with the observed one count as ties."""
    assert enumerated_p(np.array([0.1, 0.2, 0.3])) == 2 / 8
    assert enumerated_p(np.array([0.3, 0.2, 0.1, -0.6])) == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.004, 0.011, 0.02, 0.04, 0.3]) == pytest.approx([0.02, 0.044, 0.06, 0.08, 0.3])
    assert holm([0.04, 0.03, None, 0.01]) == pytest.approx([0.06, 0.06, None, 0.03], abs=1e-15)
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (5, 0), (6, 0), (3, 4), (12, 3), (700, 610)])
def test_binomial_is_scipys(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert binomial_p(wins, losses) == pytest.approx(expected, rel=1e-12)


def test_hit_is_binomial_at_any_n() -> None:
    changed = [1.0] * 40 + [0.0] * 20
    found = one_metric([1 - one for one in changed] + [1.0] * 30, changed + [1.0] * 30, "hit")
    assert found.p == pytest.approx(binomtest(40, 60).pvalue)


@given(st.lists(NUMBERS, min_size=20, max_size=20), NUMBERS)
@settings(max_examples=30, deadline=None)
def test_one_query_of_twenty_is_never_significant(baseline: list[float], other: float) -> None:
    """Whatever the values: also where the other nineteen differ in the last bits."""
    candidate = [math.nextafter(one, 2) for one in baseline]
    candidate[7] = other
    for metric in ("ndcg", "hit"):
        found = one_metric(baseline, candidate, metric)
        assert found.p == 1.0
        assert found.verdict in ("unresolvable", "no_clear_change")
        assert found.wins + found.losses <= 1


@given(st.lists(NUMBERS, max_size=30))
@settings(max_examples=30, deadline=None)
def test_a_run_against_itself(scores: list[float]) -> None:
    found = one_metric(scores, scores)
    if not scores:
        assert found == MetricComparison(
            "ndcg", 5, None, None, None, None, None, None, None, 0, 0, 0, 0, None, "unresolvable", False
        )
        return
    assert (found.difference, found.p, found.p_holm) == (0.0, 1.0, 1.0)
    assert found.ties == found.n == len(scores)
    assert (found.low, found.high) == ((0.0, 0.0) if len(scores) > 1 else (None, None))
    assert found.verdict == ("no_clear_change" if len(scores) >= 10 else "unresolvable")


def some_scores(n: int, metrics: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    baseline = random.random((n, metrics))
    return baseline, np.clip(baseline + random.normal(0.02, 0.2, (n, metrics)), 0, 1)


@pytest.mark.parametrize("n", [2, 15, 60])
def test_swapped_runs_mirror_the_answer(n: int) -> None:
    baseline, candidate = some_scores(n, 3, n)
    ids, metrics = [f"q{at}" for at in range(n)], ["ndcg", "rr", "ap"]
    there = compare_metrics(ids, baseline, candidate, metrics, 5)
    back = compare_metrics(ids, candidate, baseline, metrics, 5)
    turned = {"improved": "regressed", "regressed": "improved"}
    for one, other in zip(there, back, strict=True):
        assert one.difference is not None
        assert one.low is not None
        assert one.high is not None
        assert (other.difference, other.low, other.high) == (-one.difference, -one.high, -one.low)
        assert (other.baseline, other.candidate) == (one.candidate, one.baseline)
        assert (other.p, other.p_holm, other.flat) == (one.p, one.p_holm, one.flat)
        assert (other.wins, other.losses) == (one.losses, one.wins)
        assert other.verdict == turned.get(one.verdict, one.verdict)


def test_the_order_of_rows_changes_nothing() -> None:
    baseline, candidate = some_scores(60, 2, 1)
    ids = [f"q{at}" for at in range(60)]
    order = np.random.default_rng(2).permutation(60)
    assert compare_metrics(ids, baseline, candidate, ["ndcg", "rr"], 5) == compare_metrics(
        [ids[at] for at in order], baseline[order], candidate[order], ["ndcg", "rr"], 5
    )


def test_metrics_see_the_same_resamples() -> None:
    """A metric has the same interval and p, whichever others stand beside it."""
    baseline, candidate = some_scores(60, 3, 3)
    alone = one_metric(list(baseline[:, 1]), list(candidate[:, 1]))
    among = compare_metrics([f"q{at:04}" for at in range(60)], baseline, candidate, ["rr", "ndcg", "ap"], 5)
    assert (among[1].low, among[1].high) == pytest.approx((alone.low, alone.high), rel=1e-12)
    assert among[1].p == alone.p


def test_a_sampled_p_is_near_the_exact_one() -> None:
    differences = np.array([0.3, -0.1, 0.2, 0.15, -0.05, 0.25, 0.1, -0.2, 0.05, 0.12] * 2)
    exact = enumerated_p(differences)
    (sampled,) = p_values(np.append(differences, 1e-9)[:, None], ["ndcg"], 1)
    assert sampled == pytest.approx(exact, abs=0.01)


def test_a_sampled_p_is_never_zero() -> None:
    found = one_metric([0.0] * 50, [0.5] * 50)
    assert found.p == pytest.approx(1 / (num_randomisations(1) + 1))
    assert found.verdict == "improved"
    assert num_randomisations(9) == 10_000
    assert num_randomisations(100) == 40_000


def test_noise_is_called_significant_as_often_as_alpha_says() -> None:
    """300 pairs of runs without a difference: p < 0.05 in about 5 %, and their intervals hold 0 as often."""
    random = np.random.default_rng(11)
    baseline = random.beta(0.6, 0.6, (40, 300))
    candidate = random.beta(0.6, 0.6, (40, 300))
    ids = [f"q{at}" for at in range(40)]
    found = compare_metrics(ids, baseline, candidate, ["ndcg"] * 300, 5)
    assert 0.02 <= np.mean([one.p < 0.05 for one in found if one.p is not None]) <= 0.085
    assert not any(one.verdict in ("improved", "regressed") for one in found)
    holding = [one.low <= 0 <= one.high for one in found if one.low is not None and one.high is not None]
    assert 0.9 <= np.mean(holding) <= 0.98


def test_seven_thousand_queries_are_quick() -> None:
    """12 metrics x 10,000 resamples: about a second of a processor's time."""
    baseline, candidate = some_scores(7_000, 12, 7)
    began = time.process_time()
    compare_metrics([f"q{at}" for at in range(7_000)], baseline, candidate, [f"m{at}" for at in range(12)], 5)
    assert time.process_time() - began < 5


def test_verdicts() -> None:
    assert one_metric([0.5] * 9, [0.5] * 9).verdict == "unresolvable"  # too few queries
    assert one_metric([0.5] * 40, [0.9] * 5 + [0.5] * 35).verdict == "unresolvable"  # too few that moved
    noise = list(np.random.default_rng(4).normal(0, 0.2, 40))
    assert one_metric([0.5] * 40, [0.5 + one for one in noise]).verdict == "unresolvable"  # too much noise
    small = [0.5 + one / 100 for one in noise]
    found = one_metric([0.5] * 40, small)
    assert (found.verdict, found.flat) == ("no_clear_change", True)
    assert one_metric([0.5] * 40, [0.45] * 40).verdict == "regressed"
    loose = compare_metrics(
        IDS * 2, np.full((40, 1), 0.5), np.array([small]).T, ["ndcg"], 5, Thresholds(smallest=0.0001)
    )[0]
    assert (loose.verdict, loose.flat) == ("unresolvable", False)


def test_slices_are_one_family() -> None:
    baseline, candidate = some_scores(60, 1, 5)
    samples = [
        Sample("ndcg", [f"q{at}" for at in part], baseline[part, 0], candidate[part, 0])
        for part in (np.arange(0, 30), np.arange(30, 45), np.arange(45, 60), np.arange(59, 60), np.arange(0))
    ]
    found = compare_samples(samples, 5)
    assert [one.n for one in found] == [30, 15, 15, 1, 0]
    assert [one.p_holm for one in found] == holm([one.p for one in found])
    assert found[-1].p_holm is None
