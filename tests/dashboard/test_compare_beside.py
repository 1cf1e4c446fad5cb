"""Two runs with the same scores, of which one declines to answer: the verdict says that, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from panels import compare_beside
from rankroom.store import Store
from small_stores import add_native

QUERIES = [{"query_id": name, "text": name} for name in ("found", "missed", "unanswerable")]
LABELS = [
    {"query_id": "found", "doc_id": "a", "grade": 1},
    {"query_id": "missed", "doc_id": "b", "grade": 1},
    {"query_id": "unanswerable", "no_answer": True},
]


def answers(*declined: str) -> list[dict[str, Any]]:
    return [
        {"query_id": name, "results": ["a", "c"], "abstained": name in declined}
        for name in ("found", "missed", "unanswerable")
    ]


def test_runs_of_the_same_scores_are_told_apart_by_what_they_decline(open_page: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    runs = {"always": answers(), "careful": answers("missed", "unanswerable")}
    add_native(store, tmp_path / "native", queries=QUERIES, labels=LABELS, runs=runs)
    at = open_page(store, "compare", base="always", cand="careful")
    assert not at.exception
    said = [element.value for element in at.markdown]
    assert (
        "They differ beside the metrics: declined where nothing answers 0.000 → 1.000, "
        "declined though an answer exists 0.000 → 0.500." in said
    )
    at = open_page(store, "compare", base="always", cand="always")
    assert not any("beside the metrics" in element.value for element in at.markdown)


def test_what_is_the_same_in_both_is_a_fact_and_no_difference() -> None:
    base = dict.fromkeys((*compare_beside.COUNTS, *compare_beside.SHARES), 0) | {"role": "baseline"}
    base |= {"judged": 0.5, "correct_abstention": None, "leaks": 1200, "false_abstention": 0.0}
    rows = [base, base | {"role": "candidate", "judged": 0.25}]
    assert compare_beside.facts(rows, 5) == [
        ("leaks", "1,200 → 1,200"),
        ("labelled in the first 5", "0.500 → 0.250"),
    ]
    assert (
        compare_beside.sentence(rows, 5)
        == "They differ beside the metrics: labelled in the first 5 0.500 → 0.250."
    )
    assert compare_beside.sentence([base, base | {"role": "candidate"}], 5) is None
    assert compare_beside.facts(rows[:1], 5) == []
