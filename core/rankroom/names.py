"""How things are named: a run after its file, a part of a data set as NAME@REVISION."""

from __future__ import annotations

from pathlib import PurePath

FILE_ENDINGS = (".gz", ".txt", ".trec", ".run", ".res", ".tsv", ".csv", ".json", ".jsonl", ".parquet")
"""Endings that say how a file is written, and nothing about the run in it."""

NAME_EXPECTED = "expected a text that is not empty, without @, line breaks or spaces around it"
"""What `is_name` wants."""


def run_name(path: str | PurePath) -> str:
    """The name of the run in a file: the file's name without known endings, however many there are."""
    name = PurePath(path).name
    while ending := next((e for e in FILE_ENDINGS if name.lower().endswith(e) and len(name) > len(e)), None):
        name = name[: -len(ending)]
    return name


UTF8_EXPECTED = "expected a file whose name is written in UTF-8: give it another name"
"""What `is_utf8` wants."""


def is_utf8(path: str | PurePath) -> bool:
    """Whether the path is text. Python takes bytes of a file's name that are none as halves of surrogates."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def is_name(text: str) -> bool:
    """Whether a data set, a collection or a revision can be called so: NAME@REVISION stays clear."""
    return bool(text) and text == text.strip() and "@" not in text and text.isprintable()


def versioned(name: str, revision: str) -> str:
    """The key of a query set, label set or collection."""
    return f"{name}@{revision}"
