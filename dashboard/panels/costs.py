"""Quality beside cost: the mean of each run over its latency, and over the size of its context."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from panels import chart_style, words
from panels.store_access import Row

LATENCY, CONTEXT = "latency_p50_ms", "context_tokens_mean"
TITLES = {
    LATENCY: "latency in ms: median, whisker to the 95th percentile",
    CONTEXT: "context in tokens, mean",
}
LOG_FROM = 30
"""With so many times between the smallest and the largest, the axis is logarithmic."""


def recorded(frame: pa.Table, cost: str, order: str) -> pa.Table:
    """The runs that recorded this cost and have a mean."""
    return frame.filter(pc.and_(pc.is_valid(frame.column(cost)), pc.is_valid(frame.column(order))))


def chart(frame: pa.Table, cost: str, order: str, metric: str, drawn: list[str]) -> chart_style.LayerChart:
    """A point for each run: up and to the left is better. The runs drawn elsewhere have their colour."""
    shown = recorded(frame, cost, order)
    in_front = pc.is_in(shown.column("run"), pa.array(drawn, pa.string()))
    x = _axis(shown, cost)
    y = alt.Y(
        f"{order}:Q",
        title=metric,
        scale=alt.Scale(zero=False, padding=14),
        axis=alt.Axis(tickCount=5, format=".2f"),
    )
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip(f"{order}:Q", title=metric, format=".3f"),
        alt.Tooltip("n:Q", title="n"),
        alt.Tooltip("latency_p50_ms:Q", title="median latency, ms", format=",.3~r"),
        alt.Tooltip("latency_p95_ms:Q", title="95th percentile, ms", format=",.3~r"),
        alt.Tooltip("n_timed:Q", title="queries timed"),
        alt.Tooltip("context_tokens_mean:Q", title="mean context, tokens", format=",.0f"),
        alt.Tooltip("n_context:Q", title="queries with a context size"),
    ]
    behind = (
        chart_style.Chart(shown.filter(pc.invert(in_front)))
        .mark_point(color=chart_style.UNDECIDED, size=46, strokeWidth=1.3)
        .encode(x=x, y=y, tooltip=tooltip)
    )
    front = chart_style.Chart(shown.filter(in_front)).encode(
        x=x, y=y, tooltip=tooltip, color=chart_style.run_colour(drawn)
    )
    points = front.mark_point(filled=True, size=90, opacity=1).encode(shape=chart_style.run_shape(drawn))
    layers = [behind, points]
    if cost == LATENCY:
        layers.insert(0, front.mark_rule(strokeWidth=1.4, opacity=0.7).encode(x2="latency_p95_ms:Q"))
    title = {LATENCY: "Quality and latency", CONTEXT: "Quality and context size"}[cost]
    return chart_style.LayerChart(layer=layers, title=title, **chart_style.look(height=300))


def _axis(shown: pa.Table, cost: str) -> alt.X:
    low = pc.min(shown.column(cost)).as_py() or 0
    high = pc.max(shown.column("latency_p95_ms" if cost == LATENCY else cost)).as_py() or 0
    if low > 0 and high / low > LOG_FROM:
        powers = [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]
        return alt.X(
            f"{cost}:Q",
            title=TITLES[cost],
            scale=alt.Scale(type="log", nice=False, domain=[low * 0.8, high * 1.2]),
            axis=alt.Axis(values=powers, format=",~r"),
        )
    return alt.X(
        f"{cost}:Q",
        title=TITLES[cost],
        scale=alt.Scale(zero=False, padding=14),
        axis=alt.Axis(tickCount=6, format=",~r"),
    )


def alt_text(frame: pa.Table, cost: str, order: str, metric: str) -> str:
    """The chart in a sentence: the cheapest run, the dearest, and the one of the best quality."""
    rows = recorded(frame, cost, order).to_pylist()
    rows.sort(key=lambda row: row[cost])
    best = max(rows, key=lambda row: row[order])
    parts = [_point(row, cost, order) for row in (rows[0], rows[-1], best)]
    what = {LATENCY: "median latency", CONTEXT: "mean context size"}[cost]
    return f"{metric} over {what}: least {parts[0]}, most {parts[1]}, best {parts[2]}."


def _point(row: Row, cost: str, order: str) -> str:
    unit = {LATENCY: "ms", CONTEXT: "tokens"}[cost]
    amount = f"{row[cost]:,.0f}" if row[cost] >= 10 else f"{row[cost]:.2g}"
    return f"{row['run']} {amount} {unit} at {words.number(row[order])}"


def note(rows: list[Row]) -> str:
    """Over which queries costs are, and how many runs did not record them."""
    text = "Over the queries in force that ran to their end; those that failed or timed out are left out."
    for cost, what in ((LATENCY, "latency"), (CONTEXT, "context size")):
        without = sum(row[cost] is None for row in rows)
        if 0 < without < len(rows):
            text += f" {words.count(without, 'run')} recorded no {what}."
    return text


def format_of(rows: list[Row], cost: str) -> str:
    """How a column of this cost writes its numbers: whole, unless they are small."""
    values: list[Any] = [row[cost] for row in rows if row[cost] is not None]
    return "%.1f" if values and min(values) < 10 else "%.0f"
