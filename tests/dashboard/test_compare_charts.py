"""The charts of the Compare page as pure functions, on invented comparisons."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
import worlds
from panels import (
    chart_style,
    compare_account,
    compare_costs,
    compare_forest,
    compare_map,
    compare_matrix,
    compare_scatter,
)
from rankroom.comparison import AccountRow, SliceComparison
from rankroom.paired import MetricComparison, Verdict
from test_charts import contrast_on_cell


def compared(
    metric: str, difference: float, half: float, verdict: Verdict, n: int = 118, **more: Any
) -> MetricComparison:
    return MetricComparison(
        metric=metric,
        k=5,
        baseline=0.4,
        candidate=0.4 + difference,
        difference=difference,
        low=difference - half,
        high=difference + half,
        p=0.01,
        p_holm=0.0004 if verdict in ("improved", "regressed") else 0.4,
        wins=30,
        ties=n - 50,
        losses=20,
        n=n,
        detectable=0.03,
        verdict=verdict,
        flat=False,
        **more,
    )


FAMILY = [
    compared("ndcg", 0.041, 0.02, "improved"),
    compared("hit", 0.01, 0.03, "unresolvable"),
    compared("rr", -0.05, 0.02, "regressed"),
    compared("recall", 0.001, 0.015, "no_clear_change"),
]


def in_slice(category: str, language: str, difference: float, verdict: Verdict, n: int) -> SliceComparison:
    one = compared("ndcg", difference, 0.05, verdict, n)
    values = {"category": category, "language": language}
    return SliceComparison(**vars(one), slice=values, thin=n < 10)


SLICES = [
    in_slice("how_to", "en", 0.21, "improved", 24),
    in_slice("how_to", "es", -0.081, "unresolvable", 21),
    in_slice(worlds.EVIL, "en", -0.6, "regressed", 60),
    in_slice("(none)", "es", 0.9, "unresolvable", 3),
]
ACCOUNT = [
    AccountRow("ndcg", "entered", True, 22, 20, 0.047),
    AccountRow("ndcg", "left", True, 20, 18, -0.055),
    AccountRow("ndcg", "same", True, 40, 30, 0.0),
    AccountRow("ndcg", "entered", False, 23, 20, 0.096),
    AccountRow("hit", "entered", False, 19, 19, 0.19),
]
POINTS = pa.table(
    {
        "baseline": [0.0, 0.0, 1.0, 0.5],
        "candidate": [0.0, 1.0, 0.2, 0.5],
        "queries": [18, 3, 1, 1],
        "must_pass": [0, 1, 0, 0],
        "side": ["same", "better", "worse", "same"],
        "query_id": ["a", "b", worlds.EVIL, "d"],
        "text": ["A", "B", worlds.EVIL_TEXT, None],
    }
)
RANKS = pa.table(
    {
        "baseline": ["1", "never", "1", "6–10"],
        "candidate": ["1", "2–3", "never", "4–5"],
        "number": [22, 5, 2, 1],
        "queries": [22, 5, 2, 1],
    }
)
COSTS: list[dict[str, Any]] = [
    {
        "role": role,
        "run": run,
        "n_timed": 4,
        "latency_p50_ms": latency,
        "latency_p95_ms": 2 * latency,
        "n_context": 4,
        "context_tokens_mean": 300.0,
    }
    for role, run, latency in (("baseline", "a", 0.5), ("candidate", worlds.EVIL, 26.0))
]


def forest(metrics: list[Any], names: list[str] | None = None) -> Any:
    return compare_forest.chart(compare_forest.frame(metrics, names or []), 0.02)


def slice_map(slices: list[SliceComparison]) -> Any:
    frame = compare_map.frame(slices, "category", "language")
    return compare_map.chart(frame, "NDCG@5", ("category", "language"))


def charts() -> list[Any]:
    return [
        forest(FAMILY),
        forest(SLICES, [worlds.EVIL + str(at) for at in range(len(SLICES))]),
        slice_map(SLICES),
        compare_account.chart(compare_account.steps(ACCOUNT, "ndcg"), "ndcg", 5),
        compare_scatter.chart(POINTS, "NDCG@5"),
        compare_scatter.chart(POINTS.slice(3), "NDCG@5"),
        compare_matrix.chart(RANKS, 5, compare_matrix.FIRST),
        compare_matrix.chart(RANKS.slice(0, 0), 20, compare_matrix.EVERY),
        compare_costs.chart(COSTS, FAMILY[0], compare_costs.LATENCY, "NDCG@5"),
        compare_costs.chart(COSTS, FAMILY[0], compare_costs.CONTEXT, "NDCG@5"),
    ]


def test_every_chart_is_valid() -> None:
    for chart in charts():
        assert chart.to_dict(validate=True)["height"] > 0


def test_a_clear_change_is_filled_and_points_its_way_and_any_other_is_hollow() -> None:
    layers = forest(FAMILY).to_dict()["layer"][0]["layer"]
    marks = {json.dumps(layer.get("transform")): layer["mark"] for layer in layers}
    clear = "datum.verdict == 'improved' || datum.verdict == 'regressed'"
    assert marks[json.dumps([{"filter": clear}])]["filled"] is True
    assert marks[json.dumps([{"filter": f"!({clear})"}])]["filled"] is False
    shapes = next(
        layer["encoding"]["shape"]["scale"] for layer in layers if "shape" in layer.get("encoding", {})
    )
    assert dict(zip(shapes["domain"], shapes["range"], strict=True)) == {
        "improved": "triangle-right",
        "regressed": "triangle-left",
        "no_clear_change": "circle",
        "unresolvable": "circle",
    }


def test_what_stands_beside_a_row_of_the_forest() -> None:
    text = json.dumps(forest(FAMILY).to_dict())
    for beside in (
        "0.400 → 0.441",
        "+0.041 [+0.021, +0.061]",
        "▶ better, p < 0.001",
        "○ cannot tell, p = 0.400",
    ):
        assert json.dumps(json.dumps(beside)[1:-1])[1:-1] in text


def test_the_forest_without_eyes() -> None:
    frame = compare_forest.frame(FAMILY)
    assert compare_forest.alt_text(frame) == (
        "Differences, candidate less baseline, over 118 queries: NDCG@5 +0.041 [+0.021, +0.061] better; "
        "hit rate@5 +0.010 [−0.020, +0.040] cannot tell; MRR@5 −0.050 [−0.070, −0.030] worse; "
        "recall@5 +0.001 [−0.014, +0.016] no clear change."
    )
    assert compare_forest.alt_text(frame.slice(0, 0)) == "Differences of the metrics: no queries."


def test_a_waterfall_ends_at_the_sum_of_its_moves() -> None:
    found = compare_account.steps(ACCOUNT, "ndcg")
    assert [(row["kind"], row["hit"], row["move"]) for row in found] == [
        ("group", True, ""),
        ("move", True, "entered"),
        ("move", True, "left"),
        ("group", False, ""),
        ("move", False, "entered"),
        ("change", None, ""),
    ]
    moves = [row for row in found if row["kind"] == "move"]
    assert [row["begin"] for row in moves[1:]] == [row["end"] for row in moves[:-1]]
    assert moves[0]["begin"] == 0
    assert moves[-1]["end"] == found[-1]["share"] == pytest.approx(0.088)
    assert compare_account.alt_text(found, "ndcg", 5) == (
        "Account of the change of NDCG@5, +0.088 in all. "
        "In queries that the baseline had hit: −0.008; in queries that it had missed: +0.096."
    )
    assert compare_account.alt_text([], "ndcg", 5) == "Account of the change of NDCG@5: nothing moved."


@pytest.mark.parametrize(
    ("hit_share", "missed_share", "says"),
    [
        (0.06, 0.02, "It helped both; 25% of the gain lies in queries that failed before"),
        (0.06, 0.0, "helped the queries that worked already and left the failing ones as they were"),
        (-0.06, 0.09, "rescued queries that failed, and took from those that worked"),
        (0.0, 0.09, "those that worked are as they were"),
        (-0.06, -0.01, "took from both"),
        (0.0, 0.0, "Neither kind of query moved"),
    ],
)
def test_whether_it_neglected_the_failing_queries(hit_share: float, missed_share: float, says: str) -> None:
    account = [
        AccountRow("ndcg", "up", True, 1, 1, hit_share),
        AccountRow("ndcg", "entered", False, 1, 1, missed_share),
    ]
    found = compare_account.steps(account, "ndcg")
    text = compare_account.sentence(found, "ndcg", 5, 10, 1, is_clear=True)
    assert says in text
    assert "in the 10 queries that the baseline had hit" in text
    assert "in the 1 query that it had missed" in text
    unclear = compare_account.sentence(found, "ndcg", 5, 10, 1, is_clear=False)
    assert says not in unclear or not (hit_share or missed_share)
    assert "missed no query" in compare_account.sentence(found, "ndcg", 5, 11, 0, is_clear=True)
    assert "hit no query" in compare_account.sentence(found, "ndcg", 5, 0, 11, is_clear=True)


def test_the_map_shows_value_n_verdict_and_thin() -> None:
    frame = compare_map.frame(SLICES, "category", "language")
    cells = {(row["row"], row["column"]): row for row in compare_map.cells(frame)}
    assert cells["how_to", "en"]["text"] == "+0.210 ▲"
    assert cells["how_to", "en"]["size"] == "n = 24"
    assert cells["how_to", "es"]["text"] == "−0.081"
    assert cells[worlds.EVIL, "en"]["text"] == "−0.600 ▼"
    thin = cells["(none)", "es"]
    assert (thin["text"], thin["size"]) == ("+0.900", "n = 3 thin")
    assert (thin["fill"], thin["depth"]) == compare_map.THIN
    assert compare_map.extent(frame.to_pylist()) == pytest.approx(0.6)  # a thin slice does not stretch it
    assert compare_map.extent(frame.slice(1, 1).to_pylist()) == compare_map.LEAST
    assert compare_map.alt_text(frame, "NDCG@5", ("category", "language")) == (
        f"Difference of NDCG@5 by category and language: lowest {worlds.EVIL}, en −0.600 (n = 60), "
        "highest how_to, en +0.210 (n = 24); 2 of 4 slices clear, 1 thin."
    )


def test_for_whom_in_words() -> None:
    by = ("category", "language")
    fell = "It fell most, though not clearly, in `how_to` in `es`: −0.081 over 21 queries."
    assert compare_map.sentence(SLICES[:1], by, 0.02) == "Clearly better in `how_to` in `en` (+0.210)."
    assert (
        compare_map.sentence(SLICES[:2], by, 0.02) == f"Clearly better in `how_to` in `en` (+0.210). {fell}"
    )
    assert compare_map.sentence(SLICES[1:2], by, 0.02) == f"In no slice is the difference clear. {fell}"
    assert compare_map.sentence(SLICES[1:2], by, 0.09) == "In no slice is the difference clear."
    assert "Clearly worse in " in compare_map.sentence(SLICES, by, 0.02)
    assert "1 of 4 slices is thin." in compare_map.sentence(SLICES, by, 0.02)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_in_the_cells(theme: str) -> None:
    for fill, depth in (*compare_map.DIVERGING, compare_map.THIN):
        assert contrast_on_cell(fill, depth, theme) >= 4.5, (fill, depth)
    for side, fill in compare_matrix.FILLS.items():
        for depth in compare_matrix.STAYED if side == "same" else compare_matrix.MOVED:
            assert contrast_on_cell(fill, depth, theme) >= 4.5, (fill, depth)
    for fill in (chart_style.BETTER, chart_style.WORSE, chart_style.UNDECIDED):
        assert contrast_on_cell(fill, compare_scatter.NUMBERED_DEPTH, theme) >= 4.5, fill


def test_where_nothing_changed_a_cell_is_as_the_page() -> None:
    assert compare_map.DIVERGING[compare_map.level(0.0, 0.2)][1] == 0
    depths = [depth for _, depth in compare_map.DIVERGING]
    middle = len(depths) // 2
    assert depths[middle:] == sorted(set(depths))
    assert depths == depths[::-1]


def test_differences_are_coloured_evenly_around_zero() -> None:
    middle = len(compare_map.DIVERGING) // 2
    assert compare_map.level(0.0, 0.2) == middle
    for difference in (0.06, 0.13, 0.2, 5.0):
        up, down = compare_map.level(difference, 0.2), compare_map.level(-difference, 0.2)
        assert up - middle == middle - down > 0


def test_points_grow_with_their_queries_and_large_ones_carry_the_number() -> None:
    rows = POINTS.to_pylist()
    areas = [row["area"] for row in compare_scatter.sized([*rows, *[dict(rows[2]) for _ in range(20)]])]
    assert areas[0] == compare_scatter.LARGEST
    assert areas[1] > compare_scatter.NUMBERED_FROM > areas[2] == compare_scatter.SMALLEST
    assert min(row["area"] for row in compare_scatter.sized(rows)) == compare_scatter.NUMBERED_FROM
    assert compare_scatter.alt_text(POINTS, "NDCG@5") == (
        "NDCG@5 of 23 queries, baseline against candidate: 3 better, 1 worse, 19 the same."
    )
    assert "3 queries above the diagonal" in compare_scatter.caption(POINTS)


def test_ranks_that_rose_and_fell() -> None:
    cells = {(row["baseline"], row["candidate"]): row["text"] for row in compare_matrix.cells(RANKS)}
    assert cells == {("1", "1"): "22", ("never", "2–3"): "5 ▲", ("1", "never"): "2 ▼", ("6–10", "4–5"): "1 ▲"}
    assert compare_matrix.crossed(RANKS, 5) == (6, 2)
    assert "6 queries came in, 2 went out" in compare_matrix.caption(RANKS, 5, compare_matrix.FIRST)
    assert "came in" not in compare_matrix.caption(RANKS, 20, compare_matrix.EVERY)
    assert compare_matrix.alt_text(RANKS, compare_matrix.FIRST).endswith(
        "6 higher up, 2 further down, 22 in the same range."
    )


def test_costs_in_words() -> None:
    assert compare_costs.sentence(COSTS) == (
        "Median latency 0.5 → 26 ms (× 52); 95th percentile 1 → 52 ms (× 52); mean context 300 → 300 tokens "
        "(the same)."
    )
    silent = [COSTS[0] | {"latency_p50_ms": None, "context_tokens_mean": None}, COSTS[1]]
    assert compare_costs.measured(silent) == ["latency_p95_ms"]
    silent = [row | dict.fromkeys(compare_costs.NAMES) for row in COSTS]
    assert "recorded neither latency nor context size" in compare_costs.sentence(silent)
    assert compare_costs.alt_text(COSTS, FAMILY[0], compare_costs.LATENCY, "NDCG@5") == (
        "NDCG@5 over median latency: baseline 0.400 at 0.5 ms, candidate 0.441 at 26 ms."
    )
