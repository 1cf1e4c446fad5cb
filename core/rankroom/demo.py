"""The sample data, put into a store."""

from __future__ import annotations

from rankroom.add import Added, Progress, add_folder
from rankroom.errors import UsageError
from rankroom.resources import folder
from rankroom.store import Store


def fill(store: Store, progress: Progress | None = None) -> list[Added]:
    """Add every sample data set to a store that holds nothing else."""
    samples = sorted(path.parent for path in folder("sample_runs").glob("*/dataset.toml"))
    if store.exists():
        with store.read() as con:
            names = {name for (name,) in con.execute("select distinct name from query_sets").fetchall()}
        if own := sorted(names - {sample.name for sample in samples}):
            raise UsageError(
                f"{store.path} holds data of your own ({own[0]}): `rankroom demo --store demo.duckdb` keeps the"
                " sample apart, `rankroom serve` shows yours"
            )
    return [add_folder(store, sample, progress=progress) for sample in samples]
