"""The ranked list of one query: each document relevant, other, unlabelled or forbidden, and a line at k."""

from __future__ import annotations

from typing import Any

import streamlit as st

from panels import words
from panels.filters import Filters
from panels.markup import cut_line, item, listing
from panels.question import Question

DEPTHS = (10, 20, 50, 100)

RANKED = """
select rankings.rank, rankings.doc_id, documents.title,
       left(documents.text, 2001) as text, rankings.score, labels.grade,
       case when not list_has_any(documents.groups, queries.groups) then 'forbidden'
            when labels.grade >= label_sets.relevant_from then 'relevant'
            when labels.grade is not null then 'other'
            else 'unlabelled' end as mark
from rankings
join label_sets on label_sets.label_set = $label_set
left join labels on labels.label_set = $label_set and labels.query_id = rankings.query_id
                and labels.doc_id = rankings.doc_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = rankings.doc_id
left join queries on queries.query_set = label_sets.query_set and queries.query_id = rankings.query_id
where rankings.run = $run and rankings.stage = $shown_stage and rankings.query_id = $query
  and rankings.rank <= $depth
order by rankings.rank
"""

STAGES = "select stage, cut from run_stages where run = $run order by stage <> 'final', position desc, stage"


def question(filters: Filters, query_id: str, stage: str, depth: int) -> Question:
    """The first results of a query at one stage, each with its label."""
    return Question(RANKED, filters.values(query=query_id, shown_stage=stage, depth=depth))


def stages(filters: Filters) -> Question:
    """The stages of the run, the last first, and how many results each passes on."""
    return Question(STAGES, filters.values())


def label(row: dict[str, Any]) -> str:
    """The mark of a document in words."""
    text = {
        "relevant": "relevant",
        "other": "not relevant",
        "unlabelled": "unlabelled",
        "forbidden": "forbidden",
    }[row["mark"]]
    return text if row["grade"] is None else f"{text}, grade {row['grade']}"


def markup(rows: list[dict[str, Any]], k: int, cut: int | None, query: str = "") -> str:
    """The list as HTML."""
    parts = []
    for row in rows:
        score = "" if row["score"] is None else f"{row['score']:.4g}"
        parts.append(item(row["mark"], str(row["rank"]), label(row), row, score=score, query=query))
        if row["rank"] == k:
            parts.append(cut_line(f"k = {k}: metrics look no further"))
        if cut is not None and row["rank"] == cut and cut != k:
            parts.append(cut_line(f"the run passes on {cut}"))
    if rows and len(rows) < k:
        parts.append(cut_line(f"the list ends before k = {k}"))
    return listing("Ranked list", parts)


def show(rows: list[dict[str, Any]], k: int, cut: int | None, query: str = "") -> None:
    """The list, the query's words marked in its texts, or why there is none."""
    if rows:
        st.html(markup(rows, k, cut, query))
    else:
        st.caption("Nothing was returned here.")


def counts(rows: list[dict[str, Any]], k: int) -> str:
    """What the first k hold, in words."""
    top = [row["mark"] for row in rows if row["rank"] <= k]
    if not top:
        return ""
    named = [f"{top.count(kind)} {words.MARKS[kind]}" for kind in words.MARKS if kind in top]
    return f"In the first {min(k, len(top))}: {', '.join(named)}."
