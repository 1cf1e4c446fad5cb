"""The notes of one query: what holds now, every change, and the forms that add one or dispute a label."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from panels import dispute_form, note_form, notes, words
from panels.filters import Filters
from panels.layout import panel_title, show_sql
from panels.store_access import Reader, reading


def show_holding(filters: Filters, query_id: str) -> None:
    """What holds now, where anything is noted."""
    with reading() as store:
        rows = store.rows(notes.holding(filters, query_id))
    if rows:
        st.html(notes.markup(rows))


def ask_ahead(store: Reader, filters: Filters, query_id: str) -> None:
    """Ask what the panel needs while the store is open anyway: it is remembered."""
    store.table(notes.history(filters, query_id))


def show(filters: Filters, query_id: str, doc_ids: list[str]) -> None:
    """Every change, and the forms."""
    question = notes.history(filters, query_id)
    with reading() as store:
        changes = store.table(question)
    panel_title("Are the labels at fault?")
    dispute_form.show(filters, query_id, doc_ids)
    panel_title("Notes")
    if changes.num_rows:
        show_history(changes)
    else:
        st.caption(
            "Nothing is noted of this query. A note survives rescoring and new runs; every change is kept."
        )
    note_form.show(filters, query_id)
    show_sql(notes.holding(filters, query_id), question)


def show_history(changes: pa.Table) -> None:
    """Every change with who and when, the latest first."""
    states = [words.note_state(state) if state else None for state in changes.column("state").to_pylist()]
    at = changes.column_names.index("state")
    shown = changes.set_column(at, "state", pa.array(states, pa.string()))
    for name in shown.column_names:
        if shown.column(name).null_count == shown.num_rows and name != "run":
            shown = shown.drop_columns(name)
    st.dataframe(
        shown,
        hide_index=True,
        lazy=False,
        placeholder="–",
        key="note_history",
        alt="Every change of the notes of this query.",
        column_config={
            "moment": st.column_config.TextColumn("at (UTC)"),
            "run": st.column_config.TextColumn("run", help="A dash: about the query in every run."),
            "doc_id": st.column_config.TextColumn("label of"),
            "disputed_grade": st.column_config.NumberColumn("should be", format="%d"),
        },
    )
