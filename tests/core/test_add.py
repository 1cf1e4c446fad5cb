"""Adding: all of a call or nothing, the same content once, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rankroom.add import Added, LabelsFile, Options, add_folder, add_trec
from rankroom.errors import Refused, UsageError
from rankroom.rescore import rescore
from rankroom.store import Store
from small_stores import Rows, add_native, add_small, ask, kept_open, write_folder, write_qrels, write_run

LABELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2, "c": -1}}
RUN: dict[str, Any] = {"q1": ["x", "a"], "q2": ["x", "y"]}
OTHER: dict[str, Any] = {"q1": ["a", "x"], "q2": ["x", "y"]}


def contents(store: Store) -> dict[str, Rows]:
    """Every row of every table."""
    with store.read() as con:
        names = con.execute("select table_name from duckdb_tables() where not internal").fetchall()
        return {name: con.execute(f"from {name} order by all").fetchall() for (name,) in names}


def refused(added: Any, *args: Any, **parts: Any) -> dict[str, str]:
    """The faults of an add that is refused, by kind."""
    with pytest.raises(Refused) as raised:
        added(*args, **parts)
    return {fault.kind: str(fault) for fault in raised.value.report.faults}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with one run, `one`, which nothing may be added to."""
    folder = tmp_path_factory.mktemp("made")
    store = Store(folder / "s.duckdb")
    added = add_small(store, folder, LABELS, {"one": RUN})
    assert added.new_parts == ["collection", "query_set", "label_set"]
    assert [(run.run, run.state, run.num_rows, run.kept_depth) for run in added.runs] == [
        ("one", "added", 4, None)
    ]
    with kept_open(store) as opened:
        yield opened


@pytest.fixture
def room(made: Store, tmp_path: Path) -> Store:
    """A copy of it, to add to."""
    copy = Store(tmp_path / "room.duckdb")
    copy.path.write_bytes(made.path.read_bytes())
    return copy


def test_the_same_in_another_order_is_already_there_and_does_not_touch_the_store(
    made: Store, tmp_path: Path
) -> None:
    before = made.path.read_bytes(), made.stamp()
    shuffled = {q: dict(reversed([(d, float(-i)) for i, d in enumerate(docs)])) for q, docs in RUN.items()}
    added = add_small(made, tmp_path, LABELS, {"one": shuffled})
    assert (added.new_parts, [run.state for run in added.runs]) == ([], ["already there"])
    assert (made.path.read_bytes(), made.stamp()) == before


def test_further_runs_beside_one_that_is_there(room: Store, tmp_path: Path) -> None:
    added = add_small(room, tmp_path, LABELS, {"one": RUN, "two": OTHER})
    assert {run.run: run.state for run in added.runs} == {"one": "already there", "two": "added"}
    assert ask(room, "select run, count(*) from query_scores where k = 5 group by run order by run") == [
        ("one", 2),
        ("two", 2),
    ]
    assert ask(room, "select run, count(*) from scorings group by run order by run") == [
        ("one", 1),
        ("two", 1),
    ]
    # and once both are there, other runs of their names are refused, each by its name
    with pytest.raises(Refused) as raised:
        add_small(room, tmp_path / "other", LABELS, {"two": RUN, "one": OTHER}, dataset="other")
    assert [fault.value for fault in raised.value.report.faults] == ["two", "one"]


def test_other_content_under_the_same_name_is_refused(made: Store, tmp_path: Path) -> None:
    before = contents(made)
    for other in (
        OTHER,
        {"q1": ["x", "a"], "q2": ["x", "y", "z"]},
        {"q1": {"x": 2.0, "a": 1.0}, "q2": ["x", "y"]},
    ):
        faults = refused(add_small, made, tmp_path, LABELS, {"fine": OTHER, "one": other})
        assert list(faults) == ["run_name_taken"], other
        assert "one.trec" in faults["run_name_taken"]
        assert "--name" in faults["run_name_taken"]
    assert contents(made) == before


