"""The views above the list of failures: causes, changes, stages, abstention, answers; one is open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from panels import (
    abstention,
    answer_quality,
    class_changes,
    class_runs,
    class_slices,
    failure_list,
    failure_stages,
    funnel,
    leaderboard,
    legend,
    stage_metrics,
    words,
)
from panels.count_map import CELL
from panels.filters import Filters
from panels.layout import panel_title, show_sql
from panels.question import Question
from panels.store_access import reading

CAUSES, RUNS, CHANGES, STAGES, ABSTENTION, ANSWERS = (
    "Causes",
    "Run by run",
    "What changed",
    "Stages",
    "Abstention",
    "Answers",
)

HAS_ANSWERS = Question("select 1 as one from answer_scores where run in ($run, $against) limit 1")


def show(filters: Filters, by_final: bool = False) -> None:
    """The views that this run has something for, one of them open.

    `by_final`: it and the run held against record different stages, and compare by the final ranking alone.
    """
    names = [CAUSES]
    with reading() as store:
        steps = store.rows(funnel.question(filters))
        rates = store.rows(abstention.question(filters))
        answers = store.row(Question(HAS_ANSWERS.sql, filters.values()))
        ranked = store.column(leaderboard.question(filters))
    if len(ranked) > 1:
        names.append(RUNS)
    if filters.against:
        names.append(CHANGES)
    if len(steps) > 1:
        names.append(STAGES)
    if any(row["no_answer"] or row["false_abstention"] for row in rates):
        names.append(ABSTENTION)
    if answers:
        names.append(ANSWERS)
    if len(names) == 1:
        _causes(filters)
        return
    drawn: dict[str, Callable[[Filters], None]] = {
        CAUSES: _causes,
        RUNS: _runs,
        CHANGES: partial(_changes, by_final=by_final),
        STAGES: _stages,
        ABSTENTION: _abstention,
        ANSWERS: _answers,
    }
    chosen = st.segmented_control(
        "View",
        names,
        default=CAUSES,
        required=True,
        key="view",
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
    )
    drawn[chosen if chosen in names else CAUSES](filters)


def _causes(filters: Filters) -> None:
    with reading() as store:
        dimensions = store.column(Question(class_slices.DIMENSIONS.sql, filters.values()))
    by = class_slices.choose(dimensions)
    question = class_slices.question(filters, by) if by else failure_list.counts(filters)
    with reading() as store:
        frame = store.table(question)
    if not frame.num_rows:
        st.caption("No failing query is in any slice." if by else "No query fails under these filters.")
    elif by:
        st.altair_chart(
            class_slices.chart(frame, by),
            key=class_slices.KEY,
            on_select=lambda: class_slices.narrow(by, frame.column("slice").to_pylist()),
            selection_mode=CELL,
            alt=class_slices.alt_text(frame, by, filters.run),
        )
        st.caption(
            "Failing queries by their first cause. Beside each slice the number of its labelled queries. "
            f"{'A query stands in the slice of each of its tags. ' if by == 'tag' else ''}A click on a "
            "cell lists its queries."
        )
    else:
        st.altair_chart(
            failure_list.chart(frame),
            key="causes",
            on_select=failure_list.narrow,
            selection_mode=failure_list.CLICK,
            alt=failure_list.alt_text(frame, filters.run),
        )
    show_sql(question)


def _runs(filters: Filters) -> None:
    with reading() as store:
        runs = class_runs.chosen(filters, store.column(leaderboard.question(filters)))
        question = class_runs.question(filters, runs)
        frame = store.table(question)
        bare = failure_stages.without_stages(store.rows(failure_stages.question(filters, runs)))
    if frame.num_rows:
        st.altair_chart(
            class_runs.chart(frame, runs),
            key=class_runs.KEY,
            on_select=class_runs.narrow,
            selection_mode=CELL,
            alt=class_runs.alt_text(frame, runs),
        )
    st.caption(
        "Failing queries by their first cause: this run, the one held against it, the best others by NDCG, "
        f"{class_runs.MOST} at most. A click on a cell opens the run and lists its queries."
    )
    if bare:
        st.caption(bare)
    show_sql(question)


def _changes(filters: Filters, by_final: bool) -> None:
    question = class_changes.question(filters)
    with reading() as store:
        frame = store.table(question)
    rows = frame.to_pylist()
    st.markdown(class_changes.sentence(rows, filters, by_final))
    if rows:
        st.altair_chart(
            class_changes.chart(frame, filters),
            key=class_changes.KEY,
            on_select=class_changes.narrow,
            selection_mode=CELL,
            alt=class_changes.alt_text(frame, filters),
        )
        st.caption(
            f"Queries by their cause in both runs{', as each records it' if by_final else ''}. Blue: fails "
            "no longer; orange: fails now. A click on a cell lists its queries."
        )
    show_sql(question)


def _stages(filters: Filters) -> None:
    question = funnel.question(filters)
    with reading() as store:
        frame = store.table(question)
        stages = store.rows(stage_metrics.stages(filters))
    names = [str(row["stage"]) for row in stages]
    means_question = stage_metrics.question(filters, names)
    with reading() as store:
        means = store.rows(means_question)
    rows = frame.to_pylist()
    st.markdown(funnel.sentence(rows, filters.run, filters.k))
    st.altair_chart(
        funnel.chart(frame),
        key="funnel",
        on_select=funnel.narrow,
        selection_mode=funnel.CLICK,
        alt=funnel.alt_text(frame, filters.run),
    )
    legend.show_fills(funnel.fills(frame), "relevant documents:")
    back = [row for row in rows if row["came_back"]]
    st.caption(
        f"The final stage counts to k = {filters.k}, the others to their own cut. A click on a bar lists the "
        f"queries that lose evidence there.{' ' if back else ''}{'; '.join(map(_came_back, back))}"
    )
    show_sql(question)
    panel_title("Means at each stage")
    if text := stage_metrics.sentence(means, filters):
        st.markdown(text)
    stage_metrics.show(means, filters, names)
    show_sql(means_question)


def _came_back(row: dict[str, object]) -> str:
    return (
        f"{words.quoted(row['stage'])} has {words.count(row['came_back'], 'document')} again that the "
        "step before had not passed on"
    )


def _abstention(filters: Filters) -> None:
    question = abstention.question(filters)
    with reading() as store:
        rows = store.rows(question)
    mine = [row for row in rows if row["run"] == filters.run]
    if mine:
        st.markdown(abstention.sentence(mine[0], filters.k))
    abstention.show(rows, filters.k)
    with st.container(horizontal=True):
        for cause in ("false_answer", "forbidden_only", "false_abstention"):
            st.button(
                f"List: {words.failure_class(cause)}",
                key=f"list_{cause}",
                icon=":material/filter_alt:",
                on_click=failure_list.only,
                args=(cause,),
            )
    show_sql(question)


def _answers(filters: Filters) -> None:
    question = answer_quality.question(filters)
    with reading() as store:
        frame = store.table(question)
    st.markdown(answer_quality.sentence(frame.to_pylist(), filters.run))
    if frame.num_rows:
        answer_quality.show(frame, filters)
    st.caption(
        f"Scores that came with the runs, by what of the evidence stands in the first {filters.k}. An "
        "answer that is good without evidence is not from the documents."
    )
    show_sql(question)
