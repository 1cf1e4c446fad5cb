"""What can be odd in results, whatever file they came from: a document twice, ties, ranks against scores.

The table has (query_id, doc_id, key, score, rank); `line` is the SQL expression for the line a row came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import duckdb
import numpy as np
import pyarrow as pa

from rankroom.counted import queries
from rankroom.faults import SHOWN, Fault, Report

OrderedBy = Literal["score", "rank"]
"""What tells the order of a TREC run's results."""

WHOLE = 1_000_000
"""Up to so many results, ties and rank order are looked for in all of them."""

KEPT = 100
"""Beyond that, in the first so many of each query."""


PAIR = "hash(query_id, doc_id)"
"""SQL for the hash of a query and a document together."""


def pair_hashes(con: duckdb.DuckDBPyConnection, table: str) -> np.ndarray:
    """A hash of 64 bits of each (query, document): what `repeated` looks at."""
    return column(con, f"select {PAIR} as pair from {table}")


def column(con: duckdb.DuckDBPyConnection, query: str) -> np.ndarray:
    """The only column of a query's result: numbers, none NULL. (By Arrow: a third of fetchnumpy's time.)"""
    return numbers(con.sql(query).to_arrow_table().column(0))


def numbers(values: pa.ChunkedArray) -> np.ndarray:
    """Numbers of Arrow, none NULL, as an array of their own."""
    return (
        np.concatenate([np.from_dlpack(chunk) for chunk in values.chunks]) if values.chunks else np.zeros(0)
    )


def as_arrow(values: np.ndarray) -> pa.Array:
    """Numbers for Arrow, without a copy. (pa.array would import pandas, which takes longer than the rest.)"""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def repeated(hashes: np.ndarray) -> np.ndarray:
    """The hashes that occur more than once: a document twice in a ranking, or (hardly ever) a coincidence.

    Sorting (in place) takes half the time and memory of a distinct count in SQL over millions of pairs.
    """
    hashes.sort()
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def find_repeats(con: duckdb.DuckDBPyConnection, table: str, line: str, where: str = "true") -> None:
    """Make the temp table `{table}_repeats(line_no, doc_id, first_line, place)`.

    It holds all results of documents that stand twice in a ranking, looking only at results of which `where`
    is true; `place` is 1 for the best-ranked.
    """
    suspects = repeated(pair_hashes(con, f"(select query_id, doc_id from {table} where {where})"))
    con.register(f"{table}_suspects", {"pair": suspects})
    con.execute(
        f"""
        create or replace temp table {table}_repeats as
        select {line} as line_no, doc_id, min({line}) over same as first_line,
               row_number() over (partition by query_id, doc_id order by key desc, {line}) as place
        from {table}
        where {where} and {PAIR} in (select pair from {table}_suspects)
        window same as (partition by query_id, doc_id)
        qualify count(*) over same > 1
        """
    )
    con.unregister(f"{table}_suspects")


def repeat_faults(con: duckdb.DuckDBPyConnection, table: str, file: str) -> tuple[list[Fault], int]:
    """The first faults for documents that stand twice in a ranking, and how many; after `find_repeats`."""
    rows = con.execute(
        f"""
        select line_no, doc_id, first_line from {table}_repeats
        where line_no > first_line order by line_no limit {SHOWN}
        """
    ).fetchall()
    return [
        Fault(
            file,
            "duplicate_document",
            f"a document stands once in a ranking; line {first} has it already"
            " (--collapse first keeps the best-ranked)",
            line=number,
            field="doc_id",
            value=doc_id,
        )
        for number, doc_id, first in rows
    ], _number(con, f"select count(*) from {table}_repeats where line_no > first_line")


def collapse_repeats(
    con: duckdb.DuckDBPyConnection, table: str, line: str, file: str, report: Report
) -> None:
    """Keep the best-ranked of each document that stands more than once, after `find_repeats`."""
    dropped = _number(con, f"select count(*) from {table}_repeats where place > 1")
    con.execute(f"delete from {table} where {line} in (select line_no from {table}_repeats where place > 1)")
    what = "result names a document" if dropped == 1 else "results name a document"
    report.doubt(
        file,
        "duplicate_document",
        dropped,
        f"{dropped:,} {what} that the ranking holds already; the best-ranked was kept",
    )
    con.execute(f"delete from {table}_repeats")