def test_the_same_file_with_another_keep_is_told_what_is_kept(room: Store, tmp_path: Path) -> None:
    long = {"long": {"q1": [f"d{at}" for at in range(120)]}}
    add_small(room, tmp_path, LABELS, long)
    before = contents(room)
    faults = refused(add_small, room, tmp_path, LABELS, long, options=Options(keep=100))
    assert list(faults) == ["run_kept_otherwise"]
    assert "keeps every result of it: without --keep it shows whether" in faults["run_kept_otherwise"]
    assert contents(room) == before


def test_a_run_has_one_name_in_the_whole_store(made: Store, tmp_path: Path) -> None:
    assert "run_name_taken" in refused(add_small, made, tmp_path, LABELS, {"one": RUN}, dataset="elsewhere")
    assert ask(made, "select label_set from label_sets") == [("small@1",)]


CHANGED: dict[str, dict[str, Any]] = {
    "a grade": {"labels": LABELS | {"q1": {"a": 3, "b": 0}}},
    "a query more": {"labels": LABELS | {"q3": {"a": 1}}},
    "what counts as relevant": {"labels": LABELS, "relevant_from": 2},
}


def test_changed_labels_under_the_same_revision_are_refused(made: Store, tmp_path: Path) -> None:
    before = contents(made)
    for what, changed in CHANGED.items():
        parts = dict(changed)
        faults = refused(add_small, made, tmp_path, parts.pop("labels"), {"two": OTHER}, **parts)
        assert list(faults) == ["changed_content"], what
        assert "qrels.txt" in faults["changed_content"]
    assert contents(made) == before


@pytest.mark.parametrize("what", ["a grade", "a query more"])
def test_at_a_new_revision_they_are_taken(room: Store, tmp_path: Path, what: str) -> None:
    parts = dict(CHANGED[what])
    added = add_small(room, tmp_path, parts.pop("labels"), {"two": OTHER}, revision="2", **parts)
    more_queries = what == "a query more"
    assert added.new_parts == (["query_set", "label_set"] if more_queries else ["label_set"])
    assert (added.query_set, added.label_set) == ("small@2" if more_queries else "small@1", "small@2")
    assert added.collection == "small@1"
    assert added.not_rescored == ["one"]
    assert ask(room, "from runs_to_rescore") == [("one", "small@2")]


def test_one_bad_file_among_many_and_nothing_is_stored(made: Store, tmp_path: Path) -> None:
    before = contents(made)
    runs = [write_run(tmp_path / f"{name}.trec", OTHER) for name in ("a", "b", "c")]
    runs[1].write_text("q1 Q0 a 1 NaN t\nq1 Q0 a 2 1.0 t\n")
    runs[2].write_text("q1 Q0 a 1 high t\n")
    labels = write_qrels(tmp_path / "q.txt", LABELS)
    with pytest.raises(Refused) as raised:
        add_trec(made, runs, labels=labels, dataset="small")
    assert {Path(fault.file).name for fault in raised.value.report.faults} == {"b.trec", "c.trec"}
    assert contents(made) == before


def test_a_store_is_not_made_for_what_is_refused_or_only_tried(no_store: Store, tmp_path: Path) -> None:
    refused(add_small, no_store, tmp_path, LABELS, {"r": {"q1": {"a": float("nan")}}})
    tried = add_small(no_store, tmp_path, LABELS, {"r": RUN}, options=Options(dry_run=True))
    assert (tried.dry_run, tried.runs[0].state, len(tried.new_parts)) == (True, "added", 3)
    assert not no_store.exists()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".trec", ".txt"]


