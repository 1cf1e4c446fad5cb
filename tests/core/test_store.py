"""The store: what goes in comes out, all or nothing, and each trouble is a sentence."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import duckdb
import pytest
from rankroom import migrations
from rankroom.errors import StoreUnavailable
from rankroom.resources import folder
from rankroom.store import Store
from rankroom.workspace import open_workspace

CORE = Path(__file__).parents[2] / "core"
HOLDER = """
import duckdb, sys
con = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading")
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def con():
    with open_workspace() as workspace:
        yield workspace


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """The folder of a store with one cutoff more than every store has, after it was written."""
    folder = tmp_path_factory.mktemp("written")
    with open_workspace() as con, Store(folder / "store.duckdb").write(con):
        con.execute("insert into store.cutoffs values (7)")
    return folder


@pytest.fixture
def store(tmp_path, written) -> Store:
    """A copy of that store."""
    return Store(shutil.copy(written / "store.duckdb", tmp_path))


@pytest.fixture
def other_sql(tmp_path, monkeypatch) -> Path:
    """A copy of this program's SQL that a test may change: another version of the program."""
    copy = tmp_path / "sql"
    shutil.copytree(folder("sql"), copy)
    monkeypatch.setattr(migrations, "folder", lambda name: copy)
    return copy


