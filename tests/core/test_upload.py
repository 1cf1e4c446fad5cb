"""Uploads: the report before anything is stored, what is stored then, and files that mean harm."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_run import run
from rankroom import child, upload, upload_files
from rankroom.__main__ import main
from rankroom.resources import folder
from rankroom.store import Store
from rankroom.upload import FolderUpload, Sent, TrecUpload
from small_stores import ask

QRELS = b"q1 0 a 1\nq2 0 b 2\n"
RUN = b"q1 Q0 a 1 2.0 t\nq2 Q0 c 1 2.0 t\n"
EXAMPLE = folder("sample_runs") / "documentation_example"


def sent(name: str, content: bytes) -> Sent:
    return Sent(name, io.BytesIO(content))


def trec(*runs: tuple[str, bytes], labels: bytes = QRELS, **more: Any) -> TrecUpload:
    return TrecUpload(
        **{"dataset": "small", "labels": sent("qrels.txt", labels), "runs": [sent(*run) for run in runs]}
        | more
    )


def zipped(files: dict[str, bytes], prefix: str = "") -> FolderUpload:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(prefix + name, content)
    return FolderUpload(Sent("set.zip", packed))


def example() -> dict[str, bytes]:
    return {
        str(path.relative_to(EXAMPLE)): path.read_bytes() for path in EXAMPLE.rglob("*") if path.is_file()
    }


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, empty again after each test."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The child's command is run in this process: what is asked is what comes of it."""

    def run_here(arguments: Sequence[str], *, folder: Path, **_: object) -> child.Ended:
        with monkeypatch.context() as patched:
            patched.chdir(folder)
            ended = run(patched, capsys, *arguments)
        return child.Ended(ended.code, ended.out.encode(), ended.err)

    monkeypatch.setattr(upload.child, "run", run_here)


@pytest.fixture
def laid(tmp_path: Path) -> Path:
    place = tmp_path / "laid"
    place.mkdir()
    return place


def faults(outcome: upload.Outcome) -> list[tuple[str, str]]:
    assert outcome.added is None
    return [(fault.file, fault.kind) for fault in outcome.faults]


def refused(laid: Path, given: upload_files.Upload) -> list[str]:
    with pytest.raises(upload_files.Refused) as error:
        upload_files.lay_out(laid, given)
    return [fault.kind for fault in error.value.report.faults]


# What is checked is what is stored


def test_a_check_stores_nothing_and_says_what_would_be_new(no_store: Store) -> None:
    told: list[str] = []
    outcome = upload.check(
        no_store.path, trec(("bm25.txt.gz", gzip.compress(RUN))), lambda doing, at, of: told.append(doing)
    )
    assert outcome.dry_run
    assert outcome.is_new
    assert outcome.added is not None
    assert outcome.added["new"] == ["collection", "query_set", "label_set"]
    assert [(run["run"], run["state"], run["num_rows"]) for run in outcome.added["runs"]] == [
        ("bm25", "added", 2)
    ]
    assert "reading and scoring bm25" in told
    assert not no_store.exists()


@pytest.mark.usefixtures("here")
def test_an_add_makes_the_store_and_a_second_one_finds_all_there(no_store: Store) -> None:
    given = {"revision": "7", "relevant_from": 2}
    run = ("bm25.txt", b"q1 Q0 a 1 2 t\nq1 Q0 b 2 2 t\n")
    outcome = upload.add(no_store.path, trec(run, **given))
    assert outcome.added is not None
    assert not outcome.dry_run
    assert ask(no_store, "select label_set, relevant_from from label_sets") == [("small@7", 2)]
    assert ask(no_store, "select run, source_file from runs") == [("bm25", "bm25.txt")]
    # a doubt names the file, and not the folder where it lay for a moment
    assert ("bm25.txt", "query_missing_from_run") in {(doubt.file, doubt.kind) for doubt in outcome.doubts}
    assert ask(no_store, "select distinct file from doubts where subject_kind = 'run'") == [("bm25.txt",)]
    again = upload.check(no_store.path, trec(run, **given))
    assert not again.is_new
    assert [one["state"] for one in (again.added or {})["runs"]] == ["already there"]
    other = upload.check(no_store.path, trec(("bm25.txt", RUN), **given))
    assert faults(other) == [("bm25.txt", "run_name_taken")]


@pytest.mark.usefixtures("here")
def test_a_zipped_folder(no_store: Store) -> None:
    outcome = upload.add(no_store.path, zipped(example() | {"deep/er/still": b""}, "help centre/"))
    assert outcome.added is not None
    assert ask(no_store, "select run, num_rows > 0 from runs") == [("documentation_example", True)]
    assert outcome.not_read == 1


