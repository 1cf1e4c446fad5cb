"""What people noted about queries: what holds now, every change, and what a failure is explained by."""

from __future__ import annotations

import html

from panels import words
from panels.filters import Filters
from panels.markup import STYLE, escaped
from panels.question import Question
from panels.store_access import Row

NO_NOTE = "none"

JOIN = """
    left join noted_queries($run, $k,
        label_set := $label_set) as noted on noted.query_id = failures.query_id"""
COLUMNS = """,
           noted.state as note_state, noted.standing, noted.cause as note_cause, noted.note, noted.owner"""
STATE = f"coalesce(noted.state, '{NO_NOTE}')"

ANY = Question("select count(*) > 0 as has_notes from notes where query_set_name = $data and doc_id is null")

STATES = Question(
    "select distinct state from notes where query_set_name = $data and doc_id is null order by state"
)

SINCE = """
select noted.query_id, queries.text, noted.state, noted.cause, noted.note, noted.owner, noted.annotated_at
from noted_queries($run, $k, label_set := $label_set) as noted
left join queries on queries.query_set = $query_set and queries.query_id = noted.query_id
where noted.standing = 'fixed_since'{conditions}
order by noted.annotated_at desc, noted.query_id
limit 50
"""

HOLDING = """
select run, doc_id, state, cause, note, owner, dispute, disputed_grade, who, first_at, annotated_at,
       num_changes,
       strftime(annotated_at at time zone 'UTC', '%Y-%m-%d %H:%M') as moment
from notes
where query_set_name = $data and query_id = $query
order by run is distinct from $run, run is not null, doc_id nulls first
"""

HISTORY = """
select strftime(annotated_at at time zone 'UTC', '%Y-%m-%d %H:%M:%S') as moment, who, run, doc_id, state,
       cause, note,
       owner, dispute, disputed_grade
from note_history
where query_set_name = $data and query_id = $query
order by annotated_at desc
limit 200
"""


def any_of(filters: Filters) -> Question:
    """Whether anything is noted about queries of this data set."""
    return Question(ANY.sql, filters.values(data=filters.data))


def states(filters: Filters) -> Question:
    """The states that notes of this data set are in."""
    return Question(STATES.sql, filters.values(data=filters.data))


def fixed_since(filters: Filters) -> Question:
    """Queries with a note that failed when it was written, and fail no longer in this run."""
    conditions = "".join(f" and {condition}" for condition in filters.query_conditions())
    return Question(SINCE.format(conditions=conditions), filters.values())


def holding(filters: Filters, query_id: str) -> Question:
    """What holds now of this query: about it in every run, in single runs, and about its labels."""
    return Question(HOLDING, filters.values(query=query_id, data=filters.data))


def history(filters: Filters, query_id: str) -> Question:
    """Every change of its notes, the latest first."""
    return Question(HISTORY, filters.values(query=query_id, data=filters.data))


def in_short(row: Row) -> str:
    """What the list of failures says of a note: still failing, explained by its cause."""
    if row.get("note_state") is None:
        return ""
    standing = {
        "still_failing": "still failing, ",
        "failing_again": "failing again, was ",
        "fixed_since": "fixed since, was ",
    }.get(row["standing"], "")
    cause = row["note_cause"] or row["note"]
    state = words.NOTE_STATES.get(row["note_state"], row["note_state"])
    if not cause:
        return f"{standing}{state}"
    return f"{standing}{state}{' by ' if row['note_state'] == 'explained' else ': '}{cause}"


def about(row: Row) -> str:
    """What a note is about, in words."""
    if row["doc_id"] is not None:
        return f"the label of {row['doc_id']}"
    return "every run" if row["run"] is None else f"run {row['run']}"


def dispute(row: Row) -> str:
    """What a dispute says of a label."""
    if row["dispute"] == "no_label":
        return "disputed: it should have no label"
    return f"disputed: its grade should be {row['disputed_grade']}" if row["dispute"] else ""


def markup(rows: list[Row]) -> str:
    """What holds now, as HTML."""
    parts = []
    for row in rows:
        state = words.note_state(row["state"])
        texts = [row["cause"], row["note"]]
        said = "".join(f'<div class="rr-text" dir="auto">{html.escape(text)}</div>' for text in texts if text)
        wrong = f" <b>{html.escape(dispute(row))}</b>" if row["dispute"] else ""
        owner = f" · owner {escaped(row['owner'])}" if row["owner"] else ""
        changes = f" · {words.count(row['num_changes'], 'change')}" if row["num_changes"] > 1 else ""
        parts.append(
            f'<div class="rr-note-item {html.escape(row["state"])}" role="listitem">'
            f'<span class="rr-mark other">{html.escape(state)}</span>'
            f"<b>{escaped(about(row))}</b>{wrong}{said}"
            f'<div class="rr-note"><span>{escaped(row["who"])} · {escaped(row["moment"])} '
            f"UTC{owner}{changes}</span></div></div>"
        )
    return f'{STYLE}<div class="rr-list" role="list" aria-label="Notes">{"".join(parts)}</div>'
