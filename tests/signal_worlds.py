"""Runs that are built to make one rule fire, and runs that are built to just not, on one set of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankroom.store import Store
from small_stores import add_native

SINGLE = [f"s{at:02}" for at in range(80)]
"""Queries with one relevant document. The first five must pass; those from s50 on are German."""

MANY = [f"m{at:02}" for at in range(40)]
"""Queries with five."""

DEV = {*SINGLE[:40], *SINGLE[60:70], *MANY[:30]}

Places = dict[str, tuple[int, ...]]
"""The ranks of a query's relevant documents; 0: it does not come back."""


def singles(first: int, end: int, *places: int) -> Places:
    return dict.fromkeys(SINGLE[first:end], places)


def manys(first: int, end: int, *places: int) -> Places:
    return dict.fromkeys(MANY[first:end], places)


USUAL: Places = singles(0, 60, 3) | singles(60, 80, 0) | manys(0, 40, 1, 2, 3)


@dataclass(frozen=True)
class Built:
    """One run: what differs from the usual one."""

    places: Places = field(default_factory=dict)
    baseline: str | None = "usual"
    unlabelled: Sequence[str] = ()
    """Queries whose other results nobody has labelled."""
    latency: float = 20.0
    context: int = 100
    answers: Mapping[str, float] = field(default_factory=dict)
    candidates: Places | None = None
    config: str = "model = 'a'"

    def ranking(self, query: str, places: Places) -> list[str]:
        other = "u" if query in self.unlabelled else "n"
        by_rank = {rank: f"{query}-r{at}" for at, rank in enumerate(places[query], 1) if rank}
        return [by_rank.get(rank, f"{query}-{other}{rank}") for rank in range(1, 7)]

    def lines(self) -> list[dict[str, Any]]:
        return [self._line(query) for query in (*SINGLE, *MANY)]

    def _line(self, query: str) -> dict[str, Any]:
        final = self.ranking(query, USUAL | self.places)
        line: dict[str, Any] = {
            "query_id": query,
            "latency_ms": self.latency,
            "context_tokens": self.context,
            "answer_scores": {"faithful": self.answers.get(query, 0.8)},
        }
        if self.candidates is None:
            return line | {"results": final}
        return line | {"stages": {"candidates": self.ranking(query, USUAL | self.candidates), "final": final}}

    def about(self, declare: bool) -> str:
        stages = (
            'stages = [{name = "candidates", position = 1, cut = 10}, {name = "final", position = 2}]\n'
            if self.candidates is not None
            else ""
        )
        declared = f'baseline = "{self.baseline}"\n' if declare and self.baseline else ""
        return f"{declared}{stages}[config]\n{self.config}\n"


BETTER = singles(0, 30, 1)
"""NDCG rises, and no query gains a hit."""

ALL_FOUND = singles(60, 80, 5)

