"""Stores that the dashboard's tests look at, written in the native form and added like any other data."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from rankroom.add import add_folder
from rankroom.store import Store
from rankroom.workspace import open_workspace

EVIL = "'; drop table runs; -- <b onclick=alert(1)>*x*<b> $y$ :material-home: `z` 😀 \u05e9\u05dc\u05d5\u05dd"
"""A name with whatever could be taken for SQL, HTML, Markdown or an icon."""

EVIL_TEXT = (
    "<script>alert('x')</script> **bold** $\\int x$ :material/home: "
    "[a](javascript:alert(1)) `'\"; drop table runs"
)

QUERIES: list[dict[str, Any]] = [
    {"query_id": "found", "text": "Found at once", "category": "how_to", "language": "en", "split": "dev"},
    {
        "query_id": "partial",
        "text": "Half of the evidence",
        "category": "how_to",
        "language": "de",
        "split": "dev",
        "must_pass": True,
        "tags": ["two_parts"],
        "channel": "chat",
    },
    {
        "query_id": "below",
        "text": "Below the cutoff",
        "<b>": 1,
        "category": "factual",
        "language": "en",
        "split": "dev",
    },
    {"query_id": "never", "text": "Never retrieved", "category": "factual", "language": "de", "split": "dev"},
    {"query_id": "broken", "text": "An error", "category": "factual", "language": "en", "split": "dev"},
    {"query_id": "absent", "text": "Left out of the run", "language": "en", "split": "dev"},
    {
        "query_id": "nothing",
        "text": "Returned nothing",
        "category": "how_to",
        "language": "en",
        "split": "dev",
    },
    {"query_id": "no_answer", "text": "Nothing answers this", "language": "en", "split": "dev"},
    {"query_id": "secret", "text": "A leak", "language": "en", "split": "dev", "groups": ["staff"]},
    {"query_id": "closed", "text": "Forbidden only", "language": "en", "split": "dev", "groups": []},
    {"query_id": "unlabelled", "text": "Nobody labelled this", "language": "en", "split": "dev"},
    {
        "query_id": "lost",
        "text": "Lost by the reranker",
        "language": "en",
        "split": "dev",
        "tags": ["<i>t</i>"],
    },
    {"query_id": EVIL, "text": EVIL_TEXT, "category": EVIL, "language": "en", "split": "dev"},
    {"query_id": "held", "text": "Held out", "category": "how_to", "language": "en", "split": "heldout"},
]

LABELS: list[dict[str, Any]] = [
    {
        "query_id": "found",
        "doc_id": "d1",
        "grade": 2,
        "rationale": "Says it.",
        "reviewer": "Noor",
        "source": "human",
    },
    {"query_id": "found", "doc_id": "d2", "grade": 0},
    {"query_id": "partial", "doc_id": "d1", "grade": 1},
    {"query_id": "partial", "doc_id": "d9", "grade": 1, "rationale": EVIL_TEXT},
    {"query_id": "below", "doc_id": "d7", "grade": 1},
    {"query_id": "never", "doc_id": "gone", "grade": 1},
    {"query_id": "broken", "doc_id": "d1", "grade": 1},
    {"query_id": "absent", "doc_id": "d1", "grade": 1},
    {"query_id": "nothing", "doc_id": "d1", "grade": 1},
    {"query_id": "no_answer", "no_answer": True, "rationale": "Not in the handbook."},
    {"query_id": "secret", "doc_id": "d2", "grade": 1},
    {"query_id": "closed", "doc_id": "vault", "grade": 1},
    {"query_id": "lost", "doc_id": "d4", "grade": 1},
    {"query_id": EVIL, "doc_id": "d3", "grade": 1},
    {"query_id": "held", "doc_id": "d1", "grade": 1},
]

DOCUMENTS: list[dict[str, Any]] = [
    *(
        {"doc_id": f"d{i}", "title": f"Title {i}", "text": f"Text {i}. " * (40 if i == 1 else 1)}
        for i in range(1, 13)
    ),
    {"doc_id": "vault", "title": "For administrators", "text": "Keys.", "groups": ["admin"]},
    {"doc_id": EVIL, "title": EVIL_TEXT, "text": EVIL_TEXT},
]

TEN = [f"d{i}" for i in range(1, 11)]


def _results(**changed: Any) -> list[dict[str, Any]]:
    """The lines of a run: the same ten documents for every query but those that are given."""
    lines = []
    for query in QUERIES:
        query_id = query["query_id"]
        line: dict[str, Any] = {"results": TEN, "latency_ms": 12.4} | changed.get(query_id, {})
        if line["results"] is not None:
            lines.append({"query_id": query_id} | line)
    return lines


RUNS: dict[str, list[dict[str, Any]]] = {
    "first": _results(
        broken={"results": [], "status": "error", "error": "upstream <timeout>"},
        absent={"results": None},
        nothing={"results": []},
        secret={"results": ["vault", "d2", "d3"], "answer": f"See the handbook. {EVIL_TEXT}"},
        closed={"results": ["vault", "d3"]},
        lost={"results": [EVIL, "d2", "d3", "d5", "d6", "d7"]},
    ),
    "second": _results(below={"results": ["d7", *TEN[:6]]}, **{EVIL: {"results": ["d3"]}}),
    EVIL: _results(found={"results": ["d2", "d3", "d1"]}),
}

CONFIG = {
    "first": 'created = 2026-03-01T10:00:00Z\nseries = "weekly"\n[config]\nfinal.k = 3\n',
    "second": "created = 2026-03-02T10:00:00Z\n",
    "staged": 'stages = [{name = "candidates", position = 1, cut = 10}, {name = "final", position = 2}]\n',
}


def staged_results() -> list[dict[str, Any]]:
    """The lines of a run with two stages, of which the second loses evidence."""
    lines = []
    for line in RUNS["second"]:
        final = line["results"][:6]
        if line["query_id"] == "lost":
            final = ["d1", "d2", "d3", "d5", "d6"]
        stages = {"candidates": line["results"], "final": final}
        lines.append({"query_id": line["query_id"], "stages": stages})
    return lines


def write_folder(
    folder: Path, runs: dict[str, list[dict[str, Any]]], name: str = "handbook", labels_revision: str = "1"
) -> Path:
    """A data set with these runs in the native form."""
    (folder / "runs").mkdir(parents=True)
    (folder / "dataset.toml").write_text(
        f'name = "{name}"\nrevision = "1"\n[labels]\nrevision = "{labels_revision}"\n', encoding="utf-8"
    )
    _write(folder / "queries.jsonl", QUERIES)
    labels = (
        LABELS if labels_revision == "1" else [*LABELS, {"query_id": "found", "doc_id": "d12", "grade": 1}]
    )
    _write(folder / "labels.jsonl", labels)
    _write(folder / "documents.jsonl", DOCUMENTS)
    for run, lines in runs.items():
        _write(folder / "runs" / f"{run}.jsonl", lines)
        if run in CONFIG:
            (folder / "runs" / f"{run}.toml").write_text(CONFIG[run], encoding="utf-8")
    return folder


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def world(folder: Path, *runs: str) -> Store:
    """A store with some of the runs above; `staged` is the one with two stages."""
    chosen = {run: staged_results() if run == "staged" else RUNS[run] for run in runs}
    store = Store(folder / "store.duckdb")
    add_folder(store, write_folder(folder / "native", chosen))
    return store


EVIL_SETTING = "<b>size</b>'; $k `x`"

SETTINGS = {
    "first": f'tags = ["<b>tagged</b>"]\n[config]\n{json.dumps(EVIL_SETTING)} = 64\n',
    "second": f"created = 2026-03-02T10:00:00Z\n[config]\n{json.dumps(EVIL_SETTING)} = 8\n",
    EVIL: "",
}


def configured(folder: Path) -> Store:
    """A store with three runs that differ in a setting, which one does not name, and in their tags."""
    native = write_folder(folder / "native", {run: RUNS[run] for run in SETTINGS})
    for run, text in SETTINGS.items():
        (native / "runs" / f"{run}.toml").write_text(text, encoding="utf-8")
    store = Store(folder / "store.duckdb")
    add_folder(store, native)
    return store


def add_parts(
    store: Store,
    folder: Path,
    queries: list[dict[str, Any]],
    labels: list[dict[str, Any]],
    runs: dict[str, list[dict[str, Any]]],
    about: dict[str, str] | None = None,
    more: str = "",
) -> None:
    """Write a data set of these parts in the native form, and add it."""
    (folder / "runs").mkdir(parents=True)
    (folder / "dataset.toml").write_text(f'name = "parts"\n{more}', encoding="utf-8")
    _write(folder / "queries.jsonl", queries)
    _write(folder / "labels.jsonl", labels)
    for run, lines in runs.items():
        _write(folder / "runs" / f"{run}.jsonl", lines)
    for run, text in (about or {}).items():
        (folder / "runs" / f"{run}.toml").write_text(text, encoding="utf-8")
    add_folder(store, folder)


def multiply(store: Store, run: str, times: int) -> None:
    """Copies of a run under other names, made where the data is."""
    with closing(open_workspace()) as con, store.write(con):
        tables = con.execute(
            "select table_name from duckdb_columns() join duckdb_tables() using (database_name, table_name)"
            " where database_name = 'store' and column_name = 'run'"
        ).fetchall()
        for (table,) in tables:
            con.execute(
                f"insert into store.{table} by name"
                f" select copied.* replace (format('run {{:03d}}', number) as run)"
                f" from store.{table} as copied, range($times) as numbers(number) where copied.run = $run",
                {"run": run, "times": times},
            )