@dataclass(frozen=True)
class RunFile:
    """What was read: how many results, and what their order goes by."""

    num_rows: int
    ordered_by: OrderedBy
    ranked: bool = False
    """Whether the file is in their order. Then they have two more columns, `rank` and the hash of query and
    document (`pair`), and may lack what is not needed; and the view TABLE_rankings has the query_id and
    num_returned of each ranking."""


@dataclass(frozen=True)
class Order:
    """How a table's scores and ranks go together; numbers are over `scope`."""

    ties: int = 0
    tied_queries: int = 0
    queries: int = 0
    disagreeing: int = 0
    reversed: int = 0
    first_line: int | None = None
    scope: str = ""


def order_doubts(
    con: duckdb.DuckDBPyConnection, table: str, line: str, file: str, report: Report, *, by_rank: bool
) -> None:
    """Say where scores are tied, and where the rank column and the scores tell different orders."""
    say_order(_order_anyhow(con, table, line), file, report, by_rank=by_rank)


def say_order(found: Order, file: str, report: Report, *, by_rank: bool) -> None:
    """Put what was found into the report, as far as it matters."""
    if not by_rank:
        report.doubt(file, "tied_scores", found.ties, _tied(found))
    report.doubt(file, "rank_score_disagree", found.disagreeing, _disagreeing(found, by_rank))


def _tied(found: Order) -> str:
    results = "result shares its" if found.ties == 1 else "results share their"
    return (
        f"{found.ties:,} {results} score with another in {queries(found.tied_queries)}{found.scope}; "
        "ties are ordered by document id descending, as trec_eval does"
    )


def _disagreeing(found: Order, by_rank: bool) -> str:
    if by_rank:
        return (
            f"the scores tell another order than the rank column in {found.disagreeing:,} of "
            f"{queries(found.queries)}{found.scope}, first on line {found.first_line}; "
            "the rank column was taken, as asked"
        )
    if found.reversed == found.queries:
        return (
            f"the rank column runs against the scores in {found.reversed:,} of {queries(found.queries)}"
            f"{found.scope}: if the scores are distances, use --order rank"
        )
    return (
        f"the rank column tells another order than the scores in {found.disagreeing:,} of "
        f"{queries(found.queries)}{found.scope}, first on line {found.first_line}; "
        "the scores were taken, as trec_eval does (--order rank takes the rank column)"
    )


def has_shared_ranks(con: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Whether two results of a query have one rank."""
    shared = f"select 1 from {table} group by query_id, rank having count(*) > 1 limit 1"
    return bool(con.execute(shared).fetchall())


def _ties(con: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    """How many results share their score with another of their query, and in how many queries."""
    results, queries = con.execute(
        f"""
        select coalesce(sum(n), 0)::bigint, count(distinct query_id)
        from (select query_id, count(*) as n from {table} group by query_id, score having n > 1)
        """
    ).fetchall()[0]
    return results, queries


def _order_anyhow(con: duckdb.DuckDBPyConnection, table: str, line: str) -> Order:
    """Ties and disagreements, in whatever order the rows stand."""
    source, scope = f"(select query_id, rank, score, {line} as line_no from {table})", ""
    if _number(con, f"select count(*) from {table}") > WHOLE:
        scope = f" (looked for in the first {KEPT} results of each)"
        source = f"""(
            select query_id, unnest(kept, recursive := true) from (
                select query_id, max({{'key': key, 'doc_id': doc_id, 'rank': rank, 'score': score,
                                       'line_no': {line}}}, {KEPT}) as kept
                from {table} group by query_id))"""
    con.execute(
        f"create or replace temp table {table}_order as select query_id, rank, score, line_no from {source}"
    )
    ties, tied_queries = _ties(con, f"{table}_order")
    # Down the ranks the scores should never rise; results of one rank have no order among themselves.
    queries, disagreeing, against, first_line = con.execute(
        f"""
        with steps as (
            select query_id, line_no,
                   score > lag(score) over (partition by query_id order by rank, score desc) as up
            from {table}_order where rank is not null
        ), per_query as (
            select count(*) as n, count(*) filter (up) as ups, min(line_no) filter (up) as line_no
            from steps group by query_id
        )
        select count(*) filter (n > 1), count(*) filter (ups > 0), count(*) filter (n > 1 and ups = n - 1),
               min(line_no)
        from per_query
        """
    ).fetchall()[0]
    con.execute(f"drop table {table}_order")
    return Order(ties, tied_queries, queries, disagreeing, against, first_line, scope)


def _number(con: duckdb.DuckDBPyConnection, sql: str) -> int:
    return int(con.execute(sql).fetchall()[0][0])
