"""Which queries of a run fail, and why."""

from math import ceil

import streamlit as st
from panels import failure_list, leaderboard, run_notes, sidebar, words
from panels.layout import answer, heading, panel_title, show_sql
from panels.store_access import reading

filters = sidebar.current()
if not filters.run:
    run_notes.no_scored_run(filters)

counts_question = failure_list.counts(filters)
with reading() as store:
    counts = store.table(counts_question)
    summary = leaderboard.row_of(store.rows(leaderboard.question(filters)), filters.run)
    cut = store.row(run_notes.final_cut(filters))

num_queries = summary["n"] + summary["no_answer"] if summary else 0
by_class = counts.to_pylist()
heading("Failures", filters, words.count(num_queries, "labelled query", "labelled queries"))
sidebar.say_unknown_run(filters.run)
answer(failure_list.sentence(filters.run, by_class, num_queries, filters.k))
for note in run_notes.notes(summary, cut, filters):
    st.caption(note)
if by_class:
    st.altair_chart(failure_list.chart(counts), alt=failure_list.alt_text(counts, filters.run))
show_sql(counts_question)

if by_class:
    listed = sum(row["queries"] for row in by_class if not filters.cause or row["class"] in filters.cause)
    pages = max(1, ceil(listed / failure_list.PAGE_SIZE))
    panel_title("Queries")
    if filters.cause:
        causes = " or ".join(words.failure_phrase(name) for name in filters.cause)
        st.caption(f"{words.count(listed, 'query', 'queries')} with the cause {causes}")
    step, table = st.container(), st.container()
    number = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    page_question = failure_list.page(filters, min(number, pages))
    with reading() as store:
        frame = store.table(page_question)
    with step:
        failure_list.step_through(frame)
    with table:
        failure_list.show(frame, filters.run)
    show_sql(page_question)
