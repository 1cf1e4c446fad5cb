"""A data set that a store has: finding it by the name people use, and taking it into an add."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from rankroom.adding import Adding
from rankroom.errors import UsageError
from rankroom.readers.dataset_parts import Collection
from rankroom.rescore import load_labels
from rankroom.store import Store


@dataclass(frozen=True)
class StoredDataset:
    """The parts of a data set in a store. `is_bare`: of no query is anything known but its id."""

    query_set: str
    label_set: str
    collection: Collection
    is_bare: bool


def find_dataset(store: Store, dataset: str | None) -> StoredDataset:
    """The data set of a name (under its current labels), or of NAME@REVISION: of the labels, or the queries.

    None is the only one there is.
    """
    with store.read() as con:
        found = con.execute(
            """
            select label_sets.query_set, label_sets.label_set, label_sets.collection,
                   current_label_sets.query_set_name,
                   current_label_sets.query_set_name is not null as is_current
            from label_sets left join current_label_sets using (label_set)
            order by label_sets.added_at desc, label_sets.label_set desc
            """
        ).fetchall()
        current = [row for row in found if row[4]]
        if dataset is None:
            same = current if len(current) == 1 else []
        else:
            same = [row for row in current if row[3] == dataset]
            same = same or [row for row in found if row[1] == dataset]
            same = same or [row for row in found if row[0] == dataset]
        if not same:
            raise UsageError(_not_there(store, dataset, sorted(row[3] for row in current)))
        query_set, label_set, collection, _, _ = same[0]
        [(name, version, unit, id_scheme, is_bare)] = con.execute(
            "select name, version, unit, id_scheme, not exists (from queries where query_set = $query_set"
            " and coalesce(text, category, language, split) is not null)"
            " from collections where collection = $collection",
            {"query_set": query_set, "collection": collection},
        ).fetchall()
    return StoredDataset(query_set, label_set, Collection(name, version, unit, id_scheme), is_bare)


def _not_there(store: Store, dataset: str | None, there: list[str]) -> str:
    names = ", ".join(there)
    if not there:
        return f"{store.path} holds no data set yet: add_dataset puts one in"
    if dataset is None:
        return f"{store.path} holds several data sets: name one of them ({names})"
    return (
        f"there is no data set {dataset} in {store.path}: there {'is' if len(there) == 1 else 'are'} {names}"
    )


def take_dataset(adding: Adding, dataset: StoredDataset) -> None:
    """Take a stored data set into an add: what scoring reads, and `frame_documents` with all document ids."""
    con, store = adding.con, adding.store
    load_labels(store, con, dataset.label_set, adding.known.cutoffs)
    copy_from_store(
        store,
        con,
        "frame_documents",
        "select doc_id from documents where collection = $collection",
        {"collection": dataset.collection.key},
    )
    adding.stored_dataset(dataset.query_set, dataset.label_set, dataset.collection.key)


def copy_from_store(
    store: Store, con: duckdb.DuckDBPyConnection, table: str, query: str, parameters: dict[str, str]
) -> None:
    """Make a temp table of a workspace from a query on the store."""
    with store.read() as stored:
        con.register("copied", stored.sql(query, params=parameters).to_arrow_table())
    con.execute(f"create or replace temp table {table} as from copied")
    con.unregister("copied")
