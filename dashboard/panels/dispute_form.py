"""Disputing a label: what the metrics would be with another grade, at once, and the note that says so."""

from __future__ import annotations

import streamlit as st
from rankroom.annotations import Note

from panels import dispute_effect, note_form
from panels.filters import Filters
from panels.question import Question
from panels.store_access import reading

NO_LABEL = "no label"

LABEL = Question(
    """
select labels.grade, label_sets.relevant_from,
       (select greatest(max(grade), label_sets.relevant_from) from labels as all_of
        where all_of.label_set = $label_set) as highest
from label_sets
left join labels on labels.label_set = label_sets.label_set and labels.query_id = $query
                and labels.doc_id = $doc
where label_sets.label_set = $label_set
"""
)


def show(filters: Filters, query_id: str, doc_ids: list[str]) -> None:
    """Which label, what it should be, what that would change, and the button that writes it down."""
    if not doc_ids:
        st.caption("There is no document here whose label could be disputed.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        doc_id = st.selectbox(
            "Label of",
            list(dict.fromkeys(doc_ids)),
            index=None,
            key="dispute",
            bind="query-params",
            placeholder="a document of this query",
            width=320,
        )
        if doc_id is None:
            return
        with reading() as store:
            label = store.rows(Question(LABEL.sql, filters.values(query=query_id, doc=doc_id)))[0]
        is_now = "unlabelled" if label["grade"] is None else f"grade {label['grade']}"
        grades = [str(grade) for grade in range(label["highest"] + 1) if grade != label["grade"]]
        should = st.segmented_control(
            f"Is {is_now}, and should be",
            [*grades, *([NO_LABEL] if label["grade"] is not None else [])],
            key="dispute_grade",
            default=_turned(label["grade"], label["relevant_from"]),
            required=True,
        )
    should = should or NO_LABEL
    dispute_effect.show(filters, query_id, doc_id, None if should == NO_LABEL else int(should))
    _write(filters, query_id, doc_id, should)


def _turned(grade: int | None, relevant_from: int) -> str:
    """The other verdict: relevant where it is not, and the reverse."""
    return "0" if grade is not None and grade >= relevant_from else str(relevant_from)


def _write(filters: Filters, query_id: str, doc_id: str, should: str) -> None:
    with st.form("dispute_form", clear_on_submit=False, border=False):
        why = st.text_input("Why", key="dispute_why", placeholder="what the reviewer should look at")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            who = note_form.writer("dispute_who")
            sent = st.form_submit_button("Dispute this label", icon=":material/flag:")
    if sent:
        note_form.write(
            Note(
                query_id=query_id,
                who=who,
                dataset=filters.data,
                doc_id=doc_id,
                text=why.strip() or None,
                state="open",
                grade=None if should == NO_LABEL else int(should),
                no_label=should == NO_LABEL,
            )
        )