@pytest.mark.usefixtures("here")
def test_faults_say_file_line_field_value_and_what_was_expected(no_store: Store) -> None:
    outcome = upload.check(no_store.path, trec(("a.txt", b"q1 Q0 a 1 high t\n"), labels=b"q1 0 a 1.5\n"))
    assert outcome.num_faults >= 1
    fault = outcome.faults[0]
    assert (fault.file, fault.line, fault.value) == ("qrels.txt", 1, "1.5")
    assert fault.expected
    broken = example() | {"labels.jsonl": b'{"query_id": 1}\n', "runs/other.toml": b"x = 1"}
    del broken["queries.jsonl"]
    outcome = upload.add(no_store.path, zipped(broken, "set/"))
    assert {"labels.jsonl", "runs/other.toml"} < {fault.file for fault in outcome.faults}
    assert ("set.zip/set", "missing_file") in faults(outcome)
    assert not no_store.exists()


@pytest.mark.usefixtures("here")
def test_a_wrong_call_gives_the_sentence(no_store: Store) -> None:
    outcome = upload.check(no_store.path, trec(("a.txt", RUN), ("a.txt.gz", RUN)))
    assert "would make a run named a" in outcome.problem


def test_a_store_that_is_busy_gives_the_sentence(store: Store) -> None:
    hold = (
        "import duckdb, sys; con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "print('held', flush=True); input()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        outcome = upload.add(store.path, trec(("a.txt", RUN)), wait=0.2)
        assert "could not be had" in outcome.problem
        assert "has it open" in outcome.problem
    finally:
        holder.communicate("\n")


def test_what_takes_too_long_is_stopped(no_store: Store) -> None:
    outcome = upload.add(no_store.path, trec(("a.txt", RUN)), timeout=0.05)
    assert "was stopped" in outcome.problem
    assert not no_store.exists()


def test_who_goes_away_takes_the_child_along(no_store: Store) -> None:
    class Gone(Exception):
        pass

    def go(doing: str, at: int, of: int) -> None:
        raise Gone

    with pytest.raises(Gone):
        upload.add(no_store.path, trec(("a.txt", RUN)), go)
    assert not no_store.exists()


def test_no_code_comes_from_the_files(
    no_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = tmp_path / "proof"
    harm = f"open({str(proof)!r}, 'w')\n".encode()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", os.environ.get("PYTHONPATH", "")]))
    modules = {f"{name}.py": harm for name in ("duckdb", "typer", "sitecustomize", "json", "rankroom")}
    outcome = upload.check(no_store.path, zipped(example() | modules))
    assert outcome.added is not None
    assert not proof.exists()


HOSTILE = [
    "; rm -rf ~ #",
    "--store=x.txt",
    "-k",
    "$(id).a*[1]?.txt",
    "~",
    "'; drop table runs; --",
    "😀 <b>שלום<b>.run",
    ".hidden",
]


def test_hostile_names_stay_names(no_store: Store) -> None:
    runs = [(name, RUN.replace(b"2.0", f"{i}.5".encode())) for i, name in enumerate(HOSTILE)]
    outcome = upload.add(no_store.path, trec(*runs, dataset="--dry-run", revision="$(id)"))
    assert outcome.added is not None, (outcome.faults, outcome.problem)
    assert {name for (name,) in ask(no_store, "select source_file from runs")} == set(HOSTILE)
    assert ask(no_store, "select query_set from query_sets") == [("--dry-run@$(id)",)]


# Names and archives


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\runs\\bm25.txt", "bm25.txt"),
        ("a\x1b[31m\n\u202eb.txt", "a[31mb.txt"),
        (" spaced.txt ", "spaced.txt"),
        ("a\0b", "ab"),
    ],
)
def test_a_name_is_only_a_name(name: str, safe: str) -> None:
    assert upload_files.safe_name(name) == safe


@pytest.mark.parametrize("name", ["", "..", "runs/..", "\0", "x" * 300])
def test_names_that_are_none(laid: Path, name: str) -> None:
    assert refused(laid, trec((name, RUN))) == ["unfit_name"]
    assert [path.name for path in laid.iterdir()] == ["qrels.txt"]


def test_two_files_of_one_name(laid: Path) -> None:
    assert refused(laid, trec(("a/run.txt", RUN), ("b/run.txt", RUN))) == ["repeated_file"]


@pytest.mark.parametrize(
    "name", ["../evil.toml", "/etc/evil.toml", "runs/../../evil", "..\\evil", "C:/evil", "a\x1bb", "n" * 300]
)
def test_paths_out_of_the_archive(laid: Path, name: str) -> None:
    assert refused(laid, zipped(example() | {name: b"x"})) == ["unfit_member"]
    assert list(laid.iterdir()) == []
    assert not (laid.parent / "evil.toml").exists()


