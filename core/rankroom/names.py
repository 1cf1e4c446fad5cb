"""How things are named: a run after its file, a part of a data set as NAME@REVISION."""

from __future__ import annotations

from pathlib import PurePath

FILE_ENDINGS = (".gz", ".txt", ".trec", ".run", ".res", ".tsv", ".csv", ".json", ".jsonl", ".parquet")
"""Endings that say how a file is written, and nothing about the run in it."""


def run_name(path: str | PurePath) -> str:
    """The name of the run in a file: the file's name without known endings, however many there are."""
    name = PurePath(path).name
    while ending := next((e for e in FILE_ENDINGS if name.lower().endswith(e) and len(name) > len(e)), None):
        name = name[: -len(ending)]
    return name


def versioned(name: str, revision: str) -> str:
    """The key of a query set, label set or collection."""
    return f"{name}@{revision}"
