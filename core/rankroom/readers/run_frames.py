"""Runs from Python: results, and what else is known of each query, as dicts or data frames.

    results    {query: [documents]}, in their order; {query: [(document, score)]}, in their order;
               {query: {document: score}}, by score; a frame or list of dicts with query_id, doc_id and score
               (by score) or rank, and perhaps stage; or a list with a dict a query, as in runs/NAME.jsonl
    facts      {query: {status, latency_ms, ...}}, or rows with query_id and the same fields

"By score" is trec_eval's order: score descending, then document id descending by its UTF-8 bytes. The results
are filled into frame_results, which is what `ranked_input` reads, and the queries into run_queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankroom.errors import UsageError
from rankroom.faults import Report
from rankroom.readers.arguments import (
    Rows,
    in_python,
    is_frame,
    listed,
    read_rows,
    rows_of,
    take_faults,
    to_table,
    type_name,
)
from rankroom.readers.forms import FINAL, StageForm
from rankroom.readers.json_lines import begin_faults, count, doubt_float_ids
from rankroom.readers.native_dataset import ID
from rankroom.readers.native_run import ANSWER_FIELDS, Stage
from rankroom.readers.rankings import order_doubts
from rankroom.resources import sql

OrderedBy = Literal["list", "score", "rank"]

RESULTS = "{query: [documents]}, {query: [(document, score)]}, {query: {document: score}}"
COLUMNS = ("query_id", "doc_id", "score", "rank", "stage")
FACT_FIELDS = tuple(field for field in ANSWER_FIELDS if field.name not in ("results", "stages"))
LARGEST_EXACT = 2.0**53
"""Beyond it a float is no longer one whole number: no id can be read from it."""


@dataclass(frozen=True)
class Results:
    """The results of a run as they were read: how many, what orders them, and their stages."""

    num_rows: int
    ordered_by: OrderedBy
    stages: tuple[Stage, ...]


def read_results(
    con: duckdb.DuckDBPyConnection,
    results: Any,
    report: Report,
    *,
    query_set: str | None,
    stages: Sequence[StageForm] = (),
    by_rank: bool = False,
    collapse_first: bool = False,
) -> Results | None:
    """Fill frame_results, frame_queries and (where results are given query by query) native_answers.

    None where anything is wrong. Queries that are not in `query_set` are refused (None: any query will do).
    `stages` are those declared; `by_rank` prefers the column rank where a frame has scores, too.
    """
    con.execute(sql("readers/native_run_tables.sql"))
    con.execute(sql("readers/frames_results_tables.sql"))
    begin_faults(con)
    if _is_by_query(results):
        rows, ordered_by = _read_by_query(con, results, report)
    else:
        rows, ordered_by = _read_frame(con, results, by_rank, report)
    if rows is None:
        return None
    if query_set is not None:
        by_query = rows.table is None
        table, line = ("native_answers", "line_no") if by_query else ("frame_results", "row_no")
        _check_known(con, table, line, query_set)
    settled = _settle_stages(con, stages, report)
    repeats = _repeats(con, rows, collapse_first)
    if take_faults(con, rows, report):
        return None
    doubt_float_ids(con, "results", report)
    if repeats and collapse_first:
        con.execute(sql("readers/frames_collapse_first.sql"))
        what = "result names a document" if repeats == 1 else "results name a document"
        sentence = f"{repeats:,} {what} that the ranking holds already; the best-ranked was kept"
        report.doubt("results", "duplicate_document", repeats, sentence)
    _doubt_order(con, ordered_by, report)
    con.execute(
        "create or replace temp view ranked_input as"
        " select stage, query_id, doc_id, key, score from frame_results"
    )
    return Results(count(con, "select count(*) from frame_results"), ordered_by, settled)


def read_facts(con: duckdb.DuckDBPyConnection, facts: Any, report: Report, *, query_set: str | None) -> bool:
    """Into native_answers; False where anything is wrong. After `read_results`."""
    if count(con, sql("readers/frames_facts_given.sql")):
        raise UsageError("facts are given twice: in the results, query by query, and in facts")
    if isinstance(facts, Mapping):
        facts = Rows(
            "facts",
            dicts=[{**_fields(given), "query_id": query} for query, given in facts.items()],
            paths=[(query,) for query in facts],
        )
    rows = rows_of("facts", facts, FACT_FIELDS, report, "{query: {field: value}}")
    con.execute(sql("readers/native_run_tables.sql"))
    if rows is None or not read_rows(con, rows, FACT_FIELDS, ["native_answers"], report):
        return False
    # What came back for a query stands in the results: a line here needs none.
    con.execute("update native_answers set has_results = true")
    con.execute(sql("readers/native_answer_faults.sql"))
    if query_set is not None:
        _check_known(con, "native_answers", "line_no", query_set)
    if take_faults(con, rows, report):
        return False
    doubt_float_ids(con, "facts", report)
    return True


def insert_run(
    con: duckdb.DuckDBPyConnection, run: str, stages: Sequence[Stage], config: Sequence[tuple[str, str]]
) -> None:
    """Fill run_stages, run_config, run_queries and answer_scores; ranking_lengths have been counted."""
    con.execute(
        "insert into run_stages select $run, unnest($names::varchar[]), unnest($positions::integer[]),"
        " unnest($cuts::integer[])",
        {
            "run": run,
            "names": [stage.name for stage in stages],
            "positions": [stage.position for stage in stages],
            "cuts": [stage.cut for stage in stages],
        },
    )
    con.execute(
        "insert into run_config select $run, unnest($keys::varchar[]), unnest($values::varchar[])",
        {"run": run, "keys": [key for key, _ in config], "values": [value for _, value in config]},
    )
    con.execute(sql("readers/frames_run_queries.sql"), {"run": run})
    con.execute(sql("readers/native_insert_answer_scores.sql"), {"run": run})


def _fields(given: Any) -> Mapping[Any, Any]:
    # What is no dict becomes a field that none is called, and is named in the fault.
    return given if isinstance(given, Mapping) else {type_name(given): given}


# Query by query


def _is_by_query(results: Any) -> bool:
    """Whether results stand in a dict, or in a list with a dict a query; else they are rows."""
    if isinstance(results, Mapping):
        return True
    if is_frame(results) or isinstance(results, str | bytes) or not isinstance(results, Sequence):
        return False
    return bool(results) and all(isinstance(one, Mapping) and "doc_id" not in one for one in results)


def _read_by_query(
    con: duckdb.DuckDBPyConnection, results: Any, report: Report
) -> tuple[Rows | None, OrderedBy]:
    rows, by_score = _of_dict(results, report) if isinstance(results, Mapping) else (results, False)
    ordered_by: OrderedBy = "score" if by_score else "list"
    rows = None if rows is None else rows_of("results", rows, ANSWER_FIELDS, report, RESULTS)
    if rows is None or not read_rows(con, rows, ANSWER_FIELDS, ["native_answers", "native_results"], report):
        return None, ordered_by
    con.execute(sql("readers/native_answer_faults.sql"))
    if by_score:
        con.execute(
            "insert into json_faults select line_no, 'non_finite_score',"
            " 'results[' || (position - 1) || '].score', 'nothing', 'expected a finite number'"
            " from native_results where score is null and line_no not in (select line_no from json_faults)"
        )
    con.execute(sql("readers/frames_results_of_answers.sql"), {"by_score": by_score})
    con.execute("insert into frame_queries select query_id from native_answers")
    return rows, ordered_by


def _of_dict(results: Mapping[Any, Any], report: Report) -> tuple[Rows | None, bool]:
    """The rows of a dict, and whether it is {query: {document: score}}."""
    wrong = Rows("results", paths=[(query,) for query in results])
    by_score = any(isinstance(given, Mapping) and given for given in results.values())
    dicts, names = [], {}
    before = report.num_faults
    for at, (query, given) in enumerate(results.items()):
        ranking = list(given.items()) if isinstance(given, Mapping) else listed(given)
        if ranking is None:
            expected = "expected a list of documents (best first), [] where nothing came back"
            report.fault(wrong.fault(at, "wrong_value", expected, None, type_name(given)))
        elif len(ranking) and by_score != isinstance(given, Mapping):
            expected = "expected results of one shape: lists in their order, or {document: score} for all"
            report.fault(wrong.fault(at, "wrong_value", expected, None, type_name(given)))
        else:
            dicts.append({"query_id": query, "results": [_result(one) for one in ranking]})
            names[query] = list(given) if by_score else []
    if report.num_faults > before:
        return None, by_score
    return Rows("results", dicts=dicts, paths=wrong.paths, names_of_results=names), by_score


def _result(one: Any) -> Any:
    """A result as the native form has it: (document, score) becomes an object."""
    if isinstance(one, list | tuple) and len(one) == 2:
        return {"doc_id": one[0], "score": one[1]}
    return one


# Rows


def _read_frame(
    con: duckdb.DuckDBPyConnection, results: Any, by_rank: bool, report: Report
) -> tuple[Rows | None, OrderedBy]:
    rows = _table_of(results, report)
    if rows is None or rows.table is None:
        return None, "score"
    given = rows.table.column_names
    by_rank = "rank" in given and (by_rank or "score" not in given)
    before = report.num_faults
    if not rows.table.num_rows:
        report.fault(rows.fault(None, "empty", "expected at least one row"))
    for name in ("query_id", "doc_id"):
        if name not in given:
            expected = f"this column is missing: expected {ID} in each row"
            report.fault(rows.fault(None, "missing_field", expected, name))
    if not {"score", "rank"} & {*given}:
        expected = "this column is missing: expected score (higher is better), or rank (1 is the best)"
        report.fault(rows.fault(None, "missing_field", expected, "score"))
    if report.num_faults > before:
        return None, "score"
    columns = _columns(con, rows, rows.table, report)
    if columns is None:
        return None, "score"
    con.register("frame_columns", columns)
    con.execute(sql("readers/frames_results.sql"), {"by_rank": by_rank})
    con.unregister("frame_columns")
    con.execute(sql("readers/frames_result_faults.sql"), {"by_rank": by_rank})
    aside = [name for name in given if name not in COLUMNS]
    report.doubt(
        "results",
        "columns_left_aside",
        len(aside),
        f"columns that results do not have are left aside: {', '.join(aside[:5])}"
        f"{', ...' if len(aside) > 5 else ''} (facts of a query go into `facts`)",
    )
    return rows, "rank" if by_rank else "score"


def _table_of(results: Any, report: Report) -> Rows | None:
    """A frame, or a list of dicts, as a table."""
    if is_frame(results):
        table = to_table("results", results, report)
        return None if table is None else Rows("results", table)
    rows = rows_of("results", results, (), report, RESULTS)
    if rows is None:
        return None
    names = dict.fromkeys(str(name) for row in rows.dicts for name in row)
    arrays = {}
    for name in names:
        try:
            values = [row.get(name) for row in rows.dicts] if name in COLUMNS else pa.nulls(len(rows))
            arrays[name] = pa.array(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            report.fault(rows.fault(None, "wrong_value", f"expected values of one type ({error})", name))
            return None
    return Rows("results", pa.table(arrays))


def _columns(con: duckdb.DuckDBPyConnection, rows: Rows, table: pa.Table, report: Report) -> pa.Table | None:
    """The columns of a frame in the types of frame_columns; None where one is of another kind of type."""
    columns: dict[str, pa.ChunkedArray] = {"row_no": pa.chunked_array([np.arange(len(rows), dtype=np.int64)])}
    before = report.num_faults
    for name in COLUMNS:
        if name not in table.column_names:
            kind = pa.string() if name == "stage" else pa.float64()
            columns[name] = pa.chunked_array([pa.nulls(len(rows), kind)])
            continue
        column, expected = table.column(name), "a column of numbers"
        if pa.types.is_dictionary(column.type):
            column = _without_dictionary(column)
        if name in ("query_id", "doc_id"):
            found, expected = _ids(con, column), "a column of texts, or of whole numbers"
        elif name == "stage":
            found, expected = _texts(column), "a column of texts"
        else:
            found = _numbers(column)
        if found is None:
            report.fault(rows.fault(None, "wrong_value", f"expected {expected}", name, f"type {column.type}"))
        else:
            columns[name] = found
    return pa.table(columns) if report.num_faults == before else None


def _without_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a categorical column. Arrow has no cast from the dictionaries that polars makes."""
    kind = column.type.value_type
    if pa.types.is_string_view(kind):
        kind = pa.string()
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def _ids(con: duckdb.DuckDBPyConnection, column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Ids as texts: 17 is "17", and so is 17.0, which is counted. NULL where a value is no id."""
    if pa.types.is_floating(column.type):
        numbers = column.cast(pa.float64())
        whole = pc.and_(pc.equal(numbers, pc.trunc(numbers)), pc.less(pc.abs(numbers), LARGEST_EXACT))
        kept = pc.if_else(whole, numbers, pa.scalar(None, pa.float64()))
        con.execute("insert into json_float_ids values ($num)", {"num": len(kept) - kept.null_count})
        return kept.cast(pa.int64()).cast(pa.string())
    if pa.types.is_integer(column.type):
        return column.cast(pa.string())
    return _texts(column)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if any(is_of(kind) for is_of in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        return column
    return column.cast(pa.string()) if pa.types.is_null(kind) else None


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    kind = column.type
    if any(is_of(kind) for is_of in (pa.types.is_floating, pa.types.is_integer, pa.types.is_null)):
        return column.cast(pa.float64(), safe=False)
    return column.cast(pa.float64()) if pa.types.is_decimal(kind) else None


# Both


def _check_known(con: duckdb.DuckDBPyConnection, table: str, line: str, query_set: str) -> None:
    con.execute(
        f"insert into json_faults select min({line}), 'unknown_query', 'query_id', query_id,"
        f" 'expected a query of the data set' from {table} where query_id <> ''"
        " and query_id not in (select query_id from queries where query_set = $query_set)"
        " group by query_id",
        {"query_set": query_set},
    )


def _settle_stages(
    con: duckdb.DuckDBPyConnection, declared: Sequence[StageForm], report: Report
) -> tuple[Stage, ...]:
    """The stages as declared, or in the order in which they appear; what does not fit is a fault."""
    seen: dict[str, tuple[int, str]] = {}
    for stage, row, field in con.execute(
        "select stage, row_no, field from ("
        " select stage, line_no as row_no, position, field from native_lists where stage <> ''"
        " qualify row_number() over (partition by stage order by line_no, position) = 1"
        " union all"
        " select stage, min(row_no), 0, 'stage' from frame_results where stage <> ''"
        " and not exists (from native_lists) group by stage"
        ") order by row_no, position"
    ).fetchall():
        seen[stage] = (row, field)
    if seen and FINAL not in seen and not count(con, "select count(*) from native_answers"):
        _fault(con, 0, "missing_stage", "stage", None, f"expected the stage {FINAL} among the stages")
    if not declared:
        names = [*(stage for stage in seen if stage != FINAL), FINAL]
        if len(names) > 1:
            sentence = (
                f"stages are not declared; taken in the order in which they appear, {FINAL} last:"
                f" {', '.join(names)}"
            )
            report.doubt("results", "stages_not_declared", len(names), sentence)
        return tuple(Stage(name, position) for position, name in enumerate(names, start=1))
    known = [stage.name for stage in declared]
    for stage, (row, field) in seen.items():
        if stage not in known:
            expected = f"expected one of the stages declared in `stages`: {', '.join(known)}"
            _fault(con, row, "unknown_stage", field, stage, expected)
    unused = [name for name in known if name not in seen]
    report.doubt(
        "results",
        "stage_without_results",
        len(unused),
        f"declared, and without a ranking: {', '.join(unused)}",
    )
    return tuple(Stage(stage.name, stage.position, stage.cut) for stage in declared)


def _fault(
    con: duckdb.DuckDBPyConnection, row: int, kind: str, field: str, value: str | None, expected: str
) -> None:
    con.execute(
        "insert into json_faults values ($row, $kind, $field, $value, $expected)",
        {"row": row, "kind": kind, "field": field, "value": value, "expected": expected},
    )


def _repeats(con: duckdb.DuckDBPyConnection, rows: Rows, collapse_first: bool) -> int:
    """How many results name a document that their ranking has; faults, unless they are to be collapsed."""
    con.execute(sql("readers/frames_repeats.sql"))
    repeats = count(con, "select count(*) from frame_repeats where place > 1")
    if repeats and not collapse_first:
        by_row = rows.table is not None
        con.execute(sql(f"readers/{'frames_repeat_faults' if by_row else 'native_repeated_documents'}.sql"))
    con.execute("drop table frame_repeats")
    return repeats


def _doubt_order(con: duckdb.DuckDBPyConnection, ordered_by: OrderedBy, report: Report) -> None:
    if ordered_by == "list":
        disagree = count(con, sql("readers/native_order_disagrees.sql"))
        report.doubt(
            "results",
            "rank_score_disagree",
            disagree,
            f"in {'1 query' if disagree == 1 else f'{disagree:,} queries'} the scores do not fall along the"
            " list; the order of the list was taken, and the scores are kept and not used",
        )
        return
    con.execute(
        "create or replace temp view frame_final as"
        f" select query_id, doc_id, key, score, rank, row_no from frame_results where stage = '{FINAL}'"
    )
    said = Report()
    order_doubts(con, "frame_final", "row_no", "results", said, by_rank=ordered_by == "rank")
    con.execute("drop view frame_final")
    for doubt in said.doubts:
        report.doubt(doubt.file, doubt.kind, doubt.count, in_python(doubt.sentence))
