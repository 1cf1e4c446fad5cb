"""The differences of all metrics with their intervals: filled where a change is clear, hollow where not."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pyarrow as pa
import streamlit as st
from rankroom.comparison_report import detectable
from rankroom.paired import MetricComparison
from rankroom.verdict_words import metric_name, metric_verdict

from panels import chart_axes, chart_style, words

ROW_HEIGHT = 42
IMPROVED, REGRESSED = "improved", "regressed"
SIGNS = {IMPROVED: "▶", REGRESSED: "◀", "no_clear_change": "○", "unresolvable": "○"}
COLOURS = (chart_style.BETTER, chart_style.WORSE, chart_style.UNDECIDED, chart_style.UNDECIDED)
SHAPES = ("triangle-right", "triangle-left", "circle", "circle")


def interval(difference: float | None, low: float | None, high: float | None) -> str:
    """A difference with its interval: +0.041 [+0.018, +0.065]."""
    if difference is None:
        return "–"
    text = words.signed(difference)
    return text if low is None or high is None else f"{text} [{words.signed(low)}, {words.signed(high)}]"


def probability(p: float | None) -> str:
    """A p as people write it: three decimals, and never 0."""
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def frame(metrics: Sequence[MetricComparison], names: Sequence[str] = ()) -> pa.Table:
    """A row for each comparison that has a value, under its metric's name or a name of its own."""
    named = zip(metrics, names or [metric_name(one.metric, one.k) for one in metrics], strict=True)
    rows = [(one, name) for one, name in named if one.difference is not None]
    shown = [one for one, _ in rows]
    return pa.table(
        {
            "metric": pa.array([name for _, name in rows], pa.string()),
            "baseline": pa.array([one.baseline for one in shown], pa.float64()),
            "candidate": pa.array([one.candidate for one in shown], pa.float64()),
            "difference": pa.array([one.difference for one in shown], pa.float64()),
            "low": pa.array([one.low for one in shown], pa.float64()),
            "high": pa.array([one.high for one in shown], pa.float64()),
            "p_holm": pa.array([one.p_holm for one in shown], pa.float64()),
            "wins": pa.array([one.wins for one in shown], pa.int64()),
            "ties": pa.array([one.ties for one in shown], pa.int64()),
            "losses": pa.array([one.losses for one in shown], pa.int64()),
            "n": pa.array([one.n for one in shown], pa.int64()),
            "verdict": pa.array([one.verdict for one in shown], pa.string()),
            "says": pa.array([metric_verdict(one) for one in shown], pa.string()),
        }
    )


def chart(frame: pa.Table, smallest: float) -> chart_style.LayerChart:
    """A row for each metric: means on the left, the interval, and what it comes to on the right."""
    rows = frame.to_pylist()
    metrics = [row["metric"] for row in rows]
    left = {
        row["metric"]: f"{row['metric']}\n{words.number(row['baseline'])} → {words.number(row['candidate'])}"
        for row in rows
    }
    right = {
        row["metric"]: (
            f"{interval(row['difference'], row['low'], row['high'])}\n{SIGNS[row['verdict']]} "
            f"{row['says']}{_p_of(row['p_holm'])}"
        )
        for row in rows
    }
    ends = [end for row in rows for end in (row["low"], row["high"], row["difference"]) if end is not None]
    low, high = min([*ends, -1.6 * smallest]), max([*ends, 1.6 * smallest])
    margin = (high - low) * 0.05
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False)
    x = alt.X(
        "difference:Q",
        title="difference: candidate − baseline, with its 95 % interval",
        scale=scale,
        axis=alt.Axis(format="+.2f", tickCount=6, labelFlush=False),
    )
    y = alt.Y("metric:N", title=None, scale=alt.Scale(domain=metrics), axis=chart_axes.written(left))
    verdicts = chart_axes.written(right, orient="right", size=12, limit=230)
    y_right = alt.Y("metric:N", title=None, scale=alt.Scale(domain=metrics), axis=verdicts)
    tooltip = [
        alt.Tooltip("metric:N"),
        alt.Tooltip("baseline:Q", format=".3f"),
        alt.Tooltip("candidate:Q", format=".3f"),
        alt.Tooltip("difference:Q", format="+.3f"),
        alt.Tooltip("low:Q", title="95 % from", format="+.3f"),
        alt.Tooltip("high:Q", title="to", format="+.3f"),
        alt.Tooltip("p_holm:Q", title="p, Holm over the family", format=".3g"),
        alt.Tooltip("wins:Q"),
        alt.Tooltip("ties:Q"),
        alt.Tooltip("losses:Q"),
        alt.Tooltip("n:Q"),
    ]
    small = (
        chart_style.Chart(alt.Data(values=[{"from": -smallest, "to": smallest}]))
        .mark_rect(color=chart_style.UNDECIDED, opacity=0.16)
        .encode(x=alt.X("from:Q", scale=scale), x2="to:Q")
    )
    zero = (
        chart_style.Chart(alt.Data(values=[{"at": 0}]))
        .mark_rule(color=chart_style.UNDECIDED, strokeWidth=1.5)
        .encode(x=alt.X("at:Q", scale=scale))
    )
    colour = alt.Color("verdict:N", scale=_scale(COLOURS), legend=None)
    base = chart_style.Chart(frame).encode(y=y, color=colour, tooltip=tooltip)
    whisker = base.mark_rule(strokeWidth=2.6).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    clear = f"datum.verdict == '{IMPROVED}' || datum.verdict == '{REGRESSED}'"
    filled = (
        base.transform_filter(clear)
        .mark_point(filled=True, size=190, opacity=1)
        .encode(x=x, shape=alt.Shape("verdict:N", scale=_scale(SHAPES), legend=None))
    )
    hollow = (
        base.transform_filter(f"!({clear})")
        .mark_point(filled=False, size=120, opacity=1, strokeWidth=2.4)
        .encode(x=x)
    )
    beside = chart_style.Chart(frame).mark_point(opacity=0).encode(x=x, y=y_right)
    marks = chart_style.LayerChart(layer=[small, zero, whisker, filled, hollow])
    return chart_style.LayerChart(
        layer=[marks, beside], **chart_style.look(height=ROW_HEIGHT * len(rows) + 56)
    ).resolve_axis(y="independent")


