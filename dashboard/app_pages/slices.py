"""In which part of the queries a run is weak, and which of them fail."""

from dataclasses import replace

import streamlit as st
from panels import run_notes, slice_choice, slice_links, slice_list, slice_maps, slices, words
from panels.layout import answer, heading, panel_title, show_sql
from panels.sidebar import current, reset_filters
from panels.store_access import reading

filters = current()
with reading() as store:
    possible = slice_choice.dimensions(store, filters)
    behind = store.column(run_notes.to_rescore(filters))
if not possible:
    heading("Slices", filters)
    slice_choice.say_nothing_to_slice_by()
    st.stop()

top = st.container()
bar = st.container(horizontal=True, vertical_alignment="bottom")
with reading() as store:
    choice = slice_choice.choose(store, filters, possible, bar)
    shown_question = slices.shown_runs(filters, choice)
    runs = store.rows(shown_question)
    names = [str(row["run"]) for row in runs if row["n"]]
    cells_question = slices.cells(filters, choice, names)
    cells = store.table(cells_question)

n = words.count(runs[0]["n"], "labelled, answerable query", "labelled, answerable queries") if names else ""
with top:
    heading("Slices", filters, n or "no queries")
    run_notes.name_unscored(behind, filters)
    first = st.container()
if not names:
    with first:
        answer(slices.nothing_left(filters))
    st.button("Clear the filters", icon=":material/filter_alt_off:", on_click=reset_filters)
    show_sql(shown_question)
    st.stop()

run = slice_choice.one_run(names, bar)
rows = cells.to_pylist()
ranked = slices.worst_first(rows, run)
with first:
    answer(slices.sentence(ranked, run, choice, filters.k))
    st.caption(slices.NO_TEST)

has_failures = filters.is_current and filters.stage == "final"
clicked = slice_maps.show(cells, choice, filters, of_runs=runs[0]["of_runs"])
if clicked and has_failures:
    slice_links.to_failures(
        clicked["run"], dict(zip(choice.dimensions, slice_list.key(clicked, choice), strict=True))
    )
show_sql(cells_question, shown_question)

panel_title(f"Worst slices of {words.quoted(run)} first")
failures = None
if has_failures:
    failing_question = slice_list.failing(replace(filters, run=run), choice)
    with reading() as store:
        failures = slice_list.by_slice(store.rows(failing_question), choice)
    st.caption(slice_list.OF_WHICH)
else:
    st.caption("Failures are known at the final stage under the current labels only.")
slice_list.show(ranked, failures, run, choice, filters)
if has_failures:
    show_sql(cells_question, failing_question)
