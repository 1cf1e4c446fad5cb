"""What the queries of a store can be sliced by."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from rankroom.errors import UsageError

MOST_DIMENSIONS = 3


def check_number(by: Sequence[str]) -> None:
    """Refuse more dimensions than can be sliced by together."""
    if len(by) > MOST_DIMENSIONS:
        raise UsageError(f"--by takes at most {MOST_DIMENSIONS} dimensions, and {len(by)} are given")


def check_dimensions(con: duckdb.DuckDBPyConnection, label_set: str, by: Sequence[str]) -> None:
    """Refuse dimensions that the queries of this label set do not have, instead of an empty table."""
    ((query_set, known),) = con.execute(
        """
        select query_set, list_sort(list(distinct dimension) filter (dimension is not null))
        from label_sets left join query_slices using (query_set)
        where label_set = $label_set group by query_set
        """,
        {"label_set": label_set},
    ).fetchall()
    for dimension in by:
        if dimension not in (known or ()):
            there = f"they have {', '.join(known)}" if known else "they say nothing but their ids"
            raise UsageError(f"the queries of {query_set} cannot be sliced by {dimension}: {there}")
