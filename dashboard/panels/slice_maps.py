"""The heat maps of the Slices page: one for all runs, or one for each run or value of a setting."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import heat_map, words
from panels.filters import Filters
from panels.slice_choice import Choice
from panels.store_access import Row

CELL_WIDTH, LABELS_WIDTH = 92, 150


def show(frame: pa.Table, choice: Choice, filters: Filters, of_runs: int) -> Row | None:
    """The maps, and what has to be known to read them. Returns the cell that was clicked, if one was."""
    metric = words.metric(choice.metric, filters.k)
    domain = heat_map.extent(frame)
    titles = (choice.rows, choice.second or heat_map.RUN)
    maps = _maps(frame)
    st.caption(_legend(frame, choice, metric, domain, of_runs))
    widest = max(len(set(part.column("column").to_pylist())) for _, part in maps)
    across = min(widest, heat_map.MOST_ACROSS)
    clicked = None
    with st.grid(len(maps) if len(maps) < 4 else 2, min_column_width=LABELS_WIDTH + CELL_WIDTH * across):
        for at, (facet, part) in enumerate(maps):
            title = f"{choice.setting} = {facet}" if choice.setting else facet
            event = st.altair_chart(
                heat_map.chart(part, metric, titles, domain, title),
                on_select="rerun",
                selection_mode=heat_map.CELL,
                key=f"map_{at}",
                alt=heat_map.alt_text(part, metric, titles, title),
            )
            clicked = clicked or _clicked(event, part)
    return clicked


def _maps(frame: pa.Table) -> list[tuple[str, pa.Table]]:
    """A map for each facet, in the order of the data; one without a name where there are none."""
    facets = pc.unique(frame.column("facet")).to_pylist()
    if facets == [None] or not facets:
        return [("", frame)]
    return [(facet, frame.filter(pc.equal(frame.column("facet"), pa.scalar(facet)))) for facet in facets]


def _legend(frame: pa.Table, choice: Choice, metric: str, domain: tuple[float, float], of_runs: int) -> str:
    low, high = (words.number(end) for end in domain)
    parts = [f"The stronger the colour, the higher {metric}, from {low} to {high}; the same in all maps."]
    if pc.any(frame.column("thin")).as_py():
        parts.append(f"Grey: thin, n below {choice.thin}.")
    if pc.any(pc.equal(frame.column("n"), 0)).as_py():
        parts.append("n = 0: no query there has an answer to find.")
    if "tag" in choice.dimensions:
        parts.append("A query stands in the slice of each of its tags.")
    if choice.setting:
        parts.append(
            f"Each column is a run, under its value of {words.quoted(choice.setting)}: "
            "the runs may differ in other settings too."
        )
    shown = len(pc.unique(frame.column("run")))
    if shown < of_runs:
        parts.append(f"{shown} of {of_runs:,} runs, the best by {metric}: choose others in the sidebar.")
    if len(pc.unique(frame.column("row"))) > heat_map.MOST_ROWS:
        parts.append(f"The {heat_map.MOST_ROWS} largest rows; the list below has all.")
    parts.append("A click on a cell opens its failures.")
    return " ".join(parts)


def _clicked(event: object, frame: pa.Table) -> Row | None:
    """The cell that was clicked, if it is still one."""
    points = dict(getattr(event, "selection", None) or {}).get(heat_map.CELL) or []
    if not points:
        return None
    wanted = {name: points[0].get(name) for name in ("run", "row", "column")}
    return next(
        (row for row in frame.to_pylist() if all(row[name] == value for name, value in wanted.items())), None
    )
