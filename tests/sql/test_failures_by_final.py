"""Causes of failure where runs record different stages: what only that makes differ is no other cause."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from rankroom.store import Store
from small_stores import add_native, ask, kept_open

SHALLOW = """
stages = [
    {name = "lexical", position = 1, cut = 3},
    {name = "dense", position = 1, cut = 2},
    {name = "reranked", position = 2, cut = 4},
    {name = "final", position = 3},
    {name = "context", position = 4, cut = 2},
]
"""
RENUMBERED = SHALLOW.replace("position = 4", "position = 9").replace("position = 3", "position = 5")
ONE_BY_ONE = """
stages = [
    {name = "lexical", position = 1, cut = 3},
    {name = "dense", position = 2, cut = 2},
    {name = "reranked", position = 3, cut = 4},
    {name = "final", position = 4},
]
"""
DOCS = [f"d{i}" for i in range(9)]
SIZE = 80


def some(chance: random.Random, at_most: int) -> list[str]:
    return chance.sample(DOCS, chance.randint(0, at_most))


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One set of final rankings, recorded alone and behind stages; and another behind the same stages."""
    folder = tmp_path_factory.mktemp("stages")
    store, chance = Store(folder / "s.duckdb"), random.Random(11)
    graded = {f"q{i}": some(chance, 4) for i in range(SIZE)}
    labels: list[dict[str, Any]] = []
    for query, docs in graded.items():
        labels += [{"query_id": query, "doc_id": doc, "grade": 1} for doc in docs]
        labels += [] if docs else [{"query_id": query, "no_answer": True}]
    runs: dict[str, list[dict[str, Any]]] = {"flat": [], "staged": [], "one_by_one": [], "other": []}
    for query in graded:
        facts = {"query_id": query} | ({"abstained": True} if chance.random() < 0.1 else {})
        early = {name: some(chance, 6) for name in ("lexical", "dense", "reranked")}
        final, late = some(chance, 7), {"context": some(chance, 4)}
        runs["flat"].append(facts | {"results": final})
        runs["staged"].append(facts | {"stages": early | {"final": final} | late})
        runs["one_by_one"].append(facts | {"stages": early | {"final": final}})
        runs["other"].append(facts | {"stages": early | {"final": some(chance, 7)} | late})
    add_native(
        store,
        folder / "files",
        queries=[{"query_id": query} for query in graded],
        labels=labels,
        documents=[{"doc_id": doc} for doc in DOCS],
        runs=runs,
        about={"staged": SHALLOW, "one_by_one": ONE_BY_ONE, "other": RENUMBERED},
    )
    with kept_open(store) as opened:
        yield opened


def test_the_steps_before_the_final_one(room: Store) -> None:
    assert ask(room, "from steps_before_final order by run") == [
        ("flat", []),
        ("one_by_one", ["lexical", "dense", "reranked"]),
        ("other", ["dense + lexical", "reranked"]),
        ("staged", ["dense + lexical", "reranked"]),
    ]


@pytest.mark.parametrize("run", ["staged", "one_by_one"])
def test_by_the_final_ranking_a_run_with_stages_fails_as_one_without(room: Store, run: str) -> None:
    by_final = "select query_id, k, {} from failures where run = $r order by all"
    plain = ask(room, by_final.format("class"), r="flat")
    assert ask(room, by_final.format("class_by_final"), r=run) == plain
    assert ask(room, by_final.format("class_by_final"), r="flat") == plain
    assert ask(room, by_final.format("class"), r=run) != plain
    assert {"never_retrieved", "below_cutoff", "partial_evidence"} <= {name for *_, name in plain}


@pytest.mark.parametrize(("base", "cand"), [("flat", "staged"), ("staged", "flat"), ("staged", "one_by_one")])
def test_runs_that_rank_alike_fail_for_no_other_cause(room: Store, base: str, cand: str) -> None:
    changes = dict(
        ask(
            room,
            "select change, count(*) from failure_changes($b, $c, 3) group by change",
            b=base,
            c=cand,
        )
    )
    assert set(changes) == {"passes", "same"}
    differing = ask(
        room,
        "select count(*) from failure_changes($b, $c, 3) where baseline_class <> candidate_class",
        b=base,
        c=cand,
    )
    assert differing > [(0,)]


def test_what_differs_by_the_final_ranking_is_another_cause(room: Store) -> None:
    expected = ask(
        room,
        "select query_id, b.class_by_final <> c.class_by_final and b.class <> c.class from failures b"
        " join failures c using (query_id, k) where b.run = 'flat' and c.run = 'other' and k = 3"
        " order by query_id",
    )
    assert expected == ask(
        room,
        "select query_id, change = 'other cause' from failure_changes('flat', 'other', 3)"
        " where change in ('same', 'other cause') order by query_id",
    )
    assert {differs for _, differs in expected} == {True, False}


def test_with_the_same_stages_a_loss_at_another_is_another_cause(room: Store) -> None:
    rows = ask(
        room,
        "select baseline_class <> candidate_class, change = 'other cause'"
        " from failure_changes('staged', 'other', 3) where change in ('same', 'other cause')",
    )
    assert all(differs == other for differs, other in rows)
    assert ask(
        room,
        "select count(*) > 0 from failure_changes('staged', 'other', 3) where change = 'other cause'"
        " and (baseline_class like 'lost_at_%' or candidate_class like 'lost_at_%')",
    ) == [(True,)]
