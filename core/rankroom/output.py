"""Rows of a query as JSON that any reader takes: no NaN, no infinity, dates in ISO form."""

from __future__ import annotations

import json
import math
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


def rows(con: duckdb.DuckDBPyConnection, query: str, parameters: object = None) -> list[dict[str, Any]]:
    """The result of a query, a dict a row. Of columns with one name, later ones get a number."""
    con.execute(query, parameters)
    names: list[str] = []
    for column in con.description or []:
        name, at = column[0], 1
        while name in names:
            at += 1
            name = f"{column[0]}_{at}"
        names.append(name)
    return [dict(zip(names, row, strict=True)) for row in con.fetchall()]


def to_json(value: object, *, ascii_only: bool = False) -> str:
    """The value as JSON text, indented. NaN and infinities, which JSON does not have, are null."""
    return json.dumps(plain(value), ensure_ascii=ascii_only, indent=2, allow_nan=False)


def plain(value: object) -> Any:
    """The value in the types that JSON has.

    Bytes are in hexadecimal; a decimal number is a float, and an int where it has no places after the point;
    what JSON has no type for (intervals, times, UUIDs) is text.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, dict):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else plain(float(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return str(value)


def _key(key: object) -> str:
    """A key of a map as text: as JSON would write it, where it is not a text."""
    spelt = plain(key)
    return spelt if isinstance(spelt, str) else json.dumps(spelt, ensure_ascii=False)
