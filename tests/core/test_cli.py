"""The command line as people and scripts meet it: what it prints where, and the exit codes they rely on."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli_run import Ended, Run, run
from rankroom import __version__
from rankroom.__main__ import main
from rankroom.demo import fill, samples
from rankroom.faults import SHOWN
from rankroom.resources import folder
from rankroom.store import Store
from small_stores import add_small, ask, kept_open, write_folder, write_qrels, write_run

EXAMPLE = folder("sample_runs") / "documentation_example"
COMMANDS = (
    "demo",
    "add",
    "list",
    "show",
    "compare",
    "signals",
    "sql",
    "rescore",
    "remove",
    "export",
    "migrate",
    "serve",
)
CORE = Path(__file__).parents[2] / "core"
PATIENCE = 60.0


@pytest.fixture
def rankroom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process and a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKROOM_STORE", raising=False)

    return partial(run, monkeypatch, capsys)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with the documentation example; tests only read it."""
    from rankroom.add import add_folder

    path = tmp_path_factory.mktemp("example") / "s.duckdb"
    add_folder(Store(path), EXAMPLE)
    with kept_open(Store(path)):
        yield path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a store with one run, r, and of the files that it came from; tests only read it."""
    folder = tmp_path_factory.mktemp("small")
    queries = [f"q{at:02}" for at in range(30)]
    rankings = {query: ["d"] if at < 25 else ["x"] for at, query in enumerate(queries)}
    store = Store(folder / "s.duckdb")
    add_small(store, folder, {query: {"d": 1} for query in queries}, {"r": rankings})
    with kept_open(store):
        yield folder


def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """A command in a process of its own; `script` is run in the place of the program itself."""
    environment = os.environ | {"PYTHONPATH": str(CORE)} | options.pop("env", {})
    program = ["-c", options.pop("script")] if "script" in options else ["-m", "rankroom"]
    return subprocess.Popen(
        [sys.executable, *program, *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        # as a shell starts it: in a background job Ctrl-C is ignored, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


def outcome(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err
    return Ended(process.returncode, out, err)


def refused(ended: Ended, code: int, *parts: str) -> None:
    """An error is a sentence on standard error, and standard output is left to results."""
    assert ended.code == code, ended
    assert ended.out == ""
    for part in parts:
        assert part in ended.err, ended.err


# Help


def test_version(rankroom: Run) -> None:
    assert rankroom("--version") == Ended(0, f"rankroom {__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_all_its_options_explained(rankroom: Run, command: str) -> None:
    ended = rankroom(command, "--help")
    assert (ended.code, ended.err) == (0, "")
    for line in re.findall(r"^  -.*$", ended.out, re.MULTILINE):
        assert re.match(r"  -[-\w ,<>\[\]|.]*  +\S|  --\S+ \S+$", line), line


def test_help_has_a_whole_sentence_for_each_command(rankroom: Run) -> None:
    out = rankroom("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} +[A-Z].*[^.]\.$", out, re.MULTILINE), command


def test_help_and_version_load_nothing_heavy() -> None:
    script = """
import sys
from rankroom.__main__ import main
for option in ("--version", "--help"):
    sys.argv = ["rankroom", option]
    try:
        main()
    except SystemExit as end:
        assert not end.code
