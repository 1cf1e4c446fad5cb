"""New runs appear by themselves: every few seconds the page looks whether the file is another."""

from __future__ import annotations

from contextlib import suppress

import duckdb
import streamlit as st
from rankroom.errors import StoreUnavailable
from rankroom.store import Store

from panels.store_access import Stamp, store_path

EVERY = 2.0


@st.fragment(run_every=EVERY)
def watch(shown: Stamp) -> None:
    """Run the page again once the store is another than the page shows, and has come to rest.

    A writer touches the file several times, so a change counts when it looks the same twice.
    """
    now = Store(store_path()).stamp()
    before = st.session_state.get("stamp_seen")
    st.session_state["stamp_seen"] = now
    if now != shown and now == before:
        st.rerun()


@st.fragment(run_every=EVERY)
def retry() -> None:
    """Run the page again once a store that could not be had can be opened."""
    with suppress(StoreUnavailable, duckdb.Error):
        with Store(store_path()).read(wait=0):
            pass
        st.rerun()
