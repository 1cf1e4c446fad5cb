from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import leaderboard, slices, words
from panels.filters import Filters
from panels.slice_choice import Choice
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


def slice_of(row: str, column: str, value: float | None, n: int = 20) -> dict[str, Any]:
    mean = 0.622
    gap = None if value is None else value - mean
    return {
        "run": "r",
        "row": row,
        "column": column,
        "n": n,
        "value": value,
        "overall": mean,
        "gap": gap,
        "thin": n < 10,
    }


BOTH = Choice("ndcg", "category", "language")


def worst(*rows: dict[str, Any], choice: Choice = BOTH) -> str:
    return slices.sentence(slices.worst_first(list(rows), "r"), "r", choice, 5)


def test_sentences_of_slices() -> None:
    fine, bad = slice_of("how_to", "en", 0.7), slice_of("how_to", "es", 0.412, 18)
    assert worst(fine, bad, slice_of("factual", "es", 0.1, 3)) == (
        "`how_to` in `es` is the worst slice of `r` at NDCG@5: 0.412 over 18 queries, 0.210 below its mean."
    )
    assert worst(fine, bad, slice_of("factual", "es", 0.412, 11)) == (
        "`how_to` in `es` and 1 other slice are the worst of `r` at NDCG@5: 0.412, 0.210 below its mean."
    )
    assert worst(fine, slice_of("factual", "es", 0.1, 3)) == (
        "`how_to` in `en` is the only slice of `r` that is not thin: NDCG@5 0.700 over 20 queries."
    )
    assert worst(slice_of("a", "en", 0.622), slice_of("b", "en", 0.622)) == (
        "No slice of `r` stands below its mean at NDCG@5: 0.622."
    )
    assert "none is named as the worst" in worst(slice_of("a", "en", None, 0))
    assert worst(fine, bad, choice=Choice("rr", "tag", "channel")) == (
        "`tag` `how_to`, `channel` `es` is the worst slice of `r` at MRR@5: 0.412 over 18 queries, "
        "0.210 below its mean."
    )


def test_slices_are_listed_worst_first_and_thin_ones_last() -> None:
    rows = [slice_of("a", "en", None, 0), slice_of("b", "en", 0.1, 2), slice_of("c", "en", 0.9)]
    rows += [slice_of("d", "en", 0.3), slice_of("other run", "en", 0.0) | {"run": "x"}]
    assert [row["row"] for row in slices.worst_first(rows, "r")] == ["d", "c", "b", "a"]


def test_differences_and_long_texts() -> None:
    assert [words.signed(value) for value in (0.21, -0.21, -0.0001, 0, None)] == [
        "+0.210",
        "−0.210",
        "0.000",
        "0.000",
        "–",
    ]
    assert words.clipped("a\n b") == "a b"
    assert words.clipped("x" * 61) == "x" * 59 + "…"


@given(st.one_of(st.sampled_from(list(words.FAILURE_CLASSES)), st.text(min_size=1).map("lost_at_{}".format)))
def test_a_failure_class_is_known_by_its_words(name: str) -> None:
    assert words.class_of(words.failure_class(name)) == name
