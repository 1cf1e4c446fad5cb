"""Where the signals of two runs disagree; and over all runs, which rules speak against which."""

import streamlit as st
from panels import compare_pair, compare_result, run_notes, signal_cards, signal_panel, signals, words
from panels.layout import answer, show_sql
from panels.sidebar import current, reset_filters
from panels.store_access import reading

filters = current()
runs_question = compare_pair.runs(filters)
with reading() as store:
    runs = store.rows(runs_question)
    behind = store.column(run_notes.to_rescore(filters))
    catalogue = store.rows(signals.CATALOGUE)
if len(runs) < 2:
    signals.too_few(runs, behind, filters)

top = st.container()
bar = st.container(horizontal=True, vertical_alignment="bottom")
pair = compare_pair.choose(runs, bar)
with reading() as store:
    found = signals.found(store, filters, pair)
with top:
    signals.heading(filters, pair, found)
    run_notes.name_unscored(behind, filters)
    compare_pair.say_unknown()
with bar:
    if st.button("Compare ›", key="to_compare", type="tertiary"):
        st.switch_page("app_pages/compare.py", query_params={"base": pair.base, "cand": pair.cand})

answer(signals.sentence(pair, found))
for reason in found.reasons:
    st.markdown(f"- {words.quoted(reason.sentence)}")
signal_cards.show(found.findings, pair, filters)
if not found.n and found.comparable:
    st.button("Clear the filters", icon=":material/filter_alt_off:", on_click=reset_filters)
if found.comparable:
    signal_cards.show_rules(found, catalogue)
    show_sql(
        compare_result.input_of(filters, pair, None), signal_cards.moves(filters, pair), signals.CATALOGUE
    )

signal_panel.show(filters, catalogue)
