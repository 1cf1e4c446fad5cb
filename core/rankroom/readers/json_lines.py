"""A JSONL file into tables, with all that is wrong with it. Set-based: DuckDB parses and checks.

The file is taken in pieces of whole lines, so that memory is bounded however long it is. For each piece the
connection holds these temp tables:
    json_lines(line_no, text)                                 its lines that are not blank
    json_members(line_no, position, field, value, type)       the members of the lines that are objects
and for the whole file:
    json_fields(position, name, kind, expected, required)     what may stand in a line
    json_faults(line_no, kind, field, value, expected)        what is wrong; every later check adds to it
    json_float_ids(number)                                    ids written as 17.0
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from rankroom.faults import SHOWN, Fault, Report
from rankroom.readers.lines import LINES, NOT_BLANK, empty_file, feed_lines
from rankroom.resources import sql

PIECE_STEPS = ("json_malformed", "json_members", "json_member_faults")


@dataclass(frozen=True)
class Field:
    """A member that a line may have. The kinds are those of json_member_faults.sql."""

    name: str
    kind: str
    expected: str
    required: bool = False


ANY_OTHER = Field("*", "any", "anything")
"""As a field of a file: members of any other name are welcome."""


def read_json_lines(
    con: duckdb.DuckDBPyConnection, path: Path, fields: Sequence[Field], steps: Sequence[str], report: Report
) -> bool:
    """Read a file piece by piece; False where it cannot be read to its end.

    The steps (names of files in sql/readers) take what they need of each piece from json_members. The faults
    that were found are in json_faults: the caller checks on, then calls `take_faults`.
    """
    begin_faults(con)
    con.execute(
        "insert into json_fields select unnest(?::integer[]), unnest(?::varchar[]), unnest(?::varchar[]),"
        " unnest(?::varchar[]), unnest(?::boolean[])",
        [
            list(range(len(fields))),
            [field.name for field in fields],
            [field.kind for field in fields],
            [field.expected for field in fields],
            [field.required for field in fields],
        ],
    )
    statements = [sql(f"readers/{step}.sql") for step in (*PIECE_STEPS, *steps)]
    num_lines = 0

    def take(lines_before: int, text: str) -> None:
        nonlocal num_lines
        con.execute("truncate json_lines")
        con.execute(
            f"insert into json_lines select ?::bigint + number, line from {LINES} where {NOT_BLANK}",
            [lines_before, text],
        )
        num_lines += count(con, "select count(*) from json_lines")
        for statement in statements:
            con.execute(statement)

    whole = feed_lines(path, take, report, report)
    drop_tables(con, "json_lines", "json_members")
    if not whole:
        take_faults(con, str(path), report)
    elif num_lines == 0:
        report.fault(empty_file(str(path)))
    return whole and num_lines > 0


def begin_faults(con: duckdb.DuckDBPyConnection) -> None:
    """Begin on a file: no faults yet."""
    con.execute(sql("readers/json_macros.sql"))
    con.execute(sql("readers/json_tables.sql"))


def take_faults(con: duckdb.DuckDBPyConnection, file: str, report: Report) -> int:
    """Put what json_faults holds into the report, in the order of the lines, and say how many there are."""
    total = count(con, "select count(*) from json_faults")
    rows = con.execute(
        "select line_no, kind, field, value, expected from json_faults order by all limit ?", [SHOWN]
    ).fetchall()
    faults = [Fault(file, kind, expected, line, field, value) for line, kind, field, value, expected in rows]
    report.extend((_explained(fault) for fault in faults), total)
    return total


def doubt_float_ids(con: duckdb.DuckDBPyConnection, file: str, report: Report) -> None:
    """Say aloud that ids were written as numbers with a decimal point."""
    number = count(con, "select coalesce(sum(number), 0) from json_float_ids")
    ids = "1 id is" if number == 1 else f"{number:,} ids are"
    sentence = f"{ids} written with a decimal point (17.0); taken without it (17)"
    report.doubt(file, "id_written_as_float", number, sentence)


def drop_tables(con: duckdb.DuckDBPyConnection, *tables: str) -> None:
    """Free what temp tables hold."""
    for table in tables:
        con.execute(f"drop table if exists temp.{table}")


def count(con: duckdb.DuckDBPyConnection, query: str, parameters: object = None) -> int:
    """The one number that a query gives."""
    [(number,)] = con.execute(query, parameters).fetchall()
    return int(number)


def _explained(fault: Fault) -> Fault:
    """Say more exactly why a line is no JSON: Python's parser knows the place."""
    if fault.kind != "not_json" or fault.value is None:
        return fault
    try:
        json.loads(fault.value)
    except json.JSONDecodeError as error:
        return replace(fault, expected=f"{fault.expected} ({error.msg}, at column {error.colno})")
    except (ValueError, RecursionError):
        pass
    return fault
