"""Calling a retriever for every query: what it returns, raises or takes too long for becomes a run."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rankroom
from rankroom import evaluating
from rankroom.evaluating import Answer, Query
from small_stores import Rows, ask, kept_open

pytestmark = pytest.mark.filterwarnings("ignore::rankroom.RankroomWarning")

QUERIES = {
    "q1": {
        "text": "How do I reset it?",
        "category": "how_to",
        "split": "dev",
        "groups": ["staff"],
        "length": 5,
    },
    "q2": {"text": "Which plan is cheaper?", "split": "held_out", "language": "en", "tags": ["money"]},
    "q3": {"text": "Who won?", "split": "dev"},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[rankroom.Room]:
    """A room without a run, which nothing may be added to."""
    room = rankroom.open(tmp_path_factory.mktemp("made") / "s.duckdb")
    room.add_dataset("faq", queries=QUERIES, labels={"q1": ["reset"], "q2": ["plans"], "q3": ["who"]})
    with kept_open(room.store):
        yield room


@pytest.fixture
def room(made: rankroom.Room, tmp_path: Path) -> rankroom.Room:
    """A copy of it, to add to."""
    path = tmp_path / "room.duckdb"
    path.write_bytes(made.path.read_bytes())
    return rankroom.open(path)


def ranked(room: rankroom.Room, run: str = "run") -> Rows:
    return ask(
        room.store,
        "select stage, query_id, doc_id, score from rankings where run = $run order by stage, query_id, rank",
        run=run,
    )


def answered(room: rankroom.Room, run: str = "run") -> dict[str, tuple[str, str | None]]:
    rows = ask(room.store, "select query_id, status, error from run_queries where run = $run", run=run)
    return {query: (status, error) for query, status, error in rows}


def test_every_query_is_asked_with_its_text(room: rankroom.Room) -> None:
    asked: list[Query] = []

    def retriever(query: Query) -> list[str]:
        asked.append(query)
        return ["reset", "intro"]

    before = time.time()
    added = rankroom.evaluate(
        retriever, "faq", room=room.path, name="run", config={"k": 2}, tags=["x"], progress=False
    )
    assert [(run.run, run.state, run.num_rows) for run in added.runs] == [("run", "added", 6)]
    assert asked == ["How do I reset it?", "Which plan is cheaper?", "Who won?"]
    assert [query.query_id for query in asked] == ["q1", "q2", "q3"]
    first, second, _ = asked
    assert (first.category, first.groups, first.attributes) == ("how_to", ["staff"], {"length": "5"})
    assert (second.language, second.tags, second.groups, second.attributes) == ("en", ["money"], None, {})
    assert first.split() == [
        "How",
        "do",
        "I",
        "reset",
        "it?",
    ]  # as of any text: it has no attribute in the way
    [(created, tags, ordered_by)] = ask(room.store, "select created, tags, ordered_by from runs")
    assert before - 1 <= created.timestamp() <= time.time()
    assert (tags, ordered_by) == (["x"], "list")
    assert ask(room.store, "select setting, value from run_config") == [("k", "2")]
    latencies = ask(room.store, "select latency_ms from run_queries")
    assert len(latencies) == 3
    assert all(0 <= latency < 1000 for (latency,) in latencies)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (["b", "a"], [("b", None), ("a", None)]),
        (("b", "a"), [("b", None), ("a", None)]),
        (np.array(["b", "a"]), [("b", None), ("a", None)]),
        (np.array([17, 3]), [("17", None), ("3", None)]),
        ([17, "3"], [("17", None), ("3", None)]),
        ([("b", 0.5), ("a", np.float32(0.25))], [("b", 0.5), ("a", 0.25)]),
        ([{"doc_id": "b", "score": 1, "text": "..."}], [("b", 1.0)]),
        ({"a": 0.5, "b": 2, "é": 0.5, "z": 0.5}, [("b", 2.0), ("é", 0.5), ("z", 0.5), ("a", 0.5)]),
        (Answer(results=["b"]), [("b", None)]),
        ([], []),
        ({}, []),
        (Answer(abstained=True), []),
    ],
)
def test_what_a_retriever_may_return(returned: Any, expected: list[Any]) -> None:
    line = evaluating._answer(returned)
    results = [
        (r["doc_id"], r["score"]) if isinstance(r, dict) else (r, None) for r in line.get("results", [])
    ]
    assert [(str(doc), score) for doc, score in results] == expected


def test_answers_are_stored_with_all_they_hold(room: rankroom.Room) -> None:
    def pipeline(query: Query) -> Any:
        if query.query_id == "q3":
            return Answer(abstained=True)
        return Answer(
            stages={"candidates": {"intro": 0.5, "reset": 0.25}, "final": ("reset",)},
            context_tokens=120,
            answer="Hold the button.",
            answer_scores={"faithful": 0.75},
        )

    room.evaluate(pipeline, "run", stages=["candidates", {"name": "final", "cut": 5}])
    assert ranked(room)[:3] == [
        ("candidates", "q1", "intro", 0.5),
        ("candidates", "q1", "reset", 0.25),
        ("candidates", "q2", "intro", 0.5),
    ]
    assert ask(room.store, "select context_tokens, abstained, answer from run_queries order by query_id") == [
        (120, None, "Hold the button."),
        (120, None, "Hold the button."),
        (None, True, None),
    ]
    assert ask(room.store, "select query_id, value from answer_scores order by query_id") == [
        ("q1", 0.75),
        ("q2", 0.75),
    ]


def test_a_generator_is_run_within_the_call() -> None:
    def retriever(query: str) -> Iterator[str]:
        yield "reset"
        if query == "second":
            raise LookupError("nobody")

    first, second, _ = called(retriever)
    assert first["results"] == ["reset"]
    assert (second["status"], second["error"]) == ("error", "LookupError: nobody")


def test_k_is_handed_to_the_retriever() -> None:
    answers = called(lambda query, k: [f"d{n}" for n in range(k)], k=2)
    assert [answer["results"] for answer in answers] == [["d0", "d1"]] * 3


def test_only_the_split_that_is_asked_for(room: rankroom.Room) -> None:
    added = room.evaluate(lambda query: ["reset", "reset"], "run", split="dev", collapse="first")
    assert set(answered(room)) == {"q1", "q3"}
    assert len(ranked(room)) == 2
    assert {doubt.kind: doubt.count for doubt in added.report.doubts}["query_missing_from_run"] == 1
    assert room.summary(split="dev")["n"].to_pylist() == [2]
    with pytest.raises(rankroom.UsageError, match="no query of faq@1 has the split test"):
        room.evaluate(lambda query: ["reset"], "other", split="test")


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_is_one_query_s_error(threads: int) -> None:
    def retriever(query: str) -> list[str]:
        if query == "second":
            raise ConnectionError("the index is down \ud800" + "x" * 5000)
        return ["reset"]

    first, second, third = called(retriever, threads=threads)
    assert second["status"] == "error"
    assert second["error"].startswith("ConnectionError: the index is down ?xxx")
    assert len(second["error"]) == 1000
    assert [first["results"], third["results"]] == [["reset"], ["reset"]]


@pytest.mark.parametrize(
    "wrong", [None, "reset", {"reset"}, 3, [object()], [["a", 1, 2]], {"a": "high"}, Answer()]
)
def test_a_later_return_value_of_another_shape_is_an_error_too(wrong: Any) -> None:
    answers = called(lambda query: wrong if query == "second" else ["reset"])
    assert answers[0] == {"query_id": "first", "latency_ms": answers[0]["latency_ms"], "results": ["reset"]}
    assert answers[1]["status"] == "error"
    assert answers[1]["error"].startswith("the retriever returned ")
    assert "results" not in answers[1]


def called(
    retriever: Any, k: int | None = None, threads: int = 1, timeout: float | None = None
) -> list[dict[str, Any]]:
    """What becomes of three queries, without a store."""
    queries = [Query("first"), Query("second"), Query("third")]
    for query in queries:
        query.query_id = str(query)
    calls = evaluating._Calls(retriever, queries, k)
    done = calls.in_threads(threads, timeout) if timeout or threads > 1 else calls.here()
    return [answer for _, answer in sorted(done, key=lambda one: one[0])]


def test_a_first_return_value_of_another_shape_stops_at_once(made: rankroom.Room) -> None:
    asked = []
    with pytest.raises(rankroom.UsageError, match=r"returned a list that holds object .* for the query q1"):
        made.evaluate(lambda query: asked.append(query) or [object()], "run")
    assert len(asked) == 1
    assert made.runs().num_rows == 0


def test_where_every_query_fails_nothing_is_stored(made: rankroom.Room) -> None:
    with pytest.raises(
        rankroom.RankroomError, match=r"every query failed, the first \(q1\) with: KeyError: 'index'"
    ):
        made.evaluate(lambda query: {}["index"], "run")
    assert made.runs().num_rows == 0


# Time


def test_calls_that_take_too_long_are_given_up_and_errors_are_stored_beside(room: rankroom.Room) -> None:
    free = threading.Event()

    def retriever(query: str) -> list[str]:
        if "plan" in query:
            free.wait(30)
        return ["reset"] if "reset" in query else {}["index"]

    began = time.perf_counter()
    try:
        room.evaluate(retriever, "run", timeout=0.2)
    finally:
        free.set()
    assert time.perf_counter() - began < 20
    assert answered(room) == {
        "q1": ("ok", None),
        "q2": ("timeout", None),
        "q3": ("error", "KeyError: 'index'"),
    }
    [(latency,)] = ask(room.store, "select latency_ms from run_queries where query_id = 'q2'")
    assert latency >= 200
    assert [query for _, query, _, _ in ranked(room)] == ["q1"]


def test_too_many_calls_that_hang_stop_the_evaluation(
    made: rankroom.Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluating, "MOST_HANGING", 1)
    free = threading.Event()
    try:
        with pytest.raises(
            rankroom.RankroomError, match=r"2 calls of the retriever hang, each for longer than 0.1 s"
        ):
            made.evaluate(lambda query: free.wait(30), "run", timeout=0.1)
    finally:
        free.set()
    assert made.runs().num_rows == 0


def test_a_call_that_hangs_does_not_keep_python_from_ending() -> None:
    program = """
        import threading
        from rankroom import evaluating
        hang = threading.Event()
        retriever = lambda query: hang.wait() if query == "hangs" else ["reset"]
        queries = [evaluating.Query(text) for text in ("hangs", "ends")]
        for query in queries:
            query.query_id = str(query)
        calls = evaluating._Calls(retriever, queries, None)
        print(sorted(answer.get("status", "ok") for _, answer in calls.in_threads(2, 0.5)))
        """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "['ok', 'timeout']\n", "")


def test_threads_run_at_once_and_answers_stay_with_their_queries() -> None:
    together = threading.Barrier(3, timeout=20)

    def retriever(query: str) -> list[str]:
        together.wait()
        return [f"for {query}"]

    answers = called(retriever, threads=3)
    assert [answer["results"] for answer in answers] == [["for first"], ["for second"], ["for third"]]


def test_a_timeout_goes_by_the_call_and_not_by_the_wait_for_a_thread() -> None:
    answers = called(lambda query: time.sleep(0.3) or ["reset"], timeout=0.6)
    assert [answer.get("status") for answer in answers] == [None] * 3


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"timeout": 5.0}])
def test_an_interrupt_stores_nothing(made: rankroom.Room, options: Any) -> None:
    def retriever(query: str) -> list[str]:
        if "plan" in query:
            raise KeyboardInterrupt
        return ["reset"]

    with pytest.raises(KeyboardInterrupt):
        made.evaluate(retriever, "run", **options)
    assert made.runs().num_rows == 0


# Before and after


@pytest.fixture(scope="module")
def with_run(made: rankroom.Room, tmp_path_factory: pytest.TempPathFactory) -> Iterator[rankroom.Room]:
    path = tmp_path_factory.mktemp("with_run") / "s.duckdb"
    path.write_bytes(made.path.read_bytes())
    room = rankroom.open(path)
    room.add_run("there", {"q1": ["reset"]})
    with kept_open(room.store):
        yield room


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"name": "there"}, "the store has a run named there: give this one another name"),
        ({"name": ""}, "name: value '': expected a text"),
        ({"dataset": "other"}, "there is no data set other"),
        ({"baseline": "run"}, "baseline: value 'run': expected the name of another run"),
        ({"stages": [{"nam": "final"}]}, "stages.0.name: value"),
        ({"facts": {}}, "evaluate records the facts of each query itself"),
        ({"threads": 0}, "threads and k must be at least 1"),
        ({"timeout": 0}, "threads and k must be at least 1, and timeout more than 0"),
    ],
)
def test_what_would_be_refused_is_refused_before_the_first_call(
    with_run: rankroom.Room, options: Any, expected: str
) -> None:
    asked: list[str] = []
    with pytest.raises(rankroom.RankroomError) as raised:
        with_run.evaluate(lambda query: asked.append(query) or ["reset"], **({"name": "run"} | options))
    assert str(raised.value).startswith(expected)
    assert asked == []


def test_settings_that_nobody_knows_are_refused_before_the_first_call(made: rankroom.Room) -> None:
    with pytest.raises(TypeError, match="confg"):
        made.evaluate(lambda query: pytest.fail("it was called"), "run", confg={})


def test_queries_without_texts_cannot_be_asked(room: rankroom.Room) -> None:
    room.add_dataset("bare", labels={"q1": ["a"], "q2": ["a"]})
    with pytest.raises(rankroom.UsageError, match=r"2 of 2 queries of bare@1 have no text .*\(q1, q2\)"):
        room.evaluate(lambda query: ["a"], "run", dataset="bare")


def test_what_was_returned_is_not_lost_where_the_run_is_refused(room: rankroom.Room) -> None:
    with pytest.raises(
        rankroom.NotStored, match=r"results, row 0: .*this document stands at the places 1, 2"
    ) as raised:
        room.evaluate(lambda query: ["reset", "reset"], "run")
    assert room.runs().num_rows == 0
    room.add_run("run", raised.value.answers, collapse="first")
    assert len(ranked(room)) == 3
