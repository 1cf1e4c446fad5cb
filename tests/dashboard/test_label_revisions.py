"""The tab that compares two revisions of the labels: what changed, and what that did to each run."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from typing import Any

import pytest
import two_revisions
from panels import data_revisions
from rankroom.store import Store
from small_stores import kept_open
from test_data_page import REVISIONS, table
from test_runs_page import texts
from test_shown_sql import shown

MOVED = (1 - 1 / log2(3)) / 2
"""By how much the mean NDCG of `near` moves over the queries with an answer under both."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    place = tmp_path_factory.mktemp("desk")
    with kept_open(two_revisions.fill(Store(place / "s.duckdb"), place)) as store:
        yield store


def test_what_moved_is_said_of_queries_with_an_answer_under_both(look: Any, desk: Store) -> None:
    at = look(desk, "data", view=REVISIONS)
    assert not at.exception
    assert (
        "NDCG@5 moved in 1 of 2 runs, most in `near`: 0.815 → 1.000 (+0.185),"
        " over the 2 queries with an answer under both." in texts(at)
    )
    assert "1 query has an answer under one revision only, and counts in no difference." in texts(at)
    frame = table(at, "label_effects")
    assert frame["run"].tolist() == ["near", "far"]
    assert frame["n"].tolist() == [2, 2]
    assert frame["ndcg_change"].tolist() == pytest.approx([MOVED, 0])
    assert (frame["new_ndcg"] - frame["old_ndcg"]).tolist() == pytest.approx([MOVED, 0])
    assert frame[["old_n", "new_n"]].to_numpy().tolist() == [[2, 3], [2, 3]]
    (chart,) = at.get("vega_lite_chart")
    assert "near 0.815 to 1.000; far 0.500 to 0.500." in chart.proto.alt


def test_the_statement_gives_what_is_said(look: Any, ask: Any, desk: Store) -> None:
    at = look(desk, "data", view=REVISIONS)
    (statement,) = (sql for sql in shown(at) if "label_effects" in sql)
    rows = ask(desk, f"select run, n, ndcg_change, new_n from ({statement.rstrip(';')})")
    assert [row[:2] + row[3:] for row in rows] == [("near", 2, 3), ("far", 2, 3)]
    assert [row[2] for row in rows] == pytest.approx([MOVED, 0])


def test_every_label_that_became_relevant_is_counted_and_so_are_no_answer_lines(
    look: Any, desk: Store
) -> None:
    at = look(desk, "data", view=REVISIONS)
    assert (
        "3 labels of 3 queries changed from `desk@1` to `desk@2`: 1 regraded, 2 added. 2 became relevant."
        " 1 no-answer line changed: 1 removed." in texts(at)
    )
    assert "left aside: 1 changed label of other splits." in texts(at)
    at = look(desk, "data", view=REVISIONS, changes_split="all")
    assert "2 regraded, 2 added. 2 became relevant, 1 no longer is. 1 no-answer line" in texts(at)
    assert "2 queries have an answer under one revision only, and count in no difference." in texts(at)
    at = look(desk, "data", view=REVISIONS, changes_split="heldout")
    assert (
        "1 label of 1 query changed from `desk@1` to `desk@2`: 1 regraded. 1 no longer is relevant."
        in texts(at)
    )
    assert "left aside: 3 changed labels and 1 changed no-answer line of other splits." in texts(at)
    assert "NDCG@5 is the same in 2 runs." in texts(at)


def test_the_other_way_round(look: Any, desk: Store) -> None:
    at = look(desk, "data", view=REVISIONS, old_labels="desk@2", new_labels="desk@1", changes_split="dev")
    assert "2 no longer are relevant. 1 no-answer line changed: 1 added." in texts(at)
    assert "most in `near`: 1.000 → 0.815 (−0.185), over the 2 queries" in texts(at)
    assert table(at, "label_effects")[["old_n", "new_n"]].to_numpy().tolist() == [[3, 2], [3, 2]]


CHOSEN = {"old_labels": "a@1", "new_labels": "a@2", "split": "all", "k": 5}
NONE = dict.fromkeys(
    (
        *(
            "labels",
            "queries",
            "added",
            "removed",
            "regraded",
            "details",
            "became_relevant",
            "no_longer_relevant",
        ),
        *("lines", "lines_added", "lines_removed", "lines_details"),
    ),
    0,
)


def test_only_no_answer_lines_changed() -> None:
    counts = NONE | {"lines": 4, "lines_added": 1, "lines_removed": 2, "lines_details": 1}
    assert data_revisions.changed(counts, CHOSEN) == (
        "No label changed from `a@1` to `a@2`. 4 no-answer lines changed: 1 added, 2 removed,"
        " 1 in rationale, reviewer or date only."
    )
    assert data_revisions.changed(NONE, CHOSEN) == "No label changed from `a@1` to `a@2`."


def effect(run: str, n: int, change: float | None, earlier: int = 0, later: int = 0) -> dict[str, Any]:
    return {
        "run": run,
        "n": n,
        "old_n": n + earlier,
        "new_n": n + later,
        "old_ndcg": None if change is None else 0.5,
        "new_ndcg": None if change is None else 0.5 + change,
        "ndcg_change": change,
    }


def test_how_a_move_is_put() -> None:
    assert data_revisions.moved([effect("r", 1, 0.1)], 5) == (
        "NDCG@5 of `r`: 0.500 → 0.600 (+0.100), over the 1 query with an answer under both."
    )
    assert data_revisions.moved([effect("r", 0, None, 2, 1)], 5) == (
        "No query has an answer under both. 3 queries have an answer under one revision only,"
        " and count in no difference."
    )
    assert (
        data_revisions.moved([effect("r", 3, 0.0), effect("s", 3, 0.0)], 5) == "NDCG@5 is the same in 2 runs."
    )
    assert data_revisions.moved([], 5) == "No run has scores under both."
