"""Labels that may be at fault, and disputes: from the list to the label, and what is written of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import worlds
from rankroom.annotations import Note, annotate
from rankroom.store import Store
from test_runs_page import texts


def suspects(at: Any) -> list[tuple[str, str, int]]:
    frame = at.dataframe[0].value
    return list(zip(frame["query_id"], frame["doc_id"], frame["num_verdicts"], strict=True))


def test_the_suspects_are_those_of_the_view(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "labels")
    assert not at.exception
    rows = ask(
        three,
        "select query_id, doc_id, num_verdicts from label_suspects join queries using (query_id)"
        " where split = 'dev' order by num_verdicts desc, num_runs desc, kind, query_id, doc_id",
    )
    assert suspects(at) == rows
    assert f"{len(rows)} labels may be at fault" in at.markdown[0].value
    assert "counted at k = 5" in texts(at)
    assert "No label is disputed." in texts(at)
    assert ask(three, at.code[0].value)[0][1] == rows[0][0]


def test_one_kind_under_filters(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "labels", suspect_kind=["not in the collection"], category=["factual"])
    assert [query for query, _, _ in suspects(at)] == ["never"]


def test_no_suspects(look: Any, three: Store) -> None:
    at = look(three, "labels", category=["how_to"], language=["en"], must_pass="true")
    assert "No label is suspect under these filters." in at.markdown[0].value
    assert not at.dataframe


def test_a_suspect_opens_with_its_label_to_dispute(open_page: Any, three: Store, clicked: Any) -> None:
    at = open_page(three, "labels")
    query, document, _ = suspects(at)[0]
    at = clicked(at, "open_suspect", row=0)
    assert at.title[0].value == "Query"
    assert (at.query_params["query"], at.query_params["dispute"]) == (query, document)
    assert at.selectbox(key="dispute").value == document


@pytest.fixture
def disputed(single: Store, tmp_path: Path) -> Store:
    store = Store(shutil.copy(single.path, tmp_path / "store.duckdb"))
    annotate(
        store, Note("below", "Noor", dataset="handbook", doc_id="d7", no_label=True, text=worlds.EVIL_TEXT)
    )
    return store


def test_disputed_labels_are_listed(open_page: Any, disputed: Store, clicked: Any) -> None:
    at = open_page(disputed, "labels")
    frame = at.dataframe[-1].value
    assert frame[["query_id", "doc_id", "grade", "should be", "settled"]].values.tolist() == [
        ["below", "d7", "1", "no label", "open"]
    ]
    at = clicked(at, "open_dispute", row=0)
    assert at.query_params["query"] == "below"
    assert "disputed: it should have no label" in texts(at)


def test_a_label_is_disputed(open_page: Any, ask: Any, fresh: Store) -> None:
    at = open_page(fresh, "query", run="first", query="partial", dispute="d9")
    assert at.segmented_control(key="dispute_grade").value == "0"
    (effect,) = (frame.value for frame in at.dataframe if "verdict" in frame.value)
    assert effect[["run", "verdict", "recall"]].values.tolist() == [
        ["first", "fails → does not fail", "0.500 → 1.000"]
    ]
    assert "With grade 0 the verdict on this query changes in 1 of 1 run" in texts(at)
    at.segmented_control(key="dispute_grade").set_value("no label").run()
    assert "Without this label the verdict" in texts(at)
    at.segmented_control(key="dispute_grade").set_value("0").run()
    at.text_input(key="dispute_why").set_value("about something else")
    at.text_input(key="dispute_who").set_value("Noor")
    at.button(key="FormSubmitter:dispute_form-Dispute this label").click().run()
    assert not at.error
    assert ask(fresh, "select query_id, doc_id, dispute, disputed_grade, note, who from label_disputes") == [
        ("partial", "d9", "regrade", 0, "about something else", "Noor")
    ]
    assert "disputed: its grade should be 0" in texts(at)
