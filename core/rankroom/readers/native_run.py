"""One run of a native folder: runs/NAME.jsonl with, optionally, runs/NAME.toml beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from rankroom.faults import Fault, Report
from rankroom.names import run_name
from rankroom.readers.dataset_parts import Collection
from rankroom.readers.forms import FINAL, RunForm, line_of, read_toml, settings
from rankroom.readers.json_lines import (
    Field,
    count,
    doubt_float_ids,
    drop_tables,
    read_json_lines,
    take_faults,
)
from rankroom.readers.native_dataset import ID, TEXT, Dataset, check_known_queries, collection_of
from rankroom.resources import sql

ANSWER_FIELDS = (
    Field("query_id", "id", ID, required=True),
    Field("results", "list", "a list of results, [] where nothing came back"),
    Field("stages", "object", "an object: the name of each stage with its list of results"),
    Field("status", "status", "ok, error or timeout"),
    Field("latency_ms", "amount", "a finite number, 0 or more"),
    Field("context_tokens", "count", "a whole number, 0 or more"),
    Field("abstained", "flag", "true or false"),
    Field("error", "text", TEXT),
    Field("answer", "text", TEXT),
    Field("answer_scores", "object", "an object: the name of each score with its number"),
)


@dataclass(frozen=True)
class Stage:
    """One stage of a run; `cut` is how many results it passes on (None: all)."""

    name: str
    position: int
    cut: int | None = None


@dataclass(frozen=True)
class NativeRun:
    """What is known of a run beside its rows; `num_rows` counts the results filled in, of all stages."""

    run: str
    source_file: str
    collection: Collection
    stages: tuple[Stage, ...]
    num_rows: int
    created: datetime | None
    baseline: str | None
    series: str | None
    tags: tuple[str, ...]
    commit: str | None
    note: str | None


def read_run(
    con: duckdb.DuckDBPyConnection,
    folder: str | Path,
    run_file: str | Path,
    dataset: Dataset | None,
    report: Report,
    *,
    collapse_first: bool = False,
) -> NativeRun | None:
    """Fill `results`, `run_stages`, `run_config`, `run_queries` and `answer_scores` from one run.

    None where anything is wrong, and nothing is filled in. Without a data set (because that had faults)
    the files are checked as far as that goes. `collapse_first` keeps the first of the places that a document
    has in a ranking.
    """
    before = report.num_faults
    form = _read_form(Path(folder), run_name(run_file), dataset, report)
    stages = _read_results(con, Path(run_file), form, dataset, collapse_first, report)
    if form is None or dataset is None or report.num_faults > before:
        return None
    run = _run(con, Path(run_file), form, stages, dataset)
    _doubt_results(con, str(run_file), run, dataset, report)
    _insert(con, run, form)
    return run


def _read_form(folder: Path, run: str, dataset: Dataset | None, report: Report) -> RunForm | None:
    """What runs/NAME.toml says; None where it has faults."""
    path = folder / "runs" / f"{run}.toml"
    if not path.exists():
        return RunForm()
    form = read_toml(path, RunForm, report)
    if form is None:
        return None
    faults = [
        Fault(str(path), kind, expected, line_of(path.read_text("utf-8-sig"), (field,)), field, value)
        for kind, field, value, expected in _form_faults(form, run, dataset)
    ]
    report.extend(faults)
    if form.created and form.created.tzinfo is None:
        sentence = f"created ({form.created.isoformat()}) has no time zone; taken as UTC"
        report.doubt(str(path), "created_without_zone", 1, sentence)
    return None if faults else form


def _form_faults(form: RunForm, run: str, dataset: Dataset | None) -> list[tuple[str, str, str, str]]:
    """What is wrong between the keys of NAME.toml: (kind, key, value, expected)."""
    faults = []
    if form.baseline == run:
        faults.append(("baseline_is_itself", "baseline", run, "expected the name of another run"))
    for stage, times in Counter(stage.name for stage in form.stages).items():
        if times > 1:
            faults.append(("repeated_stage", "stages", stage, f"this stage is declared {times} times"))
    for key, times in Counter(key for key, _ in settings(form.config)).items():
        if times > 1:
            faults.append(("repeated_setting", "config", key, f"this setting is given {times} times"))
    if dataset:
        faults += _collection_faults(form, dataset)
    return faults


def _collection_faults(form: RunForm, dataset: Dataset) -> list[tuple[str, str, str, str]]:
    """One collection at one version has one unit and one id scheme."""
    own, declared = dataset.collection, collection_of(form.collection, dataset.collection)
    if own.key != declared.key:
        return []
    return [
        (
            "collection_differs",
            "collection",
            f"{key} {given}",
            f"expected {expected!r}, which dataset.toml gives for {own.key}, or another name or version",
        )
        for key, given, expected in (
            ("unit", declared.unit, own.unit),
            ("id_scheme", declared.id_scheme, own.id_scheme),
        )
        if given != expected
    ]


def _read_results(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    form: RunForm | None,
    dataset: Dataset | None,
    collapse_first: bool,
    report: Report,
) -> tuple[Stage, ...]:
    """Into native_answers, native_answer_scores and native_results, with all faults of the file reported."""
    file = str(path)
    con.execute(sql("readers/native_run_tables.sql"))
    if not read_json_lines(con, path, ANSWER_FIELDS, ["native_answers", "native_results"], report):
        return ()
    con.execute(sql("readers/native_answer_faults.sql"))
    stages = _stages(con, file, form, report)
    if dataset:
        known = "select query_id from queries where query_set = $query_set"
        check_known_queries(con, "native_answers", known, {"query_set": dataset.query_set})
    repeats = _repeated_documents(con)
    if repeats and not collapse_first:
        con.execute(sql("readers/native_repeated_documents.sql"))
    if take_faults(con, file, report) == 0:
        doubt_float_ids(con, file, report)
        if repeats:
            con.execute(sql("readers/native_collapse_first.sql"))
            times = "1 place" if repeats == 1 else f"{repeats:,} places"
            sentence = f"in {times} a document stands in a ranking again; only its first place was kept"
            report.doubt(file, "duplicate_document", repeats, sentence)
    drop_tables(con, "native_lists", "native_lists_at_hand", "native_results_at_hand")
    return stages


def _repeated_documents(con: duckdb.DuckDBPyConnection) -> int:
    return count(
        con,
        "select coalesce(sum(places - 1), 0) from (select count(*) as places from native_results"
        " group by line_no, stage, doc_id having count(*) > 1)",
    )


def _stages(
    con: duckdb.DuckDBPyConnection, file: str, form: RunForm | None, report: Report
) -> tuple[Stage, ...]:
    """The stages as declared, or as they appear; what does not fit is a fault."""
    seen = con.execute(
        "select stage, min(line_no) as line, arg_min(field, line_no) from native_lists"
        " where stage <> '' group by stage order by line, arg_min(position, line_no)"
    ).fetchall()
    names = [stage for stage, _, _ in seen]
    if form is None or not form.stages:
        return _in_order_of_appearance(names, file, report)
    declared = tuple(Stage(stage.name, stage.position, stage.cut) for stage in form.stages)
    expected = f"expected one of the stages declared in the run's toml: {', '.join(s.name for s in declared)}"
    unknown = [row for row in seen if row[0] not in {stage.name for stage in declared}]
    con.execute(
        "insert into json_faults"
        " select unnest($lines::bigint[]), 'unknown_stage', unnest($fields::varchar[]),"
        " unnest($stages::varchar[]), $expected",
        {
            "stages": [stage for stage, _, _ in unknown],
            "lines": [line for _, line, _ in unknown],
            "fields": [field for _, _, field in unknown],
            "expected": expected,
        },
    )
    unused = [stage.name for stage in declared if stage.name not in names]
    sentence = f"declared, and without a ranking in any line: {', '.join(unused)}"
    report.doubt(file, "stage_without_results", len(unused), sentence)
    return declared


def _in_order_of_appearance(names: Sequence[str], file: str, report: Report) -> tuple[Stage, ...]:
    ordered = [*(name for name in names if name != FINAL), FINAL]
    if len(ordered) > 1:
        sentence = (
            f"the run's toml declares no stages; taken in the order in which they appear, {FINAL} last:"
            f" {', '.join(ordered)}"
        )
        report.doubt(file, "stages_not_declared", len(ordered), sentence)
    return tuple(Stage(name, position) for position, name in enumerate(ordered, start=1))


def _run(
    con: duckdb.DuckDBPyConnection,
    run_file: Path,
    form: RunForm,
    stages: tuple[Stage, ...],
    dataset: Dataset,
) -> NativeRun:
    created = form.created
    if created is not None:
        created = created.replace(tzinfo=UTC) if created.tzinfo is None else created.astimezone(UTC)
    return NativeRun(
        run=run_name(run_file),
        source_file=f"{run_file.parent.name}/{run_file.name}",
        collection=collection_of(form.collection, dataset.collection),
        stages=stages,
        num_rows=count(con, "select count(*) from native_results"),
        created=created,
        baseline=form.baseline,
        series=form.series,
        tags=form.tags,
        commit=form.commit,
        note=form.note,
    )


def _doubt_results(
    con: duckdb.DuckDBPyConnection, file: str, run: NativeRun, dataset: Dataset, report: Report
) -> None:
    disagree = count(con, sql("readers/native_order_disagrees.sql"))
    queries = "1 query" if disagree == 1 else f"{disagree:,} queries"
    report.doubt(
        file,
        "rank_score_disagree",
        disagree,
        f"in {queries} the scores do not fall along the list; the order of the list was taken, and the scores"
        " are kept and not used",
    )
    own = dataset.collection
    if run.collection.key != own.key:
        sentence = f"this run searched {run.collection.key}; the labels are for {own.key}"
        report.doubt(file, "other_collection", 1, sentence)
        return
    missing = count(con, sql("readers/native_results_without_document.sql"), {"collection": own.key})
    results = "1 result names a document" if missing == 1 else f"{missing:,} results name documents"
    report.doubt(file, "result_document_missing", missing, f"{results} not in documents.jsonl")


def _insert(con: duckdb.DuckDBPyConnection, run: NativeRun, form: RunForm) -> None:
    con.execute(
        "insert into run_stages select $run, unnest($names::varchar[]), unnest($positions::integer[]),"
        " unnest($cuts::integer[])",
        {
            "run": run.run,
            "names": [stage.name for stage in run.stages],
            "positions": [stage.position for stage in run.stages],
            "cuts": [stage.cut for stage in run.stages],
        },
    )
    config = list(settings(form.config))
    con.execute(
        "insert into run_config select $run, unnest($keys::varchar[]), unnest($values::varchar[])",
        {"run": run.run, "keys": [key for key, _ in config], "values": [value for _, value in config]},
    )
    for step in ("run_queries", "answer_scores", "results"):
        con.execute(sql(f"readers/native_insert_{step}.sql"), {"run": run.run})
    drop_tables(con, "native_answers", "native_answer_scores", "native_results")
