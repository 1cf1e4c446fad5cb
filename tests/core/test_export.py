"""What is written out can be read again, says the same, and lands in the folder that was named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import duckdb
import pytest
from rankroom.add import Options, add_trec
from rankroom.errors import RankroomError, UsageError
from rankroom.export import export_parquet, export_trec, left_out_of_trec
from rankroom.store import Store
from small_stores import add_native, add_small, ask, kept_open

SCORES = "from query_metrics order by run, stage, label_set, query_id, k"
UNCUT = "from query_metrics_uncut order by run, stage, label_set, query_id"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_trec_files_added_again_give_the_same_metrics(store: Store, tmp_path: Path) -> None:
    rng = Random(7)
    docs = [f"d{i}" for i in range(60)] + ['"quoted"', "a,b;c", "#hash", "été", "back\\slash", "'"]
    labels = {f"q{i}": {d: rng.randrange(-2, 4) for d in rng.sample(docs, 12)} for i in range(9)}
    runs = {
        run: {
            q: {d: rng.choice([0.1, 1e-17, -3.5, 1e300, rng.random()]) for d in rng.sample(docs, 40)}
            for q in part
        }
        for run, part in (("one", labels), ("two", [*list(labels)[2:], "unlabelled"]))
    }
    add_small(store, tmp_path, labels, runs, relevant_from=2)
    written = export_trec(store, tmp_path / "out")
    assert sorted(str(path) for path in written) == [
        str(tmp_path / "out" / f) for f in files(tmp_path / "out")
    ]
    again = Store(tmp_path / "again.duckdb")
    add_trec(
        again,
        [tmp_path / "out/runs/one.txt", tmp_path / "out/runs/two.txt"],
        labels=tmp_path / "out/qrels/small@1.txt",
        dataset="small",
        relevant_from=2,
    )
    for table in (SCORES, UNCUT, "from rankings order by all"):
        assert ask(again, table) == ask(store, table)


def test_what_trec_files_have_no_place_for_is_left_out_and_the_rest_says_the_same(
    store: Store, tmp_path: Path
) -> None:
    """Lists keep their order. Partial results and labels of what is forbidden would count there."""
    answerable = ("fine", "failed", "slow", "empty")
    add_native(
        store,
        tmp_path / "files",
        queries=[{"query_id": "q", "groups": ["staff"]}, *({"query_id": q} for q in (*answerable, "none"))],
        documents=[{"doc_id": "open"}, {"doc_id": "closed", "groups": ["board"]}]
        + [{"doc_id": doc} for doc in "axz"],
        labels=[
            *({"query_id": query, "doc_id": "a", "grade": 1} for query in answerable),
            {"query_id": "q", "doc_id": "open", "grade": 1},
            {"query_id": "q", "doc_id": "closed", "grade": 2},
            {"query_id": "none", "no_answer": True},
        ],
        runs={
            "r": [
                {
                    "query_id": "fine",
                    "stages": {
                        "candidates": ["z", "a"],
                        "final": [{"doc_id": "x", "score": 1.0}, {"doc_id": "a", "score": 9.0}],
                    },
                },
                {"query_id": "failed", "results": ["a"], "status": "error"},
                {"query_id": "slow", "results": ["a"], "status": "timeout"},
                {"query_id": "empty", "results": []},
                {"query_id": "q", "results": ["closed", "open"]},
                {"query_id": "none", "status": "error"},
            ]
        },
    )
    export_trec(store, tmp_path / "out")
    run, qrels = tmp_path / "out/runs/r.txt", tmp_path / "out/qrels/native@1.txt"
    assert run.read_text() == (
        "fine Q0 x 1 -1.0 rankroom\nfine Q0 a 2 -2.0 rankroom\n"
        "q Q0 closed 1 -1.0 rankroom\nq Q0 open 2 -2.0 rankroom\n"
    )
    assert sorted(qrels.read_text().splitlines()) == sorted(
        [*(f"{query} 0 a 1" for query in answerable), "q 0 open 1"]
    )
    again = Store(tmp_path / "again.duckdb")
    add_trec(again, [run], labels=qrels, dataset="native")
    scores = (
        "select query_id, k, rr, ndcg, recall, ap from query_scores where query_id <> 'none' order by all"
    )
    assert ask(again, scores) == ask(store, scores)
    means = "select k, ndcg, rr, recall from run_summary where split = 'all' order by k"
    assert ask(again, means) == ask(store, means)
    assert left_out_of_trec(store) == [
        "TREC files have no place for 1 label that its query's user may not read: left out",
        "TREC files have no place for 1 no-answer line: left out",
        "TREC files have no place for 3 queries that failed or timed out: left out",
        "TREC files have no place for 1 stage beside the final one: left out",
    ]
    assert left_out_of_trec(again) == []


NAMES = [
    "plain",
    "a/b",
    "a_b",
    "../../evil",
    "..",
    ".",
    "été 🙂",
    "quo\"te's",
    "-rf",
    "x" * 300,
    "Plain",
    "con:\nsole",
]


def test_names_cannot_leave_the_folder_or_take_each_others_files(store: Store, tmp_path: Path) -> None:
    add_small(store, tmp_path, {"q": {"a": 1}}, {"r": {"q": ["a"]}}, dataset="../up/small")
    with closing(duckdb.connect()) as con, store.write(con):  # as if each had been added, only quicker
        for table in ("runs", "run_queries", "rankings"):
            doc = ", 'd' || name.at as doc_id" if table == "rankings" else ""
            con.execute(
                f"insert into store.main.{table} select run.* replace (name.name as run{doc})"
                f" from store.main.{table} as run,"
                " (select unnest($1) as name, unnest(range(len($1))) as at) as name",
                [NAMES],
            )
            con.execute(f"delete from store.main.{table} where run = 'r'")
    before = files(tmp_path)
    written = export_trec(store, tmp_path / "deep" / "out")
    assert len(set(written)) == len(NAMES) + 1
    assert all(path.resolve().is_relative_to(tmp_path / "deep" / "out") for path in written)
    assert len({str(path).casefold() for path in written}) == len(written)
    documents = {path.read_text().split()[2] for path in written if path.parent.name == "runs"}
    assert documents == {f"d{at}" for at in range(len(NAMES))}
    assert [f for f in files(tmp_path) if not f.startswith("deep/out/")] == before


def test_ids_that_a_trec_file_cannot_hold_are_refused(store: Store, tmp_path: Path) -> None:
    """Of the runs asked for. A no-break space is none to trec_eval, nor to rankroom's reader."""
    documents = {"r": "two words", "s": "line\nbreak", "t": "no\u00a0break"}
    add_native(
        store,
        tmp_path / "files",
        queries=[{"query_id": "q"}],
        labels=[{"query_id": "q", "doc_id": "a", "grade": 1}],
        runs={run: [{"query_id": "q", "results": [doc, "a"]}] for run, doc in documents.items()},
    )
    for run in "rs":
        with pytest.raises(RankroomError, match="white space"):
            export_trec(store, tmp_path / "out", [run])
        assert files(tmp_path / "out") == []
    export_trec(store, tmp_path / "out", ["t"])
    assert files(tmp_path / "out") == ["qrels/native@1.txt", "runs/t.txt"]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("export")
    store = Store(folder / "s.duckdb")
    labels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"one": {"q1": ["a"], "q2": ["x"]}, "two": {"q1": ["x"]}}
    add_small(store, folder, labels, runs, options=Options(keep=100))
    add_native(
        store,
        folder / "native",
        queries=[{"query_id": "q", "tags": ["t"], "groups": [], "colour": "red"}],
        documents=[{"doc_id": "a", "text": "A text\nof two lines"}],
        labels=[{"query_id": "q", "doc_id": "a", "grade": 1, "reviewed": "2026-03-01"}],
        runs={"three": [{"query_id": "q", "results": ["a"], "answer_scores": {"faithful": 0.5}}]},
        about={"three": "created = 2026-03-09T10:00:00Z\n"},
    )
    with kept_open(store) as opened:
        yield opened


