"""Every query as a point: its score in the baseline against its score in the candidate, with the diagonal."""

from __future__ import annotations

from math import sqrt

import altair as alt
import pyarrow as pa

from panels import chart_style, words
from panels.compare_pair import Pair
from panels.compare_queries import conditions, values
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

POINT = "point"
"""The selection that a click makes: both scores of a point."""

HEIGHT = 420
BETTER, SAME, WORSE = "better", "same", "worse"
FEW = 12
SMALLEST, LARGEST = 80, 1100
NUMBERED_FROM = 300
"""The areas of points; from this one on a point has room for the number of its queries."""

DEPTH, NUMBERED_DEPTH = 0.85, 0.3
"""How much of its colour fills a point: little where its number has to be read."""

BEHIND = "round(deltas.baseline, 3) = $at_baseline and round(deltas.candidate, 3) = $at_candidate"
"""The condition on the queries of one point."""

# Queries with the same scores are one point, the larger the more there are.
POINTS = """
select round(deltas.baseline, 3) as baseline, round(deltas.candidate, 3) as candidate, count(*) as queries,
       count(*) filter (queries.must_pass) as must_pass,
       case sign(round(deltas.candidate, 3) - round(deltas.baseline, 3))
            when 1 then 'better' when -1 then 'worse' else 'same' end as side,
       min(deltas.query_id) as query_id, left(arg_min(queries.text, deltas.query_id), 90) as text
from query_deltas($base, $cand, $k, label_set := $label_set, stage := $stage) as deltas
left join queries on queries.query_set = $query_set and queries.query_id = deltas.query_id
where deltas.metric = $metric{conditions}
group by 1, 2, side
order by queries desc, 1, 2
"""


def points(filters: Filters, pair: Pair, compared: tuple[str, ...] | None, metric: str) -> Question:
    """The points of all queries under the filters."""
    parts = "".join(f"\n  and {part}" for part in conditions(filters, compared))
    return Question(POINTS.format(conditions=parts), values(filters, pair, compared, metric=metric))


def chart(frame: pa.Table, metric: str) -> chart_style.LayerChart:
    """Above the diagonal the candidate is better."""
    x = alt.X(
        "baseline:Q",
        title=f"{metric} in the baseline",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=14),
        axis=alt.Axis(tickCount=5, format=".1f"),
    )
    y = alt.Y(
        "candidate:Q",
        title=f"{metric} in the candidate",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=14),
        axis=alt.Axis(tickCount=5, format=".1f"),
    )
    rows = sized(frame.to_pylist())
    size = alt.Size("area:Q", scale=None)
    sides = [BETTER, WORSE, SAME]
    colours = [chart_style.BETTER, chart_style.WORSE, chart_style.UNDECIDED]
    colour = alt.Color("side:N", scale=alt.Scale(domain=sides, range=colours), legend=None)
    shape = alt.Shape(
        "side:N",
        scale=alt.Scale(domain=sides, range=["triangle-up", "triangle-down", "circle"]),
        legend=None,
    )
    tooltip = [
        alt.Tooltip("baseline:Q", format=".3f"),
        alt.Tooltip("candidate:Q", format=".3f"),
        alt.Tooltip("queries:Q", title="queries here"),
        alt.Tooltip("must_pass:Q", title="of which must pass"),
        alt.Tooltip("query_id:N", title="query, or the first"),
        alt.Tooltip("text:N", title="text"),
    ]
    click = alt.selection_point(name=POINT, fields=["baseline", "candidate"], on="click", toggle=False)
    diagonal = (
        chart_style.Chart(alt.Data(values=[{"at": 0}, {"at": 1}]))
        .mark_line(color=chart_style.UNDECIDED, strokeDash=[4, 4], strokeWidth=1.2)
        .encode(x="at:Q", y="at:Q")
    )
    base = chart_style.Chart(alt.Data(values=rows)).encode(x=x, y=y, tooltip=tooltip)
    marks = (
        base.mark_point(filled=True, strokeOpacity=1, strokeWidth=1.3, cursor="pointer")
        .encode(
            size=size,
            color=colour,
            shape=shape,
            fillOpacity=alt.condition(
                f"datum.area >= {NUMBERED_FROM}", alt.value(NUMBERED_DEPTH), alt.value(DEPTH)
            ),
        )
        .add_params(click)
    )
    numbers = (
        base.transform_filter(f"datum.area >= {NUMBERED_FROM}")
        .mark_text(fontSize=12, fontWeight=600, color=chart_style.INK, cursor="pointer")
        .encode(text="queries:Q")
    )
    return chart_style.LayerChart(layer=[diagonal, marks, numbers], **chart_style.look(height=HEIGHT))


def sized(rows: list[Row]) -> list[Row]:
    """The points with their areas: the more queries, the larger. Where there are few, each has its number."""
    smallest = NUMBERED_FROM if len(rows) <= FEW else SMALLEST
    most = max((row["queries"] for row in rows), default=1)
    for row in rows:
        part = (sqrt(row["queries"]) - 1) / (sqrt(most) - 1) if most > 1 else 0.0
        row["area"] = smallest + part * (LARGEST - smallest)
    return rows


def counts(frame: pa.Table) -> dict[str, int]:
    """How many queries lie above the diagonal, below it and on it."""
    found = dict.fromkeys((BETTER, WORSE, SAME), 0)
    for row in frame.to_pylist():
        found[row["side"]] += row["queries"]
    return found


def caption(frame: pa.Table) -> str:
    """What lies where, and what a click does."""
    found = counts(frame)
    return (
        f"▲ {words.count(found[BETTER], 'query', 'queries')} above the diagonal: better. "
        f"▼ {found[WORSE]:,} below: worse. ● {found[SAME]:,} on it. "
        "Queries with the same scores are one point. A click opens the query, or lists them."
    )


def alt_text(frame: pa.Table, metric: str) -> str:
    """The picture in a sentence."""
    found = counts(frame)
    return (
        f"{metric} of {words.count(sum(found.values()), 'query', 'queries')}, baseline against candidate: "
        f"{found[BETTER]} better, {found[WORSE]} worse, {found[SAME]} the same."
    )
