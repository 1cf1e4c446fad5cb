"""A note from the dashboard: written by a short child process, since the dashboard only reads the store."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rankroom import child
from rankroom.annotations import Note

TIMEOUT = 60.0
"""Seconds after which the child is stopped."""

WAIT = 30.0
"""Seconds that the child waits for a store which others use."""


@dataclass(frozen=True)
class Outcome:
    """Whether a note was written; if not, why, in a sentence."""

    written: bool
    problem: str = ""


def write_note(store: str | Path, note: Note, *, timeout: float = TIMEOUT, wait: float = WAIT) -> Outcome:
    """Append a note by `rankroom note`. It waits for others that write, and says why where it cannot be."""
    if any("\0" in argument for argument in _arguments(note)):
        return Outcome(False, "the note has a NUL character in it")
    with tempfile.TemporaryDirectory(prefix="rankroom-note-") as private:
        arguments = ["note", "--json", f"--store={Path(store).expanduser().resolve()}", f"--wait={wait}"]
        folder = Path(private)
        ended = child.run([*arguments, *_arguments(note)], folder=folder, spill=folder, timeout=timeout)
    if ended.timed_out:
        return Outcome(False, f"it took longer than {ended.timed_out:,.0f} seconds and was stopped")
    if ended.code == 0 and _is_report(ended.out):
        return Outcome(True)
    return Outcome(False, child.problem(ended))


def _arguments(note: Note) -> Iterator[str]:
    """The note as arguments; a value may begin with a dash, so it is one word with its option."""
    for option, value in (
        ("who", note.who),
        ("run", note.run),
        ("dataset", note.dataset),
        ("state", note.state),
        ("cause", note.cause),
        ("text", note.text),
        ("owner", note.owner),
        ("dispute", note.doc_id),
        ("grade", note.grade),
    ):
        if value is not None:
            yield f"--{option}={value}"
    if note.no_label:
        yield "--no-label"
    yield "--"
    yield note.query_id


def _is_report(out: bytes) -> bool:
    try:
        return isinstance(json.loads(out), dict)
    except ValueError:
        return False
