"""The findings of a pair: each with its sentence, what to look at next, its numbers and its queries."""

from __future__ import annotations

import html

import pyarrow as pa
import streamlit as st
from rankroom.signals.finding import Finding, Signals

from panels import compare_queries, signals, words
from panels.compare_pair import Pair
from panels.filters import Filters
from panels.layout import show_sql
from panels.markup import STYLE, escaped
from panels.question import Question
from panels.store_access import Row, reading

SIGNS = {"fired": "● fired", "possible": "○ possible"}

MOVES = """
select moves.move, moves.baseline_hit, count(*) as documents, count(distinct moves.query_id) as queries,
       sum(moves.ndcg_share) as ndcg_share
from rank_transitions($base, $cand, $k, label_set := $label_set) as moves
left join queries on queries.query_set = $query_set and queries.query_id = moves.query_id
{where}group by all
order by all
"""


def show(found: list[Finding], pair: Pair, filters: Filters) -> None:
    """Every finding, what fired first."""
    for one in found:
        with st.container(border=True):
            st.html(card(one))
            _queries(one, pair, filters)


def card(one: Finding) -> str:
    """A finding as HTML, of which every piece from data is escaped."""
    return (
        f'{STYLE}<p class="rr-signal"><b class="{one.status}">{SIGNS[one.status]}</b>'
        f"{html.escape(one.title)}<small>{html.escape(one.id)}, n = {one.n:,}</small></p>"
        f'<p class="rr-found" dir="auto">{html.escape(capital(one.sentence))}.</p>'
        f'<p class="rr-next"><span>Look next:</span> {html.escape(one.look_next)}</p>'
    )


def capital(sentence: str) -> str:
    """A sentence with a capital letter at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def _queries(one: Finding, pair: Pair, filters: Filters) -> None:
    """The queries that cause it, folded away; each opens with both runs."""
    many = words.count(len(one.queries), "query that causes it", "queries that cause it")
    opened = st.expander(
        f"The {many}",
        icon=":material/list:",
        key=f"queries_{one.id}",
        on_change="rerun",
        type="compact",
        bind="query-params",
    )
    if opened.open:
        with opened:
            _listed(one, pair, filters)


def _listed(one: Finding, pair: Pair, filters: Filters) -> None:
    question = queries(one, pair, filters)
    with reading() as store:
        frame = store.table(question)
    name = words.metric(signals.metric_of(one), filters.k)
    compare_queries.show(frame, pair, name, f"of_{one.id}", one.title)
    if note := compare_queries.cut_note(frame):
        st.caption(note)
    numbers = signals.numbers(one)
    st.dataframe(
        pa.table(
            {
                "number": [row["number"] for row in numbers],
                "value": [f"{row['value']:,.4g}" for row in numbers],
            }
        ),
        hide_index=True,
        height="content",
        width=420,
        key=f"numbers_{one.id}",
        alt=f"The numbers behind the sentence: {one.title}.",
        column_config={"value": st.column_config.TextColumn("value", alignment="right")},
    )
    show_sql(question)


def show_rules(found: Signals, catalogue: list[Row]) -> None:
    """Every rule of the catalogue, with what became of it; folded away."""
    rows = signals.looked_at(found, catalogue)
    with st.expander("What was looked at", icon=":material/rule:", type="compact"):
        st.html(rules(rows))


def rules(rows: list[Row]) -> str:
    """The rules as an HTML table, whose sentences are read in full; every piece is escaped."""
    lines = "".join(
        f'<tr><th scope="row" style="white-space: normal">{escaped(row["rule"])}</th>'
        f"<td>{escaped(row['became'])}</td><td>{escaped(row['meaning'])}</td>"
        f"<td>{escaped(row['fires_when'])}</td></tr>"
        for row in rows
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("rule", "here", "what it means", "fires when"))
    return (
        f'{STYLE}<div class="rr-way" tabindex="0"><table aria-label="Every rule, what became of it, what it '
        f'means and when it fires"><tr>{head}</tr>{lines}</table></div>'
    )


def queries(one: Finding, pair: Pair, filters: Filters) -> Question:
    """The queries of a finding, with both scores."""
    return compare_queries.listed(
        filters,
        pair,
        None,
        signals.metric_of(one),
        "list_contains($of_finding, deltas.query_id)",
        of_finding=tuple(one.queries),
    )


def moves(filters: Filters, pair: Pair) -> Question:
    """What became of the documents, which the sentences count."""
    parts = filters.query_conditions()
    where = f"where {' and '.join(parts)}\n" if parts else ""
    return Question(MOVES.format(where=where), filters.values(base=pair.base, cand=pair.cand))
