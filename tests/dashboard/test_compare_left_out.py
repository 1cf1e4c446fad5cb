"""Queries that a run left out or that failed are no changes of a ranking, and Compare says which they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankroom.store import Store
from small_stores import add_native

QUERIES = ("found", "missed", "skipped", "slow")


def ranked(**changed: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"query_id": name, "results": ["b", name]} | changed.get(name, {}) for name in QUERIES]


def test_wins_and_losses_say_what_was_not_run(open_page: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    before = [row for row in ranked() if row["query_id"] != "skipped"]
    after = ranked(slow={"status": "timeout"}, missed={"results": ["b"]})
    add_native(
        store,
        tmp_path / "native",
        queries=[{"query_id": name, "text": name} for name in QUERIES],
        labels=[{"query_id": name, "doc_id": name, "grade": 1} for name in QUERIES],
        runs={"before": before, "after": after},
    )
    at = open_page(store, "compare", base="before", cand="after")
    assert not at.exception
    losses, wins = (frame.value for frame in at.dataframe if "first" in frame.value)
    assert sorted(losses["first"]) == ["2 → timeout", "2 → –"]
    assert list(wins["first"]) == ["left out → 2"]
    captions = [caption.value for caption in at.caption]
    assert any("left out, or that failed in it" in caption for caption in captions)
