"""What makes two contents the same: every field, and no order of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import duckdb
import pytest
from rankroom import identity
from rankroom.workspace import open_workspace

Hash = Callable[[duckdb.DuckDBPyConnection, str], str]

ROWS = {
    "queries": [
        "('s@1', 'q1', 'text', 'faq', 'en', 'dev', ['x', 'y'], ['g', 'h'], false, map {'a': '1', 'b': '2'})",
        "('s@1', 'q2', null, null, null, null, null, [], true, null)",
        "('other@1', 'q3', null, null, null, null, null, null, true, null)",
    ],
    "collections": ["('s@1', 's', '1', 'chunk', 'slug', 2, '', now())"],
    "documents": ["('s@1', 'a', 'title', 'text', ['g', 'h'])", "('s@1', 'b', null, null, null)"],
    "label_sets": ["('s@1', 's', '1', 's@1', 's@1', 1, 'Noor', 2, '', now())"],
    "labels": [
        "('s@1', 'q1', 'a', 2, false, 'why', 'human', 'Noor', '2026-03-01', 's@1', 'g')",
        "('s@1', 'q2', null, null, true, null, null, null, null, null, null)",
    ],
    "query_sets": ["('s@1', 's', '1', 2, '', now())"],
    "runs": [
        "('s@1', 's@1', 's@1', '2026-03-01', 'base', 'weekly', ['t', 'u'], 'c0ffee', 'note', 'list', 3, null,"
        " 'f', '', now())"
    ],
    "run_stages": ["('s@1', 'candidates', 1, 50)", "('s@1', 'final', 2, null)"],
    "run_config": ["('s@1', 'final.k', '5')"],
    "run_queries": [
        "('s@1', 'q1', 'ok', 1.5, 20, false, null, 'yes')", "('s@1', 'q2', 'error', 0, 0, null, 'e', null)"
    ],
    "rankings": ["('s@1', 'final', 'q1', 1, 'a', 0.5)", "('s@1', 'final', 'q1', 2, 'b', null)"],
    "ranking_lengths": ["('s@1', 'final', 'q1', 2)"],
    "answer_scores": ["('s@1', 'q1', 'faithful', 0.5)"],
}  # fmt: skip


def fill(con: duckdb.DuckDBPyConnection, backwards: bool = False) -> None:
    for table, rows in ROWS.items():
        con.execute(f"delete from {table}")
        con.execute(f"insert into {table} values {', '.join(rows[::-1] if backwards else rows)}")


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(open_workspace()) as connection:
        yield connection


OF: dict[str, tuple[Hash, tuple[str, ...]]] = {
    "query_set": (identity.query_set_hash, ("queries",)),
    "collection": (identity.collection_hash, ("documents", "collections")),
    "label_set": (identity.label_set_hash, ("labels", "label_sets")),
    "run": (
        identity.run_hash,
        ("rankings", "ranking_lengths", "run_queries", "answer_scores", "run_config", "run_stages", "runs"),
    ),
}
NO_PART = {
    # its own name and when it came; what is counted from the content; a version beside its documents
    ("collections", "name"), ("collections", "version"), ("collections", "num_documents"),
    ("label_sets", "name"), ("label_sets", "revision"), ("label_sets", "num_labels"),
    ("runs", "num_rows"), ("runs", "kept_depth"), ("runs", "source_file"),
}  # fmt: skip
OTHER = {
    "VARCHAR": "'another'",
    "INTEGER": "77",
    "BIGINT": "77",
    "DOUBLE": "0.123",
    "DATE": "date '2020-01-01'",
    "VARCHAR[]": "['another']",
    "TIMESTAMP WITH TIME ZONE": "timestamptz '2020-01-01 00:00:00+00'",
}


@pytest.mark.parametrize("kind", OF)
def test_the_order_of_rows_plays_no_part(con: duckdb.DuckDBPyConnection, kind: str) -> None:
    content_hash, _ = OF[kind]
    fill(con)
    there = content_hash(con, "s@1")
    fill(con, backwards=True)
    assert content_hash(con, "s@1") == there


@pytest.mark.parametrize("kind", OF)
def test_every_field_counts(con: duckdb.DuckDBPyConnection, kind: str) -> None:
    content_hash, tables = OF[kind]
    fill(con)
    before = content_hash(con, "s@1")
    for table in tables:
        for column, type_, *_ in con.execute(f"describe {table}").fetchall()[1:]:
            if column in ("content_hash", "added_at"):
                continue
            other = OTHER.get(type_, f"not {column}" if type_ == "BOOLEAN" else "map {'a': 'another'}")
            con.execute(f"create or replace temp table before as from {table}")
            con.execute(
                f"update {table} set {column} = {other} where rowid = (select min(rowid) from {table})"
            )
            assert (content_hash(con, "s@1") == before) == ((table, column) in NO_PART), (table, column)
            con.execute(f"delete from {table}")
            con.execute(f"insert into {table} from before")
    assert content_hash(con, "s@1") == before


@pytest.mark.parametrize("kind", OF)
def test_a_row_twice_is_not_a_row_once(con: duckdb.DuckDBPyConnection, kind: str) -> None:
    content_hash, tables = OF[kind]
    fill(con)
    before = content_hash(con, "s@1")
    con.execute(f"insert into {tables[0]} from {tables[0]}")
    assert content_hash(con, "s@1") != before


def test_fields_do_not_run_into_each_other(con: duckdb.DuckDBPyConnection) -> None:
    fill(con)
    hashes = set()
    for text, category in (("ab", "c"), ("a", "bc"), ('a","category":"b', "c"), ("", "abc"), ("abc", "")):
        con.execute("update queries set text = $1, category = $2 where query_id = 'q1'", [text, category])
        hashes.add(identity.query_set_hash(con, "s@1"))
    assert len(hashes) == 5


def test_a_run_stays_the_same_when_its_query_set_gets_another_revision(
    con: duckdb.DuckDBPyConnection,
) -> None:
    fill(con)
    before = identity.run_hash(con, "s@1")
    con.execute("insert into query_sets values ('s@2', 's', '2', 3, '', now())")
    con.execute("update runs set query_set = 's@2'")
    assert identity.run_hash(con, "s@1") == before


def test_sets_are_sets_and_orders_are_orders(con: duckdb.DuckDBPyConnection) -> None:
    fill(con)
    queries, run = identity.query_set_hash(con, "s@1"), identity.run_hash(con, "s@1")
    con.execute("update queries set tags = list_reverse(tags), groups = list_reverse(groups)")
    con.execute("update queries set attributes = map {'b': '2', 'a': '1'} where query_id = 'q1'")
    con.execute("update runs set tags = list_reverse(tags)")
    assert identity.query_set_hash(con, "s@1") == queries
    assert identity.run_hash(con, "s@1") == run
    con.execute("update rankings set rank = 3 - rank")
    assert identity.run_hash(con, "s@1") != run


def test_scores_that_differ_in_the_last_bit_differ(con: duckdb.DuckDBPyConnection) -> None:
    fill(con)
    con.execute("update rankings set score = 0.1 where rank = 1")
    before = identity.run_hash(con, "s@1")
    con.execute("update rankings set score = 0.1::double + 1.3877787807814457e-17 where rank = 1")
    assert identity.run_hash(con, "s@1") != before
