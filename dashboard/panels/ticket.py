"""What happened to a query as text, to be pasted into a ticket: what `rankroom explain` says."""

from __future__ import annotations

import streamlit as st
from rankroom.errors import UsageError
from rankroom.explain import as_text, explanation
from rankroom.store import Store

from panels.filters import Filters
from panels.store_access import Stamp, store_path


@st.cache_data(max_entries=60, show_spinner=False)
def _text(path: str, stamp: Stamp, run: str, query: str, k: int, against: str) -> str:
    try:
        return "\n".join(as_text(explanation(Store(path), run, query, k, against or None)))
    except UsageError as error:
        return str(error)


def show(filters: Filters, query_id: str) -> None:
    """The text, asked for only where it is opened."""
    opened = st.expander(
        "Text for a ticket", icon=":material/content_copy:", type="compact", key="ticket", on_change="rerun"
    )
    if opened.open:
        path = store_path()
        stamp = Store(path).stamp()
        with opened:
            text = _text(path, stamp, filters.run, query_id, filters.k, filters.against)
            st.code(text, language=None, wrap_lines=True, height=420)
