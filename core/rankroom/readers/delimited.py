"""Large clean TREC runs, piece by piece, at the speed of a reader of many lines at once.

"Clean" is shown, not hoped for: each byte of the file is looked at first. What pyarrow would take otherwise
than the exact reader (line by line, in trec.py) is not read here at all, so both always give the same.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import csv

from rankroom.readers.lines import GZIP_MAGIC
from rankroom.readers.rankings import numbers

FAST_FROM = 4 * 2**20
"""Bytes from which a run is worth the fast way."""

PIECE = 4 * 2**20
"""Bytes of a piece. It takes what is lacking of its last query."""

SLICE = 2**18
"""Bytes looked at in one go: what is made of them stays in the processor's cache."""

LONGEST_LINE = 2**16
"""Bytes looked at to find the ends of lines and queries, at first."""

MOST_THREADS = 8

NEWLINE, TAB, BLANK, HASH = b"\n\t #"

COLUMNS = {
    6: ("query_id", "q0", "doc_id", "rank", "score", "tag"),
    3: ("query_id", "doc_id", "rank"),
}
"""The forms that are read here, by their number of columns."""

UNUSED = ("q0", "tag")
TYPES = {
    "query_id": pa.dictionary(pa.int32(), pa.string()),
    "rank": pa.float64(),
    "score": pa.float64(),
}
"""Of the columns that are not plain text."""

T = TypeVar("T")


class NotClean(Exception):
    """A file is small, not clean, or holds a value for the exact reader to judge."""


def read_delimited(path: str | Path, take: Callable[[pa.Table], T]) -> Iterator[T]:
    """What `take` makes of each piece of a run, in the file's order. Raises NotClean, at whatever piece.

    A piece holds the results of one or more queries; result n (from 0) of all pieces stands on line n + 1.
    Columns: query_id (a dictionary), doc_id, rank DOUBLE and, but for a file of 3 columns, score DOUBLE.
    `take` is called in other threads.
    """
    try:
        if not _is_large(path):
            raise NotClean
        with _plain(path) as source:
            yield from _read(source, take)
    except (OSError, EOFError, zlib.error, pa.ArrowException):
        raise NotClean from None  # the exact reader says what is wrong


def _is_large(path: str | Path) -> bool:
    what = Path(path).stat()
    return stat.S_ISREG(what.st_mode) and what.st_size >= FAST_FROM


@contextmanager
def _plain(path: str | Path) -> Iterator[BinaryIO]:
    """The file, unpacked where it is gzip, so that it can be read from any place."""
    with Path(path).open("rb") as source:
        if source.peek(2)[:2] != GZIP_MAGIC:
            yield source
            return
        with tempfile.TemporaryFile(prefix="rankroom") as plain:
            with gzip.open(source) as inner:
                shutil.copyfileobj(inner, plain, PIECE)
            plain.flush()
            yield plain


@dataclass(frozen=True)
class Source:
    """A file that may be clean, and how its fields are told apart."""

    file: int
    """Its descriptor."""
    size: int
    delimiter: int
    names: tuple[str, ...]


def _read(opened: BinaryIO, take: Callable[[pa.Table], T]) -> Iterator[T]:
    file = opened.fileno()
    first = os.pread(file, LONGEST_LINE, 0).split(b"\n", 1)[0]
    delimiter = TAB if TAB in first else BLANK
    names = COLUMNS.get(first.count(delimiter) + 1)
    if names is None or first.startswith(b"\xef\xbb\xbf"):
        raise NotClean
    source = Source(file, os.fstat(file).st_size, delimiter, names)
    # pyarrow and numpy free the interpreter lock for most of this.
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as pool:
        yield from pool.map(lambda piece: take(_rows(source, *piece)), _pieces(source))


def _pieces(source: Source) -> Iterator[tuple[int, int]]:
    """Where pieces begin and end."""
    start = 0
    while start < source.size:
        end = _end_of_query(source, start + PIECE)
        yield start, end
        start = end


def _end_of_query(source: Source, place: int) -> int:
    """Where, from a place on, a line of one query is followed by a line of another."""
    length = LONGEST_LINE
    while place + length < source.size:
        ahead = os.pread(source.file, length, place)
        line = ahead.find(b"\n") + 1
        query = ahead[line : ahead.find(source.delimiter, line) + 1]
        other = re.compile(rb"\n(?!" + re.escape(query) + rb")").search(ahead, line)
        if line and query and other and other.end() + len(query) <= len(ahead):
            return place + other.end()
        length *= 4
    return source.size


def _rows(source: Source, start: int, end: int) -> pa.Table:
    data = os.pread(source.file, end - start, start)
    fields = _count_fields(data, source.delimiter, is_last=end == source.size)
    ascii = data.isascii()
    names = source.names
    rows = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
        parse_options=csv.ParseOptions(delimiter=chr(source.delimiter), quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types={name: TYPES.get(name, pa.string()) for name in names},
            # Bytes that are not UTF-8 are only noticed in columns that are asked for.
            include_columns=[name for name in names if name not in UNUSED or not ascii],
            check_utf8=not ascii,
            null_values=[],
        ),
    )
    # No line gives a result unless it has all columns. If there are no more ends of fields than that, then no
    # other byte up to the blank was left aside or became part of a field.
    if len(data) != end - start or rows.num_rows * len(names) != fields or not _finite(rows):
        raise NotClean
    return rows.select([name for name in names if name not in UNUSED])


def _count_fields(data: bytes, delimiter: int, is_last: bool) -> int:
    """How many bytes up to the blank there are: ends of fields, if the piece is clean.

    That is looked at: no two such bytes stand in a row, so no field is empty and no line begins or ends with
    a delimiter; there is no CR, at which pyarrow would end a line; no line begins with '#', as comments do.
    """
    codes = np.frombuffer(data, np.uint8)
    unended = is_last and codes[-1] != NEWLINE
    if codes[0] <= BLANK or codes[0] == HASH or b"\r" in data or (unended and codes[-1] == delimiter):
        raise NotClean
    with_hashes, fields = b"#" in data, 0
    for start in range(0, len(codes), SLICE):
        some = codes[start : start + SLICE + 1]  # with the first of the next
        ends = some <= BLANK
        if (ends[1:] & ends[:-1]).any():
            raise NotClean
        if with_hashes and ((some[1:] == HASH) & (some[:-1] == NEWLINE)).any():
            raise NotClean
        fields += int(np.count_nonzero(ends[:SLICE]))
    return fields + unended


def _finite(rows: pa.Table) -> bool:
    """Whether all numbers are finite. (Many huge ones may look otherwise; then the exact reader looks.)"""
    columns = [rows.column(field.name) for field in rows.schema if field.type == pa.float64()]
    with np.errstate(over="ignore", invalid="ignore"):
        return all(np.isfinite(numbers(column).sum()) for column in columns)
