"""A quick chart of any result: two of its columns, a mark, and a colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from panels import chart_style, words

BARS, LINES, POINTS = "bars", "lines", "points"
MARKS = (BARS, LINES, POINTS)
MOST_BARS = 40
MOST_ROWS = 3_000
NOTHING = ""


@dataclass(frozen=True)
class Columns:
    """The columns of a result that can be drawn, by what they hold."""

    numbers: tuple[str, ...]
    times: tuple[str, ...]
    names: tuple[str, ...]
    few: tuple[str, ...]
    """Of the names, those with so few values that each can have its colour."""

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
        if (kind := _kind(field.type)) and table.column(field.name).null_count < table.num_rows:
            kinds[kind].append(field.name)
    few = [name for name in kinds["name"] if _num_values(table, name) <= chart_style.MOST_RUNS]
    return Columns(tuple(kinds["number"]), tuple(kinds["time"]), tuple(kinds["name"]), tuple(few))


def proposal(table: pa.Table, columns: Columns) -> Choice | None:
    """What is drawn at first; None where a chart would say less than the table."""
    if table.num_rows < 2 or not columns.numbers:
        return None
    over = [*columns.times, *(name for name in columns.numbers if name == "k")]
    numbers = [name for name in columns.numbers if name not in over]
    measured = [name for name in numbers if _is_fraction(table, name)] or numbers
    if over and measured:
        colour = next((name for name in columns.few if _num_values(table, name) > 1), NOTHING)
        return Choice(over[0], measured[0], LINES, colour)
    if columns.names and measured:
        x = max(columns.names, key=lambda name: _num_values(table, name))
        return Choice(x, measured[0], BARS, _colour_beside(table, columns, x))
    if len(columns.numbers) > 1:
        return Choice(columns.numbers[0], columns.numbers[1], POINTS)
    return None


def chart(table: pa.Table, columns: Columns, choice: Choice) -> chart_style.Chart:
    """The chart. Its data has columns of our own names: those of the result are only written beside it."""
    frame = _frame(table, columns, choice)
    is_across = choice.mark == BARS and choice.x in columns.names
    x, y = _axis(choice.x, "x", columns, choice.mark), _axis(choice.y, "y", columns, choice.mark)
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
        values = _values(frame)
        encoding["color"] = alt.Color(
            "colour:N",
            scale=alt.Scale(domain=values, range=list(chart_style.RUN_COLOURS[: len(values)])),
            legend=alt.Legend(title=choice.colour, orient="bottom", columns=4, labelLimit=220),
        )
        tooltip.append(alt.Tooltip("colour:N", title=choice.colour))
        if choice.mark == BARS:
            encoding["yOffset" if is_across else "xOffset"] = (alt.YOffset if is_across else alt.XOffset)(
                "colour:N", scale=alt.Scale(domain=values)
            )
        else:
            encoding["shape"] = alt.Shape(
                "colour:N",
                scale=alt.Scale(domain=values, range=list(chart_style.RUN_SHAPES[: len(values)])),
            )
    height = 340
    if is_across:
        height = 90 + frame.num_rows * (16 if choice.colour != NOTHING else 22)
    return _marked(chart_style.Chart(frame, **chart_style.look(max(220, height))), choice).encode(**encoding)


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
    keys = [name for name in ("x", "colour") if name in frame.column_names]
    if choice.mark != POINTS and frame.group_by(keys).aggregate([]).num_rows < frame.num_rows:
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


def _axis(name: str, field: str, columns: Columns, mark: str) -> dict[str, Any]:
    """The channel of an axis. Names keep the order of the rows; only bars must begin at zero."""
    made: dict[str, Any] = {"shorthand": _typed(name, field, columns), "title": name}
    if name in columns.names:
        made["sort"] = None
    elif name in columns.times:
        made["scale"] = alt.Scale(type="utc")
    else:
        made["scale"] = alt.Scale(zero=mark == BARS)
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
        wanted["colour"] = choice.colour
    drawn = pa.table(
        {
            field: _drawn(table.column(name), name in columns.numbers, name in columns.names)
            for field, name in wanted.items()
        }
    )
    return drawn.drop_null()


def _drawn(column: pa.ChunkedArray, is_number: bool, is_name: bool) -> pa.ChunkedArray:
    """The values as a browser draws them: no number there is longer than a double."""
    if is_number:
        floats = column.cast(pa.float64(), safe=False)
        return pc.if_else(pc.is_finite(floats), floats, pa.scalar(None, pa.float64()))
    return column.cast(pa.string()) if is_name else column


def _values(frame: pa.Table) -> list[str]:
    """The values that have a colour each, in the order of the rows."""
    return [str(value) for value in pc.unique(frame.column("colour")).to_pylist()]


def _kind(sort: pa.DataType) -> str:
    types = pa.types
    if types.is_integer(sort) or types.is_floating(sort) or types.is_decimal(sort):
        return "number"
    if types.is_date(sort) or types.is_timestamp(sort):
        return "time"
    if types.is_string(sort) or types.is_large_string(sort) or types.is_boolean(sort):
        return "name"
    return "name" if types.is_dictionary(sort) else ""


def _num_values(table: pa.Table, name: str) -> int:
    return int(pc.count_distinct(_plain(table.column(name))).as_py())


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_fraction(table: pa.Table, name: str) -> bool:
    return pa.types.is_floating(table.schema.field(name).type)


def _colour_beside(table: pa.Table, columns: Columns, x: str) -> str:
    """A second column of names, where the first alone does not tell rows apart."""
    if _num_values(table, x) == table.num_rows:
        return NOTHING
    return next((name for name in columns.few if name != x and _num_values(table, name) > 1), NOTHING)
