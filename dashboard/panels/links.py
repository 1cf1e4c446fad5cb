"""Choices that are part of the address; where a link asks for what is not there, the page says so at the top.

Streamlit drops such a value from the address as it draws the widget, so the link is read before. What it
asked for is remembered until the reader chooses something there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from panels import words

Option = TypeVar("Option")

UNKNOWN, PLACE = "unknown_in_link", "place_for_unknown"
NOT_THERE = "which is not there"


def begin() -> None:
    """Make the place where the page will say it."""
    st.session_state[PLACE] = st.empty(), []


def one_of(
    label: str,
    options: Sequence[Option],
    key: str,
    because: str = NOT_THERE,
    least: int = 1,
    shown: Callable[[Any], str] = str,
    **more: Any,
) -> Option | None:
    """A choice of one, drawn where there are enough to choose from; what is chosen otherwise is the first."""
    asked = _unknown(key, options)
    chosen = options[0] if options else None
    if len(options) >= least:
        chosen = st.selectbox(
            label,
            options,
            format_func=shown,
            key=key,
            bind="query-params",
            on_change=_forget,
            args=(key,),
            **more,
        )
    if asked:
        _say(label, asked, because, "nothing" if chosen is None else words.quoted(shown(chosen)))
    return chosen


def some_of(
    label: str,
    options: Sequence[str],
    key: str,
    shown: Callable[[str], str] = str,
    least: int = 2,
) -> tuple[str, ...]:
    """A choice of several, where there are enough to choose from; none chosen means all."""
    asked = _unknown(key, options)
    chosen: list[str] = []
    if len(options) >= least:
        chosen = st.multiselect(
            label,
            options,
            format_func=shown,
            key=key,
            bind="query-params",
            placeholder="All",
            on_change=_forget,
            args=(key,),
        )
    if asked:
        _say(label, asked, NOT_THERE, words.listed([shown(one) for one in chosen]) if chosen else "all")
    return tuple(chosen)


def _unknown(key: str, options: Sequence[object]) -> list[str]:
    """What the link asks of this choice that is not among the options."""
    remembered: dict[str, list[str]] = st.session_state.setdefault(UNKNOWN, {})
    known = set(map(str, options))
    if key not in st.session_state:  # else the reader has the choice before him already
        asked = [value for value in st.query_params.get_all(key) if value and value not in known]
        if asked:
            remembered[key] = asked
    return [value for value in remembered.get(key, []) if value not in known]


def _say(label: str, asked: list[str], because: str, instead: str) -> None:
    place, said = st.session_state[PLACE]
    what = label[:1].lower() + label[1:]
    said.append(f"The link asks for {what} = {words.listed(asked)}, {because}; shown instead: {instead}.")
    place.warning("\n\n".join(said), icon=":material/link_off:")


def _forget(key: str) -> None:
    st.session_state[UNKNOWN].pop(key, None)
