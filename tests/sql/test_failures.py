"""Why a query failed, and where in the pipeline its evidence went: hand-written, with a query per class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rankroom.add import Options
from rankroom.errors import UsageError
from rankroom.explain import as_text, explanation
from rankroom.failing import failures_report
from rankroom.rescore import rescore
from rankroom.store import Store
from small_stores import add_native, add_small, ask, asked, kept_open

STAGES = """
stages = [
    {name = "lexical", position = 1, cut = 4},
    {name = "dense", position = 1, cut = 4},
    {name = "fused", position = 2, cut = 3},
    {name = "reranked", position = 3},
    {name = "final", position = 4},
    {name = "context", position = 5},
]
"""
EXPECTED = {
    "found": None,
    "not_run": "not_run",
    "error": "error",
    "timeout": "error",
    "empty": "empty",
    "never_retrieved": "never_retrieved",
    "below_cut_of_the_first": "below_cutoff",
    "declined": "false_abstention",
    "partial": "partial_evidence",
    "lost_at_fused": "lost_at_fused",
    "beyond_the_cut_of_fused": "lost_at_fused",
    "lost_at_reranked": "lost_at_reranked",
    "lost_at_final": "lost_at_final",
    "below_k_at_the_end": "lost_at_final",
    "lost_twice": "lost_at_reranked",
    "lost_and_back": "partial_evidence",
    "only_not_in_context": None,
    "forbidden_only": "forbidden_only",
    "forbidden_declined": None,
    "leak": "leak",
    "false_answer": "false_answer",
    "rightly_declined": None,
    "rightly_empty": None,
    "no_answer_leak": "false_answer",
}
GROUPS = {"forbidden_only": ["guest"], "forbidden_declined": [], "leak": ["guest"], "no_answer_leak": []}
TWO = {"partial", "lost_twice", "lost_and_back"}
NO_ANSWER = {"false_answer", "rightly_declined", "rightly_empty", "no_answer_leak"}
FILL = [f"x{i}" for i in range(9)]


def through(
    lexical: list[str], dense: list[str], fused: list[str], reranked: list[str], final: list[str]
) -> Any:
    return {
        "stages": {
            "lexical": lexical,
            "dense": dense,
            "fused": fused,
            "reranked": reranked,
            "final": final,
            "context": final[:2],
        }
    }


def same(*docs: str) -> Any:
    return through(*([*docs],) * 5)


LINES: dict[str, Any] = {
    "found": same("a"),
    "error": same("a") | {"status": "error", "error": "index is gone"},
    "timeout": same("a") | {"status": "timeout"},
    "empty": through(["a"], ["a"], ["a"], ["a"], []),
    "never_retrieved": same("x1", "x2"),
    "below_cut_of_the_first": through([*FILL[:4], "a"], FILL[:2], ["x0"], ["x0"], ["x0"]),
    "declined": same("a") | {"abstained": True},
    "partial": through(["a"], ["x1"], ["a"], ["a"], ["a"]),
    # in one of the two stages at the first position is enough
    "lost_at_fused": through(["x1"], ["a"], ["x1"], ["x1"], ["x1"]),
    "beyond_the_cut_of_fused": through(["a"], ["x1"], [*FILL[:3], "a"], ["x1"], ["x1"]),
    "lost_at_reranked": through(["a"], ["x1"], ["a"], ["x1"], ["x1"]),
    "lost_at_final": through(["a"], ["a"], ["a"], ["a"], ["x1"]),
    "below_k_at_the_end": through(["a"], ["a"], ["a"], ["a"], [*FILL[:6], "a"]),
    # b goes at reranked, a at final
    "lost_twice": through(["a", "b"], ["x1"], ["a", "b"], ["a"], ["x1"]),
    # fused lost a, and it came back; b was never there
    "lost_and_back": through(["a"], ["x1"], ["x1"], ["a"], ["a"]),
    "only_not_in_context": through(["a"], ["a"], ["a"], ["a"], ["x1", "x2", "a"]),
    "forbidden_only": same("x1", "secret"),
    "forbidden_declined": same("x1") | {"abstained": True},
    "leak": same("a", "secret"),
    "false_answer": same("x1"),
    "rightly_declined": same("x1") | {"abstained": True},
    "rightly_empty": same(),
    "no_answer_leak": same("secret"),
}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("failures")
    store = Store(folder / "s.duckdb")
    labels: list[dict[str, Any]] = []
    for query in EXPECTED:
        if query in NO_ANSWER:
            labels.append({"query_id": query, "no_answer": True})
        elif query.startswith("forbidden"):
            labels.append({"query_id": query, "doc_id": "secret", "grade": 1})
        else:
            docs = ["a", "b"] if query in TWO else ["a"]
            labels += [{"query_id": query, "doc_id": doc, "grade": 1} for doc in docs]
    labels.append({"query_id": "never_retrieved", "doc_id": "x1", "grade": 0})
    add_native(
        store,
        folder / "files",
        queries=[{"query_id": q, "groups": GROUPS.get(q)} for q in EXPECTED],
        labels=labels,
        documents=[{"doc_id": d} for d in ("a", "b", *FILL)] + [{"doc_id": "secret", "groups": ["staff"]}],
        runs={"staged": [{"query_id": q} | line for q, line in LINES.items()]},
        about={"staged": STAGES},
    )
    with kept_open(store) as opened:
        yield opened


def failure(room: Store, query: str, k: int = 5) -> dict[str, Any]:
    (found,) = asked(room, "from failures where query_id = $q and k = $k", q=query, k=k)
    return found


def test_every_failing_query_has_its_class_and_no_other_is_there(room: Store) -> None:
    found = dict(ask(room, "select query_id, class from failures where k = 5"))
    assert found == {query: cause for query, cause in EXPECTED.items() if cause}


@pytest.mark.parametrize(
    ("query", "also", "fact"),
    [
        ("error", [], "error: index is gone"),
        ("timeout", [], "timeout"),
        ("never_retrieved", [], "no relevant document among 2 results"),
        (
            "below_cut_of_the_first",
            ["unjudged_on_top"],
            "an early stage has a relevant document, below its own cut",
        ),
        ("partial", [], "1 of 2 relevant documents in the first 5"),
        ("below_k_at_the_end", ["below_cutoff", "unjudged_on_top"], "beyond k = 5"),
        ("lost_twice", ["unjudged_on_top"], "which the step before had passed on"),
        ("beyond_the_cut_of_fused", ["unjudged_on_top"], "fused has a at rank 4, beyond its own cut"),
        ("no_answer_leak", ["leak"], "nothing answers it"),
        ("forbidden_only", ["leak"], "may read none of the evidence"),
        ("leak", [], "1 of the first 5 results"),
    ],
)
def test_what_else_applies_and_the_fact_that_shows_it(
    room: Store, query: str, also: list[str], fact: str
) -> None:
    found = failure(room, query)
    assert found["also"] == also
    assert fact in found["fact"]


def test_the_most_frequent_cause_comes_first(room: Store) -> None:
    classes = [row["class"] for row in failures_report(room, "staged")["failures"]]
    assert [classes.count(one) for one in classes] == sorted(map(classes.count, classes), reverse=True)
    assert len(set(classes)) > 2


def test_only_what_can_be_a_cause_can_be_asked_for(room: Store) -> None:
    listed = failures_report(room, "staged", classes=["lost_at_fused"])["failures"]
    assert [row["query_id"] for row in listed] == ["beyond_the_cut_of_fused", "lost_at_fused"]
    with pytest.raises(UsageError, match="there is no class lost_at_context of failures"):
        failures_report(room, "staged", classes=["lost_at_context"])  # it comes after what the cutoff decides


def test_what_is_missing(room: Store) -> None:
    assert failure(room, "partial")["missing"] == ["b"]
    assert failure(room, "lost_twice")["missing"] == ["a", "b"]
    assert failure(room, "leak")["missing"] == []
    assert failure(room, "forbidden_only")["missing"] == []


def test_the_cutoff_decides_what_the_final_stage_lost(room: Store) -> None:
    rows = "select k, class, first_relevant_rank from failures where query_id = $q order by k"
    assert ask(room, rows, q="below_k_at_the_end") == [(k, "lost_at_final", 7) for k in (1, 3, 5)]
    assert ask(room, rows, q="only_not_in_context") == [(1, "lost_at_final", 3)]
    assert ask(room, rows, q="leak") == [(k, "leak", 1) for k in (3, 5, 10, 20, 50, 100)]


def test_evidence_ranks_are_the_way_of_each_document(room: Store) -> None:
    rows = ask(
        room,
        "select doc_id, position, stage, rank from evidence_ranks where query_id = 'lost_twice'"
        " order by doc_id, position, stage",
    )
    stages = [(1, "dense"), (1, "lexical"), (2, "fused"), (3, "reranked"), (4, "final"), (5, "context")]
    ranks = {(doc, stage): rank for stage in ("lexical", "fused") for doc, rank in (("a", 1), ("b", 2))}
    ranks["a", "reranked"] = 1
    assert rows == [(doc, at, stage, ranks.get((doc, stage))) for doc in "ab" for at, stage in stages]
    assert ask(room, "select count(*) from evidence_ranks where doc_id = 'secret'") == [(0,)]


def test_the_funnel_counts_what_each_step_holds_and_passes_on(room: Store) -> None:
    rows = asked(room, "from stage_funnel where k = 5 order by position")
    assert [row["stage"] for row in rows] == ["dense + lexical", "fused", "reranked", "final", "context"]
    answerable = [q for q in EXPECTED if q not in NO_ANSWER and not q.startswith("forbidden")]
    assert {row["num_relevant"] for row in rows} == {len(answerable) + len(TWO)}
    scored = {q: line for q, line in LINES.items() if q in answerable and "status" not in line}

    def present(*stages: str, cut: int | None = None) -> int:
        return sum(
            any(doc in line["stages"][stage][:cut] for stage in stages)
            for query, line in scored.items()
            for doc in (["a", "b"] if query in TWO else ["a"])
        )

    assert [row["present"] for row in rows] == [
        present("dense", "lexical"),
        present("fused"),
        present("reranked"),
        present("final"),
        present("context"),
    ]
    assert [row["passed_on"] for row in rows] == [
        present("dense", "lexical", cut=4),
        present("fused", cut=3),
        present("reranked"),
        present("final", cut=5),
        present("context"),
    ]
    assert ask(room, "select passed_on from stage_funnel where k = 1 and stage = 'final'") == [
        (present("final", cut=1),)
    ]


# Runs without declared stages


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("plain")
    store = Store(folder / "s.duckdb")
    deep = [f"x{i}" for i in range(120)]
    labels = {q: {"a": 1, "poor": 0} for q in ("top", "below", "never", "left_out", "beyond")}
    labels |= {"pair": {"a": 1, "b": 1}, "poor_only": {"poor": 0}, "judged_top": {"a": 1, "x0": 0}}
    run = {
        "top": ["a"],
        "below": [*deep[:7], "a"],
        "never": deep[:2],
        "pair": ["b"],
        "poor_only": ["poor"],
        "judged_top": ["x0"],
        "beyond": [*deep, "a"],
    }
    add_small(store, folder, labels, {"plain": run}, options=Options(keep=100))
    with kept_open(store) as opened:
        yield opened


def test_classes_without_stages(plain: Store) -> None:
    rows = ask(
        plain,
        "select query_id, class, also, fact from failures where run = 'plain' and k = 5 order by query_id",
    )
    assert rows == [
        ("below", "below_cutoff", ["unjudged_on_top"], "the first relevant document stands at rank 8"),
        ("beyond", "below_cutoff", ["unjudged_on_top"], "the first relevant document stands at rank 121"),
        ("judged_top", "never_retrieved", [], "no relevant document among 1 results"),
        ("left_out", "not_run", [], "the run has no line for this query"),
        ("never", "never_retrieved", ["unjudged_on_top"], "no relevant document among 2 results"),
        ("pair", "partial_evidence", [], "1 of 2 relevant documents in the first 5"),
        ("poor_only", "false_answer", [], "answered, though by the labels nothing answers it"),
    ]
    assert ask(plain, "select distinct stage from stage_funnel") == [("final",)]


def test_nothing_is_said_of_what_was_cut_away(store: Store, tmp_path: Path) -> None:
    """Under later labels the ranks below the kept part are not known: not the same as never retrieved."""
    deep = {"q": [*(f"x{i}" for i in range(120)), "a"]}
    add_small(store, tmp_path, {"q": {"b": 1}}, {"deep": deep}, options=Options(keep=100))
    add_small(store, tmp_path, {"q": {"a": 1}}, {"other": {"q": ["b"]}}, revision="2")
    rescore(store)
    assert ask(store, "select run, class, fact from failures where k = 5 order by run") == [
        ("deep", "below_cutoff", "none in the kept part; only the first 100 of 121 results are kept"),
        ("other", "never_retrieved", "no relevant document among 1 results"),
    ]
    assert ask(store, "select run, how from lost_evidence where k = 5 order by run") == [
        ("deep", "not_kept"),
        ("other", "not_retrieved"),
    ]
    told = as_text(explanation(store, "deep", "q"))
    assert any("lost at final: not in the part that was kept" in line for line in told)
