"""The leaderboard as a table: ceilings in its headings, targets, and a way to each run's failures."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import costs, words
from panels.filters import Filters
from panels.leaderboard import ABSTENTION, COSTS, COUNTS, MEANS, ceilings
from panels.store_access import Row
from panels.targets import Target

ALWAYS = ("missed", "left_out", "errored", *MEANS, "judged")
"""Columns that are there even when all is well: a reader looks for them."""

LAST_IN_SIGHT = "errored"
"""The last column that a laptop's screen has room for; the caption names those after it."""

ROW_HEIGHT = 34
NARROW, CEILING = 60, 108
"""Widths of columns of numbers: under a word, and under a word with its ceiling."""

MOST_ROWS = 18
"""Beyond so many runs the table scrolls inside itself."""


def show(frame: pa.Table, targets: list[Target], filters: Filters) -> None:
    """The table. A click on a row's button opens the failures of its run."""
    rows = frame.to_pylist()
    below_one = ceilings(rows)
    shown = frame.select(["run"]).append_column("open", pa.array(["Failures ›"] * len(rows), pa.string()))
    if len(rows) > 1:
        shown = shown.append_column("compare", pa.array(["Compare ›"] * len(rows), pa.string()))
    for name in ("n", *MEANS[:5]):
        shown = shown.append_column(name, frame.column(name))
    for name in (*COUNTS, *MEANS[5:], "judged"):
        if name in ALWAYS or pc.any(pc.not_equal(frame.column(name), 0)).as_py():
            shown = shown.append_column(name, frame.column(name))
    for target in targets:  # after what is measured: the sentences above the table say it already
        shown = shown.append_column(
            f"target_{target.metric}", pa.array([target.text(row) for row in rows], pa.string())
        )
    if pc.any(pc.not_equal(frame.column("no_answer"), 0)).as_py():
        for name in ABSTENTION:
            shown = shown.append_column(name, frame.column(name))
    for name in COSTS:
        if frame.column(name).null_count < len(rows):
            shown = shown.append_column(name, frame.column(name))
    for name in ("series", "created"):
        if frame.column(name).null_count < len(rows):
            shown = shown.append_column(name, frame.column(name))
    columns = _columns(filters, targets, below_one) | _cost_columns(rows)
    st.dataframe(
        shown,
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=ROW_HEIGHT * (min(len(rows), MOST_ROWS) + 1) + 2,
        placeholder="–",
        lazy=False,
        key="leaderboard",
        alt=f"Runs by {words.metric(filters.order, filters.k)}, best first: means, counts and targets.",
        column_config=columns,
    )
    further = shown.column_names[shown.column_names.index(LAST_IN_SIGHT) + 1 :]
    st.caption(f"The table goes on to the right: {' · '.join(columns[name]['label'] for name in further)}.")
    if click := st.session_state.get("open_compare"):
        st.switch_page("app_pages/compare.py", query_params={"cand": str(rows[click["row"]]["run"])})
    if click := st.session_state.get("open_failures"):
        st.switch_page("app_pages/failures.py", query_params={"run": str(rows[click["row"]]["run"])})


def _cost_columns(rows: list[Row]) -> dict[str, Any]:
    labels = dict(zip(COSTS, ("latency p50, ms", "p95, ms", "context tokens"), strict=True))
    return {
        name: st.column_config.NumberColumn(
            label, format=costs.format_of(rows, name), help=words.COLUMNS[name]
        )
        for name, label in labels.items()
    }


def _columns(filters: Filters, targets: list[Target], below_one: dict[str, float]) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "run": st.column_config.TextColumn("run", pinned=True),
        "open": st.column_config.ButtonColumn(
            "open",
            key="open_failures",
            type="tertiary",
            width="small",
            help="Opens the failing queries of this run.",
        ),
        "compare": st.column_config.ButtonColumn(
            "compare",
            key="open_compare",
            type="tertiary",
            width="small",
            help="Holds this run against the baseline that it declares.",
        ),
        "n": st.column_config.NumberColumn("n", format="%d", width=48, help=words.COLUMNS["n"]),
        "judged": st.column_config.NumberColumn(
            "judged", format="%.3f", width=NARROW, help=words.COLUMNS["judged"]
        ),
        "series": st.column_config.TextColumn("series"),
        "created": st.column_config.DatetimeColumn("created", format="YYYY-MM-DD HH:mm", timezone="UTC"),
    }
    for name in MEANS:
        label = words.METRICS[name] + (f" ≤ {words.number(below_one[name])}" if name in below_one else "")
        about = words.COLUMNS[name]
        if name in below_one:
            about += f" A perfect ranking would get {words.number(below_one[name])} under these labels."
        columns[name] = st.column_config.NumberColumn(
            label, format="%.3f", width=CEILING if name in below_one else NARROW, help=about
        )
    for name in COUNTS:
        columns[name] = st.column_config.NumberColumn(
            name.replace("_", " "), format="%d", width=NARROW, help=words.COLUMNS[name]
        )
    for name in ABSTENTION:
        columns[name] = st.column_config.NumberColumn(
            name.replace("_", " "), format="%.3f", help=words.COLUMNS[name]
        )
    for target in targets:
        columns[f"target_{target.metric}"] = st.column_config.TextColumn(
            f"{words.METRICS[target.metric]} ≥ {words.number(target.value)}",
            help=f"Whether {words.metric(target.metric, filters.k)} reaches the target.",
        )
    return columns
