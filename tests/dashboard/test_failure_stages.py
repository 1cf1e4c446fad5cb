"""Failures of runs that record different stages, and the run that others are held against by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import worlds
from conftest import kept_open
from rankroom.store import Store
from test_runs_page import texts

NOTE = (
    "`second` records no stage before `final`, `staged` does: what is lost at a stage in one is never "
    "retrieved, below the cutoff or partial in the other."
)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run with two stages beside runs with none."""
    with kept_open(worlds.world(tmp_path_factory.mktemp("mixed"), "first", "second", "staged")) as store:
        yield store


def column(at: Any, name: str) -> dict[str, Any]:
    """What the list says of one of its columns."""
    config: dict[str, Any] = json.loads(at.dataframe[0].proto.columns)[name]
    return config


@pytest.mark.parametrize(("run", "against"), [("staged", "second"), ("second", "staged")])
def test_what_only_the_stages_make_differ_is_no_change(
    look: Any, mixed: Store, run: str, against: str
) -> None:
    at = look(mixed, "failures", run=run, against=against, view="What changed")
    assert not at.exception
    assert NOTE in texts(at)
    # `partial` is lost at final in one and partial in the other, by the same ranking
    assert "0 fail for another cause, 4 for the same, by the final ranking alone." in texts(at)
    frame = at.dataframe[0].value.set_index("query_id")
    assert {frame.loc["partial", "class"], frame.loc["partial", "was"]} == {
        "lost at final",
        "partial evidence",
    }


def test_runs_with_the_same_stages_need_no_note(look: Any, three: Store) -> None:
    at = look(three, "failures", run="second", against="first", view="What changed")
    assert "stage before" not in texts(at)
    assert "by the final ranking alone" not in texts(at)


def test_run_by_run_names_the_runs_without_stages(look: Any, mixed: Store, three: Store) -> None:
    said = texts(look(mixed, "failures", run="staged", view="Run by run"))
    assert "`second` and `first` record no stage before `final`: in them never retrieved means not" in said
    assert "record no stage" not in texts(look(three, "failures", run="first", view="Run by run"))


def test_different_stages_are_different_too() -> None:
    from panels.failure_stages import different_stages

    steps = [{"run": "a", "steps": ["dense"]}, {"run": "b", "steps": ["lexical"]}]
    assert different_stages(steps).startswith("`a` and `b` record different stages before `final`:")
    assert different_stages([steps[0], steps[0] | {"run": "c"}]) == ""
    assert different_stages(steps[:1]) == ""


def test_the_run_held_against_is_named(look: Any, mixed: Store) -> None:
    at = look(mixed, "failures", run="staged", against="second", was=["partial evidence"])
    assert at.multiselect(key="was").label == "Cause in `second`"
    assert "cause in `second`: partial evidence" in texts(at)
    assert column(at, "was")["label"] == "was in second"
    assert "`second`" in column(at, "was")["help"]


def test_never_retrieved_is_explained(look: Any, mixed: Store) -> None:
    said = column(look(mixed, "failures", run="second"), "class")["help"]
    assert "never retrieved: no stage that the run records has" in said
    assert "not in its results" in said


def test_the_count_of_a_slice_is_that_of_its_failures(open_page: Any, three: Store, clicked: Any) -> None:
    at = open_page(three, "slices", columns="runs", of_run="first", thin="1")
    frame = at.dataframe[0].value
    place = frame["row"].tolist().index("how_to")
    failing, labelled = frame["failing"][place].removesuffix(" ›").split(" of ")
    at = clicked(at, "open_slice", row=place)
    assert f"`first` fails {failing} of {labelled} labelled queries" in at.markdown[0].value


def test_wrongly_declined_queries_are_in_the_means(look: Any, three: Store) -> None:
    said = texts(look(three, "failures", run="first", view="Abstention"))
    assert (
        "Queries that nothing answers are outside every mean. Those that have an answer are in them, "
        "declined or not, scored by what was ranked."
    ) in said
    assert "Neither counts" not in said
