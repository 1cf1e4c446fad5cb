"""What the store knows about one query in one run: the question, the outcome, and its metrics at every k."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import streamlit as st

from panels import notes, words
from panels.filters import Filters
from panels.markup import facts_line, paragraph
from panels.question import Question

# A query may be in the query set, or only in the run, or only in the labels.
ABOUT = """
select $query as query_id, queries.text, queries.category, queries.language, queries.split, queries.tags,
       queries.groups, coalesce(queries.must_pass, false) as must_pass,
       map_entries(queries.attributes) as attributes,
       result.query_id is not null as in_run, result.status, result.latency_ms, result.context_tokens,
       result.abstained, result.error, result.answer,
       scores.query_id is not null as labelled, scores.outcome, scores.num_relevant, scores.num_returned,
       scores.first_relevant_rank, scores.unknown_because,
       queries.query_id is not null or result.query_id is not null or scores.query_id is not null as known,
       (select list({'name': name, 'value': value} order by name)
        from answer_scores where run = $run and query_id = $query) as answer_scores
from (select 1 as one)
left join queries on queries.query_set = $query_set and queries.query_id = $query
left join run_queries as result on result.run = $run and result.query_id = $query
left join query_scores_uncut as scores
       on scores.run = $run and scores.label_set = $label_set and scores.query_id = $query
"""

METRICS = """
select k, hit, complete, recall, precision, f1, rr, ap, ndcg, judged, leaks
from {view}
where run = $run and label_set = $label_set and stage = $shown_stage and query_id = $query
order by k
"""


LABELS = {"rr": "RR", "ap": "AP", "ndcg": "NDCG", "f1": "F1"}


def about(filters: Filters, query_id: str) -> Question:
    """The query and what became of it, in one row; `known` is false where nobody has heard of it."""
    return Question(ABOUT, filters.values(query=query_id))


def metrics(filters: Filters, query_id: str, stage: str) -> Question:
    """Its metrics at every cutoff, at one stage."""
    view = "query_scores" if stage == "final" else "query_scores_all"
    return Question(METRICS.format(view=view), filters.values(query=query_id, shown_stage=stage))


def show_about(row: dict[str, Any]) -> None:
    """The question as it was asked, and everything that the query set says about it."""
    st.html(paragraph(row["text"] if row["text"] is not None else row["query_id"], "rr-question"))
    facts: list[tuple[str, object]] = [("query", row["query_id"])] if row["text"] is not None else []
    if row["must_pass"]:
        facts.append(("", "★ must pass"))
    for name in ("category", "language", "split"):
        if row[name] is not None:
            facts.append((name, row[name]))
    if row["tags"]:
        facts.append(("tags", ", ".join(row["tags"])))
    if row["groups"] is not None:
        facts.append(("asked by a user in", ", ".join(row["groups"]) or "no group"))
    for entry in row["attributes"] or []:
        facts.append((entry["key"], entry["value"]))
    st.html(facts_line(facts))


def outcome(row: dict[str, Any]) -> list[tuple[str, object]]:
    """What became of it in the run."""
    facts: list[tuple[str, object]] = []
    if not row["in_run"]:
        return [("", "the run left this query out")]
    if row["status"] != "ok":
        facts.append(("status", row["status"] + (f": {row['error']}" if row["error"] else "")))
    if row["abstained"]:
        facts.append(("", "declined to answer"))
    if row["num_returned"] is not None:
        facts.append(("returned", f"{row['num_returned']:,}"))
    if row["num_relevant"] is not None:
        facts.append(("relevant and readable", f"{row['num_relevant']:,}"))
    if row["first_relevant_rank"] is not None:
        facts.append(("first relevant rank", row["first_relevant_rank"]))
    elif row["unknown_because"]:
        facts.append(("first relevant rank", f"unknown: {row['unknown_because']}"))
    if row["latency_ms"] is not None:
        facts.append(("latency", f"{row['latency_ms']:,.0f} ms"))
    if row["context_tokens"] is not None:
        facts.append(("context", words.count(row["context_tokens"], "token")))
    for score in row["answer_scores"] or []:
        facts.append((score["name"], words.number(score["value"])))
    return facts


def show_metrics(frame: pa.Table, k: int) -> None:
    """The metrics of the query at every cutoff; the k in force is marked."""
    marks = ["◀" if value == k else "" for value in frame.column("k").to_pylist()]
    shown = frame.append_column("in force", pa.array(marks, pa.string()))
    shown = shown.select(["k", "in force", *[name for name in frame.column_names if name != "k"]])
    st.dataframe(
        shown,
        hide_index=True,
        lazy=False,
        placeholder="–",
        key="query_metrics",
        alt=f"Metrics of this query at every cutoff; k = {k} is in force.",
        column_config={
            "k": st.column_config.NumberColumn("k", format="%d", pinned=True),
            "in force": st.column_config.TextColumn("", width=40),
            "hit": st.column_config.NumberColumn("hit", format="%d"),
            "complete": st.column_config.NumberColumn("complete", format="%d"),
            "leaks": st.column_config.NumberColumn("leaks", format="%d"),
        }
        | {
            name: st.column_config.NumberColumn(LABELS.get(name, name), format="%.3f")
            for name in ("recall", "precision", "f1", "rr", "ap", "ndcg", "judged")
        },
    )


def show_failure(place: dict[str, Any] | None, row: dict[str, Any], k: int) -> None:
    """Why it fails, with the fact that shows it; or that it does not."""
    if place:
        facts = [("fails:", words.failure_class(place["class"])), ("", place["fact"])]
        if said := notes.in_short(place):
            facts.append(("note", said))
        st.html(facts_line([*facts, *[("also", words.failure_class(name)) for name in place["also"] or []]]))
    elif row["labelled"]:
        st.caption(f"At k = {k} this query does not fail, or is left out by the filters.")


def show_outcome(row: dict[str, Any]) -> None:
    """What became of it in the run, and the answer that the pipeline gave, where the run has one."""
    st.html(facts_line(outcome(row)))
    if row["answer"]:
        st.html(paragraph(row["answer"], "rr-answer"))
