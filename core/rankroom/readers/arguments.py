"""An argument of a Python call as rows: dicts, lists of dicts, and whatever Arrow takes for a table.

Rows become lines of JSON for the reader of JSON lines, so that a value from Python meets the same rules, the
same faults and the same doubts as one from a file. Faults name the place as Python does: row 12 of a frame or
list counts from 0, and of a dict stands labels['q1']['d3'].
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import duckdb
import pyarrow as pa

from rankroom.faults import SHOWN, Fault, Report
from rankroom.readers.json_lines import PIECE_STEPS, Field, begin_faults, count, drop_tables
from rankroom.resources import sql

PIECE = 50_000
"""So many rows are taken at a time, which bounds the memory that their members need."""

UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls the index of a filtered or sorted frame on its way to Arrow: no data."""

OF_VALUES = ("wrong_value", "non_finite_score", "non_numeric_rank", "duplicate_rank")
"""Faults of one value: where they come without it, it is looked up in the frame."""

Path = tuple[object, ...]
"""The keys that lead to a row of a dict."""


@dataclass(frozen=True)
class ArgumentFault(Fault):
    """A fault in an argument. `place` says where, as Python would; `line` is the row, counted from 0."""

    place: str = ""

    def __str__(self) -> str:
        return str(Fault(self.place or self.file, self.kind, self.expected, None, self.field, self.value))


@dataclass(frozen=True)
class Rows:
    """The rows of an argument: an Arrow table, or dicts; `paths` are those of rows that were a dict's."""

    name: str
    table: pa.Table | None = None
    dicts: Sequence[Mapping[str, Any]] = ()
    paths: Sequence[Path] | None = None
    names_of_results: Mapping[object, Sequence[object]] = field(default_factory=dict)
    """The keys of results that were given as {document: score}, by their query."""

    def __len__(self) -> int:
        return len(self.dicts) if self.table is None else self.table.num_rows

    def fault(
        self, row: int | None, kind: str, expected: str, field: str | None = None, value: str | None = None
    ) -> ArgumentFault:
        """A fault at a row (None: in the argument as a whole), in the words of Python."""
        expected = re.sub(r"\bon line (\d+)\b", lambda found: self._at(int(found[1])), expected)
        if row is None:
            return ArgumentFault(self.name, kind, in_python(expected), None, field, value, self.name)
        if (
            value is None
            and kind in OF_VALUES
            and self.table is not None
            and field in self.table.column_names
        ):
            found = self.table.column(field)[row].as_py()
            value = "nothing" if found is None else str(found)
        place, inside = self._place(row, field)
        return ArgumentFault(self.name, kind, in_python(expected), row, inside, value, place)

    def _at(self, row: int) -> str:
        return f"in row {row}" if self.paths is None else f"at {self._place(row, None)[0]}"

    def _place(self, row: int, inside: str | None) -> tuple[str, str | None]:
        """Where a row is, and what is left of the field's name."""
        if self.paths is None:
            return f"{self.name}, row {row}", inside
        path = self.paths[row]
        if found := re.match(r"results\[(\d+)\](?:\.score)?$", inside or ""):
            names, inside = self.names_of_results.get(path[0]), None
            path = (*path, names[int(found[1])] if names else int(found[1]))
        elif inside == "results":
            inside = None
        return self.name + "".join(f"[{key!r}]" for key in path), inside


def in_python(sentence: str) -> str:
    """A sentence of the file readers in the words of a Python call."""
    for words, instead in (
        ("in a line", "in a row"),
        ("first on line", "first in row"),
        ("--collapse first", 'collapse="first"'),
        ("--keep", "keep"),
        ("--order rank", 'order="rank"'),
        (" (--name, or rename the file), or `rankroom remove` the other", ", or `room.remove` the other"),
    ):
        sentence = sentence.replace(words, instead)
    return sentence


def is_frame(value: object) -> bool:
    """Whether Arrow takes it for a table: its own, and those of pandas, polars, DuckDB and others."""
    return isinstance(value, pa.Table | pa.RecordBatch) or any(
        hasattr(value, protocol) for protocol in ("__arrow_c_stream__", "__dataframe__")
    )


