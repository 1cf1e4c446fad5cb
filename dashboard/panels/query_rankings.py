"""What came: the ranking of one run as a list, or those of several side by side."""

from __future__ import annotations

import streamlit as st

from panels import ranked_list, run_notes, side_by_side
from panels.filters import Filters
from panels.layout import show_sql
from panels.question import Question
from panels.store_access import reading

OTHERS = Question("select run from scorings where label_set = $label_set and run <> $run order by run")


def show(filters: Filters, query_id: str, text: str) -> list[str]:
    """The rankings at one stage to one depth. Returns the documents that are in them."""
    with reading() as store:
        stages = {str(row["stage"]): row["cut"] for row in store.rows(ranked_list.stages(filters))}
        names = store.column(Question(OTHERS.sql, filters.values()))
        cut = store.row(run_notes.final_cut(filters))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stage = "final"
        if len(stages) > 1:
            stage = (
                st.selectbox("Stage", list(stages), key="at_stage", bind="query-params", width=200) or stage
            )
        depth = st.selectbox(
            "Show first", ranked_list.DEPTHS, index=0, key="depth", bind="query-params", width=120
        )
        more = []
        if others := [name for name in names if name != filters.against]:
            more = st.multiselect(
                "Runs beside it",
                others,
                key="beside",
                bind="query-params",
                max_selections=side_by_side.MOST_RUNS - 2,
                placeholder="none" if not filters.against else "only the run held against",
                width=380,
            )
    depth = max(depth, filters.k)
    runs = [run for run in (filters.against, filters.run, *more) if run]
    if len(runs) > 1:
        return _side_by_side(filters, query_id, runs, stage, depth)
    question = ranked_list.question(filters, query_id, stage, depth)
    with reading() as store:
        rows = store.rows(question)
    st.caption(ranked_list.counts(rows, filters.k) or "–")
    ranked_list.show(rows, filters.k, cut["cut"] if stage == "final" and cut else stages.get(stage), text)
    show_sql(question)
    return [str(row["doc_id"]) for row in rows]


def _side_by_side(filters: Filters, query_id: str, runs: list[str], stage: str, depth: int) -> list[str]:
    question = side_by_side.question(filters, query_id, runs, stage, depth)
    heads_question = side_by_side.heads(filters, query_id, runs, stage)
    with reading() as store:
        rows, heads = store.rows(question), store.rows(heads_question)
    side_by_side.show(rows, heads, runs, filters.run, filters.k, stage)
    show_sql(question, heads_question)
    return [str(row["doc_id"]) for row in sorted(rows, key=lambda row: row["rank"])]
