"""Large clean TREC runs, by far most of which are in the order of their rankings: those are read in passing.

Of such a run only what is needed is ever held: piece by piece it is ranked, and cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from rankroom.faults import Report
from rankroom.readers.delimited import NotClean, read_delimited
from rankroom.readers.file_order import OtherOrder, Ranked, ranked
from rankroom.readers.rankings import (
    Order,
    OrderedBy,
    RunFile,
    as_arrow,
    has_shared_ranks,
    numbers,
    order_doubts,
    pair_hashes,
    repeated,
    say_order,
)


@dataclass(frozen=True)
class Needed:
    """What of a large run is asked for: the first results of each ranking, and labelled ones at any depth."""

    depth: Callable[[int], int | None] = lambda num_rows: None
    """How many of each ranking, by the number of results in the file. None: all."""
    labelled: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))
    """The hashes of labelled pairs (rankings.PAIR)."""


def read_clean_run(
    con: duckdb.DuckDBPyConnection,
    path: str | Path,
    table: str,
    report: Report,
    order: OrderedBy,
    needed: Needed,
) -> RunFile | None:
    """What trec.read_run does; None, and no view, if the exact reader has something to say of the file."""
    try:
        try:
            return _read_in_order(con, path, table, report, order, needed)
        except OtherOrder:
            return _read_in_any_order(con, path, table, report, order)
    except NotClean:
        return None


def _read_in_order(
    con: duckdb.DuckDBPyConnection,
    path: str | Path,
    table: str,
    report: Report,
    order: OrderedBy,
    needed: Needed,
) -> RunFile:
    """One in the order of its rankings: most are. Raises NotClean or OtherOrder."""
    depth: int | None = None

    def take(rows: pa.Table) -> Ranked:
        with con.cursor() as own:
            piece = ranked(own, rows, by_rank=order == "rank")
        return cut(piece) if depth is not None else piece

    def cut(piece: Ranked) -> Ranked:
        return replace(piece, results=_needed(piece.results, depth or 0, needed.labelled))

    pieces: list[Ranked] = []
    num_rows = 0
    for piece in read_delimited(path, take):
        pieces.append(piece)
        num_rows += piece.num_rows
        if depth is None and (depth := needed.depth(num_rows)) is not None:
            pieces = [cut(piece) for piece in pieces]
    con.register(f"{table}_rows", pa.concat_tables([piece.results for piece in pieces]))
    con.register(f"{table}_rankings", pa.concat_tables([piece.rankings for piece in pieces]))
    first_ranks = {piece.first_rank for piece in pieces}
    twice = f"select 1 from {table}_rankings group by query_id having count(*) > 1 limit 1"
    if len(first_ranks) > 1 or con.execute(twice).fetchall():
        raise OtherOrder
    by_rank = pieces[0].by_rank
    key = f"{1 - first_ranks.pop()} - rank" if by_rank else "score"
    con.execute(
        f"create temp view {table} as"
        f" select query_id, doc_id, {key} as key, score, rank, pair from {table}_rows"
    )
    ties = Order(sum(piece.ties for piece in pieces), sum(piece.tied_queries for piece in pieces))
    say_order(ties, str(path), report, by_rank=by_rank)
    return RunFile(num_rows, "rank" if by_rank else "score", ranked=True)


def _needed(results: pa.Table, depth: int, labelled: np.ndarray) -> pa.Table:
    """The first results, the labelled ones, and a few that share the first bits of a labelled one's hash."""
    beginnings = np.zeros(2**20, bool)
    beginnings[labelled >> 44] = True
    first, pairs = (numbers(results.column(name)) for name in ("rank", "pair"))
    return results.take(as_arrow(np.flatnonzero((first <= depth) | beginnings[pairs >> 44])))


def _read_in_any_order(
    con: duckdb.DuckDBPyConnection, path: str | Path, table: str, report: Report, order: OrderedBy
) -> RunFile | None:
    """Any other; None, and no view, if a document stands twice in a ranking, or ranks are none.

    Raises NotClean.
    """
    rows = pa.concat_tables(list(read_delimited(path, lambda piece: piece)))
    source = f"{table}_rows"
    con.register(source, rows.append_column("line_no", as_arrow(np.arange(1, rows.num_rows + 1))))
    scored = "score" in rows.column_names
    by_rank = order == "rank" or not scored
    if len(repeated(pair_hashes(con, source))) or (by_rank and not _are_ranks(con, source)):
        return None
    con.execute(
        f"create temp view {table} as select query_id, doc_id, {'-rank' if by_rank else 'score'} as key,"
        f" {'score' if scored else 'null::double'} as score, rank, line_no from {source}"
    )
    if scored:
        order_doubts(con, table, "line_no", str(path), report, by_rank=by_rank)
    return RunFile(rows.num_rows, "rank" if by_rank else "score")


def _are_ranks(con: duckdb.DuckDBPyConnection, source: str) -> bool:
    """Whether the ranks are whole numbers, each of which stands once in a ranking."""
    broken = con.execute(f"select 1 from {source} where rank <> floor(rank) limit 1").fetchall()
    return not broken and not has_shared_ranks(con, source)
