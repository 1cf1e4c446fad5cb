"""Rules that hold retrieval against what lies before and behind it: stages, costs, answers, labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from rankroom.paired import MetricComparison, Sample
from rankroom.signals import words
from rankroom.signals.claims import fallen, risen
from rankroom.signals.finding import Said, Sure
from rankroom.signals.pair import Floats, Pair, family
from rankroom.thresholds import SignalThresholds
from rankroom.verdict_words import signed

QUALITY = ("ndcg", "hit", "recall")
"""Any of these may say that retrieval got better; the first that is surest is named."""


@dataclass(frozen=True)
class Cost:
    """What a query takes."""

    name: str
    words: str
    unit: str

    def allowed(self, baseline: float, limits: SignalThresholds) -> float:
        """By how much its mean may rise: up to the budget or, where there is none, by a share."""
        least, budget = {
            "latency_ms": (limits.latency_ms, limits.latency_budget_ms),
            "context_tokens": (limits.context_tokens, limits.context_budget_tokens),
        }[self.name]
        if budget:
            return max(0.0, budget - baseline)
        return max(least, limits.cost_rise * baseline)


COSTS = (Cost("latency_ms", "latency", "ms"), Cost("context_tokens", "context", "tokens"))


def stage_gain_lost(pair: Pair) -> Said | None:
    """The first step passes on more evidence, and the end has no more of it."""
    if not pair.has_steps:
        return None
    found = pair.columns("first_step")
    ids, before, after = _side_by_side(found, "baseline", "candidate")
    if not ids:
        return None
    (test,) = family([Sample("recall", ids, before, after)])
    gain = risen(test, pair.limits)
    if not gain or (pair.tests["recall"].difference or 0.0) >= pair.limits.smallest:
        return None
    first, final = pair.full(test), pair.at_k["recall"]
    excluded = final.high is not None and final.high < pair.limits.smallest
    sure = gain if excluded else Sure.POSSIBLE
    lost = pair.rows("lost_again")
    steps = Counter(step for _, _, step in lost)
    where = ", ".join(f"{number:,} at {step}" for step, number in steps.most_common())
    return Said(
        sure,
        f"the first step passes on more: its share of the relevant documents rose from {first.baseline:.3f}"
        f" to {first.candidate:.3f} ({signed(first.difference)}{words.interval(first.low, first.high)}),"
        f" but {words.name('recall', pair.k)} did not ({signed(final.difference)}"
        f"{words.interval(final.low, final.high)}): {words.documents(len(lost))} came in and"
        f" {'was' if len(lost) == 1 else 'were'} lost again{f', {where}' if where else ''}",
        {**words.numbers("first_step", first), **words.numbers("recall", final), "lost_again": len(lost)},
        list(dict.fromkeys(query_id for query_id, _, _ in lost)),
        first.n,
    )


def quality_up_cost_up(pair: Pair) -> Said | None:
    """Retrieval is better, and takes longer or more context than is allowed for."""
    better = _better(pair)
    if better is None:
        return None
    gain, metric = better
    measured = {}
    for cost in COSTS:
        ids, before, after = _side_by_side(pair.costs, f"b_{cost.name}", f"c_{cost.name}")
        if ids:
            measured[cost] = Sample(cost.name, ids, before, after)
    over: list[tuple[Sure, Cost, Sample, MetricComparison]] = []
    for (cost, sample), test in zip(measured.items(), family(list(measured.values())), strict=True):
        if not risen(test, pair.limits):
            continue
        one, allowed = pair.full(test), cost.allowed(float(sample.baseline.mean()), pair.limits.signals)
        if (one.difference or 0.0) > allowed:
            clear = Sure.YES if one.low is not None and one.low > allowed else Sure.POSSIBLE
            over.append((min(gain, risen(test, pair.limits), clear), cost, sample, one))
    if not over:
        return None
    sure, cost, sample, one = max(over, key=lambda each: each[0])
    medians = float(np.median(sample.baseline)), float(np.median(sample.candidate))
    rises = sample.candidate - sample.baseline
    return Said(
        sure,
        f"{words.moved(words.name(metric, pair.k), pair.at_k[metric])}, and mean {cost.words} rose from"
        f" {_amount(one.baseline)} to {_amount(one.candidate)} {cost.unit} (+{_amount(one.difference)}"
        f" [{_amount(one.low)}, {_amount(one.high)}], n = {one.n:,}; median {_amount(medians[0])} to"
        f" {_amount(medians[1])})",
        {
            **words.numbers(metric, pair.at_k[metric]),
            **words.numbers(cost.name, one),
            f"{cost.name}_median_baseline": medians[0],
            f"{cost.name}_median_candidate": medians[1],
        },
        [sample.query_ids[at] for at in np.argsort(-rises, kind="stable") if rises[at] > 0],
        pair.n,
    )


def retrieval_up_answer_down(pair: Pair) -> Said | None:
    """Retrieval is better by the labels, and the answers score lower."""
    better = _better(pair)
    if better is None:
        return None
    gain, metric = better
    by_name: dict[str, list[tuple[str, float, float]]] = {}
    for name, *scored in pair.answers:
        by_name.setdefault(name, []).append(tuple(scored))
    tests = family([_sample(name, scored) for name, scored in by_name.items()])
    found = [(min(gain, sure), one) for one in tests if (sure := fallen(one, pair.limits))]
    if not found:
        return None
    sure, test = max(found, key=lambda each: (each[0], -(each[1].p or 0.0)))
    worst, ids = pair.full(test), test.sample.query_ids
    falls = test.sample.baseline - test.sample.candidate
    return Said(
        sure,
        f"{words.moved(words.name(metric, pair.k), pair.at_k[metric])}, but the answer score {worst.metric}"
        f" fell from {worst.baseline:.3f} to {worst.candidate:.3f} ({signed(worst.difference)}"
        f"{words.interval(worst.low, worst.high)}, n = {worst.n:,}): {worst.losses:,} answers got worse and"
        f" {worst.wins:,} better",
        {**words.numbers(metric, pair.at_k[metric]), **words.numbers("answer", worst)},
        [ids[at] for at in np.argsort(-falls, kind="stable") if falls[at] > 0],
        min(worst.n, pair.n),
    )


def labels_blur(pair: Pair) -> Said | None:
    """Fewer of the first k are labelled, and what is not could turn the comparison round."""
    before, after = pair.scores.of("judged")
    there = ~(np.isnan(before) | np.isnan(after))
    if not there.any() or not (after[there].mean() < before[there].mean()):
        return None
    (test,) = family([Sample("judged", pair.scores.where(there), before[there], after[there])])
    sure = fallen(test, pair.limits)
    if not sure or (test.difference or 0.0) > -pair.limits.smallest:
        return None
    judged = pair.full(test)
    if judged.high is None or judged.high > -pair.limits.smallest:
        sure = Sure.POSSIBLE
    bounds = pair.columns("unlabelled")
    blurred, numbers = [], words.numbers("judged", judged)
    for metric in ("hit", "precision", "rr"):
        measured = pair.at_k[metric].difference or 0.0
        low, high = (float(bounds[f"{metric}_{end}"].mean()) for end in ("lowest", "highest"))
        numbers |= {f"{metric}_difference": measured, f"{metric}_lowest": low, f"{metric}_highest": high}
        if measured <= 0 and high > pair.limits.smallest:
            name = words.name(metric, pair.k)
            blurred.append(f"{name} {signed(measured)}, from {signed(low)} to {signed(high)}")
    if not blurred:
        return None
    rose = bounds["c_unlabelled"] - bounds["b_unlabelled"]
    here, before_ = (int(bounds[f"{side}_unlabelled"].sum()) for side in ("c", "b"))
    return Said(
        sure,
        f"{words.moved(words.name('judged', pair.k), judged)} to {judged.candidate:.3f}: {here:,} documents"
        f" in the first {pair.k} have no label ({before_:,} before). The differences as labelled, and what"
        f" they could be: {words.joined(blurred)}",
        numbers | {"unlabelled": here, "unlabelled_baseline": before_},
        [str(bounds["query_id"][at]) for at in np.argsort(-rose, kind="stable") if rose[at] > 0],
        judged.n,
    )


def _sample(name: str, scored: list[tuple[str, float, float]]) -> Sample:
    ids, before, after = zip(*scored, strict=True)
    return Sample(name, list(ids), np.array(before), np.array(after))


def _better(pair: Pair) -> tuple[Sure, str] | None:
    """The metric that says most surely that retrieval got better."""
    found = [(sure, metric) for metric in QUALITY if (sure := risen(pair.tests[metric], pair.limits))]
    return max(found, key=lambda each: each[0], default=None)


def _side_by_side(
    found: dict[str, Floats], baseline: str, candidate: str
) -> tuple[list[str], Floats, Floats]:
    """The queries of which both runs have the value, with both values."""
    before, after = found[baseline], found[candidate]
    there = ~(np.isnan(before) | np.isnan(after))
    return [str(one) for one in np.asarray(found["query_id"])[there]], before[there], after[there]


def _amount(value: float | None) -> str:
    """Milliseconds or tokens: whole, but for the small ones."""
    value = float(value or 0.0)
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}"