def held(store: Store, how: str) -> subprocess.Popen[str]:
    """Another program that has the file open."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(store.path), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "open\n"
    return process


def child(script: str, *arguments: object) -> str:
    """What a process of its own prints."""
    result = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(CORE)},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def cutoffs(store: Store) -> list[int]:
    with store.read() as con:
        return [k for (k,) in con.execute("select k from cutoffs order by k").fetchall()]


# Writing


def test_what_is_written_is_read(store):
    assert cutoffs(store) == [1, 3, 5, 7, 10, 20, 50, 100]


def test_after_writing_there_is_the_file_and_its_gate_and_nothing_else(written):
    assert sorted(path.name for path in written.iterdir()) == ["store.duckdb", "store.duckdb.gate"]


def test_an_error_in_the_block_leaves_the_store_as_it_was(store, con):
    def write(k: int, then: str) -> None:
        with store.write(con):
            con.execute("insert into store.cutoffs values (?)", [k])
            con.execute(then)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(8, then="select 1")
    with pytest.raises(duckdb.CatalogException):
        write(9, then="insert into store.nothing values (9)")
    assert 8 not in cutoffs(store)
    assert 9 not in cutoffs(store)
    with store.write(con):
        con.execute("insert into store.cutoffs values (11)")
    assert 11 in cutoffs(store)


def test_an_error_in_the_first_transaction_leaves_no_store(tmp_path, con):
    store = Store(tmp_path / "store.duckdb")
    with pytest.raises(ZeroDivisionError), store.write(con):
        raise ZeroDivisionError
    assert not store.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["store.duckdb.gate"]


def test_a_new_store_takes_the_place_of_an_empty_file(tmp_path, con):
    store = Store(tmp_path / "store.duckdb")
    store.path.touch()
    with store.write(con):
        con.execute("insert into store.cutoffs values (7)")
    assert 7 in cutoffs(store)


def test_making_a_store_leaves_files_with_like_names_alone(tmp_path, con):
    for name in ("store.duckdb.new", "store.duckdb.bak"):
        (tmp_path / name).write_text("mine")
    with Store(tmp_path / "store.duckdb").write(con):
        pass
    assert (tmp_path / "store.duckdb.new").read_text() == "mine"


def test_a_new_store_never_takes_the_place_of_another_programs_file(tmp_path, con):
    store = Store(tmp_path / "store.duckdb")
    with pytest.raises(StoreUnavailable, match="another program made"), store.write(con):
        store.path.write_text("something else")
    assert store.path.read_text() == "something else"
    assert not list(tmp_path.glob("*rankroom-new*"))


def test_the_workspace_is_as_before_after_writing(store, con):
    with store.write(con):
        con.execute("insert into store.cutoffs values (8)")
    assert con.execute("select current_database(), count(*) from cutoffs").fetchall() == [("memory", 7)]
    assert con.execute(
        "select count(*) from duckdb_databases() where database_name = 'store'"
    ).fetchall() == [(0,)]


def test_a_path_with_quotes_and_spaces(tmp_path, con):
    store = Store(tmp_path / 'it\'s a "store" & more.duckdb')
    with store.write(con):
        con.execute("insert into store.cutoffs values (7)")
    assert 7 in cutoffs(store)


def test_a_link_and_its_target_are_one_store(store, con):
    name = store.path.with_name("link.duckdb")
    name.symlink_to(store.path)
    link = Store(name)
    with link.write(con):
        con.execute("insert into store.cutoffs values (8)")
    assert 8 in cutoffs(store)
    assert link.stamp() == store.stamp()
    assert not list(store.path.parent.glob("link.duckdb.*"))


def test_the_file_opens_in_duckdb_1_5(store):
    with store.read() as con:
        tag = (
            "select tags['storage_version'] from duckdb_databases() where database_name = current_database()"
        )
        assert con.execute(tag).fetchall() == [("v1.5.0+",)]


def test_views_and_macros_work_under_any_name_of_the_database(store):
    con = duckdb.connect()
    con.execute(f"attach '{store.path}' as reviews (read_only); use reviews")
    names = con.execute("select view_name from duckdb_views() where not internal").fetchall()
    assert names
    for (name,) in names:
        con.execute(f'select * from "{name}"').fetchall()


# The stamp


def test_the_stamp_changes_with_every_transaction_and_only_then(store, con):
    before = store.stamp()
    cutoffs(store)
    assert store.stamp() == before
    with store.write(con):
        con.execute("insert into store.cutoffs values (8)")
    assert store.stamp() != before
    assert Store(store.path.with_name("missing.duckdb")).stamp() == (0, 0, 0, 0)


# Reading


def test_readers_cannot_write_nor_see_python_variables(store):
    frame = duckdb.sql("select 1 as a").to_arrow_table()
    with store.read() as con:
        with pytest.raises(duckdb.InvalidInputException, match="read-only"):
            con.execute("insert into cutoffs values (8)")
        with pytest.raises(duckdb.CatalogException):
            con.execute("select * from frame")
    assert frame.num_rows == 1


def test_many_threads_read_at_once(store):
    seen: list[int] = []

    def read() -> None:
        for _ in range(4):
            seen.append(len(cutoffs(store)))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [8] * 16


# Trouble


def test_no_store_says_how_to_make_one(tmp_path):
    store = Store(tmp_path / "my store.duckdb")
    with (
        pytest.raises(StoreUnavailable, match=r"no store at .*: `rankroom add --store '.*my store.duckdb' "),
        store.read(),
    ):
        pass
    with pytest.raises(StoreUnavailable, match="there is no store"):
        store.migrate()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text("run,score\n" * 1000), "it is not a DuckDB file"),
        (lambda path: path.mkdir(), "is a folder"),
        (os.mkfifo, "is a device, a pipe or a socket"),
        (
            lambda path: duckdb.connect(str(path)).execute("create table a (b int)").close(),
            "not a store of rankroom",
        ),
    ],
)
def test_what_is_no_store_is_left_alone(tmp_path, con, make, sentence):
    store = Store(tmp_path / "store.duckdb")
    make(store.path)
    before = store.path.stat()
    for use in (store.read, lambda: store.write(con)):
        with pytest.raises(StoreUnavailable, match=sentence), use():
            pass
    with pytest.raises(StoreUnavailable, match=sentence):
        store.migrate()
    assert (store.path.stat().st_ino, store.path.stat().st_mode) == (before.st_ino, before.st_mode)


def test_a_missing_folder(tmp_path, con):
    store = Store(tmp_path / "nowhere" / "store.duckdb")
    with pytest.raises(StoreUnavailable, match="there is no folder"), store.write(con):
        pass
    with pytest.raises(StoreUnavailable, match="there is no folder"), store.read():
        pass


def test_a_damaged_store(store):
    content = bytearray(store.path.read_bytes())
    for position in range(4096 * 3 + 100, len(content), 1000):
        content[position] ^= 255
    store.path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match="is damaged"):
        cutoffs(store)
    store.path.write_bytes(content[:6000])
    with pytest.raises(StoreUnavailable, match="is damaged"):
        cutoffs(store)


def test_a_writer_waits_for_a_program_that_reads_and_then_names_it(store, con):
    holder = held(store, "reading")
    with (
        pytest.raises(StoreUnavailable, match=rf"python.*\(PID {holder.pid}\) has it open"),
        store.write(con, wait=0.3),
    ):
        pass
    assert 7 in cutoffs(store)
    threading.Timer(0.5, holder.communicate).start()
    with store.write(con, wait=30):
        con.execute("insert into store.cutoffs values (8)")
    assert 8 in cutoffs(store)


def test_a_reader_waits_for_a_program_that_writes_and_then_names_it(store):
    holder = held(store, "writing")
    with pytest.raises(StoreUnavailable, match=rf"\(PID {holder.pid}\) has it open"), store.read(wait=0.2):
        pass
    threading.Timer(0.5, holder.communicate).start()
    with store.read(wait=30) as con:
        assert con.execute("select 1").fetchall() == [(1,)]


def test_a_reader_waits_for_a_writer_of_rankroom(store, con):
    entered, waiting = threading.Event(), threading.Event()

    def write() -> None:
        with store.write(con):
            con.execute("insert into store.cutoffs values (8)")
            entered.set()
            waiting.wait(5)

    writer = threading.Thread(target=write)
    writer.start()
    entered.wait(5)
    with pytest.raises(StoreUnavailable, match="kept writing"), store.read(wait=0.1):
        pass
    waiting.set()
    with store.read() as reader:
        assert reader.execute("select count(*) from cutoffs where k = 8").fetchall() == [(1,)]
    writer.join()


def test_writing_beside_an_open_reader_of_the_same_process(store, con):
    with (
        store.read(),
        pytest.raises(StoreUnavailable, match="open in this very program"),
        store.write(con),
    ):
        pass


NOBODY = """
import os, sys
import duckdb
from rankroom.errors import StoreUnavailable
from rankroom.store import Store
from rankroom.workspace import open_workspace
if os.geteuid() == 0:
    os.setuid(65534)
