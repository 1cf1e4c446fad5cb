"""The charts as pure functions: a frame in, a valid specification and a sentence out."""

from __future__ import annotations

import tomllib
from typing import Any

import pyarrow as pa
import pytest
import worlds
from panels import chart_style, failure_list, first_ranks, k_curve, markup
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


def charts() -> list[Any]:
    return [
        *(k_curve.chart(CURVE, metric, ["a", worlds.EVIL], k=5) for metric in k_curve.METRICS),
        k_curve.chart(CURVE.slice(0, 1), "hit", ["a"], k=1),
        first_ranks.chart(RANKS, ["a", worlds.EVIL]),
        failure_list.chart(COUNTS),
    ]


@pytest.mark.parametrize("number", range(6))
def test_every_chart_is_valid(number: int) -> None:
    specification = charts()[number].to_dict(validate=True)
    assert specification["height"] > 0


def test_what_charts_say_without_eyes() -> None:
    assert k_curve.alt_text(CURVE, "hit", ["a"]) == (
        "Hit rate over the cutoff k: a from 0.250 at k = 1 to 0.500 at k = 5."
    )
    assert "no values" in k_curve.alt_text(CURVE, "recall", [worlds.EVIL])
    assert "a: 3 of 4 queries at rank 1, 1 never" in first_ranks.alt_text(RANKS, ["a"])
    assert failure_list.alt_text(COUNTS, "a") == (
        "Failing queries of a by cause: never retrieved 3, lost at <b> 1."
    )


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
