"""A room: what Python puts in is what files would have put in; what is wrong is said in Python's words."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import rankroom
from rankroom.add import add_folder, add_trec
from rankroom.readers import run_frames
from rankroom.store import Store
from small_stores import ask, kept_open, write_folder, write_qrels, write_run

pytestmark = pytest.mark.filterwarnings("ignore::rankroom.RankroomWarning")

QUERIES = {
    "q1": {"text": "How do I reset it?", "category": "how_to", "split": "dev", "groups": ["staff"]},
    "q2": {"text": "Which plan is cheaper?", "category": "comparison", "split": "held_out"},
    "q3": {"text": "Who won?", "category": "out_of_scope", "split": "dev"},
}
LABELS: dict[str, Any] = {"q1": {"reset": 2, "intro": 1}, "q2": {"plans": 1}, "q3": None}
DOCUMENTS = {"reset": "...", "intro": "...", "plans": "...", "keys": {"text": "...", "groups": ["boss"]}}
RESULTS = {"q1": ["keys", "reset"], "q2": ["intro", "plans"], "q3": []}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    room = rankroom.open(tmp_path_factory.mktemp("made") / "s.duckdb")
    assert not room.path.exists()
    room.add_dataset("faq", queries=QUERIES, labels=LABELS, documents=DOCUMENTS, collection="help@2026-03")
    room.add_run("bm25", RESULTS, config={"final": {"k": 2}}, created=date(2026, 3, 9), tags=["weekly"])
    room.add_run("dense", {"q1": {"reset": 2.0, "intro": 1.0}, "q2": {"plans": 0.5}}, baseline="bm25")
    with kept_open(room.store):
        yield room.path


@pytest.fixture
def room(made: Path, tmp_path: Path) -> rankroom.Room:
    """A room of its own with a data set and two runs."""
    path = tmp_path / "room.duckdb"
    path.write_bytes(made.read_bytes())
    return rankroom.open(path)


@pytest.fixture
def new(tmp_path: Path) -> rankroom.Room:
    return rankroom.open(tmp_path / "new.duckdb")


def doubts(added: Any) -> dict[str, int]:
    return {doubt.kind: doubt.count for doubt in added.report.doubts}


def refused(call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(rankroom.RankroomError) as raised:
        call(*args, **options)
    return str(raised.value)


# The same as from files


def test_a_data_set_and_its_run_are_those_of_a_native_folder(made: Path, tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "folder",
        dataset='name = "faq"\n[collection]\nname = "help"\nversion = "2026-03"\n',
        queries=[{"query_id": query, **fields} for query, fields in QUERIES.items()],
        labels=[
            *({"query_id": q, "doc_id": d, "grade": g} for q in ("q1", "q2") for d, g in LABELS[q].items()),
            {"query_id": "q3", "no_answer": True},
        ],
        documents=[
            {"doc_id": "reset", "text": "..."},
            {"doc_id": "intro", "text": "..."},
            {"doc_id": "plans", "text": "..."},
            {"doc_id": "keys", "text": "...", "groups": ["boss"]},
        ],
        runs={"bm25": [{"query_id": query, "results": docs} for query, docs in RESULTS.items()]},
        about={"bm25": 'created = 2026-03-09\ntags = ["weekly"]\nconfig.final.k = 2\n'},
    )
    added = add_folder(Store(made), folder)
    assert added.new_parts == []
    assert [run.state for run in added.runs] == ["already there"]


def test_scores_are_those_of_a_trec_run(new: rankroom.Room, tmp_path: Path) -> None:
    labels = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
    scores = {"q1": {"b": 0.5, "a": 0.5, "x": 0.25}, "q2": {"x": 1e-3, "c": 1e-4}, "unlabelled": {"x": 1.0}}
    qrels, run = write_qrels(tmp_path / "qrels", labels), write_run(tmp_path / "same", scores)
    add_trec(new.store, [run], labels=qrels, dataset="small")
    rows = [(q, d, s) for q, docs in scores.items() for d, s in docs.items()]
    for results in (scores, pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])):
        added = new.add_run("same", results, dataset="small")
        assert [one.state for one in added.runs] == ["already there"]
        assert doubts(added) == {"tied_scores": 2, "query_not_in_labels": 1}
    assert new.add_dataset("small", labels=labels).new_parts == []


def test_a_run_of_other_queries_than_those_of_bare_labels_is_refused(new: rankroom.Room) -> None:
    new.add_dataset("small", labels={"q1": ["a"]})
    said = refused(new.add_run, "run", {"Q1": ["a"]})
    assert said.startswith("results: no query of this run is in small@1: ids look like")


# Data sets


def test_all_parts_are_new_once(made: Path) -> None:
    room = rankroom.open(made)
    again = {"queries": QUERIES, "labels": LABELS, "documents": DOCUMENTS, "collection": "help@2026-03"}
    assert room.add_dataset("faq", **again).new_parts == []
    # What is not given is what the store has.
    assert (
        room.add_dataset("faq", labels=LABELS, collection={"name": "help", "version": "2026-03"}).new_parts
        == []
    )


def test_changed_content_wants_a_new_revision(made: Path) -> None:
    room = rankroom.open(made)
    said = refused(room.add_dataset, "faq", labels={"q1": ["reset"]}, collection="help")
    assert "field revision value '1': the store has other labels of faq" in said
    said = refused(room.add_dataset, "faq", queries={"q1": "x"}, labels={"q1": ["reset"]}, collection="help")
    assert "field revision value '1': the store has other queries of faq" in said
    said = refused(room.add_dataset, "faq", labels=LABELS, documents={"a": "b"}, collection="help@2026-03")
    assert "field version value '2026-03': the store has other documents of help" in said


def test_new_labels_for_the_queries_and_documents_that_are_there(room: rankroom.Room) -> None:
    added = room.add_dataset("faq", labels={"q1": ["intro"], "q2": None}, label_revision=2, collection="help")
    assert (added.new_parts, added.label_set, added.query_set) == (["label_set"], "faq@2", "faq@1")
    assert added.not_rescored == ["bm25", "dense"]
    assert doubts(added)["query_without_judgements"] == 1
    assert refused(room.scores, "bm25").endswith("room.rescore() gives it some")
    assert room.rescore("dense") == ["dense"]
    assert room.scores("dense")["num_relevant"].to_pylist() == [1, 0]
    # A run under the labels that came before is still possible.
    added = room.add_run("old", RESULTS, dataset="faq@1")
    assert added.label_set == "faq@1"
    assert added.not_rescored == ["bm25", "old"]
    unknown = refused(room.add_dataset, "faq", labels={"q9": ["a"]}, label_revision=3, collection="help")
    assert unknown.startswith("labels['q9'][0]: field query_id value 'q9': expected a query")


def test_all_faults_of_all_arguments_at_once(new: rankroom.Room) -> None:
    said = refused(
        new.add_dataset,
        "faq",
        queries={"q1": 3},
        labels={"q1": {"a": 0.5}},
        documents=pa.table({"doc_id": ["a", "a"]}),
    )
    assert [line.partition(":")[0] for line in said.splitlines()] == [
        "queries['q1']",
        "labels['q1']['a']",
        "documents, row 1",
    ]
    assert not new.path.exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"name": "a@b"}, "name: value 'a@b': expected a text that is not empty, without @"),
        ({"revision": 1.5}, "revision: value '1.5': expected a text or a whole number"),
        ({"label_revision": ""}, "label_revision: value '': expected a text"),
        ({"relevant_from": 0}, "relevant_from: value '0': expected greater than or equal to 1"),
        ({"collection": {"nam": "x"}}, "collection.nam: value 'x': this key is not known here"),
    ],
)
def test_what_a_data_set_says_of_itself_is_checked(new: rankroom.Room, options: Any, expected: str) -> None:
    said = refused(new.add_dataset, **({"name": "faq", "labels": {"q1": ["a"]}} | options))
    assert said.startswith(expected)
    assert not new.path.exists()


def test_dry_run_stores_nothing(new: rankroom.Room) -> None:
    added = new.add_dataset("faq", labels={"q1": ["a"]}, dry_run=True)
    assert added.dry_run
    assert added.new_parts == ["collection", "query_set", "label_set"]
    assert not new.path.exists()


# Runs


def test_what_a_run_says_of_itself(room: rankroom.Room) -> None:
    created = pd.Timestamp("2026-03-10T12:00:00+02:00")
    room.add_run(
        "full",
        [{"query_id": "q1", "stages": {"first": ["reset", "intro"], "final": ["reset"]}}],
        facts={"q2": {"status": "timeout", "latency_ms": 5000, "answer_scores": {"faithful": 0.5}}},
        config={
            "embedding.model": "e5",
            "final": {"k": 5, "rerank": None},
            "fields": ("title", "text"),
            "on": True,
        },
        created=created,
        baseline="bm25",
        series="weekly",
        tags="one",
        commit="4f2a9c1",
        note="a note",
        stages=["first", {"name": "final", "cut": 5}],
        collection="help@2026-04",
    )
    [run] = ask(
        room.store,
        "select created, baseline, series, tags, commit, note, collection, ordered_by"
        " from runs where run = 'full'",
    )
    assert run == (
        datetime(2026, 3, 10, 10, tzinfo=UTC),
        "bm25",
        "weekly",
        ["one"],
        "4f2a9c1",
        "a note",
        "help@2026-04",
        "list",
    )
    assert ask(room.store, "select setting, value from run_config where run = 'full' order by setting") == [
        ("embedding.model", "e5"),
        ("fields", '["title", "text"]'),
        ("final.k", "5"),
        ("on", "true"),
    ]
    assert ask(
        room.store, "select stage, position, cut from run_stages where run = 'full' order by position"
    ) == [
        ("first", 1, None),
        ("final", 2, 5),
    ]
    assert ask(
        room.store, "select query_id, status from run_queries where run = 'full' order by query_id"
    ) == [
        ("q1", "ok"),
        ("q2", "timeout"),
    ]
    assert ask(room.store, "select query_id, name, value from answer_scores") == [("q2", "faithful", 0.5)]


def test_permissions_come_from_the_stored_data_set(room: rankroom.Room) -> None:
    assert dict(zip(*(room.scores("bm25")[c].to_pylist() for c in ("query_id", "leaks")), strict=True)) == {
        "q1": 1,
        "q2": 0,
        "q3": 0,
    }


def test_doubts_are_warned_of_and_kept(room: rankroom.Room) -> None:
    with pytest.warns(
        rankroom.RankroomWarning, match="1 result names a document not among the documents"
    ) as caught:
        added = room.add_run("third", {"q1": ["reset", "gone"]})
    assert Path(caught[0].filename) == Path(__file__)
    assert doubts(added) == {"result_document_missing": 1, "query_missing_from_run": 2}
    assert ask(room.store, "select kind, num from doubts where subject = 'third' order by kind") == [
        ("query_missing_from_run", 2),
        ("result_document_missing", 1),
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"name": ""}, "name: value '': expected a text"),
        ({"name": 3}, "name: value '3': expected a text"),
        ({"baseline": "run"}, "baseline: value 'run': expected the name of another run"),
        ({"created": "last week"}, "created: value 'last week': expected a date and time"),
        ({"config": {"a.b": 1, "a": {"b": 2}}}, "config: value 'a.b': this setting is given twice"),
        ({"stages": ["final", "final"]}, "stages: value 'final': this stage is given twice"),
        ({"stages": [{"nam": "final"}]}, "stages.0.name: value"),
        (
            {"stages": ["first"]},
            "results['q1']: value 'final': expected one of the stages declared",
        ),
        (
            {"collection": {"unit": "chunk"}},
            "collection: expected unit None and id_scheme None, as the data set",
        ),
        ({"order": "ranks"}, 'order is "score" or "rank"'),
        ({"collapse": "last"}, 'collapse is "first" or None'),
        ({"keep": 5}, "keep must be from 100, the largest cutoff, to 999,999"),
        ({"dataset": "other"}, "there is no data set other in"),
        (
            {"name": "bm25"},
            "results: field run value 'bm25': the store has another run of this name, with other",
        ),
        (
            {"results": {"q1": ["a", "a"]}},
            "results['q1']: value 'a': this document stands at the places 1, 2",
        ),
        ({"facts": {"q1": {"tokens": 3}}}, "facts['q1']: field tokens value '3': the fields known here are"),
    ],
)
def test_a_run_that_is_refused(made: Path, options: Any, expected: str) -> None:
    room, before = rankroom.open(made), made.read_bytes()
    said = refused(room.add_run, **({"name": "run", "results": {"q1": ["reset"]}} | options))
    assert said.startswith(expected)
    assert "--" not in said
    assert made.read_bytes() == before


def test_a_store_without_the_data_set(new: rankroom.Room, room: rankroom.Room, store: Store) -> None:
    assert "there is no store at" in refused(new.add_run, "run", RESULTS)
    assert refused(rankroom.open(store.path).add_run, "run", RESULTS).endswith(
        "holds no data set yet: add_dataset puts one in"
    )
    assert refused(room.add_run, "run", RESULTS, dataset="fqa").endswith("there is faq")
    room.add_dataset("second", labels={"q1": ["a"]})
    assert refused(room.add_run, "run", RESULTS).endswith("name one of them (faq, second)")


def test_a_store_that_was_replaced_meanwhile_gets_no_half_of_a_data_set(
    room: rankroom.Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(con: Any, *args: Any) -> None:
        room.path.unlink()
        insert(con, *args)

    insert = run_frames.insert_run
    monkeypatch.setattr(run_frames, "insert_run", replace)
    assert "no longer has faq@1: another file took its place" in refused(room.add_run, "run", RESULTS)
    assert not room.path.exists()


# Results


def test_tables_of_results(made: Path) -> None:
    room = rankroom.open(made)
    assert room.datasets().select(["dataset", "label_set", "collection", "is_current"]).to_pylist() == [
        {"dataset": "faq", "label_set": "faq@1", "collection": "help@2026-03", "is_current": True}
    ]
    assert room.runs()["run"].to_pylist() == ["dense", "bm25"]
    summary = room.summary(k=1)
    assert summary.select(["run", "n", "hit", "no_answer"]).to_pylist() == [
        {"run": "dense", "n": 2, "hit": 1.0, "no_answer": 1},
        {"run": "bm25", "n": 2, "hit": 0.0, "no_answer": 1},
    ]
    assert room.summary(split="dev")["n"].to_pylist() == [1, 1]
    scores = room.scores("bm25", k=3)
    assert scores["query_id"].to_pylist() == ["q1", "q2", "q3"]
    assert scores["first_relevant_rank"].to_pylist() == [2, 2, None]
    assert room.failures("bm25", k=1)["query_id"].to_pylist() == ["q1", "q2"]
    assert room.compare("bm25", "dense", k=1).metric("hit").wins == 2
    assert [one.slice for one in room.compare("bm25", "dense", by="category").slices] == [
        {"category": "comparison"},
        {"category": "how_to"},
    ]
    assert room.scores("dense").to_pandas().ndcg.max() == 1.0


def test_sql(made: Path) -> None:
    room = rankroom.open(made)
    assert room.sql("select run from runs where run = $run", {"run": "bm25"}).to_pylist() == [{"run": "bm25"}]
    assert room.sql("select ? + ? as sum", [1, 2]).to_pylist() == [{"sum": 3}]
    assert room.sql("select 1 as a where false").num_rows == 0
    assert "read" in refused(room.sql, "delete from runs")
    assert refused(room.sql, "select 1; select 2") == "expected one SQL statement, and got 2"
    assert refused(room.sql, "") == "expected one SQL statement, and got none"
    assert "no_such_view" in refused(room.sql, "from no_such_view")
    assert "$run" in refused(room.sql, "select $run") or "run" in refused(room.sql, "select $run")


def test_asking_for_what_is_not_there(made: Path) -> None:
    room = rankroom.open(made)
    assert refused(room.scores, "nope").endswith("the runs are dense, bm25")
    assert "there are no scores at k = 7: there are at 1, 3, 5" in refused(room.summary, k=7)
    assert refused(room.summary, split="test").endswith("the splits are dev, held_out")
    assert "no run named nope" in refused(room.compare, "bm25", "nope")
    assert "no run named nope" in refused(room.failures, "nope")


def test_a_further_cutoff_and_removal(room: rankroom.Room) -> None:
    assert room.rescore(k=7) == ["bm25", "dense"]
    assert room.summary(k=7).num_rows == 2
    room.remove("dense")
    assert room.runs()["run"].to_pylist() == ["bm25"]
    assert "no run named dense" in refused(room.remove, "dense")


# The package


def test_importing_is_cheap_and_names_are_there_when_asked_for(tmp_path: Path) -> None:
    program = """
import sys
import rankroom
import rankroom.cli
heavy = {"duckdb", "pyarrow", "numpy", "pandas", "streamlit", "pydantic"} & set(sys.modules)
assert not heavy, heavy
import rankroom.evaluating, rankroom.room, rankroom.readers.frames
assert all(callable(getattr(rankroom, name)) for name in rankroom.__all__ if name != "__version__")
assert set(dir(rankroom)) == set(rankroom.__all__)
assert rankroom.open().path.name == "elsewhere.duckdb"
assert repr(rankroom.open("s.duckdb")) == "rankroom.open('s.duckdb')"
try:
    rankroom.nothing
except AttributeError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError
"""
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "RANKROOM_STORE": str(tmp_path / "elsewhere.duckdb")},
    )
