"""Where the first relevant document stands: the shape that a mean reciprocal rank hides."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import streamlit as st

from panels import chart_style
from panels.filters import Filters
from panels.question import Question

BUCKETS = ("1", "2–3", "4–5", "6–10", "11–20", "21–50", "51–100", "beyond 100", "never", "not run", "unknown")

SQL = """
select run, position, bucket, count(*) as queries,
       count(*) / sum(count(*)) over (partition by run) as share,
       sum(count(*)) over (partition by run)::bigint as n
from (
    select scores.run,
           case when outcome in ('left_out', 'error', 'timeout') then {{'position': 10, 'bucket': 'not run'}}
                when first_relevant_rank is null and unknown_because is not null
                then {{'position': 11, 'bucket': 'unknown'}}
                when first_relevant_rank is null then {{'position': 9, 'bucket': 'never'}}
                when first_relevant_rank = 1 then {{'position': 1, 'bucket': '1'}}
                when first_relevant_rank <= 3 then {{'position': 2, 'bucket': '2–3'}}
                when first_relevant_rank <= 5 then {{'position': 3, 'bucket': '4–5'}}
                when first_relevant_rank <= 10 then {{'position': 4, 'bucket': '6–10'}}
                when first_relevant_rank <= 20 then {{'position': 5, 'bucket': '11–20'}}
                when first_relevant_rank <= 50 then {{'position': 6, 'bucket': '21–50'}}
                when first_relevant_rank <= 100 then {{'position': 7, 'bucket': '51–100'}}
                else {{'position': 8, 'bucket': 'beyond 100'}} end as place,
           place['position'] as position, place['bucket'] as bucket
    from {view} as scores
    {join}
    where {scope} and num_relevant > 0 and list_contains($drawn, scores.run)
)
group by run, position, bucket
order by list_position($drawn, run), position
"""


def question(filters: Filters, runs: list[str]) -> Question:
    """How many queries of each of these runs have their first relevant document where."""
    sql = SQL.format(
        view=filters.view("query_scores_uncut"),
        join=filters.join_queries("scores"),
        scope=filters.scope("scores", at_k=False),
    )
    return Question(sql, filters.values(drawn=tuple(runs)))


def fills(frame: pa.Table) -> dict[str, str]:
    """The colour of each bucket that occurs, in order: dark is high up in the list, hollow is unknown."""
    colours = dict(zip(BUCKETS[:8], chart_style.LEVELS, strict=True)) | {
        "never": chart_style.WORSE,
        "not run": chart_style.UNDECIDED,
        "unknown": "transparent",
    }
    occurring = set(frame.column("bucket").to_pylist())
    return {bucket: colours[bucket] for bucket in BUCKETS if bucket in occurring}


def chart(frame: pa.Table, runs: list[str]) -> chart_style.Chart:
    """A bar per run, divided by the rank of the first relevant document."""
    colours = fills(frame)
    return (
        chart_style.Chart(frame, **chart_style.look(height=26 * len(runs) + 60))
        .mark_bar(stroke=chart_style.UNDECIDED, strokeWidth=0.6)
        .encode(
            x=alt.X(
                "share:Q",
                title="share of the queries",
                stack="zero",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", grid=False, tickCount=5),
            ),
            y=alt.Y("run:N", sort=runs, title=None),
            order=alt.Order("position:Q"),
            color=alt.Color(
                "bucket:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=None
            ),
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("bucket:N", title="first relevant rank"),
                alt.Tooltip("queries:Q", title="queries"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
                alt.Tooltip("n:Q", title="n"),
            ],
        )
    )


def alt_text(frame: pa.Table, runs: list[str]) -> str:
    """The chart in a sentence: how many queries each run answers at rank 1, and how many never."""
    rows = frame.to_pylist()
    parts = []
    for run in runs[:3]:
        mine = {row["bucket"]: row for row in rows if row["run"] == run}
        if mine:
            n = next(iter(mine.values()))["n"]
            first = mine["1"]["queries"] if "1" in mine else 0
            never = mine["never"]["queries"] if "never" in mine else 0
            parts.append(f"{run}: {first} of {n} queries at rank 1, {never} never")
    return f"Rank of the first relevant document. {'; '.join(parts) or 'No queries'}."


def show_table(frame: pa.Table, runs: list[str]) -> None:
    """The same as numbers: the count and the share of every bucket, a row per run."""
    rows = frame.to_pylist()
    present = [bucket for bucket in BUCKETS if any(row["bucket"] == bucket for row in rows)]
    cells = {(row["run"], row["bucket"]): f"{row['queries']} · {row['share']:.0%}" for row in rows}
    totals = {row["run"]: row["n"] for row in rows}
    columns: dict[str, list[object]] = {"run": list(runs), "n": [totals.get(run, 0) for run in runs]}
    for bucket in present:
        columns[bucket] = [cells.get((run, bucket), "0") for run in runs]
    st.dataframe(
        pa.table(columns),
        hide_index=True,
        lazy=False,
        key="first_ranks",
        alt="Count and share of queries by the rank of their first relevant document, a row per run.",
        column_config={"run": st.column_config.TextColumn("run", pinned=True)}
        | {bucket: st.column_config.TextColumn(bucket, alignment="right") for bucket in present},
    )
