"""A link that asks for what is not there: the page says so, and what it shows instead."""

from __future__ import annotations

from typing import Any

import pytest
import worlds
from rankroom.store import Store


def said(at: Any) -> str:
    assert not at.exception
    return " ".join(one.value for one in at.warning)


@pytest.mark.parametrize(
    ("page", "link", "asked", "instead"),
    [
        ("runs", {"k": "13"}, "cutoff k = `13`, at which this store has no scores", "`5`"),
        ("runs", {"data": "nonsense"}, "data set = `nonsense`, which has no scored run", "`handbook`"),
        ("runs", {"labels": "old@0"}, "labels = `old@0`, which this data set does not have", "`handbook@1`"),
        ("compare", {"stage": "<b>"}, "stage = `<b>`, at which no run has scores here", "`final`"),
        ("signals", {"split": "x"}, "split = `x`, of which there are no queries here", "`dev`"),
        ("labels", {"category": ["y"]}, "category = `y`, which is not there", "all"),
        ("runs", {"order": "zz"}, "order by = `zz`, which is not there", "`NDCG`"),
        ("slices", {"rows": "colour"}, "rows = `colour`, by which these queries cannot", "`category`"),
        ("slices", {"columns": "`x`"}, "columns = `` `x` ``, which neither these queries", "`language`"),
        ("slices", {"of_run": "gone"}, "worst slices of = `gone`, which is not among", "`second`"),
        ("failures", {"run": worlds.EVIL + "?"}, "run = ", "`second`"),
    ],
)
def test_what_is_not_there(
    look: Any, three: Store, page: str, link: dict[str, Any], asked: str, instead: str
) -> None:
    text = said(look(three, page, **link))
    assert f"The link asks for {asked}" in text
    assert text.endswith(f"; shown instead: {instead}.")


def test_what_is_there_needs_no_words(look: Any, three: Store) -> None:
    at = look(three, "slices", k="3", split="all", rows="language", category=["how_to"], columns="category")
    assert not said(at)
    assert at.selectbox(key="k").value == 3
    assert at.selectbox(key="rows").value == "language"


def test_all_is_said_at_once(look: Any, three: Store) -> None:
    at = look(three, k="13", category=["y", "how_to"])
    assert len(at.warning) == 1
    assert "cutoff k = `13`" in said(at)
    assert "category = `y`, which is not there; shown instead: `how_to`." in said(at)


def test_it_stays_until_the_reader_chooses_there(open_page: Any, three: Store) -> None:
    at = open_page(three, k="13")
    assert "`13`" in said(at)
    assert "`13`" in said(at.selectbox(key="split").set_value("all").run())
    assert not said(at.selectbox(key="k").set_value(3).run())
    assert not said(at.selectbox(key="split").set_value("dev").run())


def test_what_the_reader_left_behind_is_not_the_link(open_page: Any, three: Store) -> None:
    at = open_page(three, "slices")
    at.selectbox(key="rows").set_value("language").run()
    at.multiselect(key="category").set_value(["how_to"]).run()
    assert not said(at)
