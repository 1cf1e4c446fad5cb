"""The parts of the page of one query, each with the statements behind it."""

from __future__ import annotations

import streamlit as st

from panels import evidence, failure_list, query_facts, query_history, reader, stage_way, steps, words
from panels.filters import Filters
from panels.layout import panel_title, show_sql
from panels.store_access import Reader


def show_query(store: Reader, filters: Filters, query_id: str) -> str:
    """Where it stands among the failures, what was asked, what became of it. Returns its text."""
    about_question = query_facts.about(filters, query_id)
    order_question = failure_list.all_of(filters)
    about = store.rows(about_question)[0]
    place = failure_list.place(store.table(order_question), query_id)
    steps.show(place)
    if not about["known"]:
        st.markdown(
            f"There is no query {words.quoted(query_id)} in {words.quoted(filters.query_set)} or in this run."
            if query_id
            else "No query is chosen: open one from the list of failures."
        )
        st.stop()
    query_facts.show_about(about)
    query_facts.show_failure(place, about, filters.k)
    query_facts.show_outcome(about)
    show_sql(about_question, order_question)
    return str(about["text"] or "")


def show_evidence(store: Reader, filters: Filters, query_id: str, text: str) -> list[str]:
    """What should have come, and its way through the stages. Returns the documents."""
    evidence_question = evidence.question(filters, query_id)
    others_question = evidence.other_labels(filters, query_id)
    way_question = stage_way.question(filters, query_id)
    found = store.rows(evidence_question)
    panel_title("What should have come")
    evidence.show(found, store.row(others_question), filters.k, text)
    show_sql(evidence_question, others_question)
    way = store.rows(way_question)
    if len({row["position"] for row in way}) > 1:
        panel_title("The way of the evidence through the stages")
        stage_way.show(way, filters.k)
        show_sql(way_question)
    panel_title("What came")
    return [str(row["doc_id"]) for row in found]


def show_document(store: Reader, filters: Filters, query_id: str, text: str, documents: list[str]) -> None:
    """The text of one of these documents, where one is chosen."""
    if doc_id := reader.choose(documents):
        show_sql(reader.show(store, filters, query_id, text, doc_id))


def show_history(store: Reader, filters: Filters, query_id: str) -> None:
    """A metric of the query in all runs over time."""
    panel_title("Over time")
    metric = query_history.choose()
    question = query_history.question(filters, query_id, metric)
    history = store.table(question)
    st.markdown(query_history.sentence(history, filters.run, metric, filters.k))
    if history.column("value").null_count < history.num_rows:
        st.altair_chart(
            query_history.chart(history, metric, filters.k),
            key="history_chart",
            alt=query_history.alt_text(history, filters.run, metric, filters.k),
        )
        query_history.show_legend(history)
    show_sql(question)


def show_metrics(store: Reader, filters: Filters, query_id: str) -> None:
    """The metrics of the query in this run at every cutoff."""
    panel_title("Metrics of this query")
    question = query_facts.metrics(filters, query_id, "final")
    query_facts.show_metrics(store.table(question), filters.k)
    show_sql(question)
