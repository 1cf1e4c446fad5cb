"""Hit rate, recall and precision over the cutoff k: where in the ranking a run wins or loses."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from panels import chart_style, means, words
from panels.filters import Filters
from panels.question import Question

METRICS = ("hit", "recall", "precision")

CURVE = """
select means.run, means.k, means.n, means.hit, means.recall, means.precision
from {source}
{where}order by means.run, means.k
"""


def question(filters: Filters) -> Question:
    """The three means of every run at every cutoff."""
    source, where = means.source(filters, at_k=False)
    sql = CURVE.format(source=source, where=f"where {where}\n" if where else "")
    return Question(sql, filters.values())


def chart(frame: pa.Table, metric: str, highlighted: list[str], k: int) -> chart_style.LayerChart:
    """One metric over k: the highlighted runs in colour, all others as thin grey lines behind them."""
    shown = frame.select(["run", "k", "n", metric]).filter(pc.is_valid(frame.column(metric)))
    in_front = pc.is_in(shown.column("run"), pa.array(highlighted, pa.string()))
    cutoffs = sorted(pc.unique(shown.column("k")).to_pylist())
    x = alt.X(
        "k:Q",
        title="cutoff k",
        scale=alt.Scale(type="log", nice=False, domain=[min(cutoffs) * 0.88, max(cutoffs) * 1.13]),
        axis=alt.Axis(values=cutoffs, format="d", grid=False, labelOverlap=False),
    )
    y = alt.Y(
        f"{metric}:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5, format=".1f")
    )
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("k:Q", title="k"),
        alt.Tooltip(f"{metric}:Q", title=words.METRICS[metric], format=".3f"),
        alt.Tooltip("n:Q", title="n"),
    ]
    at_k = (
        chart_style.Chart(alt.Data(values=[{"k": k}]))
        .mark_rule(color=chart_style.UNDECIDED, strokeDash=[3, 3], strokeWidth=1)
        .encode(x="k:Q")
    )
    behind = (
        chart_style.Chart(shown.filter(pc.invert(in_front)))
        .mark_line(color=chart_style.UNDECIDED, opacity=0.35, strokeWidth=1)
        .encode(x=x, y=y, detail="run:N", tooltip=tooltip)
    )
    front = chart_style.Chart(shown.filter(in_front)).encode(x=x, y=y, tooltip=tooltip)
    lines = front.mark_line(strokeWidth=2).encode(color=chart_style.run_colour(highlighted))
    points = front.mark_point(filled=True, size=52, opacity=1).encode(
        color=chart_style.run_colour(highlighted), shape=chart_style.run_shape(highlighted)
    )
    layers = [at_k, behind, lines, points]
    return chart_style.LayerChart(layer=layers, title=title(metric), **chart_style.look(height=270))


def title(metric: str) -> str:
    """What the chart of this metric shows."""
    return {
        "hit": "Hit rate: a relevant document is there",
        "recall": "Recall: share of the relevant found",
        "precision": "Precision: share of the first k relevant",
    }[metric]


def alt_text(frame: pa.Table, metric: str, highlighted: list[str]) -> str:
    """The chart in a sentence: each highlighted run's value at the smallest and the largest cutoff."""
    rows = frame.filter(pc.is_in(frame.column("run"), pa.array(highlighted[:3], pa.string()))).to_pylist()
    parts = []
    for run in highlighted[:3]:
        values = [row for row in rows if row["run"] == run and row[metric] is not None]
        if values:
            first, last = values[0], values[-1]
            parts.append(
                f"{run} from {first[metric]:.3f} at k = {first['k']} to {last[metric]:.3f} at k = {last['k']}"
            )
    return f"{words.METRICS[metric].capitalize()} over the cutoff k: {'; '.join(parts) or 'no values'}."
