"""The order of a large run's file. In nearly all, a query's results stand together, the best first, numbered.

Where that is so, and it is looked at in every row, the rank column is the rank: nothing needs to be sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np

from rankroom.readers.rankings import Order, column

MOST_TIED = 1_000_000
"""With more tied results than this, mending their ranks is no gain over ordering everything."""


@dataclass(frozen=True)
class FileOrder:
    """A file in the order of its rankings: what rank its first results have, and its ties."""

    first_rank: int
    order: Order


def mend_ranks(
    con: duckdb.DuckDBPyConnection, table: str, *, by_rank: bool, scored: bool
) -> FileOrder | None:
    """Make the column `rank` the rank of each result, from 0 or 1 on as in the file.

    None, and no change, if the file has another order. Where it has this one, only tied results may need
    another rank than the file gives them: they go by document id descending. `scored` says whether there are
    scores at all. The table's rows are those of the file, in its order. Makes the temp table
    `ranking_starts(query_id, first_row, num_returned)`.
    """
    starts = _starts(con, table)
    ((first_rank,),) = con.execute(f"select rank from {table} where rowid = 0").fetchall()
    if starts is None or first_rank not in (0, 1):
        return None
    tied = _look_through(con, table, starts, first_rank, scored)
    if tied is None or len(tied) > MOST_TIED:
        return None
    return FileOrder(int(first_rank), _mend_ties(con, table, starts, tied[:0] if by_rank else tied))


def _starts(con: duckdb.DuckDBPyConnection, table: str) -> np.ndarray | None:
    """The rows in which rankings begin; None if the results of some query do not stand together."""
    con.execute(
        f"""
        create or replace temp table ranking_starts as
        select query_id, min(rowid) as first_row, count(*) as num_returned,
               max(rowid) - min(rowid) + 1 = count(*) as together
        from {table} group by query_id
        """
    )
    if con.execute("select 1 from ranking_starts where not together limit 1").fetchall():
        return None
    return np.sort(column(con, "select first_row from ranking_starts"))


def _look_through(
    con: duckdb.DuckDBPyConnection, table: str, starts: np.ndarray, first_rank: float, scored: bool
) -> np.ndarray | None:
    """The rows whose next is tied with them; None if ranks leave one out, or scores rise, in any ranking.

    Batch by batch, so that what is looked at stays in the processor's cache.
    """
    at, rank_before, score_before = 0, first_rank - 1, 0.0
    tied = [np.zeros(0, np.int64)]
    for batch in con.sql(
        f"select rank, {'score' if scored else '0::double as score'} from {table}"
    ).to_arrow_reader():
        ranks, scores = (np.from_dlpack(values) for values in batch.columns)
        begins = np.zeros(len(ranks), bool)
        begins[starts[np.searchsorted(starts, at) : np.searchsorted(starts, at + len(ranks))] - at] = True
        in_step = np.diff(ranks, prepend=rank_before) == 1
        in_step[begins] = ranks[begins] == first_rank
        rises = np.diff(scores, prepend=score_before)
        if not in_step.all() or ((rises > 0) & ~begins).any():
            return None
        if scored:
            tied.append(np.flatnonzero((rises == 0) & ~begins) + at - 1)
        at, rank_before, score_before = at + len(ranks), ranks[-1], scores[-1]
    return np.concatenate(tied)


def _mend_ties(con: duckdb.DuckDBPyConnection, table: str, starts: np.ndarray, tied: np.ndarray) -> Order:
    """Order tied results within the ranks that they have together. `tied`: the rows tied with their next."""
    rows = np.union1d(tied, tied + 1)
    if not len(rows):
        return Order()
    begins = ~np.isin(rows - 1, tied)
    first = rows[begins][np.cumsum(begins) - 1]
    con.register("tied_rows", {"row": rows, "first": first})
    con.execute(
        f"""
        update {table} set rank = rank + shifts.shift
        from (
            select row, first + row_number() over (partition by first order by doc_id desc) - 1 - row as shift
            from tied_rows join {table} on {table}.rowid = tied_rows.row
        ) as shifts
        where {table}.rowid = shifts.row and shifts.shift <> 0
        """
    )
    con.unregister("tied_rows")
    queries = np.unique(np.searchsorted(starts, rows, side="right"))
    return Order(ties=len(rows), tied_queries=len(queries))
