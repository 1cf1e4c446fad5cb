"""All runs against their baselines: the picture, the table behind it, and what is not in it."""

from __future__ import annotations

import streamlit as st

from panels import signal_chart, signal_matrix
from panels.compare_pair import BASE, CAND
from panels.filters import Filters
from panels.layout import panel_title, show_sql
from panels.store_access import Row, reading

CHART, BASELINES = "signal_chart", "signal_baselines"


def show(filters: Filters, catalogue: list[Row]) -> None:
    """The panel, or what would fill it."""
    panel_title("All runs against their baselines")
    runs_question = signal_matrix.runs(filters)
    kept_question = signal_matrix.findings(filters, signal_matrix.split(filters))
    with reading() as store:
        runs, kept = store.rows(runs_question), store.rows(kept_question)
    of = signal_matrix.matrix(runs, kept, catalogue)
    if of.runs and of.rules:
        st.markdown(signal_matrix.sentence(of))
        cells = signal_chart.frame(of)
        baselines = {str(row["run"]): str(row["baseline"]) for row in of.runs}
        st.altair_chart(
            signal_chart.chart(cells, of),
            on_select=_open_clicked,
            selection_mode=signal_chart.CELL,
            key=CHART,
            alt=signal_matrix.alt_text(of),
        )
        st.session_state[BASELINES] = baselines
    else:
        st.markdown(signal_matrix.nothing(of))
    for note in signal_matrix.notes(of, filters):
        st.caption(note)
    if of.runs and of.rules:
        with st.expander("The same as a table", icon=":material/table_rows:", type="compact"):
            signal_matrix.show_table(of)
    show_sql(kept_question, runs_question)


def _open_clicked() -> None:
    """Show the pair of the cell that was clicked: once, so that another can be chosen above."""
    run = signal_chart.chosen(st.session_state[CHART])
    if run and run in (baselines := st.session_state.get(BASELINES, {})):
        st.query_params[BASE], st.query_params[CAND] = baselines[run], run
