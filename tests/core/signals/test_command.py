"""`rankroom signals`: JSON as scripts rely on it, and text that says what was looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import rankroom
import signal_worlds
from cli_run import Run, run
from rankroom.store import Store
from signal_worlds import SINGLE
from small_stores import add_native, kept_open


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two runs that differ, two that do not, and one that was asked something else."""
    folder = tmp_path_factory.mktemp("command")
    store = signal_worlds.build(folder, "usual", "same", "must_pass_broken")
    add_native(
        store,
        folder / "other",
        queries=[{"query_id": "q"}],
        labels=[{"query_id": "q", "doc_id": "d", "grade": 1}],
        runs={name: [{"query_id": "q", "results": ["d"]}] for name in ("elsewhere", "beside")},
        dataset='name = "other"\n',
    )
    with kept_open(store) as opened:
        yield opened


@pytest.fixture
def signals(store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""
    return partial(run, monkeypatch, capsys, "signals", "--store", store.path)


def test_json_has_what_scripts_rely_on(signals: Run) -> None:
    code, out, err = signals("usual", "must_pass_broken", "-k", 5, "--json")
    (one,) = json.loads(out)
    assert (code, err) == (0, "")
    assert {"id", "status", "sentence", "numbers", "queries"} <= one.keys()
    assert (one["id"], one["status"], one["queries"]) == ("must_pass_broken", "fired", ["s00"])
    assert one["numbers"]["broken"] == 1
    assert json.loads(signals("usual", "same", "--json")[1]) == []


def test_text_has_the_sentence_the_queries_and_what_to_look_at_next(signals: Run) -> None:
    code, out, _ = signals("usual", "must_pass_broken")
    assert code == 0
    assert out.splitlines()[:7] == [
        "must_pass_broken against usual at k = 5, labels native@1: 120 queries",
        "",
        "FIRED  must_pass_broken: must-pass query broken",
        "  1 of 5 must-pass queries had a relevant document in the first 5 and has none now: s00;"
        " 0 had none and have one now; 1 in all have none",
        "  1 query: s00",
        "  next: Each of these queries by itself, before anything else.",
        "",
    ]
    assert (
        "not tried: dev_up_heldout_down (dev is held against the other splits only where that is asked for)"
        in out
    )


def test_where_nothing_fires_it_says_what_was_tried(signals: Run) -> None:
    code, out, _ = signals("usual", "same", "--held-out", "--split", "all")
    assert code == 0
    assert "\nno signal fires\ntried: ndcg_up_hit_flat, rr_flat_evidence_lost" in out
    assert "dev_up_heldout_down, labels_blur" in out
    without_costs = signals("elsewhere", "beside")[1]
    assert "\nnot tried: quality_up_cost_up (not both runs record latency or context size)" in without_costs


def test_runs_that_cannot_be_compared_say_why(signals: Run, store: Store) -> None:
    code, out, _ = signals("usual", "elsewhere")
    assert code == 5
    assert "cannot be compared" in out
    assert "was asked the queries of" in out
    code, out, err = signals("usual", "elsewhere", "--json")
    assert (code, json.loads(out)) == (5, [])
    assert "was asked the queries of" in err
    with pytest.raises(rankroom.UsageError, match="cannot be compared"):
        rankroom.open(store.path).signals("usual", "elsewhere")


def test_what_is_not_there_is_said(signals: Run) -> None:
    assert signals("usual", "nobody")[0] == 2
    code, _, err = signals("usual", "same", "-k", 7)
    assert (code, "rankroom rescore -k 7" in err) == (2, True)
    for k in (0, -1, 10**9):  # none that rescore could add
        code, _, err = signals("usual", "same", "-k", k)
        assert (code, err.startswith("k must be "), "rescore" in err) == (2, True, False)


def test_from_python(store: Store) -> None:
    (one,) = rankroom.open(store.path).signals("usual", "must_pass_broken", split="dev")
    assert (one.id, one.queries, one.n) == ("must_pass_broken", SINGLE[:1], 5)


def test_a_teams_own_thresholds(signals: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[signals]\nlatency_ms = -1.0\n")
    code, _, err = signals("usual", "same", "--thresholds", own)
    assert code == 2
    assert "signals.latency_ms" in err
