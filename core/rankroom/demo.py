"""The sample data, put into a store."""

from __future__ import annotations

import tomllib
from pathlib import Path

from rankroom.add import Added, LabelsFile, Progress, add_folder
from rankroom.errors import UsageError
from rankroom.names import versioned
from rankroom.resources import folder
from rankroom.store import Store

EARLIER = "labels_revision_"


def samples() -> dict[str, Path]:
    """The sample data sets, by name: the folders of sample_runs that have a dataset.toml."""
    return {_name(file): file.parent for file in sorted(folder("sample_runs").glob("*/dataset.toml"))}


def fill(store: Store, progress: Progress | None = None) -> list[Added]:
    """Add every sample data set to a store that holds nothing else."""
    there = samples()
    if own := sorted(_stored(store, "name", "query_sets") - there.keys()):
        raise UsageError(
            f"{store.path} holds data of your own ({own[0]}): `rankroom demo --store demo.duckdb` keeps the"
            " sample apart, `rankroom serve` shows yours"
        )
    known = _stored(store, "label_set", "label_sets")
    added = []
    for name, sample in there.items():
        # First, so that the folder's own labels come last and are current.
        for labels in earlier_labels(sample):
            if versioned(name, labels.revision) not in known:
                added.append(add_folder(store, sample, progress=progress, labels=labels))
        added.append(add_folder(store, sample, progress=progress))
    return added


def earlier_labels(sample: Path) -> list[LabelsFile]:
    """The revisions of a sample's labels that lie beside its own, as labels_revision_R.jsonl."""
    return [
        LabelsFile(file, file.stem.removeprefix(EARLIER)) for file in sorted(sample.glob(f"{EARLIER}*.jsonl"))
    ]


def _name(file: Path) -> str:
    return str(tomllib.loads(file.read_text(encoding="utf-8"))["name"])


def _stored(store: Store, column: str, table: str) -> set[str]:
    """The names in one column of a table of the store."""
    if not store.exists():
        return set()
    store.migrate()
    with store.read() as con:
        return {name for (name,) in con.execute(f"select distinct {column} from {table}").fetchall()}
