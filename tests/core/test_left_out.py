"""A query that one of two runs left out counts as 0, unless only what both share is compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankroom.comparison import compare
from rankroom.store import Store
from small_stores import add_small


@pytest.mark.parametrize(
    ("common", "n", "says"),
    [
        (False, 3, "short left out 1 query: it counts as 0"),
        (True, 2, "short left out 1 query: it is not compared"),
    ],
)
def test_the_note_is_true_of_what_is_compared(tmp_path: Path, common: bool, n: int, says: str) -> None:
    store = Store(tmp_path / "s.duckdb")
    labels = {query: {"a": 1} for query in ("p", "q", "r")}
    runs = {"short": {"p": ["a"], "q": ["b"]}, "whole": {query: ["b", "a"] for query in labels}}
    add_small(store, tmp_path, labels, runs)
    with store.read() as con:
        found = compare(con, "short", "whole", common=common)
    assert (found.n, [note.sentence for note in found.notes]) == (n, [says])
