"""Removing runs: all of each, nothing else, and all or none."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from rankroom.errors import UsageError
from rankroom.remove import remove_runs
from rankroom.store import Store
from small_stores import Rows, add_native, add_small, ask

LABELS = {"q1": {"a": 1}, "q2": {"a": 1}}
RUNS = {
    name: [
        {
            "query_id": "q1",
            "stages": {"candidates": ["a"], "final": ["a"]},
            "answer_scores": {"faithful": 0.5},
        },
        {"query_id": "q2", "stages": {"candidates": ["x"], "final": ["x"]}},
    ]
    for name in ("one", "two", "three")
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three runs with something in every table that a run can have rows in."""
    folder = tmp_path_factory.mktemp("made")
    store = Store(folder / "s.duckdb")
    add_native(
        store,
        folder / "files",
        queries=[{"query_id": q} for q in ("q1", "q2", "unlabelled")],
        labels=[{"query_id": q, "doc_id": "a", "grade": 1} for q in LABELS],
        runs=RUNS,
        about=dict.fromkeys(RUNS, "config.k = 5\n"),
    )
    return store


@pytest.fixture
def full(made: Store, tmp_path: Path) -> Store:
    """A copy of it."""
    copy = Store(tmp_path / "full.duckdb")
    copy.path.write_bytes(made.path.read_bytes())
    return copy


def tables(store: Store) -> dict[str, Rows]:
    with store.read() as con:
        names = [
            name
            for (name,) in con.execute(
                "select table_name from duckdb_columns()"
                " where not internal and column_name in ('run', 'subject') and table_name <> 'annotations'"
                " and table_name in (select table_name from duckdb_tables())"
            ).fetchall()
        ]
        return {name: con.execute(f"from {name} order by all").fetchall() for name in names}


def test_every_table_is_rid_of_it_and_others_stay(full: Store, tmp_path: Path) -> None:
    before = tables(full)
    empty = {name for name, rows in before.items() if not rows}
    assert empty == {"signal_findings"}
    remove_runs(full, ["one", "three"])
    after = tables(full)
    for name, rows in before.items():
        assert after[name] == [row for row in rows if row[0] not in ("one", "three")], name
        assert any(row[0] == "two" for row in rows) or name == "signal_findings"
    assert ask(full, "select label_set from label_sets") == [("native@1",)]
    assert ask(full, "select count(*) from queries") == [(3,)]


def test_a_run_can_be_added_again_after(full: Store, tmp_path: Path) -> None:
    before = ask(full, "select * exclude (added_at) from runs order by run")
    scores = ask(full, "from query_metrics order by all")
    remove_runs(full, ["one"])
    add_native(
        full,
        tmp_path / "files",
        queries=[{"query_id": q} for q in ("q1", "q2", "unlabelled")],
        labels=[{"query_id": q, "doc_id": "a", "grade": 1} for q in LABELS],
        runs={"one": RUNS["one"]},
        about={"one": "config.k = 5\n"},
    )
    assert ask(full, "select * exclude (added_at) from runs order by run") == before
    assert ask(full, "from query_metrics order by all") == scores


def test_with_an_unknown_run_nothing_is_removed(made: Store) -> None:
    before = tables(made)
    with pytest.raises(UsageError, match="no run named ghost"):
        remove_runs(made, ["one", "ghost"])
    assert tables(made) == before


def test_a_name_is_only_a_name(store: Store, tmp_path: Path) -> None:
    names = ["%", "a'; delete from runs; --", "plain"]
    add_small(store, tmp_path, LABELS, {name: {"q1": ["a"]} for name in names})
    remove_runs(store, names[:2])
    assert ask(store, "select run from runs") == [("plain",)]


def test_the_notes_that_people_wrote_stay(full: Store) -> None:
    with duckdb.connect() as con, full.write(con):
        con.execute(
            "insert into store.main.annotations by name select now() as annotated_at, 'Noor' as who,"
            " 'native@1' as query_set, 'q1' as query_id, 'one' as run, 'look again' as note"
        )
    remove_runs(full, ["one"])
    assert ask(full, "select run, note from annotations") == [("one", "look again")]
