"""Statements of strangers: what they get, and that they cannot get out or go on for ever.

Each attack runs in a process of its own, several side by side; after all of them this process lives, the
store is the same to the byte, no process is left and nothing lies about.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pytest
from rankroom import sandbox
from rankroom.sandbox import Answer, Limits, StatementError, ask
from rankroom.store import Store
from small_stores import add_small

QUICK = Limits(seconds=5)
BRIEF = Limits(seconds=0.4)
SECRET = "hunter2-of-the-parent"


class Attack(NamedTuple):
    statement: str
    kind: str = "refused"
    says: str = ""
    limits: Limits = QUICK


CHANGES = "rankroom add"
OUTSIDE = "nothing but the store"
SETTINGS = "settings are locked"
TIME = "longer than 0.4 seconds"
MEMORY = "more memory than it may have"

REFUSED = {
    "read_text": Attack("from read_text('{folder}/secret.csv')", says=OUTSIDE),
    "read_blob": Attack("from read_blob('/etc/passwd')", says=OUTSIDE),
    "read_csv": Attack("from read_csv('{folder}/secret.csv')", says=OUTSIDE),
    "read_json": Attack("from read_json('{folder}/secret.csv')", says=OUTSIDE),
    "file name": Attack("from '{folder}/secret.csv'", says=OUTSIDE),
    "parquet": Attack("from '{folder}/secret.parquet'", says=OUTSIDE),
    "parquet_metadata": Attack("from parquet_metadata('{folder}/secret.parquet')", says=OUTSIDE),
    "glob": Attack("from glob('{folder}/*')", says=OUTSIDE),
    "sniff_csv": Attack("from sniff_csv('{folder}/secret.csv')", says=OUTSIDE),
    "another database": Attack("from read_duckdb('{folder}/other.duckdb', table_name='t')", says=OUTSIDE),
    "own environment": Attack("from read_text('/proc/self/environ')", says=OUTSIDE),
    "own stdin": Attack("from read_text('/dev/fd/0')", says=OUTSIDE),
    "network": Attack("from read_text('http://127.0.0.1:1/x')", says=OUTSIDE),
    "secrets": Attack("from duckdb_secrets()", says=OUTSIDE),
    "copy to": Attack("copy runs to '{folder}/out.csv'", says="writes no files"),
    "copy from": Attack("copy runs from '{folder}/secret.csv'", says="writes no files"),
    "export": Attack("export database '{folder}/out'", says="writes no files"),
    "attach itself": Attack("attach '{store}' as again", says="one store"),
    "attach memory": Attack("attach ':memory:' as m", says="one store"),
    "detach": Attack("detach store", says="one store"),
    "install": Attack("install httpfs", says="neither installed nor loaded"),
    "load": Attack("load '{folder}/evil.duckdb_extension'", says="neither installed nor loaded"),
    "pragma": Attack("pragma database_list", says="PRAGMA"),
    "set": Attack("set enable_external_access = true", says=SETTINGS),
    "reset": Attack("reset enable_external_access", says=SETTINGS),
    "set variable": Attack("set variable a = 1", says=SETTINGS),
    "use": Attack("use memory", says=SETTINGS),
    "call": Attack("call enable_logging(storage = 'file')", says="CALL"),
    "prepare": Attack("prepare p as select 1", says="the statement itself"),
    "begin": Attack("begin", says="nothing to begin"),
    "create temp": Attack("create temp table t as select 1", says=CHANGES),
    "create macro": Attack("create temp macro m() as 1", says=CHANGES),
    "drop": Attack("drop table runs", says=CHANGES),
    "delete": Attack("delete from runs", says=CHANGES),
    "insert": Attack("insert into cutoffs values (7)", says=CHANGES),
    "update": Attack("update runs set note = 'x'", says=CHANGES),
    "delete in a select": Attack("with x as (delete from runs returning *) select * from x", says=CHANGES),
    "insert in a select": Attack(
        "with x as (insert into cutoffs values (7) returning k) from x", says=CHANGES
    ),
    "explain analyze delete": Attack("explain analyze delete from runs", says="EXPLAIN is for a SELECT"),
    "explain analyze copy": Attack("explain analyze copy runs to '{folder}/out.csv'", says="EXPLAIN is for"),
    "two statements": Attack("select 1; drop table runs", says="there are 2"),
    "comment only": Attack("-- select 1", says="no statement here"),
    "pivot without values": Attack("pivot query_scores on k using avg(hit) group by run", says="ON k IN"),
    "type without a form": Attack("select 1::uhugeint as big", says="big is of the type UHUGEINT"),
    "number too long": Attack(f"select {2**127 - 1}::hugeint", says="cast it to VARCHAR"),
}

FAILED = {
    "logging in a select": Attack("select * from enable_logging(storage = 'file')", "failed", "locked"),
    "query() that drops": Attack("from query('drop table runs')", "failed", "single SELECT"),
    "data frame of the parent": Attack("from frame_of_the_parent", "failed", "does not exist"),
    "pointer": Attack("from arrow_scan(4096::pointer, 1, 1)", "failed", "does not exist"),
    "getenv": Attack("select getenv('RANKROOM_SECRET')", "failed", "getenv"),
    "nested parentheses": Attack("select " + "(" * 40_000 + "1" + ")" * 40_000, "failed", "depth"),
    "nested lists": Attack("select " + "[" * 40_000 + "1" + "]" * 40_000, "failed", "depth"),
    "long sum": Attack("select 1" + "+1" * 40_000, "failed", "depth"),
    "open comment": Attack("/* select 1", "failed", "comment"),
    "open string": Attack("select 'x", "failed", "unterminated"),
    "parameter": Attack("select $1", "failed", "parameter"),
}

ENDLESS = {
    "cross join of everything": Attack(
        "select sum(hash(a, b, c, d, e)) from (" + " union all ".join(["from query_metrics"] * 9) + ") a, "
        "query_metrics b, query_metrics c, query_metrics d, query_metrics e",
        "time",
        TIME,
        BRIEF,
    ),
    "recursion without end": Attack(
        "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t",
        "time",
        TIME,
        BRIEF,
    ),
    "join of ranges": Attack(
        "select count(*) from range(1000000) a join range(1000000) b on a.range <> b.range",
        "time",
        TIME,
        BRIEF,
    ),
    "sleep": Attack("select sleep_ms(60000)", "time", TIME, BRIEF),
    "levenshtein": Attack(
        "select levenshtein(repeat('a', 100000), repeat('b', 100000))", "time", TIME, BRIEF
    ),
    "regex": Attack(
        "select regexp_replace(repeat('a', 5000000), 'a', 'bbbbbbbbbb', 'g')", "time", TIME, BRIEF
    ),
}

HUNGRY = {
    "repeat": Attack("select repeat('x', 2000000000)", "memory", MEMORY),
    "generate_series": Attack("select generate_series(1, 1000000000)", "memory", MEMORY),
    "list_sum": Attack("select list_sum(range(1000000000))", "memory", MEMORY),
    "list_resize": Attack("select list_resize([1], 2000000000)", "memory", MEMORY),
    "printf": Attack("select printf('%2000000000d', 1)", "memory", MEMORY),
    "format": Attack("select format('{{:>2000000000}}', 1)", "memory", MEMORY),
    "lpad": Attack("select lpad('x', 2000000000, 'y')", "memory or time", "", BRIEF),
    "bitstring": Attack("select bitstring('1', 2000000000)::varchar", "memory or time", "", BRIEF),
    "array_agg": Attack("select array_agg(range) from range(1000000000)", "memory or time", "", BRIEF),
    "one large value": Attack("select repeat('x', 30000000)", "size", "a row is larger than 20 MB"),
}

SHORT = REFUSED | FAILED | {name: attack for name, attack in HUNGRY.items() if attack.limits is QUICK}
"""Those that end by themselves and at once."""

ATTACKS = SHORT | ENDLESS | HUNGRY

READING = [
    "describe run_summary",
    "show tables",
    "summarize runs",
    "explain select * from runs",
    "/* why */ explain analyze select * from runs",
    "from query('select 1')",
    "from run_comparison('first', 'first', 5)",
    "pivot query_scores on k in (1, 5) using avg(hit) group by run",
    "values (1), (2)",
]

ONE_ROW = (
    "select run, n, ndcg, sum(n) over () as total, 0.1::decimal(3, 1) as tenth, 9007199254740993 as big,"
    " [1, 2] as list, map {'a': 1} as map, null as nothing, date '2026-03-01' as day"
    " from run_summary where k = 5 and split = 'all'; -- and a comment"
)
SAME_NAMES = 'select 1 as a, 2 as a, 3 as "A", 4 as "<b>\'"'
THOUSANDS = "from range(100000000)"
ORDERED = "select range as n from range(5000) order by n desc"
THREE = "from range(3)"
LARGE_ROWS = "select repeat('x', 1000000) as text from range(10)"
NO_ROWS = "select run, 1 as one from runs where false"
WRONG_NAME = "-- é\nselect run,\n  nope from runs"
LATE_ERROR = "select if(range = 9000, error('it\"s over'), 1) from range(9001)"
LONG_ERROR = "select error(repeat('x', 1000000))"
SETTINGS_OF_DUCKDB = "select name, value from duckdb_settings() order by name"

LOOKED_AT = {
    ONE_ROW: QUICK,
    SAME_NAMES: QUICK,
    THOUSANDS: QUICK,
    ORDERED: replace(QUICK, rows=3),
    THREE: replace(QUICK, rows=3),
    LARGE_ROWS: replace(QUICK, size=4_000_000),
    NO_ROWS: QUICK,
    WRONG_NAME: QUICK,
    LATE_ERROR: QUICK,
    LONG_ERROR: QUICK,
    SETTINGS_OF_DUCKDB: QUICK,
}
"""Whose answers tests look at closely, with their limits."""

FORKS = """
import io, json, os, sys
sys.path += [path for path in sys.argv[1:] if path not in sys.path]
from rankroom.sandbox_worker import main
said = []
for job in json.load(sys.stdin):
    reply, given = os.pipe()
    if not (child := os.fork()):
        os.dup2(given, 1)
        os.close(given)
        sys.stdin = io.StringIO(json.dumps(job))
        try:
            main()
            os._exit(0)
        finally:
            os._exit(1)
    os.close(given)
    with open(reply, "rb") as channel:
        said.append((channel.read().hex(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
print(json.dumps(said))
"""
"""Stands in for the program that runs one job: a process for each of many, which start where imports end."""


@dataclass(frozen=True)
class Place:
    store: Store
    folder: Path
    temp: Path
    processes: list[int]

    def ask(self, statement: str, **limits: Any) -> Answer:
        return ask(self.store, statement, replace(QUICK, **limits))

    def fails(self, statement: str, **limits: Any) -> StatementError:
        return fails(partial(self.ask, statement, **limits))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A small store, files that nobody may see, and a folder that has to be empty in the end."""
    folder = tmp_path_factory.mktemp("attacked")
    store = Store(folder / "store.duckdb")
    labels = {f"q{i}": {"a": 1, "b": 1} for i in range(20)}
    add_small(store, folder / "files", labels, {"first": {q: ["a", "b", "c"] for q in labels}})
    (folder / "secret.csv").write_text("secret\nhunter2\n")
    with duckdb.connect(folder / "other.duckdb") as con:
        con.execute(f"copy (select 'hunter2' as secret) to '{folder}/secret.parquet'")
        con.execute("create table t as select 'hunter2' as secret")
    processes: list[int] = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any):
            super().__init__(*args, **options)
            processes.append(self.pid)

    temp = folder / "temp"
    temp.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tempfile, "tempdir", str(temp))
        patched.setattr(sandbox.subprocess, "Popen", Watched)
        patched.setenv("RANKROOM_SECRET", SECRET)
        yield Place(store, folder, temp, processes)


Attempt = Callable[[], Answer]
"""What became of a statement: gives its rows, or raises StatementError."""


@pytest.fixture(scope="module")
def ended(place: Place) -> dict[str, Attempt]:
    """What became of every statement that ends by itself."""
    statements = {name: (written(place, attack), attack.limits) for name, attack in SHORT.items()}
    statements |= {statement: (statement, QUICK) for statement in READING}
    statements |= {statement: (statement, limits) for statement, limits in LOOKED_AT.items()}
    jobs = [json.loads(sandbox._job(place.store, *statement)) for statement in statements.values()]
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        patched.setattr(sandbox, "BOOT", FORKS)
        with sandbox._process(json.dumps(jobs).encode(), folder) as (process, errors):
            assert process.stdout
            said = process.stdout.read()
            assert process.wait() == 0, errors.seek(0) or errors.read()
        assert not any(Path(folder).iterdir())
    return {
        name: partial(sandbox._answer, bytes.fromhex(reply), status, io.BytesIO(), *statement)
        for (name, statement), (reply, status) in zip(statements.items(), json.loads(said), strict=True)
    }


@pytest.fixture(scope="module")
def attempts(
    place: Place, ended: dict[str, Attempt], request: pytest.FixtureRequest
) -> Iterator[dict[str, Attempt]]:
    """What became of every attack that this session is about, those that do not end two at a time."""
    wanted = {item.callspec.params["name"] for item in request.session.items if is_attack(item)}
    before = place.store.path.read_bytes()
    with ThreadPoolExecutor(2) as pool:
        yield ended | {
            name: pool.submit(ask, place.store, written(place, ATTACKS[name]), ATTACKS[name].limits).result
            for name in ATTACKS
            if name in wanted - ended.keys()
        }
    assert place.store.path.read_bytes() == before
    assert sorted(path.name for path in place.folder.iterdir()) == [
        "files",
        "other.duckdb",
        "secret.csv",
        "secret.parquet",
        "store.duckdb",
        "store.duckdb.gate",
        "temp",
    ]
    assert_all_gone(place)


def written(place: Place, attack: Attack) -> str:
    """The statement of an attack on this place."""
    if "{" not in attack.statement:
        return attack.statement
    return attack.statement.format(folder=place.folder, store=place.store.path)


def is_attack(item: pytest.Item) -> bool:
    return getattr(item, "originalname", "") == "test_an_attack_gets_a_sentence"


def assert_all_gone(place: Place) -> None:
    assert list(place.temp.iterdir()) == []
    for process in place.processes:
        with pytest.raises(ProcessLookupError):
            os.killpg(process, 0)


@pytest.mark.parametrize("name", list(ATTACKS))
def test_an_attack_gets_a_sentence(attempts: dict[str, Attempt], name: str) -> None:
    with pytest.raises(StatementError) as caught:
        attempts[name]()
    assert caught.value.kind in ATTACKS[name].kind.split(" or ")
    assert ATTACKS[name].says in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_long_time_is_stopped_in_time(place: Place) -> None:
    began = time.monotonic()
    place.fails("select sleep_ms(60000)", seconds=0.2)
    assert time.monotonic() - began < 20
    assert_all_gone(place)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("select " + "1" * 10_000_000, "10,000,007 bytes, and 100,000 are the most"),
        ("é" * 60_000, "120,000 bytes"),
        ("select 1\0; drop table runs", "NUL"),
        ("select '\ud800'", "half a character"),
        ("", "no statement"),
        (" \n\t ", "no statement"),
    ],
)
def test_some_are_refused_before_a_process_is_started(place: Place, statement: str, says: str) -> None:
    started = len(place.processes)
    error = place.fails(statement)
    assert error.kind == "refused"
    assert says in str(error)
    assert len(place.processes) == started


