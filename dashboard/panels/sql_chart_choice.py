"""The widgets of the quick chart: which columns, which mark, which colour."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import streamlit as st

from panels import sql_chart
from panels.layout import panel_title
from panels.sql_chart import MARKS, NOTHING, Choice, Columns


def show(table: pa.Table) -> None:
    """The chart of a result and its widgets, where there is something to draw."""
    columns = sql_chart.columns_of(table)
    proposed = sql_chart.proposal(table, columns)
    if proposed is None:
        return
    panel_title("Quick chart")
    choice = _choose(table, columns, proposed)
    st.altair_chart(sql_chart.chart(table, columns, choice), alt=sql_chart.alt_text(table, columns, choice))
    if remarks := sql_chart.remarks(table, columns, choice):
        st.caption(remarks)


def _choose(table: pa.Table, columns: Columns, proposed: Choice) -> Choice:
    # Another result has other widgets, which start from what is proposed for it.
    result = hashlib.sha256(repr((table.schema.names, proposed)).encode(errors="replace")).hexdigest()[:12]
    with st.grid(4, min_column_width=150):
        mark = st.selectbox("Mark", MARKS, index=MARKS.index(proposed.mark), key=f"chart_mark_{result}")
        x = st.selectbox(
            "Along", columns.drawable, index=columns.drawable.index(proposed.x), key=f"chart_x_{result}"
        )
        y = st.selectbox(
            "Value", columns.numbers, index=columns.numbers.index(proposed.y), key=f"chart_y_{result}"
        )
        colours = (NOTHING, *columns.names)
        colour = st.selectbox(
            "Colour",
            range(len(colours)),
            format_func=lambda at: colours[at] if at else "none",
            index=colours.index(proposed.colour),
            key=f"chart_colour_{result}",
        )
    return Choice(x, y, mark, colours[colour])
