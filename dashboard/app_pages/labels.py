"""Which labels may be at fault, and which are disputed."""

from math import ceil

import streamlit as st
from panels import suspects, words
from panels.layout import answer, heading, panel_title, show_sql
from panels.sidebar import current
from panels.store_access import reading

filters = current()
question = suspects.question(filters)
disputes_question = suspects.disputes(filters)
with reading() as store:
    found = store.table(question)
    disputed = store.rows(disputes_question)
counts = suspects.counts(found)

heading("Labels", filters, f"{words.count(sum(row['labels'] for row in counts), 'suspect')}")
answer(suspects.sentence(counts))
counted = f" Verdicts are counted at k = {found.column('counted_at')[0]}." if found.num_rows else ""
st.caption(
    "Open a suspect, read the document, and dispute the label there, or leave it. Nothing is changed here: "
    f"corrected labels come in as a new revision.{counted}"
)
kinds = suspects.choose(counts)
listed = suspects.of_kinds(found, kinds)
if listed.num_rows:
    pages = ceil(listed.num_rows / suspects.PAGE_SIZE)
    table = st.container()
    number = st.pagination(pages, key="suspects_page", bind="query-params") if pages > 1 else 1
    with table:
        suspects.show(listed.slice((min(number, pages) - 1) * suspects.PAGE_SIZE, suspects.PAGE_SIZE))
show_sql(question)

panel_title("Disputed labels")
if disputed:
    suspects.show_disputes(disputed)
else:
    st.caption("No label is disputed.")
show_sql(disputes_question)
