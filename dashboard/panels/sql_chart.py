"""A quick chart of any result: two of its columns, a mark, and a colour."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from panels import chart_style, words

BARS, LINES, POINTS = "bars", "lines", "points"
MARKS = (BARS, LINES, POINTS)
MOST_BARS = 60
MOST_ROWS = 3_000
LEGEND_COLUMNS = 4
NOTHING = ""


@dataclass(frozen=True)
class Columns:
    """The columns of a result that can be drawn, by what they hold."""

    numbers: tuple[str, ...]
    times: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def drawable(self) -> tuple[str, ...]:
        """All that an axis can have."""
        return (*self.names, *self.times, *self.numbers)


@dataclass(frozen=True)
class Choice:
    """What is drawn: columns by their names, and how."""

    x: str
    y: str
    mark: str
    colour: str = NOTHING


def columns_of(table: pa.Table) -> Columns:
    """The columns of a result that can be drawn."""
    kinds: dict[str, list[str]] = {"number": [], "time": [], "name": []}
    for field in table.schema:
        kind = _kind(field.type)
        if kind and _drawn(table.column(field.name), kind).null_count < table.num_rows:
            kinds[kind].append(field.name)
    return Columns(tuple(kinds["number"]), tuple(kinds["time"]), tuple(kinds["name"]))


def proposal(table: pa.Table, columns: Columns) -> Choice | None:
    """What is drawn at first; None where a chart would say less than the table."""
    if table.num_rows < 2 or not columns.numbers:
        return None
    over = [*columns.times, *(name for name in columns.numbers if name == "k")]
    numbers = [name for name in columns.numbers if name not in over]
    measured = [name for name in numbers if _is_fraction(table, name)] or numbers
    if over and measured:
        return Choice(over[0], measured[0], LINES, _beside(table, columns, over[0]))
    if columns.names and measured:
        x = max(columns.names, key=lambda name: _num_values(table, name))
        return Choice(x, measured[0], BARS, _beside(table, columns, x))
    if len(columns.numbers) > 1:
        return Choice(columns.numbers[0], columns.numbers[1], POINTS)
    return None


def chart(table: pa.Table, columns: Columns, choice: Choice) -> chart_style.Chart:
    """The chart. Its data has columns of our own names: those of the result are only written beside it."""
    frame = _frame(table, columns, choice)
    is_across = choice.mark == BARS and choice.x in columns.names
    x, y = _axis(choice.x, "x", columns, choice.mark), _axis(choice.y, "y", columns, choice.mark)
    if choice.x == "k" and choice.mark != BARS and (cutoffs := _cutoffs(frame)):
        x["scale"] = alt.Scale(type="log", nice=False, domain=[cutoffs[0] * 0.88, cutoffs[-1] * 1.13])
        x["axis"] = alt.Axis(values=cutoffs, format="d", grid=False, labelOverlap=False)
    tooltip = [
        alt.Tooltip(_typed(choice.x, "x", columns), title=choice.x),
        alt.Tooltip(_typed(choice.y, "y", columns), title=choice.y),
    ]
    encoding: dict[str, Any] = {
        "x": alt.X(**(y if is_across else x)),
        "y": alt.Y(**(x if is_across else y)),
        "tooltip": tooltip,
    }
    if choice.colour != NOTHING:
        values = [str(value) for value in pc.unique(frame.column("colour")).to_pylist()]
        colours = [*chart_style.RUN_COLOURS[: len(values)], chart_style.UNDECIDED][: len(values)]
        shapes = [*chart_style.RUN_SHAPES[: len(values)], "stroke"][: len(values)]
        legend = alt.Legend(title=choice.colour, orient="bottom", columns=LEGEND_COLUMNS, labelLimit=220)
        encoding["color"] = alt.Color(
            "colour:N", scale=alt.Scale(domain=values, range=colours), legend=legend
        )
        encoding["detail"] = "group:N"
        tooltip.append(alt.Tooltip("group:N", title=choice.colour))
        if choice.mark == BARS:
            channel = alt.YOffset if is_across else alt.XOffset
            encoding["yOffset" if is_across else "xOffset"] = channel("group:N", sort=None)
        else:
            encoding["shape"] = alt.Shape(
                "colour:N", scale=alt.Scale(domain=values, range=shapes), legend=legend
            )
    look = chart_style.look(_height(frame, is_across))
    return _marked(chart_style.Chart(frame, **look), choice).encode(**encoding)


def alt_text(table: pa.Table, columns: Columns, choice: Choice) -> str:
    """The chart in a sentence: what over what, from which value to which."""
    frame = _frame(table, columns, choice)
    beside = f", by {choice.colour}" if choice.colour != NOTHING else ""
    span = pc.min_max(frame.column("y")) if choice.y in columns.numbers else None
    reach = f", from {span['min'].as_py():g} to {span['max'].as_py():g}" if span and frame.num_rows else ""
    return f"{choice.mark.capitalize()} of {choice.y} over {choice.x}{beside}: {frame.num_rows} rows{reach}."


def remarks(table: pa.Table, columns: Columns, choice: Choice) -> str:
    """What the chart leaves out, or could be misread."""
    frame = _frame(table, columns, choice)
    parts = []
    if frame.num_rows < _complete(table, columns, choice).num_rows:
        parts.append(f"Drawn are the first {frame.num_rows:,} rows.")
    if (missing := table.num_rows - _complete(table, columns, choice).num_rows) > 0:
        rows = words.count(missing, "row")
        parts.append(f"{rows} without one of the values {'is' if missing == 1 else 'are'} left out.")
    keys = [name for name in ("x", "group") if name in frame.column_names]
    if choice.mark != POINTS and _num(frame, *keys) < frame.num_rows:
        parts.append(
            "Several rows share a place: bars are stacked there and lines go up and down. "
            "Group the rows, or draw points."
        )
    return " ".join(parts)


def _marked(plain: chart_style.Chart, choice: Choice) -> chart_style.Chart:
    alone: dict[str, Any] = {} if choice.colour != NOTHING else {"color": chart_style.CANDIDATE}
    if choice.mark == BARS:
        return plain.mark_bar(**alone)
    if choice.mark == LINES:
        return plain.mark_line(point={"filled": True, "size": 46}, **alone)
    return plain.mark_point(filled=True, size=56, opacity=0.75, **alone)


def _height(frame: pa.Table, is_across: bool) -> int:
    """Room for every bar, and for the legend below."""
    is_coloured = "group" in frame.column_names
    legend = 30 + 22 * ceil(_num(frame, "colour") / LEGEND_COLUMNS) if is_coloured else 0
    if not is_across:
        return 340 + legend
    each = max(22, 9 * _num(frame, "group")) if is_coloured else 22
    return max(200, min(1200, 80 + each * _num(frame, "x"))) + legend


def _cutoffs(frame: pa.Table) -> list[float]:
    """The cutoffs that are there, if they are those of metrics: few, and from 1 on."""
    values: list[float] = sorted(pc.unique(frame.column("x")).to_pylist())
    return values if 1 < len(values) <= 20 and values[0] >= 1 else []


def _num(frame: pa.Table, *names: str) -> int:
    """How many different values the columns have, taken together."""
    return int(frame.select(list(names)).group_by(list(names)).aggregate([]).num_rows)


def _axis(name: str, field: str, columns: Columns, mark: str) -> dict[str, Any]:
    """The channel of an axis. Names keep the order of the rows; only bars must begin at zero."""
    made: dict[str, Any] = {"shorthand": _typed(name, field, columns), "title": name}
    if name in columns.names:
        made["sort"] = None
    elif name in columns.times:
        made["scale"] = alt.Scale(type="utc")
    else:
        made["scale"] = alt.Scale(zero=mark == BARS)
        made["axis"] = alt.Axis(tickCount=8)
    return made


def _typed(name: str, field: str, columns: Columns) -> str:
    sort = "N" if name in columns.names else "T" if name in columns.times else "Q"
    return f"{field}:{sort}"


def _frame(table: pa.Table, columns: Columns, choice: Choice) -> pa.Table:
    """The rows that are drawn, as x, y and colour."""
    most = MOST_BARS if choice.mark == BARS else MOST_ROWS
    return _complete(table, columns, choice).slice(0, most)


def _complete(table: pa.Table, columns: Columns, choice: Choice) -> pa.Table:
    wanted = {"x": choice.x, "y": choice.y}
    if choice.colour != NOTHING:
        wanted["group"] = choice.colour
    frame = pa.table(
        {field: _drawn(table.column(name), _kind(table.column(name).type)) for field, name in wanted.items()}
    ).drop_null()
    if choice.colour != NOTHING:
        frame = frame.append_column("colour", _coloured(frame.column("group")))
    return frame


def _coloured(groups: pa.ChunkedArray) -> pa.ChunkedArray:
    """The groups by the name in the legend: those that there is no colour left for are one."""
    values = pc.unique(groups)
    if len(values) <= chart_style.MOST_RUNS:
        return groups
    front = values.slice(0, chart_style.MOST_RUNS)
    others = words.count(len(values) - len(front), "other")
    return pc.if_else(pc.is_in(groups, front), groups, others)


def _drawn(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """The values as a browser draws them: no number there is longer than a double."""
    if kind == "number":
        floats = column.cast(pa.float64(), safe=False)
        return pc.if_else(pc.is_finite(floats), floats, pa.scalar(None, pa.float64()))
    return column.cast(pa.string()) if kind == "name" else column


def _kind(sort: pa.DataType) -> str:
    types = pa.types
    if types.is_integer(sort) or types.is_floating(sort) or types.is_decimal(sort):
        return "number"
    if types.is_date(sort) or types.is_timestamp(sort):
        return "time"
    if types.is_string(sort) or types.is_large_string(sort) or types.is_boolean(sort):
        return "name"
    return "name" if types.is_dictionary(sort) else ""


def _num_values(table: pa.Table, *names: str) -> int:
    """The same of columns of a result, as they are drawn."""
    return _num(
        pa.table({name: _drawn(table.column(name), _kind(table.column(name).type)) for name in names}), *names
    )


def _is_fraction(table: pa.Table, name: str) -> bool:
    return pa.types.is_floating(table.schema.field(name).type)


def _beside(table: pa.Table, columns: Columns, x: str) -> str:
    """The column of names that tells apart best the rows which share an x."""
    if _num_values(table, x) == table.num_rows:
        return NOTHING
    others = [name for name in columns.names if name != x and _num_values(table, name) > 1]
    return max(others, key=lambda name: _num_values(table, x, name), default=NOTHING)
