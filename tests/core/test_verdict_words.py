"""What a comparison comes to in words: true to its numbers, whichever way they point."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rankroom.comparability import Reason
from rankroom.comparison import METRICS, Comparison
from rankroom.comparison_report import detectable
from rankroom.paired import MetricComparison
from rankroom.verdict_words import metric_verdict, signed, verdict

UNCLEAR = MetricComparison(
    metric="ndcg", k=5, baseline=0.5, candidate=0.51, difference=0.01, low=-0.03, high=0.05, p=0.6,
    p_holm=1.0, wins=30, ties=40, losses=30, n=100, detectable=0.06, verdict="unresolvable", flat=False,
)  # fmt: skip
BETTER: dict[str, Any] = {
    "difference": 0.041, "low": 0.018, "high": 0.065, "p": 0.001, "p_holm": 0.009, "verdict": "improved"
}  # fmt: skip
WORSE: dict[str, Any] = {
    "difference": -0.03, "low": -0.05, "high": -0.01, "p": 0.002, "p_holm": 0.01, "verdict": "regressed"
}  # fmt: skip
FLAT: dict[str, Any] = {
    "difference": 0.0,
    "low": -0.01,
    "high": 0.01,
    "verdict": "no_clear_change",
    "flat": True,
}


def told(
    base: str = "bm25", cand: str = "hybrid", about: dict[str, Any] | None = None, **changed: Any
) -> str:
    """The verdict where each metric is unclear but for what is given of it."""
    metrics = [replace(UNCLEAR, metric=name, **changed.get(name, {})) for name in METRICS]
    facts: dict[str, Any] = {
        "label_set": "help@1", "baseline_labels": None, "split": "all", "stage": "final", "comparable": True,
        "reasons": [], "notes": [], "common": 100, "on_common": False, "config_diff": [], "one_change": None,
        "absent_settings": [], "identical_candidates": None, "n": 100, "metrics": metrics, "account": [],
        "by": (), "slices": [], "smallest": 0.02, "resamples": 10_000, "randomisations": 10_000, "seed": 1,
    }  # fmt: skip
    return verdict(Comparison(baseline=base, candidate=cand, k=5, **(facts | (about or {}))))


def test_better() -> None:
    assert told(ndcg=BETTER) == (
        "hybrid is better than bm25 at NDCG@5 by 0.041 [0.018, 0.065];"
        " hit rate@5, recall@5 and MRR@5: cannot tell at n = 100"
    )


def test_one_query_has_no_interval_to_tell() -> None:
    alone: dict[str, Any] = {"n": 1, "low": None, "high": None, "detectable": None, "difference": -1.0}
    assert told(ndcg=alone, about={"n": 1}).startswith(
        "1 query cannot tell hybrid from bm25: NDCG@5 -1.000; "
    )


def test_worse_is_told_in_the_size_of_the_loss() -> None:
    assert told(ndcg=WORSE, hit=FLAT | {"wins": 2, "losses": 3}).startswith(
        "hybrid is worse than bm25 at NDCG@5 by 0.030 [0.010, 0.050];"
        " hit rate@5 flat at 0.510 (2 gained, 3 lost)"
    )


def test_better_here_and_worse_there() -> None:
    said = told(ndcg=BETTER, hit=WORSE)
    assert said.startswith(
        "hybrid is better than bm25 at NDCG@5 by 0.041 [0.018, 0.065], but worse at hit rate@5"
    )
    assert "but worse at precision@5" in told(ndcg=BETTER, precision=WORSE)
    assert "precision" not in told(ndcg=BETTER, precision=BETTER)


def test_only_a_lesser_metric_is_clear() -> None:
    assert told(f1=BETTER).startswith("hybrid is better than bm25 at F1@5 by 0.041")


def test_undecided() -> None:
    rest = "; hit rate@5, recall@5 and MRR@5: cannot tell at n = 100"
    assert told() == (
        "100 queries cannot tell hybrid from bm25: NDCG@5 +0.010 [-0.030, +0.050],"
        f" where a difference shows from about 0.06 on{rest}"
    )
    clear_alone = BETTER | {"p": 0.02, "p_holm": 0.18, "verdict": "unresolvable"}
    assert told(ndcg=clear_alone) == (
        "100 queries cannot tell hybrid from bm25: NDCG@5 +0.041 [+0.018, +0.065],"
        f" p 0.020, and 0.18 as one of 9 metrics{rest}"
    )
    assert told(ndcg=FLAT) == (f"hybrid and bm25 are alike within 0.02: NDCG@5 0.000 [-0.010, +0.010]{rest}")
    assert told(ndcg={"verdict": "no_clear_change", "detectable": 0.01}) == (
        f"hybrid is neither clearly better nor clearly worse than bm25: NDCG@5 +0.010 [-0.030, +0.050]{rest}"
    )


def test_so_few_changes_are_no_sign_of_likeness() -> None:
    few: dict[str, Any] = FLAT | {
        "verdict": "unresolvable",
        "wins": 3,
        "losses": 1,
        "ties": 96,
        "detectable": 0.01,
    }
    assert told(ndcg=few, hit=few) == (
        "100 queries cannot tell hybrid from bm25, as only 4 of them changed: NDCG@5 0.000 [-0.010, +0.010];"
        " hit rate@5, recall@5 and MRR@5: cannot tell at n = 100"
    )
    one = replace(UNCLEAR, **few)
    assert (metric_verdict(one), detectable(one)) == ("cannot tell", 0.01)
    assert detectable(replace(one, ties=100, wins=0, losses=0)) is None


def test_nothing_moved() -> None:
    still: dict[str, Any] = FLAT | {"ties": 100, "wins": 0, "losses": 0}
    everywhere = dict.fromkeys(METRICS, still)
    assert told(**everywhere) == "hybrid and bm25 have the same scores in each of 100 queries"
    assert told(cand="bm25", **everywhere) == "bm25 is compared with itself: nothing differs"
    assert told(ndcg=BETTER, hit=still, recall=still).endswith(
        "; hit rate@5 and recall@5 the same in every query; MRR@5: cannot tell at n = 100"
    )


def test_what_was_compared_is_said() -> None:
    assert told(about={"on_common": True, "n": 97}, ndcg=BETTER).startswith(
        "on the 97 queries that both share: "
    )
    assert told(about={"baseline_labels": "help@0"}, ndcg=BETTER).startswith(
        "hybrid under help@1 is better than bm25 under help@0 at NDCG@5"
    )
    assert told(cand="bm25", about={"baseline_labels": "help@0"}, ndcg=BETTER).startswith(
        "bm25 under help@1 is better than bm25 under help@0"
    )


def test_not_compared() -> None:
    reasons = [Reason("queries_absent", "3 queries absent", 3), Reason("labels", "12 labels changed", 12)]
    about = {"comparable": False, "reasons": reasons, "metrics": [], "n": 0}
    assert told(about=about | {"common": 97}) == (
        "hybrid and bm25 are not comparable: 3 queries absent; 12 labels changed."
        " 97 queries can be compared like with like."
    )
    assert told(about=about | {"common": 0}).endswith("Nothing is common to both.")


@pytest.mark.parametrize(
    ("value", "spelt"),
    [(0.0411, "+0.041"), (-0.0004, "0.000"), (0.0, "0.000"), (-0.5, "-0.500"), (None, "–")],
)
def test_signed(value: float | None, spelt: str) -> None:
    assert signed(value) == spelt


def test_metric_verdict() -> None:
    assert metric_verdict(UNCLEAR) == "cannot tell"
    assert metric_verdict(replace(UNCLEAR, **FLAT)) == "flat"
    assert metric_verdict(replace(UNCLEAR, **(FLAT | {"ties": 100}))) == "the same"
    assert metric_verdict(replace(UNCLEAR, **BETTER)) == "better"
