"""Causes of failure by category, language, or whatever else tells queries apart."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from panels import chart_style, count_map, failure_list, slice_links, words
from panels.filters import Filters
from panels.question import Question

KEY = "class_slices"
MOST = 12
"""Slices that are drawn: the largest."""

DIMENSIONS = Question(
    "select distinct dimension from query_slices where query_set = $query_set order by dimension"
)

SLICED = """
with chosen as (
    select query_slices.query_id, query_slices.slice
    from query_slices
    {join}
    where query_slices.query_set = $query_set and query_slices.dimension = $by
      and query_slices.query_id in (select query_id from query_scores_uncut as scores
                                    where scores.run = $run and scores.label_set = $label_set)
), sizes as (
    select slice, count(*) as n from chosen group by slice
)
select failing.class, chosen.slice, count(*) as queries, sizes.n
from ({listed}) as failing
join chosen on chosen.query_id = failing.query_id
join sizes on sizes.slice = chosen.slice
group by failing.class, chosen.slice, sizes.n
order by sizes.n desc, chosen.slice, queries desc
"""


def question(filters: Filters, by: str) -> Question:
    """How many queries of each slice fail for which first cause, and how many labelled queries it has."""
    sql = SLICED.format(
        join=filters.join_queries("query_slices").replace("\n", "\n    "),
        listed=failure_list.listed(filters, by_cause=False),
    )
    return Question(sql, filters.values(by=by))


def choose(dimensions: list[str]) -> str | None:
    """The dimension to divide by; None for all queries together."""
    if not dimensions:
        return None
    return st.selectbox(
        "Divide by",
        dimensions,
        index=None,
        key="by",
        bind="query-params",
        persist_state="session",
        placeholder="all queries together",
        width=260,
    )


def _columns(frame: pa.Table) -> dict[str, str]:
    """The slices that are drawn, each with its size."""
    sizes = {row["slice"]: row["n"] for row in frame.to_pylist()}
    return {name: f"{words.clipped(name, 22)} ({n:,})" for name, n in list(sizes.items())[:MOST]}


def chart(frame: pa.Table, by: str) -> chart_style.LayerChart:
    """The map: a row for each cause, a column for each slice with its number of labelled queries."""
    columns = _columns(frame)
    rows = [row for row in frame.to_pylist() if row["slice"] in columns]
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["class"]] = totals.get(row["class"], 0) + row["queries"]
    cells = [
        {
            "row": words.failure_class(row["class"]),
            "column": columns[row["slice"]],
            "queries": row["queries"],
            "note": f"{row['queries'] / row['n']:.0%} of {row['n']:,}",
            "kind": "worse",
        }
        for row in rows
    ]
    return count_map.chart(
        pa.Table.from_pylist(cells),
        ("cause", words.clipped(by, 40)),
        [words.failure_class(name) for name in sorted(totals, key=lambda name: (-totals[name], name))],
        list(columns.values()),
        "share of the slice",
    )


def alt_text(frame: pa.Table, by: str, run: str) -> str:
    """The map in a sentence: its largest cells."""
    rows = sorted(frame.to_pylist(), key=lambda row: -row["queries"])[:5]
    parts = [
        f"{words.failure_class(row['class'])} in {row['slice']} {row['queries']} of {row['n']}"
        for row in rows
    ]
    return f"Failing queries of {run} by cause and {by}: {', '.join(parts)}."


def narrow(by: str, slices: list[str]) -> None:
    """List the queries of the cell that was clicked: a callback of the chart."""
    cell = count_map.clicked(KEY)
    name = next((one for one in slices if cell and f"{words.clipped(one, 22)} (" in cell["column"]), None)
    st.session_state["cause"] = [words.class_of(cell["row"])] if cell else []
    if by == "must_pass":
        st.session_state[by] = name or "all"
    else:
        st.session_state[slice_links.widget_key(by)] = [name] if name else []
