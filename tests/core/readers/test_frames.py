"""Data sets and runs from Python: every shape gives the same rows; faults are named where they stand."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankroom.errors import UsageError
from rankroom.faults import Report
from rankroom.readers import frames, run_frames
from rankroom.readers.forms import StageForm
from rankroom.readers.run_frames import Results
from rankroom.workspace import open_workspace

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_workspace() as con:
        con.execute(
            "insert into queries by name"
            " select 'qs@1' as query_set, unnest(['q1', 'q2', '17']) as query_id, false as must_pass"
        )
        yield con


class Stream:
    """A frame of a library that nobody here knows, and that Arrow can read."""

    def __init__(self, table: pa.Table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Interchange:
    """A frame that has only the older protocol."""

    def __init__(self, table: pa.Table):
        self.table = table

    def __dataframe__(self, **options: Any) -> object:
        return self.table.__dataframe__(**options)


# Runs


def read(con: duckdb.DuckDBPyConnection, results: Any, **options: Any) -> tuple[Results | None, Report]:
    report = Report()
    return run_frames.read_results(con, results, report, **{"query_set": "qs@1"} | options), report


def ranked(con: duckdb.DuckDBPyConnection) -> Rows:
    """The rankings, as a run keeps them."""
    return con.execute(
        "select stage, query_id, doc_id, score from ranked_input"
        " order by stage, query_id, key desc, doc_id desc"
    ).fetchall()


def faults(con: duckdb.DuckDBPyConnection, results: Any, **options: Any) -> list[tuple[str, str]]:
    result, report = read(con, results, **options)
    assert result is None
    assert report.num_faults >= len(report.faults)
    return [(fault.kind, str(fault)) for fault in report.faults]


def doubts(report: Report) -> dict[str, int]:
    return {doubt.kind: doubt.count for doubt in report.doubts}


COLUMNS = {
    "query_id": ["q2", "q1", "q1", "q1"],
    "doc_id": ["x", "b", "a", "c"],
    "score": [1.0, 0.5, 2.0, 0.5],
}
BY_SCORE = [
    ("final", "q1", "a", 2.0),
    ("final", "q1", "c", 0.5),
    ("final", "q1", "b", 0.5),
    ("final", "q2", "x", 1.0),
]
TABLE = pa.table(COLUMNS)


@pytest.mark.parametrize(
    "results",
    [
        {"q2": {"x": 1.0}, "q1": {"b": 0.5, "a": 2.0, "c": 0.5}},
        {"q2": {"x": np.float64(1)}, "q1": {"b": np.float32(0.5), "a": 2, "c": 0.5}},
        TABLE,
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).iloc[::-1],
        pd.DataFrame(COLUMNS).set_index(["query_id", "doc_id"]),
        pd.DataFrame(COLUMNS).astype({"query_id": "category", "doc_id": "category", "score": "float32"}),
        Stream(
            TABLE.cast(pa.schema({"query_id": "string_view", "doc_id": "large_string", "score": "float32"}))
        ),
        Stream(TABLE.set_column(0, "query_id", TABLE["query_id"].dictionary_encode())),
        Interchange(TABLE),
        TABLE.to_batches()[0],
        TABLE.to_pylist(),
    ],
    ids=lambda results: type(results).__name__,
)
def test_scores_order_as_trec_eval_does_in_every_shape(con: duckdb.DuckDBPyConnection, results: Any) -> None:
    result, report = read(con, results)
    assert report.faults == []
    assert result == Results(4, "score", (run_frames.Stage("final", 1),))
    assert ranked(con) == BY_SCORE
    assert doubts(report) == {"tied_scores": 2}


def test_categories_of_string_views_as_polars_makes_them(con: duckdb.DuckDBPyConnection) -> None:
    codes = pa.array([0, 1, 1, 1], pa.uint32())
    views = pa.DictionaryArray.from_arrays(codes, pa.array(["q2", "q1"], pa.string_view()))
    assert read(con, Stream(TABLE.set_column(0, "query_id", views)))[0] is not None
    assert ranked(con) == BY_SCORE


@pytest.mark.parametrize(
    "results",
    [
        {"q1": ["b", "a"], "q2": []},
        {"q1": ("b", "a"), "q2": ()},
        {"q1": np.array(["b", "a"]), "q2": np.array([])},
        {"q1": pd.Series(["b", "a"]), "q2": []},
        [{"query_id": "q1", "results": ["b", "a"]}, {"query_id": "q2", "results": []}],
        [
            {"query_id": "q1", "results": [{"doc_id": "b", "text": "..."}, "a"]},
            {"query_id": "q2", "results": []},
        ],
    ],
)
def test_lists_are_taken_in_their_order(con: duckdb.DuckDBPyConnection, results: Any) -> None:
    result, report = read(con, results)
    assert result == Results(2, "list", (run_frames.Stage("final", 1),))
    assert ranked(con) == [("final", "q1", "b", None), ("final", "q1", "a", None)]
    assert con.execute("select query_id from frame_queries order by all").fetchall() == [("q1",), ("q2",)]
    assert doubts(report) == {}


def test_scores_of_a_list_are_kept_and_not_used(con: duckdb.DuckDBPyConnection) -> None:
    _, report = read(con, {"q1": [("b", 0.5), ("a", 0.7)], "q2": [("x", 2), ("y", 1)]})
    assert ranked(con)[:2] == [("final", "q1", "b", 0.5), ("final", "q1", "a", 0.7)]
    assert doubts(report) == {"rank_score_disagree": 1}


def test_ranks_order_where_there_are_no_scores_or_where_that_is_asked(con: duckdb.DuckDBPyConnection) -> None:
    frame = {"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "rank": [3, 1, 2]}
    result, _ = read(con, pa.table(frame))
    assert result
    assert result.ordered_by == "rank"
    assert [doc for _, _, doc, _ in ranked(con)] == ["b", "c", "a"]
    frame["score"] = [3.0, 2.0, 1.0]
    result, report = read(con, pa.table(frame))
    assert result
    assert result.ordered_by == "score"
    assert [doc for _, _, doc, _ in ranked(con)] == ["a", "b", "c"]
    assert 'order="rank" takes the rank column' in report.doubts[0].sentence
    result, report = read(con, pa.table(frame), by_rank=True)
    assert result
    assert result.ordered_by == "rank"
    assert [doc for _, _, doc, _ in ranked(con)] == ["b", "c", "a"]
    assert doubts(report) == {"rank_score_disagree": 1}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["q1", "q2"]),
        st.dictionaries(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=3),
            st.one_of(st.sampled_from([0.0, -0.0, 1.0]), st.floats(allow_nan=False, allow_infinity=False)),
            min_size=1,
        ),
        min_size=1,
    )
)
def test_dicts_and_frames_rank_alike(
    con: duckdb.DuckDBPyConnection, results: dict[str, dict[str, float]]
) -> None:
    rows = [(q, d, s) for q, docs in results.items() for d, s in docs.items()]
    expected = [
        (query, doc)
        for query in sorted(results)
        for doc, _ in sorted(results[query].items(), key=lambda one: (one[1], one[0].encode()), reverse=True)
    ]
    queries, docs, scores = zip(*rows, strict=True)
    for given_as in (results, pa.table({"query_id": queries, "doc_id": docs, "score": scores})):
        assert read(con, given_as)[0] is not None
        assert [(query, doc) for _, query, doc, _ in ranked(con)] == expected


def test_whole_numbers_are_ids_however_they_are_written(con: duckdb.DuckDBPyConnection) -> None:
    for query, doc, floats in ((17, 3, 0), (17.0, 3, 1), ("17", 3.0, 1), (np.int32(17), "3", 0)):
        for results in (
            {query: {doc: 1.0}},
            [{"query_id": query, "doc_id": doc, "score": 1.0}],
            pd.DataFrame({"query_id": [query], "doc_id": [doc], "score": [1.0]}),
        ):
            _, report = read(con, results)
            assert report.faults == []
            assert ranked(con) == [("final", "17", "3", 1.0)]
            assert doubts(report) == ({"id_written_as_float": floats} if floats else {})


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ({"q1": ["a", "b", "a"]}, "results['q1']: value 'a': this document stands at the places 1, 3"),
        ({"q1": ["a", None]}, "results['q1'][1]: value 'null': expected a result"),
        ({"q1": ["a", ""]}, "results['q1'][1]: value '': expected a result"),
        ({"q1": ["a", True]}, "results['q1'][1]: value 'true': expected a result"),
        ({"q1": ["a", 1.5]}, "results['q1'][1]: value '1.5': expected a result"),
        ({"q1": [("a", "high")]}, "results['q1'][0]: value 'high': expected a finite number"),
        ({"q1": {"b": 1, "a": math.nan}}, "results['q1']['a']: value 'NaN': expected a finite number"),
        ({"q1": {"b": 1, "a": -math.inf}}, "results['q1']['a']: value '-Infinity': expected a finite number"),
        ({"q1": {"b": 1, "a": None}}, "results['q1']['a']: value 'nothing': expected a finite number"),
        ({"q1": {"17": 1, 17: 2}}, "results['q1']: value '17': this document stands at the places 1, 2"),
        (
            {"q1": ["a"], "q9": ["a"]},
            "results['q9']: field query_id value 'q9': expected a query of the data set",
        ),
        (
            {17: ["a"], "17": ["a"]},
            "results['17']: field query_id value '17': this query stands at results[17]",
        ),
        ({"q1": "abc"}, "results['q1']: value 'str': expected a list of documents"),
        ({"q1": {"a", "b"}}, "results['q1']: value 'set': expected a list of documents"),
        ({"q1": None}, "results['q1']: value 'None': expected a list of documents"),
        ({"q1": ["a"], "q2": {"a": 1.0}}, "results['q1']: value 'list': expected results of one shape"),
        ({"q1": [b"a"]}, "results['q1']: expected texts, numbers"),
        ({"q1": ["\ud800"]}, "results['q1']: expected text that UTF-8 can hold"),
        ({"q1": [object()]}, "results['q1']: expected texts, numbers"),
        ({}, "results: expected at least one row"),
        ([], "results: expected at least one row"),
        ("abc", "results: value 'str': expected {query: [documents]}"),
        (None, "results: value 'None': expected {query: [documents]}"),
        ([["q1", "a"]], "results, row 0: value 'list': expected a dict"),
        (
            [{"query_id": "q1", "reslts": ["a"]}],
            "results, row 0: field reslts value '[\"a\"]': the fields known",
        ),
        (
            [{"query_id": "q1", "results": ["a", 1.5]}],
            "results, row 0: field results[1] value '1.5': expected",
        ),
        (
            [{"query_id": "q1", "latency_ms": -1, "results": []}],
            "results, row 0: field latency_ms value '-1'",
        ),
    ],
)
def test_faults_of_dicts_are_named_as_python_does(
    con: duckdb.DuckDBPyConnection, results: Any, expected: str
) -> None:
    found = [text for _, text in faults(con, results)]
    assert any(text.startswith(expected) for text in found), found
    assert not any(" line " in text or "--" in text for text in found)


def frame(**columns: Any) -> pa.Table:
    return pa.table(
        {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [2.0, 1.0, 3.0]} | columns
    )


@pytest.mark.parametrize(
    ("results", "kind", "expected"),
    [
        (
            frame(doc_id=["a", "a", "a"]),
            "duplicate_document",
            "results, row 1: field doc_id value 'a': a document",
        ),
        (
            frame(doc_id=["a", None, "a"]),
            "wrong_value",
            "results, row 1: field doc_id value 'nothing': expected an id",
        ),
        (
            frame(query_id=["q1", "", "q2"]),
            "wrong_value",
            "results, row 1: field query_id value '': expected an id",
        ),
        (
            frame(doc_id=[1.0, 2.5, 3.0]),
            "wrong_value",
            "results, row 1: field doc_id value '2.5': expected an id",
        ),
        (
            frame(doc_id=[1.0, 1e17, 3.0]),
            "wrong_value",
            "results, row 1: field doc_id value '1e+17': expected an id",
        ),
        (
            frame(doc_id=[True, True, False]),
            "wrong_value",
            "results: field doc_id value 'type bool': expected a col",
        ),
        (
            frame(doc_id=[b"a", b"b", b"c"]),
            "wrong_value",
            "results: field doc_id value 'type binary': expected a col",
        ),
        (
            frame(query_id=["q1", "q1", "qq"]),
            "unknown_query",
            "results, row 2: field query_id value 'qq': expected",
        ),
        (
            frame(score=[1.0, math.nan, 2.0]),
            "non_finite_score",
            "results, row 1: field score value 'nan': expected",
        ),
        (
            frame(score=[1.0, math.inf, 2.0]),
            "non_finite_score",
            "results, row 1: field score value 'inf': expected",
        ),
        (
            frame(score=[1.0, None, 2.0]),
            "non_finite_score",
            "results, row 1: field score value 'nothing': expected",
        ),
        (
            frame(score=["1", "2", "3"]),
            "wrong_value",
            "results: field score value 'type string': expected a column",
        ),
        (
            frame(stage=["final", "", "final"]),
            "wrong_value",
            "results, row 1: field stage value '': expected a stage",
        ),
        (
            frame(stage=["a", "a", "a"]),
            "missing_stage",
            "results, row 0: field stage: expected the stage",
        ),
        (frame().drop_columns("score"), "missing_field", "results: field score: this column is missing"),
        (frame().drop_columns("doc_id"), "missing_field", "results: field doc_id: this column is missing"),
        (frame().slice(0, 0), "empty", "results: expected at least one row"),
        (frame(Score=[1, 2, 3]), "repeated_field", "results: field"),
    ],
)
def test_faults_of_frames_name_row_column_and_value(
    con: duckdb.DuckDBPyConnection, results: pa.Table, kind: str, expected: str
) -> None:
    found = dict(faults(con, results))
    assert kind in found, found
    assert found[kind].startswith(expected), found


def test_faults_of_ranks(con: duckdb.DuckDBPyConnection) -> None:
    by_rank = frame(rank=[1, 1, None]).drop_columns("score")
    assert [text.partition(":")[0] for _, text in faults(con, by_rank)] == [
        "results, row 1",
        "results, row 2",
    ]
    assert {kind for kind, _ in faults(con, by_rank)} == {"duplicate_rank", "non_numeric_rank"}
    assert {kind for kind, _ in faults(con, frame(rank=[1.5, 2, 1]).drop_columns("score"))} == {
        "non_numeric_rank"
    }


def test_values_of_several_types_in_a_column(con: duckdb.DuckDBPyConnection) -> None:
    mixed = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": [1, "a"], "score": [1, 2]}, dtype=object)
    for results in (mixed, mixed.to_dict("records")):
        ((kind, text),) = faults(con, results)
        assert kind == "wrong_value"
        assert text.startswith("results: field doc_id: expected values of one type")


def test_values_that_arrow_cannot_hold(con: duckdb.DuckDBPyConnection) -> None:
    large = {"query_id": ["q1"], "doc_id": ["a"], "score": [2**70]}
    for results in (pd.DataFrame(large, dtype=object), pd.DataFrame(large).to_dict("records")):
        ((kind, text),) = faults(con, results)
        assert kind == "wrong_value"
        assert text.startswith("results: ")


def test_every_fault_is_counted_and_twenty_are_spelt_out(con: duckdb.DuckDBPyConnection) -> None:
    results = pa.table(
        {"query_id": ["q1"] * 30, "doc_id": [str(n) for n in range(30)], "score": [math.nan] * 30}
    )
    _, report = read(con, results)
    assert (report.num_faults, len(report.faults)) == (30, 20)
    assert report.sentence().endswith("... and 10 more faults")


def test_collapse_keeps_the_best_ranked(con: duckdb.DuckDBPyConnection) -> None:
    for results in (
        frame(doc_id=["a", "a", "a"]),
        {"q1": ["a", "a"], "q2": ["a"]},
        {"q1": {"17": 1, 17: 2}, "q2": {"a": 1}},
    ):
        result, report = read(con, results, collapse_first=True)
        assert result
        assert result.num_rows == 2
        assert doubts(report) == {"duplicate_document": 1}
    assert ranked(con)[0] == ("final", "q1", "17", 2.0)


def test_columns_that_results_do_not_have_are_named_and_left_aside(con: duckdb.DuckDBPyConnection) -> None:
    aside = frame(text=["x"] * 3, latency_ms=[1] * 3)
    for results in (aside, aside.to_pylist()):
        _, report = read(con, results)
        assert doubts(report) == {"columns_left_aside": 2}
        assert "text, latency_ms" in report.doubts[0].sentence


def test_an_unnamed_index_is_no_column(con: duckdb.DuckDBPyConnection) -> None:
    results = frame().to_pandas()
    _, report = read(con, results[results.score > 1])
    assert doubts(report) == {}
    assert len(ranked(con)) == 2


def test_any_query_will_do_for_a_data_set_of_labels_alone(con: duckdb.DuckDBPyConnection) -> None:
    for results in ({"other": ["a"]}, frame(query_id=["other"] * 3, doc_id=["a", "b", "c"])):
        assert read(con, results, query_set=None)[0] is not None


STAGED = {
    "query_id": ["q1"] * 4,
    "doc_id": ["a", "b", "b", "a"],
    "score": [9.0, 8.0, 0.9, 0.1],
    "stage": ["first", "first", None, "final"],
}
LINES = [{"query_id": "q1", "stages": {"first": [("a", 9.0), ("b", 8.0)], "final": [("b", 0.9), ("a", 0.1)]}}]


def test_stages(con: duckdb.DuckDBPyConnection) -> None:
    lines = [{"query_id": "q1", "stages": {"first": ["a", "b"], "final": ["b", "a"]}}]
    for results in (pa.table(STAGED), lines):
        result, report = read(con, results)
        assert result
        assert result.stages == (run_frames.Stage("first", 1), run_frames.Stage("final", 2))
        assert doubts(report) == {"stages_not_declared": 2}
        assert [(stage, doc) for stage, _, doc, _ in ranked(con)] == [
            ("final", "b"),
            ("final", "a"),
            ("first", "a"),
            ("first", "b"),
        ]
        declared = [StageForm(name="first", position=3, cut=2), StageForm(name="final", position=4)]
        result, report = read(con, results, stages=declared)
        assert result
        assert result.stages == (run_frames.Stage("first", 3, 2), run_frames.Stage("final", 4))
        assert doubts(report) == {}
        ((kind, text),) = faults(con, results, stages=declared[1:])
        assert kind == "unknown_stage"
        assert text.endswith("declared in `stages`: final")


# Facts of a query


def facts_of(con: duckdb.DuckDBPyConnection, facts: Any) -> tuple[bool, Report]:
    read(con, {"q1": ["a"], "q2": []})
    report = Report()
    return run_frames.read_facts(con, facts, report, query_set="qs@1"), report


FACTS = {"q1": {"latency_ms": 12.5, "context_tokens": 100}, "17": {"status": "timeout", "error": "too slow"}}


@pytest.mark.parametrize(
    "facts",
    [
        FACTS,
        [{"query_id": query, **fact} for query, fact in FACTS.items()],
        pd.DataFrame([{"query_id": query, **fact} for query, fact in FACTS.items()]),
    ],
)
def test_facts_of_queries(con: duckdb.DuckDBPyConnection, facts: Any) -> None:
    good, report = facts_of(con, facts)
    assert good, report.sentence()
    con.execute("delete from run_queries")
    run_frames.insert_run(con, "run", [], [])
    assert con.execute(
        "select query_id, status, latency_ms, context_tokens, error from run_queries order by query_id"
    ).fetchall() == [
        ("17", "timeout", None, None, "too slow"),
        ("q1", "ok", 12.5, 100, None),
        ("q2", "ok", None, None, None),
    ]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            {"q1": {"latency": 3}},
            "facts['q1']: field latency value '3': the fields known here are query_id, status",
        ),
        ({"q1": {"latency_ms": "3"}}, "facts['q1']: field latency_ms value '3': expected a finite number"),
        (
            {"q1": {"status": "failed"}},
            "facts['q1']: field status value 'failed': expected ok, error or timeout",
        ),
        ({"q1": {"status": "ok", "error": "no"}}, "facts['q1']: field error value 'no': expected the status"),
        ({"q1": 12.5}, "facts['q1']: field float"),
        ({"q9": {}}, "facts['q9']: field query_id value 'q9': expected a query of the data set"),
        (pa.table({"query_id": ["q1"], "latency": [3]}), "facts: field latency: the columns known here are"),
        (
            pa.table({"query_id": ["q1", "q1"], "status": ["ok", "ok"]}),
            "facts, row 1: field query_id value 'q1'",
        ),
    ],
)
def test_faults_of_facts(con: duckdb.DuckDBPyConnection, facts: Any, expected: str) -> None:
    good, report = facts_of(con, facts)
    assert not good
    assert str(report.faults[0]).startswith(expected)


def test_facts_cannot_be_given_twice(con: duckdb.DuckDBPyConnection) -> None:
    read(con, [{"query_id": "q1", "results": [], "latency_ms": 3}])
    with pytest.raises(UsageError, match="given twice"):
        run_frames.read_facts(con, FACTS, Report(), query_set="qs@1")


# Data sets


def read_queries(con: duckdb.DuckDBPyConnection, queries: Any) -> tuple[bool, Report]:
    frames.begin_dataset(con)
    report = Report()
    return frames.read_queries(con, queries, report), report


QUERIES = {
    "q1": {"text": "How?", "category": "how_to", "tags": ["a"], "groups": [], "must_pass": True, "length": 4},
    "q2": {"text": "Why?", "category": None, "tags": None, "groups": None, "must_pass": None, "length": 5},
}


@pytest.mark.parametrize(
    "queries",
    [
        QUERIES,
        [{"query_id": query, **fields} for query, fields in QUERIES.items()],
        pd.DataFrame([{"query_id": query, **fields} for query, fields in QUERIES.items()]),
        pa.Table.from_pylist([{"query_id": query, **fields} for query, fields in QUERIES.items()]),
    ],
    ids=["dict", "list", "pandas", "arrow"],
)
def test_queries_in_every_shape(con: duckdb.DuckDBPyConnection, queries: Any) -> None:
    good, report = read_queries(con, queries)
    assert good, report.sentence()
    assert con.execute("from native_queries order by line_no").fetchall() == [
        (0, "q1", "How?", "how_to", None, None, ["a"], [], True, {"length": "4"}),
        (1, "q2", "Why?", None, None, None, None, None, False, {"length": "5"}),
    ]


def test_queries_as_texts_and_without(con: duckdb.DuckDBPyConnection) -> None:
    good, report = read_queries(con, {"q1": "How?", 17: None})
    assert good
    assert doubts(report) == {"query_without_text": 1}
    assert con.execute("select query_id, text from native_queries order by line_no").fetchall() == [
        ("q1", "How?"),
        ("17", None),
    ]


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ({"q1": 3}, "queries['q1']: field text value '3': expected a text"),
        ({"q1": {"text": "x", "tags": "a"}}, "queries['q1']: field tags value 'a': expected a list of texts"),
        (
            {"q1": {"text": "x", "n": math.nan}},
            "queries['q1']: field n value 'NaN': expected a finite number",
        ),
        ({"": "x"}, "queries['']: field query_id value '': expected an id"),
        (["x"], "queries, row 0: value 'str': expected a dict"),
        ("x", "queries: value 'str': expected {id: text}, a data frame"),
        ({}, "queries: expected at least one row"),
        (pa.table({"id": ["q1"]}), "queries: field query_id: this column is missing"),
        (
            pa.table({"query_id": ["q1", "q1"]}),
            "queries, row 1: field query_id value 'q1': this query stands in row 0",
        ),
        (pa.table({"query_id": ["q1", None]}), "queries, row 1: field query_id: this field is missing"),
        (
            pa.table({"query_id": [b"q1"]}),
            "queries: field query_id value 'binary': expected texts, not bytes",
        ),
    ],
)
def test_faults_of_queries(con: duckdb.DuckDBPyConnection, queries: Any, expected: str) -> None:
    good, report = read_queries(con, queries)
    assert not good
    assert str(report.faults[0]).startswith(expected)


def read_labels(con: duckdb.DuckDBPyConnection, labels: Any) -> tuple[bool, Report]:
    read_queries(con, {"q1": "x", "q2": "y"})
    report = Report()
    return frames.read_labels(con, labels, 1, report, check_queries=True), report


@pytest.mark.parametrize(
    "labels",
    [
        {"q1": {"a": 1, "b": 1.0}, "q2": None},
        {"q1": ["a", "b"], "q2": None},
        {"q1": {"a", "b"}, "q2": None},
        pd.DataFrame(
            {
                "query_id": ["q1", "q1", "q2"],
                "doc_id": ["a", "b", None],
                "grade": [1, 1, None],
                "no_answer": [False, None, True],
            }
        ),
        [{"query_id": "q1", "doc_id": doc, "grade": 1} for doc in "ab"]
        + [{"query_id": "q2", "no_answer": True}],
    ],
)
def test_labels_in_every_shape(con: duckdb.DuckDBPyConnection, labels: Any) -> None:
    good, report = read_labels(con, labels)
    assert good, report.sentence()
    assert con.execute(
        "select query_id, doc_id, grade, no_answer from native_labels order by all"
    ).fetchall() == [
        ("q1", "a", 1, False),
        ("q1", "b", 1, False),
        ("q2", None, None, True),
    ]


def test_a_moment_of_review_is_taken_as_its_date(con: duckdb.DuckDBPyConnection) -> None:
    reviewed = datetime.datetime(2026, 3, 9)
    row = {"query_id": "q1", "doc_id": "a", "grade": 2, "rationale": "says so", "reviewed": reviewed}
    for labels in (
        pd.DataFrame([row]),
        [row],
        [row | {"reviewed": reviewed.date()}],
        pa.Table.from_pylist([row]),
    ):
        assert read_labels(con, labels)[0]
        assert con.execute("select rationale, reviewed from native_labels").fetchall() == [
            ("says so", reviewed.date())
        ]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"q1": {"a": 1.5}}, "labels['q1']['a']: field grade value '1.5': expected a whole number"),
        ({"q1": {"a": "1"}}, "labels['q1']['a']: field grade value '1': expected a whole number"),
        ({"q1": {"a": None}}, "labels['q1']['a']: field grade: this field is missing"),
        ({"q1": ["a", None]}, "labels['q1'][1]: field doc_id: this field is missing"),
        ({"q1": []}, "labels['q1']: expected at least one label"),
        ({"q1": {}}, "labels['q1']: expected at least one label"),
        ({"q1": "abc"}, "labels['q1']: value 'str': expected {document: grade}"),
        (
            {"q9": ["a"]},
            "labels['q9'][0]: field query_id value 'q9': expected a query that is among the queries",
        ),
        ({"q1": {17: 1, "17": 2}}, "labels['q1']['17']: field grade value '2': document 17 has grade 2 here"),
        ({}, "labels: expected at least one row"),
        (None, "labels: value 'None': expected {query: {document: grade}}, a data frame"),
        (
            pa.table({"query_id": ["q1"], "doc_id": ["a"], "grade": [31]}),
            "labels, row 0: field grade value '31'",
        ),
        (
            pa.table({"query_id": ["q1"], "doc": ["a"]}),
            "labels: field doc: the columns known here are query_id",
        ),
        (
            pa.table(
                {
                    "query_id": ["q1", "q1"],
                    "doc_id": ["a", None],
                    "grade": [1, None],
                    "no_answer": [None, True],
                }
            ),
            "labels, row 1: field no_answer value 'true': query q1 has a relevant label in row 0",
        ),
    ],
)
def test_faults_of_labels(con: duckdb.DuckDBPyConnection, labels: Any, expected: str) -> None:
    good, report = read_labels(con, labels)
    assert not good
    assert str(report.faults[0]).startswith(expected)


def test_doubts_of_labels(con: duckdb.DuckDBPyConnection) -> None:
    good, report = read_labels(con, [{"query_id": "q1", "doc_id": "a", "grade": -1}] * 2)
    assert good
    assert doubts(report) == {"duplicate_judgement": 1, "negative_grade": 2}


def test_documents(con: duckdb.DuckDBPyConnection) -> None:
    for documents in (
        {"a": "text of a", "b": {"title": "B", "groups": ["staff"]}},
        pd.DataFrame(
            {
                "doc_id": ["a", "b"],
                "text": ["text of a", None],
                "title": [None, "B"],
                "groups": [None, ["staff"]],
            }
        ),
    ):
        frames.begin_dataset(con)
        assert frames.read_documents(con, documents, Report())
        assert con.execute("from native_documents order by line_no").fetchall() == [
            (0, "a", None, "text of a", None),
            (1, "b", "B", None, ["staff"]),
        ]
    report = Report()
    assert not frames.read_documents(con, {"a": {"text": "x", "url": "y"}, "b": {"groups": []}}, report)
    assert [str(fault).partition(" value")[0] for fault in report.faults] == [
        "documents['a']: field url",
        "documents['b']: field groups",
    ]
