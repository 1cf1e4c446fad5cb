"""Rules about means that disagree with each other, or with what happened to most queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankroom.counted import count, queries
from rankroom.paired import Sample
from rankroom.signals import words
from rankroom.signals.claims import fallen, opposed, risen, stayed
from rankroom.signals.finding import Said, Sure
from rankroom.signals.pair import Move, Pair, Test, family

LIFTED = ("up", "entered")
CHANGED = ("up", "entered", "down", "left")


def ndcg_up_hit_flat(pair: Pair) -> Said | None:
    """NDCG rises and the hit rate stays: the order got better where it was good enough."""
    if not risen(pair.tests["ndcg"], pair.limits):
        return None
    ndcg, hit = pair.at_k["ndcg"], pair.at_k["hit"]
    sure = min(risen(ndcg, pair.limits), stayed(hit, pair.limits))
    if not sure:
        return None
    before, _ = pair.scores.of("hit")
    changed = [one for one in pair.moves if one.move in CHANGED]
    lifted = [one for one in changed if one.move in LIFTED and one.baseline_hit]
    failing = int((before == 0).sum())
    touched = len({one.query_id for one in changed if not one.baseline_hit})
    clauses = [
        f"{words.moved(words.name('ndcg', pair.k), ndcg)}, {words.held(words.name('hit', pair.k), hit)}"
    ]
    why = [
        f"{len(lifted):,} of {count(len(changed), 'move')} lifted documents in queries that already hit",
        _failing(failing, touched),
    ]
    if hit.wins or hit.losses:
        why.append(f"{hit.wins:,} gained a hit and {hit.losses:,} lost theirs")
    return Said(
        sure,
        f"{clauses[0]}: {words.joined(why)}",
        {
            **words.numbers("ndcg", ndcg),
            **words.numbers("hit", hit),
            "moves": len(changed),
            "moves_up_in_hits": len(lifted),
            "failing": failing,
            "failing_touched": touched,
        },
        pair.scores.by_size("ndcg", 1, before == 1),
        ndcg.n,
    )


def _failing(failing: int, touched: int) -> str:
    """What became of the queries that the baseline missed."""
    if not failing:
        return "no query failed before"
    the = f"the {count(failing, 'failing query', 'failing queries')}"
    if not touched:
        return (
            f"{the} {'was' if failing == 1 else 'were'} left as {'it was' if failing == 1 else 'they were'}"
        )
    return f"of {the}, {touched:,} saw a labelled document move"


def rr_flat_evidence_lost(pair: Pair) -> Said | None:
    """The first relevant document holds its place, and evidence behind it is lost."""
    if not any(fallen(pair.tests[one], pair.limits) for one in ("recall", "complete")):
        return None
    rr = pair.at_k["rr"]
    holds = stayed(rr, pair.limits)
    lost = [(min(holds, fallen(pair.at_k[one], pair.limits)), one) for one in ("recall", "complete")]
    sure = max(one for one, _ in lost)
    if not sure:
        return None
    fell = [one for how, one in lost if how == sure]
    relevant = [one for one in pair.moves if one.relevant]
    left, entered = _of(relevant, "left"), _of(relevant, "entered")
    clauses = " and ".join(words.moved(words.name(one, pair.k), pair.at_k[one]) for one in fell)
    return Said(
        sure,
        f"{words.held(words.name('rr', pair.k), rr)}, but {clauses}: {words.documents(len(left))} left the"
        f" first {pair.k} in {queries(_queries(left))}, and {len(entered):,} entered it",
        {
            **words.numbers("rr", rr),
            **words.numbers("recall", pair.at_k["recall"]),
            **words.numbers("complete", pair.at_k["complete"]),
            "documents_left": len(left),
            "documents_entered": len(entered),
        },
        pair.scores.by_size("recall", -1),
        rr.n,
    )


def recall_up_precision_down(pair: Pair) -> Said | None:
    """More of the evidence on average, fewer relevant documents among the first k."""
    sure = opposed(pair.tests["recall"], pair.tests["precision"], pair.limits)
    if not sure:
        return None
    recall, precision = pair.at_k["recall"], pair.at_k["precision"]
    relevant = [one for one in pair.moves if one.relevant]
    left, entered = _of(relevant, "left"), _of(relevant, "entered")
    return Said(
        sure,
        f"{words.moved(words.name('recall', pair.k), recall)}, but"
        f" {words.moved(words.name('precision', pair.k), precision)}: {words.documents(len(entered))}"
        f" entered the first {pair.k} in {queries(_queries(entered))}, and {len(left):,} left it in"
        f" {queries(_queries(left))}",
        {
            **words.numbers("recall", recall),
            **words.numbers("precision", precision),
            "documents_left": len(left),
            "documents_entered": len(entered),
        },
        pair.scores.by_size("precision", -1),
        recall.n,
    )


def hit_up_rank_worse(pair: Pair) -> Said | None:
    """More queries have a hit; where both runs have one, the first relevant document stands lower."""
    if not (pair.tests["hit"].difference or 0.0) > 0:
        return None
    before, after = pair.scores.of("hit")
    both = (before == 1) & (after == 1)
    base, cand = pair.scores.of("rr")
    (test,) = family([Sample("rr", pair.scores.where(both), base[both], cand[both])])
    sure = opposed(pair.tests["hit"], test, pair.limits)
    if not sure:
        return None
    hit, rr = pair.at_k["hit"], pair.full(test)
    return Said(
        sure,
        f"{words.moved(words.name('hit', pair.k), hit)} ({hit.wins:,} queries gained a hit, {hit.losses:,}"
        f" lost theirs), but in the {count(rr.n, 'query', 'queries')} that hit in both runs"
        f" {words.moved(words.name('rr', pair.k), rr)}: the first relevant document fell in {rr.losses:,} of"
        f" them and rose in {rr.wins:,}",
        {**words.numbers("hit", hit), **words.numbers("rr_where_both_hit", rr)},
        pair.scores.by_size("rr", -1, both),
        hit.n,
    )


def mean_up_most_lose(pair: Pair) -> Said | None:
    """A few large wins lift the mean, while most of the queries that changed lost."""
    test = pair.tests["ndcg"]
    sure = risen(test, pair.limits)
    if not sure or test.losses <= test.wins:
        return None
    ndcg = pair.at_k["ndcg"]
    change = pair.scores.change("ndcg")
    # Whether most lose is a question about signs: the exact binomial test, which is that of a hit.
    (sign,) = family([Sample("hit", pair.scores.query_ids, np.zeros(len(change)), np.sign(change))])
    if sign.p is None or sign.p >= pair.limits.alpha:
        sure = Sure.POSSIBLE
    wins = np.sort(change[change > 0])[::-1]
    few = max(1, len(wins) // 5)
    return Said(
        sure,
        f"{words.moved(words.name('ndcg', pair.k), ndcg)}, but {ndcg.losses:,} queries lost and"
        f" {ndcg.wins:,} won: {count(few, 'query', 'queries')} {'gives' if few == 1 else 'give'}"
        f" {wins[:few].sum() / wins.sum():.0%} of all that was won",
        {
            **words.numbers("ndcg", ndcg),
            "sign_p": sign.p,
            "largest_wins": few,
            "share_of_largest_wins": float(wins[:few].sum() / wins.sum()),
        },
        pair.scores.by_size("ndcg", -1),
        ndcg.n,
    )


DISAGREE_ON = ("hit", "recall", "ndcg")
FIRST_PAGE = 10
"""Cutoffs up to here are near any k: what stands deeper does not decide between two runs at k = 5."""


def cutoff_disagrees(pair: Pair) -> Said | None:
    """A metric rises at one cutoff and falls at another, of those near k."""
    near = [k for k in pair.by_cutoff if k <= max(2 * pair.k, FIRST_PAGE)]
    found = [said for metric in DISAGREE_ON if (said := _disagrees(pair, metric, near))]
    return max(found, key=lambda said: said.sure, default=None)


def _disagrees(pair: Pair, metric: str, cutoffs: Sequence[int]) -> Said | None:
    means = [float(pair.by_cutoff[k].change(metric).mean()) for k in cutoffs]
    if not (min(means, default=0.0) < 0 < max(means, default=0.0)):
        return None
    samples = [Sample(metric, pair.by_cutoff[k].query_ids, *pair.by_cutoff[k].of(metric)) for k in cutoffs]
    tests = dict(zip(cutoffs, family(samples), strict=True))
    up, down = _clearest(tests, 1, pair.k), _clearest(tests, -1, pair.k)
    sure = opposed(tests[up], tests[down], pair.limits)
    if not sure:
        return None
    first, second = sorted((up, down))
    compared = {k: pair.full(tests[k]) for k in (first, second)}
    return Said(
        sure,
        f"{words.moved(words.name(metric, first), compared[first])}, but"
        f" {words.moved(words.name(metric, second), compared[second])}: at k = {first},"
        f" {tests[first].wins:,} queries won and {tests[first].losses:,} lost; at k = {second},"
        f" {tests[second].wins:,} won and {tests[second].losses:,} lost",
        {
            **words.numbers(f"{metric}_at_{first}", compared[first]),
            **words.numbers(f"{metric}_at_{second}", compared[second]),
        },
        pair.by_cutoff[down].by_size(metric, -1),
        tests[up].n,
    )


def _clearest(tests: dict[int, Test], sign: int, asked: int) -> int:
    """The cutoff at which a change in this direction is clearest; of several, the one that was asked for."""
    same = {k: one for k, one in tests.items() if (one.difference or 0.0) * sign > 0}
    return min(same, key=lambda k: (same[k].p or 0.0, -abs(same[k].difference or 0.0), k != asked, k))


def _of(moves: Sequence[Move], kind: str) -> list[Move]:
    return [one for one in moves if one.move == kind]


def _queries(moves: Sequence[Move]) -> int:
    return len({one.query_id for one in moves})