def alt_text(frame: pa.Table) -> str:
    """The chart in a sentence."""
    rows = frame.to_pylist()
    if not rows:
        return "Differences of the metrics: no queries."
    parts = [
        f"{row['metric']} {interval(row['difference'], row['low'], row['high'])} {row['says']}"
        for row in rows
    ]
    return f"Differences, candidate less baseline, over {rows[0]['n']:,} queries: {'; '.join(parts)}."


def table(metrics: Sequence[MetricComparison]) -> pa.Table:
    """The same as numbers, with all that the verdict rests on."""
    return pa.table(
        {
            "metric": [metric_name(one.metric, one.k) for one in metrics],
            "baseline": pa.array([one.baseline for one in metrics], pa.float64()),
            "candidate": pa.array([one.candidate for one in metrics], pa.float64()),
            "difference": pa.array([words.signed(one.difference) for one in metrics], pa.string()),
            "interval": pa.array(
                [
                    "–" if one.low is None else f"[{words.signed(one.low)}, {words.signed(one.high)}]"
                    for one in metrics
                ],
                pa.string(),
            ),
            "p": pa.array([probability(one.p) for one in metrics], pa.string()),
            "p_holm": pa.array([probability(one.p_holm) for one in metrics], pa.string()),
            "wins": pa.array([one.wins for one in metrics], pa.int64()),
            "ties": pa.array([one.ties for one in metrics], pa.int64()),
            "losses": pa.array([one.losses for one in metrics], pa.int64()),
            "n": pa.array([one.n for one in metrics], pa.int64()),
            "detectable": pa.array([detectable(one) for one in metrics], pa.float64()),
            "verdict": pa.array(
                [f"{SIGNS[one.verdict]} {metric_verdict(one)}" for one in metrics], pa.string()
            ),
        }
    )


def show_table(metrics: Sequence[MetricComparison]) -> None:
    """The table of the numbers."""
    st.dataframe(
        table(metrics),
        hide_index=True,
        lazy=False,
        placeholder="–",
        key="compared_metrics",
        alt="Every metric: both means, the difference, its interval, p, wins and losses, and the verdict.",
        column_config={
            "metric": st.column_config.TextColumn("metric", pinned=True),
            "baseline": st.column_config.NumberColumn("baseline", format="%.3f"),
            "candidate": st.column_config.NumberColumn("candidate", format="%.3f"),
            "difference": st.column_config.TextColumn("difference", alignment="right"),
            "interval": st.column_config.TextColumn("95 % interval", alignment="right"),
            "p": st.column_config.TextColumn("p", alignment="right", help="Two-sided, of this metric alone."),
            "p_holm": st.column_config.TextColumn(
                "p, Holm", alignment="right", help="Corrected over all metrics of this table."
            ),
            "wins": st.column_config.NumberColumn("wins", format="%d", help="Queries that are better."),
            "ties": st.column_config.NumberColumn("ties", format="%d"),
            "losses": st.column_config.NumberColumn("losses", format="%d", help="Queries that are worse."),
            "n": st.column_config.NumberColumn("n", format="%d", help=words.COLUMNS["n"]),
            "detectable": st.column_config.NumberColumn(
                "detectable",
                format="%.3f",
                help="The difference that so many queries would show in four of five experiments.",
            ),
        },
    )


def _scale(values: tuple[str, ...]) -> alt.Scale:
    return alt.Scale(domain=list(SIGNS), range=list(values))


def _p_of(p: float | None) -> str:
    if p is None:
        return ""
    return f", p {probability(p)}" if p < 0.001 else f", p = {probability(p)}"