heavy = {"duckdb", "streamlit", "pyarrow", "pandas", "numpy", "altair", "pydantic"}
print("loaded:", sorted(heavy & sys.modules.keys()))
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(CORE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == "loaded: []"


# Usage


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "No such command 'nope'"),
        (["show"], "Missing argument 'RUN'"),
        (["show", "r", "-k", "x"], "Invalid value for '-k'"),
        (["show", "r", "-k", "0"], "k must be a positive integer, and is 0"),
        (["show", "r", "-k", "-1"], "k must be a positive integer, and is -1"),
        (["show", "r", "--by", "a,b,c,d"], "--by takes at most 3 dimensions, and 4 are given"),
        (["show", "r", "--nope"], "--nope"),
        (["remove"], "Missing argument 'RUN'"),
        (["add"], "give one folder in the native form, or TREC runs with --dataset NAME and --labels QRELS"),
        (["add", "a", "b"], "give one folder in the native form"),
        (["add", "--labels", "q"], "TREC files need both"),
        (["add", "--dataset", "d"], "TREC files need both"),
        (["add", str(EXAMPLE), "--labels", "q"], "give their --revision, too"),
        (
            ["add", "f", "--name", "n"],
            "--name is for TREC files: in the native form a run has its file's name",
        ),
        (["add", "f", "--revision", "1"], "--revision is for TREC files"),
        (["add", "f", "--relevant-from", "1"], "--relevant-from is for TREC files"),
        (["add", "f", "--order", "score"], "--order is for TREC files"),
        (["add", "f", "--order", "id"], "Invalid value for '--order'"),
        (["add", "f", "--keep", "0"], "Invalid value for '--keep'"),
        (["add", "--dataset", "d", "--labels", "q", "--relevant-from", "0", "r"], "must be at least 1"),
        (["add", "--dataset", "d", "--labels", "q", "--name", "n", "r", "s"], "--name names one run"),
        (["export"], "Missing argument 'FOLDER'"),
        (["serve", "--port", "0"], "Invalid value for '--port'"),
        (["serve", "--port", "http"], "Invalid value for '--port'"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(rankroom: Run, arguments: list[str], said: str) -> None:
    refused(rankroom(*arguments), 2, said)
    assert list(Path.cwd().iterdir()) == []


def test_without_a_command_there_is_help(rankroom: Run) -> None:
    ended = rankroom()
    assert ended.code == 2
    assert "Commands:" in ended.out + ended.err


# The store


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "r"],
        ["sql", "select 1"],
        ["rescore"],
        ["remove", "r"],
        ["export", "out"],
        ["migrate"],
    ],
)
def test_without_a_store(rankroom: Run, arguments: list[str]) -> None:
    refused(rankroom(*arguments), 3, "there is no store at rankroom.duckdb", "rankroom add --store")
    assert list(Path.cwd().glob("rankroom.duckdb*")) == []


def test_what_cannot_be_a_store(rankroom: Run, tmp_path: Path) -> None:
    refused(rankroom("list", "--store", tmp_path), 3, "is a folder")
    refused(rankroom("list", "--store", "no/such/s.duckdb"), 3, "there is no folder")
    Path("text.duckdb").write_text("not a database\n" * 1000)
    refused(rankroom("list", "--store", "text.duckdb"), 3, "is not a DuckDB file")
    with duckdb.connect("other.duckdb") as con:
        con.execute("create table t (x integer)")
    refused(rankroom("list", "--store", "other.duckdb"), 3, "not a store of rankroom")


def test_the_store_of_the_environment_and_the_default(
    rankroom: Run, monkeypatch: pytest.MonkeyPatch, example: Path
) -> None:
    monkeypatch.setenv("RANKROOM_STORE", str(example))
    assert len(rankroom("list", "--json").json) == 1
    refused(rankroom("list", "--store", "rankroom.duckdb"), 3)
    monkeypatch.setenv("RANKROOM_STORE", "")
    refused(rankroom("list"), 3, "rankroom.duckdb")


def test_a_store_that_another_process_writes_is_waited_for_and_named(rankroom: Run, small: Path) -> None:
    shutil.copyfile(small / "s.duckdb", "s.duckdb")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import duckdb; c = duckdb.connect('s.duckdb'); print(1, flush=True); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout
    holder.stdout.readline()
    try:
        ended = rankroom("migrate", "--store", "s.duckdb", "--wait", "0.1")
        refused(ended, 3, "s.duckdb could not be had", f"PID {holder.pid}")
    finally:
        holder.communicate("\n", timeout=PATIENCE)
    assert rankroom("migrate", "--store", "s.duckdb", "--wait", "0.1").code == 0