con = open_workspace()
for store in map(Store, sys.argv[1:]):
    for use in (store.read, lambda: store.write(con)):
        try:
            with use() as opened:
                print(len(opened.execute("select k from cutoffs").fetchall()), "cutoffs")
        except StoreUnavailable as error:
            print(error)
"""


def test_one_who_may_only_read_reads_and_is_told_so_on_writing(store):
    places = [Path(tempfile.mkdtemp()) for _ in range(3)]
    try:
        copies = [Path(shutil.copy(store.path, place)) for place in places]
        for copy, mode, of_folder in zip(copies, (0o444, 0o000, 0o000), (0o555, 0o555, 0o000), strict=True):
            copy.chmod(mode)
            copy.parent.chmod(of_folder)
        read, write, *shut = child(NOBODY, *copies).splitlines()
        assert read == "8 cutoffs"
        assert "permission denied" in write
        assert ["permission denied" in said for said in shut] == [True] * 4
        assert [path.name for path in places[0].iterdir()] == ["store.duckdb"]
    finally:
        for place in places:
            place.chmod(0o700)
            shutil.rmtree(place)


FULL = """
import resource, sys
from rankroom.errors import StoreUnavailable
from rankroom.store import Store
from rankroom.workspace import open_workspace
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
for path, size in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    store, con = Store(path), open_workspace()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        with store.write(con):
            con.execute(
                "insert into store.rankings "
                "select 'r', 'final', 'q' || i, 1, 'd' || hash(i), i from range(150000) t(i)")
    except StoreUnavailable as error:
        print(error)
