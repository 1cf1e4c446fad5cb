"""Labels that may be at fault, those on which most verdicts hang first; and those that somebody disputes."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

PAGE_SIZE = 50

KINDS = {
    "unjudged_on_top": "unlabelled on top",
    "irrelevant_on_top": "first everywhere, labelled not relevant",
    "in_no_run": "returned by no run",
    "not_in_collection": "not in the collection",
    "near_identical": "twin of a relevant document",
    "repeats_question": "only repeats the question",
}

MOST = 500
"""Suspects of each kind that are listed."""

LISTED = f"""
select suspects.kind, suspects.query_id, queries.text, suspects.doc_id, documents.title, suspects.grade,
       coalesce(not list_has_any(documents.groups, queries.groups), false) as forbidden,
       suspects.num_verdicts, suspects.num_runs, suspects.fact, disputes.dispute, disputes.disputed_grade,
       suspect_cutoff() as counted_at, count(*) over of_kind as labels,
       (sum(suspects.num_verdicts) over of_kind)::bigint as verdicts
from {{view}} as suspects
join label_sets on label_sets.label_set = suspects.label_set
left join queries on queries.query_set = $query_set and queries.query_id = suspects.query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = suspects.doc_id
left join label_disputes as disputes on disputes.query_set_name = $data
                                    and disputes.query_id = suspects.query_id
                                    and disputes.doc_id = suspects.doc_id
where suspects.label_set = $label_set{{conditions}}
window of_kind as (partition by suspects.kind)
qualify row_number() over (partition by suspects.kind
                           order by suspects.num_verdicts desc, suspects.num_runs desc, suspects.query_id,
                                    suspects.doc_id) <= {MOST}
order by suspects.num_verdicts desc, suspects.num_runs desc, suspects.kind, suspects.query_id,
         suspects.doc_id
"""

DISPUTES = """
select disputes.query_id, queries.text, disputes.doc_id, disputes.grade, disputes.dispute,
       disputes.disputed_grade, disputes.settled, disputes.state, disputes.note, disputes.who,
       strftime(disputes.annotated_at at time zone 'UTC', '%Y-%m-%d') as day
