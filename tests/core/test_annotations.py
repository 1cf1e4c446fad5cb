"""Notes on queries: only ever added, read as what holds now, and never in the way of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cli_run import Ended, run
from rankroom.annotations import Note, annotate
from rankroom.errors import UsageError
from rankroom.note_child import write_note
from rankroom.remove import remove_runs
from rankroom.rescore import rescore
from rankroom.store import Store
from small_stores import add_small, ask, asked

LABELS = {"q": {"a": 1}, "good": {"a": 1}, "-x": {"a": 1}}
RUNS = {"first": {"q": ["x"], "good": ["a"], "-x": ["y"]}}
NOTES = "select state, cause, note, owner, who, num_changes from notes where query_id = $q"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store's file, made once."""
    folder = tmp_path_factory.mktemp("made")
    add_small(Store(folder / "s.duckdb"), folder, LABELS, RUNS)
    return folder / "s.duckdb"


@pytest.fixture
def room(made: Path, tmp_path: Path) -> Store:
    """A copy of it."""
    return copy_of(made, tmp_path)


def copy_of(made: Path, folder: Path) -> Store:
    path = folder / "s.duckdb"
    path.write_bytes(made.read_bytes())
    return Store(path)


def noted(room: Store, run: str) -> dict[str, Any]:
    """What is noted about the queries of a run, by query."""
    return {row["query_id"]: row for row in asked(room, "from noted_queries($run, 5)", run=run)}


def test_what_is_not_said_stays_and_every_change_is_kept(room: Store) -> None:
    annotate(room, Note("q", "noor", state="in_work", cause="stale index", owner="ines"))
    annotate(room, Note("q", "mateo", text="the index is of May"))
    annotate(room, Note("q", "noor", state="explained", owner=""))
    assert ask(room, NOTES, q="q") == [("explained", "stale index", "the index is of May", None, "noor", 3)]
    history = ask(room, "select who, state, cause, note, owner from note_history order by annotated_at")
    assert history == [
        ("noor", "in_work", "stale index", None, "ines"),
        ("mateo", None, None, "the index is of May", None),
        ("noor", "explained", None, None, ""),
    ]


def test_a_query_a_run_of_it_and_a_label_of_it_have_notes_of_their_own(room: Store) -> None:
    annotate(room, Note("q", "noor", text="of the query"))
    annotate(room, Note("q", "noor", run="first", text="of the run"))
    annotate(room, Note("q", "noor", doc_id="x", grade=1))
    annotate(room, Note("q", "noor", doc_id="a", no_label=True, cause="moved"))
    annotate(room, Note("q", "mateo", doc_id="x", state="explained"))
    assert ask(room, "select note, run, doc_id, state from notes order by note, doc_id") == [
        ("of the query", None, None, "open"),
        ("of the run", "first", None, "open"),
        (None, None, "a", "open"),
        (None, None, "x", "explained"),
    ]
    disputes = "select doc_id, grade, dispute, disputed_grade, settled, cause, who from label_disputes"
    assert ask(room, f"{disputes} order by doc_id") == [
        ("a", 1, "no_label", None, False, "moved", "noor"),
        ("x", None, "regrade", 1, False, None, "mateo"),
    ]
    assert noted(room, "first")["q"]["note"] == "of the run"


def test_next_weeks_run_says_what_still_fails_and_what_was_fixed_since(room: Store, tmp_path: Path) -> None:
    annotate(room, Note("q", "noor", state="explained", cause="no synonym"))
    annotate(room, Note("-x", "noor", state="fixed"))
    annotate(room, Note("good", "noor", text="fine"))
    assert {q: row["standing"] for q, row in noted(room, "first").items()} == {
        "q": "failing",
        "-x": "failing",
        "good": "not_failing",
    }
    fails, finds = RUNS["first"], {query: ["a"] for query in LABELS}
    add_small(room, tmp_path, LABELS, {"second": fails, "third": finds})
    second, third = noted(room, "second"), noted(room, "third")
    assert second["q"]["standing"] == "still_failing"
    assert (second["q"]["class"], second["q"]["cause"]) == ("never_retrieved", "no synonym")
    assert second["-x"]["standing"] == "failing_again"
    assert second["good"]["standing"] == third["good"]["standing"] == "not_failing"
    assert third["q"]["standing"] == third["-x"]["standing"] == "fixed_since"
    assert third["q"]["class"] is None


def test_notes_outlive_rescoring_newer_labels_and_the_run(room: Store, tmp_path: Path) -> None:
    annotate(room, Note("q", "noor", run="first", text="kept"))
    rescore(room, cutoffs=[7])
    add_small(room, tmp_path, {"q": {"x": 1}}, {"other": {"q": ["x"]}}, revision="2")
    assert noted(room, "other")["q"]["about_run"] == "first"
    remove_runs(room, ["first"])
    assert ask(room, "select query_set_name, run, note from notes") == [("small", "first", "kept")]


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        (Note("gone", "noor", text="t"), "there is no query gone in"),
        (Note("q", "noor", run="gone", text="t"), "there is no run named gone in"),
        (Note("q", "noor", doc_id="gone", grade=1), "there is no document gone in"),
        (Note("q", "noor", dataset="gone", text="t"), "there is no query q in gone"),
        (Note("q", "noor", run="first", dataset="other", text="t"), "is about small, and not about other"),
        (Note("q", "noor", state="done"), "state done is none of open, in_work"),
        (Note("q", "noor"), "the note says nothing"),
        (Note("q", " ", text="t"), "a note needs a name"),
        (Note("q", "noor", grade=1), "is about a document: name it"),
        (Note("q", "noor", doc_id="a", grade=1, no_label=True), "and not both"),
        (Note("q", "noor", doc_id="a", grade=31), "a grade is from -30 to 30"),
        (Note("q", "noor", text="t" * 10_001), "the text may have 10,000 characters, and has 10,001"),
        (Note("q", "noor", text="a\0b"), "the text has a NUL character in it"),
        (Note("q", "noor", text="\ud800"), "the text is not valid Unicode"),
    ],
)
def test_what_the_store_does_not_know_is_refused_in_one_sentence(
    room: Store, note: Note, sentence: str
) -> None:
    with pytest.raises(UsageError, match=r"^[^\n]*$") as refused:
        annotate(room, note)
    assert sentence in str(refused.value)
    assert ask(room, "select count(*) from annotations") == [(0,)]


