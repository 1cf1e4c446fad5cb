"""Writing a store's contents out: every table and view as Parquet, or rankings and labels in TREC form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from rankroom.add import Progress
from rankroom.errors import RankroomError, UsageError
from rankroom.store import Store

BATCH_ROWS = 200_000


def export_parquet(
    store: Store, folder: Path, runs: Sequence[str] = (), progress: Progress | None = None
) -> list[Path]:
    """One file per table and public view; of those that have a column `run`, only these runs (none: all)."""
    _make_empty(folder)
    written = []
    with store.read() as con:
        _check_runs(store, con, runs)
        names = con.execute(
            """
            select table_name, bool_or(column_name = 'run') from duckdb_columns()
            where not internal and schema_name = 'main' group by table_name order by table_name
            """
        ).fetchall()
        for at, (name, of_runs) in enumerate(names):
            if progress:
                progress(f"writing {name}", at, len(names))
            chosen = " where list_contains($runs::varchar[], run)" if runs and of_runs else ""
            relation = con.sql(f'from "{name}"{chosen}', params={"runs": list(runs)} if chosen else None)
            written.append(_write_parquet(relation, folder / f"{name}.parquet"))
    return written


def export_trec(
    store: Store, folder: Path, runs: Sequence[str] = (), progress: Progress | None = None
) -> list[Path]:
    """runs/RUN.txt and qrels/NAME@REVISION.txt. Scores are those stored where the ranking goes by them, else -rank."""
    _make_empty(folder)
    written = []
    with store.read() as con:
        _check_runs(store, con, runs)
        _check_ids(con)
        named = con.execute(
            "select run, ordered_by from runs where $all or list_contains($runs::varchar[], run) order by run",
            {"all": not runs, "runs": list(runs)},
        ).fetchall()
        for at, (run, ordered_by) in enumerate(named):
            if progress:
                progress(f"writing {run}", at, len(named))
            score = "score" if ordered_by == "score" else "-rank::double"
            relation = con.sql(
                f"select query_id, 'Q0', doc_id, rank, {score}, 'rankroom' from rankings"
                " where run = $run and stage = 'final' order by query_id, rank",
                params={"run": run},
            )
            written.append(_write_columns(relation, folder / "runs" / f"{_file_name(run)}.txt"))
        for (label_set,) in con.execute(
            "select distinct label_set from scorings where $all or list_contains($runs::varchar[], run) order by all",
            {"all": not runs, "runs": list(runs)},
        ).fetchall():
            relation = con.sql(
                "select query_id, 0, doc_id, grade from labels where label_set = $label_set and doc_id is not null"
                " order by query_id, doc_id",
                params={"label_set": label_set},
            )
            written.append(_write_columns(relation, folder / "qrels" / f"{_file_name(label_set)}.txt"))
    return written


def _check_runs(store: Store, con: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> None:
    known = {run for (run,) in con.execute("select run from runs").fetchall()}
    if missing := [run for run in runs if run not in known]:
        raise UsageError(f"there is no run named {missing[0]} in {store.path}: `rankroom list` names them")


def _check_ids(con: duckdb.DuckDBPyConnection) -> None:
    """White space separates the columns of TREC files: an id that has some cannot be written."""
    bad = con.execute(
        r"""
        select id from (select query_id as id from rankings union select doc_id from rankings
                        union select query_id from labels union select doc_id from labels)
        where regexp_matches(id, '\s') or id = '' limit 1
        """
    ).fetchall()
    if bad:
        raise RankroomError(f"the id {bad[0][0]!r} has white space, which TREC files cannot hold: use --format parquet")


def _make_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not empty: name a new folder")
    folder.mkdir(parents=True, exist_ok=True)


def _file_name(name: str) -> str:
    return name.replace("/", "_").replace("\0", "_")


def _write_parquet(relation: duckdb.DuckDBPyRelation, path: Path) -> Path:
    reader = relation.to_arrow_reader(BATCH_ROWS)
    with pa.parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return path


def _write_columns(relation: duckdb.DuckDBPyRelation, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    reader = relation.to_arrow_reader(BATCH_ROWS)
    options = pa.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    with pa.csv.CSVWriter(path, reader.schema, write_options=options) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return path
