"""The native form: what is taken from a folder, what is refused and what is said aloud."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankroom.faults import SHOWN, Report
from rankroom.readers.dataset_parts import Collection
from rankroom.readers.native import Dataset, NativeRun, Stage, read_dataset, read_run, run_files
from rankroom.resources import folder, sql

DATASET_TABLES = ("queries", "labels", "documents")
RUN_TABLES = ("run_stages", "run_config", "run_queries", "answer_scores", "results")
TABLES = DATASET_TABLES + RUN_TABLES
HOSTILE = """'; drop table queries; --"`$1 {x} <script>alert("1")</script> \\ %s été e\u0301 \u202e🙂"""


@pytest.fixture(scope="module")
def workspace() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute(sql("schema/001_tables.sql"))
        con.execute(
            "create table if not exists results"
            " (run varchar, stage varchar, query_id varchar, doc_id varchar, key double, score double)"
        )
        yield con


@pytest.fixture
def con(workspace: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The workspace without a row of an earlier test."""
    empty(workspace)
    return workspace


def empty(con: duckdb.DuckDBPyConnection) -> None:
    for table in TABLES:
        con.execute(f"delete from {table}")


@pytest.fixture
def report() -> Report:
    return Report()


def jsonl(*lines: object) -> str:
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


class Room:
    """A native folder of two queries, and what reading it gave."""

    def __init__(self, path: Path, con: duckdb.DuckDBPyConnection, report: Report):
        self.path, self.con, self.report = path, con, report
        self.write("dataset.toml", 'name = "small"\n')
        self.write(
            "queries.jsonl", jsonl({"query_id": "q1", "text": "one"}, {"query_id": "q2", "text": "two"})
        )
        self.write("labels.jsonl", jsonl({"query_id": "q1", "doc_id": "a", "grade": 1}))

    def write(self, name: str, content: str | bytes) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def remove(self, name: str) -> None:
        (self.path / name).unlink()

    def dataset(self) -> Dataset | None:
        return read_dataset(self.con, self.path, self.report)

    def run(self, *lines: object, toml: str | None = None, collapse_first: bool = False) -> NativeRun | None:
        dataset = self.dataset()
        assert dataset, self.report.sentence()
        return self.run_of(dataset, *lines, toml=toml, collapse_first=collapse_first)

    def run_of(
        self, dataset: Dataset, *lines: object, toml: str | None = None, collapse_first: bool = False
    ) -> NativeRun | None:
        self.write("runs/new.jsonl", jsonl(*lines))
        if toml is not None:
            self.write("runs/new.toml", toml)
        [file] = run_files(self.path)
        return read_run(self.con, self.path, file, dataset, self.report, collapse_first=collapse_first)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.con.execute(query).fetchall()

    def faults(self) -> list[tuple[str, int | None, str, str | None, str | None]]:
        return [(Path(f.file).name, f.line, f.kind, f.field, f.value) for f in self.report.faults]

    def doubts(self) -> dict[str, int]:
        return {doubt.kind: doubt.count for doubt in self.report.doubts}

    def is_empty(self) -> bool:
        return all(self.rows(f"select count(*) from {table}") == [(0,)] for table in TABLES)


@pytest.fixture
def room(tmp_path: Path, con: duckdb.DuckDBPyConnection, report: Report) -> Room:
    return Room(tmp_path, con, report)


# ---- the documentation example


def test_the_documentation_example_is_taken_without_a_doubt(con, report) -> None:
    example = folder("sample_runs") / "documentation_example"
    dataset = read_dataset(con, example, report)
    assert dataset
    [file] = run_files(example)
    run = read_run(con, example, file, dataset, report)
    assert run
    assert (report.num_faults, report.doubts) == (0, [])
    assert dataset.query_set == dataset.label_set == "documentation_example@1"
    assert (run.run, run.num_rows, run.stages) == ("documentation_example", 9, (Stage("final", 1),))
    labels = con.execute(
        "select query_id, list(doc_id order by doc_id) from labels group by all order by all"
    )
    assert labels.fetchall() == [
        ("q_export", ["export_csv"]),
        ("q_reset", ["reset_limits", "reset_steps"]),
        ("q_sharing", ["share_limits", "share_roles"]),
    ]
    rankings = con.execute(
        "select query_id, list(doc_id order by key desc) from results group by all order by all"
    )
    assert rankings.fetchall() == [
        ("q_export", ["export_csv", "billing", "profile"]),
        ("q_reset", ["billing", "reset_steps", "reset_limits"]),
        ("q_sharing", ["profile", "share_roles", "billing"]),
    ]
    assert con.execute("select count(*) from documents").fetchall() == [(7,)]
    assert con.execute("select setting, value from run_config order by all").fetchall() == [
        ("final.k", "3"),
        ("lexical.analyzer", "english"),
        ("lexical.b", "0.75"),
        ("lexical.k1", "1.2"),
        ("retriever", "bm25"),
    ]


# ---- the data set


def test_what_dataset_toml_leaves_out_has_defaults(room: Room) -> None:
    dataset = room.dataset()
    assert dataset == Dataset(
        name="small",
        revision="1",
        label_revision="1",
        collection=Collection("small", "1"),
        relevant_from=1,
        reviewer=None,
        files=("dataset.toml", "queries.jsonl", "labels.jsonl"),
    )
    assert dataset.collection.key == "small@1"


def test_dataset_toml_in_full(room: Room) -> None:
    room.write(
        "dataset.toml",
        """
        name = "help"
        revision = 3
        [collection]
        name = "articles"
        version = 2026-03-01
        unit = "chunk"
        id_scheme = "slug#n"
        [labels]
        revision = "4"
        relevant_from = 2
        reviewer = "Noor"
        """,
    )
    dataset = room.dataset()
    assert dataset
    assert (dataset.query_set, dataset.label_set) == ("help@3", "help@4")
    assert dataset.collection == Collection("articles", "2026-03-01", "chunk", "slug#n")
    assert (dataset.relevant_from, dataset.reviewer) == (2, "Noor")


def test_labels_without_a_revision_have_that_of_the_queries(room: Room) -> None:
    room.write("dataset.toml", 'name = "help"\nrevision = "7"')
    dataset = room.dataset()
    assert dataset
    assert dataset.label_set == "help@7"


@pytest.mark.parametrize(
    ("toml", "line", "field", "says"),
    [
        ('revision = "1"', None, "name", "missing"),
        ('name = ""', 1, "name", "not empty"),
        ('name = "a@b"', 1, "name", "without @"),
        ("name = 3", 1, "name", "in quotes"),
        ('name = "a"\nrevision = 1.10', 2, "revision", "put quotes around it"),
        ('name = "a"\nrevision = true', 2, "revision", "in quotes"),
        ('name = "a"\n\nrelease = "1"', 3, "release", "known here are name, revision, collection, labels"),
        ('name = "a"\n[labels]\nrelevant_from = 0', 3, "labels.relevant_from", "greater than or equal to 1"),
        ('name = "a"\n[labels]\nrelevant_from = 1.0', 3, "labels.relevant_from", "whole number"),
        ('name = "a"\n[collection]\nunits = "x"', 3, "collection.units", "name, version, unit, id_scheme"),
        ('name = "a"\ncollection = "x"', 2, "collection", "expected a table"),
    ],
)
def test_faults_of_dataset_toml(room: Room, toml: str, line: int | None, field: str, says: str) -> None:
    room.write("dataset.toml", toml)
    assert room.dataset() is None
    [fault] = room.report.faults
    assert (fault.line, fault.field) == (line, field)
    assert says in fault.expected
    assert room.is_empty()


@pytest.mark.parametrize(
    ("content", "line", "kind"),
    [
        ('name = "a"\nname = "b"', 2, "not_toml"),
        ("name = \n", 1, "not_toml"),
        ("x = " + "[" * 5000, None, "not_toml"),
        (b'name = "\xff"', 1, "invalid_utf8"),
    ],
)
def test_a_file_that_is_no_toml(room: Room, content: str | bytes, line: int | None, kind: str) -> None:
    room.write("dataset.toml", content)
    assert room.dataset() is None
    [fault] = room.report.faults
    assert (fault.line, fault.kind) == (line, kind)


def test_a_byte_order_mark_and_crlf_in_toml_and_jsonl(room: Room) -> None:
    room.write("dataset.toml", b'\xef\xbb\xbfname = "small"\r\n[labels]\r\nreviewer = "N"\r\n')
    room.write("queries.jsonl", b'\xef\xbb\xbf{"query_id": "q1", "text": "t"}\r\n')
    dataset = room.dataset()
    assert dataset
    assert dataset.reviewer == "N"
    assert [(Path(d.file).name, d.kind) for d in room.report.doubts] == [
        ("dataset.toml", "bom_removed"),
        ("queries.jsonl", "bom_removed"),
        ("queries.jsonl", "crlf"),
    ]


def test_all_files_are_looked_at_even_if_the_first_has_faults(room: Room) -> None:
    room.write("dataset.toml", "nam = 1")
    room.write("queries.jsonl", jsonl({"query_id": "q1", "text": 1}))
    room.write("labels.jsonl", jsonl({"query_id": "unheard_of", "doc_id": "a", "grade": 0.5}))
    room.write("documents.jsonl", jsonl({"doc_id": True}))
    assert room.dataset() is None
    assert room.faults() == [
        ("dataset.toml", None, "missing_field", "name", None),
        ("dataset.toml", 1, "unknown_field", "nam", "1"),
        ("queries.jsonl", 1, "wrong_value", "text", "1"),
        ("labels.jsonl", 1, "non_integer_grade", "grade", "0.5"),  # whose query may well be on a faulty line
        ("documents.jsonl", 1, "wrong_value", "doc_id", "true"),
    ]
    assert room.is_empty()


def test_missing_files(room: Room, tmp_path: Path) -> None:
    for name in ("queries.jsonl", "labels.jsonl"):
        room.remove(name)
    assert room.dataset() is None
    assert [fault.kind for fault in room.report.faults] == ["missing_file", "missing_file"]
    bare, above = Report(), Report()
    room.remove("dataset.toml")
    assert read_dataset(room.con, room.path, bare) is None
    room.write("inner/dataset.toml", "")
    assert read_dataset(room.con, room.path, above) is None
    assert [fault.kind for fault in bare.faults + above.faults] == ["no_dataset_toml"] * 2
    assert 'with at least a line name = "..."' in bare.sentence()
    assert "there is one in inner inside it" in above.sentence()
    other = Report()
    assert read_dataset(room.con, tmp_path / "nowhere", other) is None
    assert [fault.kind for fault in other.faults] == ["not_a_folder"]


def test_an_empty_file_and_a_part_given_twice(room: Room) -> None:
    room.write("queries.jsonl", "\n \n")
    room.write("qrels.txt", "q1 0 a 1\n")
    assert room.dataset() is None
    assert [fault.kind for fault in room.report.faults] == ["two_files", "empty_file"]


@pytest.mark.parametrize("name", ["qrels", "qrels.txt", "qrels.tsv", "qrels.gz"])
def test_labels_may_be_qrels(room: Room, name: str) -> None:
    room.remove("labels.jsonl")
    content = b"q1 0 a 2\nq2 0 b 0\n"
    room.write(name, gzip.compress(content) if name.endswith("gz") else content)
    dataset = room.dataset()
    assert dataset, room.report.sentence()
    assert name in dataset.files
    assert room.rows("from labels order by query_id") == [
        ("small@1", "q1", "a", 2, False, *[None] * 6),
        ("small@1", "q2", "b", 0, False, *[None] * 6),
    ]


def test_qrels_of_a_query_that_is_not_in_queries(room: Room) -> None:
    room.remove("labels.jsonl")
    room.write("qrels", "q1 0 a 2\nq9 0 b 0\nq9 0 c 0\n")
    assert room.dataset() is None
    assert room.faults() == [("qrels", None, "unknown_query", "query_id", "q9")]


def test_faulty_qrels(room: Room) -> None:
    room.remove("labels.jsonl")
    room.write("qrels", "q1 0 a 2.5\n")
    assert room.dataset() is None
    assert [fault.line for fault in room.report.faults] == [1]


# ---- lines of JSON


NO_OBJECTS = [
    '{"query_id": "q3"',
    '{"query_id": "q3",}',
    '{"query_id": "q3", "tags": ["a", ]}',
    "{'query_id': 'q3'}",
    '{"query_id": "q3"} {"query_id": "q4"}',
    '["q3"]',
    '"q3"',
    "null",
    "17",
    "query_id,text",
    '{"query_id": "\\ud800"}',
]


def test_a_line_that_is_no_json_object_is_one_fault_and_hides_no_other(room: Room) -> None:
    room.write("queries.jsonl", jsonl({"query_id": "q1", "text": 1}, "", *NO_OBJECTS, {"text": "no id"}))
    assert room.dataset() is None
    last = len(NO_OBJECTS) + 3
    assert [(fault.line, fault.kind) for fault in room.report.faults] == [
        (1, "wrong_value"),
        *((line, "not_json") for line in range(3, last)),
        (last, "missing_field"),
    ]


def test_a_line_that_is_no_json_says_where_it_goes_wrong(room: Room) -> None:
    room.write("queries.jsonl", '{"query_id": "q1" "text": 1}')
    room.dataset()
    assert "Expecting ',' delimiter, at column 19" in room.report.sentence()


def test_commas_and_brackets_inside_texts_are_text(room: Room) -> None:
    text = 'a, ] and , } and "quoted, ]" \\'
    room.write("queries.jsonl", jsonl({"query_id": "q1", "text": text}))
    assert room.dataset()
    assert room.rows("select text from queries") == [(text,)]


def test_nested_as_deep_as_one_likes(room: Room) -> None:
    deep = "[" * 20_000 + "]" * 20_000
    room.write("queries.jsonl", '{"query_id": "q1", "text": "t", "x": ' + deep + "}\n")
    assert room.dataset()
    assert room.rows("select attributes['x'] from queries") == [(deep,)]


def test_twenty_faults_are_spelt_out_and_the_rest_is_counted(room: Room) -> None:
    room.write("queries.jsonl", jsonl(*({"query_id": f"q{n}", "text": n} for n in range(50)), "oops"))
    room.dataset()
    assert room.report.num_faults == 51
    assert [fault.line for fault in room.report.faults] == list(range(1, SHOWN + 1))
    assert room.report.sentence().endswith("... and 31 more faults")


def test_a_field_given_twice(room: Room) -> None:
    room.write("queries.jsonl", '{"query_id": "q1", "text": "a", "x": 1, "text": "b", "x": 2}')
    assert room.dataset() is None
    assert [(f.kind, f.field) for f in room.report.faults] == [
        ("repeated_field", "text"),
        ("repeated_field", "x"),
    ]


def test_null_is_as_left_out(room: Room) -> None:
    room.write(
        "queries.jsonl",
        jsonl(
            {"query_id": "q1", "text": None, "tags": None, "groups": None, "must_pass": None, "more": None}
        ),
    )
    assert room.dataset()
    assert room.rows("from queries") == [("small@1", "q1", *[None] * 6, False, None)]
    room.write("queries.jsonl", jsonl({"query_id": None, "text": "t"}))
    assert room.dataset() is None
    assert room.faults() == [("queries.jsonl", 1, "missing_field", "query_id", None)]


def test_a_file_longer_than_one_piece_is_read_whole(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankroom.readers.lines.CHUNK", 8000)
    queries = [{"query_id": f"q{n}", "text": "x" * n, "n": n} for n in range(200)]
    room.write("queries.jsonl", jsonl(*queries))
    assert room.dataset()
    assert room.rows("select count(*), count(distinct query_id), sum(length(text)) from queries") == [
        (200, 200, sum(range(200)))
    ]
    room.write("queries.jsonl", jsonl(*queries, queries[3], "oops"))
    assert room.dataset() is None
    assert [(f.line, f.kind) for f in room.report.faults] == [(201, "repeated_query"), (202, "not_json")]


# ---- ids


IDS = {
    '"17"': "17",
    "18": "18",
    "19.0": "19",
    "-3": "-3",
    "1e3": "1000",
    "18446744073709551615": "18446744073709551615",
    "123456789012345678901234567890": "123456789012345678901234567890",
    '"007"': "007",
    '" a b "': " a b ",
    '"e\\u0301"': "e\u0301",
    '"\\u00e9"': "\u00e9",
}


def test_ids_are_texts_or_whole_numbers(room: Room) -> None:
    room.write("queries.jsonl", jsonl(*(f'{{"query_id": {id}, "text": "t"}}' for id in IDS)))
    labels = (f'{{"query_id": {id}, "doc_id": {id}, "grade": {n}}}' for n, id in enumerate(IDS))
    room.write("labels.jsonl", jsonl(*labels))
    assert room.dataset(), room.report.sentence()
    assert room.rows(
        "select queries.query_id, doc_id from queries join labels using (query_id) order by grade"
    ) == [(taken, taken) for taken in IDS.values()]


def test_what_is_no_id(room: Room) -> None:
    written = ["true", '""', "17.5", "[1]", '{"a": 1}', "NaN", "1e400"]
    room.write("queries.jsonl", jsonl(*(f'{{"query_id": {id}, "text": "t"}}' for id in written)))
    assert room.dataset() is None
    assert [(fault.line, fault.kind, fault.field) for fault in room.report.faults] == [
        (line, "wrong_value", "query_id") for line in range(1, len(written) + 1)
    ]
    assert all("whole number" in fault.expected for fault in room.report.faults)


def test_a_number_and_its_text_are_one_id(room: Room) -> None:
    room.write("queries.jsonl", '{"query_id": 17, "text": "a"}\n{"query_id": "17", "text": "b"}\n')
    assert room.dataset() is None
    [fault] = room.report.faults
    assert (fault.line, fault.kind, fault.value) == (2, "repeated_query", "17")
    assert "line 1" in fault.expected


def test_ids_written_as_floats_are_counted(room: Room) -> None:
    room.write("queries.jsonl", '{"query_id": 17.0, "text": "a"}\n{"query_id": 18, "text": "b"}\n')
    room.write("labels.jsonl", '{"query_id": 17.0, "doc_id": 3.0, "grade": 1.0}\n')
    run = room.run('{"query_id": 18.0, "results": [3.0, {"doc_id": 4.0}, 5]}')
    assert run
    assert [(Path(d.file).name, d.count) for d in room.report.doubts if d.kind == "id_written_as_float"] == [
        ("queries.jsonl", 1),
        ("labels.jsonl", 2),
        ("new.jsonl", 3),
    ]
    assert room.rows("select query_id, doc_id from results order by key desc") == [
        ("18", "3"),
        ("18", "4"),
        ("18", "5"),
    ]


# ---- queries


def test_a_query_in_full(room: Room) -> None:
    query = {
        "query_id": "q1",
        "text": HOSTILE,
        "category": "how_to",
        "language": "de",
        "split": "dev",
        "tags": ["a", "b"],
        "groups": [],
        "must_pass": True,
        "persona": "admin",
        "turns": 3,
        "ratio": 0.5,
        "synthetic": False,
        "nested": {"z": [1, None], "a": "x"},
        HOSTILE: HOSTILE,
    }
    room.write("queries.jsonl", jsonl(query))
    assert room.dataset()
    [(*columns, attributes)] = room.rows("from queries")
    assert columns == ["small@1", "q1", HOSTILE, "how_to", "de", "dev", ["a", "b"], [], True]
    assert attributes == {
        "persona": "admin",
        "turns": "3",
        "ratio": "0.5",
        "synthetic": "false",
        "nested": '{"z":[1,null],"a":"x"}',
        HOSTILE: HOSTILE,
    }


ILL_TYPED = [
    ("text", "[]"),
    ("category", "3"),
    ("language", "true"),
    ("split", "{}"),
    ("tags", '"a"'),
    ("tags", '["a", 1]'),
    ("groups", "[null]"),
    ("must_pass", '"true"'),
    ("must_pass", "1"),
    ("further", "NaN"),
    ("further", "-Infinity"),
    ("further", "1e999"),
]


def test_ill_typed_fields_of_a_query(room: Room) -> None:
    lines = (f'{{"query_id": "q{n}", "{field}": {value}}}' for n, (field, value) in enumerate(ILL_TYPED))
    room.write("queries.jsonl", jsonl(*lines))
    assert room.dataset() is None
    assert [(fault.line, fault.kind, fault.field) for fault in room.report.faults if "q" in fault.file] == [
        (line, "wrong_value", field) for line, (field, _) in enumerate(ILL_TYPED, start=1)
    ]


def test_queries_without_text_are_counted(room: Room) -> None:
    room.write("queries.jsonl", jsonl({"query_id": "q1"}, {"query_id": "q2", "text": "t"}))
    assert room.dataset()
    assert room.doubts() == {"query_without_text": 1}


def test_a_field_that_is_nearly_a_known_one_is_an_attribute_and_said(room: Room) -> None:
    queries = [
        {"query_id": "q1", "text": "?", "langauge": "en", "Category": "c", "spilt": "dev", "channel": "x"},
        {"query_id": "q2", "text": "?", "langauge": "en", "category": "d", "categoy": "said already"},
    ]
    room.write("queries.jsonl", jsonl(*queries))
    room.write("labels.jsonl", jsonl({"query_id": "q1", "doc_id": "a", "grade": 1}))
    assert room.dataset()
    said = [doubt.sentence for doubt in room.report.doubts if doubt.kind == "field_perhaps_misspelt"]
    assert said == [
        "2 queries have a field 'langauge', taken as an attribute: is language meant?",
        "1 query has a field 'Category', taken as an attribute: is category meant?",
        "1 query has a field 'spilt', taken as an attribute: is split meant?",
    ]


# ---- labels


def test_a_label_in_full(room: Room) -> None:
    label = {
        "query_id": "q1",
        "doc_id": HOSTILE,
        "grade": 2.0,
        "rationale": HOSTILE,
        "source": "human",
        "reviewer": "O'Neill",
        "reviewed": "2026-03-02",
        "collection": "v3",
        "evidence_group": "limits",
    }
    silent = {"query_id": "q2", "no_answer": True, "rationale": "asks for the weather", "reviewer": "N"}
    room.write("labels.jsonl", jsonl(label, silent))
    assert room.dataset(), room.report.sentence()
    assert room.rows("from labels order by query_id") == [
        ("small@1", "q1", HOSTILE, 2, False, HOSTILE, "human", "O'Neill", date(2026, 3, 2), "v3", "limits"),
        ("small@1", "q2", None, None, True, "asks for the weather", None, "N", None, None, None),
    ]


FAULTY_LABELS = [
    ('"doc_id": "a"', "missing_field", "grade"),
    ('"grade": 1', "missing_field", "doc_id"),
    ('"no_answer": false', "missing_field", "doc_id"),
    ('"doc_id": "a", "grade": 0.5', "non_integer_grade", "grade"),
    ('"doc_id": "a", "grade": "1"', "non_integer_grade", "grade"),
    ('"doc_id": "a", "grade": true', "non_integer_grade", "grade"),
    ('"doc_id": "a", "grade": NaN', "non_integer_grade", "grade"),
    ('"doc_id": "a", "grade": 31', "grade_out_of_range", "grade"),
    ('"doc_id": "a", "grade": -31.0', "grade_out_of_range", "grade"),
    ('"doc_id": "a", "grade": 99999999999', "grade_out_of_range", "grade"),
    ('"doc_id": "a", "grade": 1, "reviewed": "2.3.2026"', "wrong_value", "reviewed"),
    ('"doc_id": "a", "grade": 1, "reviewed": "2026-02-30"', "wrong_value", "reviewed"),
    ('"doc_id": "a", "grade": 1, "note": "x"', "unknown_field", "note"),
    ('"no_answer": "yes"', "wrong_value", "no_answer"),
    ('"no_answer": true, "doc_id": "a"', "no_answer_with_label", "no_answer"),
    ('"no_answer": true, "grade": 0', "no_answer_with_label", "no_answer"),
]


@pytest.mark.parametrize("first", range(0, len(FAULTY_LABELS), 8))
def test_faults_of_a_label(room: Room, first: int) -> None:
    some = FAULTY_LABELS[first : first + 8]
    queries = range(1, len(some) + 1)
    room.write("queries.jsonl", jsonl(*({"query_id": f"q{n}", "text": "t"} for n in queries)))
    lines = (f'{{"query_id": "q{n}", {fields}}}' for n, (fields, _, _) in zip(queries, some, strict=True))
    room.write("labels.jsonl", jsonl(*lines))
    assert room.dataset() is None
    found = {(fault.line, fault.kind, fault.field) for fault in room.report.faults}
    assert found >= {(n, kind, field) for n, (_, kind, field) in zip(queries, some, strict=True)}
    assert room.report.num_faults < SHOWN
    assert room.is_empty()


def test_one_pair_with_two_grades_names_both_lines_and_grades(room: Room) -> None:
    label = {"query_id": "q1", "doc_id": "a", "grade": 1}
    room.write("labels.jsonl", jsonl(label, label, {**label, "grade": 2}))
    assert room.dataset() is None
    [fault] = room.report.faults
    assert (fault.line, fault.kind, fault.value) == (3, "duplicate_judgement_conflict", "2")
    assert "grade 2 here" in fault.expected
    assert "grade 1 on line 1" in fault.expected


def test_the_same_judgement_again_is_taken_once_and_counted(room: Room) -> None:
    label = {"query_id": "q1", "doc_id": "a", "grade": 1}
    silent = {"query_id": "q2", "no_answer": True}
    room.write("labels.jsonl", jsonl({**label, "rationale": "first"}, label, label, silent, silent))
    assert room.dataset()
    assert room.doubts() == {"duplicate_judgement": 3}
    assert room.rows("select query_id, doc_id, rationale from labels order by query_id") == [
        ("q1", "a", "first"),
        ("q2", None, None),
    ]


def test_a_query_is_not_both_answered_and_without_an_answer(room: Room) -> None:
    silent = {"query_id": "q1", "no_answer": True}
    room.write("labels.jsonl", jsonl({"query_id": "q1", "doc_id": "a", "grade": 1}, silent))
    assert room.dataset() is None
    [fault] = room.report.faults
    assert (fault.line, fault.kind) == (2, "answered_no_answer")
    assert "line 1" in fault.expected


def test_no_answer_stands_beside_labels_that_are_not_relevant(room: Room) -> None:
    room.write("dataset.toml", 'name = "small"\n[labels]\nrelevant_from = 2')
    silent = {"query_id": "q1", "no_answer": True}
    room.write("labels.jsonl", jsonl({"query_id": "q1", "doc_id": "a", "grade": 1}, silent))
    assert room.dataset()


def test_labels_of_unknown_queries_and_negative_grades(room: Room) -> None:
    room.write("labels.jsonl", jsonl({"query_id": "q1", "doc_id": "a", "grade": -1}))
    assert room.dataset()
    assert room.doubts() == {"negative_grade": 1}
    room.write("labels.jsonl", jsonl({"query_id": "Q1", "doc_id": "a", "grade": 1}))
    assert room.dataset() is None
    assert room.faults() == [("labels.jsonl", 1, "unknown_query", "query_id", "Q1")]


# ---- documents


def test_documents(room: Room) -> None:
    room.write(
        "documents.jsonl",
        jsonl({"doc_id": HOSTILE, "title": HOSTILE, "text": HOSTILE, "groups": ["x"]}, {"doc_id": 3}),
    )
    assert room.dataset()
    assert room.rows("from documents order by doc_id") == [
        ("small@1", "'" + HOSTILE[1:], HOSTILE, HOSTILE, ["x"]),
        ("small@1", "3", None, None, None),
    ]
    assert room.doubts() == {"label_document_missing": 1}


def test_faults_of_documents(room: Room) -> None:
    room.write(
        "documents.jsonl",
        jsonl(
            {"doc_id": "a", "groups": []},
            {"doc_id": "a", "url": "x"},
            {"title": "t"},
            {"doc_id": "b", "groups": [1]},
        ),
    )
    assert room.dataset() is None
    assert room.faults() == [
        ("documents.jsonl", 1, "wrong_value", "groups", "[]"),
        ("documents.jsonl", 2, "repeated_document", "doc_id", "a"),
        ("documents.jsonl", 2, "unknown_field", "url", "x"),
        ("documents.jsonl", 3, "missing_field", "doc_id", None),
        ("documents.jsonl", 4, "wrong_value", "groups", "[1]"),
    ]
    assert "leave groups out where everyone may" in room.report.sentence()


# ---- runs/NAME.toml


def test_a_run_in_full(room: Room) -> None:
    run = room.run(
        {"query_id": "q1", "results": ["a"]},
        toml="""
        created = 2026-03-09T10:00:00+02:00
        baseline = "bm25"
        series = "weekly"
        tags = ["x", "y"]
        commit = "4f2a9c1"
        note = "a note"
        stages = [{name = "final", position = 2, cut = 5}, {name = "dense", position = 1}]
        [collection]
        version = "2"
        [config]
        filters = ["a", 1, true]
        rerank = false
        "odd key" = 1e-05
        [config.embedding]
        model = "e5"
        dimensions = 384
        built = 2026-03-01
        [[config.steps]]
        b = 1
        a = 2026-03-01
        """,
    )
    assert run == NativeRun(
        run="new",
        source_file="runs/new.jsonl",
        collection=Collection("small", "2"),
        stages=(Stage("final", 2, 5), Stage("dense", 1)),
        num_rows=1,
        created=datetime(2026, 3, 9, 8, tzinfo=UTC),
        baseline="bm25",
        series="weekly",
        tags=("x", "y"),
        commit="4f2a9c1",
        note="a note",
    )
    assert room.rows("from run_stages order by position") == [
        ("new", "dense", 1, None),
        ("new", "final", 2, 5),
    ]
    assert dict(room.rows("select setting, value from run_config")) == {
        "embedding.built": "2026-03-01",
        "embedding.dimensions": "384",
        "embedding.model": "e5",
        "filters": '["a", 1, true]',
        "odd key": "1e-05",
        "rerank": "false",
        "steps": '[{"a": "2026-03-01", "b": 1}]',
    }
    assert room.doubts() == {"stage_without_results": 1, "other_collection": 1}


def test_a_run_needs_no_toml(room: Room) -> None:
    run = room.run({"query_id": "q1", "results": []})
    assert run
    assert (run.created, run.baseline, run.tags, run.collection) == (None, None, (), Collection("small", "1"))
    assert room.rows("from run_stages") == [("new", "final", 1, None)]


def test_created_is_a_moment(room: Room) -> None:
    dataset = room.dataset()
    assert dataset
    for written, doubts in (
        ("2026-03-09T10:00:00Z", {}),
        ('"2026-03-09T12:00:00+02:00"', {}),
        ("2026-03-09T10:00:00", {"created_without_zone": 1}),
        ('"2026-03-09 10:00"', {"created_without_zone": 1}),
    ):
        room.report = Report()
        run = room.run_of(dataset, {"query_id": "q1", "results": []}, toml=f"created = {written}")
        assert run
        assert run.created == datetime(2026, 3, 9, 10, tzinfo=UTC)
        assert room.doubts() == doubts
        room.con.execute("delete from run_queries")


FAULTY_TOMLS = [
    ("created = 17", 1, "wrong_value", "created"),
    ("created = 0001-01-01T00:00:00+14:00", 1, "wrong_value", "created"),
    ("created = 9999-12-31T23:59:59-14:00", 1, "wrong_value", "created"),
    ('created = "yesterday"', 1, "wrong_value", "created"),
    ('series = "x"\nbaseline = "new"', 2, "baseline_is_itself", "baseline"),
    ('model = "x"', 1, "unknown_field", "model"),
    ("tags = [1]", 1, "wrong_value", "tags.0"),
    ('stages = [{name = "final"}]', 1, "missing_field", "stages.0.position"),
    ('[[stages]]\nname = "final"\nposition = 1\ncut = 0', 4, "wrong_value", "stages.0.cut"),
    (
        'stages = [{name = "final", position = 1}, {name = "final", position = 2}]',
        1,
        "repeated_stage",
        "stages",
    ),
    ('[config]\n"a.b" = 1\na.b = 2', 1, "repeated_setting", "config"),
    ('[collection]\nunit = "page"', 1, "collection_differs", "collection"),
]


def test_faults_of_a_runs_toml(room: Room) -> None:
    dataset = room.dataset()
    assert dataset
    for toml, line, kind, field in FAULTY_TOMLS:
        room.report = Report()
        assert room.run_of(dataset, {"query_id": "q1", "results": []}, toml=toml) is None
        [fault] = room.report.faults
        assert (Path(fault.file).name, fault.line, fault.kind, fault.field) == ("new.toml", line, kind, field)
    assert room.rows("select count(*) from run_queries") == [(0,)]


def test_faults_of_both_files_of_a_run_are_told(room: Room) -> None:
    assert room.run({"query_id": "q1"}, toml="x = 1") is None
    assert [(Path(f.file).name, f.kind) for f in room.report.faults] == [
        ("new.toml", "unknown_field"),
        ("new.jsonl", "missing_field"),
    ]


# ---- runs/NAME.jsonl


def test_a_line_of_a_run_in_full(room: Room) -> None:
    assert room.run(
        {
            "query_id": "q1",
            "results": [
                "a",
                {"doc_id": "b", "score": 2, "text": "left aside"},
                3,
                {"doc_id": 4, "score": None},
            ],
            "status": "ok",
            "latency_ms": 12.5,
            "context_tokens": 900,
            "abstained": False,
            "error": "",
            "answer": HOSTILE,
            "answer_scores": {"faithfulness": 1, HOSTILE: 0.25, "not computed": None},
        },
        {"query_id": "q2", "error": "no route to host"},
    )
    assert room.rows("from run_queries order by query_id") == [
        ("new", "q1", "ok", 12.5, 900, False, None, HOSTILE),
        ("new", "q2", "error", None, None, None, "no route to host", None),
    ]
    assert room.rows("from results order by key desc") == [
        ("new", "final", "q1", "a", -1.0, None),
        ("new", "final", "q1", "b", -2.0, 2.0),
        ("new", "final", "q1", "3", -3.0, None),
        ("new", "final", "q1", "4", -4.0, None),
    ]
    assert room.rows("from answer_scores order by value desc") == [
        ("new", "q1", "faithfulness", 1.0),
        ("new", "q1", HOSTILE, 0.25),
    ]
    assert room.doubts() == {}


FAULTY_LINES = [
    ('"status": "failed"', "wrong_value", "status"),
    ('"results": [], "latency_ms": -1', "wrong_value", "latency_ms"),
    ('"results": [], "latency_ms": Infinity', "wrong_value", "latency_ms"),
    ('"results": [], "latency_ms": "12"', "wrong_value", "latency_ms"),
    ('"results": [], "context_tokens": 1.5', "wrong_value", "context_tokens"),
    ('"results": [], "context_tokens": -1', "wrong_value", "context_tokens"),
    ('"results": [], "abstained": 0', "wrong_value", "abstained"),
    ('"results": [], "answer": 3', "wrong_value", "answer"),
    ('"results": [], "error": {}', "wrong_value", "error"),
    ('"results": [], "status": "ok", "error": "x"', "error_with_status_ok", "error"),
    ('"results": [], "answer_scores": [1]', "wrong_value", "answer_scores"),
    ('"results": [], "answer_scores": {"f": NaN}', "wrong_value", "answer_scores.f"),
    ('"results": [], "answer_scores": {"f": true}', "wrong_value", "answer_scores.f"),
    ('"results": [], "answer_scores": {"f": 1, "f": 2}', "repeated_field", "answer_scores.f"),
    ('"results": [], "documents": []', "unknown_field", "documents"),
    ('"results": {}', "wrong_value", "results"),
    ('"results": "a"', "wrong_value", "results"),
    ('"latency_ms": 1', "missing_field", "results"),
    ('"results": ["a", {"doc_id": "b", "doc_id": "c"}]', "repeated_field", "results[1]"),
    ('"results": [{"doc_id": "b", "score": 1, "score": 2}]', "repeated_field", "results[0]"),
    ('"results": [], "stages": {"final": []}', "results_and_stages", "results"),
    ('"stages": []', "wrong_value", "stages"),
    ('"stages": {"dense": []}', "missing_stage", "stages"),
    ('"stages": {"final": null}', "missing_stage", "stages"),
    ('"stages": {"final": {}}', "wrong_value", "stages.final"),
    ('"stages": {"final": [], "": []}', "wrong_value", "stages."),
    ('"stages": {"final": ["a"], "final": ["b"]}', "repeated_field", "stages.final"),
    ('"results": ["a", null]', "wrong_value", "results[1]"),
    ('"results": [true]', "wrong_value", "results[0]"),
    ('"results": [["a", 1.0]]', "wrong_value", "results[0]"),
    ('"results": [""]', "wrong_value", "results[0]"),
    ('"results": [{"id": "a"}]', "wrong_value", "results[0]"),
    ('"results": [{"doc_id": 1.5}]', "wrong_value", "results[0]"),
    ('"results": ["b", {"doc_id": "a", "score": NaN}]', "non_finite_score", "results[1].score"),
    ('"results": [{"doc_id": "a", "score": -Infinity}]', "non_finite_score", "results[0].score"),
    ('"results": [{"doc_id": "a", "score": 1e999}]', "non_finite_score", "results[0].score"),
    ('"results": [{"doc_id": "a", "score": "0.5"}]', "non_numeric_score", "results[0].score"),
    ('"stages": {"final": [{"doc_id": "a", "score": []}]}', "non_numeric_score", "stages.final[0].score"),
]


@pytest.mark.parametrize("first", range(0, len(FAULTY_LINES), 10))
def test_faults_of_a_line_of_a_run(room: Room, first: int) -> None:
    some = FAULTY_LINES[first : first + 10]
    queries = ({"query_id": f"q{n}", "text": "t"} for n in range(1, len(some) + 1))
    room.write("queries.jsonl", jsonl(*queries))
    lines = (f'{{"query_id": "q{n}", {fields}}}' for n, (fields, _, _) in enumerate(some, start=1))
    assert room.run(*lines) is None
    assert [(fault.line, fault.kind, fault.field) for fault in room.report.faults] == [
        (n, kind, field) for n, (_, kind, field) in enumerate(some, start=1)
    ]
    for table in RUN_TABLES:
        assert room.rows(f"select count(*) from {table}") == [(0,)]


def test_all_faults_of_a_run_in_the_order_of_its_lines(room: Room) -> None:
    lines = (
        {"query_id": "q1", "results": ["a", "b", "a", "a"]},
        "oops",
        {"query_id": "unheard_of", "results": [{"doc_id": "a", "score": "high"}]},
        {"query_id": "q1", "results": []},
        {"results": []},
    )
    assert room.run(*lines) is None
    assert room.faults() == [
        ("new.jsonl", 1, "duplicate_document", "results", "a"),
        ("new.jsonl", 2, "not_json", None, "oops"),
        ("new.jsonl", 3, "non_numeric_score", "results[0].score", "high"),
        ("new.jsonl", 3, "unknown_query", "query_id", "unheard_of"),
        ("new.jsonl", 4, "repeated_query", "query_id", "q1"),
        ("new.jsonl", 5, "missing_field", "query_id", None),
    ]
    assert "places 1, 3, 4 of one ranking" in room.report.sentence()


def test_collapse_first_keeps_the_first_place_and_counts(room: Room) -> None:
    run = room.run(
        {"query_id": "q1", "stages": {"dense": ["a", "a"], "final": ["a", "b", "a", "c", "b"]}},
        {"query_id": "q2", "results": ["a", 17, "17"]},
        toml='stages = [{name = "dense", position = 1}, {name = "final", position = 2}]',
        collapse_first=True,
    )
    assert run
    assert run.num_rows == 6
    assert room.doubts() == {"duplicate_document": 4}
    assert room.rows(
        "select query_id, stage, list(doc_id order by key desc) from results group by all order by all"
    ) == [("q1", "dense", ["a"]), ("q1", "final", ["a", "b", "c"]), ("q2", "final", ["a", "17"])]


def test_a_document_may_stand_in_several_stages(room: Room) -> None:
    assert room.run({"query_id": "q1", "stages": {"dense": ["a"], "final": ["a"]}})
    assert "duplicate_document" not in room.doubts()


def test_who_failed_or_abstained_needs_no_results(room: Room) -> None:
    lines: list[dict[str, Any]] = [
        {"status": "timeout", "latency_ms": 30000},
        {"status": "error"},
        {"abstained": True},
        {"status": "timeout", "error": "gave up", "stages": {"dense": ["a"]}},
        {"abstained": True, "stages": {"dense": ["a"]}},
    ]
    named = [{"query_id": f"q{n}"} | line for n, line in enumerate(lines, start=1)]
    room.write("queries.jsonl", jsonl(*({"query_id": line["query_id"]} for line in named)))
    assert room.run(*named), room.report.sentence()


def test_scores_that_disagree_with_the_list_are_counted_and_not_used(room: Room) -> None:
    def scored(*scores: float | None) -> list[dict[str, Any]]:
        return [{"doc_id": f"d{n}", "score": score} for n, score in enumerate(scores)]

    assert room.run(
        {"query_id": "q1", "stages": {"dense": scored(1, 2), "final": scored(3, None, 4)}},
        {"query_id": "q2", "results": scored(2, 2, None, 1)},
        toml='stages = [{name = "dense", position = 1}, {name = "final", position = 2}]',
    )
    assert room.doubts() == {"rank_score_disagree": 1}
    assert room.rows("select doc_id from results where stage = 'dense' order by key desc") == [
        ("d0",),
        ("d1",),
    ]


def test_results_whose_document_was_not_given(room: Room) -> None:
    room.write("documents.jsonl", jsonl({"doc_id": "a"}))
    assert room.run({"query_id": "q1", "results": ["a", "b"]}, {"query_id": "q2", "results": ["b", "c"]})
    assert room.doubts() == {"result_document_missing": 3}


def test_results_in_another_collection_are_not_looked_up_in_this_one(room: Room) -> None:
    room.write("documents.jsonl", jsonl({"doc_id": "a"}))
    run = room.run({"query_id": "q1", "results": ["z"]}, toml='[collection]\nname = "other"\nunit = "page"')
    assert run
    assert run.collection == Collection("other", "1", "page")
    assert room.doubts() == {"other_collection": 1}


# ---- stages


def test_stages_that_are_not_declared_are_taken_as_they_appear(room: Room) -> None:
    run = room.run(
        {"query_id": "q1", "stages": {"lexical": ["a"], "final": ["a"], "fused": ["a"]}},
        {"query_id": "q2", "stages": {"context": ["a"], "final": ["a"]}},
    )
    assert run
    assert run.stages == (Stage("lexical", 1), Stage("fused", 2), Stage("context", 3), Stage("final", 4))
    assert room.doubts() == {"stages_not_declared": 4}


def test_stages_that_are_declared_bind(room: Room) -> None:
    lines = (
        {"query_id": "q1", "stages": {"dense": ["a"], "rerank": ["a"], "final": ["a"]}},
        {"query_id": "q2", "stages": {"rerank": ["a"], "final": ["a"]}},
    )
    toml = 'stages = [{name = "dense", position = 1}, {name = "reranked", position = 2}]'
    assert room.run(*lines, toml=toml) is None
    assert room.faults() == [
        ("new.jsonl", 1, "unknown_stage", "stages.final", "final"),
        ("new.jsonl", 1, "unknown_stage", "stages.rerank", "rerank"),
    ]
    assert "dense, reranked" in room.report.sentence()


def test_two_stages_may_share_a_position(room: Room) -> None:
    run = room.run(
        {"query_id": "q1", "stages": {"dense": ["a"], "lexical": ["b"], "final": ["a"], "context": ["a"]}},
        toml="""
        stages = [
            {name = "dense", position = 1, cut = 100},
            {name = "lexical", position = 1, cut = 100},
            {name = "final", position = 2, cut = 10},
            {name = "context", position = 3},
        ]
        """,
    )
    assert run
    assert [stage.position for stage in run.stages] == [1, 1, 2, 3]
    assert room.doubts() == {}


# ---- the folder's runs


def test_the_files_of_a_folders_runs(room: Room) -> None:
    for name in ("b.jsonl", "a.jsonl.gz", ".hidden.jsonl", "README.md", "c.trec"):
        content = jsonl({"query_id": "q1", "results": ["a"]}).encode()
        room.write(f"runs/{name}", gzip.compress(content) if name.endswith("gz") else content)
    room.write("runs/a.toml", "")
    dataset = room.dataset()
    assert dataset
    assert [path.name for path in run_files(room.path)] == ["a.jsonl.gz", "b.jsonl"]
    runs = [read_run(room.con, room.path, path, dataset, room.report) for path in run_files(room.path)]
    assert [run and (run.run, run.source_file) for run in runs] == [
        ("a", "runs/a.jsonl.gz"),
        ("b", "runs/b.jsonl"),
    ]
    assert room.doubts() == {"file_not_read": 2}
    assert run_files(room.path / "runs") == []


def test_a_run_of_two_files_and_a_toml_without_results(room: Room) -> None:
    for name in ("a.jsonl", "a.run.jsonl", "b.toml"):
        room.write(f"runs/{name}", "")
    assert room.dataset() is None
    assert [(Path(f.file).name, f.kind) for f in room.report.faults] == [
        ("a.jsonl", "repeated_run"),
        ("a.run.jsonl", "repeated_run"),
        ("b.toml", "missing_file"),
    ]


def test_without_a_data_set_a_run_is_checked_and_not_taken(room: Room) -> None:
    room.write("runs/new.jsonl", jsonl({"query_id": "anything", "results": ["a"]}, {"query_id": 1}))
    [file] = run_files(room.path)
    assert read_run(room.con, room.path, file, None, room.report) is None
    assert room.faults() == [("new.jsonl", 2, "missing_field", "results", None)]
    assert room.is_empty()


def test_nothing_is_left_behind_but_the_tables_asked_for(room: Room) -> None:
    assert room.run({"query_id": "q1", "results": ["a"]})
    left = room.rows("select table_name from duckdb_tables() where temporary and table_name like 'native%'")
    assert left == []


# ---- an identity: the order of lines says nothing

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
odd_ids = ["e\u0301", "\u00e9", "'", '"', "🙂🏽", "a" * 5000, "\u2028", "\r", "\0", "null", "17", "</script>"]
ids = words.filter(bool) | st.sampled_from(odd_ids)
results = st.lists(
    st.tuples(ids, st.none() | st.floats(allow_nan=False, allow_infinity=False)),
    max_size=6,
    unique_by=lambda result: result[0],
)


@st.composite
def folders(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    query_ids = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    doc_ids = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    named = st.dictionaries(words, words | st.integers() | st.booleans(), max_size=3)
    groups = st.none() | st.lists(words, max_size=3)

    def ranking() -> list[object]:
        return [doc if score is None else {"doc_id": doc, "score": score} for doc, score in draw(results)]

    pair = st.tuples(st.sampled_from(query_ids), st.sampled_from(doc_ids))
    pairs = draw(st.lists(pair, min_size=1, unique=True))
    run = [{"query_id": query, "stages": {"first": ranking(), "final": ranking()}} for query in query_ids]
    return {
        "queries": [
            {"query_id": query, "text": draw(words), "groups": draw(groups), "about": draw(named)}
            for query in query_ids
        ],
        "labels": [
            {"query_id": query, "doc_id": doc, "grade": draw(st.integers(-30, 30)), "rationale": draw(words)}
            for query, doc in pairs
        ],
        "documents": [{"doc_id": doc, "title": draw(words)} for doc in doc_ids],
        "runs/run": [{**line, "answer": draw(words), "answer_scores": {"s": 0.5}} for line in run],
    }


def tables(
    con: duckdb.DuckDBPyConnection, path: Path, content: dict[str, list[dict[str, Any]]]
) -> dict[str, list[tuple[Any, ...]]]:
    (path / "runs").mkdir(exist_ok=True)
    (path / "dataset.toml").write_text('name = "random"')
    for name, lines in content.items():
        (path / f"{name}.jsonl").write_bytes(jsonl(*lines).encode())
    report = Report()
    empty(con)
    dataset = read_dataset(con, path, report)
    assert dataset, report.sentence()
    assert read_run(con, path, path / "runs" / "run.jsonl", dataset, report), report.sentence()
    return {table: con.execute(f"select * from {table} order by all").fetchall() for table in TABLES}


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(content=folders(), random=st.randoms(use_true_random=False))
def test_the_order_of_lines_says_nothing(
    workspace: duckdb.DuckDBPyConnection, tmp_path: Path, content: dict[str, Any], random: Any
) -> None:
    first = tables(workspace, tmp_path, content)
    shuffled = {name: random.sample(lines, len(lines)) for name, lines in content.items()}
    assert tables(workspace, tmp_path, shuffled) == first
    written = {
        (stage, line["query_id"], result["doc_id"] if isinstance(result, dict) else result, -float(place))
        for line in content["runs/run"]
        for stage, ranking in line["stages"].items()
        for place, result in enumerate(ranking, start=1)
    }
    assert {row[1:5] for row in first["results"]} == written
    assert {row[1:4] for row in first["labels"]} == {
        (label["query_id"], label["doc_id"], label["grade"]) for label in content["labels"]
    }