from label_disputes as disputes
left join queries on queries.query_set = $query_set and queries.query_id = disputes.query_id
where disputes.query_set_name = $data{conditions}
order by disputes.settled, disputes.annotated_at desc, disputes.query_id, disputes.doc_id
limit 200
"""


def question(filters: Filters) -> Question:
    """The suspects, those first on which most verdicts hang; with how many there are of each kind."""
    conditions = "".join(f"\n  and {one}" for one in filters.query_conditions())
    view = "label_suspects" if filters.is_current else "label_suspects_all"
    return Question(LISTED.format(view=view, conditions=conditions), filters.values(data=filters.data))


def counts(frame: pa.Table) -> list[Row]:
    """How many labels are suspect for each reason, and how many verdicts hang on them; most first."""
    measures = [("labels", "max"), ("verdicts", "max"), ("num_verdicts", "max")]
    found: list[Row] = frame.group_by("kind").aggregate(measures).to_pylist()
    rows = [
        {"kind": row["kind"], "labels": row["labels_max"], "verdicts": row["verdicts_max"]}
        | {"most": row["num_verdicts_max"]}
        for row in found
    ]
    return sorted(rows, key=lambda row: (-row["verdicts"], -row["labels"], row["kind"]))


def of_kinds(frame: pa.Table, kinds: tuple[str, ...]) -> pa.Table:
    """The suspects of these kinds, or all."""
    return frame.filter(pc.is_in(frame.column("kind"), pa.array(kinds, pa.string()))) if kinds else frame


def disputes(filters: Filters) -> Question:
    """The labels that somebody holds to be wrong, those that are not settled first."""
    conditions = "".join(f" and {one}" for one in filters.query_conditions())
    return Question(DISPUTES.format(conditions=conditions), filters.values(data=filters.data))


def sentence(rows: list[Row]) -> str:
    """How many labels are suspect, and how much hangs on them, as Markdown."""
    if not rows:
        return "No label is suspect under these filters."
    labels, most = sum(row["labels"] for row in rows), max(row["most"] for row in rows)
    first = KINDS.get(rows[0]["kind"], rows[0]["kind"])
    text = f"{words.count(labels, 'label')} may be at fault"
    if len(rows) > 1:
        text += f"; most verdicts hang on the {rows[0]['labels']:,} of the kind: {first}"
    return f"{text}. One alone decides up to {words.count(most, 'verdict')}."


def choose(rows: list[Row]) -> tuple[str, ...]:
    """The kinds that are listed."""
    kinds = [str(row["kind"]) for row in rows]
    if len(kinds) < 2:
        return ()
    sizes = {row["kind"]: row["labels"] for row in rows}
    chosen = st.pills(
        "Kind",
        kinds,
        format_func=lambda kind: KINDS.get(kind, kind),
        selection_mode="multi",
        key="suspect_kind",
        bind="query-params",
        help="; ".join(f"{KINDS.get(kind, kind)}: {sizes[kind]:,}" for kind in kinds),
    )
    return tuple(chosen)


def show(frame: pa.Table) -> None:
    """The list. A click on a row's button opens the query with the label to dispute."""
    rows = frame.to_pylist()
    columns = {
        "open": pa.array(["Open ›"] * len(rows), pa.string()),
        "num_verdicts": frame.column("num_verdicts"),
        "kind": pa.array([KINDS.get(row["kind"], row["kind"]) for row in rows], pa.string()),
        "query_id": frame.column("query_id"),
        "text": frame.column("text"),
        "doc_id": frame.column("doc_id"),
        "lock": pa.array(["🔒" if row["forbidden"] else "" for row in rows], pa.string()),
        "title": frame.column("title"),
        "grade": frame.column("grade"),
        "fact": frame.column("fact"),
        "num_runs": frame.column("num_runs"),
        "disputed": pa.array([_disputed(row) for row in rows], pa.string()),
    }
    if not any(columns["disputed"].to_pylist()):
        del columns["disputed"]
    if not any(columns["lock"].to_pylist()):
        del columns["lock"]
    for name in ("text", "title"):
        if columns[name].null_count == len(rows):
            del columns[name]
    st.dataframe(
        pa.table(columns),
        hide_index=True,
        lazy=False,
        placeholder="–",
        height="auto" if len(rows) <= 15 else 560,
        key="suspects",
        alt="Labels that may be at fault, with how many verdicts hang on each.",
        column_config={
            "open": st.column_config.ButtonColumn(
                "open", key="open_suspect", type="secondary", width="small"
            ),
            "num_verdicts": st.column_config.NumberColumn(
                "verdicts",
                format="%d",
                width=80,
                help="Queries of a run whose verdict would change if the label were put right.",
            ),
            "kind": st.column_config.TextColumn("why suspect", width=210),
            "query_id": st.column_config.TextColumn("query"),
            "text": st.column_config.TextColumn("text", width=260),
            "doc_id": st.column_config.TextColumn("document"),
            "lock": st.column_config.TextColumn(
                "🔒", width=40, help="The query's user may not read this document."
            ),
            "title": st.column_config.TextColumn("title", width=200),
            "grade": st.column_config.NumberColumn("grade", format="%d", help="A dash: it has no label."),
            "fact": st.column_config.TextColumn("fact", width=380),
            "num_runs": st.column_config.NumberColumn("runs", format="%d"),
        },
    )
    if click := st.session_state.get("open_suspect"):
        _open(rows[click["row"]])


def _disputed(row: Row) -> str:
    if row["dispute"] is None:
        return ""
    return "no label" if row["dispute"] == "no_label" else f"should be {row['disputed_grade']}"


def show_disputes(rows: list[Row]) -> None:
    """The labels that are disputed. A click on a row's button opens the query."""
    columns: dict[str, list[str | None]] = {
        "open": ["Open ›"] * len(rows),
        "query_id": [row["query_id"] for row in rows],
        "text": [row["text"] for row in rows],
        "doc_id": [row["doc_id"] for row in rows],
        "grade": ["–" if row["grade"] is None else str(row["grade"]) for row in rows],
        "should be": [_disputed(row).removeprefix("should be ") for row in rows],
        "settled": ["✓ as held right" if row["settled"] else "open" for row in rows],
        "note": [row["note"] for row in rows],
        "who": [f"{row['who']}, {row['day']}" for row in rows],
    }
    st.dataframe(
        pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}),
        hide_index=True,
        lazy=False,
        placeholder="–",
        key="disputes",
        alt="Labels that somebody disputes.",
        column_config={
            "open": st.column_config.ButtonColumn(
                "open", key="open_dispute", type="secondary", width="small"
            ),
            "query_id": st.column_config.TextColumn("query"),
            "text": st.column_config.TextColumn("text", width=260),
            "doc_id": st.column_config.TextColumn("document"),
            "settled": st.column_config.TextColumn(
                "now", help="Whether the current labels say what the dispute holds to be right."
            ),
            "note": st.column_config.TextColumn("why", width=260),
        },
    )
    if click := st.session_state.get("open_dispute"):
        _open(rows[click["row"]])


def _open(row: Row) -> None:
    link = {"query": str(row["query_id"]), "dispute": str(row["doc_id"])}
    st.switch_page("app_pages/query.py", query_params=link)
