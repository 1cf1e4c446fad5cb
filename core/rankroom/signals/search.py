"""Trying the rules on two runs of a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import duckdb

from rankroom import comparability
from rankroom.errors import UsageError
from rankroom.scoring import check_cutoffs
from rankroom.signals import causes, means, parts
from rankroom.signals.finding import Finding, Said, Signals, Sure
from rankroom.signals.pair import Pair, Surroundings
from rankroom.signals.stored import DEV, K
from rankroom.thresholds import Thresholds, read_thresholds

HELD_OUT = "dev_up_heldout_down"


@dataclass(frozen=True)
class Rule:
    """A rule of the catalogue (sql/views/79_signal_rules.sql): how it is tried, and what it needs."""

    find: Callable[[Pair], Said | None]
    lacks: Callable[[Pair], str | None] = lambda pair: None
    """What it would need and these runs do not have; None where nothing is missing."""


def _no_slices(pair: Pair) -> str | None:
    return (
        None if pair.slices else f"no part of the queries has {pair.limits.thin} or more, and not all of them"
    )


def _no_must_pass(pair: Pair) -> str | None:
    return None if pair.about.must_pass else "no query is must-pass"


def _no_steps(pair: Pair) -> str | None:
    return None if pair.has_steps else "not both runs record the steps of their pipelines"


def _no_costs(pair: Pair) -> str | None:
    return None if pair.costs["query_id"].size else "not both runs record latency or context size"


def _no_answers(pair: Pair) -> str | None:
    return None if pair.answers else "not both runs have answer scores of one name"


def _no_held_out(pair: Pair) -> str | None:
    there = {pair.about.splits.get(one) for one in pair.scores.query_ids} - {None}
    return None if DEV in there and len(there) > 1 else "the queries are not of dev and a held-out split"


def _one_cutoff(pair: Pair) -> str | None:
    return None if len(pair.by_cutoff) > 1 else "only one cutoff is at hand"


RULES = {
    "ndcg_up_hit_flat": Rule(means.ndcg_up_hit_flat),
    "rr_flat_evidence_lost": Rule(means.rr_flat_evidence_lost),
    "recall_up_precision_down": Rule(means.recall_up_precision_down),
    "overall_up_slice_down": Rule(parts.overall_up_slice_down, _no_slices),
    "must_pass_broken": Rule(parts.must_pass_broken, _no_must_pass),
    "hit_up_rank_worse": Rule(means.hit_up_rank_worse),
    "mean_up_most_lose": Rule(means.mean_up_most_lose),
    "cutoff_disagrees": Rule(means.cutoff_disagrees, _one_cutoff),
    "stage_gain_lost": Rule(causes.stage_gain_lost, _no_steps),
    "quality_up_cost_up": Rule(causes.quality_up_cost_up, _no_costs),
    "retrieval_up_answer_down": Rule(causes.retrieval_up_answer_down, _no_answers),
    HELD_OUT: Rule(parts.dev_up_heldout_down, _no_held_out),
    "labels_blur": Rule(causes.labels_blur),
    "config_interaction": Rule(parts.config_interaction, _no_slices),
}
"""The rules in the order of the catalogue."""


def read_signals(
    con: duckdb.DuckDBPyConnection,
    baseline: str,
    candidate: str,
    k: int = K,
    *,
    split: str = "all",
    label_set: str | None = None,
    queries: Sequence[str] | None = None,
    held_out: bool = False,
    thresholds: Thresholds | None = None,
) -> Signals:
    """Where the signals of two runs disagree, what fired first; and what was looked at.

    Of runs that cannot be compared there is nothing but the reasons. `split`, `label_set` and `queries` are
    as in `compare`; `held_out` also tries the rule that holds dev against the other splits.
    """
    check_cutoffs([k])
    examined = comparability.examine(
        con, baseline, candidate, split=split, label_set=label_set, queries=queries
    )
    if not con.execute("select 1 from cutoffs where k = $k", {"k": k}).fetchall():
        raise UsageError(f"there are no scores at k = {k}: `rankroom rescore -k {k}` makes some")
    if not examined.comparable or examined.label_set is None:
        return Signals(baseline, candidate, k, split, [], 0, examined.label_set, examined.reasons)
    pair = Pair(
        con,
        baseline,
        candidate,
        k,
        examined.label_set,
        Surroundings.read(con, examined.label_set),
        thresholds or read_thresholds(),
        examined.queries,
    )
    if not pair.n:
        return Signals(baseline, candidate, k, split, [], 0, pair.label_set, [])
    found = try_rules(pair, held_out=held_out)
    lacking = {rule: RULES[rule].lacks(pair) for rule in RULES if rule != HELD_OUT or held_out}
    if not held_out:
        lacking[HELD_OUT] = "dev is held against the other splits only where that is asked for"
    return Signals(
        baseline,
        candidate,
        k,
        split,
        found,
        pair.n,
        pair.label_set,
        examined.reasons,
        [rule for rule in RULES if lacking[rule] is None],
        {rule: why for rule in RULES if (why := lacking[rule]) is not None},
    )


def try_rules(pair: Pair, *, held_out: bool = False) -> list[Finding]:
    """What the rules find in a pair that can be compared: what fired first, each in the catalogue's order."""
    if not pair.n:
        return []
    wanted = {rule: RULES[rule] for rule in RULES if rule != HELD_OUT or held_out}
    said = {rule: how.find(pair) for rule, how in wanted.items()}
    findings = [_finding(pair, rule, one) for rule, one in said.items() if one is not None and one.sure]
    return sorted(findings, key=lambda one: one.status != "fired")


def _finding(pair: Pair, rule: str, said: Said) -> Finding:
    fired = said.sure is Sure.YES
    numbers = said.numbers | {"n": said.n}
    title, look_next = pair.about.rules[rule]
    return Finding(
        id=rule,
        status="fired" if fired else "possible",
        sentence=said.sentence + ("" if fired else f" (possible: n = {said.n:,} is too few to be sure)"),
        numbers={name: float(value) for name, value in numbers.items() if value is not None},
        queries=said.queries,
        n=said.n,
        title=title,
        look_next=look_next,
        baseline=pair.base,
        candidate=pair.cand,
        k=pair.k,
        label_set=pair.label_set,
    )
