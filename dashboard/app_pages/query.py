"""One query of one run: what was asked, what should have come, and what came."""

import streamlit as st
from panels import evidence, failure_list, layout, query_facts, ranked_list, run_notes, sidebar, steps, words
from panels.layout import panel_title, show_sql
from panels.markup import facts_line
from panels.store_access import reading

filters = sidebar.current()
if not filters.run:
    run_notes.no_scored_run(filters)
query_id = st.query_params.get("query", "")
layout.heading("Query", filters, run=filters.run)
sidebar.say_unknown_run(filters.run)

about_question = query_facts.about(filters, query_id)
place_question = failure_list.neighbours(filters, query_id)
evidence_question = evidence.question(filters, query_id)
others_question = evidence.other_labels(filters, query_id)
with reading() as store:
    about = store.rows(about_question)[0]
    place = store.row(place_question)
    found = store.rows(evidence_question)
    others = store.row(others_question)
    stages = {str(row["stage"]): row["cut"] for row in store.rows(ranked_list.stages(filters))}
    cut = store.row(run_notes.final_cut(filters))

steps.show(place)
if not about["known"]:
    st.markdown(
        f"There is no query {words.quoted(query_id)} in {words.quoted(filters.query_set)} or in this run."
        if query_id
        else "No query is chosen: open one from the list of failures."
    )
    st.stop()

query_facts.show_about(about)
if place:
    also = [words.failure_class(name) for name in place["also"] or []]
    st.html(
        facts_line(
            [
                ("fails:", words.failure_class(place["class"])),
                ("", place["fact"]),
                *[("also", name) for name in also],
            ]
        )
    )
elif about["labelled"]:
    st.caption(f"At k = {filters.k} this query does not fail, or is left out by the filters.")
st.html(facts_line(query_facts.outcome(about)))
query_facts.show_answer(about)
show_sql(about_question, place_question)

with st.grid(2, min_column_width=360, gap="large"):
    left, right = st.container(), st.container()
with left:
    panel_title("What should have come")
    evidence.show(found, others, filters.k)
    show_sql(evidence_question, others_question)
with right:
    panel_title("What came")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stage = "final"
        if len(stages) > 1:
            stage = (
                st.selectbox("Stage", list(stages), key="at_stage", bind="query-params", width=220) or stage
            )
        depth = st.selectbox(
            "Show first", ranked_list.DEPTHS, index=1, key="depth", bind="query-params", width=140
        )
    ranked_question = ranked_list.question(filters, query_id, stage, max(depth, filters.k))
    metrics_question = query_facts.metrics(filters, query_id, stage)
    with reading() as store:
        ranked = store.rows(ranked_question)
        metrics = store.table(metrics_question)
    st.caption(ranked_list.counts(ranked, filters.k) or "–")
    ranked_list.show(ranked, filters.k, cut["cut"] if stage == "final" and cut else stages.get(stage))
    show_sql(ranked_question)

panel_title("Metrics of this query")
query_facts.show_metrics(metrics, filters.k)
show_sql(metrics_question)
