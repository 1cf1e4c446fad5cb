"""Tables that are wider than a screen say so; sentences in them are read in full."""

from __future__ import annotations

from typing import Any

import pytest
import worlds
from panels import signal_cards
from panels.targets import Target, note
from rankroom.store import Store


def test_the_leaderboard_names_what_stands_to_the_right(look: Any, three: Store) -> None:
    at = look(three)
    (said,) = (one.value for one in at.caption if "goes on to the right" in one.value)
    columns = list(at.dataframe[0].value.columns)
    assert columns.index("errored") < columns.index("judged") < columns.index("target_rr")
    assert said.count(" · ") == len(columns) - columns.index("errored") - 2
    assert "MAP" in said
    assert "MRR ≥ 0.700 · precision ≥ 0.600" in said


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"rr": 0.7, "precision": 0.6}, "Default targets."),
        ({"rr": 0.7}, "A default target."),
        ({"rr": 0.7, "precision": 0.5}, "The target for MRR is a default."),
        ({"rr": 0.5, "hit": 0.9}, ""),
        ({}, ""),
    ],
)
def test_a_page_says_which_targets_nobody_set(chosen: dict[str, float], said: str) -> None:
    assert note([Target(metric, value) for metric, value in chosen.items()]) == said


def test_the_runs_page_says_that_its_targets_are_defaults(look: Any, three: Store) -> None:
    assert "Default targets." in [one.value for one in look(three).caption]
    own = look(three, target_rr="0.5", target_precision="0.5")
    assert not [one.value for one in own.caption if "efault" in one.value]


def test_rules_are_told_in_full_and_as_text() -> None:
    row = {"rule": worlds.EVIL, "became": "quiet", "meaning": "long " * 60, "fires_when": worlds.EVIL_TEXT}
    made = signal_cards.rules([row]).split("</style>")[1]
    assert "long " * 60 in made
    assert "<script" not in made
    assert "<b onclick" not in made
