"""What a change of the labels did to the means: over the queries that have an answer under both revisions."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import duckdb
import pytest
import two_revisions
from rankroom.comparison import compare
from rankroom.rescore import rescore
from rankroom.store import Store
from small_stores import add_small, ask, asked, kept_open


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    place = tmp_path_factory.mktemp("desk")
    store = two_revisions.fill(Store(place / "s.duckdb"), place)
    add_small(store, place / "other", {"q": {"a": 1}}, {}, dataset="other")
    with kept_open(store):
        yield store


def effects(store: Store, *, split: str = "dev", metric: str = "ndcg") -> dict[str, dict[str, Any]]:
    """One metric's row of every run."""
    rows = asked(
        store,
        "from label_effects('desk@1', 'desk@2', 5, in_split := $split) where metric = $metric",
        split=split,
        metric=metric,
    )
    return {row["run"]: row for row in rows}


def test_a_query_that_gained_its_answer_is_in_no_difference(desk: Store) -> None:
    by_means = ask(
        desk,
        "select run, new.ndcg - old.ndcg from run_summary as new join run_summary_all as old"
        " using (run, stage, k, split) where old.label_set = 'desk@1' and k = 5 and split = 'dev'",
    )
    assert {run: moved > 0 for run, moved in by_means} == {"near": False, "far": True}
    found = effects(desk)
    assert found["near"]["difference"] == pytest.approx((1 - 1 / log2(3)) / 2)
    assert found["near"]["earlier"] == pytest.approx((1 / log2(3) + 1) / 2)
    assert found["near"]["later"] == pytest.approx(1)
    assert found["far"]["difference"] == pytest.approx(0)
    for row in found.values():
        assert (row["n"], row["only_earlier"], row["only_later"]) == (2, 0, 1)


@pytest.mark.parametrize("split", ["dev", "heldout", "all"])
@pytest.mark.parametrize("run", ["near", "far"])
def test_compare_says_the_same(desk: Store, run: str, split: str) -> None:
    with desk.read() as con:
        compared = compare(con, run, run, k=5, baseline_labels="desk@1", split=split)
    assert {row.metric for row in compared.metrics} == {
        name for (name,) in ask(desk, "select metric from label_effects('desk@1', 'desk@2', 5)")
    }
    for one in compared.metrics:
        row = effects(desk, split=split, metric=one.metric)[run]
        assert row["n"] == compared.n
        assert (row["earlier"], row["later"]) == pytest.approx((one.baseline, one.candidate))
        assert row["difference"] == pytest.approx(one.difference)


def test_the_other_way_round(desk: Store) -> None:
    there = asked(desk, "from label_effects('desk@1', 'desk@2', 5) order by run, metric")
    back = asked(desk, "from label_effects('desk@2', 'desk@1', 5) order by run, metric")
    assert there
    for one, other in zip(there, back, strict=True):
        assert one["difference"] == pytest.approx(-other["difference"])
        assert (one["n"], one["only_earlier"], one["only_later"]) == (3, 1, 1)
        assert (other["only_earlier"], other["only_later"]) == (1, 1)


def test_nothing_moves_from_labels_to_themselves(desk: Store) -> None:
    rows = ask(
        desk,
        "select distinct difference, n, only_earlier, only_later from label_effects('desk@2', 'desk@2', 5)",
    )
    assert rows == [(0, 4, 0, 0)]


def test_a_run_without_scores_under_one_of_them_has_no_row(store: Store, tmp_path: Path) -> None:
    add_small(store, tmp_path, {"q1": {"a": 1}}, {"old": {"q1": ["a"]}})
    add_small(store, tmp_path, {"q1": {"b": 1}}, {}, revision="2")
    add_small(store, tmp_path, {"q1": {"b": 1}}, {"new": {"q1": ["b"]}}, revision="2")
    assert ask(store, "select run, label_set from scorings order by run") == [
        ("new", "small@2"),
        ("old", "small@1"),
    ]
    assert ask(store, "from label_effects('small@1', 'small@2', 5)") == []


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ({"q1": {"a": 0}, "q2": {"b": 1}}, ("r", None, None, None, 0, 1, 1)),
        ({"q1": {"a": 0}, "q2": {"b": 0}}, ("r", None, None, None, 0, 1, 0)),
    ],
)
def test_no_query_in_common(
    store: Store, tmp_path: Path, later: dict[str, dict[str, int]], expected: tuple[object, ...]
) -> None:
    """A run keeps its rows, so that it can be said why it has no difference."""
    add_small(store, tmp_path, {"q1": {"a": 1}, "q2": {"b": 0}}, {"r": {"q1": ["a"], "q2": ["b"]}})
    add_small(store, tmp_path, later, {}, revision="2")
    rescore(store)
    rows = ask(
        store,
        "select distinct run, earlier, later, difference, n, only_earlier, only_later"
        " from label_effects('small@1', 'small@2', 5)",
    )
    assert rows == [expected]


def test_no_query_has_an_answer(store: Store, tmp_path: Path) -> None:
    add_small(store, tmp_path, {"q1": {"a": 0}}, {"r": {"q1": ["a"]}})
    rows = ask(
        store, "select distinct run, n, only_earlier, difference from label_effects('small@1', 'small@1', 5)"
    )
    assert rows == [("r", 0, 0, None)]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("label_effects('desk@1', 'nope@1', 5)", "there is no label set named nope@1"),
        ("label_effects(null, 'desk@1', 5)", "there is no label set named NULL"),
        ("label_effects('desk@1', 'other@1', 5)", "different query sets"),
        ("label_effects('desk@1', 'desk@2', 7)", "k = 7 is not among the cutoffs"),
        ("label_effects('desk@1', 'desk@2', 5, in_split := 'x')", "no query is in a split named x"),
        ("label_effects('desk@1', 'desk@2', 5, stage := 'x')", "no run has a stage named x"),
        ("compared_label_sets('desk@1', 'other@1')", "different query sets"),
    ],
)
def test_asked_for_what_is_not_there(desk: Store, call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error, match=sentence):
        ask(desk, f"from {call}")


def test_what_became_relevant_is_counted_as_the_dictionary_says(desk: Store) -> None:
    ((said,),) = ask(
        desk,
        "select sentence from data_dictionary where name = 'label_changes' and column_name = 'is_relevant'",
    )
    rule = "is_relevant and was_relevant is not true"
    assert rule in said
    assert ask(
        desk, f"select query_id, doc_id from label_changes('desk@1', 'desk@2') where {rule} order by all"
    ) == [("gained", "c"), ("more", "x")]
