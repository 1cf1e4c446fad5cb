"""How much of the evidence each step of a run's pipeline passes on, and where it is lost."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import streamlit as st

from panels import chart_style, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

CLICK = "step"
"""The selection that a click makes: the step of a bar."""

FUNNEL = """
select ways.position, ways.stage, unnest(funnel(ways)),
       count(distinct ways.query_id) filter (ways.was_passed_on and not ways.passed_on) as queries
from evidence_ways_all as ways
{join}
where ways.run = $run and ways.label_set = $label_set and ways.k = $k
group by ways.position, ways.stage
order by ways.position
"""

LOSING = """select query_id from lost_evidence_all
                                 where run = $run and label_set = $label_set and k = $k
                                   and list_contains($lost, stage)"""
"""The queries that lose evidence at one of the chosen steps."""


def question(filters: Filters) -> Question:
    """What each step of the run holds, passes on and loses, for the queries under the filters."""
    return Question(FUNNEL.format(join=filters.join_queries("ways")), filters.values())


def sentence(rows: list[Row], run: str, k: int) -> str:
    """How much survives, and which step loses most, as Markdown."""
    total, kept = rows[0]["num_relevant"], _counted(rows, k)
    documents = words.count(total, "relevant document")
    text = f"Of {documents}, {kept:,} stand in the first {k} of {words.quoted(run)}."
    worst = max(rows, key=lambda row: row["lost"])
    if worst["lost"]:
        first = "never gets as far as" if worst is rows[0] else "is lost at"
        text += f" Most {first} {words.quoted(worst['stage'])}: {worst['lost']:,}."
    return text


def _counted(rows: list[Row], k: int) -> int:
    final = next((row for row in rows if "final" in str(row["stage"]).split(" + ")), rows[-1])
    return int(final["passed_on"])


def bars(frame: pa.Table) -> pa.Table:
    """A row for each part of each bar: passed on, and lost."""
    rows = frame.to_pylist()
    parts = []
    for at, row in enumerate(rows):
        lost = "never there" if at == 0 and len(rows) > 1 else "lost here"
        parts.append(
            {"stage": row["stage"], "part": "passed on", "documents": row["passed_on"], "at": 0} | _more(row)
        )
        parts.append({"stage": row["stage"], "part": lost, "documents": row["lost"], "at": 1} | _more(row))
    return pa.Table.from_pylist(parts)


def _more(row: Row) -> Row:
    return {"present": row["present"], "queries": row["queries"], "of": row["num_relevant"]}


PARTS = {
    "passed on": chart_style.RELEVANT,
    "lost here": chart_style.WORSE,
    "never there": chart_style.UNDECIDED,
}


def chart(frame: pa.Table) -> chart_style.LayerChart:
    """A bar for each step: what it passes on, and beside it what it loses."""
    parts = bars(frame)
    steps = frame.column("stage").to_pylist()
    total = frame.column("num_relevant").to_pylist()[0]
    click = alt.selection_point(name=CLICK, fields=["stage"], on="click", toggle=False)
    y = alt.Y("stage:N", sort=steps, title=None, axis=alt.Axis(ticks=False, labelLimit=240))
    x = alt.X(
        "documents:Q",
        title="relevant documents",
        stack="zero",
        scale=alt.Scale(domain=[0, total], nice=False),
        axis=alt.Axis(tickMinStep=1, format="d", tickCount=6),
    )
    tooltip = [
        alt.Tooltip("stage:N", title="step"),
        alt.Tooltip("part:N", title="what"),
        alt.Tooltip("documents:Q", title="documents"),
        alt.Tooltip("present:Q", title="in its list at any rank"),
        alt.Tooltip("queries:Q", title="queries that lose evidence here"),
        alt.Tooltip("of:Q", title="relevant in all"),
    ]
    names = [name for name in PARTS if name in set(parts.column("part").to_pylist())]
    base = chart_style.Chart(parts)
    drawn = (
        base.mark_bar(height=26, cursor="pointer")
        .encode(
            x=x,
            y=y,
            order=alt.Order("at:Q"),
            tooltip=tooltip,
            color=alt.Color(
                "part:N", scale=alt.Scale(domain=names, range=[PARTS[name] for name in names]), legend=None
            ),
        )
        .add_params(click)
    )
    # A number stands in its part of the bar where there is room for it.
    text = (
        base.transform_filter(f"datum.documents >= {max(total * 0.035, 1)!r}")
        .transform_calculate(
            says="datum.at === 0 ? format(datum.documents, ',') : '−' + format(datum.documents, ',')"
        )
        .mark_text(color="white", fontWeight=600, fontSize=12, cursor="pointer")
        .encode(
            x=alt.X("documents:Q", stack="zero", bandPosition=0.5),
            y=y,
            order=alt.Order("at:Q"),
            text="says:N",
            tooltip=tooltip,
            detail="part:N",
        )
    )
    return chart_style.LayerChart(layer=[drawn, text], **chart_style.look(height=40 * len(steps) + 60))


def alt_text(frame: pa.Table, run: str) -> str:
    """The chart in a sentence."""
    rows = frame.to_pylist()
    steps = [f"{row['stage']} passes on {row['passed_on']} and loses {row['lost']}" for row in rows]
    total = rows[0]["num_relevant"]
    return f"Relevant documents of {run} through the pipeline, {total} in all: {'; '.join(steps)}."


def fills(frame: pa.Table) -> dict[str, str]:
    """What the colours of the bars stand for."""
    names = set(bars(frame).column("part").to_pylist())
    return {name: colour for name, colour in PARTS.items() if name in names}


def narrow() -> None:
    """List the queries that lose evidence at the step that was clicked: a callback of the chart."""
    points = dict(getattr(st.session_state.get("funnel"), "selection", None) or {}).get(CLICK) or []
    st.session_state["lost"] = [points[0]["stage"]] if points and "stage" in points[0] else []
