"""Failures counted: by class and slice, between two runs, and at each step of the pipeline."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from rankroom.store import Store
from small_stores import add_native, ask, asked, kept_open

STAGES = """
stages = [
    {name = "lexical", position = 1, cut = 3},
    {name = "dense", position = 1, cut = 2},
    {name = "reranked", position = 2, cut = 4},
    {name = "final", position = 3},
    {name = "context", position = 4, cut = 2},
]
"""
DOCS = [f"d{i}" for i in range(9)]
CATEGORIES = ("how_to", "factual", None)
SIZE = 60


def some(chance: random.Random, at_most: int) -> list[str]:
    return chance.sample(DOCS, chance.randint(0, at_most))


def line(chance: random.Random, query: int, *, staged: bool) -> dict[str, Any]:
    """One query of a made-up run: mostly fine, at times failed, declined, or empty."""
    stages = {"lexical": 6, "dense": 6, "reranked": 6, "final": 6, "context": 4}
    ranked = {name: some(chance, deep) for name, deep in stages.items()}
    facts: dict[str, Any] = {"query_id": f"q{query}"}
    facts |= {"stages": ranked} if staged else {"results": ranked["final"]}
    if chance.random() < 0.1:
        facts |= {"status": chance.choice(["error", "timeout"])}
    elif chance.random() < 0.15:
        facts |= {"abstained": True}
    facts["answer_scores"] = {"faithful": chance.random()}
    return facts


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two runs of made-up rankings, one with stages; queries may be left out, or have no answer."""
    folder = tmp_path_factory.mktemp("counts")
    store, chance = Store(folder / "s.duckdb"), random.Random(3)
    queries = [
        {
            "query_id": f"q{i}",
            "category": CATEGORIES[i % 3],
            "split": "dev" if i % 4 else "held_out",
            "groups": ["guests"] if i % 5 == 0 else None,
        }
        for i in range(SIZE)
    ]
    labels: list[dict[str, Any]] = []
    for i in range(SIZE):
        graded = some(chance, 4)
        labels += [{"query_id": f"q{i}", "doc_id": doc, "grade": chance.randint(0, 2)} for doc in graded]
        labels += [] if graded else [{"query_id": f"q{i}", "no_answer": True}]
    runs = {
        name: [line(chance, i, staged=name == "staged") for i in range(SIZE) if i % 10 != 3]
        for name in ("plain", "staged")
    }
    add_native(
        store,
        folder / "files",
        queries=queries,
        labels=labels,
        documents=[{"doc_id": doc, "groups": ["staff"] if doc < "d2" else None} for doc in DOCS],
        runs=runs,
        about={"staged": STAGES},
    )
    with kept_open(store) as opened:
        yield opened


def test_what_fails_has_one_first_class_and_nothing_else_has_any(room: Store) -> None:
    """The classes partition the queries that fail: `fails` and the view agree on each."""
    failing = "select run, query_id, k from query_scores s where fails(s)"
    assert sorted(ask(room, failing)) == sorted(ask(room, "select run, query_id, k from failures"))
    assert ask(room, "from failures where class is null or fact is null or list_contains(also, class)") == []
    assert ask(room, "select count(distinct class) > 8 from failures") == [(True,)]
    assert ask(room, "from failures_all except from failures") == []


@pytest.mark.parametrize("run", ["plain", "staged"])
def test_counts_by_class_are_those_of_the_list(room: Store, run: str) -> None:
    listed = dict(
        ask(room, "select class, count(*) from failures where run = $r and k = 3 group by class", r=run)
    )
    rows = asked(room, "from failure_classes($r, 3)", r=run)
    assert {row["class"]: row["num_failing"] for row in rows if row["num_failing"]} == listed
    assert {row["num_queries"] for row in rows} == {SIZE}
    also = "select unnest(also) as name, 1 as one from failures where run = $r and k = 3"
    assert {row["class"]: row["num_also"] for row in rows if row["num_also"]} == dict(
        ask(room, f"select name, count(*) from ({also}) group by name", r=run)
    )


