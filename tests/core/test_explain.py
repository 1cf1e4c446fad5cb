"""`rankroom failures` and `rankroom explain`: the form that scripts rely on, and text for a ticket."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rankroom.annotations import Note, annotate
from rankroom.cli import app
from rankroom.errors import NotComparable, UsageError
from rankroom.explain import as_text, explanation
from rankroom.failing import failures_report
from rankroom.printable import UNFIT
from rankroom.store import Store
from small_stores import add_native, add_small, kept_open
from typer.testing import CliRunner

EVIL = "<b>x</b>\x1b[31m\u202egnp\n# title"
ARABIC = "كيف أشارك دفتري؟"
STAGES = """
stages = [
    {name = "candidates", position = 1, cut = 3},
    {name = "reranked", position = 2},
    {name = "final", position = 3},
]
"""


def staged(candidates: list[str], reranked: list[str], final: list[str]) -> dict[str, Any]:
    return {"stages": {"candidates": candidates, "reranked": reranked, "final": final}}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("explain")
    store = Store(folder / "s.duckdb")
    add_native(
        store,
        folder / "files",
        queries=[
            {"query_id": "lost", "text": ARABIC, "category": "how_to", "language": "ar", "tags": ["t"]}
            | {"groups": ["guests"], "must_pass": True, "channel": "app"},
            {"query_id": "evil", "text": EVIL, "category": "factual"},
            {"query_id": "fine", "text": "fine"},
            {"query_id": "no_answer", "text": "nothing"},
            {"query_id": "unlabelled", "text": "who knows"},
        ],
        labels=[
            {"query_id": "lost", "doc_id": "a", "grade": 2, "rationale": EVIL},
            {"query_id": "lost", "doc_id": "b", "grade": 1},
            {"query_id": "lost", "doc_id": "y", "grade": 0},
            {"query_id": "lost", "doc_id": "secret", "grade": 2},
            {"query_id": "evil", "doc_id": "a", "grade": 1},
            {"query_id": "fine", "doc_id": "a", "grade": 1},
            {"query_id": "no_answer", "no_answer": True},
        ],
        documents=[{"doc_id": d, "title": f"Title {d}"} for d in "abxyz"]
        + [{"doc_id": "secret", "groups": ["staff"]}],
        runs={
            "old": [
                {"query_id": "lost", "results": ["a", "b", "x"]},
                {"query_id": "evil", "results": ["x"]},
                {"query_id": "fine", "results": ["a"]},
            ],
            "new": [
                {"query_id": "lost", "answer": EVIL, "answer_scores": {"faithful": 0.25}, "latency_ms": 1234}
                | staged(["x", "a", "b"], ["x", "y", "secret", "b"], ["x", "y", "secret", "b"]),
                {"query_id": "evil", "status": "error", "error": EVIL} | staged([], [], []),
                {"query_id": "fine"} | staged(["a"], ["a"], ["a"]),
                {"query_id": "no_answer", "abstained": True} | staged([], [], []),
                {"query_id": "unlabelled"} | staged(["x"], ["x"], ["x"]),
            ],
        },
        about={"new": STAGES},
    )
    annotate(store, Note("lost", "noor", state="explained", cause="the reranker", text=EVIL, owner="ines"))
    annotate(store, Note("lost", "noor", doc_id="y", grade=1))
    with kept_open(store) as opened:
        yield opened


def called(*arguments: str, room: Store) -> str:
    done = CliRunner().invoke(app, [*arguments, "--store", str(room.path)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_failures_as_json_are_a_list_of_the_agreed_fields(room: Store) -> None:
    rows = json.loads(called("failures", "new", "-k", "3", "--json", room=room))
    assert [row["query_id"] for row in rows] == ["evil", "lost"]
    assert rows[1] == {
        "query_id": "lost",
        "class": "lost_at_reranked",
        "also": ["below_cutoff", "leak", "unjudged_on_top"],
        "fact": "reranked lost a, which the step before had passed on",
        "category": "how_to",
        "language": "ar",
        "first_relevant_rank": 4,
        "missing": ["a", "b"],
    }
    assert rows == json.loads(called("failures", "new", "-k", "3", "--by", "category", "--json", room=room))
    one = called("failures", "new", "-k", "3", "--class", "error", "--json", room=room)
    assert [row["class"] for row in json.loads(one)] == ["error"]


def test_a_cutoff_that_the_store_does_not_hold_is_computed(room: Store) -> None:
    assert [row["class"] for row in failures_report(room, "new", 4)["failures"]] == [
        "error",
        "lost_at_reranked",
    ]
    report = explanation(room, "new", "lost", 4)
    assert (report["metrics"]["hit"], report["failure"]["missing"]) == (1, ["a"])


def test_failures_as_text_begin_with_the_counts(room: Store) -> None:
    text = called("failures", "new", "-k", "3", "--by", "category", room=room)
    assert text.startswith("new at k = 3, labels native@1: 2 of 4 queries fail\n")
    assert re.search(r"how_to +lost_at_reranked +1 +0 +1\n", text)
    assert re.search(r"how_to +leak +0 +1 +1\n", text)
    assert text.index("first cause") < text.index("evil      error")
    assert not re.search(f"[{UNFIT}]", text)
    assert "new at k = 3, labels native@1: 0 of 4 queries fail with this first cause" in called(
        "failures", "new", "-k", "3", "--class", "leak", room=room
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["failures", "gone"], "there is no run named gone in"),
        (
            ["failures", "new", "--class", "lost_at_gone"],
            "there is no class lost_at_gone of failures: there are",
        ),
        (["failures", "new", "--by", "gone"], "cannot be sliced by gone: they have category"),
        (["failures", "new", "-k", "0"], "k must be a positive integer, and is 0"),
        (["explain", "gone", "lost"], "there is no run named gone in"),
        (["explain", "new", "gone"], "there is no query gone in native of"),
        (["explain", "new", "lost", "--against", "gone"], "there is no run named gone in"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(room: Store, arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(app, [*arguments, "--store", str(room.path)])
    assert isinstance(done.exception, UsageError)
    assert sentence in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_run_under_other_labels_cannot_be_held_against(room: Store, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    store.path.write_bytes(room.path.read_bytes())
    add_small(store, tmp_path, {"lost": {"a": 1}}, {"elsewhere": {"lost": ["a"]}}, dataset="other")
    arguments = ["explain", "new", "lost", "--against", "elsewhere", "--store", str(store.path)]
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, NotComparable)
    assert done.exception.exit_code == 5


def test_an_explanation_has_all_that_happened(room: Store) -> None:
    report = json.loads(called("explain", "new", "lost", "--against", "old", "-k", "3", "--json", room=room))
    assert report["failure"]["class"] == "lost_at_reranked"
    assert report["baseline"]["failure"] is None
    assert [(e["doc_id"], e["grade"], e["readable"], e["relevant"]) for e in report["evidence"]] == [
        ("a", 2, True, True),
        ("secret", 2, False, True),
        ("b", 1, True, True),
        ("y", 0, True, False),
    ]
    ways = {e["doc_id"]: {r["stage"]: r["rank"] for r in e["ranks"]} for e in report["evidence"]}
    assert ways["a"] == {"candidates": 2, "reranked": None, "final": None}
    assert report["evidence"][0]["lost"] | {"doc_id": ""} == {
        "doc_id": "",
        "stage": "reranked",
        "how": "dropped",
        "rank": None,
    }
    assert [(r["rank"], r["baseline_rank"], r["doc_id"], r["mark"]) for r in report["results"]] == [
        (1, 3, "x", "unlabelled"),
        (2, None, "y", "not relevant"),
        (3, None, "secret", "forbidden"),
        (4, 2, "b", "relevant"),
        (None, 1, "a", "relevant"),
    ]
    assert report["query"]["answer_scores"] == {"faithful": 0.25}
    assert [(note["state"], note["doc_id"]) for note in report["notes"]] == [
        ("explained", None),
        ("open", "y"),
    ]


def test_the_text_can_be_pasted_and_moves_no_cursor(room: Store) -> None:
    text = called("explain", "new", "lost", "--against", "old", "-k", "3", room=room)
    assert not re.search(f"[{UNFIT}]", text)
    for part in (
        "Query lost in new at k = 3\n",
        f"  {ARABIC}\n",
        "must pass; asked by a user in guests; channel app; labels native@1",
        "lost_at_reranked: reranked lost a, which the step before had passed on (also below_cutoff, leak,",
        "  a Title a (grade 2, relevant)\n",
        r"    why: <b>x</b>\x1b[31m\u202egnp\n# title",
        "    candidates 2 → reranked – → final –\n",
        "    lost at reranked: dropped\n",
        "  secret (grade 2, relevant, its user may not read it)\n",
        "    candidates 3 → reranked 4 → final 4 (cut 3)\n",
        "    lost at final: below the cut at rank 4\n",
        "    3  secret [forbidden]\n",
        "  there it does not fail\n",
        "  1 → –  a Title a [relevant, grade 2]  left the first 3\n",
        "  3 → 1  x Title x [unlabelled]\n",
        "  hit@3 1.000 → 0.000 (-1.000)\n",
        "  1,234 ms\n",
        "  faithful 0.25\n",
        "  explained (in every run): the reranker; <b>x</b>",
        "  open (label of y, should be grade 1): – (noor, ",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("run", "query", "sentence"),
    [
        ("new", "fine", "  it does not fail"),
        ("new", "no_answer", "  it does not fail: by the labels nothing that its user may read answers it"),
        ("new", "unlabelled", "  it has no labels: it is outside every mean"),
        ("new", "evil", r"  it failed: <b>x</b>\x1b[31m\u202egnp\n# title"),
        ("old", "no_answer", "  the run has no line for it"),
        ("old", "evil", "  never_retrieved: no relevant document among 1 results (also unjudged_on_top)"),
    ],
)
def test_what_became_of_a_query(room: Store, run: str, query: str, sentence: str) -> None:
    said = list(as_text(explanation(room, run, query, 3)))
    assert any(line.startswith(sentence) for line in said), said


def test_explain_knows_what_the_other_command_lists(room: Store) -> None:
    for row in failures_report(room, "new", 3)["failures"]:
        failure = explanation(room, "new", row["query_id"], 3)["failure"]
        assert failure == {name: row[name] for name in ("class", "also", "fact", "missing")}
