"""Which queries of a run fail, and why."""

from math import ceil

import streamlit as st
from panels import failure_list, leaderboard, run_notes, sidebar, words
from panels.layout import answer, heading, panel_title, show_sql
from panels.store_access import reading

filters = sidebar.current()
counts_question = failure_list.counts(filters)
with reading() as store:
    counts = store.table(counts_question)
    by_class = counts.to_pylist()
    chosen = [row for row in by_class if not filters.cause or row["class"] in filters.cause]
    listed = sum(row["queries"] for row in chosen)
    pages = max(1, ceil(listed / failure_list.PAGE_SIZE))
    number = min(int(st.session_state.get("page", 1)), pages)
    page_question = failure_list.page(filters, number)
    frame = store.table(page_question)
    summary = next(
        (row for row in store.rows(leaderboard.question(filters)) if row["run"] == filters.run), None
    )
    cut = store.row(run_notes.final_cut(filters))

num_queries = int(summary["n"]) + int(summary["no_answer"]) if summary else 0
heading("Failures", filters, words.count(num_queries, "labelled query", "labelled queries"))
sidebar.say_unknown_run(filters.run)
answer(failure_list.sentence(filters.run, by_class, num_queries, filters.k))
for note in run_notes.notes(summary, cut, filters):
    st.caption(note)

if by_class:
    st.altair_chart(failure_list.chart(counts), alt=failure_list.alt_text(counts, filters.run))
    show_sql(counts_question)
    panel_title("Queries")
    if filters.cause:
        st.caption(
            f"{words.count(listed, 'query', 'queries')} of cause "
            + " or ".join(words.quoted(words.failure_class(name)) for name in filters.cause)
        )
    failure_list.show(frame, filters.run)
    if pages > 1:
        st.pagination(pages, key="page", bind="query-params")
    show_sql(page_question)
