from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
import worlds
from rankroom.add import add_folder
from rankroom.store import Store
from rankroom.workspace import open_workspace
from test_runs_page import board, texts


@pytest.mark.parametrize("page", ["runs", "failures", "query", "labels"])
def test_no_store(open_page: Any, tmp_path: Path, page: str) -> None:
    store = Store(tmp_path / "it's not there.duckdb")
    at = open_page(store, page)
    assert not at.exception
    assert at.title[0].value == "No runs yet"
    quoted = "'" + str(store.path).replace("'", "'\"'\"'") + "'"
    assert at.code[0].value == f"rankroom add --store {quoted} FOLDER"
    assert at.code[2].value == f"rankroom demo --store {quoted}"


def test_a_store_without_runs(open_page: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "empty.duckdb")
    with closing(open_workspace()) as con, store.write(con):
        pass
    at = open_page(store)
    assert at.title[0].value == "No runs yet"
    assert "holds no scored run" in texts(at)


def test_labels_without_runs(open_page: Any, tmp_path: Path) -> None:
    at = open_page(worlds.world(tmp_path))
    assert at.title[0].value == "No runs yet"


def test_a_file_that_is_no_store(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.duckdb"
    path.write_text("notes " * 1000)
    at = open_page(Store(path))
    assert not at.exception
    assert at.title[0].value == "The store could not be read"
    assert "is not a store" in texts(at)


def test_another_database(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("create table t (i integer)")
    assert "not a store of rankroom" in texts(open_page(Store(path)))


def test_a_store_of_a_newer_program(open_page: Any, fresh: Store) -> None:
    with duckdb.connect(str(fresh.path)) as con:
        con.execute("insert into schema_version values (99, now(), '9.0')")
    at = open_page(fresh)
    assert "use a newer rankroom" in texts(at)
    assert "Install the newer rankroom" in texts(at)


def test_a_locked_store(
    open_page: Any, fresh: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = (
        "import duckdb, sys; con = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(fresh.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        open_page(Store(tmp_path / "none.duckdb"))  # the app's modules are imported now
        monkeypatch.setattr("panels.store_access.WAIT", 0.2)
        at = open_page(fresh)
        assert not at.exception
        assert at.title[0].value == "The store could not be read"
        assert "has it open" in texts(at)
        assert "Close the other program" in texts(at)
    finally:
        holder.communicate()
    assert at.run().title[0].value == "Runs"


def test_no_page_keeps_the_store_open(open_page: Any, fresh: Store) -> None:
    open_page(fresh)
    with duckdb.connect(str(fresh.path)):
        pass  # refused if this process still held it with another configuration


def test_labels_under_which_no_run_is_scored_yet(look: Any, waiting: Store) -> None:
    at = look(waiting)
    assert "No run has scores under `handbook@2`" in at.markdown[0].value
    assert "`first` is not scored under `handbook@2` yet" in at.warning[0].value
    for page in ("failures", "query"):
        at = look(waiting, page)
        assert not at.exception
        assert at.title[0].value == "No scored run"
        assert "rankroom rescore" in at.warning[0].value
    at = look(waiting, "labels")
    assert not at.exception
    assert "No label is suspect" in at.markdown[0].value


def test_a_new_run_appears_and_older_ones_wait_for_a_rescore(
    open_page: Any, waiting: Store, tmp_path: Path
) -> None:
    store = Store(shutil.copy(waiting.path, tmp_path / "store.duckdb"))
    at = open_page(store)
    assert not at.dataframe
    add_folder(
        store, worlds.write_folder(tmp_path / "more", {"second": worlds.RUNS["second"]}, labels_revision="2")
    )
    at.run()
    assert board(at)["run"].tolist() == ["second"]
    assert "`first` is not scored under `handbook@2` yet" in at.warning[0].value
    assert f"rankroom rescore --store {store.path}" in at.warning[0].value
    at = open_page(store, labels="handbook@1")
    assert board(at)["run"].tolist() == ["first"]
    assert "not the current ones" in texts(at)


def test_a_data_set_without_runs_is_no_choice(open_page: Any, fresh: Store, tmp_path: Path) -> None:
    add_folder(fresh, worlds.write_folder(tmp_path / "more", {}, name="a first one"))
    at = open_page(fresh)
    assert board(at)["run"].tolist() == ["first"]
    assert "data" not in [box.key for box in at.selectbox]


def test_several_data_sets(open_page: Any, fresh: Store, tmp_path: Path) -> None:
    add_folder(fresh, worlds.write_folder(tmp_path / "more", {"other": worlds.RUNS["second"]}, name="wiki"))
    assert board(open_page(fresh))["run"].tolist() == ["other"]  # the newest
    assert board(open_page(fresh, data="handbook"))["run"].tolist() == ["first"]
    at = open_page(fresh, "failures", data="wiki")
    assert at.selectbox(key="run").options == ["other"]


def test_many_readers_at_once(open_page: Any, three: Store) -> None:
    """Threads of one process read with connections of their own."""
    from panels.question import Question
    from panels.store_access import reading

    answers: list[int] = []

    def look(number: int) -> None:
        with reading() as store:
            answers.append(store.rows(Question("select $k as k", {"k": number}))[0]["k"] - number)

    open_page(three)
    threads = [threading.Thread(target=look, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [0] * 12
