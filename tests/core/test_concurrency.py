"""Many processes on one store: every run once, no reader fails, and kill -9 leaves runs whole or absent."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from rankroom.add import add_trec
from rankroom.store import Store
from rankroom.workspace import open_workspace

CORE = Path(__file__).parents[2] / "core"
ROWS = 3000

# Adds the same file again and again under other names, each time as the command line does: a process for
# each of the names. What all of them import is imported once, before they part.
ADDERS = """
import os, sys
import rankroom.add, rankroom.cli, rankroom.terminal
import numpy.ma, pydantic.type_adapter, rich._emoji_codes, typer._adapters
from rankroom.__main__ import main
store, labels, run, count, name, *others = sys.argv[1:]
sys.argv[0] = "rankroom"
children = []
for other in others:
    if not (child := os.fork()):
        name, children = other, []
        break
    children.append(child)
for number in range(int(count)):
    data = ["--dataset", "stress", "--labels", labels, run, "--name", f"{name}-{number}"]
    sys.argv[1:] = ["add", "--store", store, *data]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
    print("stored", f"{name}-{number}", flush=True)
assert not any([os.waitpid(child, 0)[1] for child in children])
"""

# Transactions of any size without the reading and scoring, so that many of the kills hit one.
WRITER = """
import sys
from rankroom.store import Store
from rankroom.workspace import open_workspace
path, name, count, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
con = open_workspace()
store = Store(path)
print("ready", flush=True)
for number in range(count):
    run = f"{name}-{number}"
    with store.write(con):
        con.execute(
            "insert into store.runs by name select ? as run, 'q@1' as query_set, 'c@1' as collection, "
            "'list' as ordered_by, ? as num_rows, 'x' as content_hash, now() as added_at",
            [run, rows])
        con.execute(
            "insert into store.rankings select ?, 'final', 'q' || i // 100, i % 100 + 1, "
            "'doc-' || hash(i), i from range(?) t(i)",
            [run, rows])
        con.execute(
            "insert into store.run_queries by name select ? as run, 'q' || i as query_id, 'ok' as status "
            "from range(?) t(i)",
            [run, rows // 100])
    print("stored", run, flush=True)
"""

READER = """
import sys, time
from pathlib import Path
from rankroom.store import Store
store, stop = Store(sys.argv[1]), Path(sys.argv[2])
longest, reads = 0.0, 0
while not stop.exists():
    began, worked = time.monotonic(), time.process_time()
    with store.read() as con:
        longest = max(longest, time.monotonic() - began)
        torn = con.execute(
            "select run from runs "
            "left join (select run, count(*) as n from rankings group by run) using (run) "
            "where n is distinct from num_rows").fetchall()
    assert not torn, torn
    reads += 1
    # However long the adders take, a reader takes a twentieth of a processor.
    time.sleep(20 * (time.process_time() - worked))
print(reads, longest)
"""

FOREIGN = """
import duckdb, sys, time
con = duckdb.connect(sys.argv[1], read_only=True)
print("open", flush=True)
time.sleep(5)
"""


QUERIES, DEPTH = 2, 5


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Labels, and a run of them, in TREC form."""
    chance = random.Random(3)
    labels, run = tmp_path / "labels.qrels", tmp_path / "ours.run"
    labels.write_text("".join(f"q{q} 0 d{q}-{d} {d % 3}\n" for q in range(QUERIES) for d in range(100, 105)))
    lines = []
    for query in range(QUERIES):
        documents = chance.sample(range(98, 106), DEPTH)
        lines += [f"q{query} Q0 d{query}-{d} {i + 1} {1000 - i} ours\n" for i, d in enumerate(documents)]
    run.write_text("".join(lines))
    return labels, run


def add_one(path: Path, files: tuple[Path, Path], name: str) -> None:
    """Add the run from this process, which has imported everything."""
    labels, run = files
    add_trec(Store(path), [run], labels=labels, dataset="stress", name=name)


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own that runs the script."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CORE)},
    )


def finish(process: subprocess.Popen[str]) -> str:
    """What the process wrote; it must have ended well."""
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out


def stored(out: str) -> set[str]:
    """The runs that a writer said it had stored."""
    return {
        line.split()[1] for line in out.splitlines() if line.startswith("stored ") and line.count(" ") == 1
    }


def killed_amid_the_next(writer: subprocess.Popen[str], name: str, after: float) -> set[str]:
    """What the writer had stored when it was killed, so many seconds after its first run was in."""
    while (line := writer.stdout.readline()) != f"stored {name}-0\n":
        assert line, writer.communicate()[1]
    time.sleep(after)
    writer.send_signal(signal.SIGKILL)
    return {f"{name}-0"} | stored(writer.communicate()[0])


def rows_by_run(con: duckdb.DuckDBPyConnection) -> dict[str, tuple]:
    """For each run how many rows every table has of it."""
    tables = con.execute(
        "select table_name from duckdb_columns() join duckdb_tables() using (table_name) "
        "where column_name = 'run' order by 1"
    ).fetchall()
    counts = " union all ".join(f"select '{table}' as of, run from {table}" for (table,) in tables)
    return dict(
        con.execute(
            f"with n as (select of, run, count(*) as n from ({counts}) group by all) "
            "select run, list((of, n) order by of) from n group by run"
        ).fetchall()
    )


def torn_runs(con: duckdb.DuckDBPyConnection) -> list[tuple]:
    """Runs of WRITER of which a part is missing, or rows without their run."""
    return con.execute(
        """
        from (select run, num_rows from runs)
        full join (select run, count(*) as rankings from rankings group by run) using (run)
        full join (select run, count(*) as queries from run_queries group by run) using (run)
        where num_rows is distinct from rankings or num_rows // 100 is distinct from queries
        """
    ).fetchall()


def test_eight_adders_four_readers_and_a_shell_left_open(tmp_path, files, record_property):
    folder = tmp_path / "stores"
    folder.mkdir()
    path, stop = folder / "store.duckdb", tmp_path / "stop"
    add_one(path, files, "first-0")
    readers = [start(READER, path, stop) for _ in range(4)]
    shell = start(FOREIGN, path)
    assert shell.stdout.readline() == "open\n"
    said = finish(start(ADDERS, path, *files, 10, *(f"adder{number}" for number in range(8))))
    finish(shell)
    stop.touch()
    seen = [finish(reader).split() for reader in readers]
    record_property("longest wait of a reader", max(float(longest) for _, longest in seen))
    print("reads and longest wait in seconds of each reader:", seen)

    with Store(path).read() as con:
        runs = [run for (run,) in con.execute("select run from runs order by run").fetchall()]
        rows = rows_by_run(con)
        labels = con.execute("select count(*) from label_sets").fetchall()
    added = {f"adder{a}-{number}" for a in range(8) for number in range(10)}
    assert stored(said) == added
    assert runs == sorted({"first-0", *added})
    assert rows.keys() == set(runs)
    assert len({str(counts) for counts in rows.values()}) == 1
    assert dict(rows["first-0"])["rankings"] == QUERIES * DEPTH
    assert labels == [(1,)]
    assert all(int(reads) > 5 for reads, _ in seen)
    assert sorted(file.name for file in folder.iterdir()) == ["store.duckdb", "store.duckdb.gate"]


def test_kill_9_of_add_leaves_its_run_whole_or_absent(tmp_path, files):
    path = tmp_path / "store.duckdb"
    done: set[str] = set()
    for attempt, after in enumerate((0.1, 0.2, 0.3, 0.45)):
        adder = start(ADDERS, path, *files, 100, f"attempt{attempt}")
        done |= killed_amid_the_next(adder, f"attempt{attempt}", after)
        with Store(path).read() as con:
            rows = rows_by_run(con)
            runs = {run for (run,) in con.execute("select run from runs").fetchall()}
        assert done <= runs
        assert rows.keys() == runs
        assert len({str(counts) for counts in rows.values()}) == 1
    add_one(path, files, "last")
    with Store(path).read() as con:
        assert str(rows_by_run(con)["last"]) == str(rows["attempt0-0"])


def test_kill_9_amid_large_transactions(tmp_path):
    path, chance = tmp_path / "store.duckdb", random.Random(7)
    done: set[str] = set()
    for attempt in range(4):
        # Large enough that a commit writes into the file itself, and is caught in the act.
        writer = start(WRITER, path, f"attempt{attempt}", 100, 60_000 if attempt % 2 else ROWS)
        done |= killed_amid_the_next(writer, f"attempt{attempt}", chance.uniform(0, 0.5))
        with Store(path).read() as con:
            assert done <= {run for (run,) in con.execute("select run from runs").fetchall()}
            assert not torn_runs(con)
    with Store(path).write(open_workspace()) as con:
        con.execute("delete from store.runs")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["store.duckdb", "store.duckdb.gate"]


def test_a_store_whose_making_is_killed_is_made_by_the_next(tmp_path):
    for attempt in range(4):
        path = tmp_path / f"{attempt}.duckdb"
        writer = start(WRITER, path, "killed", 1, ROWS)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(attempt * 0.025)
        writer.kill()
        writer.communicate()
        with Store(path).write(open_workspace()) as con:
            con.execute("insert into store.cutoffs values (7)")
        with Store(path).read() as con:
            assert con.execute("select count(*) from cutoffs where k = 7").fetchall() == [(1,)]
            assert not torn_runs(con)
        assert not list(tmp_path.glob("*rankroom-new*"))
