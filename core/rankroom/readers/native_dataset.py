"""The data set of a native folder: dataset.toml, queries, labels and documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from rankroom.faults import Fault, Report
from rankroom.names import run_name, versioned
from rankroom.readers.dataset_parts import Collection, LabelsFile
from rankroom.readers.forms import CollectionForm, DatasetForm, read_toml
from rankroom.readers.json_lines import (
    ANY_OTHER,
    Field,
    begin_faults,
    count,
    doubt_float_ids,
    drop_tables,
    read_json_lines,
    take_faults,
)
from rankroom.readers.native_files import Files, check_run_files, find_files, holds_json
from rankroom.readers.trec import read_qrels
from rankroom.resources import sql

ID = "an id: a text that is not empty, or a whole number"
TEXT = "a text"
TEXTS = "a list of texts"

QUERY_FIELDS = (
    Field("query_id", "id", ID, required=True),
    Field("text", "text", TEXT),
    Field("category", "text", TEXT),
    Field("language", "text", TEXT),
    Field("split", "text", TEXT),
    Field("tags", "texts", TEXTS),
    Field("groups", "texts", "a list of texts: the groups of the user who asked"),
    Field("must_pass", "flag", "true or false"),
    ANY_OTHER,
)
LABEL_FIELDS = (
    Field("query_id", "id", ID, required=True),
    Field("doc_id", "id", ID),
    Field("grade", "grade", "a whole number from -30 to 30"),
    Field("no_answer", "flag", "true or false"),
    Field("rationale", "text", TEXT),
    Field("source", "text", TEXT),
    Field("reviewer", "text", TEXT),
    Field("reviewed", "date", "a date, as 2026-03-09"),
    Field("collection", "text", TEXT),
    Field("evidence_group", "text", TEXT),
)
DOCUMENT_FIELDS = (
    Field("doc_id", "id", ID, required=True),
    Field("title", "text", TEXT),
    Field("text", "text", TEXT),
    Field(
        "groups",
        "some_texts",
        "a list of at least one text: who may read it; leave groups out where everyone may",
    ),
)


@dataclass(frozen=True)
class Dataset:
    """What dataset.toml says, and which files were read (relative to the folder)."""

    name: str
    revision: str
    label_revision: str
    collection: Collection
    relevant_from: int
    reviewer: str | None
    files: tuple[str, ...]

    @property
    def query_set(self) -> str:
        """The key of the query set, NAME@REVISION."""
        return versioned(self.name, self.revision)

    @property
    def label_set(self) -> str:
        """The key of the label set, NAME@REVISION."""
        return versioned(self.name, self.label_revision)


def read_dataset(
    con: duckdb.DuckDBPyConnection, folder: str | Path, report: Report, labels: LabelsFile | None = None
) -> Dataset | None:
    """Fill `queries`, `labels` and `documents` from a folder; None where anything is wrong.

    `labels` are taken in the place of the folder's own. All files are looked at, so that the report holds
    the faults of each.
    """
    folder = Path(folder)
    if not folder.is_dir():
        report.fault(Fault(str(folder), "not_a_folder", "expected a folder that holds a dataset.toml"))
        return None
    if not (folder / "dataset.toml").is_file():
        report.fault(Fault(str(folder), "no_dataset_toml", _no_dataset_toml(folder)))
        return None
    before = report.num_faults
    con.execute(sql("readers/native_dataset_tables.sql"))
    form = read_toml(folder / "dataset.toml", DatasetForm, report)
    files = find_files(folder, report, labels.path if labels else None)
    check_run_files(folder, report)
    queries_good = files.queries is not None and _read_queries(con, files.queries, report)
    if files.labels:
        relevant_from = form.labels.relevant_from if form else None
        _read_labels(con, files.labels, relevant_from, queries_good, report)
    if files.documents:
        _read_documents(con, files.documents, report)
    if form is None or report.num_faults > before:
        return None
    dataset = _dataset(form, folder, files, labels)
    _insert(con, dataset)
    if files.labels and files.documents:
        _doubt_missing_documents(con, dataset, str(files.labels), report)
    return dataset


def _no_dataset_toml(folder: Path) -> str:
    """What to do about a folder that is not in the native form, or not the one that was meant."""
    inner = sorted(path.parent.name for path in folder.glob("*/dataset.toml"))
    if inner:
        return f"there is no dataset.toml in this folder; there is one in {inner[0]} inside it: give that"
    return (
        'a folder in the native form holds a dataset.toml, with at least a line name = "..."; this has none.'
        " Runs and qrels in TREC form are given as files, with --dataset and --labels"
    )


def collection_of(form: CollectionForm, default: Collection) -> Collection:
    """The collection that a form declares, where what it leaves out is as in the default.

    Another version of the same collection inherits unit and id scheme; another collection does not.
    """
    name = form.name or default.name
    same = name == default.name
    return Collection(
        name=name,
        version=form.version or (default.version if same else "1"),
        unit=form.unit or (default.unit if same else None),
        id_scheme=form.id_scheme or (default.id_scheme if same else None),
    )


def check_known_queries(
    con: duckdb.DuckDBPyConnection, rows: str, known: str, parameters: dict[str, str]
) -> None:
    """Fault the rows (a table with line_no and query_id) whose query is not in `known` (a SELECT)."""
    con.execute(
        f"""
        insert into json_faults
        select line_no, 'unknown_query', 'query_id', query_id, 'expected a query that stands in queries.jsonl'
        from (select distinct line_no, query_id from {rows} where query_id is not null)
        where query_id not in ({known})
        """,
        parameters,
    )


def _read_queries(con: duckdb.DuckDBPyConnection, path: Path, report: Report) -> bool:
    """Into native_queries; False where anything is wrong."""
    file = str(path)
    if not read_json_lines(con, path, QUERY_FIELDS, ["native_queries"], report):
        return False
    con.execute(sql("readers/native_query_faults.sql"))
    if take_faults(con, file, report):
        return False
    doubt_float_ids(con, file, report)
    silent = count(con, "select count(*) from native_queries where text is null")
    queries = _plural(silent, "query has", "queries have")
    sentence = f"{silent:,} {queries} no text: pages will show the id only"
    report.doubt(file, "query_without_text", silent, sentence)
    for attribute, queries_with, meant in con.execute(sql("readers/native_misspelt.sql")).fetchall():
        queries = _plural(queries_with, "query has", "queries have")
        sentence = (
            f"{queries_with:,} {queries} a field {attribute!r}, taken as an attribute: is {meant} meant?"
        )
        report.doubt(file, "field_perhaps_misspelt", queries_with, sentence)
    return True


def _read_labels(
    con: duckdb.DuckDBPyConnection, path: Path, relevant_from: int | None, queries_good: bool, report: Report
) -> None:
    """Into native_labels. What needs the queries is left out where these have faults of their own."""
    file = str(path)
    is_trec = run_name(path) == "qrels" or not holds_json(path)
    if is_trec:
        begin_faults(con)
        before = report.num_faults
        read_qrels(con, path, "native_qrels", report)
        if report.num_faults > before:
            return
        con.execute(sql("readers/native_labels_of_qrels.sql"))
    else:
        if not read_json_lines(con, path, LABEL_FIELDS, ["native_labels"], report):
            return
        con.execute(sql("readers/native_label_faults.sql"))
        if relevant_from is not None:
            con.execute(sql("readers/native_labels_no_answer.sql"), {"relevant_from": relevant_from})
    if queries_good:
        check_known_queries(con, "native_labels", "select query_id from native_queries", {})
    if take_faults(con, file, report) == 0 and not is_trec:
        doubt_float_ids(con, file, report)
        _doubt_labels(con, file, report)


def _read_documents(con: duckdb.DuckDBPyConnection, path: Path, report: Report) -> None:
    """Into native_documents."""
    if not read_json_lines(con, path, DOCUMENT_FIELDS, ["native_documents"], report):
        return
    con.execute(sql("readers/native_document_faults.sql"))
    if take_faults(con, str(path), report) == 0:
        doubt_float_ids(con, str(path), report)


def _dataset(form: DatasetForm, folder: Path, files: Files, labels: LabelsFile | None) -> Dataset:
    return Dataset(
        name=form.name,
        revision=form.revision,
        label_revision=labels.revision if labels else form.labels.revision or form.revision,
        collection=collection_of(form.collection, Collection(form.name, "1")),
        relevant_from=form.labels.relevant_from,
        reviewer=form.labels.reviewer,
        files=files.names(folder),
    )


def _insert(con: duckdb.DuckDBPyConnection, dataset: Dataset) -> None:
    con.execute(
        "insert into queries select $query_set, * exclude (line_no) from native_queries order by line_no",
        {"query_set": dataset.query_set},
    )
    con.execute(sql("readers/native_labels_insert.sql"), {"label_set": dataset.label_set})
    con.execute(
        "insert into documents select $collection, * exclude (line_no)"
        " from native_documents order by line_no",
        {"collection": dataset.collection.key},
    )
    drop_tables(con, "native_queries", "native_labels", "native_documents", "native_qrels")


def _doubt_labels(con: duckdb.DuckDBPyConnection, file: str, report: Report) -> None:
    again = count(
        con,
        "select count(*) - (select count(*) from (select distinct query_id, doc_id from native_labels))"
        " from native_labels",
    )
    judgements = _plural(again, "judgement is", "judgements are")
    sentence = f"{again:,} {judgements} given again with the same grade; the first of each was kept"
    report.doubt(file, "duplicate_judgement", again, sentence)
    negative = count(con, "select count(*) from native_labels where grade < 0")
    labels = _plural(negative, "label has", "labels have")
    sentence = f"{negative:,} {labels} a negative grade: not relevant, and without gain"
    report.doubt(file, "negative_grade", negative, sentence)


def _doubt_missing_documents(
    con: duckdb.DuckDBPyConnection, dataset: Dataset, file: str, report: Report
) -> None:
    missing = count(
        con,
        """
        select count(*) from labels
        where label_set = $label_set and doc_id is not null
            and doc_id not in (select doc_id from documents where collection = $collection)
        """,
        {"label_set": dataset.label_set, "collection": dataset.collection.key},
    )
    report.doubt(
        file,
        "label_document_missing",
        missing,
        f"{missing:,} {_plural(missing, 'label names a document that is', 'labels name documents that are')}"
        " not in documents.jsonl; everyone is taken to be allowed to read them",
    )


def _plural(number: int, one: str, many: str) -> str:
    return one if number == 1 else many
