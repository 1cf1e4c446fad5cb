"""The matrix of runs and rules as a picture: what fired is a full square, what is possible a hollow one."""

from __future__ import annotations

import altair as alt
import pyarrow as pa

from panels import chart_style, words
from panels.signal_matrix import Matrix

CELL = "finding"
"""The selection that a click makes: the run and the rule of a cell."""

ROW_HEIGHT = 26
WIDTH = 780
"""About so many pixels are shared by the runs."""

MOST_NAMED = 40
"""Of more runs the names are left out; the tooltips have them."""

NAME_HEIGHT = 150


def frame(of: Matrix) -> pa.Table:
    """A row a cell."""
    titles = {str(row["rule"]): str(row["title"]) for row in of.rules}
    baselines = {str(row["run"]): str(row["baseline"]) for row in of.runs}
    rows = [(run, rule, cell) for (run, rule), cell in of.cells.items() if run in baselines]
    return pa.table(
        {
            "run": pa.array([run for run, _, _ in rows], pa.string()),
            "baseline": pa.array([baselines[run] for run, _, _ in rows], pa.string()),
            "title": pa.array([titles[rule] for _, rule, _ in rows], pa.string()),
            "status": pa.array([cell["status"] for _, _, cell in rows], pa.string()),
            "queries": pa.array([cell["queries"] for _, _, cell in rows], pa.int64()),
            "sentence": pa.array([words.clipped(cell["sentence"], 240) for _, _, cell in rows], pa.string()),
        }
    )


def chart(cells: pa.Table, of: Matrix) -> chart_style.LayerChart:
    """The picture: runs from the oldest to the newest, rules as the catalogue has them."""
    runs = [str(row["run"]) for row in reversed(of.runs)]
    named = len(runs) <= MOST_NAMED
    x = alt.X(
        "run:N",
        scale=alt.Scale(domain=runs),
        title=None if named else f"{len(runs):,} runs, the newest at the right",
        axis=alt.Axis(labels=named, ticks=False, labelAngle=-40, labelLimit=NAME_HEIGHT, labelOverlap=False),
    )
    y = alt.Y(
        "title:N",
        scale=alt.Scale(domain=[str(row["title"]) for row in of.rules]),
        title=None,
        axis=alt.Axis(ticks=False, grid=True, labelLimit=240),
    )
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("run", "baseline", "title", "status", "sentence")]
    tooltip.append(alt.Tooltip("queries:Q", title="queries that cause it"))
    click = alt.selection_point(name=CELL, fields=["run"], on="click", toggle=False)
    side = max(4.0, min(17.0, 0.75 * WIDTH / max(1, len(runs))))
    base = chart_style.Chart(cells).encode(x=x, y=y, tooltip=tooltip)
    fired = (
        base.mark_square(size=side**2, color=chart_style.WORSE, opacity=1, cursor="pointer")
        .transform_filter("datum.status == 'fired'")
        .add_params(click)
    )
    possible = base.mark_square(
        size=side**2, filled=False, stroke=chart_style.UNDECIDED, strokeWidth=1.5, opacity=1, cursor="pointer"
    ).transform_filter("datum.status == 'possible'")
    return chart_style.LayerChart(
        layer=[fired, possible],
        **chart_style.look(height=ROW_HEIGHT * len(of.rules) + (NAME_HEIGHT if named else 46)),
    )


def chosen(event: object) -> str | None:
    """The run of the cell that was clicked."""
    points = dict(getattr(event, "selection", None) or {}).get(CELL) or []
    return str(points[0]["run"]) if points and points[0].get("run") is not None else None