def test_rows_come_with_their_types_and_exact_numbers(place: Place, ended: dict[str, Attempt]) -> None:
    table = ended[ONE_ROW]().table
    with place.store.read() as con:
        ((ndcg,),) = con.execute("select ndcg from run_summary where k = 5 and split = 'all'").fetchall()
    (row,) = table.to_pylist()
    assert (row["run"], row["n"], row["ndcg"], row["total"]) == ("first", 20, ndcg, 20)
    assert (str(row["tenth"]), row["big"], row["list"]) == ("0.1", 9007199254740993, [1, 2])
    assert (row["map"], row["nothing"], str(row["day"])) == ([("a", 1)], None, "2026-03-01")


@pytest.mark.parametrize("statement", READING)
def test_what_only_reads_is_let_through(ended: dict[str, Attempt], statement: str) -> None:
    assert ended[statement]().table.num_rows


def fails(attempt: Attempt) -> StatementError:
    with pytest.raises(StatementError) as caught:
        attempt()
    return caught.value


def test_columns_with_one_name_get_numbers(ended: dict[str, Attempt]) -> None:
    assert ended[SAME_NAMES]().table.column_names == ["a", "a_2", "A", "<b>'"]


def test_rows_are_cut_and_that_is_said(ended: dict[str, Attempt]) -> None:
    answer = ended[THOUSANDS]()
    assert (answer.table.num_rows, answer.cut) == (10_000, "cut at 10,000 rows")
    answer = ended[ORDERED]()
    assert (answer.table.column("n").to_pylist(), answer.cut) == ([4999, 4998, 4997], "cut at 3 rows")
    answer = ended[THREE]()
    assert (answer.table.num_rows, answer.cut) == (3, "")


