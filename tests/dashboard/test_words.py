from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import leaderboard, words
from panels.filters import Filters
from panels.targets import Target

FILTERS = Filters("d", "d@1", "d@1")


@given(st.text(min_size=1))
def test_quoted_names_cannot_leave_their_quotes(name: str) -> None:
    quoted = words.quoted(name)
    fence = quoted[: len(quoted) - len(quoted.lstrip("`"))]
    inner = quoted[len(fence) : -len(fence)]
    assert quoted.endswith(fence)
    assert fence not in inner or set(inner) == {"`"}
    assert "\n" not in quoted


@pytest.mark.parametrize(
    ("names", "phrase"),
    [
        (["a"], "`a`"),
        (["a", "b"], "`a` and `b`"),
        (["a", "b", "c"], "`a`, `b` and `c`"),
        (["a", "b", "c", "d", "e"], "`a`, `b`, `c` and 2 more"),
    ],
)
def test_lists_of_names(names: list[str], phrase: str) -> None:
    assert words.listed(names) == phrase


def test_counts_and_numbers() -> None:
    assert words.count(1, "query", "queries") == "1 query"
    assert words.count(1200, "query", "queries") == "1,200 queries"
    assert words.number(0.5) == "0.500"
    assert words.number(None) == "–"


def row(run: str, ndcg: float | None, n: int = 3, **more: Any) -> dict[str, Any]:
    return {"run": run, "ndcg": ndcg, "n": n, **more}


def test_sentences_of_a_leaderboard() -> None:
    assert leaderboard.sentence([row("a", 0.5), row("b", 0.4)], FILTERS) == (
        "`a` is first of 2 runs by NDCG@5: 0.500 over 3 queries, 0.100 ahead of `b`."
    )
    assert leaderboard.sentence([row("a", 0.5), row("b", 0.5)], FILTERS) == (
        "`a` and `b` share the first place among 2 runs by NDCG@5: 0.500 over 3 queries."
    )
    assert leaderboard.sentence([row("a", 0.5)], FILTERS) == "`a` has NDCG@5 0.500 over 3 queries."
    assert "No labelled, answerable query" in leaderboard.sentence([row("a", None, 0)], FILTERS)


@pytest.mark.parametrize(
    ("mean", "ceiling", "verdict", "text"),
    [
        (0.6, 1.0, "met", "✓ met"),
        (0.6 - 1e-12, 1.0, "met", "✓ met"),
        (0.5, 1.0, "not met", "✗ 0.100 short"),
        (0.5, 0.55, "unattainable", "⊘ unattainable"),
        (None, None, "no queries", "– no queries"),
    ],
)
def test_targets(mean: float | None, ceiling: float | None, verdict: str, text: str) -> None:
    target = Target("precision", 0.6)
    one = {"precision": mean, "precision_ceiling": ceiling}
    assert target.verdict(one) == verdict
    assert target.text(one) == text


def test_what_a_target_says_about_all_runs() -> None:
    target = Target("precision", 0.6)
    rows = [{"precision": 0.7, "precision_ceiling": 1.0}, {"precision": 0.5, "precision_ceiling": 1.0}]
    assert target.sentence(rows, 5) == "**precision@5 ≥ 0.600**: met by 1 of 2 runs"
    rows = [{"precision": 0.5, "precision_ceiling": 0.52}]
    assert target.sentence(rows, 5) == (
        "**precision@5 ≥ 0.600**: unattainable under these labels (ceiling 0.520)"
    )
    rows = [{"precision": None, "precision_ceiling": None}]
    assert target.sentence(rows, 5) == "**precision@5 ≥ 0.600**: no queries"
