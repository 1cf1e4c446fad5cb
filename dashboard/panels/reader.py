"""The whole text of one document, on demand, with the query's words marked."""

from __future__ import annotations

import streamlit as st

from panels import marked_text, words
from panels.filters import Filters
from panels.markup import STYLE, facts_line
from panels.question import Question
from panels.store_access import Reader

MOST = 60_000
"""Characters of a text that are shown."""

DOCUMENT = f"""
select $doc as doc_id, documents.title, left(documents.text, {MOST}) as text,
       length(documents.text) as length,
       documents.groups, documents.doc_id is not null as is_known, labels.grade, labels.rationale,
       coalesce(list_has_any(documents.groups, queries.groups), true) as readable
from label_sets
left join documents on documents.collection = label_sets.collection and documents.doc_id = $doc
left join queries on queries.query_set = label_sets.query_set and queries.query_id = $query
left join labels on labels.label_set = label_sets.label_set and labels.query_id = $query
    and labels.doc_id = $doc
where label_sets.label_set = $label_set
"""


def question(filters: Filters, query_id: str, doc_id: str) -> Question:
    """The document with its text, as far as it is shown."""
    return Question(DOCUMENT, filters.values(query=query_id, doc=doc_id))


def choose(doc_ids: list[str]) -> str | None:
    """Which document to read: one of those that the page has; it is part of the link."""
    if not doc_ids:
        return None
    return st.selectbox(
        "Read a document",
        list(dict.fromkeys(doc_ids)),
        index=None,
        key="doc",
        bind="query-params",
        placeholder="Choose one of these",
        width=420,
    )


def show(store: Reader, filters: Filters, query_id: str, query: str, doc_id: str) -> Question:
    """The document, its label and its text. Returns the question that was asked."""
    asked = question(filters, query_id, doc_id)
    row = store.rows(asked)[0]
    facts: list[tuple[str, object]] = [("document", doc_id)]
    if row["title"]:
        facts.append(("title", row["title"]))
    facts.append(("grade", "unlabelled" if row["grade"] is None else row["grade"]))
    if row["rationale"]:
        facts.append(("why", row["rationale"]))
    if row["groups"]:
        lock = "" if row["readable"] else "🔒 not this query's user: "
        facts.append(("may be read by", f"{lock}{', '.join(row['groups'])}"))
    st.html(facts_line(facts))
    if not row["is_known"]:
        st.caption("The collection does not have this document.")
    elif not row["text"]:
        st.caption("The collection has no text of this document.")
    else:
        st.html(body(row["text"], query))
        if row["length"] > MOST:
            st.caption(f"The first {MOST:,} of {words.count(row['length'], 'character')}.")
    return asked


def body(text: str, query: str) -> str:
    """The text as HTML, scrolling in itself."""
    marked = marked_text.marked(text, query)
    about = 'dir="auto" tabindex="0" role="region" aria-label="Text of the document"'
    return f'{STYLE}<div class="rr-read" {about}>{marked}</div>'