RUNS = {
    "usual": Built(baseline=None),
    "poor": Built(singles(0, 80, 0) | manys(0, 40, 1, 2, 3, 4, 5), baseline=None),
    "staged": Built(baseline=None, candidates={}),
    "same": Built(),
    "ndcg_up_hit_flat": Built(BETTER, latency=50.0, answers=dict.fromkeys(SINGLE[:30], 0.5)),
    "ndcg_up_hit_flat.not": Built(
        BETTER | singles(60, 68, 5) | singles(40, 42, 4),
        latency=29.0,
        answers=dict.fromkeys(SINGLE[:5], 0.5),
    ),
    "rr_flat_evidence_lost": Built(manys(0, 20, 1)),
    "rr_flat_evidence_lost.not": Built(manys(0, 20, 2)),
    "recall_up_precision_down": Built(singles(0, 80, 5) | manys(0, 40, 0), baseline="poor"),
    "recall_up_precision_down.not": Built(singles(0, 80, 5) | manys(0, 40, 1, 2, 3, 4), baseline="poor"),
    "overall_up_slice_down": Built(singles(0, 40, 1) | singles(50, 60, 0), config="model = 'b'"),
    "overall_up_slice_down.not": Built(singles(0, 40, 1) | singles(50, 53, 0), config="model = 'b'"),
    "overall_up_slice_down.not_up": Built(singles(50, 60, 0)),
    "must_pass_broken": Built(singles(0, 1, 6)),
    "hit_up_rank_worse": Built(ALL_FOUND | singles(0, 20, 5)),
    "hit_up_rank_worse.possible": Built(ALL_FOUND | singles(0, 4, 5)),
    "hit_up_rank_worse.not": Built(ALL_FOUND | singles(0, 3, 5)),
    "mean_up_most_lose": Built(singles(60, 80, 1) | singles(0, 55, 4)),
    "mean_up_most_lose.possible": Built(singles(60, 80, 1) | singles(0, 25, 4)),
    "mean_up_most_lose.not": Built(singles(60, 80, 1) | singles(0, 18, 4)),
    "cutoff_disagrees": Built(singles(0, 15, 1) | singles(30, 45, 0)),
    "cutoff_disagrees.not": Built(singles(0, 15, 1) | singles(30, 33, 0)),
    "stage_gain_lost": Built(baseline="staged", candidates=ALL_FOUND),
    "stage_gain_lost.not": Built(ALL_FOUND, baseline="staged", candidates=ALL_FOUND),
    "dev_up_heldout_down": Built(BETTER | singles(40, 60, 4), context=200),
    "labels_blur": Built(singles(5, 20, 0), unlabelled=SINGLE[5:40]),
    "labels_blur.not": Built(singles(5, 20, 0)),
}

SHOWN_BY = {
    "quality_up_cost_up": "ndcg_up_hit_flat",
    "quality_up_cost_up.not": "ndcg_up_hit_flat.not",
    "quality_up_cost_up.context": "dev_up_heldout_down",
    "retrieval_up_answer_down": "ndcg_up_hit_flat",
    "retrieval_up_answer_down.not": "ndcg_up_hit_flat.not",
    "dev_up_heldout_down.not": "ndcg_up_hit_flat.not",
    "must_pass_broken.not": "labels_blur.not",
    "config_interaction": "overall_up_slice_down",
    "config_interaction.not": "overall_up_slice_down.not",
}
"""Cases that need no run of their own: another run, better or worse in the same queries, shows them too."""

CASES = {name: name for name in RUNS} | SHOWN_BY
"""Each case, and the run that shows it."""

RULES = [name for name in CASES if "." not in name and RUNS[CASES[name]].baseline and name != "same"]


def queries() -> list[dict[str, Any]]:
    return [
        {
            "query_id": query,
            "language": "de" if query in SINGLE[50:] else "en",
            "category": "one" if query in SINGLE else "many",
            "split": "dev" if query in DEV else "held_out",
            "must_pass": query in SINGLE[:5],
        }
        for query in (*SINGLE, *MANY)
    ]


def labels() -> list[dict[str, Any]]:
    return [
        {"query_id": query, "doc_id": f"{query}-{doc}", "grade": grade}
        for query in (*SINGLE, *MANY)
        for grade, docs in (
            (1, [f"r{at}" for at in range(1, 2 if query in SINGLE else 6)]),
            (0, [f"n{at}" for at in range(1, 7)]),
        )
        for doc in docs
    ]


def build(folder: Path, *names: str, declare: bool = False) -> Store:
    """A store with these runs, or all; each declares its baseline if that is wanted."""
    store = Store(folder / "signals.duckdb")
    add_runs(store, folder / "native", *(names or RUNS), declare=declare)
    return store


def add_runs(store: Store, folder: Path, *names: str, declare: bool = True) -> None:
    """Add these runs to a store."""
    add_built(store, folder, {name: RUNS[name] for name in names}, declare=declare)


def add_built(store: Store, folder: Path, chosen: Mapping[str, Built], declare: bool = True) -> None:
    """The same of runs that are built elsewhere."""
    add_native(
        store,
        folder,
        queries=queries(),
        labels=labels(),
        runs={name: run.lines() for name, run in chosen.items()},
        about={name: run.about(declare) for name, run in chosen.items()},
    )
