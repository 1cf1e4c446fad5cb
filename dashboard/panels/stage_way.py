"""The way of each relevant document through the stages of a run: its rank at each, and where it was lost."""

from __future__ import annotations

import html
from typing import Any

import streamlit as st

from panels import words
from panels.filters import Filters
from panels.markup import STYLE, escaped
from panels.question import Question
from panels.store_access import Row

MOST = 20
"""Documents that are shown."""

WAY = f"""
with cuts as (
    select position, max(cut) as cut from run_stages where run = $run group by position
)
select ways.doc_id, ways.grade, documents.title, ways.position, ways.stage, cuts.cut, ways.is_final,
       ways.rank,
       ways.passed_on, ways.was_passed_on and not ways.passed_on and not ways.is_first as lost,
       ways.was_passed_on and not ways.is_first as was_passed_on
from evidence_ways_all as ways
join cuts on cuts.position = ways.position
join label_sets on label_sets.label_set = ways.label_set
left join documents on documents.collection = label_sets.collection and documents.doc_id = ways.doc_id
where ways.run = $run and ways.label_set = $label_set and ways.k = $k and ways.query_id = $query
qualify dense_rank() over (order by ways.grade desc, ways.doc_id) <= {MOST}
order by ways.grade desc, ways.doc_id, ways.position
"""


def question(filters: Filters, query_id: str) -> Question:
    """Every relevant document at every position of the pipeline."""
    return Question(WAY, filters.values(query=query_id))


def sentence(rows: list[Row], k: int) -> str:
    """Where the evidence was lost, as Markdown."""
    steps = list(dict.fromkeys(row["stage"] for row in rows))
    docs = {row["doc_id"] for row in rows}
    parts = []
    for step in steps:
        lost = sorted({row["doc_id"] for row in rows if row["lost"] and row["stage"] == step})
        if lost:
            parts.append(f"{words.quoted(step)} lost {words.listed(lost)}")
    never = docs - {row["doc_id"] for row in rows if row["rank"] is not None}
    if never:
        parts.append(f"no stage had {words.listed(sorted(never))}")
    text = (
        "; ".join(parts)
        or f"no stage lost what the one before had passed on; the final stage counts to k = {k}"
    )
    return f"{text[0].upper()}{text[1:]}."


def markup(rows: list[Row], k: int) -> str:
    """A table: a row for each document, a column for each step."""
    steps = {row["position"]: row for row in rows}
    heads = "".join(
        f"<th>{escaped(row['stage'])}<small>{_cut(row, k)}</small></th>" for row in steps.values()
    )
    lines = []
    for doc_id in dict.fromkeys(row["doc_id"] for row in rows):
        mine = [row for row in rows if row["doc_id"] == doc_id]
        title = f"<small>{escaped(words.clipped(mine[0]['title'], 60))}</small>" if mine[0]["title"] else ""
        name = f'<span class="rr-id">{escaped(doc_id)}</span> grade {mine[0]["grade"]}{title}'
        lines.append(f'<tr><td class="doc">{name}</td>{"".join(_cell(row) for row in mine)}</tr>')
    return (
        f'{STYLE}<div class="rr-way" tabindex="0"><table aria-label="Way of the relevant documents '
        'through the stages">'
        f"<tr><th>relevant document</th>{heads}</tr>{''.join(lines)}</table></div>"
    )


def _cut(row: dict[str, Any], k: int) -> str:
    cut = k if row["is_final"] else row["cut"]
    return html.escape(
        "passes on all" if cut is None else f"counts to k = {k}" if row["is_final"] else f"passes on {cut:,}"
    )


def _cell(row: Row) -> str:
    place = "not there" if row["rank"] is None else f"rank {row['rank']:,}"
    if row["lost"]:
        return f'<td class="lost"><b>{place}</b><small>✗ lost here</small></td>'
    if row["passed_on"]:
        return f'<td class="passed"><b>✓ {place}</b></td>'
    return f'<td class="gone">{place}<small>{"" if row["rank"] is None else "beyond the cut"}</small></td>'


def show(rows: list[Row], k: int) -> None:
    """The sentence and the table."""
    st.markdown(sentence(rows, k))
    st.html(markup(rows, k))