def test_bytes_are_cut_and_that_is_said(ended: dict[str, Attempt]) -> None:
    answer = ended[LARGE_ROWS]()
    assert (answer.table.num_rows, answer.cut) == (3, "cut at 4 MB")


def test_no_rows_are_an_answer(ended: dict[str, Attempt]) -> None:
    answer = ended[NO_ROWS]()
    assert answer.table.schema == pa.schema([("run", pa.string()), ("one", pa.int32())])
    assert (answer.table.num_rows, answer.cut) == (0, "")


def test_an_error_says_where(ended: dict[str, Attempt]) -> None:
    error = fails(ended[WRONG_NAME])
    assert "nope" in str(error)
    assert (error.kind, error.line, error.column, error.length) == ("failed", 3, 3, 4)


def test_an_error_amid_the_rows_is_an_error(ended: dict[str, Attempt]) -> None:
    error = fails(ended[LATE_ERROR])
    assert (error.kind, str(error)) == ("failed", 'Invalid Input error: it"s over')


def test_a_long_message_is_clipped(ended: dict[str, Attempt]) -> None:
    assert len(str(fails(ended[LONG_ERROR]))) < 500


def test_nothing_of_the_parents_environment_is_there(ended: dict[str, Attempt]) -> None:
    settings = ended[SETTINGS_OF_DUCKDB]().table.to_pylist()
    assert SECRET not in str(settings)
    values = {row["name"]: row["value"] for row in settings}
    assert (values["enable_external_access"], values["lock_configuration"]) == ("false", "true")
    assert (values["temp_directory"], values["TimeZone"]) == ("", "UTC")
    assert values["python_enable_replacements"] == "false"
    assert values["autoinstall_known_extensions"] == values["autoload_known_extensions"] == "false"


