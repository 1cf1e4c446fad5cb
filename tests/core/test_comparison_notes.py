"""What is said of two runs beside their scores: what they left out, and what they declined to answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankroom.comparison import compare
from rankroom.store import Store
from small_stores import add_native, add_small


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


def test_what_runs_decline_is_said_where_they_differ(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    names = ("p", "q", "r")
    runs = {
        run: [{"query_id": name, "results": ["a"], "abstained": name in declined} for name in names]
        for run, declined in (("bold", "q"), ("shy", "qr"), ("silent", "pqr"))
    }
    labels = [{"query_id": name, "doc_id": "a", "grade": 1} for name in "pq"]
    add_native(
        store,
        tmp_path / "native",
        queries=[{"query_id": name, "text": name} for name in names],
        labels=[*labels, {"query_id": "r", "no_answer": True}],
        runs=runs,
    )
    with store.read() as con:
        said = {
            pair: [note.sentence for note in compare(con, *pair).notes]
            for pair in (("bold", "shy"), ("shy", "silent"), ("shy", "shy"))
        }
    assert said == {
        ("bold", "shy"): ["of 1 query that nothing answers, shy declines 1 and bold 0"],
        ("shy", "silent"): ["of 2 queries that have an answer, silent declines 2 and shy 1"],
        ("shy", "shy"): [],
    }
