"""The colours of the dashboard, each with one meaning, and the look that all charts share.

Every colour has a contrast of at least 3 to 1 with the background of both themes, so that a chart needs to
know neither. Colour never says anything alone: a shape, a sign or a word says it too.
"""

from __future__ import annotations

import altair as alt

BASELINE = "#64748b"  # slate
CANDIDATE = "#2f77d0"  # blue
BETTER = "#2f77d0"
WORSE = "#c2610c"  # orange
UNDECIDED = "#808793"  # grey, drawn hollow
RELEVANT = "#0f7f74"  # teal
FORBIDDEN = "#c8401a"  # vermilion

RUN_COLOURS = ("#2f77d0", "#b9590b", "#8a5fd0", "#0f8a7e", "#c2478f", "#8a7a12", "#64748b", "#4a8f2a")
RUN_SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
RUN_GLYPHS = ("●", "■", "▲", "◆", "✚", "▼", "▶", "◀")
"""Runs drawn in colour, told apart by shape as well."""

LEVELS = ("#123f7a", "#1f5ca8", "#3a7bcb", "#6199dc", "#86b3e8", "#a8c9f0", "#c3daf5", "#dae8f9")
"""One hue, from dark (best) to light."""

MOST_RUNS = len(RUN_COLOURS)


Chart = alt.Chart | alt.LayerChart


def dress(chart: Chart, height: int) -> Chart:
    """A chart in the common look: quiet axes, no frame. Its height includes axes and legend."""
    return (
        chart.properties(height=height)
        .configure_view(strokeWidth=0)
        .configure_axis(domain=False, tickSize=4, labelPadding=4, titleFontWeight="normal", labelLimit=220)
        .configure_title(fontSize=13, fontWeight=600, anchor="start", offset=8)
    )


def run_colour(runs: list[str]) -> alt.Color:
    """The colour of each of these runs, without a legend: the page has one for all its charts."""
    return alt.Color("run:N", scale=alt.Scale(domain=runs, range=list(RUN_COLOURS[: len(runs)])), legend=None)


def run_shape(runs: list[str]) -> alt.Shape:
    """The shape of each of these runs."""
    return alt.Shape("run:N", scale=alt.Scale(domain=runs, range=list(RUN_SHAPES[: len(runs)])), legend=None)
