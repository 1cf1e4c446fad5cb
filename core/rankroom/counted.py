"""Counts with their nouns, as every sentence has them."""

from __future__ import annotations


def count(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 label, 1,200 labels; `many` where an s does not make the plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def queries(number: int) -> str:
    """A count of queries."""
    return count(number, "query", "queries")