def test_parquet_files_hold_every_table_and_view(room: Store, tmp_path: Path) -> None:
    export_parquet(room, tmp_path / "out")
    with room.read() as con, duckdb.connect() as reader:
        names = [
            name
            for (name,) in con.execute(
                "select table_name from duckdb_tables() union all"
                " select view_name from duckdb_views() where not internal"
            ).fetchall()
        ]
        assert files(tmp_path / "out") == sorted(f"{name}.parquet" for name in names)
        for name in names:
            file = str(tmp_path / "out" / f"{name}.parquet")
            stored = con.execute(f"select to_json(t)::varchar from {name} t order by all").fetchall()
            read = reader.execute(
                "select to_json(t)::varchar from read_parquet($1) t order by all", [file]
            ).fetchall()
            assert read == stored, name


def test_parquet_files_of_some_runs(room: Store, tmp_path: Path) -> None:
    export_parquet(room, tmp_path / "out", ["two", "three"])
    with duckdb.connect() as reader:
        for name in ("runs", "query_scores", "rankings", "run_summary"):
            file = str(tmp_path / "out" / f"{name}.parquet")
            found = reader.execute(
                "select distinct run from read_parquet($1) order by run", [file]
            ).fetchall()
            assert found == [("three",), ("two",)], name


def test_trec_files_of_some_runs(room: Store, tmp_path: Path) -> None:
    export_trec(room, tmp_path / "out", ["two"])
    assert files(tmp_path / "out") == ["qrels/small@1.txt", "runs/two.txt"]


@pytest.mark.parametrize("export", [export_parquet, export_trec])
def test_an_unknown_run_and_a_folder_in_use_are_refused(room: Store, tmp_path: Path, export: object) -> None:
    assert callable(export)
    with pytest.raises(UsageError, match="no run named ghost"):
        export(room, tmp_path / "out", ["one", "ghost"])
    assert files(tmp_path) == []
    (tmp_path / "mine.txt").write_text("mine")
    for folder in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(UsageError, match="not empty"):
            export(room, folder)
    assert files(tmp_path) == ["mine.txt"]
