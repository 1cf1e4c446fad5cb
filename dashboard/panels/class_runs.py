"""Causes of failure run by run: the run that is looked at, the one held against it, and the best others."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from panels import chart_style, count_map, words
from panels.filters import Filters
from panels.question import Question

KEY = "class_runs"
MOST = 8
"""Runs that are drawn: each takes its time to ask."""

# One run at a time: a single run is looked up, while several together would have the view work out every run.
COUNTS = """
select failures.run, failures.class, count(*) as queries
from failures
{join}
where failures.run = ${run} and failures.label_set = $label_set and failures.k = $k
group by failures.run, failures.class
"""


def chosen(filters: Filters, ranked: list[str]) -> list[str]:
    """The runs that are drawn, of all that are there, best first."""
    first = [run for run in (filters.run, filters.against) if run]
    return [*first, *(run for run in ranked if run not in first)][:MOST]


def question(filters: Filters, runs: list[str]) -> Question:
    """How many queries fail for which first cause in each of these runs."""
    names = {f"run_{at}": run for at, run in enumerate(runs, 1)}
    join = filters.join_queries("failures")
    sql = "union all".join(COUNTS.format(join=join, run=name) for name in names)
    return Question(f"{sql}order by run, queries desc, class", filters.values(**names))


def chart(frame: pa.Table, runs: list[str]) -> chart_style.LayerChart:
    """The map: a row for each cause, a column for each run."""
    rows = frame.to_pylist()
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["class"]] = totals.get(row["class"], 0) + row["queries"]
    failing = {run: sum(row["queries"] for row in rows if row["run"] == run) for run in runs}
    cells = [
        {
            "row": words.failure_class(row["class"]),
            "column": row["run"],
            "queries": row["queries"],
            "note": f"{row['queries']:,} of {failing[row['run']]:,} failing",
            "kind": "worse",
        }
        for row in rows
    ]
    causes = sorted(totals, key=lambda name: (-totals[name], name))
    return count_map.chart(
        pa.Table.from_pylist(cells),
        ("cause", "run"),
        [words.failure_class(name) for name in causes],
        [run for run in runs if failing[run]],
        "share",
    )


def alt_text(frame: pa.Table, runs: list[str]) -> str:
    """The map in a sentence: how many queries fail in each run."""
    rows = frame.to_pylist()
    parts = [f"{run} {sum(row['queries'] for row in rows if row['run'] == run)}" for run in runs]
    return f"Failing queries by cause and run; in all: {', '.join(parts)}."


def narrow() -> None:
    """Look at the run and the cause of the cell that was clicked: a callback of the chart."""
    if cell := count_map.clicked(KEY):
        st.session_state["run"] = cell["column"]
        st.session_state["cause"] = [words.class_of(cell["row"])]
