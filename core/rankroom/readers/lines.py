"""Any text file as numbered lines in a table: plain or gzip, UTF-8 or UTF-16, with whatever line ends.

Only "\\n" and "\\r\\n" end a line. Form feeds, U+0085, U+2028 and a lone "\\r" are ordinary characters, so
that ids that hold them stay whole (str.splitlines would cut them).
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import duckdb

from rankroom.faults import Fault, Report

CHUNK = 8 * 2**20
"""Bytes read at a time: what bounds the memory, whatever the size of the file."""

LONGEST_LINE = 128 * 2**20
"""Refused beyond this: without a bound, a file without line ends would fill the memory."""

LINES = "unnest(string_split(?, chr(10))) with ordinality as lines(line, number)"
"""SQL: the lines of a text given as parameter. The list numbers them itself, so no row order is relied on."""

NOT_BLANK = "trim(line, chr(32) || chr(9)) <> ''"
"""SQL: a line on which something stands."""

GZIP_MAGIC = b"\x1f\x8b"
LFS_MAGIC = b"version https://git-lfs.github.com/spec/"
UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NotText(Exception):
    """The content is not text as lines: where, and what was expected."""

    def __init__(self, kind: str, expected: str, line: int | None = None):
        super().__init__(expected)
        self.kind, self.expected, self.line = kind, expected, line


@dataclass
class _Seen:
    """What is known of the file so far."""

    lines: int = 0
    crlf: int = 0
    bom: str | None = None


def read_lines(con: duckdb.DuckDBPyConnection, path: str | Path, table: str, report: Report) -> bool:
    """Fill the new temp table `table(line_no BIGINT, text VARCHAR)` with the file's lines that are not blank.

    Line numbers are those of the file, from 1. Lines come without their end, and are otherwise untouched.
    What is wrong is one fault in the report, and then the answer is False.
    """
    con.execute(f"create or replace temp table {table} (line_no bigint, text varchar)")

    def append(lines_before: int, text: str) -> None:
        con.execute(
            f"insert into {table} select ?::bigint + number, line from {LINES} where {NOT_BLANK}",
            [lines_before, text],
        )

    doubts = Report()
    if not feed_lines(path, append, report, doubts):
        return False
    if con.execute(f"select count(*) from {table}").fetchall() == [(0,)]:
        report.fault(empty_file(str(path)))
        return False
    report.doubts += doubts.doubts
    return True


def feed_lines(path: str | Path, take: Callable[[int, str], None], faults: Report, doubts: Report) -> bool:
    """Call `take(lines_before, text)` for each piece of the file: whole lines, without the last one's end.

    For readers that need not keep the lines. `doubts` may be another report than `faults`, for a caller that
    says nothing else of a file it refuses.
    """
    seen = _Seen()
    file = str(path)
    try:
        with Path(path).open("rb") as source:
            for text in _texts(source, seen):
                take(seen.lines, text)
                seen.lines += text.count("\n") + 1
    except NotText as wrong:
        faults.fault(Fault(file, wrong.kind, wrong.expected, line=wrong.line))
        return False
    except OSError as error:
        faults.fault(cannot_open(file, error))
        return False
    if seen.bom:
        kind = "bom_removed" if seen.bom == "UTF-8" else "utf16_decoded"
        doubts.doubt(file, kind, 1, f"the file begins with a {seen.bom} byte-order mark; it was taken off")
    doubts.doubt(
        file,
        "crlf",
        seen.crlf,
        f"{seen.crlf:,} {'line ends' if seen.crlf == 1 else 'lines end'} with CRLF; the CR was taken off",
    )
    return True


def cannot_open(file: str, error: OSError) -> Fault:
    """The fault for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Fault(file, "file_not_found", "there is no such file")
    if isinstance(error, IsADirectoryError):
        return Fault(file, "is_a_directory", "a file was expected; this is a directory")
    return Fault(file, "file_not_readable", f"the file cannot be read: {error.strerror or error}")


def empty_file(file: str) -> Fault:
    """The fault for a file in which nothing stands."""
    return Fault(file, "empty_file", "the file is empty: at least one line was expected")


def _texts(source: BufferedReader, seen: _Seen) -> Iterator[str]:
    """The file's text in pieces of whole lines, each without its last line end."""
    raw = unpacked(source)
    head = next(raw, b"")
    if head.startswith(LFS_MAGIC):
        raise NotText(
            "lfs_pointer",
            "this is a Git LFS pointer, not the data: run `git lfs pull` where it came from, then try again",
        )
    if head.startswith(UTF16_BOMS):
        seen.bom = "UTF-16"
        pieces = _utf16(head, raw, seen)
    else:
        if head.startswith(codecs.BOM_UTF8):
            seen.bom, head = "UTF-8", head[len(codecs.BOM_UTF8) :]
        pieces = _utf8(head, raw, seen)
    for text in pieces:
        if (at := text.find("\0")) >= 0:
            raise NotText("nul_byte", "text was expected; a NUL byte stands here", _line_of(text, at, seen))
        if crlf := text.count("\r\n"):
            seen.crlf += crlf
            text = text.replace("\r\n", "\n")
        yield text.removesuffix("\n")


def unpacked(source: BufferedReader) -> Iterator[bytes]:
    """The bytes of the file in chunks, decompressed where its first bytes (not its name) say gzip."""
    if source.peek(2)[:2] != GZIP_MAGIC:
        yield from iter(lambda: source.read(CHUNK), b"")
        return
    try:
        with gzip.open(source) as inner:
            yield from iter(lambda: inner.read(CHUNK), b"")
    except EOFError:
        raise NotText("bad_gzip", "the gzip file ends too early: it was cut off, fetch it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise NotText("bad_gzip", f"the gzip file is damaged ({error})") from None


def _utf8(head: bytes, raw: Iterator[bytes], seen: _Seen) -> Iterator[str]:
    # The cut is at a newline, so no character is ever cut in two, and the place of a bad byte is known.
    rest = b""
    for chunk in _with(head, raw):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield _decode(rest + chunk[:cut], seen)
            rest = chunk[cut:]
        else:
            rest += chunk
            _refuse_endless(len(rest), seen)
    if rest:
        yield _decode(rest, seen)


def _decode(data: bytes, seen: _Seen) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(
            "invalid_utf8",
            f"text in UTF-8 was expected; byte 0x{data[error.start]:02x} does not belong to it",
            seen.lines + data.count(b"\n", 0, error.start) + 1,
        ) from None


def _utf16(head: bytes, raw: Iterator[bytes], seen: _Seen) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-16")()
    rest = ""
    for chunk in _with(head, raw, b""):
        try:
            text = rest + decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError:
            raise NotText("invalid_utf16", "the file begins as UTF-16 and does not go on so") from None
        cut = text.rfind("\n") + 1
        rest = text[cut:]
        _refuse_endless(len(rest), seen)
        if cut:
            yield text[:cut]
    if rest:
        yield rest


def _with(head: bytes, raw: Iterator[bytes], *tail: bytes) -> Iterator[bytes]:
    if head:
        yield head
    yield from raw
    yield from tail


def _refuse_endless(length: int, seen: _Seen) -> None:
    if length > LONGEST_LINE:
        raise NotText(
            "line_too_long",
            f"a line of over {LONGEST_LINE // 2**20} MB: is this a text file?",
            seen.lines + 1,
        )


def _line_of(text: str, at: int, seen: _Seen) -> int:
    return seen.lines + text.count("\n", 0, at) + 1
