"""Labels that may be at fault: what is found when runs are scored, for the view `label_suspects` to sum up.

Each run says its part once, in rows of its own, so that 200 runs are never read again when one is added. What
depends on a collection or a label set alone is found when that is added.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from rankroom.resources import sql
from rankroom.store import Store
from rankroom.tables import append, copy_rows

NEAR_UP_TO = 5_000
"""In a larger collection only documents with equal texts are paired, not those with nearly the same words."""

EQUAL_UP_TO = 50_000
"""In a still larger one no documents are paired."""

PAIRS = {"near_documents": "from near_documents where collection = $collection"}


def prepare(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    label_set: str,
    collection: str,
    new_parts: Sequence[str],
    runs: Sequence[str],
) -> None:
    """Find what there is to find in a workspace with these new parts and these runs, just scored."""
    if not _is_bare(con, collection):
        _compare_texts(store, con, label_set, collection, new_parts)
    prepare_runs(con, runs)


def _compare_texts(
    store: Store, con: duckdb.DuckDBPyConnection, label_set: str, collection: str, new_parts: Sequence[str]
) -> None:
    """Find what there is to find in texts: documents nearly alike, and labels that repeat a question."""
    con.execute("set variable near_up_to = $most", {"most": NEAR_UP_TO})
    if not store.exists():
        # Nothing to get there. (If it was there before, writing will say that it is gone.)
        new_parts = ["collection", "label_set"]
    if "collection" not in new_parts:
        with store.read() as stored:
            copy_rows(stored, con, PAIRS, {"collection": collection})
    elif _num_texts(con, collection) <= EQUAL_UP_TO:
        con.execute(sql("suspects/near_documents.sql"))
    if "label_set" in new_parts:
        _take_texts(store, con, label_set, collection, stored="collection" not in new_parts)
        con.execute(sql("suspects/repeated_questions.sql"))


def prepare_runs(con: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> None:
    """Fill `run_suspects` of scored runs of a workspace."""
    con.execute("set variable scored_runs = $runs::varchar[]", {"runs": list(runs)})
    con.execute(sql("suspects/runs.sql"))


def write_parts(con: duckdb.DuckDBPyConnection, label_set: str, collection: str, new: Sequence[str]) -> None:
    """Put into the store what was found of the parts that are new there; of runs it is among their scores."""
    if "collection" in new:
        append(con, "near_documents", "collection", [collection])
    if "label_set" in new:
        append(con, "repeated_questions", "label_set", [label_set])


def _is_bare(con: duckdb.DuckDBPyConnection, collection: str) -> bool:
    """Whether the collection is known to be a name without documents."""
    return bool(
        con.execute(
            "select 1 from collections where collection = $collection and num_documents = 0",
            {"collection": collection},
        ).fetchall()
    )


def _num_texts(con: duckdb.DuckDBPyConnection, collection: str) -> int:
    ((num,),) = con.execute(
        "select count(text) from documents where collection = $collection", {"collection": collection}
    ).fetchall()
    return int(num)


def _take_texts(
    store: Store, con: duckdb.DuckDBPyConnection, label_set: str, collection: str, *, stored: bool
) -> None:
    """What the labelled documents say: of a collection that the store has, from there."""
    con.execute("create or replace temp table labelled_texts (doc_id varchar, text varchar)")
    if not stored:
        con.execute(f"insert into labelled_texts {TEXTS}", {"collection": collection, "doc_ids": None})
        return
    labelled = con.execute(
        "select list(distinct doc_id) from labels where label_set = $label_set", {"label_set": label_set}
    ).fetchall()
    with store.read() as found:
        copy_rows(
            found, con, {"labelled_texts": TEXTS}, {"collection": collection, "doc_ids": labelled[0][0]}
        )


TEXTS = """
    select doc_id, coalesce(nullif(trim(text), ''), title) as text from documents
    where collection = $collection
      and ($doc_ids::varchar[] is null or list_contains($doc_ids::varchar[], doc_id))
      and coalesce(nullif(trim(text), ''), title) is not null
"""
