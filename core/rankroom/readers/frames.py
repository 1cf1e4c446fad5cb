"""Data sets from Python: queries, labels and documents as dicts, data frames, Arrow tables or lists of dicts.

    queries      {id: text}, {id: {text, category, ...}}, or rows with the fields of queries.jsonl
    labels       {query: {document: grade}}, {query: [documents]} (grade 1), {query: None} (reviewed, and
                 nothing answers it), or rows with the fields of labels.jsonl
    documents    {id: text}, {id: {title, text, groups}}, or rows with the fields of documents.jsonl

Runs are in run_frames.py. All is checked as the files of a native folder are; what is wrong goes into the
report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb

from rankroom.faults import Report
from rankroom.readers.arguments import Path, Rows, listed, read_rows, rows_of, take_faults, type_name
from rankroom.readers.json_lines import count, doubt_float_ids, drop_tables
from rankroom.readers.native_dataset import DOCUMENT_FIELDS, LABEL_FIELDS, QUERY_FIELDS
from rankroom.resources import sql


def begin_dataset(con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables that the parts of a data set are read into."""
    con.execute(sql("readers/native_dataset_tables.sql"))


def read_queries(con: duckdb.DuckDBPyConnection, queries: Any, report: Report) -> bool:
    """Into native_queries; False where anything is wrong."""
    if isinstance(queries, Mapping):
        queries = _by_id("queries", queries, "query_id")
    rows = rows_of("queries", queries, QUERY_FIELDS, report, "{id: text}")
    if rows is None or not read_rows(con, rows, QUERY_FIELDS, ["native_queries"], report):
        return False
    con.execute(sql("readers/native_query_faults.sql"))
    if take_faults(con, rows, report):
        return False
    doubt_float_ids(con, "queries", report)
    silent = count(con, "select count(*) from native_queries where text is null")
    report.doubt(
        "queries",
        "query_without_text",
        silent,
        f"{silent:,} {'query has' if silent == 1 else 'queries have'} no text: pages will show the id only",
    )
    return True


def read_labels(
    con: duckdb.DuckDBPyConnection,
    labels: Any,
    relevant_from: int,
    report: Report,
    *,
    check_queries: bool,
) -> bool:
    """Into native_labels; False where anything is wrong. `check_queries`: native_queries has them all."""
    if isinstance(labels, Mapping):
        labels = _labels_of_dict(labels, report)
        if labels is None:
            return False
    rows = rows_of("labels", labels, LABEL_FIELDS, report, "{query: {document: grade}}")
    if rows is None or not read_rows(con, rows, LABEL_FIELDS, ["native_labels"], report):
        return False
    con.execute(sql("readers/native_label_faults.sql"))
    con.execute(sql("readers/native_labels_no_answer.sql"), {"relevant_from": relevant_from})
    if check_queries:
        con.execute(
            "insert into json_faults"
            " select min(line_no), 'unknown_query', 'query_id', query_id,"
            " 'expected a query that is among the queries'"
            " from native_labels where query_id not in (select query_id from native_queries)"
            " group by query_id"
        )
    if take_faults(con, rows, report):
        return False
    doubt_float_ids(con, "labels", report)
    _doubt_labels(con, report)
    return True


def read_documents(con: duckdb.DuckDBPyConnection, documents: Any, report: Report) -> bool:
    """Into native_documents; False where anything is wrong."""
    if isinstance(documents, Mapping):
        documents = _by_id("documents", documents, "doc_id")
    rows = rows_of("documents", documents, DOCUMENT_FIELDS, report, "{id: text}")
    if rows is None or not read_rows(con, rows, DOCUMENT_FIELDS, ["native_documents"], report):
        return False
    con.execute(sql("readers/native_document_faults.sql"))
    if take_faults(con, rows, report):
        return False
    doubt_float_ids(con, "documents", report)
    return True


def queries_of_labels(con: duckdb.DuckDBPyConnection) -> None:
    """Make the queries of the labels the queries, of which nothing but the id is known."""
    con.execute(
        "insert into native_queries by name select min(line_no) as line_no, query_id, false as must_pass"
        " from native_labels group by query_id"
    )


def insert_dataset(
    con: duckdb.DuckDBPyConnection, *, query_set: str, label_set: str, collection: str, report: Report
) -> None:
    """Move what was read into `queries`, `labels` and `documents`, under these names."""
    con.execute(
        "insert into queries select $query_set, * exclude (line_no) from native_queries order by line_no",
        {"query_set": query_set},
    )
    con.execute(sql("readers/native_labels_insert.sql"), {"label_set": label_set})
    con.execute(
        "insert into documents select $collection, * exclude (line_no)"
        " from native_documents order by line_no",
        {"collection": collection},
    )
    missing = count(
        con,
        "select count(doc_id) from native_labels where doc_id not in (select doc_id from native_documents)"
        " and exists (from native_documents)",
    )
    names = "label names a document that is" if missing == 1 else "labels name documents that are"
    report.doubt(
        "labels",
        "label_document_missing",
        missing,
        f"{missing:,} {names} not among the documents; everyone is taken to be allowed to read them",
    )
    drop_tables(con, "native_queries", "native_labels", "native_documents")


def _by_id(name: str, values: Mapping[Any, Any], id_field: str) -> Rows:
    """The rows of {id: text} or {id: fields}."""
    dicts = [
        {**(value if isinstance(value, Mapping) else {"text": value}), id_field: key}
        for key, value in values.items()
    ]
    return Rows(name, dicts=dicts, paths=[(key,) for key in values])


def _labels_of_dict(labels: Mapping[Any, Any], report: Report) -> Rows | None:
    """The rows of {query: {document: grade}}, {query: [documents]} and {query: None}."""
    dicts: list[dict[str, Any]] = []
    paths: list[Path] = []
    wrong = Rows("labels", paths=[(query,) for query in labels])
    before = report.num_faults
    for at, (query, given) in enumerate(labels.items()):
        documents = given if isinstance(given, Mapping) else listed(given, of_set=True)
        if given is None:
            dicts.append({"query_id": query, "no_answer": True})
            paths.append((query,))
        elif documents is None:
            expected = (
                "expected {document: grade}, a list of documents, or None where nothing answers the query"
            )
            report.fault(wrong.fault(at, "wrong_value", expected, None, type_name(given)))
        elif not len(documents):
            expected = (
                "expected at least one label; leave a query out that nobody looked at,"
                " and give None where nothing answers it"
            )
            report.fault(wrong.fault(at, "empty", expected))
        elif isinstance(documents, Mapping):
            dicts += ({"query_id": query, "doc_id": doc, "grade": grade} for doc, grade in documents.items())
            paths += ((query, doc) for doc in documents)
        else:
            dicts += ({"query_id": query, "doc_id": doc, "grade": 1} for doc in documents)
            paths += ((query, place) for place in range(len(documents)))
    return Rows("labels", dicts=dicts, paths=paths) if report.num_faults == before else None


def _doubt_labels(con: duckdb.DuckDBPyConnection, report: Report) -> None:
    again = count(
        con,
        "select count(*) - (select count(*) from (select distinct query_id, doc_id from native_labels))"
        " from native_labels",
    )
    report.doubt(
        "labels",
        "duplicate_judgement",
        again,
        f"{again:,} {'judgement is' if again == 1 else 'judgements are'} given again with the same grade;"
        " the first of each was kept",
    )
    negative = count(con, "select count(*) from native_labels where grade < 0")
    report.doubt(
        "labels",
        "negative_grade",
        negative,
        f"{negative:,} {'label has' if negative == 1 else 'labels have'} a negative grade: not relevant,"
        " and without gain",
    )
