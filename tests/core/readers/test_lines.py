from __future__ import annotations

import codecs
import gzip
import os
import threading
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankroom.faults import Report
from rankroom.readers import lines
from rankroom.readers.lines import read_lines


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def read(con, path) -> tuple[list[tuple[int, str]], Report]:
    report = Report()
    ok = read_lines(con, path, "lines", report)
    assert ok == (report.num_faults == 0)
    return con.execute("from lines order by line_no").fetchall(), report


def write(tmp_path: Path, content: bytes, name: str = "run.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def kinds(report: Report) -> list[str]:
    return [doubt.kind for doubt in report.doubts]


@pytest.mark.parametrize("content", [b"a 1\nb 2\n", b"a 1\nb 2"])
def test_last_line_end_is_optional(con, tmp_path, content):
    rows, report = read(con, write(tmp_path, content))
    assert rows == [(1, "a 1"), (2, "b 2")]
    assert not report.doubts


def test_blank_lines_are_left_out_and_counted_in_the_numbers(con, tmp_path):
    rows, _ = read(con, write(tmp_path, b"\n \t\na\n\n  b \n\n"))
    assert rows == [(3, "a"), (5, "  b ")]


def test_only_newline_ends_a_line(con, tmp_path):
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\rh"
    rows, report = read(con, write(tmp_path, (text + "\nnext\n").encode()))
    assert rows == [(1, text), (2, "next")]
    assert not report.doubts


def test_crlf_is_taken_off_and_counted(con, tmp_path):
    rows, report = read(con, write(tmp_path, b"a\r\nb\n\r\nc\r\n"))
    assert rows == [(1, "a"), (2, "b"), (4, "c")]
    assert [(d.kind, d.count) for d in report.doubts] == [("crlf", 3)]
    assert "3 lines end with CRLF" in report.doubts[0].sentence


def test_utf8_bom_is_taken_off(con, tmp_path):
    rows, report = read(con, write(tmp_path, codecs.BOM_UTF8 + "é\n".encode()))
    assert rows == [(1, "é")]
    assert kinds(report) == ["bom_removed"]


@pytest.mark.parametrize(
    ("bom", "name"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")]
)
def test_utf16_is_decoded_by_its_bom(con, tmp_path, monkeypatch, bom, name):
    monkeypatch.setattr(lines, "CHUNK", 5)  # cuts characters in two
    text = "q1 dé\n\nq2 😀 ਊ\r\n"
    rows, report = read(con, write(tmp_path, bom + text.encode(name)))
    assert rows == [(1, "q1 dé"), (3, "q2 😀 ਊ")]
    assert kinds(report) == ["utf16_decoded", "crlf"]


@pytest.mark.parametrize("name", ["run.txt.gz", "run.txt"])
def test_gzip_is_known_by_its_bytes(con, tmp_path, name):
    packed = gzip.compress(b"a\n") + gzip.compress(b"b\n")  # two members are one file
    assert read(con, write(tmp_path, packed, name))[0] == [(1, "a"), (2, "b")]


def test_a_plain_file_named_gz_is_plain(con, tmp_path):
    assert read(con, write(tmp_path, b"a\n", "run.gz"))[0] == [(1, "a")]


@pytest.mark.parametrize(
    ("content", "kind", "line"),
    [
        (b"", "empty_file", None),
        (b" \n\t\n\r\n", "empty_file", None),
        (codecs.BOM_UTF8, "empty_file", None),
        (gzip.compress(b"", mtime=0), "empty_file", None),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n",
            "lfs_pointer",
            None,
        ),
        (b"ok\nok\nq d\xe9 1\n\xff\n", "invalid_utf8", 3),
        (b"ok\ncut \xc3", "invalid_utf8", 2),
        (b"\xed\xa0\x80\n", "invalid_utf8", 1),
        (b"ok\n\nq d\0 1\n", "nul_byte", 3),
        (gzip.compress(b"a line\n" * 1000, mtime=0)[:-12], "bad_gzip", None),
        (gzip.compress(b"a line\n" * 1000, mtime=0)[:5], "bad_gzip", None),
        (gzip.compress(b"a line\n" * 1000, mtime=0)[:-8] + b"\0" * 8, "bad_gzip", None),
        (b"\x1f\x8b not gzip", "bad_gzip", None),
        (codecs.BOM_UTF16_LE + b"a\0\n\0\0\xd8", "invalid_utf16", None),
        (codecs.BOM_UTF16_LE + b"a\0\n\0b\0\0\0", "nul_byte", 2),
    ],
)
def test_what_is_not_text_is_one_fault(con, tmp_path, content, kind, line):
    path = write(tmp_path, content)
    _, report = read(con, path)
    assert [(f.file, f.kind, f.line) for f in report.faults] == [(str(path), kind, line)]
    assert not report.doubts


def test_lfs_pointer_says_what_to_do(con, tmp_path):
    _, report = read(con, write(tmp_path, b"version https://git-lfs.github.com/spec/v1\n"))
    assert "git lfs pull" in report.sentence()


def test_missing_file_and_directory(con, tmp_path):
    assert [f.kind for f in read(con, tmp_path / "none.txt")[1].faults] == ["file_not_found"]
    assert [f.kind for f in read(con, tmp_path)[1].faults] == ["is_a_directory"]
    path = write(tmp_path, b"a\n")
    assert [f.kind for f in read(con, path / "below")[1].faults] == ["file_not_found"]


def test_bad_byte_beyond_the_first_chunk_has_its_line(con, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK", 10)
    _, report = read(con, write(tmp_path, b"abc def\n" * 40 + b"\n\xff\n"))
    assert [(f.kind, f.line) for f in report.faults] == [("invalid_utf8", 42)]


def test_endless_line_is_refused(con, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK", 10)
    monkeypatch.setattr(lines, "LONGEST_LINE", 100)
    _, report = read(con, write(tmp_path, b"ok\n" + b"x" * 200))
    assert [(f.kind, f.line) for f in report.faults] == [("line_too_long", 2)]


@pytest.mark.parametrize("name", ["a*b[1]?.txt", 'it\'s "quoted".txt', "run;--.txt", "ütf 8.txt"])
def test_hostile_file_names(con, tmp_path, name):
    assert read(con, write(tmp_path, b"a\n", name))[0] == [(1, "a")]


def test_a_pipe_can_be_read(con, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[b"a\nb\n"])
    writer.start()
    assert read(con, pipe)[0] == [(1, "a"), (2, "b")]
    writer.join()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=60)
    | st.text("a é\t\n\r\u2028", max_size=60),
    chunk=st.integers(1, 20),
    packed=st.booleans(),
)
def test_same_lines_whatever_the_chunks(con, tmp_path, monkeypatch, text, chunk, packed):
    monkeypatch.setattr(lines, "CHUNK", chunk)
    content = text.encode()
    rows, report = read(con, write(tmp_path, gzip.compress(content) if packed else content))
    expected = [
        (number, line)
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1)
        if line.strip(" \t")
    ]
    assert rows == expected
    assert [f.kind for f in report.faults] == ([] if expected else ["empty_file"])
