"""Results, nothing, an error, a query left out, no answer, no labels: apart in every score and count."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rankroom.store import Store
from small_stores import add_native, add_small, ask, asked, kept_open

QUERIES: list[dict[str, Any]] = [
    {"query_id": "returned", "split": "dev"},
    {"query_id": "empty", "split": "dev"},
    {"query_id": "error", "split": "dev", "groups": []},
    {"query_id": "timeout", "split": "held_out", "groups": ["guests"]},
    {"query_id": "left_out", "split": "held_out"},
    {"query_id": "declined", "split": "held_out"},
    {"query_id": "leaked", "groups": ["guests"]},
    {"query_id": "forbidden", "groups": []},
    {"query_id": "no_answer", "split": "dev"},
    {"query_id": "no_answer_declined", "split": "dev"},
    {"query_id": "no_answer_empty", "split": "held_out"},
    {"query_id": "no_answer_error", "split": "held_out"},
    {"query_id": "no_answer_left_out"},
    {"query_id": "only_poor_labels"},
    {"query_id": "unlabelled", "split": "dev"},
    {"query_id": "unlabelled_left_out"},
]
ANSWERABLE = ["returned", "empty", "error", "timeout", "left_out", "declined", "leaked"]
NO_ANSWER = [
    "forbidden",
    "no_answer",
    "no_answer_declined",
    "no_answer_empty",
    "no_answer_error",
    "no_answer_left_out",
    "only_poor_labels",
]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("states")
    store = Store(folder / "s.duckdb")
    labels: list[dict[str, Any]] = [{"query_id": q, "doc_id": "a", "grade": 2} for q in ANSWERABLE]
    labels += [
        {"query_id": "returned", "doc_id": "b", "grade": 1},
        {"query_id": "leaked", "doc_id": "secret", "grade": 3},
        {"query_id": "forbidden", "doc_id": "secret", "grade": 1},
        {"query_id": "only_poor_labels", "doc_id": "a", "grade": 0},
        {"query_id": "only_poor_labels", "doc_id": "b", "grade": -1},
    ]
    labels += [{"query_id": q, "no_answer": True} for q in NO_ANSWER if q.startswith("no_answer")]
    everything = ["x", "a", "secret"]
    run: list[dict[str, Any]] = [
        {"query_id": "returned", "results": everything},
        {"query_id": "empty", "results": []},
        {"query_id": "error", "status": "error", "results": everything, "error": "connection reset"},
        {"query_id": "timeout", "status": "timeout", "results": everything},
        {"query_id": "declined", "results": everything, "abstained": True},
        {"query_id": "leaked", "results": ["secret", "a", "b"]},
        {"query_id": "forbidden", "results": everything},
        {"query_id": "no_answer", "results": everything},
        {"query_id": "no_answer_declined", "results": everything, "abstained": True},
        {"query_id": "no_answer_empty", "results": []},
        {"query_id": "no_answer_error", "status": "error", "results": []},
        {"query_id": "only_poor_labels", "results": everything},
        {"query_id": "unlabelled", "results": everything},
    ]
    add_native(
        store,
        folder / "files",
        queries=QUERIES,
        labels=labels,
        documents=[{"doc_id": d} for d in ("a", "b", "x")] + [{"doc_id": "secret", "groups": ["staff"]}],
        runs={"mixed": run},
    )
    with kept_open(store) as opened:
        yield opened


def row(room: Store, query: str, k: int = 3) -> dict[str, Any]:
    (found,) = asked(room, "from query_scores where query_id = $query and k = $k", query=query, k=k)
    return found


@pytest.mark.parametrize(
    ("query", "outcome", "abstained"),
    [
        ("returned", "returned", False),
        ("empty", "empty", True),
        ("error", "error", False),
        ("timeout", "timeout", False),
        ("left_out", "left_out", False),
        ("declined", "returned", True),
        ("no_answer", "returned", False),
        ("no_answer_declined", "returned", True),
        ("no_answer_empty", "empty", True),
        ("no_answer_error", "error", False),
        ("no_answer_left_out", "left_out", False),
    ],
)
def test_outcome_and_abstention(room: Store, query: str, outcome: str, abstained: bool) -> None:
    assert (row(room, query)["outcome"], row(room, query)["abstained"]) == (outcome, abstained)


@pytest.mark.parametrize("query", ["empty", "error", "timeout", "left_out"])
def test_what_brought_nothing_scores_zero_and_is_not_null(room: Store, query: str) -> None:
    found = row(room, query)
    for metric in (
        "hit",
        "complete",
        "recall",
        "precision",
        "f1",
        "rr",
        "ap",
        "dcg",
        "ndcg",
        "ndcg_exp",
        "found",
    ):
        assert found[metric] == 0, metric
    assert found["judged"] is None
    (whole,) = asked(room, "from query_scores_uncut where query_id = $query", query=query)
    assert [whole[m] for m in ("rr", "ap", "dcg", "ndcg", "r_precision")] == [0.0] * 5
    assert whole["first_relevant_rank"] is whole["unknown_because"] is None


@pytest.mark.parametrize("query", ["error", "timeout"])
def test_partial_results_are_kept_and_neither_scored_nor_leaks(room: Store, query: str) -> None:
    assert ask(room, "select doc_id from rankings where query_id = $q order by rank", q=query) == [
        ("x",),
        ("a",),
        ("secret",),
    ]
    assert ask(room, "select count(*) from labelled_ranks where query_id = $q", q=query) == [(0,)]
    assert row(room, query)["leaks"] == 0


@pytest.mark.parametrize("query", NO_ANSWER)
def test_no_answer_is_null_and_never_nan(room: Store, query: str) -> None:
    found = row(room, query)
    for metric in ("hit", "complete", "recall", "precision", "f1", "rr", "ap", "dcg", "ndcg", "ndcg_exp"):
        assert found[metric] is None, metric
    assert found["num_relevant"] == 0


def test_no_answer_has_its_leaks_and_its_judged_counted(room: Store) -> None:
    assert (row(room, "forbidden")["leaks"], row(room, "forbidden")["judged"]) == (1, pytest.approx(1 / 3))
    assert row(room, "no_answer")["judged"] == 0.0
    assert row(room, "only_poor_labels")["judged"] == pytest.approx(1 / 3)


def test_a_document_its_user_may_not_read_keeps_its_rank_and_counts_for_nothing(room: Store) -> None:
    found = row(room, "leaked")
    assert (found["num_relevant"], found["rr"], found["complete"], found["leaks"]) == (1, 0.5, 1, 1)
    assert found["ndcg"] == pytest.approx(1 / math.log2(3))  # the ideal has the readable label alone
    assert row(room, "leaked", k=1)["leaks"] == 1
    assert row(room, "returned")["leaks"] == 0  # permissions not tested


def test_unlabelled_queries_are_outside_every_score(room: Store) -> None:
    assert ask(room, "select count(*) from query_scores_all where query_id like 'unlabelled%'") == [(0,)]
    assert ask(room, "select query_id from unlabelled_queries order by query_id") == [
        ("unlabelled",),
        ("unlabelled_left_out",),
    ]


def test_summary_counts_every_state_apart(room: Store) -> None:
    (found,) = asked(room, "from run_summary where k = 3 and split = 'all'")
    counts = {
        name: found[name]
        for name in (
            "n", "num_queries", "left_out", "empty", "errored", "no_answer", "unlabelled", "missed", "leaks",
        )
    }  # fmt: skip
    assert counts == {
        "n": 7,
        "num_queries": 14,
        "left_out": 2,
        "empty": 2,
        "errored": 3,
        "no_answer": 7,
        "unlabelled": 2,
        "missed": 4,
        "leaks": 2,
    }
    # returned 1/2, declined 1, leaked 1, four zeros
    assert found["recall"] == pytest.approx((0.5 + 1 + 1) / 7)
    assert found["correct_abstention"] == pytest.approx(2 / 7)  # an error or a gap is not abstention
    assert found["false_abstention"] == pytest.approx(2 / 7)  # empty, declined


def test_summary_has_a_row_for_each_split_that_the_queries_name(room: Store) -> None:
    rows = ask(
        room,
        "select split, n, num_queries, left_out, empty, errored, no_answer, unlabelled from run_summary"
        " where k = 5 order by split",
    )
    assert rows == [
        ("all", 7, 14, 2, 2, 3, 7, 2),
        ("dev", 3, 5, 0, 1, 1, 2, 1),
        ("held_out", 3, 5, 1, 1, 2, 2, 0),
    ]


def test_no_value_anywhere_is_nan(room: Store) -> None:
    for view in (
        "query_scores_all",
        "query_scores_uncut_all",
        "run_summary_all",
        "run_summary_uncut",
        "slice_summary_all",
        "label_coverage",
    ):
        for found in asked(room, f"from {view}"):
            assert not [c for c, v in found.items() if isinstance(v, float) and not math.isfinite(v)], view


def test_a_slice_without_an_answerable_query_has_null_means_and_n_0(room: Store, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    add_native(
        store,
        tmp_path / "files",
        queries=[{"query_id": "q1", "category": "faq"}, {"query_id": "q2", "category": "none"}],
        labels=[{"query_id": "q1", "doc_id": "a", "grade": 1}, {"query_id": "q2", "no_answer": True}],
        runs={"r": [{"query_id": "q1", "results": ["a"]}, {"query_id": "q2", "results": ["a"]}]},
    )
    assert ask(
        store,
        "select slice, n, hit, ndcg, judged from slice_summary"
        " where k = 5 and dimension = 'category' order by slice",
    ) == [("faq", 1, 1.0, 1.0, 1.0), ("none", 0, None, None, 0.0)]


def test_ceilings(store: Store, tmp_path: Path) -> None:
    """What a perfect ranking would get: three relevant documents at k = 1, 3 and 5, one at any."""
    add_small(
        store,
        tmp_path,
        {"three": {"a": 1, "b": 1, "c": 2}, "one": {"a": 1}},
        {"perfect": {"three": ["c", "b", "a", "x", "y"], "one": ["a"]}},
    )
    rows = asked(store, "from run_summary where k in (1, 3, 5) order by k")
    for found in rows:
        for metric in ("precision", "recall", "complete", "f1", "ap"):
            assert found[f"{metric}_ceiling"] == pytest.approx(found[metric]), (metric, found["k"])
    assert [r["precision_ceiling"] for r in rows] == pytest.approx([1, 2 / 3, 0.4])
    assert [r["recall_ceiling"] for r in rows] == pytest.approx([2 / 3, 1, 1])
    assert [r["complete_ceiling"] for r in rows] == pytest.approx([0.5, 1, 1])


def test_public_views_hold_the_final_stage_and_the_current_labels(store: Store, tmp_path: Path) -> None:
    queries = [{"query_id": "q", "category": "faq"}]
    run = [{"query_id": "q", "stages": {"candidates": ["x", "a"], "final": ["a"]}}]
    for revision, doc in (("1", "a"), ("2", "x")):
        add_native(
            store,
            tmp_path / revision,
            dataset=f'name = "n"\n[labels]\nrevision = "{revision}"\n',
            queries=queries,
            labels=[{"query_id": "q", "doc_id": doc, "grade": 1}],
            runs={"r": run},
        )
    for view, metric in (("query_scores", "rr"), ("query_scores_uncut", "rr"), ("run_summary", "rr")):
        k = "" if view.endswith("uncut") else "where k = 5"
        more = f"select distinct stage, label_set, {metric} from {view}{{}} {k} order by stage, label_set"
        assert ask(store, more.format("")) == [("final", "n@2", 0.0)]
        assert ask(store, more.format("_all")) == [
            ("candidates", "n@1", 0.5),
            ("candidates", "n@2", 1.0),
            ("final", "n@1", 1.0),
            ("final", "n@2", 0.0),
        ]
    assert ask(store, "select distinct label_set from slice_summary") == [("n@2",)]
    assert ask(store, "select distinct label_set, stage from label_coverage") == [("n@2", "final")]
