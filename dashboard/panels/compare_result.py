"""The comparison of a pair as core makes it, remembered while what it rests on stays; and its SQL."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from rankroom import comparability
from rankroom.comparison import Comparison, compare
from rankroom.thresholds import Thresholds, read_thresholds

from panels.compare_pair import Pair
from panels.compare_queries import conditions, values
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Reader, store_path

INPUT = """
select deltas.query_id, deltas.metric, deltas.baseline, deltas.candidate, deltas.difference
from query_deltas($base, $cand, $k, label_set := $label_set, stage := $stage) as deltas
left join queries on queries.query_set = $query_set and queries.query_id = deltas.query_id
{where}order by deltas.query_id, deltas.metric
"""

ACCOUNT = """
select account.metric, account.move, account.baseline_hit, account.num_documents, account.num_queries,
       account.share
from change_account($base, $cand, $k, label_set := $label_set, stage := $stage,
                    query_ids := {chosen}) as account
order by account.metric, account.baseline_hit desc, account.share desc
"""

SLICES = """
select by_1.slice as slice_1, {second}avg(deltas.baseline) as baseline, avg(deltas.candidate) as candidate,
       avg(deltas.difference) as difference, count(*) as n
from query_deltas($base, $cand, $k, label_set := $label_set, stage := $stage) as deltas
left join queries on queries.query_set = $query_set and queries.query_id = deltas.query_id
join query_slices as by_1
  on by_1.query_set = $query_set and by_1.query_id = deltas.query_id and by_1.dimension = $dimension_1
{join}where deltas.metric = $metric{conditions}
group by all
order by all
"""

SECOND_SLICE = """join query_slices as by_2
  on by_2.query_set = $query_set and by_2.query_id = deltas.query_id and by_2.dimension = $dimension_2
"""

# What a comparison rests on: as long as it is the same, a note that somebody writes changes nothing.
STATE = """
select runs.run, runs.content_hash, scorings.scored_at::varchar as scored_at,
       query_sets.content_hash as queries, label_sets.content_hash as labels,
       collections.content_hash as collection, collections.num_documents
from runs
join scorings on scorings.run = runs.run and scorings.label_set = $label_set
join label_sets on label_sets.label_set = scorings.label_set
join query_sets on query_sets.query_set = runs.query_set
join collections on collections.collection = runs.collection
where runs.run in ($base, $cand)
order by runs.run
"""

CHOSEN = "select queries.query_id from queries where {conditions} order by queries.query_id"


def comparison(
    store: Reader, filters: Filters, pair: Pair, by: tuple[str, ...], metric: str, common: bool
) -> Comparison:
    """The comparison under the filters, with the slices of one metric."""
    return _compared(store, store_path(), _asked(store, filters, pair), by, metric, common)


def compared_queries(store: Reader, filters: Filters, pair: Pair) -> tuple[str, ...]:
    """The ids of the queries that both runs have in common, where only these are compared."""
    return _common(store, store_path(), _asked(store, filters, pair))


@dataclass(frozen=True)
class _Asked:
    """What is compared; `chosen` are the ids of the queries where more than a split chooses them.

    `state` is what is stored of it, and `thresholds` what decides: with these it is remembered.
    """

    pair: Pair
    k: int
    split: str
    label_set: str
    stage: str
    chosen: tuple[str, ...] | None
    state: tuple[str, ...]
    thresholds: Thresholds


def _asked(store: Reader, filters: Filters, pair: Pair) -> _Asked:
    chosen = None
    if filters.by_query:
        conditions = ["queries.query_set = $query_set", *filters.query_conditions()]
        chosen = tuple(
            store.column(Question(CHOSEN.format(conditions=" and ".join(conditions)), filters.values()))
        )
    state = store.rows(Question(STATE, filters.values(base=pair.base, cand=pair.cand)))
    return _Asked(
        pair,
        filters.k,
        filters.split,
        filters.label_set,
        filters.stage,
        chosen,
        tuple(str(row) for row in state),
        read_thresholds(),
    )


@st.cache_data(max_entries=60, show_spinner="Comparing, with 10,000 resamples …")
def _compared(
    _store: Reader,
    path: str,
    asked: _Asked,
    by: tuple[str, ...],
    metric: str,
    common: bool,
) -> Comparison:
    return compare(
        _store.connection(),
        asked.pair.base,
        asked.pair.cand,
        k=asked.k,
        by=by,
        split=asked.split,
        label_set=asked.label_set,
        stage=asked.stage,
        slice_metrics=(metric,),
        queries=asked.chosen,
        common=common,
        thresholds=asked.thresholds,
    )


@st.cache_data(max_entries=60, show_spinner=False)
def _common(
    _store: Reader,
    path: str,
    asked: _Asked,
) -> tuple[str, ...]:
    examined = comparability.examine(
        _store.connection(),
        asked.pair.base,
        asked.pair.cand,
        stage=asked.stage,
        label_set=asked.label_set,
        split=asked.split,
        queries=asked.chosen,
    )
    return tuple(examined.common)


def input_of(filters: Filters, pair: Pair, compared: tuple[str, ...] | None) -> Question:
    """The per-query scores that the statistics are made from."""
    parts = conditions(filters, compared)
    where = f"where {' and '.join(parts)}\n" if parts else ""
    return Question(INPUT.format(where=where), values(filters, pair, compared))


def account_of(filters: Filters, pair: Pair, compared: tuple[str, ...] | None) -> Question:
    """The account of the change, for each metric that has one."""
    chosen = "null"
    if compared is not None:
        chosen = "$compared"
    elif filters.query_conditions():
        chosen = filters.query_ids()
    return Question(ACCOUNT.format(chosen=chosen), values(filters, pair, compared))


def slices_of(
    filters: Filters, pair: Pair, compared: tuple[str, ...] | None, by: tuple[str, ...], metric: str
) -> Question:
    """The means of both runs in each slice."""
    two = len(by) > 1
    sql = SLICES.format(
        second="by_2.slice as slice_2, " if two else "",
        join=SECOND_SLICE if two else "",
        conditions="".join(f"\n  and {part}" for part in conditions(filters, compared)),
    )
    asked = {f"dimension_{at}": name for at, name in enumerate(by, 1)}
    return Question(sql, values(filters, pair, compared, metric=metric, **asked))


def method(found: Comparison) -> str:
    """How the statistics are made of that input."""
    return (
        f"95 % paired bootstrap interval of the mean difference with {found.resamples:,} resamples; "
        "p two-sided, by the exact binomial for hit and complete, else by paired randomisation (all sign "
        f"patterns up to 20 queries that changed, else {found.randomisations:,} sampled), Holm-corrected "
        f"over the family; seed {found.seed}. The SQL below gives the per-query scores that all of it is "
        "made from."
    )
