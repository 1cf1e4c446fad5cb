"""Pairs of runs without a real difference: how often do the rules find one all the same?

Both runs of a pair draw their ranks from one distribution, query by query, so whatever is found is false.
`python tests/core/signals/noise.py 1000 60` prints the shares.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np
from rankroom.signals.finding import Finding
from rankroom.signals.pair import ASKED, Move, Pair, Scores, Surroundings
from rankroom.signals.search import try_rules
from rankroom.thresholds import Thresholds
from rankroom.workspace import open_workspace

CUTOFFS = (1, 3, 5, 10, 20)
DEPTH = 20
RELEVANT = 3


class NoisePair(Pair):
    """Two runs whose ranks, latencies and answers are of one distribution, without a store behind them."""

    moves: list[Move] = []  # noqa: RUF012

    def __init__(self, seed: int, n: int, con: Any):
        self._rng = rng = np.random.default_rng(seed)
        self._ids = [f"q{at:05}" for at in range(n)]
        languages, categories = rng.integers(0, 2, n), rng.integers(0, 4, n)
        slices = {
            (name, str(value)): frozenset(np.array(self._ids)[values == value].tolist())
            for name, values in (("language", languages), ("category", categories))
            for value in np.unique(values)
        }
        splits = dict(zip(self._ids, np.where(rng.random(n) < 0.7, "dev", "held_out").tolist(), strict=True))
        rules = dict.fromkeys(RULES, ("", ""))
        about = Surroundings(frozenset(), splits, slices, frozenset({"base", "cand"}), rules)
        super().__init__(con, "base", "cand", 5, "none@1", about, Thresholds())

    @cached_property
    def by_cutoff(self) -> dict[int, Scores]:
        n, rng = len(self._ids), self._rng
        hard = rng.uniform(1, 40, (n, RELEVANT))
        runs = [np.ceil(rng.exponential(hard)) for _ in range(2)]
        judged = rng.beta(4, 2, (2, n))
        return {
            k: Scores(self._ids, *(_metrics(ranks, k, of) for ranks, of in zip(runs, judged, strict=True)))
            for k in CUTOFFS
        }

    @cached_property
    def costs(self) -> dict[str, Any]:
        n, rng = len(self._ids), self._rng
        sides = {f"{side}_{cost}": rng.lognormal(3, 0.5, n) for side in "bc" for cost in COSTS}
        return {"query_id": np.array(self._ids)} | sides

    @cached_property
    def answers(self) -> list[tuple[Any, ...]]:
        values = self._rng.beta(5, 2, (2, len(self._ids)))
        return [("faithful", *row) for row in zip(self._ids, *values, strict=True)]

    def columns(self, question: str) -> dict[str, Any]:
        n, rng = len(self._ids), self._rng
        if question == "first_step":
            sides = {"baseline": rng.integers(0, 4, n) / 3, "candidate": rng.integers(0, 4, n) / 3}
            return {"query_id": np.array(self._ids)} | sides
        bounds = {f"{metric}_{end}": np.full(n, size) for metric in BOUNDED for end, size in ENDS}
        return {
            "query_id": np.array(self._ids),
            "b_unlabelled": np.zeros(n),
            "c_unlabelled": np.ones(n),
        } | bounds

    def rows(self, question: str) -> list[tuple[Any, ...]]:
        return []


RULES = (
    *("ndcg_up_hit_flat", "rr_flat_evidence_lost", "recall_up_precision_down", "overall_up_slice_down"),
    *("must_pass_broken", "hit_up_rank_worse", "mean_up_most_lose", "cutoff_disagrees", "stage_gain_lost"),
    *("quality_up_cost_up", "retrieval_up_answer_down", "dev_up_heldout_down", "labels_blur"),
    "config_interaction",
)
COSTS = ("latency_ms", "context_tokens")
BOUNDED = ("hit", "precision", "rr")
ENDS = (("lowest", -0.5), ("highest", 0.5))


def _metrics(ranks: Any, k: int, judged: Any) -> Any:
    """The metrics at k of queries with three relevant documents, from their ranks."""
    inside = ranks <= k
    found = inside.sum(axis=1)
    first = np.where(inside, ranks, np.inf).min(axis=1)
    ideal = (1 / np.log2(np.arange(2, 2 + min(k, RELEVANT)))).sum()
    ndcg = np.where(inside, 1 / np.log2(ranks + 1), 0).sum(axis=1) / ideal
    of = {
        "ndcg": ndcg,
        "ndcg_exp": ndcg,
        "hit": found > 0,
        "complete": found == RELEVANT,
        "recall": found / RELEVANT,
        "precision": found / k,
        "f1": 2 * found / (k + RELEVANT),
        "rr": 1 / first,
        "ap": np.minimum(found / RELEVANT, 1) / first,
        "judged": judged,
    }
    return np.column_stack([of[metric] for metric in ASKED]).astype(np.float64)


def findings(pairs: int, n: int) -> list[list[Finding]]:
    """What the rules find in so many pairs of so many queries."""
    con = open_workspace(views=True)
    con.execute(
        "insert into runs by name select unnest(['base', 'cand']) as run, 'q@1' as query_set, 'c@1' as"
        " collection,"
        " 'list' as ordered_by, 0 as num_rows, '' as content_hash, now() as added_at"
    )
    return [try_rules(NoisePair(seed, n, con), held_out=True) for seed in range(pairs)]


if __name__ == "__main__":
    pairs, n = int(sys.argv[1]), int(sys.argv[2])
    found = findings(pairs, n)
    for status in ("fired", "possible"):
        some = sum(any(one.status == status for one in several) for several in found)
        rules = Counter(one.id for several in found for one in several if one.status == status)
        print(f"{status}: {some / pairs:.3f} of {pairs} pairs of {n} queries; {dict(rules.most_common())}")
