"""Labels that may be at fault: a suspect of each kind, in the order of the verdicts that hang on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from rankroom import suspects
from rankroom.add import Options
from rankroom.remove import remove_runs
from rankroom.rescore import rescore
from rankroom.resources import sql
from rankroom.store import Store
from small_stores import add_native, add_small, ask, asked, kept_open

WORDS = "to share a notebook open its menu choose share and type the address of your guest"
DOCUMENTS = [
    {"doc_id": "share", "text": WORDS},
    {"doc_id": "share_again", "text": f"  {WORDS.upper()}! "},
    {"doc_id": "share_nearly", "text": f"{WORDS} quickly"},
    {"doc_id": "other", "text": "something else"},
    {"doc_id": "echo", "title": "Title", "text": "How do I pay?"},
    {"doc_id": "secret", "text": "for the staff", "groups": ["staff"]},
    {"doc_id": "a", "text": "a"},
]
QUERIES = [
    {"query_id": "top", "text": "t"},
    {"query_id": "wrong", "text": "w"},
    {"query_id": "twin", "text": "t"},
    {"query_id": "pay", "text": "How, then, do I pay?"},
    {"query_id": "never", "text": "n"},
    {"query_id": "absent", "text": "a"},
    {"query_id": "ghost", "text": "g"},
    {"query_id": "private", "text": "p", "groups": ["guests"]},
    {"query_id": "good", "text": "g"},
]
LABELS = [
    {"query_id": "top", "doc_id": "a", "grade": 1},
    {"query_id": "wrong", "doc_id": "a", "grade": 1},
    {"query_id": "wrong", "doc_id": "other", "grade": 0},
    {"query_id": "twin", "doc_id": "share", "grade": 1},
    {"query_id": "pay", "doc_id": "echo", "grade": 1},
    {"query_id": "never", "doc_id": "a", "grade": 1},
    {"query_id": "never", "doc_id": "echo", "grade": 1},
    {"query_id": "absent", "doc_id": "gone", "grade": 1},
    {"query_id": "ghost", "doc_id": "vanished", "grade": 1},
    {"query_id": "private", "doc_id": "a", "grade": 1},
    {"query_id": "good", "doc_id": "a", "grade": 1},
]
FIRST = {
    "top": ["other", "a"],
    "wrong": ["other", "a"],
    "twin": ["share_nearly", "share_again"],
    "pay": ["echo"],
    "never": ["echo"],
    "absent": ["other"],
    "ghost": ["vanished"],
    "private": ["secret"],
    "good": ["a", "other"],
}
SECOND = FIRST | {
    "top": ["other"],
    "wrong": ["other"],
    "twin": ["share_again", "share"],
    "pay": ["other"],
    "ghost": ["secret"],
}
SUSPECTS = "select kind, query_id, doc_id, other_doc_id, num_runs, num_verdicts from label_suspects"


def lines(rankings: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [{"query_id": query, "results": ranking} for query, ranking in rankings.items()]


def parts(**runs: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "queries": QUERIES,
        "labels": LABELS,
        "documents": DOCUMENTS,
        "runs": {name: lines(run) for name, run in runs.items()},
    }


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("suspects")
    store = Store(folder / "s.duckdb")
    missing = SECOND | {"top": ["other"]}
    add_native(store, folder / "one", **parts(first=FIRST | {"top": ["other"]}))
    add_native(store, folder / "two", **parts(second=missing))
    with kept_open(store) as opened:
        yield opened


EXPECTED = {
    # both runs miss `top` and `absent`, and put the unlabelled document first
    ("unjudged_on_top", "top", "other", None, 2, 2),
    ("unjudged_on_top", "absent", "other", None, 2, 2),
    # the first run hits `wrong` below it, the second does not
    ("irrelevant_on_top", "wrong", "other", None, 2, 1),
    # without that label `never` would be complete in both runs
    ("in_no_run", "never", "a", None, 2, 2),
    ("in_no_run", "top", "a", None, 2, 2),
    ("in_no_run", "private", "a", None, 2, 2),
    ("not_in_collection", "absent", "gone", None, 2, 2),
    # the first run did return this one, first of all
    ("not_in_collection", "ghost", "vanished", None, 2, 1),
    # the first run has both twins and not the labelled one; the second has that too
    ("near_identical", "twin", "share_again", "share", 1, 1),
    ("near_identical", "twin", "share_nearly", "share", 1, 1),
    # the hit of the first run is this document alone, and the second fails for want of it
    ("repeats_question", "pay", "echo", None, 1, 2),
}


def test_a_suspect_of_each_kind_and_what_hangs_on_it(room: Store) -> None:
    assert set(ask(room, SUSPECTS)) == EXPECTED
    facts = dict(
        ask(
            room,
            "select kind, fact from label_suspects where kind in ('unjudged_on_top', 'near_identical')"
            " and doc_id in ('other', 'share_again') and query_id in ('top', 'twin')",
        )
    )
    assert facts == {
        "unjudged_on_top": "without a label, and the first result of 2 of 2 runs, which miss the query",
        "near_identical": "the same words as share, which is labelled as relevant; this one is not",
    }


def test_rescoring_and_adding_in_one_go_find_the_same(room: Store, tmp_path: Path) -> None:
    together = Store(tmp_path / "s.duckdb")
    add_native(together, tmp_path / "f", **parts(first=FIRST | {"top": ["other"]}, second=SECOND))
    assert set(ask(together, SUSPECTS)) == EXPECTED
    before = ask(together, "from run_suspects order by all")
    rescore(together)
    assert ask(together, "from run_suspects order by all") == before
    remove_runs(together, ["second"])
    assert ask(together, "select distinct run from run_suspects") == [("first",)]
    # of one run, its first results are what there is to go by
    assert ("unjudged_on_top", "top", "other", None, 1, 1) in ask(together, SUSPECTS)
    assert "irrelevant_on_top" not in {row[0] for row in ask(together, SUSPECTS)}


def test_later_labels_of_the_same_collection_have_their_own(room: Store, tmp_path: Path) -> None:
    """The documents are the store's: what their texts say is read from there."""
    store = Store(tmp_path / "s.duckdb")
    store.path.write_bytes(room.path.read_bytes())
    later = parts(third=FIRST) | {
        "documents": [],
        "labels": [{"query_id": "pay", "doc_id": "echo", "grade": 1}],
    }
    add_native(store, tmp_path / "f", **later, dataset='name = "native"\n[labels]\nrevision = "2"\n')
    assert ask(store, SUSPECTS) == [("repeats_question", "pay", "echo", None, 1, 1)]
    assert len(ask(store, "select distinct label_set from label_suspects_all")) == 2