"""


def test_a_full_disk_stores_nothing_and_harms_nothing(store, con):
    said = child(FULL, store.path, store.path.stat().st_size + 100_000)
    assert "the disk is full" in said
    assert "nothing was stored" in said
    with store.read() as reader:
        assert reader.execute("select count(*) from rankings").fetchall() == [(0,)]
    with store.write(con):
        con.execute("insert into store.cutoffs values (8)")
    assert 8 in cutoffs(store)


def test_a_full_disk_leaves_no_half_made_store(tmp_path):
    sizes = {tmp_path / f"{size}.duckdb": size for size in (5_000, 300_000, 2_000_000)}
    said = child(FULL, *(part for pair in sizes.items() for part in pair)).splitlines()
    assert ["the disk is full" in line for line in said] == [True] * 3
    assert {file.name for file in tmp_path.iterdir()} == {f"{path.name}.gate" for path in sizes}


# Other versions of the program


def test_a_newer_store_is_refused_and_an_older_one_says_what_to_run(store, con, other_sql):
    number = migrations.newest() + 1
    added = other_sql / "schema" / f"{number:03}_more.sql"
    added.write_text("create table more (a integer); insert into more values (1);")
    with pytest.raises(StoreUnavailable, match=r"`rankroom migrate --store .*store.duckdb`"), store.read():
        pass
    assert store.migrate()
    assert not store.migrate()
    with store.read() as reader:
        assert reader.execute("from more").fetchall() == [(1,)]
        assert reader.execute("select count(*) from cutoffs where k = 7").fetchall() == [(1,)]
    added.unlink()
    newer = rf"store.duckdb has schema version {number}, .*up to {number - 1}: use a newer rankroom"
    for use in (store.read, lambda: store.write(con)):
        with pytest.raises(StoreUnavailable, match=newer), use():
            pass
    with pytest.raises(StoreUnavailable, match=newer):
        store.migrate()


def test_writing_migrates_an_older_store(store, con, other_sql):
    number = migrations.newest() + 1
    (other_sql / "schema" / f"{number:03}_more.sql").write_text("alter table cutoffs add column why varchar;")
    with store.write(con):
        con.execute("insert into store.cutoffs values (8, 'asked for')")
    with store.read() as reader:
        assert reader.execute("select k from cutoffs where why = 'asked for'").fetchall() == [(8,)]


def test_what_only_newer_views_have_is_said_to_need_them(store, other_sql):
    (other_sql / "views" / "99_new.sql").write_text("create or replace view further as select 1 as one")
    with pytest.raises(StoreUnavailable, match=r"the views of .*rankroom migrate"), store.read() as con:
        con.execute("from further")
    store.migrate()
    with store.read() as con:
        assert con.execute("from further").fetchall() == [(1,)]
    with pytest.raises(duckdb.CatalogException), store.read() as con:
        con.execute("from no_such_table")


def test_new_views_come_with_the_next_write(store, con, other_sql):
    (other_sql / "views" / "99_new.sql").write_text(
        "create or replace view few as select k from cutoffs where k < 7;"
    )
    with store.write(con):
        con.execute("insert into store.cutoffs values (2)")
    with store.read() as reader:
        assert reader.execute("from few order by k").fetchall() == [(1,), (2,), (3,), (5,)]


# The workspace


def test_a_workspace_can_have_the_tables_and_views_of_a_store_and_no_rows(store):
    listing = (
        "select table_name, column_name, data_type from duckdb_columns() where not internal order by all"
    )
    with store.read() as reader, open_workspace(views=True) as con:
        assert con.execute(listing).fetchall() == reader.execute(listing).fetchall()
        assert con.execute("select count(*) from runs").fetchall() == [(0,)]


def test_a_workspace_spills_to_the_temporary_folder_and_cleans_up():
    con = open_workspace(memory_limit="60MB")
    (place,) = con.execute("select current_setting('temp_directory')").fetchall()[0]
    assert Path(place).parent == Path(tempfile.gettempdir())
    con.execute("create table large as select range as a, hash(range)::varchar as b from range(3000000)")
    assert con.execute("select count(*) from (select b from large order by b)").fetchall() == [(3_000_000,)]
    assert Path(place).is_dir()
    con.close()
    assert not Path(place).exists()
