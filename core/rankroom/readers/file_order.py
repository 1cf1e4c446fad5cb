"""The order of a large run's file. In nearly all, a query's results stand together, the best first, numbered.

Where that is so, and it is looked at in every row, the place of a row is its rank, and nothing is sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from rankroom.readers.rankings import as_arrow, column, numbers, pair_hashes, repeated


class OtherOrder(Exception):
    """The results of a query do not stand together, the best first, numbered and each document once."""


@dataclass(frozen=True)
class Ranked:
    """Whole rankings, as a piece of a file has them."""

    results: pa.Table
    """query_id, doc_id, score DOUBLE, rank (from 1), and pair: the hash of query and document."""
    rankings: pa.Table
    """query_id and num_returned of each."""
    num_rows: int
    """How many results they have together."""
    first_rank: int
    """What rank their first results have in the file: 0 or 1."""
    by_rank: bool
    """Whether ranks, and not scores, tell the order."""
    ties: int
    tied_queries: int


def ranked(con: duckdb.DuckDBPyConnection, rows: pa.Table, *, by_rank: bool) -> Ranked:
    """The rankings of a piece of a file, as read_delimited gives it. Raises OtherOrder.

    Tied results of a run that goes by scores are put in the order of their document ids, descending.
    """
    queries = rows.column("query_id").combine_chunks()
    query = np.from_dlpack(queries.indices)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(query)) + 1])
    lengths = np.diff(starts, append=len(query))
    ranks = np.arange(1, len(query) + 1) - np.repeat(starts, lengths)
    given = numbers(rows.column("rank"))
    if (
        len(starts) != len(queries.dictionary)
        or given[0] not in (0, 1)
        or not np.array_equal(given, ranks + (given[0] - 1))
    ):
        raise OtherOrder
    con.register("piece", rows)
    pairs = pair_hashes(con, "piece")
    if len(repeated(pairs.copy())):
        raise OtherOrder
    tied = np.zeros(0, np.int64)
    score = rows.column("score") if "score" in rows.column_names else pa.nulls(len(ranks), pa.float64())
    if "score" in rows.column_names:
        scores = numbers(score)
        within = np.ones(len(scores) - 1, bool)
        within[starts[1:] - 1] = False
        if ((scores[1:] > scores[:-1]) & within).any():
            raise OtherOrder
        tied = np.flatnonzero((scores[1:] == scores[:-1]) & within)
    else:
        by_rank = True
    if by_rank:
        tied = tied[:0]
    places = np.union1d(tied, tied + 1)
    if len(places):
        _settle_ties(con, rows, ranks, tied, places)
    return Ranked(
        pa.table(
            {
                "query_id": queries,
                "doc_id": rows.column("doc_id"),
                "score": score,
                "rank": as_arrow(ranks),
                "pair": as_arrow(pairs),
            }
        ),
        pa.table(
            {"query_id": queries.dictionary.take(as_arrow(query[starts])), "num_returned": as_arrow(lengths)}
        ),
        len(ranks),
        int(given[0]),
        by_rank,
        len(places),
        len(np.unique(np.searchsorted(starts, places, side="right"))),
    )


def _settle_ties(
    con: duckdb.DuckDBPyConnection, rows: pa.Table, ranks: np.ndarray, tied: np.ndarray, places: np.ndarray
) -> None:
    """Order results that are tied with the next (`tied`), or with one before, within their ranks."""
    begins = ~np.isin(places - 1, tied)
    place = as_arrow(places)
    ties = {"place": place, "tie": as_arrow(np.cumsum(begins)), "doc_id": rows.column("doc_id").take(place)}
    con.register("ties", pa.table(ties))
    ranks[column(con, "select place from ties order by tie, doc_id desc")] = ranks[places]
