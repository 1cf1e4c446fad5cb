"""The labelled evidence of one query: each relevant document, why it is one, and where the run has it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from panels import words
from panels.filters import Filters
from panels.markup import STYLE, item, listing, note
from panels.question import Question

SHOWN_AT_ONCE = 10

EVIDENCE = """
select labels.doc_id, labels.grade, labels.rationale, labels.source, labels.reviewed,
       coalesce(labels.reviewer, label_sets.reviewer) as reviewer, documents.title,
       left(documents.text, 2001) as text,
       coalesce(list_has_any(documents.groups, queries.groups), true) as readable,
       list({'stage': run_stages.stage, 'rank': ranks.rank} order by run_stages.position, run_stages.stage)
           filter (run_stages.stage is not null) as ranks,
       min(ranks.rank) filter (run_stages.stage = 'final') as final_rank,
       count(*) over () as total
from labels
join label_sets on label_sets.label_set = labels.label_set
left join queries on queries.query_set = label_sets.query_set and queries.query_id = labels.query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = labels.doc_id
left join run_stages on run_stages.run = $run
left join labelled_ranks as ranks on ranks.run = $run and ranks.label_set = labels.label_set
      and ranks.stage = run_stages.stage and ranks.query_id = labels.query_id and ranks.doc_id = labels.doc_id
where labels.label_set = $label_set and labels.query_id = $query and labels.grade >= label_sets.relevant_from
group by all
order by readable desc, labels.grade desc, final_rank nulls last, labels.doc_id
limit 50
"""

OTHER_LABELS = """
select count(*) filter (labels.grade < label_sets.relevant_from) as not_relevant,
       bool_or(labels.no_answer) as no_answer,
       any_value(labels.rationale) filter (labels.no_answer) as no_answer_rationale
from labels
join label_sets on label_sets.label_set = labels.label_set
where labels.label_set = $label_set and labels.query_id = $query
"""


def question(filters: Filters, query_id: str) -> Question:
    """The relevant documents with their rank at each stage of the run."""
    return Question(EVIDENCE, filters.values(query=query_id))


def other_labels(filters: Filters, query_id: str) -> Question:
    """How many documents are labelled not relevant, and whether the reviewer found that nothing answers."""
    return Question(OTHER_LABELS, filters.values(query=query_id))


def places(row: dict[str, Any], k: int) -> str:
    """Where the run has the document, stage by stage."""
    ranks = row["ranks"] or []
    parts = []
    for place in ranks:
        where = "not there" if place["rank"] is None else f"rank {place['rank']:,}"
        if place["stage"] == "final" and place["rank"] is not None:
            where += f" (within {k})" if place["rank"] <= k else f" (beyond {k})"
        parts.append(where if len(ranks) == 1 else f"{place['stage']}: {where}")
    return " → ".join(parts) or "no ranking"


def markup(rows: list[dict[str, Any]], k: int, name: str = "Labelled evidence", query: str = "") -> str:
    """The evidence as HTML: what should stand in the first k or must not, marked by what became of it."""
    parts = []
    for row in rows:
        kind = "relevant" if row["readable"] else "forbidden"
        label = f"{kind}, grade {row['grade']}"
        found = row["final_rank"] is not None and row["final_rank"] <= k
        mark = ("✓" if found else "✗") if row["readable"] else ("⚠" if found else "–")
        notes = note("in this run", places(row, k))
        if row["rationale"]:
            notes += note("why", row["rationale"])
        by = ", ".join(str(row[name]) for name in ("reviewer", "reviewed", "source") if row[name])
        if by:
            notes += note("labelled by", by)
        if found and not row["readable"]:
            notes += note("leaked:", f"its user may not read it, and it stands in the first {k}")
        parts.append(item(kind, mark, label, row, notes, query=query))
    return listing(name, parts)


def show(rows: list[dict[str, Any]], others: dict[str, Any] | None, k: int, query: str = "") -> None:
    """The evidence, and what the labels say beside it."""
    readable = [row for row in rows if row["readable"]]
    if readable:
        st.html(markup(readable[:SHOWN_AT_ONCE], k, query=query))
    if rest := readable[SHOWN_AT_ONCE:]:
        with st.expander(f"{words.count(len(rest), 'more relevant document')}"):
            st.html(markup(rest, k, "More labelled evidence", query))
    if rows and rows[0]["total"] > len(rows):
        st.caption(f"The first {len(rows)} of {rows[0]['total']:,} relevant documents.")
    if forbidden := [row for row in rows if not row["readable"]]:
        st.markdown("**What this user may not see**")
        st.html(markup(forbidden, k, "Forbidden evidence", query))
    if others is None or (not rows and not others["not_relevant"] and not others["no_answer"]):
        st.caption("This query has no labels: it is outside every mean.")
        return
    if others["no_answer"]:
        st.html(f"{STYLE}{note('reviewed: nothing answers it.', others['no_answer_rationale'] or '')}")
    elif not rows:
        st.caption("No document is labelled relevant: by the labels nothing answers this query.")
    if others["not_relevant"]:
        st.caption(f"Besides, {words.count(others['not_relevant'], 'document')} labelled not relevant.")
