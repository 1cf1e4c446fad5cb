"""The statement: typed, chosen from the examples, or come with the link; and what it gave.

A link with a statement fills the editor and runs it. That is safe for whoever opens it, since a statement can
do nothing but read the store within its limits, and it is what a link is for: to show somebody a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import streamlit as st
from rankroom.sandbox import LIMITS, Answer, StatementError, ask
from rankroom.store import Store

from panels import sql_examples
from panels.question import Value
from panels.store_access import Stamp, store_path

EDITOR = "sql_statement"
SHOWN, LINKED, WANTED = "sql_shown", "sql_linked", "sql_wanted"
PARAMETER = "statement"
LONGEST_LINK = 6_000
"""Characters of a statement, as a link spells it. Browsers and mail programs cut longer addresses off."""

HELD_OUT = "SQL sees everything, the held-out queries too: where it matters, ask for `split = 'dev'`."


@dataclass(frozen=True)
class Shown:
    """A statement that was run, what it gave, and the state of the store at that time."""

    statement: str
    outcome: Answer | StatementError
    stamp: Stamp


def show(names: dict[str, Value], readable: list[str]) -> None:
    """The pickers and the editor. What is picked, or comes with the link, fills the editor and is run."""
    _take_link(names)
    # The editor's text is code, and looks like it.
    st.html(f"<style>.st-key-{EDITOR} textarea {{font-family: 'Source Code Pro', monospace}}</style>")
    with st.grid(2, min_column_width=280):
        st.selectbox(
            "Worked examples",
            sql_examples.examples(),
            format_func=lambda example: f"{example.title}: {example.question}",
            index=None,
            placeholder="A question to start from",
            key="sql_example",
            on_change=_fill_from_example,
            args=(names,),
        )
        st.selectbox(
            "View or table",
            readable,
            index=None,
            placeholder="Its first 100 rows",
            key="sql_object",
            on_change=_fill_from_object,
        )
    # A form: Ctrl+Enter sends it, and leaving the field to read the dictionary does not.
    with st.form("sql", border=False):
        st.text_area("Statement", key=EDITOR, height=230, placeholder="select ... from run_summary")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.form_submit_button("Run", type="primary", icon=":material/play_arrow:", on_click=_want)
            st.caption(
                f"Ctrl+Enter runs it. One SELECT, read-only, at most {LIMITS.seconds:g} seconds and "
                f"{LIMITS.rows:,} rows. {HELD_OUT}"
            )


def run_if_wanted() -> Shown | None:
    """Run the statement if somebody just asked for it; what is to be shown, if there is anything."""
    if st.session_state.pop(WANTED, False):
        statement = st.session_state[EDITOR]
        store = Store(store_path())
        with st.spinner(f"Running; it is stopped after {LIMITS.seconds:g} seconds.", show_time=True):
            stamp = store.stamp()
            outcome: Answer | StatementError
            try:
                outcome = ask(store, statement)
            except StatementError as error:
                outcome = error
        st.session_state[SHOWN] = Shown(statement, outcome, stamp)
        _put_into_link(statement)
    shown: Shown | None = st.session_state.get(SHOWN)
    return shown


def fits_into_link(statement: str) -> bool:
    """Whether a link can carry it."""
    return len(statement) <= LONGEST_LINK and len(quote(statement, errors="replace")) <= LONGEST_LINK


def _take_link(names: dict[str, Value]) -> None:
    linked = st.query_params.get(PARAMETER)
    shown: Shown | None = st.session_state.get(SHOWN)
    if linked and linked != st.session_state.get(LINKED):
        _fill(linked)
        st.session_state[LINKED] = linked
    elif EDITOR not in st.session_state:
        if shown is None:
            _fill(sql_examples.examples()[0].filled(names))
        else:  # back from another page
            st.session_state[EDITOR] = shown.statement
            _put_into_link(shown.statement)


def _put_into_link(statement: str) -> None:
    if fits_into_link(statement) and statement.strip():
        st.session_state[LINKED] = statement
        st.query_params[PARAMETER] = statement
    else:
        st.session_state.pop(LINKED, None)
        st.query_params.pop(PARAMETER, None)


def _fill(statement: str) -> None:
    st.session_state[EDITOR] = statement
    _want()


def _want() -> None:
    st.session_state[WANTED] = True


def _fill_from_example(names: dict[str, Value]) -> None:
    if example := st.session_state["sql_example"]:
        _fill(example.filled(names))
        st.session_state["sql_example"] = None


def _fill_from_object() -> None:
    # A name of the data dictionary, which is ours.
    if name := st.session_state["sql_object"]:
        _fill(f"from {name}\nlimit 100")
        st.session_state["sql_object"] = None
