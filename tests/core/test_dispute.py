"""What a disputed label would change is what a new revision of the labels does change."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from rankroom.dispute import dispute_effect
from rankroom.errors import UsageError
from rankroom.store import Store
from small_stores import add_native, asked, kept_open

LABELS: dict[str, dict[str, int]] = {
    "q": {"a": 2, "b": 1, "secret": 3},
    "one": {"a": 1},
    "none": {},
    "other": {"b": 3, "a": 0},
}
RUNS = {
    "first": {"q": ["x", "a", "secret", "b"], "one": ["x", "a"], "none": ["a"], "other": ["a", "b"]},
    "second": {"q": ["b", "y"], "one": ["a"], "none": [], "other": ["x"], "extra": ["a"]},
    "third": {"one": ["x", "y", "z", "a"]},
}
DISPUTES: list[tuple[str, str, int | None]] = [
    ("q", "a", None),
    ("q", "x", 3),
    ("one", "a", None),
    ("none", "a", 1),
    ("other", "b", -1),
]


def lines(labels: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    graded = [{"query_id": q, "doc_id": d, "grade": g} for q, docs in labels.items() for d, g in docs.items()]
    return graded + [{"query_id": "none", "no_answer": True}] * (not labels.get("none"))


def parts(labels: dict[str, dict[str, int]], revision: int) -> dict[str, Any]:
    return {
        "queries": [{"query_id": q, "groups": ["guests"] if q == "q" else None} for q in (*LABELS, "extra")],
        "labels": lines(labels),
        "documents": [{"doc_id": d} for d in "abxyz"] + [{"doc_id": "secret", "groups": ["staff"]}],
        "dataset": f'name = "native"\n[labels]\nrevision = "{revision}"\n',
    }


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The labels as they are, and a revision for each dispute."""
    folder = tmp_path_factory.mktemp("dispute")
    store = Store(folder / "s.duckdb")
    runs = {
        run: [{"query_id": q, "results": docs} for q, docs in answers.items()]
        for run, answers in RUNS.items()
    }
    runs["second"][1]["status"] = "error"
    for revision in range(len(DISPUTES) + 1):
        labels = deepcopy(LABELS)
        if revision:
            query, doc, grade = DISPUTES[revision - 1]
            labels[query].pop(doc, None)
            if grade is not None:
                labels[query][doc] = grade
        of_labels = parts({query: docs for query, docs in labels.items() if docs}, revision)
        add_native(store, folder / str(revision), **of_labels, runs=runs)
    with kept_open(store) as opened:
        yield opened


def scores(room: Store, revision: int, query: str) -> dict[str, dict[str, Any]]:
    found = asked(
        room,
        "select *, fails(s) as fails from query_scores_all s"
        " where label_set = $l and query_id = $q and k = 3",
        l=f"native@{revision}",
        q=query,
    )
    return {row["run"]: row for row in found}


@pytest.mark.parametrize("revision", range(1, len(DISPUTES) + 1))
def test_it_is_what_a_revision_of_the_labels_does(room: Store, revision: int) -> None:
    query, doc, grade = DISPUTES[revision - 1]
    before, after = scores(room, 0, query), scores(room, revision, query)
    means = asked(
        room, "from run_summary_all where split = 'all' and k = 3 and label_set = $l", l=f"native@{revision}"
    )
    of_run = {row["run"]: row for row in means}
    effects = dispute_effect(room, "native@0", query, doc, grade, k=3)
    assert [effect.run for effect in effects] == sorted(RUNS)
    for effect in effects:
        for side, expected in ((effect.before, before), (effect.after, after)):
            if side is None:
                assert effect.run not in expected
            else:
                assert side == pytest.approx({name: expected[effect.run][name] for name in side})
        assert effect.mean_after == pytest.approx(
            {name: of_run[effect.run][name] for name in effect.mean_after or {}}
        )


def test_an_unlabelled_query_has_nothing_before(room: Store) -> None:
    (effect,) = dispute_effect(room, "native@0", "extra", "a", 1, runs=["second"])
    assert effect.before is None
    assert effect.after is not None
    assert (effect.after["hit"], effect.after["fails"]) == (1, False)
    assert effect.mean_after is not None
    assert effect.mean_after["n"] == effect.mean_before["n"] + 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"label_set": "gone"}, "there is no label set gone in"),
        ({"query": "gone"}, "there is no query gone in native@0 of"),
        ({"runs": ["gone"]}, "there is no run named gone with scores under native@0"),
        ({"k": 4}, "k = 4 is not among the cutoffs of"),
        ({"grade": 99}, "a grade is from -30 to 30"),
    ],
)
def test_what_is_not_there_is_refused(room: Store, changes: dict[str, Any], sentence: str) -> None:
    asked_for: dict[str, Any] = {"label_set": "native@0", "query": "q", "doc": "a", "grade": 1} | changes
    with pytest.raises(UsageError, match=sentence):
        dispute_effect(room, **asked_for)