def test_a_fault_of_our_own_is_owned_up_to(rankroom: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("rankroom.show.run_report", broken)
    refused(rankroom("show", "r"), 70, "rankroom itself is at fault (ZeroDivisionError: by nothing)")
    monkeypatch.setenv("RANKROOM_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["rankroom", "show", "r"])
    with pytest.raises(ZeroDivisionError):
        main()


def test_an_error_of_the_file_system_is_a_sentence(rankroom: Run, example: Path) -> None:
    Path("file").write_text("")
    ended = rankroom("export", "file/folder", "--store", example)
    refused(ended, 1, "file/folder: Not a directory")


# add


def test_a_native_folder(rankroom: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a pipe: whatever is said of colours, there is no progress in it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    ended = rankroom("add", "--store", "s.duckdb", EXAMPLE)
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "1 run added: documentation_example (9 results)",
        "new in s.duckdb: query set documentation_example@1, label set documentation_example@1,"
        " collection help_centre@2026-03",
    ]
    assert ended.err.startswith("note: ")
    assert "reading" not in ended.out + ended.err
    again = rankroom("add", "--store", "s.duckdb", EXAMPLE)
    assert again.code == 0
    assert "1 run already there" in again.out
    assert "everything is in s.duckdb already" in again.out


def test_trec_files(rankroom: Run, tmp_path: Path) -> None:
    qrels = write_qrels(tmp_path / "qrels.txt", {"q": {"a": 2, "b": 1}})
    runs = [write_run(tmp_path / f"{name}.run", {"q": ["b", "a"]}) for name in ("one", "two")]
    data = ["--dataset", "d", "--labels", qrels]
    ended = rankroom("add", "--relevant-from", 2, "--revision", "7", *data, *runs, "--json")
    assert ended.code == 0
    assert ended.json["label_set"] == "d@7"
    assert [(run["run"], run["state"]) for run in ended.json["runs"]] == [("one", "added"), ("two", "added")]
    assert ended.json["new"] == ["collection", "query_set", "label_set"]
    again = rankroom(
        "add", "--relevant-from", 2, "--revision", "7", *data, runs[0], "--name", "three", "--json"
    )
    assert [run["run"] for run in again.json["runs"]] == ["three"]
    assert ask(Store("rankroom.duckdb"), "select distinct rr from query_scores where k = 1") == [(0.0,)]


def test_a_dry_run_stores_nothing_and_makes_no_file(rankroom: Run, tmp_path: Path) -> None:
    assert rankroom("add", EXAMPLE, "--dry-run", "--json").json["dry_run"] is True
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_leaves_a_store_as_it_is(rankroom: Run, small: Path) -> None:
    store, run = small / "s.duckdb", small / "r.trec"
    before = store.read_bytes()
    data = ["--store", store, "--dataset", "small", "--labels", small / "qrels.txt", run, "--dry-run"]
    assert "1 run already there" in rankroom("add", *data).out
    other = rankroom("add", *data, "--name", "s").out
    assert "1 run would be added" in other
    assert "nothing was stored: this was a dry run" in other
    assert store.read_bytes() == before


def test_a_folder_with_many_faults_shows_twenty_and_counts_the_rest(rankroom: Run, tmp_path: Path) -> None:
    lines = [{"query_id": f"unknown{at}", "results": ["d"]} for at in range(25)]
    native = write_folder(
        tmp_path / "native",
        queries=[{"query_id": "q", "text": "?"}],
        labels=[{"query_id": "q", "doc_id": "d", "grade": 1}],
        runs={"r": lines},
    )
    ended = rankroom("add", "--store", "s.duckdb", native)
    refused(ended, 1, "... and 5 more faults", "nothing was stored: 25 faults")
    faults = [line for line in ended.err.splitlines() if line.startswith("  line ")]
    assert len(faults) == SHOWN
    assert "line 1: field query_id value 'unknown0'" in faults[0]
    assert not Path("s.duckdb").exists()


def test_faults_of_a_dry_run_are_faults(rankroom: Run, tmp_path: Path) -> None:
    qrels = write_qrels(tmp_path / "qrels.txt", {"q": {"d": 1}})
    Path("r.txt").write_text("q Q0 d 1 nan t\n")
    ended = rankroom("add", "--dataset", "d", "--labels", qrels, "r.txt", "--dry-run")
    refused(ended, 1, "r.txt, line 1", "nan", "nothing was stored: 1 fault")


def test_doubts_of_many_runs_are_told_together(rankroom: Run, tmp_path: Path) -> None:
    qrels = write_qrels(tmp_path / "qrels.txt", {"q": {"d0": 1, "d1": 0}})
    runs = []
    for at in range(2, 6):
        tied = {f"d{n}": 1.0 for n in range(at)}
        runs.append(write_run(tmp_path / f"run{at}.txt", {"q": tied}))
    ended = rankroom("add", "--dataset", "d", "--labels", qrels, *runs, "--dry-run")
    assert ended.code == 0
    notes = [line for line in ended.err.splitlines() if "tied scores" in line]
    assert len(notes) == 1
    assert "in 4 files. run5.txt: 5 results" in notes[0]
    counts = ", ".join(f"run{at}.txt ({at})" for at in range(4, 1, -1))
    assert f"      and {counts}" in ended.err.splitlines()


def test_files_that_are_not_there(rankroom: Run, tmp_path: Path) -> None:
    refused(rankroom("add", "nope"), 1, "nope: expected a folder", "nothing was stored")
    qrels = write_qrels(tmp_path / "qrels.txt", {"q": {"d": 1}})
    refused(
        rankroom("add", "--dataset", "d", "--labels", qrels, "nope.txt"), 1, "nope.txt: there is no such file"
    )
    assert not Path("rankroom.duckdb").exists()


# list, show


def test_list(rankroom: Run, example: Path) -> None:
    ended = rankroom("list", "--store", example)
    assert (ended.code, ended.err) == (0, "")
    assert "documentation_example" in ended.out
    assert "\x1b" not in ended.out
    (run,) = rankroom("list", "--store", example, "--json").json
    assert (run["run"], run["n"], run["tags"]) == ("documentation_example", 3, ["example"])
    assert run["created"] == "2026-03-09T10:00:00+00:00"


def test_show_gives_the_numbers_of_the_documentation(rankroom: Run, example: Path) -> None:
    ended = rankroom("show", "documentation_example", "-k", 3, "--store", example)
    assert (ended.code, ended.err) == (0, "")
    assert re.search(r"^recall@3 +0\.833$", ended.out, re.MULTILINE)
    assert re.search(r"^rr@3 +0\.667$", ended.out, re.MULTILINE)
    assert re.search(r"^precision@3 +0\.444 +0\.556$", ended.out, re.MULTILINE)
    report = rankroom("show", "documentation_example", "-k", 3, "--store", example, "--json").json
    queries = {query["query_id"]: (query["recall"], query["rr"]) for query in report["queries"]}
    assert queries == {"q_export": (1.0, 1.0), "q_reset": (1.0, 0.5), "q_sharing": (0.5, 0.5)}
    assert (report["n"], report["recall"], report["rr"]) == (3, pytest.approx(5 / 6), pytest.approx(2 / 3))


def test_show_at_a_k_that_is_not_stored(rankroom: Run, example: Path) -> None:
    report = rankroom("show", "documentation_example", "-k", 7, "--store", example, "--json").json
    assert report["k"] == 7
    assert report["precision"] == pytest.approx((1 / 7 + 2 / 7 + 1 / 7) / 3)
    assert ask(Store(example), "select count(*) from cutoffs where k = 7") == [(0,)]


@pytest.mark.parametrize("k", [1_000_001, 2**31 - 1, 10**20])
def test_a_cutoff_beyond_any_ranking_is_refused(rankroom: Run, example: Path, k: int) -> None:
    for arguments in (("show", "documentation_example"), ("rescore",)):
        refused(rankroom(*arguments, "-k", k, "--store", example), 2, "k must be at most 1,000,000")


def test_the_largest_cutoff_holds(rankroom: Run, example: Path) -> None:
    ended = rankroom("show", "documentation_example", "-k", 1_000_000, "--store", example, "--json")
    assert ended.json["hit"] == 1


def test_show_by_slices(rankroom: Run, example: Path) -> None:
    arguments = ["show", "documentation_example", "--store", example, "--by"]
    ended = rankroom(*arguments, "category,language")
    assert re.search(r"^category +language +n +ndcg", ended.out, re.MULTILINE)
    assert re.search(r"^how_to +en +2 ", ended.out, re.MULTILINE)
    slices = rankroom(*arguments, "category, language", "--json").json["slices"]
    assert [(one["slice"]["category"], one["n"]) for one in slices] == [("factual", 1), ("how_to", 2)]
    refused(rankroom(*arguments, "nope"), 2, "cannot be sliced by nope", "category, language")
    refused(rankroom(*arguments, "category,nope", "--json"), 2, "cannot be sliced by nope")


def test_show_of_a_run_that_is_not_there(rankroom: Run, example: Path) -> None:
    refused(rankroom("show", "nope", "--store", example), 2, "there is no run named nope", "rankroom list")


def test_show_counts_what_does_not_count(rankroom: Run, tmp_path: Path) -> None:
    native = write_folder(
        tmp_path / "native",
        queries=[{"query_id": q, "text": "?"} for q in ("found", "failed", "nothing", "left", "none", "odd")],
        labels=[
            *({"query_id": q, "doc_id": "d", "grade": 1} for q in ("found", "failed", "nothing", "left")),
            {"query_id": "none", "no_answer": True},
        ],
        runs={
            "r": [
                {"query_id": "found", "results": ["d"]},
                {"query_id": "failed", "results": [], "status": "error", "error": "boom"},
                {"query_id": "nothing", "results": []},
                {"query_id": "none", "results": []},
                {"query_id": "odd", "results": ["d"]},
            ]
        },
    )
    assert rankroom("add", native).code == 0
    lines = rankroom("show", "r").out.splitlines()
    assert lines[1] == (
        "4 answerable labelled queries, 3 without a hit, 1 left out by the run, 2 returned nothing,"
        " 1 failed or timed out, 1 no-answer, 1 unlabelled"
    )
    assert lines[2:4] == [
        "abstained rightly in 1.000 of the no-answer queries",
        "abstained wrongly in 0.250 of the answerable queries",
    ]


def test_show_lists_the_worst_queries_first_and_counts_the_others(rankroom: Run, small: Path) -> None:
    lines = rankroom("show", "r", "--store", small / "s.duckdb").out.splitlines()
    assert [line[:3] for line in lines[-21:-15]] == ["q25", "q26", "q27", "q28", "q29", "q00"]
    assert lines[-1] == "... and 10 more queries: --json has them all"
    assert len(rankroom("show", "r", "--store", small / "s.duckdb", "--json").json["queries"]) == 30


# sql


def test_sql_gives_an_array_of_objects(rankroom: Run, example: Path) -> None:
    ask_for = "select run, k, recall from run_summary where k <= 3 order by k"
    rows = rankroom("sql", "--store", example, "--json", ask_for).json
    assert [row["k"] for row in rows] == [1, 3]
    assert list(rows[0]) == ["run", "k", "recall"]
    assert rankroom("sql", "--store", example, "--json", "select 1 as x where false").json == []
    assert rankroom("sql", "--store", example, "select 1 as x where false").out == "no rows\n"


def test_sql_prints_only_json_whatever_the_values_are(rankroom: Run, example: Path) -> None:
    values = (
        "select 'nan'::double as a, ['inf'::double] as b, map {'k': 'ab'::blob} as c, now() as d, 'é' as e"
    )
    (row,) = rankroom("sql", "--store", example, "--json", values).json
    assert row | {"d": None} == {"a": None, "b": [None], "c": {"k": "6162"}, "d": None, "e": "é"}


@pytest.mark.parametrize(
    ("statement", "code", "said"),
    [
        ("selec 1", 1, 'syntax error at or near "selec"'),
        ("select nope from runs", 1, "nope"),
        ("from query_deltas('nope', 'nope', 5)", 1, "there is no run named nope"),
        ("select error('\x1b[2J')", 1, r"\x1b[2J"),
        ("select repeat('x', 100000)::integer", 1, "Could not convert"),
        ("select 1; select 2", 2, "expected one SQL statement, and got 2"),
        ("", 2, "expected one SQL statement, and got none"),
        ("delete from runs", 1, "the store is open for reading only"),
        ("create table t (x integer)", 1, "the store is open for reading only"),
        ("with gone as (delete from runs returning run) from gone", 1, "the store is open for reading only"),
    ],
)
def test_sql_that_cannot_be(rankroom: Run, example: Path, statement: str, code: int, said: str) -> None:
    ended = rankroom("sql", "--store", example, "--json", statement)
    refused(ended, code, said)
    assert max(map(len, ended.err.splitlines())) <= 320


def test_sql_from_standard_input(rankroom: Run, example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("-- how many\nselect count(*) as n from runs;\n"))
    assert rankroom("sql", "--store", example, "--json", "-").json == [{"n": 1}]


def test_sql_explains(rankroom: Run, example: Path) -> None:
    out = rankroom("sql", "--store", example, "explain select count(*) from runs").out
    assert "explain_key" not in out
    assert [line[0] for line in out.splitlines()[:3]] == ["╭", "│", "╰"]


# rescore, remove, export, migrate


def test_rescore_and_remove(rankroom: Run, tmp_path: Path) -> None:
    store = Store("rankroom.duckdb")
    add_small(store, tmp_path, {"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}})
    write_qrels(tmp_path / "new.txt", {"q": {"x": 1}})
    ended = rankroom("add", "--dataset", "small", "--revision", "2", "--labels", "new.txt")
    assert "no run was given with it" in ended.out
    assert "2 runs have no scores under small@2 yet (a, b): `rankroom rescore" in ended.out
    ended = rankroom("rescore", "a", "-k", 7)
    assert "one for the whole store: every run was scored" in ended.err
    assert ended.out == "scored 2 runs under small@1, small@2\n"
    done = rankroom("rescore", "a", "--json").json
    assert [(one["run"], one["label_set"]) for one in done] == [("a", "small@1"), ("a", "small@2")]
    assert ask(store, "select run, rr from query_scores where k = 7 order by run") == [("a", 0.0), ("b", 1.0)]
    refused(rankroom("rescore", "nope"), 2, "there is no run named nope")
    refused(rankroom("rescore", "-k", 0), 2, "k must be a positive integer")
    refused(rankroom("rescore", "--from", "a.trec"), 2, "name that run")

    refused(rankroom("remove", "a", "nope"), 2, "there is no run named nope", "nothing was removed")
    assert rankroom("remove", "a", "b") == Ended(0, "removed a, b\n", "")
    assert rankroom("list").out == "rankroom.duckdb has no runs yet: `rankroom add` puts some in\n"
    assert rankroom("list", "--json").json == []
    assert rankroom("rescore").out == "rankroom.duckdb has no runs to score\n"
    assert rankroom("rescore", "--json").json == []


def test_export(rankroom: Run, example: Path) -> None:
    ended = rankroom("export", "tables", "--store", example)
    assert ended.code == 0
    files = {path.name for path in Path("tables").iterdir()}
    assert ended.out == f"wrote {len(files)} files to tables\n"
    assert {"run_summary.parquet", "metric_definitions.parquet", "rankings.parquet"} <= files
    ended = rankroom(
        "export", "trec", "--store", example, "--format", "trec", "--run", "documentation_example"
    )
    assert ended.out == "wrote 2 files to trec\n"
    assert len(Path("trec/runs/documentation_example.txt").read_text().splitlines()) == 9
    refused(rankroom("export", "trec", "--store", example), 2, "not empty")
    refused(rankroom("export", "new", "--store", example, "--run", "nope"), 2, "there is no run named nope")


def test_migrate(rankroom: Run, small: Path) -> None:
    shutil.copyfile(small / "s.duckdb", "rankroom.duckdb")
    assert rankroom("migrate").out == "rankroom.duckdb was already up to date\n"
    with duckdb.connect("rankroom.duckdb") as con:
        con.execute("update installed_views set fingerprint = 'of before', program = '0.0.1'")
    assert rankroom("migrate").out == "rankroom.duckdb is now up to date\n"
    with duckdb.connect("rankroom.duckdb") as con:
        con.execute("insert into schema_version values (99, now(), '9.0')")
    for command in ("migrate", "list", "serve", "demo"):
        refused(rankroom(command), 3, "use a newer rankroom")


# Names that act


def test_hostile_names_do_not_reach_the_terminal(rankroom: Run, tmp_path: Path) -> None:
    name, query = "[red]run[/red]\x1b]0;title\x07", "\x1b[31m\u202eq\n"
    native = write_folder(
        tmp_path / "native",
        queries=[{"query_id": query, "text": "?", "category": "\x1b[2Jc"}],
        labels=[
            {"query_id": query, "doc_id": "d", "grade": 1},
            {"query_id": query, "doc_id": "e", "grade": 0},
        ],
        runs={name.replace("/", ""): [{"query_id": query, "results": ["d"]}]},
    )
    name = name.replace("/", "")
    runs = [
        rankroom("add", native),
        rankroom("list"),
        rankroom("show", name, "--by", "category"),
        rankroom("show", f"{name}x"),
        rankroom("sql", "select run, query_id from query_scores"),
        rankroom("rescore", name),
        rankroom("remove", name),
    ]
    assert [ended.code for ended in runs] == [0, 0, 0, 2, 0, 0, 0]
    assert runs[5].out == "scored 1 run under native@1\n"
    for ended in runs:
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ended.out + ended.err)
    assert r"[red]run[red]\x1b]0;title\x07" in runs[1].out
    assert r"\x1b[31m\u202eq\n" in runs[2].out


def test_a_name_that_the_encoding_does_not_have_is_escaped(
    rankroom: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_ascii(*more: str) -> str:
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "stdout", stream)
        assert rankroom("sql", "--store", example, "select 'é漢' as x", *more).code == 0
        stream.seek(0)
        return stream.read()

    assert in_ascii() == "x\n\\xe9\\u6f22\n"
    assert json.loads(in_ascii("--json")) == [{"x": "é漢"}]


# Pipes, terminals and interruptions


def test_a_pipe_that_closes_early_is_no_error(example: Path) -> None:
    """Of more rows than a pipe holds."""
    process = start("sql", "--store", example, "select range as n from range(20000)")
    assert process.stdout
    assert process.stdout.readline().strip() == "n"
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 0


def test_ctrl_c_stops_a_long_statement(example: Path) -> None:
    forever = "select sum(hash(a.range + b.range)) as x from range(10000000) a, range(10000000) b"
    process = start("sql", "--store", example, forever)
    wait_until(lambda: processor_seconds(process.pid) > 2, process)  # to start takes less
    process.send_signal(signal.SIGINT)
    ended = outcome(process)
    assert (ended.code, ended.out) == (130, "")
    assert ended.err.startswith("stopped; ")


def test_a_terminal_gets_progress_and_colour(tmp_path: Path) -> None:
    on_terminal = in_a_terminal(tmp_path, "add", EXAMPLE, "--dry-run")
    assert "reading" in on_terminal
    assert "\x1b[" in on_terminal
    assert "1 run would be added" in on_terminal


def test_a_narrow_terminal_gets_every_value(tmp_path: Path, example: Path) -> None:
    shown = in_a_terminal(tmp_path, "list", "--store", example, COLUMNS="40", NO_COLOR="1")
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 40
    assert re.search(r"^ndcg_at_5 +0\.693 *$", plain, re.MULTILINE)


def in_a_terminal(cwd: Path, *arguments: object, **environment: str) -> str:
    """What a command prints where standard output and error are a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "rankroom", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(CORE), "TERM": "xterm", "COLUMNS": "80"} | environment,
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    printed = bytearray()
    while True:
        try:
            if not (some := os.read(ours, 4096)):
                break
        except OSError:
            break  # this is how Linux says that the other end is closed
        printed += some
    os.close(ours)
    assert process.wait(PATIENCE) == 0
    return printed.decode().replace("\r\n", "\n")


# The dashboard


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_served(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=2) as answer:
            return bool(answer.read() == b"ok")
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.1)


def processor_seconds(pid: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> str:
    return subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout


ONE_SAMPLE = """
from rankroom import demo
from rankroom.__main__ import main
samples = demo.samples()
demo.samples = lambda: {"documentation_example": samples["documentation_example"]}
main()
"""


def test_the_demo_finds_its_own_there_and_a_signal_ends_its_dashboard(example: Path, tmp_path: Path) -> None:
    """Here with the smallest of its samples alone."""
    port = free_port()
    store = shutil.copyfile(example, tmp_path / "s.duckdb")
    # a home folder as new as any user's: Streamlit asks there for an e-mail address
    process = start(
        *("demo", "--store", store, "--port", port, "--no-browser"),
        env={"HOME": str(tmp_path)},
        script=ONE_SAMPLE,
    )
    try:
        wait_until(lambda: is_served(port), process)
        assert children(process.pid) == ""
    finally:
        process.send_signal(signal.SIGTERM)
        ended = outcome(process)
    assert ended.code == 0
    assert f"The dashboard is at http://localhost:{port} " in ended.out
    assert not is_served(port)
    assert "1 run already there: documentation_example" in ended.out
    assert " added" not in ended.out


def test_ctrl_c_ends_the_dashboard(tmp_path: Path) -> None:
    """Without a store, for which it has a page, and with a browser, as people call it; there is none here."""
    port = free_port()
    store = tmp_path / "s.duckdb"
    process = start("serve", "--store", store, "--port", port, env={"HOME": str(tmp_path), "BROWSER": "true"})
    try:
        wait_until(lambda: is_served(port), process)
        assert not store.exists()
    finally:
        process.send_signal(signal.SIGINT)
        ended = outcome(process)
    assert ended.code == 0
    assert f"The dashboard is at http://localhost:{port} " in ended.out
    assert not is_served(port)


def test_the_demo_holds_every_sample_under_all_its_labels(demo_file: Path) -> None:
    assert {name for (name,) in ask(Store(demo_file), "select name from query_sets")} == samples().keys()
    scored = "select label_set, count(*) from scorings group by label_set order by label_set"
    assert ask(Store(demo_file), scored) == [
        ("documentation_example@1", 1),
        ("help_centre@1", 14),
        ("help_centre@2", 14),
    ]


def test_the_demo_adds_earlier_labels_once(
    rankroom: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    label = {"query_id": "q", "doc_id": "d", "grade": 1}
    native = write_folder(
        tmp_path / "samples" / "native",
        queries=[{"query_id": "q", "text": "?"}],
        labels=[label],
        dataset='name = "native"\n[labels]\nrevision = "2"\n',
        runs={"r": [{"query_id": "q", "results": ["d"]}]},
    )
    (native / "labels_revision_1.jsonl").write_text(json.dumps(label | {"grade": 2}) + "\n")
    monkeypatch.setattr("rankroom.demo.folder", lambda name: tmp_path / "samples")
    filled = [[(one.label_set, one.runs[0].state) for one in fill(Store("s.duckdb"))] for _ in range(2)]
    assert filled == [[("native@1", "added"), ("native@2", "rescored")], [("native@2", "already there")]]


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_port_that_is_taken(rankroom: Run, command: str) -> None:
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused(rankroom(command, "--port", port), 2, f"port {port} is taken: choose another with --port")
    assert not Path("rankroom.duckdb").exists()


def test_an_address_that_is_none(rankroom: Run) -> None:
    refused(
        rankroom("serve", "--address", "256.1.1.1", "--port", free_port()), 2, "of 256.1.1.1 cannot be opened"
    )


def test_the_dashboard_does_not_start_on_what_is_no_store(rankroom: Run, tmp_path: Path) -> None:
    Path("text.duckdb").write_text("not a database\n" * 1000)
    port = free_port()
    for command in ("serve", "demo"):
        ended = rankroom(command, "--store", "text.duckdb", "--port", port)
        refused(ended, 3, "is not a DuckDB file")
    refused(rankroom("serve", "--store", tmp_path, "--port", port), 3, "is a folder")
    refused(rankroom("serve", "--store", "no/s.duckdb", "--port", port), 3, "there is no folder")


def test_the_demo_keeps_out_of_a_store_with_other_data(rankroom: Run, small: Path) -> None:
    store = small / "s.duckdb"
    ended = rankroom("demo", "--store", store, "--port", free_port())
    refused(ended, 2, "data of your own (small)", "--store demo.duckdb")
    assert ask(Store(store), "select run from runs") == [("r",)]
