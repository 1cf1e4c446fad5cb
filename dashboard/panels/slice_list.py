"""The slices of one run, worst first, each with its gap to the run's mean and the first of its failures."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import streamlit as st

from panels import failure_list, slice_links, words
from panels.filters import Filters
from panels.question import Question
from panels.slice_choice import Choice
from panels.store_access import Row

FIRST = 3
CLIPPED = 24
ROW_HEIGHT, MOST_ROWS = 35, 14

OF_WHICH = "Failing is of all labelled queries: also of those that nothing answers, which n leaves out."

FAILING = """
select first_by.slice as "row"{second}, count(*) as failing,
       list({{'query_id': listed.query_id, 'text': listed.text}} order by {order})[:{first}] as first
from ({listed}) as listed
join query_slices as first_by
  on first_by.query_set = $query_set and first_by.query_id = listed.query_id and first_by.dimension = $rows
{join}group by all
"""

SECOND = """join query_slices as second_by
  on second_by.query_set = $query_set and second_by.query_id = listed.query_id
 and second_by.dimension = $second
"""

Failing = dict[tuple[Any, ...], Row]


def failing(filters: Filters, choice: Choice) -> Question:
    """How many queries of each slice fail in the run that the filters name, and the gravest of them."""
    sql = FAILING.format(
        second=', second_by.slice as "column"' if choice.second else "",
        join=SECOND if choice.second else "",
        listed=failure_list.listed(filters),
        order=failure_list.ORDER.replace("query_id", "listed.query_id"),
        first=FIRST,
    )
    return Question(sql, filters.values(rows=choice.rows, second=choice.second))


def by_slice(rows: list[Row], choice: Choice) -> Failing:
    """The same by slice."""
    return {key(row, choice): row for row in rows}


def key(row: Row, choice: Choice) -> tuple[Any, ...]:
    """What tells a slice from the others of its run."""
    return (row["row"], row["column"]) if choice.second else (row["row"],)


def show(ranked: list[Row], failures: Failing | None, run: str, choice: Choice, filters: Filters) -> None:
    """The list. Its buttons open the failures of a slice, or one of them."""
    columns: dict[str, pa.Array] = {
        "row": pa.array([row["row"] for row in ranked], pa.string()),
        **({"column": pa.array([row["column"] for row in ranked], pa.string())} if choice.second else {}),
        "n": pa.array([row["n"] for row in ranked], pa.int64()),
        "value": pa.array([row["value"] for row in ranked], pa.float64()),
        "gap": pa.array([words.signed(row["gap"]) for row in ranked], pa.string()),
        "thin": pa.array(["thin" if row["thin"] else "" for row in ranked], pa.string()),
    }
    if not any(row["thin"] for row in ranked):
        del columns["thin"]
    first: list[list[Row]] = []
    if failures is not None:
        mine = [failures.get(key(row, choice)) for row in ranked]
        first = [list(one["first"]) if one else [] for one in mine]
        columns["failing"] = pa.array(
            [
                f"{one['failing']:,} of {row['labelled']:,} ›" if one else None
                for one, row in zip(mine, ranked, strict=True)
            ],
            pa.string(),
        )
        for at in range(FIRST):
            columns[f"failure_{at}"] = pa.array(
                [words.clipped(_label(some[at]), CLIPPED) if at < len(some) else None for some in first],
                pa.string(),
            )
    st.dataframe(
        pa.table(columns),
        hide_index=True,
        lazy=False,
        placeholder="–",
        row_height=ROW_HEIGHT,
        height=ROW_HEIGHT * (min(len(ranked), MOST_ROWS) + 1) + 2,
        key="worst_slices",
        alt=f"Slices of {run} by {words.metric(choice.metric, filters.k)}, worst first.",
        column_config=_columns(choice, filters),
    )
    _follow(ranked, first, run, choice)


def _label(query: Row) -> str:
    return str(query["text"] or query["query_id"])


def _columns(choice: Choice, filters: Filters) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "row": st.column_config.TextColumn(choice.rows, pinned=True),
        "column": st.column_config.TextColumn(choice.second, pinned=True),
        "n": st.column_config.NumberColumn("n", format="%d", help=words.COLUMNS["n"]),
        "value": st.column_config.NumberColumn(words.metric(choice.metric, filters.k), format="%.3f"),
        "gap": st.column_config.TextColumn(
            "gap", alignment="right", help="The slice's mean less the run's mean over all queries in force."
        ),
        "thin": st.column_config.TextColumn("", width=46),
        "failing": st.column_config.ButtonColumn(
            "failing",
            key="open_slice",
            type="tertiary",
            width=106,
            help=f"For whatever cause; opens their list. {OF_WHICH}",
        ),
    }
    for at in range(FIRST):
        columns[f"failure_{at}"] = st.column_config.ButtonColumn(
            ("first failure", "second", "third")[at],
            key=f"open_failure_{at}",
            type="tertiary",
            width=184,
        )
    return columns


def _follow(ranked: list[Row], first: list[list[Row]], run: str, choice: Choice) -> None:
    if click := st.session_state.get("open_slice"):
        row = ranked[click["row"]]
        slice_links.to_failures(run, dict(zip(choice.dimensions, key(row, choice), strict=True)))
    for at in range(FIRST):
        if click := st.session_state.get(f"open_failure_{at}"):
            slice_links.to_query(run, str(first[click["row"]][at]["query_id"]))
