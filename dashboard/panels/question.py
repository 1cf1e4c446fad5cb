"""A question to the store: a statement with named parameters, to be run, or shown as SQL ready to paste."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Value = None | bool | int | float | str | tuple[str, ...]
"""What a parameter may be. A tuple is a list of names."""

_PARAMETER = re.compile(r"\$([a-z_0-9]+)")


@dataclass(frozen=True)
class Question:
    """A statement whose `$name` parameters stand for values: values never become part of the statement."""

    sql: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def parameters(self) -> dict[str, Any]:
        """The values that the statement names, as DuckDB takes them."""
        named = set(_PARAMETER.findall(self.sql))
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.values.items()
            if name in named
        }

    def key(self) -> tuple[tuple[str, Value], ...]:
        """The values that the statement names, hashable."""
        named = set(_PARAMETER.findall(self.sql))
        return tuple(sorted((name, value) for name, value in self.values.items() if name in named))

    def shown(self) -> str:
        """The statement with its values written out as SQL literals: it gives the same rows in any client."""
        return _PARAMETER.sub(lambda found: literal(self.values[found[1]]), self.sql).strip() + ";"


def literal(value: Value) -> str:
    """A value as SQL, whatever characters are in it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(literal(item) for item in value) + "]" if value else "[]::varchar[]"
    if isinstance(value, str):
        # A NUL would end the statement for some clients, so it is spelt out.
        return " || chr(0) || ".join("'" + part.replace("'", "''") + "'" for part in value.split("\0"))
    return repr(value)
