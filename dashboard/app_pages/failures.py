"""Which queries of a run fail, and why."""

from math import ceil

import streamlit as st
from panels import failure_list, failure_stages, failure_views, leaderboard, notes, run_notes, sidebar, words
from panels.layout import answer, heading, panel_title, show_sql
from panels.store_access import reading

filters = sidebar.current()
if not filters.run:
    run_notes.no_scored_run(filters)

list_question = failure_list.all_of(filters)
with reading() as store:
    by_class = store.rows(failure_list.counts(filters))
    summary = leaderboard.row_of(store.rows(leaderboard.question(filters)), filters.run)
    cut = store.row(run_notes.final_cut(filters))
    listed = store.table(list_question)
    stages = store.rows(failure_stages.question(filters, [filters.run, filters.against]))
    mended = store.rows(notes.fixed_since(filters)) if filters.has_notes else []

num_queries = summary["n"] + summary["no_answer"] if summary else 0
heading("Failures", filters, words.count(num_queries, "labelled query", "labelled queries"), filters.run)
answer(failure_list.sentence(filters.run, by_class, num_queries, filters.k))
for note in run_notes.notes(summary, cut, filters):
    st.caption(note)
apart = failure_stages.different_stages(stages)
if apart:
    st.caption(apart)
if not num_queries:
    show_sql(failure_list.counts(filters))
    st.stop()
failure_views.show(filters, by_final=bool(apart))

pages = max(1, ceil(listed.num_rows / failure_list.PAGE_SIZE))
panel_title("Queries")
narrowed = failure_list.narrowing(filters)
step = st.container(horizontal=True, vertical_alignment="center")
table = st.container()
number = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
frame = failure_list.page(listed, min(number, pages))
with step:
    if frame.num_rows:
        failure_list.step_through(frame)
    if narrowed:
        st.button(
            "List all",
            icon=":material/filter_alt_off:",
            key="list_all",
            on_click=failure_list.only,
            args=(None,),
        )
    st.markdown(failure_list.how_many(listed, narrowed), width="content")
with table:
    if frame.num_rows:
        failure_list.show(frame, filters, apart)
show_sql(list_question)
if mended:
    panel_title("Noted, and fixed since")
    failure_list.show_mended(mended)
    show_sql(notes.fixed_since(filters))
