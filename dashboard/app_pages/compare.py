"""Is the candidate better than the baseline, where, for whom, at what cost, and can we tell?"""

import streamlit as st
from panels import (
    compare_change,
    compare_pair,
    compare_panels,
    compare_result,
    compare_top,
    run_notes,
    slice_choice,
)
from panels.layout import show_sql
from panels.sidebar import current, reset_filters
from panels.store_access import reading
from rankroom.errors import UsageError

filters = current()
with reading() as store:
    runs = store.rows(compare_pair.runs(filters))
    behind = store.column(run_notes.to_rescore(filters))
    possible = slice_choice.dimensions(store, filters)
if len(runs) < 2:
    compare_top.too_few(runs, behind, filters)

top = st.container()
bar = st.container(horizontal=True, vertical_alignment="bottom")
answer, proof = st.container(), st.container()
slices = st.empty()
pair = compare_pair.choose(runs, bar)
metric = compare_top.metric(bar)
compare_top.link_to_signals(pair, bar)
with slices.container():
    slice_bar = compare_panels.slice_bar(possible)
    by = compare_top.dimensions(possible, slice_bar)
    slice_panel = st.container()

with answer:
    try:
        with reading() as store:
            found = compare_result.comparison(store, filters, pair, by, metric, common=False)
    except UsageError as error:
        slices.empty()
        compare_top.refused(filters, pair, str(error))
    if found.reasons and compare_change.guard(found.reasons, found.common):
        with reading() as store:
            found = compare_result.comparison(store, filters, pair, by, metric, common=True)
    compare_top.say_verdict(found)
    below_verdict = st.container()
    compare_change.show(found)
    show_sql(*compare_change.questions(filters, pair, found))
with top:
    compare_top.heading(filters, pair, found)
    run_notes.name_unscored(behind, filters)
    compare_pair.say_unknown()
if not found.n:
    slices.empty()
    if found.comparable:
        st.button("Clear the filters", icon=":material/filter_alt_off:", on_click=reset_filters)
    st.stop()

view = compare_panels.view(filters, pair, found, metric)
with below_verdict:
    compare_panels.say_beside(view)
with proof:
    compare_panels.differences(view)
with slice_panel:
    compare_panels.slices(view)
compare_panels.queries(view)
compare_panels.wins_and_losses(view)
compare_panels.costs(view)
