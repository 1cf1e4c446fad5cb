"""The metrics of one query in all runs, in the order in which the runs were made."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import chart_style, words
from panels.filters import Filters
from panels.question import Question

# A run that does not say when it was made stands where it was added.
HISTORY = """
select scores.run, coalesce(runs.created, runs.added_at) as made, runs.created is null as is_undated,
       coalesce(runs.series, '(no series)') as series, scores.{metric} as value, uncut.first_relevant_rank,
       scores.outcome,
       case scores.run when $run then 'this run' when $against then 'baseline' else 'other runs' end as role
from query_scores as scores
join query_scores_uncut as uncut on uncut.run = scores.run and uncut.label_set = scores.label_set
                                and uncut.query_id = scores.query_id
join runs on runs.run = scores.run
where scores.label_set = $label_set and scores.query_id = $query and scores.k = $k
  and uncut.label_set = $label_set and uncut.query_id = $query
order by made, scores.run
"""

METRICS = ("ndcg", "recall", "rr", "precision", "complete", "hit", "ap")
LABELS = {"rr": "RR", "ap": "AP", "ndcg": "NDCG", "hit": "hit"}
ROLES = {
    "this run": (chart_style.CANDIDATE, "circle", 130),
    "baseline": (chart_style.BASELINE, "square", 110),
    "other runs": (chart_style.UNDECIDED, "circle", 50),
}


def label(metric: str) -> str:
    """The metric of a single query in words."""
    return LABELS.get(metric, metric)


def choose() -> str:
    """Which metric is drawn."""
    return (
        st.selectbox("Metric", METRICS, format_func=label, key="history", bind="query-params", width=160)
        or "ndcg"
    )


def question(filters: Filters, query_id: str, metric: str) -> Question:
    """The query's metric in every run."""
    return Question(
        HISTORY.format(metric=metric if metric in METRICS else "ndcg"), filters.values(query=query_id)
    )


def chart(frame: pa.Table, metric: str, k: int) -> chart_style.LayerChart:
    """A point for each run; the lines join the runs of a series."""
    title = f"{label(metric)}@{k}"
    x = alt.X(
        "made:T",
        title="created (UTC)",
        scale=alt.Scale(type="utc", padding=18),
        axis=alt.Axis(grid=False, tickCount=8, labelOverlap=True),
    )
    y = alt.Y(
        "value:Q",
        title=title,
        scale=alt.Scale(domain=[0, 1], padding=8),
        axis=alt.Axis(tickCount=5, format=".1f"),
    )
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("when:N", title="created"),
        alt.Tooltip("value:Q", title=title, format=".3f"),
        alt.Tooltip("first_relevant_rank:Q", title="first relevant rank"),
        alt.Tooltip("outcome:N", title="outcome"),
    ]
    roles = [name for name in ROLES if name in set(frame.column("role").to_pylist())]
    base = chart_style.Chart(frame).transform_calculate(when="utcFormat(datum.made, '%Y-%m-%d %H:%M')")
    lines = base.mark_line(color=chart_style.UNDECIDED, opacity=0.5, strokeWidth=1).encode(
        x=x, y=y, detail="series:N"
    )
    points = base.mark_point(filled=True, opacity=0.95).encode(
        x=x,
        y=y,
        tooltip=tooltip,
        color=alt.Color(
            "role:N", scale=alt.Scale(domain=roles, range=[ROLES[one][0] for one in roles]), legend=None
        ),
        shape=alt.Shape(
            "role:N", scale=alt.Scale(domain=roles, range=[ROLES[one][1] for one in roles]), legend=None
        ),
        size=alt.Size(
            "role:N", scale=alt.Scale(domain=roles, range=[ROLES[one][2] for one in roles]), legend=None
        ),
        order=alt.Order("role:N", sort="ascending"),
    )
    return chart_style.LayerChart(layer=[lines, points], **chart_style.look(height=230))


def sentence(frame: pa.Table, run: str, metric: str, k: int) -> str:
    """How the run stands among the others on this query, as Markdown."""
    rows = [row for row in frame.to_pylist() if row["value"] is not None]
    if not rows:
        return "No run has a metric of this query: nothing answers it by the labels."
    best = max(row["value"] for row in rows)
    name = f"{label(metric)}@{k}"
    if best == 0:
        return f"No run has {name} above 0 on this query ({words.count(len(rows), 'run')})."
    mine = next((row["value"] for row in rows if row["run"] == run), None)
    first = [str(row["run"]) for row in rows if row["value"] == best]
    if mine == best:
        alone = len(first) == 1
        return (
            f"No run of {len(rows):,} is better on this query than {words.quoted(run)}: {name} "
            f"{words.number(mine)}" + ("." if alone else f", as {words.count(len(first) - 1, 'other run')}.")
        )
    worse_than = sum(row["value"] > (mine or 0) for row in rows)
    return (
        f"{words.count(worse_than, 'run')} of {len(rows):,} "
        f"{'does' if worse_than == 1 else 'do'} better on this query than {words.quoted(run)} "
        f"({name} {words.number(mine)}); {words.listed(first, 2)} {'has' if len(first) == 1 else 'have'} "
        f"{words.number(best)}."
    )


def alt_text(frame: pa.Table, run: str, metric: str, k: int) -> str:
    """The chart in a sentence."""
    values = frame.column("value").drop_null()
    if not len(values):
        return "No values."
    low, high = pc.min(values).as_py(), pc.max(values).as_py()
    name = f"{label(metric)}@{k} of this query in {len(values)} runs over time"
    return f"{name}, from {low:.3f} to {high:.3f}; {run} is marked."


def show_legend(frame: pa.Table) -> None:
    """What the points stand for."""
    signs = {"circle": "●", "square": "■"}
    names = set(frame.column("role").to_pylist())
    parts = [
        f'<span><span aria-hidden="true" style="color:{colour}">{signs[shape]}</span> {name}</span>'
        for name, (colour, shape, _) in ROLES.items()
        if name in names
    ]
    parts.append("<span>lines: runs of a series</span>")
    st.html(
        f'<div style="display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.9rem">{"".join(parts)}</div>'
    )
