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
    scores at all. The table's rows are those of the file, in its order.
    """
    starts = _starts(con, table)
    ranks = column(con, f"select rank from {table}")
    if starts is None or ranks[0] not in (0, 1):
        return None
    goes_on = np.ones(len(ranks) - 1, bool)  # whether the next row has a result of the same query
    goes_on[starts[1:] - 1] = False
    if not ((np.diff(ranks) == 1) == goes_on).all() or not (ranks[starts] == ranks[0]).all():
        return None
    tied = np.zeros(0, np.int64)
    if scored:
        scores = column(con, f"select score from {table}")
        if ((scores[1:] > scores[:-1]) & goes_on).any():
            return None
        if not by_rank:
            tied = np.flatnonzero((scores[1:] == scores[:-1]) & goes_on)
    if len(tied) > MOST_TIED:
        return None
    return FileOrder(int(ranks[0]), _mend_ties(con, table, starts, tied))


def _starts(con: duckdb.DuckDBPyConnection, table: str) -> np.ndarray | None:
    """The rows in which rankings begin; None if the results of some query do not stand together."""
    starts, together = (
        np.ma.getdata(values)
        for values in con.execute(
            f"select min(rowid) as first, max(rowid) - min(rowid) + 1 = count(*) as together from {table}"
            " group by query_id"
        )
        .fetchnumpy()
        .values()
    )
    return np.sort(starts) if together.all() else None


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
