"""From one failing query to the next, and back to the list."""

from __future__ import annotations

from typing import Any

import streamlit as st

from panels.failure_list import PAGE_SIZE


def show(place: dict[str, Any] | None) -> None:
    """Back, previous and next. The arrow keys do the same."""
    with st.container(horizontal=True, vertical_alignment="center"):
        page = (place["position"] - 1) // PAGE_SIZE + 1 if place else 1
        if st.button("All failures", icon=":material/arrow_back:", key="back"):
            st.switch_page("app_pages/failures.py", query_params={"page": str(page)})
        _step("Previous", ":material/chevron_left:", place["previous"] if place else None, "Left")
        _step("Next", ":material/chevron_right:", place["next"] if place else None, "Right")
        if place:
            st.caption(f"Failure {place['position']:,} of {place['total']:,}", width="content")
        else:
            st.caption("Not among the failures under these filters", width="content")


def _step(label: str, icon: str, query_id: str | None, shortcut: str) -> None:
    st.button(
        label,
        icon=icon,
        key=label.lower(),
        disabled=query_id is None,
        shortcut=shortcut,
        on_click=_go,
        args=(query_id,),
    )


def _go(query_id: str) -> None:
    st.query_params["query"] = query_id