def test_trying_says_what_would_be_refused(made: Store, tmp_path: Path) -> None:
    before = contents(made)
    dry = Options(dry_run=True)
    assert "run_name_taken" in refused(add_small, made, tmp_path, LABELS, {"one": OTHER}, options=dry)
    add_small(made, tmp_path, LABELS, {"two": OTHER}, revision="1", options=dry)
    assert contents(made) == before


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"relevant_from": 0}, "at least 1"),
        ({"relevant_from": 31}, "at most 30"),
        ({"relevant_from": 10**11}, "at most 30"),
        ({"dataset": ""}, "--dataset: expected a text that is not empty"),
        ({"dataset": "a@b"}, "without @"),
        ({"dataset": "a\nb"}, "line breaks"),
        ({"revision": ""}, "--revision: expected a text"),
        ({"revision": "1@2"}, "without @"),
        ({"name": ""}, "a name that is not empty"),
        ({"name": "both"}, "names one run"),
        ({}, "two of the files would make a run named r"),
    ],
)
def test_calls_that_cannot_be(no_store: Store, tmp_path: Path, parts: dict[str, Any], message: str) -> None:
    runs = [write_run(tmp_path / "1" / "r.trec", RUN), write_run(tmp_path / "2" / "r.run.txt", RUN)]
    labels = write_qrels(tmp_path / "q.txt", LABELS)
    with pytest.raises(UsageError, match=message):
        add_trec(no_store, runs, labels=labels, **({"dataset": "small"} | parts))
    assert not no_store.exists()


@pytest.mark.parametrize("keep", [1_000_000, 3_000_000_000])
def test_keeping_more_than_can_be_kept_is_refused(no_store: Store, tmp_path: Path, keep: int) -> None:
    with pytest.raises(UsageError, match="keep must be from 100, the largest cutoff, to 999,999"):
        add_small(no_store, tmp_path, LABELS, {"one": RUN}, options=Options(keep=keep))
    folder = write_folder(tmp_path / "native", queries=[], labels=[])
    with pytest.raises(UsageError, match="keep must be from 100, the largest cutoff, to 999,999"):
        add_folder(no_store, folder, Options(keep=keep))
    assert not no_store.exists()


def test_a_file_whose_name_is_no_text_is_refused_in_words(no_store: Store, tmp_path: Path) -> None:
    labels = write_qrels(tmp_path / "q.txt", LABELS)
    run = write_run(tmp_path / "bad\udcff.txt", RUN)
    with pytest.raises(UsageError, match="written in UTF-8"):
        add_trec(no_store, [run], labels=labels, dataset="small")
    folder = write_folder(
        tmp_path / "native",
        queries=[{"query_id": "q1", "text": "one"}],
        labels=[{"query_id": "q1", "doc_id": "a", "grade": 1}],
        runs={"bad\udcff": [{"query_id": "q1", "results": ["a"]}]},
    )
    assert list(refused(add_folder, no_store, folder)) == ["name_not_utf8"]
    with pytest.raises(UsageError, match="written in UTF-8"):
        add_folder(no_store, folder.rename(tmp_path / "no\udcff"))
    assert not no_store.exists()


def test_labels_stay_with_their_collection_when_a_newer_one_has_its_name(room: Store, tmp_path: Path) -> None:
    add_native(
        room,
        tmp_path / "native",
        dataset='name = "small"\nrevision = "native"\n[collection]\nversion = "newer"\n',
        queries=[{"query_id": "q1", "text": "one"}],
        labels=[{"query_id": "q1", "doc_id": "a", "grade": 1}],
    )
    assert ask(room, "select collection from collections order by all") == [("small@1",), ("small@newer",)]
    added = add_small(room, tmp_path, LABELS, {"two": OTHER})
    assert (added.collection, added.label_set, added.new_parts) == ("small@1", "small@1", [])


def test_an_endless_id_is_cut_short_where_it_is_spoken_of(store: Store, tmp_path: Path) -> None:
    endless = "x" * 100_000
    added = add_small(store, tmp_path, LABELS, {"one": {"q1": [endless], endless: ["a"]}})
    assert {doubt.kind for doubt in added.report.doubts} >= {"no_common_documents", "query_not_in_labels"}
    assert max(len(doubt.sentence) for doubt in added.report.doubts) < 500
    strange = refused(add_small, store, tmp_path, LABELS, {"two": {endless: ["a"]}})
    assert len(strange["no_common_queries"]) < 500


