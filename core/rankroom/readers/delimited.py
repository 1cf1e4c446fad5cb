"""Large clean TREC runs at the speed of DuckDB's own reader.

"Clean" is shown, not hoped for: each byte of the file is looked at first. What read_csv would take otherwise
than the exact reader (line by line, in trec.py) is not read here at all, so both always give the same table.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from rankroom.readers.lines import GZIP_MAGIC
from rankroom.readers.rankings import PAIR

FAST_FROM = 4 * 2**20
"""Bytes from which a run is worth the fast way."""

PIECE = 2**19
"""Bytes looked at in one go: they stay in the processor's cache."""

NEWLINE, TAB, BLANK, HASH, PLUS, MINUS, ZERO, UNDERSCORE = b"\n\t #+-0_"

COLUMNS = {
    6: ("query_id", "q0", "doc_id", "rank", "score", "tag"),
    3: ("query_id", "doc_id", "rank"),
}
"""The forms that are read here, by their number of columns."""


@dataclass(frozen=True)
class Scan:
    """What one look at some bytes says."""

    spaces: int
    """Delimiters, line ends, and any other byte up to the blank; a last line without its end has one too."""
    clean: bool
    ascii: bool
    odd_numbers: bool


def read_delimited(
    con: duckdb.DuckDBPyConnection, path: str | Path, table: str, *, by_rank: bool
) -> int | None:
    """Fill `table(query_id, doc_id, key, score, rank, pair)` from a clean run, its rows in the file's order.

    `pair` is the hash of query and document (rankings.PAIR): made here, it costs nothing.

    The answer is the number of columns, or None (and no promise about the table) for a file that is small,
    not clean, or holds a value for the exact reader to judge. Row n (rowid + 1) is line n of the file.
    """
    try:
        if not _is_large(path):
            return None
        with _plain_copy(path) as (plain, alias):
            return _read(con, plain, alias, table, by_rank)
    except (OSError, EOFError, zlib.error, _NotClean):
        return None  # the exact reader says what is wrong


class _NotClean(Exception):
    pass


def _is_large(path: str | Path) -> bool:
    what = Path(path).stat()
    return stat.S_ISREG(what.st_mode) and what.st_size >= FAST_FROM


@contextmanager
def _plain_copy(path: str | Path) -> Iterator[tuple[Path, str]]:
    """The file (unpacked, where it is gzip) and a harmless name for it.

    In a name, read_csv takes '*' and '[' as patterns, '~' as the home, 'a=b' as a partition, '.gz' as gzip.
    """
    with tempfile.TemporaryDirectory(prefix="rankroom") as folder:
        if not re.fullmatch(r"[\w/.-]+", folder, re.ASCII):
            raise _NotClean
        alias = Path(folder) / "run"
        with Path(path).open("rb") as source:
            if source.peek(2)[:2] == GZIP_MAGIC:
                with gzip.open(source) as inner, alias.open("wb") as plain:
                    shutil.copyfileobj(inner, plain, PIECE)
            else:
                alias.symlink_to(Path(path).resolve())
        yield alias, str(alias)


def _read(con: duckdb.DuckDBPyConnection, path: Path, alias: str, table: str, by_rank: bool) -> int | None:
    with path.open("rb") as source:
        first = source.readline(PIECE).rstrip(b"\n")
        delimiter = TAB if TAB in first else BLANK
        names = COLUMNS.get(first.count(delimiter) + 1)
        if names is None or first.startswith(b"\xef\xbb\xbf"):
            return None
        scan = _scan(source.fileno(), delimiter)
    if not scan.clean:
        return None
    by_rank = by_rank or len(names) == 3
    with _file_order(con):
        con.execute(_create(table, names, by_rank, scan), [alias, chr(delimiter)])
    return len(names) if _sound(con, table, names, by_rank, scan.spaces) else None


