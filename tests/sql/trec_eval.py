"""What trec_eval says of a ranking, by way of ir_measures and pytrec_eval, for comparison with sql/metrics.

Traps: ir_measures 0.4.3 gives wrong values where nDCG and nDCG(gains=...) stand in one call, and breaks ties
by id ascending in RR@k and Judged, so these get scores made unique; pytrec_eval reads scores in 32 bits, so
the scores given here must be exact there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import ir_measures as ir
from ir_measures import AP, RR, Judged, P, R, Rprec, Success, nDCG

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
UNCUT = 0
AT_CUTOFFS = (
    "hit complete recall precision f1 rr ap dcg ndcg ndcg_exp".split()  # noqa: SIM905
)
OF_WHOLE_RANKINGS = ("rr", "ap", "dcg", "ndcg", "r_precision")

Labels = Mapping[str, Mapping[str, int]]
Scores = Mapping[str, Mapping[str, float]]
Readable = Callable[[str, str], bool]
Values = dict[tuple[str, str, int], float | None]
"""By query, metric and cutoff (UNCUT for whole rankings)."""


def in_order(scores: Mapping[str, float]) -> list[str]:
    """Documents as trec_eval orders them: score descending, then id descending by its bytes."""
    return sorted(scores, key=lambda doc: (scores[doc], doc.encode()), reverse=True)


def expected(
    labels: Labels, run: Scores, relevant_from: int = 1, readable: Readable = lambda query, doc: True
) -> Values:
    """Every value that a store must hold of a run: a query without anything relevant has NULLs."""
    seen = {q: {d: g for d, g in docs.items() if readable(q, d)} for q, docs in labels.items()}
    theirs = _of_trec_eval(labels, seen, run, relevant_from)
    values: Values = {}
    for query, grades in seen.items():
        order = in_order(run.get(query, {}))
        relevant = {doc for doc, grade in grades.items() if grade >= relevant_from}
        for k in CUTOFFS:
            for metric in AT_CUTOFFS:
                values[query, metric, k] = theirs.get((query, metric, k), 0.0) if relevant else None
            if relevant:
                values |= _by_hand(query, order, relevant, grades, k)
            values[query, "judged", k] = theirs[query, "judged", k] if order else None
            values[query, "leaks", k] = sum(not readable(query, doc) for doc in order[:k])
        for metric in OF_WHOLE_RANKINGS:
            values[query, metric, UNCUT] = theirs.get((query, metric, UNCUT), 0.0) if relevant else None
        if relevant:
            values[query, "dcg", UNCUT] = _dcg(order, grades)
        values[query, "num_relevant", UNCUT] = len(relevant)
        values[query, "num_returned", UNCUT] = len(order)
        ranks = [rank for rank, doc in enumerate(order, 1) if doc in relevant]
        values[query, "first_relevant_rank", UNCUT] = ranks[0] if ranks else None
    return values


def _by_hand(query: str, order: list[str], relevant: set[str], grades: Mapping[str, int], k: int) -> Values:
    """The metrics that trec_eval does not have."""
    found = len(relevant & set(order[:k]))
    precision, recall = found / k, found / len(relevant)
    return {
        (query, "complete", k): float(relevant <= set(order[:k])),
        (query, "f1", k): 2 * precision * recall / (precision + recall) if found else 0.0,
        (query, "dcg", k): _dcg(order[:k], grades),
    }


def _dcg(order: Iterable[str], grades: Mapping[str, int]) -> float:
    return math.fsum(max(grades.get(doc, 0), 0) / math.log2(rank + 1) for rank, doc in enumerate(order, 1))


def _of_trec_eval(labels: Labels, seen: Labels, run: Scores, relevant_from: int) -> Values:
    rel = relevant_from
    names = {nDCG: ("ndcg", UNCUT), AP(rel=rel): ("ap", UNCUT), RR(rel=rel): ("rr", UNCUT)}
    names[Rprec(rel=rel)] = ("r_precision", UNCUT)
    exponential, unique_only = {}, {}
    gains = nDCG(gains={-2: 0, -1: 0, 0: 0, 1: 1, 2: 3, 3: 7})
    for k in CUTOFFS:
        names |= {nDCG @ k: ("ndcg", k), AP(rel=rel) @ k: ("ap", k), P(rel=rel) @ k: ("precision", k)}
        names |= {R(rel=rel) @ k: ("recall", k), Success(rel=rel) @ k: ("hit", k)}
        exponential[gains @ k] = ("ndcg_exp", k)
        unique_only[RR(rel=rel) @ k] = ("rr", k)
    labelled = {q: dict(scores) for q, scores in run.items() if q in labels}
    unique = {q: {d: -float(i) for i, d in enumerate(in_order(s))} for q, s in labelled.items()}
    values: Values = {}
    for measures, judgements, rankings in (
        (names, seen, labelled),
        (exponential, seen, labelled),
        (unique_only, seen, unique),
        ({Judged @ k: ("judged", k) for k in CUTOFFS}, labels, unique),
    ):
        qrels = [ir.Qrel(q, d, g) for q, docs in judgements.items() for d, g in docs.items()]
        for value in ir.iter_calc(list(measures), qrels, rankings):
            values[value.query_id, *measures[value.measure]] = value.value
    return values