@pytest.mark.parametrize(
    ("facts", "field"),
    [({"split": "all"}, "split value 'all'"), ({"all": "x"}, "field all"), ({"tag": "x"}, "field tag")],
)
def test_names_that_mean_something_else_among_the_slices_are_refused(
    no_store: Store, tmp_path: Path, facts: dict[str, str], field: str
) -> None:
    folder = write_folder(
        tmp_path / "native",
        queries=[{"query_id": "q1", "text": "one", "tags": ["x"]} | facts],
        labels=[{"query_id": "q1", "doc_id": "a", "grade": 1}],
    )
    assert field in refused(add_folder, no_store, folder)["reserved_name"]


def test_what_is_known_of_a_trec_run(store: Store, tmp_path: Path) -> None:
    labels = write_qrels(tmp_path / "q.txt", LABELS)
    (tmp_path / "r.trec").write_text("q1 Q0 a 2 9.0 t\nq1 Q0 x 1 1.0 t\nmore Q0 z 1 0.5 t\n")
    add_trec(store, [tmp_path / "r.trec"], labels=labels, dataset="small", options=Options(keep=100))
    by_rank = Options(order="rank", keep=999_999)  # as much as can be kept
    add_trec(store, [tmp_path / "r.trec"], labels=labels, dataset="small", name="ranked", options=by_rank)
    assert ask(
        store,
        "select run, query_set, collection, ordered_by, num_rows, kept_depth, source_file from runs"
        " order by run",
    ) == [
        ("r", "small@1", "small@1", "score", 3, 100, "r.trec"),
        ("ranked", "small@1", "small@1", "rank", 3, 999_999, "r.trec"),
    ]
    assert ask(store, "select run, doc_id, score from rankings where query_id = 'q1' order by run, rank") == [
        ("r", "a", 9.0),
        ("r", "x", 1.0),
        ("ranked", "x", 1.0),
        ("ranked", "a", 9.0),
    ]
    assert ask(store, "select query_id, num_returned from ranking_lengths where run = 'r' order by all") == [
        ("more", 1),
        ("q1", 2),
    ]
    assert ask(store, "select run, stage, position from run_stages order by run") == [
        ("r", "final", 1),
        ("ranked", "final", 1),
    ]


# The native form


NATIVE: dict[str, Any] = {
    "queries": [{"query_id": "q1", "text": "one"}, {"query_id": "q2", "text": "two"}],
    "documents": [{"doc_id": "a", "text": "A"}, {"doc_id": "b"}],
    "labels": [{"query_id": "q1", "doc_id": "a", "grade": 1}, {"query_id": "q2", "doc_id": "b", "grade": 1}],
    "runs": {"r": [{"query_id": "q1", "results": ["a"]}, {"query_id": "q2", "results": ["x", "b"]}]},
}


def dataset(queries: str = "1", labels: str = "1", collection: str = "1") -> str:
    return (
        f'name = "n"\nrevision = "{queries}"\n[collection]\nname = "docs"\nversion = "{collection}"\n'
        f'[labels]\nrevision = "{labels}"\n'
    )


def native(store: Store, folder: Path, **parts: Any) -> Added:
    return add_native(store, folder, **({"dataset": dataset()} | NATIVE | parts))