def test_slices_and_splits_add_up(room: Store) -> None:
    total = dict(ask(room, "select class, num_failing from failure_classes('staged', 3)"))
    sliced = "failure_classes('staged', 3, sliced_by := 'category')"
    assert dict(ask(room, f"select class, sum(num_failing) from {sliced} group by class")) == total
    slices = {slice_ for (slice_,) in ask(room, f"select slice from {sliced}")}
    assert slices == {"how_to", "factual", "(none)"}
    parts = [
        dict(ask(room, f"select class, num_failing from failure_classes('staged', 3, in_split := '{split}')"))
        for split in ("dev", "held_out")
    ]
    assert {name: sum(part.get(name, 0) for part in parts) for name in total} == total


def test_which_class_turned_into_which(room: Store) -> None:
    rows = asked(room, "from failure_changes('plain', 'staged', 3)")
    assert len(rows) == SIZE
    for run, side in (("plain", "baseline"), ("staged", "candidate")):
        listed = dict(ask(room, "select query_id, class from failures where run = $r and k = 3", r=run))
        assert {
            row["query_id"]: row[f"{side}_class"] for row in rows if row[f"{side}_class"] != "not failing"
        } == listed
        assert all((row[f"{side}_fact"] is None) == (row["query_id"] not in listed) for row in rows)
    by_final = {
        run: dict(ask(room, "select query_id, class_by_final from failures where run = $r and k = 3", r=run))
        for run in ("plain", "staged")
    }
    for row in rows:
        alike = by_final["plain"].get(row["query_id"]) == by_final["staged"].get(row["query_id"])
        was, now = row["baseline_class"], row["candidate_class"]
        assert row["change"] == (
            ("passes" if was == "not failing" else "same")
            if was == now
            else "broke"
            if was == "not failing"
            else "mended"
            if now == "not failing"
            else "same"
            if alike
            else "other cause"
        )
    mirrored = {"broke": "mended", "mended": "broke"}
    back = asked(room, "from failure_changes('staged', 'plain', 3)")
    assert sorted((row["query_id"], row["change"]) for row in back) == sorted(
        (row["query_id"], mirrored.get(row["change"], row["change"])) for row in rows
    )


@pytest.mark.parametrize("k", [1, 3, 5])
def test_what_a_step_passes_on_is_what_came_less_what_it_lost(room: Store, k: int) -> None:
    rows = asked(room, "from stage_funnel where run = 'staged' and k = $k order by position", k=k)
    assert [row["stage"] for row in rows] == ["dense + lexical", "reranked", "final", "context"]
    came = rows[0]["num_relevant"]
    for row in rows:
        assert row["passed_on"] == came - row["lost"] + row["came_back"]
        came = row["passed_on"]
    losses = ask(
        room, "select stage, count(*) from lost_evidence where run = 'staged' and k = $k group by stage", k=k
    )
    assert dict(losses) == {row["stage"]: row["lost"] for row in rows if row["lost"]}
    whole = asked(room, "from stage_funnel_by('staged', $k) order by position", k=k)
    counts = ("num_relevant", "present", "passed_on", "lost", "came_back")
    assert [tuple(row[name] for name in counts) for row in whole] == [
        tuple(row[name] for name in counts) for row in rows
    ]
    by = asked(
        room,
        "select position, sum(num_relevant) as num_relevant, sum(present) as present,"
        " sum(passed_on) as passed_on, sum(lost) as lost, sum(came_back) as came_back"
        " from stage_funnel_by('staged', $k, sliced_by := 'category') group by position order by position",
        k=k,
    )
    assert [tuple(row[name] for name in counts) for row in by] == [
        tuple(row[name] for name in counts) for row in rows
    ]


