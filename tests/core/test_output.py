"""What rows become as JSON: only JSON, and nothing lost without need."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankroom.output import plain, rows, to_json


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def strictly(text: str) -> Any:
    """The value of a JSON text that has none of Python's additions to JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1::tinyint", 1),
        ("170141183460469231731687303715884105727::hugeint", 170141183460469231731687303715884105727),
        ("'nan'::double", None),
        ("'-inf'::float", None),
        ("1e308::double", 1e308),
        ("0.1::double", 0.1),
        ("1.25::decimal(10, 2)", 1.25),
        ("12345678901234567890::decimal(38, 0)", 12345678901234567890),
        ("true", True),
        ("null", None),
        ("'ä\"\\'", 'ä"\\'),
        ("date '2026-03-09'", "2026-03-09"),
        ("date '99999-01-01'", "99999-01-01"),
        ("timestamp '2026-03-09 10:00:00.5'", "2026-03-09T10:00:00.500000"),
        ("timestamptz '2026-03-09 10:00:00+00'", "2026-03-09T10:00:00+00:00"),
        ("time '10:00'", "10:00:00"),
        ("interval 3 day", "3 days, 0:00:00"),
        ("'550e8400-e29b-41d4-a716-446655440000'::uuid", "550e8400-e29b-41d4-a716-446655440000"),
        ("'\\x00\\xFF'::blob", "00ff"),
        ("'101'::bit", "101"),
        ("['a', null]", ["a", None]),
        ("[1, 2]::integer[2]", [1, 2]),
        ("[{'x': ['nan'::double]}]", [{"x": [None]}]),
        ("{'x': 1, 'y': {'z': date '2026-03-09'}}", {"x": 1, "y": {"z": "2026-03-09"}}),
        ("map {'a': 1}", {"a": 1}),
        ("map {1: 'a'}", {"1": "a"}),
        ("map {true: 1}", {"true": 1}),
        ("map {date '2026-03-09': 1}", {"2026-03-09": 1}),
        ("union_value(num := 2)", 2),
        ("'{\"a\": 1}'::json", '{"a": 1}'),
    ],
)
def test_values_of_every_type(con: duckdb.DuckDBPyConnection, value: str, expected: object) -> None:
    session = con.cursor()
    session.execute("set timezone = 'UTC'")
    (row,) = rows(session, f"select {value} as value")
    assert strictly(to_json(row)) == {"value": expected}


def test_columns_of_one_name_are_all_there(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "select 1 as x, 2 as x, 3 as x_2, 4 as x") == [{"x": 1, "x_2": 2, "x_2_2": 3, "x_3": 4}]


def test_a_result_without_rows_or_columns(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "select 1 as x where false") == []
    assert to_json([]) == "[]"
    assert rows(con, "set threads = 1") == []


def test_parameters_are_values(con: duckdb.DuckDBPyConnection) -> None:
    assert rows(con, "select $x as x", {"x": "'; drop"}) == [{"x": "'; drop"}]


def test_a_decimal_that_is_no_number_is_null() -> None:
    assert plain(Decimal("NaN")) is None
    assert plain(Decimal("Infinity")) is None


def test_ascii_where_the_terminal_has_nothing_else() -> None:
    assert to_json({"ä": "é"}, ascii_only=True).isascii()
    assert json.loads(to_json({"ä": "é"}, ascii_only=True)) == {"ä": "é"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.floats(), inner),
    max_leaves=10,
)


@given(VALUES)
def test_whatever_comes_is_json(value: object) -> None:
    assert strictly(to_json(value, ascii_only=True)) == strictly(json.dumps(plain(value)))
