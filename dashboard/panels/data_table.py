"""A plain table of the Data page: columns that hold nothing are left out, and long tables scroll inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import words

MOST_ROWS = 500
"""So many rows of a list are shown; the statement without its limit gives all."""

LIMIT = f"limit {MOST_ROWS}"


def show(frame: pa.Table, key: str, alt: str, columns: Mapping[str, Any] | None = None) -> None:
    """The table. A column is named after its field unless `columns` says otherwise."""
    given = [name for name in frame.column_names if frame.column(name).null_count < frame.num_rows]
    named = {name: _column(name, frame.schema.field(name).type) for name in given}
    st.dataframe(
        _in_words(frame.select(given)),
        key=key,
        alt=alt,
        hide_index=True,
        lazy=False,
        placeholder="–",
        height="auto" if frame.num_rows <= 12 else 440,
        column_config=named | {name: column for name, column in (columns or {}).items() if name in given},
    )


def _column(name: str, kind: pa.DataType) -> Any:
    label = name.replace("_", " ")
    if pa.types.is_integer(kind):
        return st.column_config.NumberColumn(label, format="localized")
    if pa.types.is_timestamp(kind):
        return st.column_config.DatetimeColumn(label, format="YYYY-MM-DD HH:mm", timezone="UTC")
    if pa.types.is_list(kind):
        return st.column_config.ListColumn(label)
    return st.column_config.Column(label)


def _in_words(frame: pa.Table) -> pa.Table:
    """Yes and no in place of true and false, which would be drawn as boxes to tick."""
    for at, field in enumerate(frame.schema):
        if pa.types.is_boolean(field.type):
            frame = frame.set_column(at, field.name, pc.if_else(frame.column(at), "yes", "no"))
    return frame


def say_cut(shown: int, total: int) -> None:
    """Say so where the table holds not all rows."""
    if shown < total:
        st.caption(
            f"The first {shown:,} of {words.count(total, 'row')}: the statement without its limit gives all."
        )