def test_what_the_final_stage_passes_on_is_what_recall_counts(room: Store) -> None:
    for run in ("plain", "staged"):
        ((found, passed_on),) = ask(
            room,
            "select (select sum(found) from query_scores where run = $r and k = 3),"
            " (select passed_on from stage_funnel where run = $r and k = 3 and stage = 'final')",
            r=run,
        )
        assert found == passed_on


def test_how_evidence_was_lost(room: Store) -> None:
    rows = asked(
        room, "select l.*, u.outcome from lost_evidence l join query_scores_uncut u using (run, query_id)"
    )
    assert {row["how"] for row in rows} == {"not_retrieved", "dropped", "beyond_cut", "error", "not_run"}
    for row in rows:
        assert (row["how"] == "not_run") == (row["outcome"] == "left_out")
        assert (row["how"] == "error") == (row["outcome"] in ("error", "timeout"))
        assert (row["how"] == "beyond_cut") == (row["rank"] is not None)


def test_abstention_has_its_two_denominators(room: Store) -> None:
    for row in asked(room, "from abstention where run = 'staged'"):
        scores = "from query_scores s join queries q using (query_id) where run = 'staged' and k = 1"
        split = "" if row["split"] == "all" else f" and q.split = '{row['split']}'"
        ((no_answer, right, answerable, wrong),) = ask(
            room,
            "select count(*) filter (num_relevant = 0), avg(abstained::int) filter (num_relevant = 0),"
            " count(*) filter (num_relevant > 0), avg(abstained::int) filter (num_relevant > 0)"
            f" {scores}{split}",
        )
        assert (row["no_answer"], row["answerable"]) == (no_answer, answerable)
        assert row["correct_abstention"] == pytest.approx(right)
        assert row["false_abstention"] == pytest.approx(wrong)


def test_an_answerable_query_that_was_declined_fails_and_one_without_answer_does_not(room: Store) -> None:
    where = "where run = 'plain' and k = 3"
    failing = {
        query: [first, *also]
        for query, first, also in ask(room, f"select query_id, class, also from failures {where}")
    }
    declined = f"select query_id, num_relevant, leaks from query_scores {where} and abstained"
    for query, num_relevant, leaks in ask(room, declined):
        if num_relevant:
            assert "false_abstention" in failing[query]
        else:
            assert failing.get(query, []) == (["leak"] if leaks else [])


def test_answers_by_evidence(room: Store) -> None:
    rows = asked(room, "from answers_by_evidence where run = 'plain' and k = 3")
    assert {row["evidence"] for row in rows} == {"complete", "partial", "missing", "no_answer"}
    assert (
        sum(row["num_answers"] for row in rows)
        == ask(
            room,
            "select count(*) from answer_scores join query_scores using (run, query_id)"
            " where run = 'plain' and k = 3",
        )[0][0]
    )
    (partial,) = (row for row in rows if row["evidence"] == "partial")
    assert partial["mean"] == pytest.approx(
        ask(
            room,
            "select avg(value) from answer_scores join query_scores using (run, query_id)"
            " where run = 'plain' and k = 3 and hit = 1 and complete = 0",
        )[0][0]
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("failure_classes('gone', 3)", "no run named gone"),
        ("failure_classes('plain', 4)", "k = 4 is not among the cutoffs"),
        ("failure_classes('plain', 3, sliced_by := 'gone')", "nothing to slice by under the name gone"),
        ("failure_classes('plain', 3, in_split := 'gone')", "no query is in a split named gone"),
        ("failure_changes('plain', 'gone', 3)", "no run named gone"),
        ("failure_changes('plain', 'staged', 3, label_set := 'gone')", "no label set named gone"),
        ("stage_funnel_by('gone', 3)", "no run named gone"),
        ("noted_queries('gone', 3)", "no run named gone"),
    ],
)
def test_what_is_not_there_raises_an_error(room: Store, call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error, match=sentence):
        ask(room, f"from {call}")
