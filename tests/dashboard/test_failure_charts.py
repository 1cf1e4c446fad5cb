"""The charts of failures as pure functions: a frame in, a valid specification and a sentence out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
import worlds
from panels import (
    answer_quality,
    class_changes,
    class_runs,
    class_slices,
    count_map,
    funnel,
    query_history,
    side_by_side,
)
from panels.filters import Filters

FILTERS = Filters(data="d", label_set="d@1", query_set="d@1", run="a", against=worlds.EVIL)
CHANGES = pa.table(
    {
        "was": ["never_retrieved", "not failing", "lost_at_<b>"],
        "class": ["not failing", "leak", "lost_at_<b>"],
        "queries": [3, 1, 4],
        "must_pass": [1, 0, 0],
        "other_cause": [0, 0, 0],
    }
)
SLICES = pa.table(
    {
        "class": ["leak", "empty", "leak"],
        "slice": ["how_to", "how_to", worlds.EVIL],
        "queries": [3, 1, 1],
        "n": [9, 9, 2],
    }
)
RUNS = pa.table({"run": ["a", worlds.EVIL], "class": ["leak", "empty"], "queries": [3, 1]})
STEPS = pa.table(
    {
        "position": [1, 2, 3],
        "stage": ["dense + lexical", "<b>", "final"],
        "num_relevant": [10, 10, 10],
        "present": [8, 7, 7],
        "passed_on": [7, 7, 4],
        "lost": [3, 0, 3],
        "came_back": [0, 0, 0],
        "queries": [2, 0, 3],
    }
)
ANSWERS = pa.table(
    {
        "run": ["a", worlds.EVIL, "a"],
        "name": ["faithful", "faithful", "faithful"],
        "evidence": ["complete", "complete", "missing"],
        "n": [3, 3, 1],
        "mean": [0.9, 0.8, 0.2],
        "median": [0.9, 0.8, 0.2],
        "lowest": [0.8, 0.8, 0.2],
        "highest": [1.0, 0.8, 0.2],
    }
)
HISTORY = pa.table(
    {
        "run": ["a", worlds.EVIL, "b"],
        "made": pa.array([datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2, 3)]),
        "is_undated": [False, False, True],
        "series": ["nightly", "nightly", "(no series)"],
        "value": [0.5, 1.0, None],
        "first_relevant_rank": [2, 1, None],
        "outcome": ["returned", "returned", "left_out"],
        "role": ["this run", "baseline", "other runs"],
    }
)


def charts() -> dict[str, Any]:
    return {
        "changes": class_changes.chart(CHANGES, FILTERS),
        "runs": class_runs.chart(RUNS, ["a", worlds.EVIL, "fails nothing"]),
        "slices": class_slices.chart(SLICES, "category"),
        "funnel": funnel.chart(STEPS),
        "answers": answer_quality.chart(ANSWERS, "faithful", ["a", worlds.EVIL]),
        "history": query_history.chart(HISTORY, "ndcg", 5),
    }


def test_every_chart_is_valid() -> None:
    for name, chart in charts().items():
        assert chart.to_dict(validate=True)["height"] > 0, name


def test_what_charts_say_without_eyes() -> None:
    assert "never retrieved to does not fail 3" in class_changes.alt_text(CHANGES, FILTERS)
    assert class_slices.alt_text(SLICES, "category", "a") == (
        "Failing queries of a by cause and category: leak in how_to 3 of 9, returned nothing in how_to 1 "
        "of 9, "
        f"leak in {worlds.EVIL} 1 of 2."
    )
    assert funnel.alt_text(STEPS, "a") == (
        "Relevant documents of a through the pipeline, 10 in all: dense + lexical passes on 7 and loses 3; "
        "<b> passes on 7 and loses 0; final passes on 4 and loses 3."
    )
    assert "a, missing 0.200 (n = 1)" in answer_quality.alt_text(ANSWERS, "faithful")
    assert query_history.alt_text(HISTORY, "a", "ndcg", 5) == (
        "NDCG@5 of this query in 2 runs over time, from 0.500 to 1.000; a is marked."
    )


def test_what_the_sentences_say() -> None:
    assert class_changes.sentence(CHANGES.to_pylist(), FILTERS).endswith(
        ": 3 queries no longer fail, 1 newly fails, 0 fail for another cause, 4 for the same."
    )
    assert funnel.sentence(STEPS.to_pylist(), "a", 5) == (
        "Of 10 relevant documents, 4 stand in the first 5 of `a`. Most never gets as far as `dense + "
        "lexical`: 3."
    )
    assert query_history.sentence(HISTORY, "a", "ndcg", 5).startswith(
        "1 run of 2 does better on this query than `a` (NDCG@5 0.500)"
    )
    assert query_history.sentence(HISTORY, worlds.EVIL, "ndcg", 5).startswith("No run of 2 is better")


def test_a_fuller_cell_is_darker() -> None:
    shades = [
        sum(int(count_map.fill("worse", part)[at : at + 2], 16) for at in (1, 3, 5)) for part in (0, 0.5, 1)
    ]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == 3


@pytest.mark.parametrize(
    ("rank", "other", "reference", "said"),
    [
        (1, 4, False, ("▲ from 4", "better")),
        (4, 1, False, ("▼ from 1", "worse")),
        (2, 2, False, ("=", "")),
        (2, None, False, ("new", "better")),
        (2, 1200, True, ("→ 1,200", "")),
        (2, None, True, ("→ gone", "worse")),
    ],
)
def test_moves_in_words(rank: int, other: int | None, reference: bool, said: tuple[str, str]) -> None:
    assert side_by_side.move({"rank": rank, "other_rank": other}, reference, of_two=True) == said
