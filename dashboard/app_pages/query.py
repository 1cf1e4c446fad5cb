"""One query of one run: what was asked, what should have come, what came, and what is known of it."""

import streamlit as st
from panels import layout, note_panel, query_page, query_rankings, run_notes, sidebar, ticket
from panels.store_access import reading

filters = sidebar.current()
if not filters.run:
    run_notes.no_scored_run(filters)
query_id = st.query_params.get("query", "")
about_it = f"against {filters.against}" if filters.against else ""
layout.heading("Query", filters, about_it, filters.run)

# The store is opened once for all that is shown, and free again before a note may be written into it.
with reading() as store:
    text = query_page.show_query(store, filters, query_id)
    note_panel.show_holding(filters, query_id)
    evidence = query_page.show_evidence(store, filters, query_id, text)
    documents = [*evidence, *query_rankings.show(filters, query_id, text)]
    query_page.show_document(store, filters, query_id, text, documents)
    query_page.show_history(store, filters, query_id)
    query_page.show_metrics(store, filters, query_id)
    note_panel.ask_ahead(store, filters, query_id)
ticket.show(filters, query_id)
note_panel.show(filters, query_id, documents)
