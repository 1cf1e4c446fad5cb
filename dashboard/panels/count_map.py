"""A map of counts: how many queries stand in each cell of two sets of names. A click chooses a cell."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import chart_style
from panels.store_access import Row

CELL = "cell"
"""The selection that a click makes: the row and the column of a cell."""

ROW_HEIGHT = 38

FILLS = {
    "better": ((220, 233, 250), (111, 163, 226)),
    "worse": ((248, 228, 211), (229, 146, 73)),
    "other": ((226, 230, 236), (148, 160, 178)),
}
"""From few to many: light enough for black numbers in both themes."""


def fill(kind: str, share: float) -> str:
    """The colour of a cell: its hue says the meaning, its depth how many queries there are."""
    low, high = FILLS[kind]
    part = max(0.0, min(1.0, share)) ** 0.5
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high, strict=True))


def chart(
    frame: pa.Table, titles: tuple[str, str], rows: list[str], columns: list[str], tooltip: str
) -> chart_style.LayerChart:
    """A cell for each row of the frame:  `row`, `column`, `queries`, `note` and `kind`."""
    most = pc.max(frame.column("queries")).as_py() or 1
    turned = sum(map(len, columns)) > 55 or max(map(len, columns), default=0) > 22
    x = alt.X(
        "column:N",
        sort=columns,
        title=titles[1],
        axis=alt.Axis(
            orient="top",
            labelAngle=-30 if turned else 0,
            labelAlign="left" if turned else "center",
            labelLimit=210,
            labelOverlap=False,
            ticks=False,
            titlePadding=6,
        ),
        scale=alt.Scale(domain=columns, paddingInner=0.04, paddingOuter=0.02),
    )
    y = alt.Y(
        "row:N",
        sort=rows,
        title=titles[0],
        axis=alt.Axis(ticks=False, labelLimit=230, titlePadding=6),
        scale=alt.Scale(domain=rows, paddingInner=0.06, paddingOuter=0.02),
    )
    shown = [
        alt.Tooltip("row:N", title=titles[0]),
        alt.Tooltip("column:N", title=titles[1]),
        alt.Tooltip("queries:Q", title="queries"),
        alt.Tooltip("note:N", title=tooltip),
    ]
    click = alt.selection_point(name=CELL, fields=["row", "column"], on="click", toggle=False)
    fills = [fill(row["kind"], row["queries"] / most) for row in frame.to_pylist()]
    base = chart_style.Chart(frame.append_column("fill", pa.array(fills, pa.string())))
    base = base.encode(x=x, y=y, tooltip=shown)
    cells = (
        base.mark_rect(cursor="pointer", cornerRadius=2)
        .encode(color=alt.Color("fill:N", scale=None))
        .add_params(click)
    )
    number = base.mark_text(fontSize=13, fontWeight=600, cursor="pointer", color="#000000").encode(
        text=alt.Text("queries:Q", format=",d")
    )
    height = ROW_HEIGHT * len(rows) + (120 if turned else 60)
    return chart_style.LayerChart(layer=[cells, number], **chart_style.look(height=height))


def clicked(key: str) -> Row | None:
    """The cell that was clicked in the chart of this key; None where the choice was taken back."""
    points = dict(getattr(st.session_state.get(key), "selection", None) or {}).get(CELL) or []
    return points[0] if points and {"row", "column"} <= set(points[0]) else None
