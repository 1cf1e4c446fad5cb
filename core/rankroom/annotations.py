"""Notes of people on queries: appended to the store, never changed, and read through the view `notes`."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from rankroom.errors import UsageError
from rankroom.faults import clip
from rankroom.store import WRITE_WAIT, Store

STATES = ("open", "in_work", "explained", "fixed", "wont_fix")
LONGEST_NOTE = 10_000
LONGEST_FIELD = 500
GRADES = 30
"""A grade is at most so far from 0."""


@dataclass(frozen=True)
class Note:
    """What somebody says of a query, of a query in one run, or of a label of it (`doc_id`).

    What is None stays as it was; an empty text takes back what was said. A label is disputed with the `grade`
    that is held to be right, or with `no_label`.
    """

    query_id: str
    who: str
    run: str | None = None
    dataset: str | None = None
    state: str | None = None
    cause: str | None = None
    text: str | None = None
    owner: str | None = None
    doc_id: str | None = None
    grade: int | None = None
    no_label: bool = False

    @property
    def dispute(self) -> str | None:
        """How the label is disputed, in the word of the table."""
        return "no_label" if self.no_label else None if self.grade is None else "regrade"


@dataclass(frozen=True)
class Written:
    """A note as it is in the store."""

    annotated_at: datetime
    query_set: str
    label_set: str | None


def annotate(store: Store, note: Note, wait: float = WRITE_WAIT) -> Written:
    """Append a note. Raises UsageError where the store does not know what it is about."""
    _check(note)
    with store.read(wait) as con:
        query_set = _query_set(con, store, note)
        label_set = _label_set(con, query_set)
        if note.doc_id is not None:
            _check_document(con, store, note)
    # A bare connection: what a note needs of the store is one row, and views would take their time.
    with closing(duckdb.connect()) as con, store.write(con, wait):
        ((at,),) = con.execute(
            INSERT,
            {
                "who": note.who,
                "query_set": query_set,
                "query_id": note.query_id,
                "run": note.run,
                "label_set": label_set,
                "doc_id": note.doc_id,
                "state": note.state,
                "cause": note.cause,
                "note": note.text,
                "owner": note.owner,
                "dispute": note.dispute,
                "grade": note.grade,
            },
        ).fetchall()
    return Written(at, query_set, label_set)


# Later than every other, whatever the clock says: which of two came last must be known.
INSERT = """
    insert into store.main.annotations by name
    select greatest(now(), (select max(annotated_at) from store.main.annotations) + interval 1 microsecond)
               as annotated_at,
           $who as who, $query_set as query_set, $query_id as query_id, $run as run, $label_set as label_set,
           $doc_id as doc_id, $state as state, $cause as cause, $note as note, $owner as owner,
           $dispute as dispute, $grade::integer as disputed_grade
    returning annotated_at
"""


def user_name() -> str:
    """The name of who is at the keyboard; empty where the system does not know."""
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return ""


def _check(note: Note) -> None:
    """What is wrong with a note whatever the store holds."""
    for name, text, longest in _texts(note):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{name} is not valid Unicode") from None
        if "\0" in text:
            raise UsageError(f"{name} has a NUL character in it")
        if longest is not None and len(text) > longest:
            raise UsageError(f"{name} may have {longest:,} characters, and has {len(text):,}")
    if not note.who.strip():
        raise UsageError("a note needs a name: say --who")
    if note.state is not None and note.state not in STATES:
        raise UsageError(f"state {clip(note.state)} is none of {', '.join(STATES)}")
    if note.dispute is not None and note.doc_id is None:
        raise UsageError("a grade, or that there should be no label, is about a document: name it")
    if note.no_label and note.grade is not None:
        raise UsageError("a label can have another grade or be left out, and not both")
    if note.grade is not None and abs(note.grade) > GRADES:
        raise UsageError(f"a grade is from -{GRADES} to {GRADES}, and {note.grade} is not")
    said = (note.state, note.cause, note.text, note.owner, note.dispute)
    if all(part is None for part in said):
        raise UsageError("the note says nothing: give a state, a cause, a text, an owner or a dispute")


def _texts(note: Note) -> Iterator[tuple[str, str, int | None]]:
    """Every text of a note, with its name and how long it may be; names from data are as long as they are."""
    for name, text, longest in (
        ("who", note.who, LONGEST_FIELD),
        ("the cause", note.cause, LONGEST_FIELD),
        ("the owner", note.owner, LONGEST_FIELD),
        ("the text", note.text, LONGEST_NOTE),
        ("the query", note.query_id, None),
        ("the run", note.run, None),
        ("the data set", note.dataset, None),
        ("the document", note.doc_id, None),
    ):
        if text is not None:
            yield name, text, longest


def _query_set(con: duckdb.DuckDBPyConnection, store: Store, note: Note) -> str:
    """The newest query set that has the query: that of the run, or of the data set, where one is named."""
    name = note.dataset
    if note.run is not None:
        found = con.execute(
            "select query_sets.name from runs join query_sets using (query_set) where run = $run",
            {"run": note.run},
        ).fetchall()
        if not found:
            raise UsageError(f"there is no run named {clip(note.run)} in {store.path}")
        if name not in (None, found[0][0]):
            raise UsageError(f"run {clip(note.run)} is about {found[0][0]}, and not about {clip(str(name))}")
        name = found[0][0]
    there: dict[str, str] = dict(con.execute(QUERY_SETS, {"query": note.query_id, "name": name}).fetchall())
    if len(there) > 1:
        raise UsageError(
            f"there is a query {clip(note.query_id)} in {', '.join(sorted(there))}: name one with --dataset"
        )
    if not there:
        where = f"{clip(name)} of {store.path}" if name else str(store.path)
        raise UsageError(f"there is no query {clip(note.query_id)} in {where}")
    return next(iter(there.values()))


QUERY_SETS = """
    select query_sets.name,
           arg_max(query_sets.query_set, {'at': query_sets.added_at, 'name': query_sets.query_set})
    from query_sets
    where ($name is null or query_sets.name = $name)
      and (exists (from queries where queries.query_set = query_sets.query_set and queries.query_id = $query)
           or exists (from label_sets join labels using (label_set)
                      where label_sets.query_set = query_sets.query_set and labels.query_id = $query)
           or exists (from runs join run_queries using (run)
                      where runs.query_set = query_sets.query_set and run_queries.query_id = $query))
    group by query_sets.name
"""


def _label_set(con: duckdb.DuckDBPyConnection, query_set: str) -> str | None:
    found = con.execute(
        "select label_set from current_label_sets"
        " where query_set_name = (select name from query_sets where query_set = $query_set)",
        {"query_set": query_set},
    ).fetchall()
    return str(found[0][0]) if found else None


def _check_document(con: duckdb.DuckDBPyConnection, store: Store, note: Note) -> None:
    """A dispute is about a document that has a label, is in a collection, or came back for the query."""
    asked: dict[str, Any] = {"query": note.query_id, "doc": note.doc_id}
    for places in DOCUMENT_PLACES:
        if con.execute(places, {name: asked[name] for name in asked if f"${name}" in places}).fetchall():
            return
    raise UsageError(f"there is no document {clip(str(note.doc_id))} in {store.path}")


DOCUMENT_PLACES = (
    "from labels where query_id = $query and doc_id = $doc limit 1",
    "from documents where doc_id = $doc limit 1",
    "from rankings where query_id = $query and doc_id = $doc limit 1",
)
"""The quick ones first."""