def test_runs_of_trec_files_have_suspects_too(store: Store, tmp_path: Path) -> None:
    labels = {"q": {"a": 1}}
    add_small(store, tmp_path, labels, {name: {"q": ["x"]} for name in "ab"}, options=Options())
    assert asked(store, "select kind, num_verdicts from label_suspects where doc_id = 'x'") == [
        {"kind": "unjudged_on_top", "num_verdicts": 2}
    ]


def pairs(texts: list[str], near_up_to: int = suspects.NEAR_UP_TO) -> dict[tuple[str, str], float]:
    """What is near among these texts, which are documents d0, d1, ..."""
    with duckdb.connect() as con:
        con.execute(
            "create table documents (collection varchar, doc_id varchar, title varchar, text varchar);"
            "create table near_documents"
            " (collection varchar, doc_id varchar, other_doc_id varchar, similarity double);"
            f"set variable collection = 'c'; set variable near_up_to = {near_up_to}"
        )
        con.executemany(
            "insert into documents values ('c', ?, null, ?)", [(f"d{i}", t) for i, t in enumerate(texts)]
        )
        con.execute(sql("suspects/near_documents.sql"))
        rows = con.execute("select doc_id, other_doc_id, similarity from near_documents").fetchall()
    found = {(a, b): similarity for a, b, similarity in rows}
    assert all(found[b, a] == similarity for (a, b), similarity in found.items())
    return {(a, b): similarity for (a, b), similarity in found.items() if a < b}


def test_near_means_nine_words_of_ten() -> None:
    twenty = [f"w{i}" for i in range(20)]
    near = pairs([" ".join(twenty), " ".join(twenty[:-1]), " ".join(twenty[:-2]), " ".join(twenty[:-3])])
    assert near == {
        ("d0", "d1"): 0.95,
        ("d0", "d2"): 0.9,
        ("d1", "d2"): 18 / 19,
        ("d2", "d3"): 17 / 18,
    }


def test_equal_is_but_for_case_spaces_and_punctuation_in_any_script() -> None:
    texts = ["Un café", "un  cafe\u0301!", "如何共享？", "如何共享", "other", "", "  "]
    assert pairs(texts) == {("d0", "d1"): 1.0, ("d2", "d3"): 1.0}
    long = " ".join(f"w{i}" for i in range(30))
    assert pairs([long, f"{long} more", f"{long}."], near_up_to=2) == {("d0", "d2"): 1.0}
