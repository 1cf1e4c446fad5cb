"""Small data sets for tests: files written by hand or at random, taken into a store the way a user's are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankroom.add import Added, Options, add_folder, add_trec
from rankroom.store import Store

Rows = list[tuple[Any, ...]]
Ranking = Mapping[str, float] | Sequence[str]
"""Scores by document, or documents in order (best first)."""


def ask(store: Store, query: str, /, **parameters: object) -> Rows:
    """The rows of one query on a store."""
    with store.read() as con:
        return con.execute(query, parameters or None).fetchall()


def asked(store: Store, query: str, /, **parameters: object) -> list[dict[str, Any]]:
    """The same rows as dicts."""
    with store.read() as con:
        con.execute(query, parameters or None)
        names = [column[0] for column in con.description or []]
        return [dict(zip(names, row, strict=True)) for row in con.fetchall()]


@contextmanager
def kept_open(store: Store) -> Iterator[Store]:
    """A store that is only read: whoever reads it within the block need not open its file again."""
    with store.read():
        yield store


def write_run(path: Path, rankings: Mapping[str, Ranking]) -> Path:
    """A TREC run. Lists get falling scores."""
    lines = []
    for query, ranking in rankings.items():
        scores = ranking if isinstance(ranking, Mapping) else {d: float(-i) for i, d in enumerate(ranking)}
        lines += [f"{query} Q0 {doc} 0 {score!r} t\n" for doc, score in scores.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return path


def write_qrels(path: Path, labels: Mapping[str, Mapping[str, int]]) -> Path:
    """TREC labels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in labels.items() for d, g in docs.items()))
    return path


def add_small(
    store: Store,
    folder: Path,
    labels: Mapping[str, Mapping[str, int]],
    runs: Mapping[str, Mapping[str, Ranking]],
    *,
    revision: str = "1",
    relevant_from: int = 1,
    dataset: str = "small",
    options: Options | None = None,
) -> Added:
    """Write labels and runs in TREC form, and add them."""
    return add_trec(
        store,
        [write_run(folder / f"{name}.trec", rankings) for name, rankings in runs.items()],
        labels=write_qrels(folder / "qrels.txt", labels),
        dataset=dataset,
        revision=revision,
        relevant_from=relevant_from,
        options=options,
    )


def write_folder(
    folder: Path,
    *,
    queries: Sequence[Mapping[str, Any]],
    labels: Sequence[Mapping[str, Any]],
    documents: Sequence[Mapping[str, Any]] = (),
    runs: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    about: Mapping[str, str] | None = None,
    dataset: str = 'name = "native"\n',
) -> Path:
    """A folder in the native form. `about` is the text of each run's toml, by the run's name."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "dataset.toml").write_text(dataset)
    _write_lines(folder / "queries.jsonl", queries)
    _write_lines(folder / "labels.jsonl", labels)
    if documents:
        _write_lines(folder / "documents.jsonl", documents)
    for name, lines in (runs or {}).items():
        _write_lines(folder / "runs" / f"{name}.jsonl", lines)
    for name, text in (about or {}).items():
        (folder / "runs" / f"{name}.toml").write_text(text)
    return folder


def add_native(store: Store, folder: Path, options: Options | None = None, **parts: Any) -> Added:
    """Write a folder in the native form, and add it."""
    return add_folder(store, write_folder(folder, **parts), options)


def _write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
