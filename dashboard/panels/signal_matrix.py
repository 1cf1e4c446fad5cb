"""The signals of all runs against the baselines that they declare: runs by rules. A cell opens its pair."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa
import streamlit as st
from rankroom.signals.search import HELD_OUT
from rankroom.signals.stored import DEV, K

from panels import words
from panels.compare_pair import BASE, CAND
from panels.filters import ALL, Filters
from panels.question import Question
from panels.store_access import Row

ROW_HEIGHT, MOST_ROWS = 34, 20
SIGNS = {"fired": "●", "possible": "○"}

# A run is looked at where its baseline has scores under the same labels, of the same queries and collection.
RUNS = """
select runs.run, runs.baseline, base.run is not null as looked_at
from runs
join scorings on scorings.run = runs.run and scorings.label_set = $label_set
left join (runs as base join scorings as base_scorings
           on base_scorings.run = base.run and base_scorings.label_set = $label_set)
  on base.run = runs.baseline and base.run <> runs.run and base.query_set = runs.query_set
 and base.collection = runs.collection
order by runs.created desc nulls last, runs.added_at desc, runs.run
"""

FOUND = """
select found.run, found.rule, found.status, found.sentence, len(found.query_ids) as queries
from {found} as found
where found.label_set = $label_set and found.split = $of_split and found.k = $of_k
order by found.run, found.rule
"""


@dataclass(frozen=True)
class Matrix:
    """What the matrix shows: its runs, newest first, and the rules that found anything."""

    runs: list[Row]
    rules: list[Row]
    cells: dict[tuple[str, str], Row]
    quiet: list[str]
    """The titles of the rules that found nothing in any run."""
    without_baseline: int
    not_looked_at: list[str]


def split(filters: Filters) -> str:
    """Over which queries the kept findings are that stand nearest to the filters."""
    return ALL if filters.split == ALL else DEV


def runs(filters: Filters) -> Question:
    """The runs under these labels, with their baselines."""
    return Question(RUNS, filters.values())


def findings(filters: Filters, of_split: str) -> Question:
    """What was kept of them."""
    view = "signal_conflicts" if filters.is_current else "signal_findings"
    return Question(FOUND.format(found=view), filters.values(of_split=of_split, of_k=K))


def matrix(of_runs: list[Row], found: list[Row], catalogue: list[Row]) -> Matrix:
    """The rows, columns and cells."""
    cells = {(str(row["run"]), str(row["rule"])): row for row in found}
    spoke = {rule for _, rule in cells}
    return Matrix(
        runs=[row for row in of_runs if row["looked_at"]],
        rules=[row for row in catalogue if row["rule"] in spoke],
        cells=cells,
        # that of the held-out queries is tried only where it is asked for, and so never kept
        quiet=[str(row["title"]) for row in catalogue if row["rule"] not in {*spoke, HELD_OUT}],
        without_baseline=sum(row["baseline"] is None for row in of_runs),
        not_looked_at=[str(row["run"]) for row in of_runs if row["baseline"] and not row["looked_at"]],
    )


def frame(of: Matrix) -> pa.Table:
    """A row a run: how many signals fire, and under each rule its sign and how many queries cause it."""
    columns: dict[str, Any] = {
        "run": pa.array([row["run"] for row in of.runs], pa.string()),
        "open": pa.array(["Open ›"] * len(of.runs), pa.string()),
        "fired": pa.array([_fired(of, str(row["run"])) for row in of.runs], pa.int64()),
    }
    for rule in of.rules:
        texts = [_text(of.cells.get((str(row["run"]), str(rule["rule"])))) for row in of.runs]
        columns[str(rule["rule"])] = pa.array(texts, pa.string())
    columns["baseline"] = pa.array([row["baseline"] for row in of.runs], pa.string())
    return pa.table(columns)


def _fired(of: Matrix, run: str) -> int:
    return sum(one["status"] == "fired" for (of_run, _), one in of.cells.items() if of_run == run)


def _text(cell: Row | None) -> str | None:
    return f"{SIGNS[cell['status']]} {cell['queries']:,}" if cell else None


def notes(of: Matrix, filters: Filters) -> list[str]:
    """What the matrix leaves out, as Markdown."""
    found = []
    over = f"over the queries of {words.quoted(DEV)}" if split(filters) == DEV else "over all queries"
    if of.rules:
        found.append(
            f"■ fired, □ possible (in the table ● and ○); at k = {K} and {over}, whatever else is filtered."
            " A cell opens its pair."
        )
    if of.quiet and of.rules:
        found.append(f"Found nothing in any run: {'; '.join(of.quiet)}.")
    if of.without_baseline:
        found.append(
            f"{words.count(of.without_baseline, 'run declares', 'runs declare')} no baseline and"
            f" {'is' if of.without_baseline == 1 else 'are'} not here."
        )
    if of.not_looked_at:
        found.append(
            f"{words.listed(of.not_looked_at)}: the declared baseline is not in the store, has no scores"
            " under these labels, or was asked other queries."
        )
    return found


def sentence(of: Matrix) -> str:
    """How many runs have a signal, and which is most frequent, as Markdown."""
    fired = [key for key, one in of.cells.items() if one["status"] == "fired"]
    if not fired:
        return f"No rule fires in {words.count(len(of.runs), 'run')}; what is possible is hollow."
    with_any = len({run for run, _ in fired})
    often = Counter(rule for _, rule in fired)
    most = max(often, key=lambda rule: often[rule])
    title = next(str(row["title"]) for row in of.rules if row["rule"] == most)
    has = "has" if with_any == 1 else "have"
    return (
        f"{with_any:,} of {words.count(len(of.runs), 'run')} {has} a signal that fires; most often:"
        f" {title} ({words.count(often[most], 'run')})."
    )


def nothing(of: Matrix) -> str:
    """What there is to say of a matrix without a cell."""
    if of.runs:
        runs = words.count(len(of.runs), "run")
        return f"No rule found anything in {runs} against the declared baselines."
    return (
        "No run here has a baseline that it could be held against. A run declares one with"
        ' `baseline = "NAME"` in `runs/NAME.toml`, or with `room.add_run(..., baseline="NAME")`.'
    )


def show_table(of: Matrix) -> None:
    """The matrix as a table. A button in each cell opens the pair."""
    table = frame(of)
    config: dict[str, Any] = {
        "run": st.column_config.TextColumn("run", pinned=True, width=190),
        "open": st.column_config.ButtonColumn("pair", key="open_signals", type="tertiary", width=66),
        "baseline": st.column_config.TextColumn("baseline", width=150),
        "fired": st.column_config.NumberColumn("fired", width=52, help="How many signals fire."),
    }
    for row in of.rules:
        rule = str(row["rule"])
        config[rule] = st.column_config.ButtonColumn(
            str(row["title"]), key=f"cell_{rule}", type="tertiary", width=112, help=str(row["meaning"])
        )
    st.dataframe(
        table,
        hide_index=True,
        lazy=False,
        row_height=ROW_HEIGHT,
        height=ROW_HEIGHT * (min(len(table), MOST_ROWS) + 1) + 2,
        placeholder="·",
        key="signal_matrix",
        alt=alt_text(of),
        column_config=config,
    )
    for key in ("open_signals", *(f"cell_{row['rule']}" for row in of.rules)):
        if click := st.session_state.get(key):
            chosen = of.runs[click["row"]]
            open_pair(str(chosen["baseline"]), str(chosen["run"]))


def open_pair(baseline: str, run: str) -> NoReturn:
    """Show the signals of this pair."""
    st.query_params[BASE], st.query_params[CAND] = baseline, run
    st.rerun()


def alt_text(of: Matrix) -> str:
    """The matrix in words."""
    fired = sum(one["status"] == "fired" for one in of.cells.values())
    return (
        f"Signals of {words.count(len(of.runs), 'run')} against their declared baselines, by"
        f" {words.count(len(of.rules), 'rule')}: {fired:,} fired, {len(of.cells) - fired:,} possible."
    )
