"""What every page has: its heading with the filters in force, and the SQL under each panel."""

from __future__ import annotations

import shlex

import streamlit as st

from panels.filters import Filters
from panels.markup import facts_line
from panels.question import Question
from panels.store_access import store_path


def heading(title: str, filters: Filters, facts: str = "", run: str = "") -> None:
    """The title, and what the page is about: a screenshot explains itself."""
    st.title(title, anchor=False)
    about = [("run", run)] if run else []
    st.html(facts_line([*about, *filters.facts(), *([("", facts)] if facts else [])]))


def answer(markdown: str) -> None:
    """The sentence that answers the page's question."""
    st.markdown(f"**{markdown}**" if "**" not in markdown else markdown)


def panel_title(text: str) -> None:
    """The heading of a panel."""
    st.subheader(text, anchor=False)


def show_sql(*questions: Question) -> None:
    """The statements behind a panel, ready to paste."""
    with st.expander("Show SQL", icon=":material/database:", type="compact"):
        for question in questions:
            st.code(question.shown(), language="sql", wrap_lines=True)
        st.caption(f"Runs in any DuckDB client, or with `rankroom sql --store {shlex.quote(store_path())}`.")
