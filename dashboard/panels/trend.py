"""A mean over time: a line for each series of runs, with marks where collection or labels changed."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

from panels import chart_style, means, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

NO_SERIES = "(no series)"

# What changed since the run before it in its series. All runs are scored under the same labels here: that
# others were the current ones when a run was added says what its makers could know.
TREND = """
with dated as (
    select means.run, runs.created, coalesce(runs.series, '(no series)') as series, means.n,
           means.{order} as value, runs.collection, runs.query_set,
           (select arg_max(label_sets.label_set, label_sets.added_at)
            from label_sets join query_sets on query_sets.query_set = label_sets.query_set
            where query_sets.name = $data and label_sets.added_at <= runs.added_at) as labels_then
    from {source}
    join runs on runs.run = means.run
    {where}
)
select run, created, series, n, value,
       nullif(concat_ws(', ',
           case when lag(collection) over earlier <> collection
                then 'collection ' || lag(collection) over earlier || ' → ' || collection end,
           case when lag(query_set) over earlier <> query_set
                then 'queries ' || lag(query_set) over earlier || ' → ' || query_set end,
           case when lag(labels_then) over earlier <> labels_then
                then 'labels ' || lag(labels_then) over earlier || ' → ' || labels_then end), '') as changed
from dated
window earlier as (partition by series, created is null order by created, run)
order by created nulls last, run
"""


def question(filters: Filters) -> Question:
    """Every run with its date, its series, its mean, and what changed since the one before it."""
    source, where = means.source(filters)
    sql = TREND.format(order=filters.order, source=source, where=f"where {where}" if where else "")
    return Question(sql, filters.values(data=filters.data))


def dated(frame: pa.Table) -> pa.Table:
    """The runs that say when they were made, and have a mean."""
    return frame.filter(pc.and_(pc.is_valid(frame.column("created")), pc.is_valid(frame.column("value"))))


def series_of(frame: pa.Table) -> list[str]:
    """The series that are drawn in colour: those with most runs."""
    counted = pc.value_counts(frame.column("series")).to_pylist()
    most = sorted(counted, key=lambda one: (-one["counts"], one["values"]))[: chart_style.MOST_RUNS]
    return sorted(one["values"] for one in most)


def chart(frame: pa.Table, metric: str) -> chart_style.LayerChart:
    """A line for each series; a dashed rule where a neighbour was made over something else."""
    names = series_of(frame)
    in_colour = frame.filter(pc.is_in(frame.column("series"), pa.array(names, pa.string())))
    colours = list(chart_style.SERIES_COLOURS[: len(names)])
    color = alt.Color("series:N", scale=alt.Scale(domain=names, range=colours), legend=None)
    shapes = list(chart_style.RUN_SHAPES[: len(names)])
    shape = alt.Shape("series:N", scale=alt.Scale(domain=names, range=shapes), legend=None)
    x = alt.X(
        "created:T",
        title="created (UTC)",
        scale=alt.Scale(type="utc", padding=18),
        axis=alt.Axis(grid=False, tickCount=8, labelOverlap=True, format=_day(frame)),
    )
    y = alt.Y(
        "value:Q",
        title=metric,
        scale=alt.Scale(zero=False, padding=12),
        axis=alt.Axis(tickCount=5, format=".2f"),
    )
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("series:N", title="series"),
        alt.Tooltip("when:N", title="created"),
        alt.Tooltip("value:Q", title=metric, format=".3f"),
        alt.Tooltip("n:Q", title="n"),
        alt.Tooltip("changed:N", title="changed"),
    ]
    when = {"when": "utcFormat(datum.created, '%Y-%m-%d %H:%M')"}
    changes = frame.filter(pc.is_valid(frame.column("changed")))
    rules = (
        chart_style.Chart(changes)
        .transform_calculate(**when)
        .mark_rule(color=chart_style.UNDECIDED, strokeDash=[4, 3], strokeWidth=1.2)
        .encode(x=x, tooltip=tooltip)
    )
    others = (
        chart_style.Chart(frame)
        .transform_calculate(**when)
        .mark_line(color=chart_style.UNDECIDED, opacity=0.35, strokeWidth=1)
        .encode(x=x, y=y, detail="series:N", tooltip=tooltip)
    )
    base = (
        chart_style.Chart(in_colour)
        .transform_calculate(**when)
        .encode(x=x, y=y, tooltip=tooltip, color=color)
    )
    lines = base.mark_line(strokeWidth=2)
    points = base.mark_point(filled=True, size=64, opacity=1).encode(shape=shape)
    return chart_style.LayerChart(layer=[rules, others, lines, points], **chart_style.look(height=300))


def _day(frame: pa.Table) -> str:
    """How the axis writes a date: by year where there are several, by the hour where all is one day."""
    dates = [when.date() for when in frame.column("created").to_pylist()]
    if min(dates) == max(dates):
        return "%H:%M"
    return "%-d %b" if min(dates).year == max(dates).year else "%b %Y"


def alt_text(frame: pa.Table, metric: str) -> str:
    """The chart in a sentence: the first and the last run of each series."""
    rows = frame.to_pylist()
    parts = []
    for name in series_of(frame)[:4]:
        mine = [row for row in rows if row["series"] == name]
        parts.append(
            f"{name} from {words.number(mine[0]['value'])} ({mine[0]['run']}) "
            f"to {words.number(mine[-1]['value'])} ({mine[-1]['run']})"
            if len(mine) > 1
            else f"{name} {words.number(mine[0]['value'])} ({mine[0]['run']})"
        )
    return f"{metric} over time: {'; '.join(parts)}."


def notes(rows: list[Row], label_set: str) -> list[str]:
    """What the lines do not say: what changed on the way, and which runs have no date. As Markdown."""
    found = [
        f"Before {words.quoted(row['run'])}: {words.quoted(row['changed'])}."
        for row in rows
        if row["changed"] and row["created"] is not None
    ][:MOST_CHANGES]
    if found:
        found.insert(0, f"Dashed rules mark a change; all points are scored under {words.quoted(label_set)}.")
    undated = [str(row["run"]) for row in rows if row["created"] is None]
    if undated:
        verb = "does" if len(undated) == 1 else "do"
        found.append(f"{words.listed(undated)} {verb} not say when they were made (`created`).")
    return found


MOST_CHANGES = 6