def _create(table: str, names: tuple[str, ...], by_rank: bool, scan: Scan) -> str:
    # Numbers come as text where DuckDB would read more than the exact reader does: 1_000 and +-1.
    number = "VARCHAR" if scan.odd_numbers else "DOUBLE"
    types = ", ".join(f"'{name}': '{number if name in ('rank', 'score') else 'VARCHAR'}'" for name in names)
    rank, score = _number("rank", scan), _number("score", scan) if "score" in names else "null::double"
    key = f"0 - {rank}" if by_rank else score
    # Bytes that are not UTF-8 are only noticed in columns that are asked for.
    noticed = "" if scan.ascii or "tag" not in names else "where q0 is not null and tag is not null"
    return f"""
        create or replace temp table {table} as
        select query_id, doc_id, {key} as key, {score} as score, {rank} as rank,
               {PAIR} as pair
        from read_csv(?, delim = ?, columns = {{{types}}}, header = false, auto_detect = false, quote = '',
                      escape = '', comment = '', compression = 'none', hive_partitioning = false)
        {noticed}
        """


def _number(name: str, scan: Scan) -> str:
    if not scan.odd_numbers:
        return name
    return f"if(contains({name}, '_') or contains({name}, '+-'), null, {name}::double)"


def _sound(
    con: duckdb.DuckDBPyConnection, table: str, names: tuple[str, ...], by_rank: bool, spaces: int
) -> bool:
    """Whether each line became a row, with numbers that need no further word.

    read_csv makes a row only of a line with all columns. If the rows' delimiters and line ends are all the
    bytes up to the blank that there are, then no other was left aside or became part of a field.
    """
    numbers = [name for name in ("rank", "score") if name in names]
    # One value that is not finite makes the sum so. (So may many huge ones: then the exact reader looks.)
    checks = [f"count({name}) = count(*) and isfinite(sum({name}))" for name in numbers]
    if by_rank:
        checks.append("bool_and(rank = floor(rank))")
    return con.execute(
        f"select count(*) * {len(names)} = ? and {' and '.join(checks)} from {table}", [spaces]
    ).fetchall() == [(True,)]


@contextmanager
def _file_order(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Rows are stored in the file's order, whatever the connection does otherwise."""
    before = con.execute("select current_setting('preserve_insertion_order')").fetchall()[0][0]
    con.execute("set preserve_insertion_order = true")
    try:
        yield
    except (duckdb.ConversionException, duckdb.InvalidInputException):
        raise _NotClean from None
    finally:
        con.execute(f"set preserve_insertion_order = {bool(before)}")


def _scan(source: int, delimiter: int) -> Scan:
    size = os.fstat(source).st_size
    # numpy frees the interpreter lock for most of this: two at a time take half as long, more do not help.
    with ThreadPoolExecutor(2) as pool:
        pieces = list(pool.map(lambda start: _look(source, start), range(0, size, PIECE)))
    last = os.pread(source, 1, size - 1)
    return Scan(
        spaces=sum(piece.spaces for piece in pieces) + (last != b"\n"),
        clean=all(piece.clean for piece in pieces) and last != bytes([delimiter]),
        ascii=all(piece.ascii for piece in pieces),
        odd_numbers=any(piece.odd_numbers for piece in pieces),
    )


def _look(source: int, start: int) -> Scan:
    """One piece, with the two bytes before it (as if a newline stood before the file), so no pair is missed.

    Clean: no two bytes up to the blank stand in a row, so no field is empty and no line begins or ends with
    a delimiter; there is no CR, at which read_csv would end a line; no line begins with '#', as comments do.
    """
    data = os.pread(source, PIECE + 2, start - 2) if start else b"-\n" + os.pread(source, PIECE, 0)
    codes = np.frombuffer(data, np.uint8)
    spaces = codes <= BLANK
    return Scan(
        spaces=int(np.count_nonzero(spaces[2:])),
        clean=not (spaces[1:] & spaces[:-1]).any()
        and b"\r" not in data
        and not (b"#" in data and _comment(codes)),
        ascii=data.isascii(),
        odd_numbers=(b"_" in data and _within_digits(codes)) or (b"+" in data and _plus_minus(codes)),
    )


def _comment(codes: np.ndarray) -> bool:
    at = np.flatnonzero(codes[1:] == HASH)
    return bool((codes[at] == NEWLINE).any())


def _within_digits(codes: np.ndarray) -> bool:
    at = np.flatnonzero(codes[1:-1] == UNDERSCORE) + 1
    digits = codes - ZERO < 10  # bytes wrap around, so this is '0' to '9'
    return bool((digits[at - 1] & digits[at + 1]).any())


def _plus_minus(codes: np.ndarray) -> bool:
    at = np.flatnonzero(codes[:-1] == PLUS)
    return bool((codes[at + 1] == MINUS).any())