def test_links_and_devices(laid: Path) -> None:
    for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR):
        given = zipped(example())
        with zipfile.ZipFile(given.archive.content, "a") as archive:
            member = zipfile.ZipInfo("documents.jsonl.gz")
            member.external_attr = (kind | 0o777) << 16
            archive.writestr(member, "/etc/passwd")
        assert refused(laid, given) == ["unfit_member"]


def test_all_unfit_members_are_said_at_once(laid: Path) -> None:
    assert len(refused(laid, zipped(example() | {"../a": b"", "../b": b"", "/c": b""}))) == 3


def test_a_file_twice(laid: Path) -> None:
    given = zipped(example())
    with zipfile.ZipFile(given.archive.content, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("labels.jsonl", "{}")
    assert refused(laid, given) == ["repeated_file"]


def test_an_archive_that_unpacks_to_too_much(laid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_files, "MOST_BYTES", 2**20)
    given = zipped(example() | {"documents.jsonl": b" " * 2**21})
    assert given.archive.content.seek(0, 2) < 2**16
    assert refused(laid, given) == ["too_large"]
    assert list(laid.iterdir()) == []
    packed = gzip.compress(b" " * 2**21)
    assert refused(laid, zipped(example() | {"runs/a.jsonl.gz": packed})) == ["too_large"]


def test_runs_that_unpack_to_too_much(laid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_files, "MOST_BYTES", 2**20)
    assert refused(laid, trec(("a.txt", gzip.compress(b"0" * 2**21)))) == ["too_large"]


def test_an_archive_of_too_many_files(laid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_files, "MOST_FILES", 10)
    many = zipped({f"{i}": b"" for i in range(11)})
    assert refused(laid, many) == ["too_many_files"]
    monkeypatch.setattr(upload_files, "MOST_FILES", 1)  # its directory is not even read
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert refused(laid, many) == ["too_many_files"]


def test_compressions_that_unpack_without_bound(laid: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("dataset.toml", 'name = "a"')
    assert refused(laid, FolderUpload(Sent("a.zip", packed))) == ["unfit_member"]


def test_what_is_no_archive(laid: Path) -> None:
    assert refused(laid, FolderUpload(sent("a.zip", b"hello"))) == ["bad_zip"]
    whole = zipped(example()).archive.content
    whole.seek(0)
    damaged = bytearray(whole.read())
    damaged[60:90] = bytes(30)
    assert refused(laid, FolderUpload(sent("a.zip", bytes(damaged)))) == ["bad_zip"]


@pytest.mark.parametrize("prefix", ["", "help centre/", "./", "export/2026/set/"])
def test_the_folder_may_lie_anywhere_in_the_archive(laid: Path, prefix: str) -> None:
    beside = {"deep/er/still": b"", "runs/old/dataset.toml": b""}
    found = upload_files.lay_out(laid, zipped(example() | beside, prefix))
    assert found.not_read == 2
    assert {str(path.relative_to(laid)): path.read_bytes() for path in laid.rglob("*.*")} == example()


def test_an_archive_without_a_data_set_or_with_two(laid: Path) -> None:
    assert refused(laid, zipped({"queries.jsonl": b""})) == ["missing_file"]
    assert refused(laid, zipped({"a/dataset.toml": b"", "b/dataset.toml": b""})) == ["two_data_sets"]


def test_what_archivers_add_is_left_aside(laid: Path) -> None:
    junk = {"__MACOSX/set/._dataset.toml": b"", "set/.DS_Store": b"", "set/._labels.jsonl": b""}
    found = upload_files.lay_out(laid, zipped({f"set/{n}": c for n, c in example().items()} | junk))
    assert found.not_read == 0
    assert found.name == "set.zip/set"
    assert not list(laid.rglob("._*"))


# The command's JSON


def test_a_refused_add_is_json_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1.5\n" * 30)
    monkeypatch.setattr(
        sys, "argv", ["rankroom", "add", "--json", "--store=s", "--dataset=d", "--labels=qrels.txt"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert end.value.code == 1
    said = json.loads(printed.out)
    assert said["refused"] is True
    assert said["num_faults"] == 30
    assert len(said["faults"]) == 20
    assert said["doubts"] == []
    third = said["faults"][2]
    assert (third["file"], third["line"], third["value"]) == ("qrels.txt", 3, "1.5")
    assert set(third) == {"file", "kind", "expected", "line", "field", "value"}
    assert "nothing was stored: 30 faults" in printed.err
