"""Scores of answers beside retrieval: how they fare where the evidence was complete, partial or missing."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import streamlit as st

from panels import chart_style, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

EVIDENCE = ("complete", "partial", "missing", "no_answer")

# The view answers_by_evidence, for the queries under the filters.
ANSWERS = """
select answer_scores.run, answer_scores.name, evidence_state(scores) as evidence,
       count(*) as n, avg(answer_scores.value) as mean, median(answer_scores.value) as median,
       min(answer_scores.value) as lowest, max(answer_scores.value) as highest
from answer_scores
join query_scores as scores on scores.run = answer_scores.run and scores.query_id = answer_scores.query_id
{join}
where list_contains($runs, answer_scores.run) and scores.label_set = $label_set and scores.k = $k
group by answer_scores.run, answer_scores.name, evidence
order by answer_scores.name, list_position(['complete', 'partial', 'missing', 'no_answer'], evidence),
         answer_scores.run <> $run
"""


def question(filters: Filters) -> Question:
    """The scores of the run's answers, and of the one held against it, by what evidence there was."""
    runs = tuple(run for run in (filters.run, filters.against) if run)
    return Question(ANSWERS.format(join=filters.join_queries("scores")), filters.values() | {"runs": runs})


def sentence(rows: list[Row], run: str) -> str:
    """Where answers are good without evidence, or bad in spite of it, as Markdown."""
    mine = [row for row in rows if row["run"] == run]
    if not mine:
        return f"{words.quoted(run)} brings no scores of its answers."
    name = mine[0]["name"]
    means = {row["evidence"]: row for row in mine if row["name"] == name}
    parts = [
        f"{words.number(row['mean'])} where the evidence is {kind} (n = {row['n']:,})"
        if kind != "no_answer"
        else f"{words.number(row['mean'])} where nothing answers (n = {row['n']:,})"
        for kind in EVIDENCE
        if (row := means.get(kind))
    ]
    return f"Mean {words.quoted(name)}: {', '.join(parts)}."


def _evidence(row: Row) -> str:
    return str(row["evidence"]).replace("_", " ")


def chart(frame: pa.Table, name: str, runs: list[str]) -> chart_style.Chart:
    """One score: a bar for each kind of evidence and run; its label says the mean and n."""
    rows = [row for row in frame.to_pylist() if row["name"] == name]
    labels = [
        f"{_evidence(row)}, {words.clipped(row['run'], 26)}: {words.number(row['mean'])} (n = {row['n']:,})"
        for row in rows
    ]
    shown = pa.Table.from_pylist(rows, schema=frame.schema)
    colours = [chart_style.CANDIDATE, chart_style.BASELINE][: len(runs)]
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("evidence:N", title="evidence"),
        alt.Tooltip("mean:Q", title="mean", format=".3f"),
        alt.Tooltip("median:Q", title="median", format=".3f"),
        alt.Tooltip("lowest:Q", title="lowest", format=".3f"),
        alt.Tooltip("highest:Q", title="highest", format=".3f"),
        alt.Tooltip("n:Q", title="n"),
    ]
    return (
        chart_style.Chart(
            shown.append_column("label", pa.array(labels, pa.string())),
            title=alt.TitleParams(words.clipped(name, 50)),
            **chart_style.look(height=26 * len(rows) + 84),
        )
        .mark_bar(height=16)
        .encode(
            x=alt.X("mean:Q", title=f"mean {words.clipped(name, 40)}", axis=alt.Axis(tickCount=5)),
            y=alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(ticks=False, labelLimit=360)),
            color=alt.Color("run:N", scale=alt.Scale(domain=runs, range=colours), legend=None),
            tooltip=tooltip,
        )
    )


def alt_text(frame: pa.Table, name: str) -> str:
    """The chart in a sentence."""
    parts = [
        f"{row['run']}, {_evidence(row)} {words.number(row['mean'])} (n = {row['n']})"
        for row in frame.to_pylist()
        if row["name"] == name
    ]
    return f"Mean {name} by evidence: {'; '.join(parts)}."


def show(frame: pa.Table, filters: Filters) -> None:
    """A chart for each score."""
    rows = frame.to_pylist()
    names = list(dict.fromkeys(row["name"] for row in rows))
    runs = [run for run in (filters.run, filters.against) if any(row["run"] == run for row in rows)]
    with st.grid(2 if len(names) > 1 else 1, min_column_width=360):
        for name in names:
            st.altair_chart(chart(frame, name, runs), alt=alt_text(frame, name), key=f"answers_{name}")
