"""The charts as pure functions: a frame in, a valid specification and a sentence out."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
import worlds
from panels import chart_style, costs, failure_list, first_ranks, heat_map, k_curve, markup, trend
from rankroom.resources import folder

CURVE = pa.table(
    {
        "run": ["a", "a", worlds.EVIL, worlds.EVIL],
        "k": [1, 5, 1, 5],
        "n": [4, 4, 4, 4],
        "hit": [0.25, 0.5, 0.5, 0.75],
        "recall": [0.1, 0.2, None, None],
        "precision": [0.25, 0.1, 0.5, 0.15],
    }
)
RANKS = pa.table(
    {
        "run": ["a", "a", worlds.EVIL],
        "position": [1, 9, 11],
        "bucket": ["1", "never", "unknown"],
        "queries": [3, 1, 4],
        "share": [0.75, 0.25, 1.0],
        "n": [4, 4, 4],
    }
)
COUNTS = pa.table(
    {"class": ["never_retrieved", "lost_at_<b>"], "queries": [3, 1], "must_pass": [1, 0]},
)
CELLS = pa.table(
    {
        "run": ["a", "a", "a", "a"],
        "row": ["how_to", "how_to", worlds.EVIL, "(none)"],
        "column": ["en", "es", "en", "en"],
        "facet": ["a", "a", "a", "a"],
        "n": [20, 18, 3, 0],
        "value": [0.71, 0.412, 0.9, None],
        "overall": [0.622, 0.622, 0.622, 0.622],
        "gap": [0.088, -0.21, 0.278, None],
        "thin": [False, False, True, True],
    }
)
HISTORY = pa.table(
    {
        "run": ["a", "b", worlds.EVIL],
        "created": pa.array([datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2, 3)]),
        "series": ["nightly", "nightly", "<b>"],
        "n": [4, 4, 4],
        "value": [0.4, 0.5, 0.1],
        "changed": [None, "collection a@1 → a@2", None],
    }
)
COSTS = pa.table(
    {
        "run": ["a", worlds.EVIL, "silent"],
        "n": [4, 4, 4],
        "ndcg": [0.4, 0.5, 0.6],
        "n_timed": [4, 4, None],
        "latency_p50_ms": [0.2, 300.0, None],
        "latency_p95_ms": [0.4, 900.0, None],
        "n_context": [4, 4, None],
        "context_tokens_mean": [120.0, 300.5, None],
    }
)


def heat(frame: pa.Table) -> Any:
    return heat_map.chart(frame, "NDCG@5", ("category", "language"), heat_map.extent(frame), "a")


def charts() -> list[Any]:
    return [
        *(k_curve.chart(CURVE, metric, ["a", worlds.EVIL], k=5) for metric in k_curve.METRICS),
        k_curve.chart(CURVE.slice(0, 1), "hit", ["a"], k=1),
        first_ranks.chart(RANKS, ["a", worlds.EVIL]),
        failure_list.chart(COUNTS),
        heat(CELLS),
        heat(CELLS.slice(2)),
        trend.chart(HISTORY, "NDCG@5"),
        costs.chart(COSTS, costs.LATENCY, "ndcg", "NDCG@5", ["a"]),
        costs.chart(COSTS, costs.CONTEXT, "ndcg", "NDCG@5", ["a", worlds.EVIL]),
    ]


def test_every_chart_is_valid() -> None:
    for chart in charts():
        assert chart.to_dict(validate=True)["height"] > 0


def test_what_charts_say_without_eyes() -> None:
    assert k_curve.alt_text(CURVE, "hit", ["a"]) == (
        "Hit rate over the cutoff k: a from 0.250 at k = 1 to 0.500 at k = 5."
    )
    assert "no values" in k_curve.alt_text(CURVE, "recall", [worlds.EVIL])
    assert "a: 3 of 4 queries at rank 1, 1 never" in first_ranks.alt_text(RANKS, ["a"])
    assert failure_list.alt_text(COUNTS, "a") == (
        "Failing queries of a by cause: never retrieved 3, lost at <b> 1."
    )
    assert heat_map.alt_text(CELLS, "NDCG@5", ("category", "language"), "a") == (
        "NDCG@5 by category and language of a: lowest how_to, es 0.412 (n = 18), "
        "highest how_to, en 0.710 (n = 20); 2 of 4 slices thin."
    )
    assert trend.alt_text(HISTORY, "NDCG@5") == (
        f"NDCG@5 over time: <b> 0.100 ({worlds.EVIL}); nightly from 0.400 (a) to 0.500 (b)."
    )
    assert costs.alt_text(COSTS, costs.LATENCY, "ndcg", "NDCG@5") == (
        f"NDCG@5 over median latency: least a 0.2 ms at 0.400, most {worlds.EVIL} 300 ms at 0.500, "
        f"best {worlds.EVIL} 300 ms at 0.500."
    )


def test_the_levels_of_a_map_do_not_hang_on_thin_slices() -> None:
    assert heat_map.extent(CELLS) == (0.4, 0.8)
    assert heat_map.extent(CELLS.slice(2)) == (0.0, 1.0)
    assert heat_map.extent(CELLS.slice(0, 1)) == pytest.approx((0.7, 0.8))


def test_a_map_of_very_many_slices_keeps_the_largest() -> None:
    rows = [{"row": f"r{n:03}", "n": n} for n in range(100)]
    assert heat_map.drawn(rows, "row", 30) == [f"r{n:03}" for n in range(70, 100)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_in_the_cells_of_a_map(theme: str) -> None:
    for depth in chart_style.DEPTHS:
        assert contrast_on_cell(chart_style.BETTER, depth, theme) >= 4.5, depth
    assert contrast_on_cell(chart_style.UNDECIDED, chart_style.THIN_DEPTH, theme) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_higher_a_value_the_further_its_cell_is_from_the_page(theme: str) -> None:
    page = THEMES[theme]["backgroundColor"]
    apart = [contrast(page, over(chart_style.BETTER, depth, page)) for depth in chart_style.DEPTHS]
    assert apart == sorted(apart)
    assert apart[0] < 1.1


def test_the_cells_of_a_map_are_drawn_so() -> None:
    solid, thin, *texts = heat(CELLS).to_dict(validate=True)["layer"]
    assert solid["encoding"]["fillOpacity"]["scale"]["range"] == list(chart_style.DEPTHS)
    assert solid["mark"]["color"] == chart_style.BETTER
    assert thin["mark"]["fillOpacity"] == chart_style.THIN_DEPTH
    assert [text["mark"]["color"] for text in texts] == [{"expr": chart_style.INK.expr}] * 2


def test_every_run_in_colour_has_a_shape_of_its_own() -> None:
    counts = {
        len(set(each)) for each in (chart_style.RUN_COLOURS, chart_style.RUN_SHAPES, chart_style.RUN_GLYPHS)
    }
    assert counts == {chart_style.MOST_RUNS}


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def over(colour: str, depth: float, page: str) -> str:
    """What is seen of a colour through which the page shows."""
    pairs = ((int(colour[i : i + 2], 16), int(page[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a * depth + b * (1 - depth)):02x}" for a, b in pairs)


def contrast_on_cell(colour: str, depth: float, theme: str) -> float:
    """The contrast of the text that a chart writes on a cell."""
    page = THEMES[theme]["backgroundColor"]
    light, dark = re.findall("#[0-9a-f]{6}", chart_style.INK.expr)
    return contrast(light if luminance(page) < 0.5 else dark, over(colour, depth, page))


THEMES = tomllib.loads((folder("dashboard") / ".streamlit" / "config.toml").read_text())["theme"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(theme: str) -> None:
    colours = THEMES[theme]
    for surface in (colours["backgroundColor"], colours["secondaryBackgroundColor"]):
        assert contrast(colours["textColor"], surface) >= 7
        assert contrast(colours["linkColor"], surface) >= 4.5
        for colour in (
            *chart_style.RUN_COLOURS,
            chart_style.WORSE,
            chart_style.UNDECIDED,
            chart_style.RELEVANT,
            chart_style.FORBIDDEN,
        ):
            assert contrast(colour, surface) >= 3, (colour, surface)
    assert contrast("#ffffff", colours["primaryColor"]) >= 4.5
    assert contrast(colours["codeTextColor"], colours["codeBackgroundColor"]) >= 4.5


@pytest.mark.parametrize("fill", ["#0f766c", "#b5391a"])
def test_contrast_of_marks(fill: str) -> None:
    assert f"background: {fill}" in markup.STYLE
    assert contrast("#ffffff", fill) >= 4.5


def test_markup_escapes_whatever_it_shows() -> None:
    doc = {"doc_id": worlds.EVIL, "title": worlds.EVIL_TEXT, "text": worlds.EVIL_TEXT * 20}
    made = markup.item("relevant", "1", "relevant", doc, markup.note("why", worlds.EVIL_TEXT))
    made += markup.facts_line([(worlds.EVIL, worlds.EVIL_TEXT)]).split("</style>")[1]
    made += markup.paragraph(worlds.EVIL_TEXT, "rr-question").split("</style>")[1]
    assert "<script" not in made
    assert "<b onclick" not in made
