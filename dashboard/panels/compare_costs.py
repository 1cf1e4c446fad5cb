"""What the change costs: quality over latency and over context size, an arrow from baseline to candidate."""

from __future__ import annotations

from typing import Any

import altair as alt
from rankroom.paired import MetricComparison

from panels import chart_style, words
from panels.compare_pair import Pair
from panels.compare_queries import values
from panels.filters import ALL, Filters
from panels.question import Question
from panels.store_access import Row

LATENCY, SLOWEST, CONTEXT = "latency_p50_ms", "latency_p95_ms", "context_tokens_mean"
NAMES = {LATENCY: "median latency", SLOWEST: "95th percentile", CONTEXT: "mean context"}
UNITS = {LATENCY: "ms", SLOWEST: "ms", CONTEXT: "tokens"}
TITLES = {LATENCY: "median latency, ms", CONTEXT: "mean context, tokens"}
BASELINE, CANDIDATE = "baseline", "candidate"

COSTS = """
select asked.role, asked.run, costs.n_timed, costs.latency_p50_ms, costs.latency_p95_ms, costs.n_context,
       costs.context_tokens_mean
from (values ('baseline', $base), ('candidate', $cand)) as asked(role, run)
left join {source} as costs on costs.run = asked.run{split}
order by asked.role
"""


def question(filters: Filters, pair: Pair, compared: tuple[str, ...] | None) -> Question:
    """Latency and context size of both runs over the queries under the filters that ran to their end."""
    split = f" and costs.split = {repr(ALL) if filters.split == ALL else '$split'}"
    if filters.by_query:
        sql = COSTS.format(source=f"costs_of({filters.query_ids()})", split="")
    else:
        sql = COSTS.format(source="run_costs", split=split)
    return Question(sql, values(filters, pair, compared))


def measured(rows: list[Row]) -> list[str]:
    """What both runs recorded."""
    return [cost for cost in NAMES if len(rows) == 2 and all(row[cost] is not None for row in rows)]


def sentence(rows: list[Row]) -> str:
    """The costs in words, as Markdown."""
    found = measured(rows)
    if not found:
        without = [str(row["run"]) for row in rows if row[LATENCY] is None and row[CONTEXT] is None]
        who = words.listed(without) if without else "The two runs"
        return f"{who} recorded neither latency nor context size that could be compared."
    base, cand = rows
    parts = []
    for cost in found:
        was, now = base[cost], cand[cost]
        text = f"{NAMES[cost]} {amount(was)} → {amount(now)} {UNITS[cost]}"
        parts.append(text + (f" ({_times(was, now)})" if was > 0 else ""))
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _times(was: float, now: float) -> str:
    change = now / was
    if change >= 2:
        return f"× {amount(change)}"
    return f"{change - 1:+.0%}".replace("-", "−") if abs(change - 1) >= 5e-3 else "the same"


def amount(value: float) -> str:
    """A cost as it is written: whole, unless it is small."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def note(rows: list[Row]) -> str:
    """Over which queries these are."""
    text = "Over the queries in force that ran to their end; those that failed or timed out are left out."
    timed = {row["n_timed"] for row in rows} - {None}
    return text if len(timed) < 2 else f"{text} The runs have not timed the same number of them."


def chart(rows: list[Row], quality: MetricComparison, cost: str, metric: str) -> chart_style.LayerChart:
    """Both runs as points with an arrow between them: up is better, left is cheaper."""
    means = {BASELINE: quality.baseline, CANDIDATE: quality.candidate}
    points: list[dict[str, Any]] = [
        {
            "role": row["role"],
            "run": row["run"],
            "cost": row[cost],
            "mean": means[row["role"]],
        }
        for row in rows
    ]
    base, cand = points
    most = max(base["cost"], cand["cost"])
    span = max(abs(cand["cost"] - base["cost"]), 0.2 * most) or 1.0
    x_scale = alt.Scale(
        domain=[max(0.0, min(base["cost"], cand["cost"]) - 0.6 * span), most + 0.6 * span], padding=16
    )
    rise = max(abs(cand["mean"] - base["mean"]), 0.04)
    low, high = min(base["mean"], cand["mean"]), max(base["mean"], cand["mean"])
    y_scale = alt.Scale(domain=[low - 0.7 * rise, high + 0.7 * rise], nice=False)
    x = alt.X(
        "cost:Q", title=TITLES[cost], scale=x_scale, axis=alt.Axis(tickCount=5, format=",~r", labelBound=True)
    )
    y = alt.Y("mean:Q", title=metric, scale=y_scale, axis=alt.Axis(tickCount=5, format=".2f"))
    tooltip = [
        alt.Tooltip("role:N"),
        alt.Tooltip("run:N"),
        alt.Tooltip("mean:Q", title=metric, format=".3f"),
        alt.Tooltip("cost:Q", title=TITLES[cost], format=",.3~r"),
    ]
    legend = alt.Legend(title=None, orient="top-right", symbolSize=130)
    colours = [chart_style.BASELINE, chart_style.CANDIDATE]
    way = (
        chart_style.Chart(alt.Data(values=[base | {"to": cand["cost"], "up": cand["mean"]}]))
        .mark_rule(color=chart_style.UNDECIDED, strokeWidth=2)
        .encode(x=x, y=y, x2="to:Q", y2="up:Q")
    )
    both = chart_style.Chart(alt.Data(values=points)).encode(x=x, y=y, tooltip=tooltip)
    marks = both.mark_point(filled=True, size=190, opacity=1).encode(
        color=alt.Color(
            "role:N", scale=alt.Scale(domain=[BASELINE, CANDIDATE], range=colours), legend=legend
        ),
        shape=alt.Shape(
            "role:N", scale=alt.Scale(domain=[BASELINE, CANDIDATE], range=["square", "circle"]), legend=legend
        ),
    )
    return chart_style.LayerChart(layer=[way, marks], **chart_style.look(height=250))


def alt_text(rows: list[Row], quality: MetricComparison, cost: str, metric: str) -> str:
    """The chart in a sentence."""
    base, cand = rows
    return (
        f"{metric} over {NAMES[cost]}: baseline {words.number(quality.baseline)} at {amount(base[cost])} "
        f"{UNITS[cost]}, candidate {words.number(quality.candidate)} at {amount(cand[cost])} {UNITS[cost]}."
    )
