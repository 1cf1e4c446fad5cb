"""From a slice to its failing queries, and from one of these to its evidence; and back to all slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import streamlit as st

WANTED, BEFORE = "slice_wanted", "slice_before"


def widget_key(dimension: str) -> str:
    """The key of the filter that chooses a slice of this dimension."""
    fixed = ("category", "language", "tag", "must_pass")
    return dimension if dimension in fixed else f"attribute.{dimension}"


def to_failures(run: str, slices: Mapping[str, str]) -> NoReturn:
    """Open the failures of one run in the slice that is named by dimension and value."""
    st.session_state[WANTED] = {
        widget_key(dimension): value if dimension == "must_pass" else [value]
        for dimension, value in slices.items()
    }
    st.switch_page("app_pages/failures.py", query_params={"run": run})


def to_query(run: str, query_id: str) -> NoReturn:
    """Open one query of a run."""
    st.switch_page("app_pages/query.py", query_params={"run": run, "query": query_id})


def arrive(page: str) -> None:
    """Set the filters that a click on a slice asked for, and lift them again when the slices are back.

    Before the filters are drawn. What the reader changed in between stays.
    """
    if wanted := st.session_state.pop(WANTED, None):
        st.session_state[BEFORE] = {key: (st.session_state.get(key), value) for key, value in wanted.items()}
        for key, value in wanted.items():
            st.session_state[key] = value
    elif page == "Slices":
        before = st.session_state.pop(BEFORE, {})
        if all(st.session_state.get(key) == set_to for key, (_, set_to) in before.items()):
            for key, (value, _) in before.items():
                st.session_state[key] = value
