"""Writing a store's contents out: every table and view as Parquet, or rankings and labels in TREC form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from rankroom.adding import Progress
from rankroom.errors import RankroomError, UsageError
from rankroom.store import Store

BATCH_ROWS = 200_000

LONGEST_STEM = 200
"""Bytes of a file name without its ending: a little under what file systems allow."""


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
    """Write runs/RUN.txt and qrels/NAME@REVISION.txt.

    Scores are those stored where the ranking goes by them, else -rank. What failed is left out, and so are
    labels that their query's user may not read, which would count as relevant (see `left_out_of_trec`).
    """
    _make_empty(folder)
    written = []
    with store.read() as con:
        _check_runs(store, con, runs)
        chosen = {"all": not runs, "runs": list(runs)}
        named = con.execute(
            "select run, ordered_by from runs where $all or list_contains($runs::varchar[], run)"
            " order by run",
            chosen,
        ).fetchall()
        label_sets = [
            label_set
            for (label_set,) in con.execute(
                "select distinct label_set from scorings"
                " where $all or list_contains($runs::varchar[], run) order by all",
                chosen,
            ).fetchall()
        ]
        _check_ids(con, [run for run, _ in named], label_sets)
        files = _file_names(run for run, _ in named)
        for at, (run, ordered_by) in enumerate(named):
            if progress:
                progress(f"writing {run}", at, len(named))
            score = "score" if ordered_by == "score" else "-rank::double"
            # Partial results of a query that failed are not scored: in a file of results they would be.
            lines = con.sql(
                f"select concat_ws(' ', query_id, 'Q0', doc_id, rank, {score}, 'rankroom') || chr(10)"
                " from rankings semi join (from run_queries where status = 'ok') using (run, query_id)"
                " where run = $run and stage = 'final' order by query_id, rank",
                params={"run": run},
            )
            written.append(_write_lines(lines, folder / "runs" / files[run]))
        files = _file_names(label_sets)
        for label_set in label_sets:
            lines = con.sql(
                f"with seen as ({LABELS_SEEN})"
                " select concat_ws(' ', query_id, 0, doc_id, grade) || chr(10) from seen"
                " where label_set = $label_set and readable order by query_id, doc_id",
                params={"label_set": label_set},
            )
            written.append(_write_lines(lines, folder / "qrels" / files[label_set]))
    return written


def left_out_of_trec(store: Store, runs: Sequence[str] = ()) -> list[str]:
    """What TREC files of these runs (none: all) cannot hold, a sentence each."""
    with store.read() as con:
        ((forbidden, no_answer, failed, stages),) = con.execute(
            f"""
            with chosen as (from runs where $all or list_contains($runs::varchar[], run)),
                 label_sets_used as (select distinct label_set from scorings semi join chosen using (run)),
                 seen as ({LABELS_SEEN})
            select (select count(*) from seen semi join label_sets_used using (label_set) where not readable),
                   (select count(*) from labels semi join label_sets_used using (label_set) where no_answer),
                   (select count(*) from run_queries semi join chosen using (run) where status <> 'ok'),
                   (select count(*) from run_stages semi join chosen using (run) where stage <> 'final')
            """,
            {"all": not runs, "runs": list(runs)},
        ).fetchall()
    counted = (
        (
            forbidden,
            "label that its query's user may not read",
            "labels that their query's user may not read",
        ),
        (no_answer, "no-answer line", "no-answer lines"),
        (failed, "query that failed or timed out", "queries that failed or timed out"),
        (stages, "stage beside the final one", "stages beside the final one"),
    )
    return [
        f"TREC files have no place for {num:,} {one if num == 1 else many}: left out"
        for num, one, many in counted
        if num
    ]


LABELS_SEEN = """
    select labels.*, documents.groups is null or queries.groups is null
                     or list_has_any(documents.groups, queries.groups) as readable
    from labels
    join label_sets on label_sets.label_set = labels.label_set
    left join queries on queries.query_set = label_sets.query_set and queries.query_id = labels.query_id
    left join documents on documents.collection = label_sets.collection and documents.doc_id = labels.doc_id
    where labels.doc_id is not null
"""


def _check_runs(store: Store, con: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> None:
    known = {run for (run,) in con.execute("select run from runs").fetchall()}
    if missing := [run for run in runs if run not in known]:
        raise UsageError(f"there is no run named {missing[0]} in {store.path}: `rankroom list` names them")


def _check_ids(con: duckdb.DuckDBPyConnection, runs: list[str], label_sets: list[str]) -> None:
    """White space separates the columns of TREC files: an id that has some cannot be written."""
    bad = con.execute(
        r"""
        with results as (
            from rankings where list_contains($runs::varchar[], run) and stage = 'final'
        ), judgements as (
            from labels where list_contains($label_sets::varchar[], label_set)
        )
        select id from (select query_id as id from results union select doc_id from results
                        union select query_id from judgements union select doc_id from judgements)
        where regexp_matches(id, '\s') or id = '' limit 1
        """,
        {"runs": runs, "label_sets": label_sets},
    ).fetchall()
    if bad:
        raise RankroomError(
            f"the id {bad[0][0]!r} has white space, which TREC files cannot hold: use --format parquet"
        )


def _make_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not empty: name a new folder")
    folder.mkdir(parents=True, exist_ok=True)


def _file_names(names: Iterable[str]) -> dict[str, str]:
    """A file name for each name: the name itself where a file can have it, and never one name for two.

    File systems that do not tell upper from lower case count, too.
    """
    files: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda name: (_as_stem(name) != name, name)):
        stem, at = _as_stem(name), 1
        while f"{stem}.txt".casefold() in taken:
            at += 1
            stem = f"{_as_stem(name)}~{at}"
        files[name] = f"{stem}.txt"
        taken.add(files[name].casefold())
    return files


def _as_stem(name: str) -> str:
    """The name with an underscore for what a file name cannot have, and no longer than one may be."""
    visible = "".join(c if c.isprintable() and c not in "/\\:" else "_" for c in name)
    return visible.encode()[:LONGEST_STEM].decode(errors="ignore")


def _write_parquet(relation: duckdb.DuckDBPyRelation, path: Path) -> Path:
    reader = relation.to_arrow_reader(BATCH_ROWS)
    with pa.parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return path


def _write_lines(lines: duckdb.DuckDBPyRelation, path: Path) -> Path:
    """Write texts that end with a line break, one after the other."""
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        for batch in lines.to_arrow_reader(BATCH_ROWS):
            texts = batch.column(0).cast(pa.string())
            joined = pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), "")
            file.write(joined[0].as_buffer())
    return path
