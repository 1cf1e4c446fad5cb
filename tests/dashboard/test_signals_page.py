"""The Signals page: what it says of a pair is what core finds, and the matrix is what the store keeps."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pyarrow as pa
import pytest
import signal_worlds
import worlds
from panels import signal_cards, signal_chart, signal_matrix, signals
from panels.compare_pair import Pair
from rankroom.signals.search import read_signals
from rankroom.store import Store
from signal_worlds import BETTER, Built, singles
from streamlit.typing import VegaLiteState
from test_shown_sql import shown

SLICE = "overall_up_slice_down"
FIRES = singles(0, 40, 1) | singles(50, 60, 0)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A run with a name that could be taken for anything, one where nothing fires, one without a baseline."""
    folder = tmp_path_factory.mktemp("signals")
    store = Store(folder / "store.duckdb")
    runs = {
        "usual": Built(baseline=None),
        "same": Built(),
        "order": Built(BETTER),
        "lonely": Built(baseline="not there"),
        worlds.EVIL: Built(FIRES | singles(0, 1, 0), config=f"{json.dumps(worlds.EVIL_SETTING)} = 1"),
    }
    signal_worlds.add_built(store, folder / "native", runs)
    return store


def texts(at: Any) -> str:
    """Everything that the page says, as people read it."""
    parts = [*(one.body for one in at.get("html")), *(one.value for one in at.markdown)]
    plain = " ".join([*parts, *(caption.value for caption in at.caption)])
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", " ", plain, flags=re.DOTALL)
    return " ".join(html.unescape(plain).split())


def matrix(at: Any) -> Any:
    return next(frame.value for frame in at.dataframe if frame.proto.alt.startswith("Signals of"))


def test_a_pair_is_told_as_core_finds_it(open_page: Any, ask: Any, store: Store) -> None:
    link = {"base": "usual", "cand": worlds.EVIL, "split": "all"}
    at = open_page(store, "signals", **link)
    assert not at.exception
    assert any(chart.proto.alt.startswith("Signals of 3 runs") for chart in at.get("vega_lite_chart"))
    with store.read() as con:
        found = read_signals(con, "usual", worlds.EVIL, held_out=True).findings
    assert {"must_pass_broken", SLICE} <= {one.id for one in found}
    said = texts(at)
    for one in found:
        assert " ".join(f"{signal_cards.capital(one.sentence)}.".split()) in said
        assert one.look_next in said
        assert f"{one.id}, n = {one.n}" in said
    assert "<b onclick" not in "".join(one.body for one in at.get("html"))
    for statement in shown(at):
        ask(store, statement)

    at.session_state["queries_must_pass_broken"] = True
    at.run()
    listed = next(frame.value for frame in at.dataframe if frame.proto.alt.startswith("must-pass"))
    assert list(listed["query"]) == ["s00"]
    for statement in shown(at):
        ask(store, statement)


def test_the_matrix_is_what_is_kept_and_its_cells_open_their_pair(
    open_page: Any, clicked: Any, ask: Any, store: Store
) -> None:
    at = open_page(store, "signals")
    rows = matrix(at).to_dict("records")
    kept = ask(store, "select run, rule, status, len(query_ids) from signal_conflicts where split = 'dev'")
    signs = {"fired": "●", "possible": "○"}
    cells = {(run, rule): f"{signs[status]} {num}" for run, rule, status, num in kept}
    rules = [name for name in rows[0] if name not in ("run", "open", "fired", "baseline")]
    assert {
        (row["run"], rule): row[rule] for row in rows for rule in rules if row[rule] in cells.values()
    } == cells
    assert {row["run"] for row in rows} == {"same", "order", worlds.EVIL}
    assert "`lonely`: the declared baseline is not in the store" in texts(at)
    assert "1 run declares no baseline" in texts(at)

    at = clicked(at, "cell_must_pass_broken", [row["run"] for row in rows].index(worlds.EVIL))
    assert (at.query_params["base"], at.query_params["cand"]) == ("usual", worlds.EVIL)


def test_a_click_on_the_picture_names_a_run() -> None:
    clicked = VegaLiteState({"selection": {signal_chart.CELL: [{"run": worlds.EVIL}]}})
    assert signal_chart.chosen(clicked) == worlds.EVIL
    assert signal_chart.chosen(VegaLiteState({"selection": {signal_chart.CELL: []}})) is None


def test_where_nothing_fires_it_says_what_was_tried(open_page: Any, store: Store) -> None:
    at = open_page(store, "signals", base="usual", cand="same", language="en")
    assert "`same` against `usual`: no signal fires; 12 rules tried over 70 queries." in texts(at)
    (looked,) = (one.body for one in at.get("html") if "Every rule" in one.body)
    assert looked.count("<td><bdi>quiet</bdi></td>") == 12


def test_with_one_run_it_says_what_would_fill_it(open_page: Any, single: Store) -> None:
    at = open_page(single, "signals")
    assert not at.exception
    assert "`first` is the only run here: there is nothing to hold it against." in texts(at)


def test_without_a_baseline_it_says_how_to_declare_one(open_page: Any, three: Store) -> None:
    at = open_page(three, "signals")
    assert not at.exception
    assert "No run here has a baseline that it could be held against." in texts(at)


def test_two_hundred_runs_are_rows_and_rules_that_found_nothing_no_columns() -> None:
    catalogue = [{"rule": rule, "title": rule, "meaning": ""} for rule in ("one", "two", "three")]
    runs = [{"run": f"run {at}", "baseline": "base", "looked_at": True} for at in range(200)]
    found = [
        {
            "run": f"run {at}",
            "rule": "two",
            "status": "fired" if at % 2 else "possible",
            "queries": at,
            "sentence": "It fell.",
        }
        for at in range(0, 200, 3)
    ]
    of = signal_matrix.matrix(runs, found, catalogue)
    table = signal_matrix.frame(of)
    assert table.num_rows == 200
    assert table.column_names == ["run", "open", "fired", "two", "baseline"]
    assert table.column("two")[:4].to_pylist() == ["○ 0", None, None, "● 3"]
    assert of.quiet == ["one", "three"]
    asked_for = {"rule": "dev_up_heldout_down", "title": "dev up, held-out down", "meaning": ""}
    assert signal_matrix.matrix(runs, found, [*catalogue, asked_for]).quiet == of.quiet
    assert signal_matrix.sentence(of) == "33 of 200 runs have a signal that fires; most often: two (33 runs)."
    cells = signal_chart.frame(of)
    assert cells.num_rows == len(found)
    drawn = signal_chart.chart(cells, of).to_dict(validate=True)
    (shared,) = {str(layer["encoding"]["x"]["scale"]["domain"]) for layer in drawn["layer"]}
    assert shared == str([f"run {at}" for at in reversed(range(200))])
    assert "33 fired, 34 possible" in signal_matrix.alt_text(of)
    nothing = signal_matrix.frame(signal_matrix.matrix([], [], catalogue))
    assert nothing.schema.field("run").type == pa.string()


def test_the_sentence_of_a_pair(store: Store) -> None:
    pair = Pair("usual", "order")
    with store.read() as con:
        found = read_signals(con, "usual", "order")
        nothing = read_signals(con, "usual", "order", queries=["none"])
    assert (
        signals.sentence(pair, found)
        == "`order` against `usual`: 1 signal fires; 12 rules tried over 120 queries."
    )
    assert signals.sentence(pair, nothing) == "`order` against `usual`: no query is left to look at."
    assert signals.metric_of(found.findings[0]) == "ndcg"
