"""The panels of the Compare page, each with its picture, what it says in words, and its SQL."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import streamlit as st
from rankroom.comparison import Comparison
from rankroom.thresholds import read_thresholds
from streamlit.delta_generator import DeltaGenerator

from panels import (
    compare_account,
    compare_beside,
    compare_change,
    compare_costs,
    compare_forest,
    compare_map,
    compare_matrix,
    compare_queries,
    compare_result,
    compare_scatter,
    compare_top,
    words,
)
from panels.compare_pair import Pair
from panels.filters import Filters
from panels.layout import panel_title, show_sql
from panels.markup import facts_line
from panels.question import Question
from panels.store_access import Row, reading


@dataclass(frozen=True)
class View:
    """What the panels are about."""

    filters: Filters
    pair: Pair
    found: Comparison
    metric: str
    compared: tuple[str, ...] | None
    """The ids of the queries, where only what the runs share is compared; None: all under the filters."""

    @property
    def name(self) -> str:
        """The metric at its cutoff."""
        return compare_top.named(self.metric, self.filters.k)

    def listed(self, *further: str, **more: str | float) -> Question:
        """The queries that meet these further conditions."""
        return compare_queries.listed(self.filters, self.pair, self.compared, self.metric, *further, **more)


def view(filters: Filters, pair: Pair, found: Comparison, metric: str) -> View:
    """The view of a comparison."""
    compared = None
    if found.on_common:
        with reading() as store:
            compared = compare_result.compared_queries(store, filters, pair)
    return View(filters, pair, found, metric, compared)


def say_beside(on: View) -> None:
    """Where runs of the same scores differ all the same, below the verdict that they do not."""
    if any(one.ties < one.n for one in on.found.metrics):
        return
    with reading() as store:
        rows = store.rows(compare_beside.question(on.filters, on.pair, on.compared))
    if sentence := compare_beside.sentence(rows, on.filters.k):
        st.markdown(sentence)


def differences(on: View) -> None:
    """All metrics with their intervals, and beside them the account of one of them."""
    with st.grid(2, min_column_width=470, gap="medium"):
        left, right = st.container(), st.container()
    with left:
        panel_title("Is it better, and can we tell?")
        st.caption(
            f"▶ better, ◀ worse: clear, p < 0.05 corrected (Holm) over the {len(on.found.metrics)} metrics. "
            f"○ hollow: not clear. Shaded: less than {on.found.smallest:g}, the smallest difference that "
            "matters."
        )
        frame = compare_forest.frame(on.found.metrics)
        st.altair_chart(
            compare_forest.chart(frame, on.found.smallest), alt=compare_forest.alt_text(frame), key="forest"
        )
    with right:
        _account(on)
    beside_question = compare_beside.question(on.filters, on.pair, on.compared)
    with reading() as store:
        beside = compare_beside.facts(store.rows(beside_question), on.filters.k)
    if beside:
        st.html(facts_line([("Beside the metrics:", ""), *beside]))
    with st.expander("The numbers, and how they are made", icon=":material/table_rows:", type="compact"):
        compare_forest.show_table(on.found.metrics)
        st.caption(compare_result.method(on.found))
    show_sql(
        compare_result.input_of(on.filters, on.pair, on.compared),
        compare_result.account_of(on.filters, on.pair, on.compared),
        beside_question,
    )


def _account(on: View) -> None:
    metric = on.metric if on.metric in compare_account.METRICS else compare_account.METRICS[0]
    name = compare_top.named(metric, on.filters.k)
    panel_title(f"What the change of {name} is made of")
    hit = round((on.found.metric("hit").baseline or 0.0) * on.found.n)
    found = compare_account.steps(on.found.account, metric)
    is_clear = on.found.metric(metric).verdict in (compare_forest.IMPROVED, compare_forest.REGRESSED)
    st.markdown(compare_account.sentence(found, metric, on.filters.k, hit, on.found.n - hit, is_clear))
    if found:
        st.altair_chart(
            compare_account.chart(found, metric, on.filters.k),
            alt=compare_account.alt_text(found, metric, on.filters.k),
            key="account",
        )
        st.caption(compare_account.CAUTION)


def slice_bar(possible: list[str]) -> DeltaGenerator:
    """The heading of the slices, and the bar for what they are made by."""
    panel_title("For whom?")
    if not possible:
        st.caption(
            "The queries of this data set say nothing that they could be sliced by: "
            "no category, language, tag or further field."
        )
    return st.container(horizontal=True, vertical_alignment="bottom")


def slices(on: View) -> None:
    """The differences in the slices of the queries."""
    by, found = on.found.by, on.found.slices
    if not by:
        return
    st.markdown(compare_map.sentence(found, by, on.found.smallest))
    if not found:
        return
    if len(by) == 1:
        _slices_of_one(on, by[0])
        return
    frame = compare_map.frame(found, *by)
    st.caption(compare_map.caption(frame, on.name, read_thresholds().thin))
    event = st.altair_chart(
        compare_map.chart(frame, on.name, (by[0], by[1])),
        on_select="rerun",
        selection_mode=compare_map.CELL,
        key="difference_map",
        alt=compare_map.alt_text(frame, on.name, (by[0], by[1])),
    )
    show_sql(
        compare_result.input_of(on.filters, on.pair, on.compared),
        compare_result.slices_of(on.filters, on.pair, on.compared, by, on.metric),
    )
    if cell := _clicked(event, compare_map.CELL, ("row", "column"), frame):
        values = dict(zip(by, (cell["row"], cell["column"]), strict=True))
        _queries_behind(
            on,
            f"{compare_map.slice_name(values, by)}: {words.signed(cell['difference'])}",
            on.listed(
                compare_map.behind(by),
                dimension_1=by[0],
                slice_1=cell["row"],
                dimension_2=by[1],
                slice_2=cell["column"],
            ),
            "of_slice",
        )


def _slices_of_one(on: View, dimension: str) -> None:
    found = compare_map.largest(on.found.slices)
    names = [compare_map.row_name(one, dimension) for one in found]
    frame = compare_forest.frame(found, names)
    st.caption(
        f"Difference of {on.name} in each slice with its 95 % interval; p corrected (Holm) over the "
        f"{words.count(len(on.found.slices), 'slice')}. ○ hollow: not clear, or thin."
    )
    st.altair_chart(
        compare_forest.chart(frame, on.found.smallest), alt=compare_forest.alt_text(frame), key="slice_forest"
    )
    show_sql(
        compare_result.input_of(on.filters, on.pair, on.compared),
        compare_result.slices_of(on.filters, on.pair, on.compared, on.found.by, on.metric),
    )


def queries(on: View) -> None:
    """Query by query: the scatter, and the matrix of ranks."""
    points_question = compare_scatter.points(on.filters, on.pair, on.compared, on.metric)
    with st.grid(2, min_column_width=420, gap="medium"):
        left, right = st.container(), st.container()
    with left:
        panel_title(f"Query by query: {on.name}")
        with reading() as store:
            points = store.table(points_question)
        st.caption(compare_scatter.caption(points))
        event = st.altair_chart(
            compare_scatter.chart(points, on.name),
            on_select="rerun",
            selection_mode=compare_scatter.POINT,
            key="scatter",
            alt=compare_scatter.alt_text(points, on.name),
        )
        show_sql(points_question)
    point = _clicked(event, compare_scatter.POINT, ("baseline", "candidate"), points)
    if point and point["queries"] == 1:
        compare_queries.open_query(on.pair, str(point["query_id"]))
    with right:
        panel_title("From which rank to which?")
        what = st.segmented_control(
            "Ranks of",
            [compare_matrix.FIRST, compare_matrix.EVERY],
            default=compare_matrix.FIRST,
            required=True,
            key="ranks_of",
            bind="query-params",
            label_visibility="collapsed",
        )
        ranks_question = compare_matrix.transitions(on.filters, on.pair, on.compared, what)
        with reading() as store:
            ranks = store.table(ranks_question)
        st.caption(compare_matrix.caption(ranks, on.filters.k, what))
        event = st.altair_chart(
            compare_matrix.chart(ranks, on.filters.k, what),
            on_select="rerun",
            selection_mode=compare_matrix.CELL,
            key="rank_matrix",
            alt=compare_matrix.alt_text(ranks, what),
        )
        if any(note.kind in compare_change.NOT_RUN for note in on.found.notes):
            st.caption("A query that a run left out, or that failed in it, stands under “never” there.")
        show_sql(ranks_question)
    if point:
        _queries_behind(
            on,
            f"{on.name} {words.number(point['baseline'])} → {words.number(point['candidate'])}",
            on.listed(compare_scatter.BEHIND, at_baseline=point["baseline"], at_candidate=point["candidate"]),
            "of_point",
        )
    if cell := _clicked(event, compare_matrix.CELL, ("baseline", "candidate"), ranks):
        _queries_behind(
            on,
            f"{what[0].upper()}{what[1:]}: rank {cell['baseline']} → {cell['candidate']}",
            on.listed(
                compare_matrix.behind(on.filters, on.compared, what),
                at_baseline=cell["baseline"],
                at_candidate=cell["candidate"],
            ),
            "of_ranks",
        )


def _queries_behind(on: View, title: str, question: Question, key: str) -> None:
    """The queries behind what was clicked."""
    with reading() as store:
        frame = store.table(question)
    total = frame.column("of_queries")[0].as_py() if len(frame) else 0
    with st.container(border=True):
        st.markdown(f"**{title}** · {words.count(total, 'query', 'queries')}")
        if len(frame):
            compare_queries.show(frame, on.pair, on.name, key, "The queries behind a mark")
            if note := compare_queries.cut_note(frame):
                st.caption(note)
        show_sql(question)


def wins_and_losses(on: View) -> None:
    """The queries that lost and those that won, the largest first."""
    with st.grid(2, min_column_width=470, gap="medium"):
        left, right = st.container(), st.container()
    for side, title, condition, key in (
        (left, "Losses", compare_queries.LOSS, "losses"),
        (right, "Wins", compare_queries.WIN, "wins"),
    ):
        question = on.listed(condition)
        with reading() as store:
            frame = store.table(question)
        total = frame.column("of_queries")[0].as_py() if len(frame) else 0
        with side:
            panel_title(f"{title}: {words.count(total, 'query', 'queries')}")
            if total:
                st.caption(compare_queries.about(frame))
                compare_queries.show(frame, on.pair, on.name, key, title)
            else:
                st.caption(f"No query has a {'lower' if key == 'losses' else 'higher'} {on.name}.")
            show_sql(question)


def costs(on: View) -> None:
    """Latency and context size beside quality."""
    question = compare_costs.question(on.filters, on.pair, on.compared)
    with reading() as store:
        rows = store.rows(question)
    panel_title("At what cost?")
    st.markdown(compare_costs.sentence(rows))
    measured = [cost for cost in compare_costs.TITLES if cost in compare_costs.measured(rows)]
    if measured:
        st.caption(compare_costs.note(rows))
        quality = on.found.metric(on.metric)
        with st.grid(2, min_column_width=360):
            for cost in measured:
                st.altair_chart(
                    compare_costs.chart(rows, quality, cost, on.name),
                    alt=compare_costs.alt_text(rows, quality, cost, on.name),
                    key=f"cost_{cost}",
                )
    show_sql(question)


def _clicked(event: object, selection: str, fields: tuple[str, str], frame: pa.Table) -> Row | None:
    """The row of what was clicked, if it is still there."""
    points = dict(getattr(event, "selection", None) or {}).get(selection) or []
    if not points:
        return None
    wanted = {name: points[0].get(name) for name in fields}
    return next(
        (row for row in frame.to_pylist() if all(row[name] == value for name, value in wanted.items())), None
    )
