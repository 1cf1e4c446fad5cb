"""The form that adds a note to a query. A short child process writes it: pages only read the store."""

from __future__ import annotations

import streamlit as st
from rankroom.annotations import LONGEST_FIELD, LONGEST_NOTE, STATES, Note, user_name
from rankroom.note_child import write_note

from panels import words
from panels.filters import Filters
from panels.store_access import store_path

EVERY_RUN, THIS_RUN = "this query in every run", "this query in this run"
WRITER = "note_writer"
"""Who wrote last in this session."""


def show(filters: Filters, query_id: str) -> None:
    """The form. What is left empty stays as it was."""
    with st.form("note_form", clear_on_submit=True, border=True):
        about = st.radio("About", (EVERY_RUN, THIS_RUN), horizontal=True, key="note_about")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            state = st.selectbox(
                "State",
                STATES,
                index=None,
                format_func=words.note_state,
                placeholder="as it is",
                key="note_state",
                width=170,
            )
            cause = st.text_input(
                "Cause",
                key="note_cause",
                placeholder="what it comes from",
                max_chars=LONGEST_FIELD,
                width=380,
            )
            owner = st.text_input("Owner", key="note_owner", max_chars=LONGEST_FIELD, width=180)
        text = st.text_area("Text", key="note_text", max_chars=LONGEST_NOTE, height=90)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            who = writer("note_who")
            sent = st.form_submit_button("Add the note", type="primary", icon=":material/edit_note:")
    if sent:
        note = Note(
            query_id=query_id,
            who=who,
            run=filters.run if about == THIS_RUN else None,
            dataset=filters.data,
            state=state,
            cause=cause.strip() or None,
            text=text.strip() or None,
            owner=owner.strip() or None,
        )
        write(note)


def writer(key: str) -> str:
    """Who writes: the name used last, or that of the user of the machine."""
    name = st.text_input(
        "Your name",
        value=st.session_state.get(WRITER) or user_name(),
        key=key,
        max_chars=LONGEST_FIELD,
        width=220,
    )
    return (name or "").strip()


def write(note: Note) -> None:
    """Have a note written; then the page is drawn anew, with it."""
    if not note.who:
        st.error("A note needs a name: say who you are.", icon=":material/person:")
        return
    if not any((note.state, note.cause, note.text, note.owner, note.dispute)):
        st.error(
            "The note says nothing yet: give a state, a cause, a text or an owner.",
            icon=":material/edit_note:",
        )
        return
    st.session_state[WRITER] = note.who
    with st.spinner("Writing: other writers of the store go first"):
        outcome = write_note(store_path(), note)
    if outcome.written:
        st.toast("The note is in the store.", icon=":material/check:")
        st.rerun()
    st.error(f"The note was not written: {words.quoted(outcome.problem)}", icon=":material/error:")