def to_table(name: str, frame: Any, report: Report) -> pa.Table | None:
    """A frame as an Arrow table without an unnamed index; None where it is none, as the report then says."""
    try:
        if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.Table | pa.RecordBatch):
            table = pa.table(frame)
        else:
            from pyarrow.interchange import from_dataframe

            table = from_dataframe(frame)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError) as error:
        report.fault(_not_arrow(name, error))
        return None
    names = [column for column in table.column_names if not UNNAMED_INDEX.fullmatch(column)]
    for column in {one for one in names if [other.lower() for other in names].count(one.lower()) > 1}:
        report.fault(
            Rows(name).fault(None, "repeated_field", "expected each column once, in one spelling", column)
        )
        return None
    return table.select(names)


def _not_arrow(name: str, error: Exception) -> Fault:
    said = "; ".join(str(arg) for arg in error.args)
    column = re.search(r"Conversion failed for column (.+) with type", said)
    if column:
        expected = f"expected values of one type in a column ({error.args[0]})"
        return Rows(name).fault(None, "wrong_value", expected, column[1])
    return Rows(name).fault(None, "wrong_value", f"Arrow does not take this frame: {said}")


def rows_of(name: str, value: Any, fields: Sequence[Field], report: Report, shape: str) -> Rows | None:
    """The rows of a frame, or of a list of dicts; None where it is neither, or lacks columns, or has others.

    `shape` says what else the caller takes, for the message.
    """
    if isinstance(value, Rows):
        return _checked(value, fields, report)
    if is_frame(value):
        table = to_table(name, value, report)
        return None if table is None else _checked(Rows(name, table), fields, report)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for row, item in enumerate(value):
            if not isinstance(item, Mapping):
                report.fault(
                    Rows(name).fault(
                        row, "wrong_value", f"expected a dict, or as a whole {shape}", None, type_name(item)
                    )
                )
                return None
        return _checked(Rows(name, dicts=value), fields, report)
    report.fault(
        Rows(name).fault(
            None,
            "wrong_value",
            f"expected {shape}, a data frame, an Arrow table or a list of dicts",
            None,
            type_name(value),
        )
    )
    return None


def _checked(rows: Rows, fields: Sequence[Field], report: Report) -> Rows | None:
    """The rows, where there are any and a table's columns are what they should be: one fault a column."""
    before = report.num_faults
    if not len(rows):
        report.fault(rows.fault(None, "empty", "expected at least one row"))
    if rows.table is not None:
        known = [field.name for field in fields]
        for column in rows.table.schema:
            if column.name not in known and "*" not in known:
                expected = f"the columns known here are {', '.join(known)}"
                report.fault(rows.fault(None, "unknown_field", expected, column.name))
            elif _is_binary(column.type):
                report.fault(
                    rows.fault(
                        None, "wrong_value", "expected texts, not bytes", column.name, str(column.type)
                    )
                )
        for needed in fields:
            if needed.required and needed.name not in rows.table.column_names:
                expected = f"this column is missing: expected {needed.expected} in each row"
                report.fault(rows.fault(None, "missing_field", expected, needed.name))
    return rows if report.num_faults == before else None


def _is_binary(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_of(kind)
        for is_of in (
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_fixed_size_binary,
            pa.types.is_binary_view,
        )
    )


def read_rows(
    con: duckdb.DuckDBPyConnection, rows: Rows, fields: Sequence[Field], steps: Sequence[str], report: Report
) -> bool:
    """Read rows as `read_json_lines` reads a file: the same tables, checks and faults; line_no is the row.

    False where the rows cannot be read to their end.
    """
    begin_faults(con)
    con.execute(
        "insert into json_fields select unnest($at::integer[]), unnest($names::varchar[]),"
        " unnest($kinds::varchar[]), unnest($expected::varchar[]), unnest($required::boolean[])",
        {
            "at": list(range(len(fields))),
            "names": [field.name for field in fields],
            "kinds": [field.kind for field in fields],
            "expected": [field.expected for field in fields],
            "required": [field.required for field in fields],
        },
    )
    statements = [sql(f"readers/{step}.sql") for step in (*PIECE_STEPS, *steps)]
    for start in range(0, len(rows), PIECE):
        con.execute("truncate json_lines")
        if not _fill_lines(con, rows, start, report):
            return False
        for statement in statements:
            con.execute(statement)
    drop_tables(con, "json_lines", "json_members")
    return True


