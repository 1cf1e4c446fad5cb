"""A heat map of slices: the mean and its n in each cell, thin slices grey and so named."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from panels import chart_style, words
from panels.store_access import Row

CELL = "cell"
"""The selection that a click makes: the run, row and column of a cell."""

RUN = "run"
"""The title of columns that are runs."""

MOST_ROWS, MOST_ACROSS = 30, 12
ROW_HEIGHT = 46


def drawn(rows: list[Row], side: str, most: int) -> list[str]:
    """The rows or columns that are drawn, in the order of the data: all, or those with most queries."""
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row[side]] = max(sizes.get(row[side], 0), row["n"])
    kept = sorted(sizes, key=lambda one: -sizes[one])[:most]
    return [one for one in sizes if one in kept]


def extent(frame: pa.Table) -> tuple[float, float]:
    """What the weakest and the strongest colour stand for: the range of all means that are not thin."""
    solid = frame.filter(pc.invert(frame.column("thin"))).column("value").drop_null()
    if not len(solid):
        return 0.0, 1.0
    low = floor(pc.min(solid).as_py() * 10 + 1e-9) / 10
    high = ceil(pc.max(solid).as_py() * 10 - 1e-9) / 10
    return (low, high) if high > low else (low, low + 0.1)


def chart(
    frame: pa.Table,
    metric: str,
    titles: tuple[str, str],
    domain: tuple[float, float],
    title: str = "",
) -> chart_style.LayerChart:
    """One map. `titles` name its rows and its columns."""
    rows = frame.to_pylist()
    across, down = drawn(rows, "column", MOST_ACROSS), drawn(rows, "row", MOST_ROWS)
    shown = frame.filter(
        pc.and_(
            pc.is_in(frame.column("row"), pa.array(down, pa.string())),
            pc.is_in(frame.column("column"), pa.array(across, pa.string())),
        )
    )
    turned = len(across) * max((len(name) for name in across), default=0) > TURN_FROM
    x = alt.X(
        "column:N",
        sort=across,
        title=None if titles[1] == RUN else titles[1],
        axis=alt.Axis(
            orient="top",
            labelAngle=-35 if turned else 0,
            labelAlign="left" if turned else "center",
            labelLimit=190 if turned else 150,
            labelOverlap=False,
            ticks=False,
            titlePadding=6,
        ),
        scale=alt.Scale(paddingInner=0.04, paddingOuter=0.02),
    )
    y = alt.Y(
        "row:N",
        sort=down,
        title=titles[0],
        axis=alt.Axis(ticks=False, labelLimit=160, titlePadding=6),
        scale=alt.Scale(paddingInner=0.05, paddingOuter=0.02),
    )
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("row:N", title=titles[0]),
        *([] if titles[1] == RUN else [alt.Tooltip("column:N", title=titles[1])]),
        alt.Tooltip("value:Q", title=metric, format=".3f"),
        alt.Tooltip("n:Q", title="n"),
        alt.Tooltip("gap:Q", title="gap to the run's mean", format="+.3f"),
    ]
    click = alt.selection_point(name=CELL, fields=["run", "row", "column"], on="click", toggle=False)
    low, high = domain
    is_thin = shown.column("thin")
    edge: dict[str, Any] = {"stroke": chart_style.UNDECIDED, "strokeWidth": 0.4, "cursor": "pointer"}
    solid = (
        chart_style.Chart(shown.filter(pc.invert(is_thin)))
        .mark_rect(color=chart_style.BETTER, **edge)
        .encode(
            x=x,
            y=y,
            tooltip=tooltip,
            fillOpacity=alt.FillOpacity(
                "value:Q",
                scale=alt.Scale(type="quantize", domain=[low, high], range=list(chart_style.DEPTHS)),
                legend=None,
            ),
        )
        .add_params(click)
    )
    thin = (
        chart_style.Chart(shown.filter(is_thin))
        .mark_rect(color=chart_style.UNDECIDED, fillOpacity=chart_style.THIN_DEPTH, **edge)
        .encode(x=x, y=y, tooltip=tooltip)
    )
    base = (
        chart_style.Chart(shown)
        .transform_calculate(
            mean="isValid(datum.value) ? format(datum.value, '.3f') : '–'",
            size="'n = ' + format(datum.n, ',') + (datum.thin && datum.n ? ' thin' : '')",
        )
        .encode(x=x, y=y, tooltip=tooltip)
    )
    ink: dict[str, Any] = {"color": chart_style.INK, "cursor": "pointer"}
    mean = base.mark_text(fontSize=13, fontWeight=600, dy=-7, **ink).encode(text="mean:N")
    size = base.mark_text(fontSize=11, dy=9, **ink).encode(text="size:N")
    height = (
        ROW_HEIGHT * len(down) + (130 if turned else 38 if titles[1] == RUN else 60) + (28 if title else 0)
    )
    return chart_style.LayerChart(
        layer=[solid, thin, mean, size],
        title=alt.TitleParams(title or [], limit=420),
        **chart_style.look(height=height),
    )


TURN_FROM = 110
"""With more characters in all, the names of columns are turned."""


def alt_text(frame: pa.Table, metric: str, titles: tuple[str, str], title: str = "") -> str:
    """The map in a sentence: its highest and its lowest cell, and how many are thin."""
    rows = frame.to_pylist()
    solid = sorted(
        (row for row in rows if row["value"] is not None and not row["thin"]), key=lambda row: row["value"]
    )
    thin = sum(row["thin"] for row in rows)
    text = f"{metric} by {titles[0]} and {titles[1]}{f' of {title}' if title else ''}: "
    if solid:
        text += f"lowest {_cell(solid[0])}, highest {_cell(solid[-1])}; "
    return f"{text}{thin} of {words.count(len(rows), 'slice')} thin."


def _cell(row: Row) -> str:
    return f"{row['row']}, {row['column']} {words.number(row['value'])} (n = {row['n']})"
