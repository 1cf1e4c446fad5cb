"""The differences by category and language, or any two dimensions of the queries: for whom it is better."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import altair as alt
import pyarrow as pa
from rankroom.comparison import SliceComparison
from rankroom.verdict_words import metric_verdict

from panels import chart_style, heat_map, words
from panels.compare_forest import interval
from panels.store_access import Row

CELL = "cell"
"""The selection that a click makes: the row and column of a cell."""

DIVERGING = (
    (chart_style.WORSE, 0.85),
    (chart_style.WORSE, 0.6),
    (chart_style.WORSE, 0.38),
    (chart_style.WORSE, 0.18),
    (chart_style.UNDECIDED, 0.0),
    (chart_style.BETTER, 0.18),
    (chart_style.BETTER, 0.38),
    (chart_style.BETTER, 0.6),
    (chart_style.BETTER, 0.85),
)
"""From much worse to much better, with nothing in the middle: a colour, and how much of it."""

THIN = (chart_style.UNDECIDED, chart_style.THIN_DEPTH)
ROW_HEIGHT = 50
MARKS = {"improved": "▲", "regressed": "▼"}
LEAST, ROUNDED = 0.2, 0.05
"""The range of the colours ends at a multiple of the latter, and not before the former: little stays pale."""


def frame(slices: Sequence[SliceComparison], rows: str, columns: str) -> pa.Table:
    """A row for each slice of two dimensions."""
    shown = [one for one in slices if one.difference is not None]
    return pa.table(
        {
            "row": pa.array([one.slice[rows] for one in shown], pa.string()),
            "column": pa.array([one.slice[columns] for one in shown], pa.string()),
            "n": pa.array([one.n for one in shown], pa.int64()),
            "baseline": pa.array([one.baseline for one in shown], pa.float64()),
            "candidate": pa.array([one.candidate for one in shown], pa.float64()),
            "difference": pa.array([one.difference for one in shown], pa.float64()),
            "low": pa.array([one.low for one in shown], pa.float64()),
            "high": pa.array([one.high for one in shown], pa.float64()),
            "p_holm": pa.array([one.p_holm for one in shown], pa.float64()),
            "wins": pa.array([one.wins for one in shown], pa.int64()),
            "losses": pa.array([one.losses for one in shown], pa.int64()),
            "verdict": pa.array([one.verdict for one in shown], pa.string()),
            "says": pa.array([metric_verdict(one) for one in shown], pa.string()),
            "thin": pa.array([one.thin for one in shown], pa.bool_()),
        }
    )


def extent(rows: list[Row]) -> float:
    """How large a difference the outermost colours stand for: the largest that is not thin, rounded up."""
    largest = max((abs(row["difference"]) for row in rows if not row["thin"]), default=0.0)
    return max(LEAST, ceil(largest / ROUNDED - 1e-9) * ROUNDED)


def level(difference: float, most: float) -> int:
    """Which of the colours a difference has."""
    middle = len(DIVERGING) // 2
    place = round(difference / most * middle)
    return middle + max(-middle, min(middle, place))


def cells(frame: pa.Table) -> list[Row]:
    """The cells with their fill and text."""
    rows = frame.to_pylist()
    most = extent(rows)
    for row in rows:
        at = level(row["difference"], most)
        row["fill"], row["depth"] = THIN if row["thin"] else DIVERGING[at]
        mark = "" if row["thin"] else MARKS.get(row["verdict"], "")
        row["text"] = f"{words.signed(row['difference'])} {mark}".strip()
        row["size"] = f"n = {row['n']:,}{' thin' if row['thin'] else ''}"
        row["interval"] = interval(row["difference"], row["low"], row["high"])
    return rows


def chart(frame: pa.Table, metric: str, titles: tuple[str, str]) -> chart_style.LayerChart:
    """The map. `titles` name its rows and its columns."""
    rows = cells(frame)
    across = heat_map.drawn(rows, "column", heat_map.MOST_ACROSS)
    down = heat_map.drawn(rows, "row", heat_map.MOST_ROWS)
    rows = [row for row in rows if row["row"] in down and row["column"] in across]
    turned = len(across) * max((len(name) for name in across), default=0) > heat_map.TURN_FROM
    x = alt.X(
        "column:N",
        sort=across,
        title=titles[1],
        axis=alt.Axis(
            orient="top",
            labelAngle=-35 if turned else 0,
            labelAlign="left" if turned else "center",
            labelLimit=190 if turned else 150,
            labelOverlap=False,
            labelFontSize=12,
            ticks=False,
            titlePadding=6,
        ),
        scale=alt.Scale(paddingInner=0.03, paddingOuter=0.01),
    )
    y = alt.Y(
        "row:N",
        sort=down,
        title=titles[0],
        axis=alt.Axis(ticks=False, labelLimit=190, labelFontSize=12, titlePadding=6),
        scale=alt.Scale(paddingInner=0.05, paddingOuter=0.01),
    )
    tooltip = [
        alt.Tooltip("row:N", title=titles[0]),
        alt.Tooltip("column:N", title=titles[1]),
        alt.Tooltip("baseline:Q", title=f"{metric}, baseline", format=".3f"),
        alt.Tooltip("candidate:Q", title="candidate", format=".3f"),
        alt.Tooltip("interval:N", title="difference, 95 %"),
        alt.Tooltip("p_holm:Q", title="p, Holm over the slices", format=".3g"),
        alt.Tooltip("says:N", title="verdict"),
        alt.Tooltip("wins:Q"),
        alt.Tooltip("losses:Q"),
        alt.Tooltip("n:Q"),
    ]
    click = alt.selection_point(name=CELL, fields=["row", "column"], on="click", toggle=False)
    base = chart_style.Chart(alt.Data(values=rows)).encode(x=x, y=y, tooltip=tooltip)
    boxes = (
        base.mark_rect(cursor="pointer", stroke=chart_style.UNDECIDED, strokeWidth=0.4)
        .encode(color=alt.Color("fill:N", scale=None), fillOpacity=alt.FillOpacity("depth:Q", scale=None))
        .add_params(click)
    )
    ink: dict[str, Any] = {"color": chart_style.INK, "cursor": "pointer"}
    text = base.mark_text(fontSize=14, fontWeight=600, dy=-7, **ink).encode(text="text:N")
    size = base.mark_text(fontSize=11, dy=11, **ink).encode(text="size:N")
    height = ROW_HEIGHT * len(down) + (130 if turned else 60)
    return chart_style.LayerChart(layer=[boxes, text, size], **chart_style.look(height=height))


def caption(frame: pa.Table, metric: str, thin: int) -> str:
    """How to read the map."""
    rows = frame.to_pylist()
    most = words.number(extent(rows))
    text = (
        f"Difference of {metric}: blue better, orange worse, strongest at ±{most}. ▲ ▼ where it is clear, "
        f"with p corrected (Holm) over the {len(rows)} slices."
    )
    if any(row["thin"] for row in rows):
        text += f" Grey: thin, n below {thin}."
    return f"{text} A click on a cell lists its queries."


def sentence(slices: Sequence[SliceComparison], by: Sequence[str], smallest: float) -> str:
    """For whom it is clearly better or worse, and where it fell by more than the smallest that matters."""
    solid = [one for one in slices if not one.thin and one.difference is not None]
    parts = []
    for name, what in (("improved", "better"), ("regressed", "worse")):
        clear = sorted(
            (one for one in solid if one.verdict == name), key=lambda one: -abs(one.difference or 0)
        )
        if clear:
            named = [f"{slice_name(one.slice, by)} ({words.signed(one.difference)})" for one in clear[:3]]
            more = f" and {len(clear) - 3} more" if len(clear) > 3 else ""
            parts.append(f"Clearly {what} in {', '.join(named)}{more}.")
    if not parts:
        parts.append("In no slice is the difference clear.")
    worst = min(solid, key=lambda one: one.difference or 0, default=None)
    if worst and worst.verdict != "regressed" and (worst.difference or 0) <= -smallest:
        parts.append(
            f"It fell most, though not clearly, in {slice_name(worst.slice, by)}: "
            f"{words.signed(worst.difference)} over {words.count(worst.n, 'query', 'queries')}."
        )
    thin = sum(one.thin for one in slices)
    if thin:
        parts.append(f"{thin} of {words.count(len(slices), 'slice')} {'is' if thin == 1 else 'are'} thin.")
    return " ".join(parts)


def slice_name(values: dict[str, str], by: Sequence[str]) -> str:
    """A slice as Markdown: `how_to` in `es`."""
    named = [words.quoted(values[name]) for name in by]
    return (" in " if by[-1] == "language" else ", ").join(named)


def alt_text(frame: pa.Table, metric: str, titles: tuple[str, str]) -> str:
    """The map in a sentence."""
    rows = frame.to_pylist()
    solid = sorted((row for row in rows if not row["thin"]), key=lambda row: row["difference"])
    text = f"Difference of {metric} by {titles[0]} and {titles[1]}: "
    if solid:
        text += f"lowest {_cell(solid[0])}, highest {_cell(solid[-1])}; "
    clear = sum(row["verdict"] in MARKS and not row["thin"] for row in rows)
    return f"{text}{clear} of {words.count(len(rows), 'slice')} clear, {len(rows) - len(solid)} thin."


def _cell(row: Row) -> str:
    return f"{row['row']}, {row['column']} {words.signed(row['difference'])} (n = {row['n']})"


MOST_OF_ONE = 30
"""So many slices of one dimension are drawn."""


def largest(slices: Sequence[SliceComparison]) -> list[SliceComparison]:
    """The slices of one dimension that are drawn: all, or those with most queries."""
    kept = sorted((one for one in slices if one.difference is not None), key=lambda one: -one.n)[:MOST_OF_ONE]
    return [one for one in slices if one in kept]


def row_name(one: SliceComparison, dimension: str) -> str:
    """A slice as the name of a row: its value, and how many queries it has."""
    return f"{words.clipped(one.slice[dimension], 32)} (n = {one.n:,}{', thin' if one.thin else ''})"


def behind(by: Sequence[str]) -> str:
    """The condition on the queries of one slice, given as `$dimension_1`, `$slice_1` and so on."""
    return " and ".join(
        f"deltas.query_id in (select sliced.query_id from query_slices as sliced\n"
        f"    where sliced.query_set = $query_set and sliced.dimension = $dimension_{at}"
        f" and sliced.slice = $slice_{at})"
        for at in range(1, len(by) + 1)
    )