PROBE = """
import os, socket, sys
from pathlib import Path
sys.path += sys.argv[2:]
from rankroom.sandbox_landlock import restrict_to
held = restrict_to([Path(sys.argv[1])])
def tries(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "done"
print(held, tries(lambda: open(sys.argv[1]).read()), tries(lambda: open("/etc/passwd").read()),
      tries(lambda: open(sys.argv[1], "w")), tries(lambda: os.listdir("/")), tries(lambda: os.mkdir("x")),
      tries(lambda: os.execv("/bin/true", ["true"])))
"""


def test_the_kernel_says_the_same_where_it_can(tmp_path: Path) -> None:
    """A process that gave its files up reads the one it kept, and nothing else, whatever runs in it."""
    kept = tmp_path / "kept"
    kept.write_text("kept")
    out = subprocess.run(
        [sandbox.sys.executable, "-c", PROBE, kept, *sandbox.sys.path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    if out:  # without Landlock the last attempt takes the place of the process before it prints
        assert out == ["True", "done", *["PermissionError"] * 5]
    assert kept.read_text() == ("kept" if out else "")


def test_a_store_that_is_not_there(place: Place) -> None:
    with pytest.raises(StatementError) as caught:
        ask(Store(place.folder / "none.duckdb"), "select 1")
    assert caught.value.kind == "unavailable"
    assert "there is no store" in str(caught.value)


def test_a_store_that_is_being_written(place: Place) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    store = place.folder / "files" / "busy.duckdb"
    store.write_bytes(place.store.path.read_bytes())
    with subprocess.Popen(
        [sandbox.sys.executable, "-c", code, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(StatementError) as caught:
            ask(Store(store), "select 1", replace(QUICK, wait=0.2))
        writer.communicate()
    assert caught.value.kind == "unavailable"
    assert f"{store} could not be had" in str(caught.value)
    assert str(writer.pid) in str(caught.value)


def test_a_process_that_dies_is_a_sentence(place: Place) -> None:
    """A crash of DuckDB, played by a signal from outside."""
    started = len(place.processes)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(place.ask, "select sleep_ms(60000)")
        while len(place.processes) == started or not is_asleep(place.processes[-1]):
            time.sleep(0.02)
        os.kill(place.processes[-1], signal.SIGSEGV)
        with pytest.raises(StatementError) as caught:
            answer.result()
    assert caught.value.kind == "broken"
    assert "SIGSEGV" in str(caught.value)
    assert_all_gone(place)


def is_asleep(process: int) -> bool:
    """Whether it has its limits, which is the last that it does before it runs the statement."""
    limits = Path(f"/proc/{process}/limits")
    if not limits.exists():  # macOS
        time.sleep(2)
        return True
    return "Max file size             0 " in limits.read_text()


@pytest.mark.parametrize(
    "reply",
    [
        "print('nonsense')",
        'print(\'{"open": true}\'); print(\'{"answer": {"cut": "", "seconds": 1}}\'); print("no arrow")',
        'print(\'{"open": true}\'); print("[1]")',
        'print(\'{"open": true}\'); print(\'{"fault": {"kind": "failed"}}\')',
        "raise SystemExit(3)",
    ],
)
def test_a_reply_that_is_none_is_not_trusted(
    place: Place, monkeypatch: pytest.MonkeyPatch, reply: str
) -> None:
    monkeypatch.setattr(sandbox, "BOOT", reply)
    assert place.fails("select 1").kind == "broken"


def test_a_reply_without_end_is_cut_off(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "BOOT", "while True: print('x' * 100000)")
    error = place.fails("select 1", size=1000)
    assert (error.kind, "larger than" in str(error)) == ("size", True)
    assert_all_gone(place)


def test_a_process_that_never_starts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "BOOT", "import time; time.sleep(60)")
    monkeypatch.setattr(sandbox, "START", 0.1)
    assert place.fails("select 1", wait=0.1).kind == "unavailable"
    assert_all_gone(place)


def test_an_abandoned_process_ends_by_itself(place: Place) -> None:
    """The alarm is the process's own: nobody has to be there to kill it."""
    job = json.loads(sandbox._job(place.store, "select sleep_ms(60000)", QUICK)) | {"alarm": 1.5}
    with sandbox._process(json.dumps(job).encode(), str(place.folder)) as (process, _):
        assert process.wait(20) == -signal.SIGALRM


def test_only_so_many_run_at_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MOST_AT_ONCE", 1)
    monkeypatch.setattr(sandbox, "PATIENCE", 0.05)
    with sandbox._places.one():
        error = place.fails("select 1")
    assert error.kind == "busy"
    assert place.ask("select 1").table.num_rows == 1


def test_statements_that_overlap_leave_writers_a_turn() -> None:
    places = sandbox.Places()
    with places.one():
        assert places._may_enter(places._began + sandbox.ROUND - 0.1)
        assert not places._may_enter(places._began + sandbox.ROUND)
    assert places._may_enter(time.monotonic())
    with places.one():
        places._began -= sandbox.ROUND + 1  # as if it had taken so long
    ended = time.monotonic()
    assert not places._may_enter(ended)
    assert places._may_enter(ended + sandbox.WRITERS_TURN)


def test_a_place_is_free_again_after_an_error() -> None:
    places = sandbox.Places()
    for _ in range(sandbox.MOST_AT_ONCE + 1):
        with pytest.raises(ZeroDivisionError), places.one():
            raise ZeroDivisionError


def test_a_writer_gets_its_turn_after_a_statement(place: Place, tmp_path: Path) -> None:
    """It waits while the statement runs, and no longer."""
    store = Store(tmp_path / "store.duckdb")
    store.path.write_bytes(place.store.path.read_bytes())
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, store, "select sleep_ms(60000)", replace(QUICK, seconds=1))
        with duckdb.connect() as con, store.write(con, wait=30):
            con.execute("insert into store.cutoffs values (7)")
        with pytest.raises(StatementError):
            asked.result()
    assert ask(store, "select max(k) = 100 and count(*) = 8 as it from cutoffs").table.to_pylist() == [
        {"it": True}
    ]
