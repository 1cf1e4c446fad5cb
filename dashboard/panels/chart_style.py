"""The colours of the dashboard, each with one meaning, and the look that all charts share.

Every colour has a contrast of at least 3 to 1 with the background of both themes, so that a chart needs to
know neither; where a colour fills a cell, the background shows through it. Colour never says anything alone:
a shape, a sign or a word says it too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import altair as alt
from altair.utils import schemapi

schemapi.disable_debug_mode()  # which holds every part of a chart against the schema as it is made

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

SERIES_COLOURS = tuple(reversed(RUN_COLOURS))
"""Series of runs: in another order, so that a series does not look like the run of the same place."""

LEVELS = ("#1d56a3", "#3273c4", "#4f8bd6", "#6fa3e2", "#8fb9ec", "#adcdf3", "#c8def8", "#e0ecfb")
"""One hue, from dark (best) to light."""

MOST_RUNS = len(RUN_COLOURS)

DEPTHS = (0.04, 0.16, 0.28, 0.4, 0.52, 0.64, 0.77, 0.9)
"""How much of a cell's colour covers the background: where it says least, the cell is as calm as the page."""

THIN_DEPTH = 0.3
"""Of the grey of thin slices."""

INK = alt.ExprRef("luminance(background) < 0.5 ? '#ffffff' : '#000000'")
"""Text on such cells and on the background: readable in both themes, for a chart is told its background."""


class _Quick:
    """A chart that is not held against the schema of Vega-Lite each time it is drawn: the tests do that once.

    Checking takes longer than all else that a page does, and then come the copies of all parts of a chart
    which altair makes of each layer, several times over. Here copies share their parts, which nobody changes.
    """

    def to_dict(self, validate: bool = False, **more: Any) -> dict[str, Any]:
        """The specification."""
        return super().to_dict(validate=validate, **more)  # type: ignore[misc]

    def copy(self, deep: bool | Iterable[Any] = True, ignore: list[str] | None = None) -> Self:
        """Another chart of the same parts."""
        return super().copy(deep=False if deep is True else deep, ignore=ignore)  # type: ignore[misc]

    def encode(self, *args: Any, **channels: Any) -> Self:
        """The same chart with these channels, made here: altair looks through all its classes for each."""
        made = {name: _channel(name, given) for name, given in channels.items()}
        return super().encode(*args, **made)  # type: ignore[misc]


def _channel(name: str, given: Any) -> Any:
    """A channel from what stands for it: `field:Q`, or a condition."""
    kind = name[0].upper() + name[1:]
    if isinstance(given, str):
        return getattr(alt, kind)(given)
    if isinstance(given, dict):
        return getattr(alt, f"{kind}Value" if "value" in given else kind)(**given)
    return given


class Chart(_Quick, alt.Chart):
    """A chart of one mark."""


class LayerChart(_Quick, alt.LayerChart):
    """Several such charts on top of each other."""


def look(height: int) -> dict[str, Any]:
    """What every chart is made with: quiet axes, no frame. The height includes axes and title.

    Given when a chart is made: added to a finished one it would copy the whole, which is felt on every rerun.
    """
    return {
        "height": height,
        "config": {
            "view": {"strokeWidth": 0},
            "axis": {
                "domain": False,
                "tickSize": 4,
                "labelPadding": 4,
                "titleFontWeight": "normal",
                "labelLimit": 220,
            },
            "title": {"fontSize": 13, "fontWeight": 600, "anchor": "start", "offset": 8},
        },
    }


def run_colour(runs: list[str]) -> alt.Color:
    """The colour of each of these runs, without a legend: the page has one for all its charts."""
    return alt.Color("run:N", scale=alt.Scale(domain=runs, range=list(RUN_COLOURS[: len(runs)])), legend=None)


def run_shape(runs: list[str]) -> alt.Shape:
    """The shape of each of these runs."""
    return alt.Shape("run:N", scale=alt.Scale(domain=runs, range=list(RUN_SHAPES[: len(runs)])), legend=None)
