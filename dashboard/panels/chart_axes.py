"""Axes that write a text of a line or two beside each row: in the theme's own colour, as no mark could be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

import altair as alt


def written(
    texts: Mapping[str, str],
    orient: Literal["left", "right"] = "left",
    size: int = 13,
    limit: int = 140,
    bold: tuple[str, ...] = (),
) -> alt.Axis:
    """An axis with these texts, by the value of the row. A line break begins a second line.

    The texts become string literals of the chart's expression language, whatever is in them.
    """
    return alt.Axis(
        orient=orient,
        ticks=False,
        labelPadding=6,
        labelFontSize=size,
        labelLineHeight=size + 3,
        labelLimit=limit,
        labelFlush=False,
        labelOffset=-(size + 3) / 2 if any("\n" in text for text in texts.values()) else 0,
        labelExpr=f"split({json.dumps(dict(texts))}[datum.value], '\\n')",
        labelFontWeight=alt.condition(
            f"indexof({json.dumps(list(bold))}, datum.value) >= 0", alt.value(600), alt.value("normal")
        ),
    )
