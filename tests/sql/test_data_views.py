"""What there is to score with, where labels fall short, and what changed between two label sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankroom.add import Options
from rankroom.rescore import rescore
from rankroom.store import Store
from rankroom.workspace import open_workspace
from small_stores import add_native, add_small, ask, asked, kept_open

QUERIES = [
    {"query_id": "q1", "text": "One", "category": "a", "split": "dev", "must_pass": True},
    {"query_id": "q2", "text": "Two", "category": "b", "split": "dev", "groups": []},
    {"query_id": "q3", "language": "en"},
    {"query_id": "q4"},
]
LABELS = [
    {"query_id": "q1", "doc_id": "a", "grade": 2, "rationale": "Says it.", "reviewer": "Noor"},
    {"query_id": "q1", "doc_id": "b", "grade": 1, "reviewer": "Ines", "reviewed": "2026-03-01"},
    {"query_id": "q1", "doc_id": "lost", "grade": 2},
    {"query_id": "q2", "doc_id": "secret", "grade": 2},
    {"query_id": "q3", "no_answer": True},
]
DOCUMENTS = [
    {"doc_id": "a", "text": "A"},
    {"doc_id": "b"},
    {"doc_id": "secret", "text": "S", "groups": ["admin"]},
]
RUN = [
    {"query_id": "q1", "stages": {"candidates": ["b", "x"], "final": ["x", "y"]}},
    {"query_id": "q3", "stages": {"final": ["x"]}},
    {"query_id": "q4", "stages": {"final": ["x"]}},
]
ABOUT = (
    'stages = [{name = "candidates", position = 1}, {name = "final", position = 2}]\n'
    "created = 2026-03-01T10:00:00Z\n"
)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("native")
    store = Store(folder / "s.duckdb")
    add_native(
        store,
        folder / "set",
        queries=QUERIES,
        labels=LABELS,
        documents=DOCUMENTS,
        runs={"two_stages": RUN},
        about={"two_stages": ABOUT},
        dataset='name = "native"\n[labels]\nrelevant_from = 2\nreviewer = "all"\n',
    )
    with kept_open(store) as opened:
        yield opened


def test_label_sets(native: Store) -> None:
    (row,) = asked(native, "from label_set_summary")
    added_at = row.pop("added_at")
    last_reviewed = row.pop("last_reviewed")
    assert added_at is not None
    assert str(last_reviewed) == "2026-03-01"
    assert row == {
        "label_set": "native@1",
        "name": "native",
        "revision": "1",
        "query_set": "native@1",
        "collection": "native@1",
        "is_current": True,
        "relevant_from": 2,
        "reviewer": "all",
        "reviewers": ["Ines", "Noor"],
        "num_labels": 4,
        "relevant_labels": 3,
        "with_rationale": 1,
        "labelled_queries": 3,
        "no_answer_lines": 1,
        "unlabelled": 1,
        "scored_runs": 1,
        "waiting_runs": 0,
    }
    assert ask(
        native, "select grade, relevant, num_labels, num_queries from grade_counts order by grade"
    ) == [
        (1, False, 1, 1),
        (2, True, 3, 2),
    ]


def test_query_sets_and_collections(native: Store) -> None:
    assert ask(
        native,
        "select query_set, is_current, num_queries, with_text, must_pass, with_groups, splits, categories,"
        " languages from query_set_summary",
    ) == [("native@1", True, 4, 2, 1, 1, 1, 2, 1)]
    assert ask(
        native,
        "select collection, is_current, num_documents, with_text, restricted, num_runs"
        " from collection_summary",
    ) == [("native@1", True, 3, 2, 1, 1)]


def test_where_labels_and_runs_miss_each_other(native: Store) -> None:
    never = (
        "select query_id, doc_id, grade, relevant, num_runs, num_cut from labels_never_returned order by all"
    )
    assert ask(native, never) == [
        ("q1", "a", 2, True, 1, 0),  # but b came back, if only among the candidates
        ("q1", "lost", 2, True, 1, 0),
        ("q2", "secret", 2, False, 1, 0),  # its user may not read it
    ]
    assert ask(native, "select query_id, in_query_set, num_runs from queries_without_labels") == [
        ("q4", True, 1)
    ]
    assert ask(native, "select query_id, doc_id, collection from labels_without_document") == [
        ("q1", "lost", "native@1")
    ]


def test_queries_that_only_runs_have_and_runs_that_wait(store: Store, tmp_path: Path) -> None:
    labels = {"q1": {"a": 1}}
    add_small(store, tmp_path, labels, {"r1": {"q1": ["a"], "extra": ["b"]}, "r2": {"q1": ["b"]}})
    assert ask(store, "select query_id, in_query_set, num_runs from queries_without_labels") == [
        ("extra", False, 1)
    ]
    add_small(store, tmp_path, {"q1": {"a": 1, "c": 2}}, {}, revision="2")
    rows = ask(
        store,
        "select label_set, is_current, scored_runs, waiting_runs from label_set_summary order by label_set",
    )
    assert rows == [("small@1", False, 2, 0), ("small@2", True, 0, 2)]
    assert ask(store, "select label_set from labels_never_returned") == []  # neither set has such labels
    rescore(store)
    assert ask(store, "select label_set, doc_id, num_runs from labels_never_returned") == [
        ("small@2", "c", 2)
    ]


def test_what_was_never_returned_is_not_claimed_of_what_was_cut(store: Store, tmp_path: Path) -> None:
    ranking = [f"d{i:03}" for i in range(150)]
    labels = {"q1": {"d000": 1, "d140": 1}}
    add_small(store, tmp_path, labels, {"r": {"q1": ranking}}, options=Options(keep=100))
    assert ask(store, "from labels_never_returned") == []  # rank 141 was seen in the whole file
    add_small(store, tmp_path, {"q1": {"d000": 1, "d141": 1, "z": 1}}, {}, revision="2")
    rescore(store)
    rows = ask(store, "select label_set, doc_id, num_runs, num_cut from labels_never_returned order by all")
    assert rows == [("small@2", "d141", 1, 1), ("small@2", "z", 1, 1)]


# Two label sets


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(open_workspace(views=True)) as opened:
        opened.execute("insert into query_sets values ('a@1', 'a', '1', 0, '', now())")
        opened.execute("insert into query_sets values ('b@1', 'b', '1', 0, '', now())")
        for name, of, lowest in (("a@1", "a@1", 1), ("a@2", "a@1", 2), ("b@1", "b@1", 1)):
            opened.execute(
                "insert into label_sets values ($1, 'a', '1', $2, 'c@1', $3, null, 0, '', now())",
                [name, of, lowest],
            )
        yield opened


Label = tuple[str, str | None, int | None, str | None]


def put(con: duckdb.DuckDBPyConnection, label_set: str, labels: list[Label]) -> None:
    con.execute("delete from labels where label_set = $1", [label_set])
    if labels:
        con.executemany(
            "insert into labels (label_set, query_id, doc_id, grade, rationale, no_answer)"
            " values ($1, $2, $3, $4, $5, $3 is null)",
            [(label_set, *label) for label in labels],
        )


def test_every_kind_of_change(con: duckdb.DuckDBPyConnection) -> None:
    put(
        con,
        "a@1",
        [
            ("q1", "same", 1, "why"),
            ("q1", "up", 1, "partly"),
            ("q1", "out", 3, "gone"),
            ("q1", "reworded", 1, "a"),
            ("q2", None, None, None),
        ],
    )
    put(
        con,
        "a@2",
        [
            ("q1", "same", 1, "why"),
            ("q1", "up", 2, "wholly"),
            ("q1", "in", 0, None),
            ("q1", "reworded", 1, "b"),
            ("q3", None, None, "searched"),
        ],
    )
    assert con.execute(
        "select query_id, doc_id, change, old_grade, new_grade, was_relevant, is_relevant, rationale,"
        " old_rationale from label_changes('a@1', 'a@2') order by query_id, doc_id"
    ).fetchall() == [
        ("q1", "in", "added", None, 0, None, False, None, None),
        ("q1", "out", "removed", 3, None, True, None, "gone", "gone"),
        ("q1", "reworded", "details", 1, 1, True, False, "b", "a"),
        ("q1", "up", "regraded", 1, 2, True, True, "wholly", "partly"),
        ("q2", None, "removed", None, None, None, None, None, None),
        ("q3", None, "added", None, None, None, None, "searched", None),
    ]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("label_changes('a@1', 'nope@1')", "there is no label set named nope@1"),
        ("label_changes('nope@1', 'a@1')", "there is no label set named nope@1"),
        ("label_changes('a@1', null)", "there is no label set named NULL"),
        ("label_changes('a@1', 'b@1')", "different query sets"),
    ],
)
def test_asked_for_what_is_not_there(con: duckdb.DuckDBPyConnection, call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error, match=sentence):
        con.execute(f"from {call}").fetchall()


@st.composite
def label_lists(draw: st.DrawFn) -> list[Label]:
    documents = st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from(["a", "b", "c", None]))
    chosen = draw(st.lists(documents, unique=True, max_size=6))
    return [
        (
            query,
            doc,
            None if doc is None else draw(st.integers(-1, 3)),
            draw(st.none() | st.sampled_from(["x", "y"])),
        )
        for query, doc in chosen
    ]


@settings(deadline=None, max_examples=12)
@given(old=label_lists(), new=label_lists())
def test_the_changes_lead_from_the_old_labels_to_the_new_ones(
    con: duckdb.DuckDBPyConnection, old: list[Label], new: list[Label]
) -> None:
    put(con, "a@1", old)
    put(con, "a@2", new)
    state = {(query, doc): (grade, why) for query, doc, grade, why in old}
    changes = con.execute(
        "select query_id, doc_id, change, old_grade, new_grade, old_rationale"
        " from label_changes('a@1', 'a@2')"
    ).fetchall()
    target = {(query, doc): (grade, why) for query, doc, grade, why in new}
    for query, doc, change, old_grade, new_grade, old_rationale in changes:
        if change == "added":
            assert (query, doc) not in state
        else:
            assert state.pop((query, doc)) == (old_grade, old_rationale)
        if change != "removed":
            assert target[query, doc][0] == new_grade
            state[query, doc] = target[query, doc]
        assert (change == "regraded") == (change not in ("added", "removed") and old_grade != new_grade)
    assert state == target
    back = con.execute(
        "select query_id, doc_id, new_grade, old_grade from label_changes('a@2', 'a@1')"
    ).fetchall()
    assert set(back) == {(query, doc, was, now) for query, doc, _, was, now, _ in changes}


def test_nothing_changed(con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("from label_changes('a@1', 'a@1')").fetchall() == []