@pytest.fixture(scope="module")
def of_two(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, and a second data set: a query of the first one, one with an endless name, and a run."""
    folder = tmp_path_factory.mktemp("of_two")
    path = folder / "s.duckdb"
    path.write_bytes(made.read_bytes())
    labels = {"q": {"a": 1}, ENDLESS: {ENDLESS: 1}}
    theirs = {"q": ["a"], ENDLESS: [ENDLESS], "extra": ["x"]}
    add_small(Store(path), folder, labels, {"theirs": theirs}, dataset="other")
    return path


ENDLESS = "e" * 5_000


def test_names_that_the_store_has_may_be_as_long_as_they_are(of_two: Path, tmp_path: Path) -> None:
    room = copy_of(of_two, tmp_path)
    annotate(room, Note(ENDLESS, "noor", run="theirs", doc_id=ENDLESS, grade=0))
    assert ask(room, "select query_id, doc_id from notes") == [(ENDLESS, ENDLESS)]
    with pytest.raises(UsageError, match=r"^there is no query .{1,200}$"):
        annotate(room, Note("g" * 5_000, "noor", text="t"))


def test_a_query_that_only_a_run_has_can_be_noted_too(of_two: Path, tmp_path: Path) -> None:
    room = copy_of(of_two, tmp_path)
    annotate(room, Note("extra", "noor", run="theirs", text="t"))
    annotate(room, Note("extra", "noor", state="in_work"))
    assert ask(room, "select query_set_name, run, state from notes order by all") == [
        ("other", "theirs", "open"),
        ("other", None, "in_work"),
    ]


def test_a_query_that_two_data_sets_have_wants_its_data_set_named(of_two: Path, tmp_path: Path) -> None:
    room = copy_of(of_two, tmp_path)
    with pytest.raises(UsageError, match="query q in other, small: name one with --dataset"):
        annotate(room, Note("q", "noor", text="t"))
    annotate(room, Note("q", "noor", text="of the run's", run="theirs"))
    annotate(room, Note("q", "noor", text="of the named", dataset="small"))
    assert ask(room, "select query_set_name, note from notes order by all") == [
        ("other", "of the run's"),
        ("small", "of the named"),
    ]


def test_the_dashboards_note_goes_through_a_child_and_any_text_arrives(room: Store) -> None:
    text = "--state=fixed\n<b>عربى</b> e\u0301 =1+1 \x1b[31m"
    assert write_note(room.path, Note("-x", "Ines <i>", text=text, doc_id="y", grade=-1)).problem == ""
    assert ask(room, "select who, query_id, note, doc_id, disputed_grade from notes") == [
        ("Ines <i>", "-x", text, "y", -1)
    ]
    outcome = write_note(room.path, Note("gone", "Ines", text="t"))
    assert not outcome.written
    assert outcome.problem == f"there is no query gone in {room.path}"
    assert (
        write_note(room.path, Note("q", "Ines", text="a\0b")).problem == "the note has a NUL character in it"
    )


def test_two_notes_and_a_run_being_added_at_once_all_go_in(room: Store) -> None:
    """A writer holds the store: the notes wait for it, and both are kept."""
    held, outcomes = threading.Event(), []

    def hold() -> None:
        with closing(duckdb.connect()) as con, room.write(con) as inside:
            inside.execute("insert into store.main.run_config values ('first', 'a', '1')")
            held.set()
            time.sleep(1)

    def send(text: str) -> Callable[[], None]:
        return lambda: outcomes.append(write_note(room.path, Note("q", "noor", text=text)))

    writers = [threading.Thread(target=send(text)) for text in ("one", "two")]
    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    for thread in writers:
        thread.start()
    for thread in (holder, *writers):
        thread.join()
    assert [outcome.problem for outcome in outcomes] == ["", ""]
    assert ask(room, "select list(note order by note), count(distinct annotated_at) from note_history") == [
        (["one", "two"], 2)
    ]
    assert ask(room, "select count(*) from run_config") == [(1,)]


def test_the_command(
    room: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    note = partial(run, monkeypatch, capsys, "note", "--store", room.path)
    done = note("q", "--state", "explained", "--who", "noor", "--json", "--dispute", "x", "--grade", 2)
    assert done.code == 0, done
    assert done.json["query_set"] == "small@1"
    assert ask(room, "select state, disputed_grade, who from notes") == [("explained", 2, "noor")]
    assert note("gone", "--text", "t") == Ended(2, "", f"there is no query gone in {room.path}\n")
