"""What makes two query sets, label sets, collections or runs the same: a hash of their content.

Each row is written as JSON and hashed with MD5; the hashes are added up, so that the order of rows plays no
part. That guards against mistakes, not against somebody who wants two contents to look alike.
"""

from __future__ import annotations

import hashlib

import duckdb

from rankroom.resources import sql

WITHOUT_ROWS = (0, None, None)
"""Count and sums of a part that has no row."""


def query_set_hash(con: duckdb.DuckDBPyConnection, query_set: str) -> str:
    """The content of a query set: all fields of all queries."""
    return _hash(con, "query_set", query_set)


def label_set_hash(con: duckdb.DuckDBPyConnection, label_set: str) -> str:
    """The content of a label set: all labels, what counts as relevant, and what they are labels for."""
    return _hash(con, "label_set", label_set)


def collection_hash(con: duckdb.DuckDBPyConnection, collection: str) -> str:
    """The content of a collection: all documents, the unit and the id scheme."""
    return _hash(con, "collection", collection)


def run_hash(con: duckdb.DuckDBPyConnection, run: str) -> str:
    """The content of a run: what is kept of its rankings, their lengths, and what it says of itself."""
    return _hash(con, "run", run)


def _hash(con: duckdb.DuckDBPyConnection, kind: str, name: str) -> str:
    statements = con.extract_statements(sql(f"identity/{kind}.sql"))
    contents = " union all ".join(
        f"select {part} as part, content from ({statement.query.strip().rstrip(';')})"
        for part, statement in enumerate(statements)
    )
    rows = con.execute(
        "select part, count(*), sum(md5_number_lower(content)), sum(md5_number_upper(content))"
        f" from ({contents}) group by part",
        {"name": name},
    ).fetchall()
    sums = {part: tuple(of_part) for part, *of_part in rows}
    digest = hashlib.sha256()
    for part in range(len(statements)):
        digest.update(repr(sums.get(part, WITHOUT_ROWS)).encode())
    return digest.hexdigest()[:32]