@pytest.fixture(scope="module")
def of_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that a folder was added to, and which nothing more may be."""
    folder = tmp_path_factory.mktemp("of_folder")
    store = Store(folder / "s.duckdb")
    first = native(store, folder / "n")
    assert (first.query_set, first.label_set, first.collection) == ("n@1", "n@1", "docs@1")
    with kept_open(store) as opened:
        yield opened


def test_a_folder_again_and_with_changes_under_the_same_names(of_folder: Store, tmp_path: Path) -> None:
    store = of_folder
    again = native(store, tmp_path / "n")
    assert (again.new_parts, again.runs[0].state) == ([], "already there")
    before = contents(store)
    for table, rows, where in (
        (
            "queries",
            [{"query_id": "q1", "text": "one", "split": "dev"}, NATIVE["queries"][1]],
            "field revision value",
        ),
        (
            "documents",
            [{"doc_id": "a", "text": "another"}, {"doc_id": "b"}],
            "field collection.version value",
        ),
        (
            "labels",
            [NATIVE["labels"][0] | {"rationale": "since"}, NATIVE["labels"][1]],
            "field labels.revision value",
        ),
    ):
        faults = refused(native, store, tmp_path / "n", **{table: rows})
        assert list(faults) == ["changed_content"]
        assert "dataset.toml" in faults["changed_content"]
        assert where in faults["changed_content"]
    about = {"r": 'note = "said later"\n'}
    assert list(refused(native, store, tmp_path / "n", about=about)) == ["run_name_taken"]
    assert contents(store) == before


def test_a_data_set_takes_the_documents_of_a_collection_that_is_there(store: Store, tmp_path: Path) -> None:
    """Also who may read them: a document that the user may not read stays out of the ideal."""
    given = {
        "queries": [{"query_id": "q", "groups": ["staff"]}],
        "labels": [{"query_id": "q", "doc_id": d, "grade": 1} for d in ("open", "closed")],
    }
    documents = [{"doc_id": "open", "text": "for all"}, {"doc_id": "closed", "groups": ["board"]}]
    collection = "[collection]\nname = 'docs'\nversion = '7'\n"
    line = [{"query_id": "q", "results": ["closed", "open"]}]
    add_native(
        store,
        tmp_path / "one",
        dataset=f"name = 'one'\n{collection}",
        documents=documents,
        runs={"first": line},
        **given,
    )
    added = add_native(
        store, tmp_path / "two", dataset=f"name = 'two'\n{collection}", runs={"second": line}, **given
    )
    assert (added.collection, added.new_parts) == ("docs@7", ["query_set", "label_set"])
    assert ask(store, "select run, num_relevant, leaks from query_scores where k = 5 order by run") == [
        ("first", 1, 1),
        ("second", 1, 1),
    ]
    assert ask(store, "select doc_id, text from documents order by doc_id") == [
        ("closed", None),
        ("open", "for all"),
    ]


def test_labels_that_go_back_to_an_earlier_revision_are_said_to(room: Store, tmp_path: Path) -> None:
    add_small(room, tmp_path, **CHANGED["a grade"], runs={}, revision="2")
    added = add_small(room, tmp_path, LABELS, {"one": RUN}, revision="3")
    assert [d.sentence for d in added.report.doubts if d.kind == "same_content"] == [
        "small@3 has the content of small@1, which the store has: that name stays"
    ]
    assert ask(room, "select label_set from label_sets order by all") == [("small@1",), ("small@2",)]


def test_what_another_added_meanwhile_is_said_to_be_there(store: Store, tmp_path: Path) -> None:
    """Two adds of one run that both saw a store without it: one adds it, the other finds it there."""
    folder = write_folder(
        tmp_path / "n",
        queries=[{"query_id": "q"}],
        labels=[{"query_id": "q", "doc_id": "a", "grade": 1}],
        runs={"r": [{"query_id": "q", "results": ["a"]}]},
    )
    overtaken: list[Added] = []

    def overtake(doing: str, at: int, of: int) -> None:
        if doing == "writing to the store" and not overtaken:
            overtaken.append(add_folder(store, folder))

    added = add_folder(store, folder, progress=overtake)
    assert (overtaken[0].runs[0].state, overtaken[0].new_parts) == (
        "added",
        ["collection", "query_set", "label_set"],
    )
    assert (added.runs[0].state, added.new_parts) == ("already there", [])
    assert ask(store, "select count(*) from runs") == [(1,)]


def test_queries_that_were_added_are_left_out_of_older_runs(of_folder: Store, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    store.path.write_bytes(of_folder.path.read_bytes())
    more = {
        "dataset": dataset(queries="2", labels="2"),
        "queries": [*NATIVE["queries"], {"query_id": "q3", "text": "three"}],
        "labels": [*NATIVE["labels"], {"query_id": "q3", "doc_id": "a", "grade": 1}],
    }
    added = native(store, tmp_path / "2", runs={}, **more)
    assert (added.new_parts, added.not_rescored) == (["query_set", "label_set"], ["r"])
    rescore(store)
    assert ask(store, "select label_set, n, left_out, hit from run_summary where k = 5") == [
        ("n@2", 3, 1, pytest.approx(2 / 3))
    ]


def test_what_runs_say_of_themselves_is_stored(store: Store, tmp_path: Path) -> None:
    """A baseline that is nowhere, and a collection of another version, are said aloud."""
    added = native(
        store,
        tmp_path / "n",
        runs={name: [{"query_id": q, "results": ["a"]} for q in ("q1", "q2")] for name in ("r", "s", "t")},
        about={
            "r": 'created = 2026-03-09T10:00:00Z\nbaseline = "s"\nseries = "weekly"\ntags = ["t"]\n'
            'commit = "c0ffee"\nnote = "n"\n[config]\nfinal.k = 5\n',
            "s": 'baseline = "nowhere"\n',
            "t": '[collection]\nversion = "2"\n',
        },
    )
    with store.read() as con:
        con.execute("set timezone = 'UTC'")
        rows = con.execute(
            "select created::varchar, baseline, series, tags, commit, note, ordered_by from runs"
            " where run = 'r'"
        ).fetchall()
    assert rows == [("2026-03-09 10:00:00+00", "s", "weekly", ["t"], "c0ffee", "n", "list")]
    assert ask(store, "from run_config") == [("r", "final.k", "5")]

    said = {doubt.kind: doubt.sentence for doubt in added.report.doubts}
    assert said.keys() == {"baseline_missing", "other_collection"}
    assert said["baseline_missing"] == "its baseline nowhere is not in the store yet"
    assert ask(store, "select subject from doubts where kind = 'baseline_missing'") == [("s",)]
    assert ask(store, "select run, collection from runs order by run") == [
        ("r", "docs@1"),
        ("s", "docs@1"),
        ("t", "docs@2"),
    ]
    assert ask(store, "select collection, num_documents from collections order by all") == [
        ("docs@1", 2),
        ("docs@2", 0),
    ]


def test_a_folder_with_a_bad_run_stores_nothing(no_store: Store, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "n", dataset=dataset(), **NATIVE)
    (folder / "runs" / "bad.jsonl").write_text('{"query_id": "q1", "results": ["a", "a"]}\n')
    (folder / "runs" / "worse.jsonl").write_text('{"query_id": "ghost", "results": []}\n')
    with pytest.raises(Refused) as raised:
        add_folder(no_store, folder)
    assert {Path(fault.file).name for fault in raised.value.report.faults} == {"bad.jsonl", "worse.jsonl"}
    assert not no_store.exists()


# Other labels than a folder's own


def test_a_folder_may_be_added_under_other_labels_than_its_own(no_store: Store, tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "native",
        queries=[{"query_id": "q1", "text": "?"}],
        labels=[{"query_id": "q1", "doc_id": "a", "grade": 1}],
        runs={"one": [{"query_id": "q1", "results": ["a", "b"]}]},
    )
    # in the other form, and with an ending that says nothing
    earlier = LabelsFile(write_qrels(tmp_path / "first.labels", {"q1": {"b": 1}}), "0")
    added = add_folder(no_store, folder, labels=earlier)
    assert (added.label_set, added.query_set) == ("native@0", "native@1")
    assert [run.state for run in add_folder(no_store, folder).runs] == ["rescored"]
    scores = "select label_set, rr from query_scores_all where k = 5 order by label_set"
    assert ask(no_store, scores) == [("native@0", 0.5), ("native@1", 1.0)]

    write_qrels(earlier.path, {"q1": {"c": 1}})
    assert (
        "first.labels: field --revision value '0'"
        in refused(add_folder, no_store, folder, labels=earlier)["changed_content"]
    )
    gone = LabelsFile(tmp_path / "gone.jsonl", "2")
    assert "gone.jsonl" in refused(add_folder, no_store, folder, labels=gone)["file_not_found"]
