"""What is said aloud of labels and runs: each doubt where it belongs, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rankroom.add import Added, Options
from rankroom.errors import Refused
from rankroom.store import Store
from small_stores import add_native, add_small, ask

NFC, NFD = "caf\u00e9", "cafe\u0301"

Labels = dict[str, dict[str, int]]
Run = dict[str, Any]
LABELS: Labels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2, "c": 0}}
RUN: Run = {"q1": ["x", "a"], "q2": ["x", "y"]}


def doubts(added: Added) -> dict[str, tuple[int, str]]:
    kinds = [doubt.kind for doubt in added.report.doubts]
    assert len(kinds) == len(set(kinds))
    return {doubt.kind: (doubt.count, doubt.sentence) for doubt in added.report.doubts}


CASES: dict[str, tuple[Labels, Run, str, int, str]] = {
    "a query left out": (LABELS, {"q1": ["x", "a"]}, "query_missing_from_run", 1, "q2"),
    "more left out than are named": (
        LABELS | {f"r{i}": {"a": 1, "b": 0} for i in range(5)},
        RUN,
        "query_missing_from_run",
        5,
        "(r0, r1, r2, ...)",
    ),
    "a query without labels": (LABELS, RUN | {"q9": ["x"]}, "query_not_in_labels", 1, "q9"),
    "nothing relevant": (LABELS | {"q2": {"a": 0, "c": 0}}, RUN, "no_relevant_documents", 1, "q2"),
    "grades all alike": ({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, RUN, "constant_labels", 3, "grade 1"),
    "a query among its results": (LABELS, RUN | {"q1": ["x", "a", "q1"]}, "self_match", 1, "q1"),
    "ids in two Unicode forms": (
        LABELS | {"q1": {NFC: 1, "b": 0}},
        RUN | {"q1": [NFD], "q2": ["a"]},
        "id_normalisation",
        1,
        NFD,
    ),
    "no document in common": (LABELS, {"q1": ["D-1"], "q2": ["D-2"]}, "no_common_documents", 1, "D-1"),
    "labels pooled from it": (
        {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}},
        {"q1": ["x", "a", "b"], "q2": ["a"]},
        "pooled_from_run",
        1,
        "first 3",
    ),
}


ALIKE = [case for case, (labels, *_) in CASES.items() if labels is LABELS]
"""Cases of runs under the same labels, which are added together."""


@pytest.mark.parametrize("cases", [ALIKE, *([case] for case in CASES if case not in ALIKE)], ids=", ".join)
def test_a_doubt_where_it_belongs_and_no_other(store: Store, tmp_path: Path, cases: list[str]) -> None:
    labels = CASES[cases[0]][0]
    added = add_small(store, tmp_path, labels, {case: CASES[case][1] for case in cases})
    found = [(doubt.kind, doubt.count, doubt.sentence) for doubt in added.report.doubts]
    assert len(found) == len(cases)
    for case, (kind, num, sentence) in zip(cases, found, strict=True):
        *_, expected, times, text = CASES[case]
        assert (kind, num) == (expected, times)
        assert text in sentence
    subjects = {"no_relevant_documents": "small@1", "constant_labels": "small@1"}
    assert ask(store, "select subject, kind, num from doubts order by subject") == [
        (subjects.get(CASES[case][2], case), *CASES[case][2:4]) for case in sorted(cases)
    ]


def test_nothing_is_doubted_without_a_reason(store: Store, tmp_path: Path) -> None:
    """All alike and one a query is how click logs come; a document below all cutoffs is in common, too."""
    add = add_small(store, tmp_path, LABELS, {"run": RUN})
    assert add.report.doubts == []
    found_by_chance = {"q1": ["a"], "q2": ["a"]}
    assert add_small(store, tmp_path, LABELS, {"good": found_by_chance}).report.doubts == []
    one_each = {"q1": {"a": 1}, "q2": {"b": 1}}
    deep = {"q1": [*(f"x{i}" for i in range(101)), "a"], "q2": ["x"]}
    assert add_small(store, tmp_path, one_each, {"deep": deep}, dataset="one").report.doubts == []
    assert ask(store, "from doubts") == []


def test_ties_and_ranks_are_said_of_the_run(no_store: Store, tmp_path: Path) -> None:
    tied = {"run": RUN | {"q1": {"x": 1.0, "a": 1.0}}}
    found = doubts(add_small(no_store, tmp_path, LABELS, tied, options=Options(dry_run=True)))
    assert any("tie" in kind for kind in found)


def native(folder: Path, run: list[dict[str, Any]], **parts: Any) -> dict[str, tuple[int, str]]:
    """What a folder would be told; nothing is stored of it."""
    queries: list[dict[str, Any]] = [
        {"query_id": q, "text": q, "groups": ["g"] if q == "q3" else None} for q in ("q1", "q2", "q3", "q4")
    ]
    given: dict[str, Any] = {
        "queries": queries,
        "documents": [{"doc_id": d} for d in "abx"] + [{"doc_id": "secret", "groups": ["staff"]}],
        "labels": [
            {"query_id": "q1", "doc_id": "a", "grade": 1},
            {"query_id": "q2", "doc_id": "b", "grade": 2},
            {"query_id": "q3", "no_answer": True},
            {"query_id": "q4", "no_answer": True},
        ],
        "runs": {"run": run},
    }
    return doubts(add_native(Store(folder / "none"), folder, Options(dry_run=True), **(given | parts)))


FULL: list[dict[str, Any]] = [
    {"query_id": "q1", "results": ["a"]},
    {"query_id": "q2", "results": ["x"]},
    {"query_id": "q3", "results": ["x"]},
    {"query_id": "q4", "results": ["x"]},
]


def test_a_reviewed_query_without_an_answer_is_no_doubt(tmp_path: Path) -> None:
    assert native(tmp_path / "f", FULL) == {}


def test_a_query_with_forbidden_evidence_alone_has_nothing_relevant(tmp_path: Path) -> None:
    labels = [
        {"query_id": "q1", "doc_id": "a", "grade": 1},
        {"query_id": "q2", "doc_id": "b", "grade": 2},
        {"query_id": "q3", "doc_id": "secret", "grade": 1},
        {"query_id": "q4", "no_answer": True},
    ]
    found = native(tmp_path / "f", FULL, labels=labels)
    assert list(found) == ["no_relevant_documents"]
    assert "1 labelled query has" in found["no_relevant_documents"][1]
    assert "(q3)" in found["no_relevant_documents"][1]


def test_a_query_without_any_judgement(tmp_path: Path) -> None:
    labels = [{"query_id": "q1", "doc_id": "a", "grade": 1}, {"query_id": "q2", "doc_id": "b", "grade": 2}]
    found = native(tmp_path / "f", FULL, labels=labels)
    assert found["query_without_judgements"][0] == 2
    assert "q3, q4" in found["query_without_judgements"][1]
    assert found["query_not_in_labels"][0] == 2
    assert len(found) == 2


def test_a_query_that_nothing_answers_does_not_count_as_0(store: Store, tmp_path: Path) -> None:
    labels = LABELS | {"q8": {"a": 0, "b": 0}, "q9": {"a": 0}}
    found = doubts(add_small(store, tmp_path, labels, {"one": {"q1": ["x", "a"]}}))
    said = "3 labelled queries are not in the run, of which 1 has an answer and counts as 0 (q2, q8, q9)"
    assert found["query_missing_from_run"] == (3, said)
    found = doubts(add_small(store, tmp_path, labels, {"two": {"q1": ["x", "a"], "q2": ["x"]}}))
    assert found["query_missing_from_run"][1] == (
        "2 labelled queries are not in the run; nothing answers them (q8, q9)"
    )
    assert native(tmp_path / "f", [*FULL[:3], {"query_id": "q4", "results": []}]) == {}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"results": []}, "empty_result_list"),
        ({"results": ["b"], "status": "error"}, "query_failed"),
        ({"results": [], "status": "timeout"}, "query_failed"),
    ],
)
def test_what_came_back_empty_or_failed(tmp_path: Path, line: dict[str, Any], kind: str) -> None:
    found = native(tmp_path / "f", [FULL[0], {"query_id": "q2"} | line, *FULL[2:]])
    assert {kind: num for kind, (num, _) in found.items()} == {kind: 1}


def test_a_run_that_failed_throughout_is_not_said_to_have_other_ids(tmp_path: Path) -> None:
    """Its partial results are not scored, and the ids are the labels'."""
    failed = [{"query_id": q, "results": ["a", "b"], "status": "error"} for q in ("q1", "q2", "q3", "q4")]
    assert {kind: num for kind, (num, _) in native(tmp_path / "f", failed).items()} == {"query_failed": 4}


def test_a_run_without_a_query_of_the_labels_is_refused(no_store: Store, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        add_small(no_store, tmp_path, LABELS, {"good": RUN, "other": {"Q-1": ["a"], "Q-2": ["a"]}})
    (fault,) = refused.value.report.faults
    assert fault.kind == "no_common_queries"
    assert fault.file.endswith("other.trec")
    assert '"Q-1"' in str(fault)
    assert '"q1"' in str(fault)
    assert not no_store.exists()