def take_faults(con: duckdb.DuckDBPyConnection, rows: Rows, report: Report) -> int:
    """Put what json_faults holds into the report, and say how many there are."""
    total = count(con, "select count(*) from json_faults")
    found = con.execute(
        "select line_no, kind, expected, field, value from json_faults order by all limit $shown",
        {"shown": SHOWN},
    ).fetchall()
    report.extend((rows.fault(*one) for one in found), total)
    return total


def _fill_lines(con: duckdb.DuckDBPyConnection, rows: Rows, start: int, report: Report) -> bool:
    """A piece of the rows into json_lines."""
    numbered = f"insert into json_lines select {start} + row_number() over () - 1,"
    if rows.table is None:
        texts = _as_json(rows, start, report)
        if texts is None:
            return False
        piece, statement = pa.table({"text": texts}), f"{numbered} text from python_rows"
    else:
        piece, statement = (
            _with_dates(rows.table.slice(start, PIECE)),
            f"{numbered} to_json(python_rows) from python_rows",
        )
    try:
        con.register("python_rows", piece)
        con.execute(statement)
    except duckdb.NotImplementedException as error:
        report.fault(rows.fault(None, "wrong_value", f"DuckDB does not take this frame: {error}"))
        return False
    finally:
        con.unregister("python_rows")
    return True


def _with_dates(table: pa.Table) -> pa.Table:
    """With the column `reviewed` as dates: pandas has no type for a date, only for a moment."""
    at = table.schema.get_field_index("reviewed")
    if at >= 0 and pa.types.is_timestamp(table.schema.field(at).type):
        return table.set_column(at, "reviewed", table.column(at).cast(pa.date32()))
    return table


def _as_json(rows: Rows, start: int, report: Report) -> pa.Array | None:
    """A piece of rows that are dicts as JSON; None where a value has no form in it: the report says so."""
    texts = []
    for at, row in enumerate(rows.dicts[start : start + PIECE], start):
        try:
            texts.append(json.dumps(row, ensure_ascii=False, default=_plain))
            if not texts[-1].isascii():
                texts[-1].encode()
        except UnicodeEncodeError:
            report.fault(
                rows.fault(at, "invalid_utf8", "expected text that UTF-8 can hold, without lone surrogates")
            )
            return None
        except (TypeError, ValueError, RecursionError) as error:
            expected = f"expected texts, numbers, True or False, lists, dicts and dates ({error})"
            report.fault(rows.fault(at, "wrong_value", expected))
            return None
    return pa.array(texts, pa.string())


def _plain(value: object) -> object:
    """A value that JSON has no type for: numpy's, dates, decimals, sets and mappings."""
    if hasattr(value, "tolist"):  # numpy's scalars and arrays, the series of pandas
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, datetime):
        return (value.date() if value.time() == time() else value).isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"not {type(value).__name__}")


def plain_config(value: object) -> Any:
    """Settings in the types that a TOML file would give: None is a setting left out."""
    if isinstance(value, Mapping):
        return {key: plain_config(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [plain_config(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain_config(item) for item in value), key=str)
    if hasattr(value, "tolist"):
        return cast(Any, value).tolist()
    return value


def listed(value: Any, *, of_set: bool = False) -> Sequence[Any] | None:
    """A list of whatever make (a tuple, an array, a series; with `of_set` a set); None where it is none."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, set | frozenset):
        return list(value) if of_set else None
    if hasattr(value, "tolist"):
        value = value.tolist()
        return value if isinstance(value, list) else None
    return None


def type_name(value: object) -> str:
    """What a message calls a value of the wrong type."""
    return "None" if value is None else type(value).__name__
