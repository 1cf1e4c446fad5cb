"""What a store holds already, and whether what is being added is the same, is new, or contradicts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import duckdb

from rankroom.faults import Fault
from rankroom.store import Store

Kind = Literal["query_set", "label_set", "collection"]
RunState = Literal["added", "rescored", "already there"]


@dataclass(frozen=True)
class Part:
    """A query set, label set or collection of the data set that is being added."""

    kind: Kind
    key: str
    declared: str
    content_hash: str
    is_new: bool
    file: str
    field: str
    """Where the file, or the call, names its revision or version."""


@dataclass(frozen=True)
class Known:
    """What a store holds already: its cutoffs, and content hashes by key."""

    cutoffs: list[int]
    parts: dict[str, dict[str, str]]
    runs: dict[str, str]
    baselines: set[str]
    """What its runs declare as their baselines, whether or not it has them."""
    scorings: set[tuple[str, str]]
    bare_collections: dict[str, str]
    bare_collections_of_labels: dict[str, str]

    @classmethod
    def of_store(cls, store: Store, workspace: duckdb.DuckDBPyConnection) -> Known:
        """What a store holds; of one that does not exist, what a new workspace does: a new store will too."""
        if store.exists():
            with store.read() as con:
                return cls.of_connection(con, "")
        return cls.of_connection(workspace, "")

    @classmethod
    def of_connection(cls, con: duckdb.DuckDBPyConnection, catalog: str) -> Known:
        """The same of an open connection; `catalog` is the prefix of its tables."""

        def rows(query: str) -> list[Any]:
            return con.execute(query).fetchall()

        collections = rows(
            f"select collection, content_hash, name, version, num_documents = 0 from {catalog}collections"
            " order by added_at"
        )
        label_sets = rows(
            f"select label_set, content_hash, name, collection from {catalog}label_sets order by added_at"
        )
        runs = rows(f"select run, content_hash, baseline from {catalog}runs")
        bare = {key: (name, version) for key, _, name, version, is_bare in collections if is_bare}
        return cls(
            cutoffs=[k for (k,) in rows(f"select k from {catalog}cutoffs order by k")],
            parts={
                "query_set": dict(
                    rows(f"select query_set, content_hash from {catalog}query_sets order by added_at")
                ),
                "label_set": {key: hashed for key, hashed, *_ in label_sets},
                "collection": {key: hashed for key, hashed, *_ in collections},
            },
            runs={run: hashed for run, hashed, _ in runs},
            baselines={baseline for *_, baseline in runs if baseline is not None},
            scorings=set(rows(f"select run, label_set from {catalog}scorings")),
            bare_collections=dict(bare.values()),  # the newest of a name comes last, and stays
            bare_collections_of_labels={
                label_set: version
                for label_set, _, name, collection in label_sets
                if collection in bare
                for name_there, version in (bare[collection],)
                if name_there == name
            },
        )

    def bare_collection(self, name: str, label_set: str) -> str | None:
        """The version of a collection that is there by its name alone: what TREC files are about.

        Labels that the store has stay with theirs; others are about the newest.
        """
        return self.bare_collections_of_labels.get(label_set) or self.bare_collections.get(name)

    def state_of_run(self, run: str, content_hash: str, label_set: str) -> RunState | None:
        """What adding a run comes to; None: another run has its name."""
        if run not in self.runs:
            return "added"
        if self.runs[run] != content_hash:
            return None
        return "already there" if (run, label_set) in self.scorings else "rescored"


def name_of(key: str) -> str:
    """The name in NAME@REVISION."""
    return key.rpartition("@")[0]


def changed_content(part: Part) -> Fault:
    """Other content under a name and revision that the store has."""
    name, _, revision = part.declared.rpartition("@")
    word = "version" if part.kind == "collection" else "revision"
    what = {"query_set": "queries", "label_set": "labels", "collection": "documents"}[part.kind]
    return Fault(
        part.file,
        "changed_content",
        f"the store has other {what} of {name} under this {word}: give the changed {what} a new one",
        field=part.field,
        value=revision,
    )


def run_name_taken(file: str, run: str) -> Fault:
    """A run whose name the store has for another."""
    return Fault(
        file,
        "run_name_taken",
        "the store has another run of this name, with other content: give this one another name"
        " (--name, or rename the file), or `rankroom remove` the other",
        field="run",
        value=run,
    )
