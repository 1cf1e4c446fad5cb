"""One query of one run: what was asked, what should have come, what came, and what is known of it."""

import streamlit as st
from panels import (
    evidence,
    failure_list,
    layout,
    note_panel,
    query_facts,
    query_history,
    query_rankings,
    reader,
    run_notes,
    sidebar,
    stage_way,
    steps,
    words,
)
from panels.layout import panel_title, show_sql
from panels.store_access import reading

filters = sidebar.current()
if not filters.run:
    run_notes.no_scored_run(filters)
query_id = st.query_params.get("query", "")
layout.heading("Query", filters, f"against {filters.against}" if filters.against else "", filters.run)
sidebar.say_unknown_run(filters.run)

about_question = query_facts.about(filters, query_id)
order_question = failure_list.order(filters)
evidence_question = evidence.question(filters, query_id)
others_question = evidence.other_labels(filters, query_id)
way_question = stage_way.question(filters, query_id)
with reading() as store:
    about = store.rows(about_question)[0]
    place = failure_list.place(store.table(order_question), query_id)
    found = store.rows(evidence_question)
    others = store.row(others_question)
    way = store.rows(way_question)

steps.show(place)
if not about["known"]:
    st.markdown(
        f"There is no query {words.quoted(query_id)} in {words.quoted(filters.query_set)} or in this run."
        if query_id
        else "No query is chosen: open one from the list of failures."
    )
    st.stop()

text = str(about["text"] or "")
query_facts.show_about(about)
query_facts.show_failure(place, about, filters.k)
query_facts.show_outcome(about)
show_sql(about_question, order_question)
note_panel.show_holding(filters, query_id)

panel_title("What should have come")
evidence.show(found, others, filters.k, text)
show_sql(evidence_question, others_question)

if len({row["position"] for row in way}) > 1:
    panel_title("The way of the evidence through the stages")
    stage_way.show(way, filters.k)
    show_sql(way_question)

panel_title("What came")
shown_docs = query_rankings.show(filters, query_id, text)

doc_id = reader.choose([*[row["doc_id"] for row in found], *shown_docs])
if doc_id:
    with reading() as store:
        document_question = reader.show(store, filters, query_id, text, doc_id)
    show_sql(document_question)

panel_title("Over time")
metric = query_history.choose()
history_question = query_history.question(filters, query_id, metric)
with reading() as store:
    history = store.table(history_question)
st.markdown(query_history.sentence(history, filters.run, metric, filters.k))
if history.column("value").null_count < history.num_rows:
    st.altair_chart(
        query_history.chart(history, metric, filters.k),
        key="history_chart",
        alt=query_history.alt_text(history, filters.run, metric, filters.k),
    )
    query_history.show_legend(history)
show_sql(history_question)

panel_title("Metrics of this query")
metrics_question = query_facts.metrics(filters, query_id, "final")
with reading() as store:
    metrics = store.table(metrics_question)
query_facts.show_metrics(metrics, filters.k)
show_sql(metrics_question)

note_panel.show(filters, query_id, [*[row["doc_id"] for row in found], *shown_docs])
