"""What there is to score with, where it falls short, and the way for more to come in."""

import shlex

import streamlit as st
from panels import (
    data_coverage,
    data_doubts,
    data_inventory,
    data_revisions,
    data_scope,
    data_upload,
    run_notes,
    words,
)
from panels.layout import answer
from panels.store_access import reading, store_path
from rankroom.store import Store

filters = data_scope.current()
if filters is None:
    st.title("Data", anchor=False)
    path = words.quoted(store_path())
    answer(
        f"There is no data in {path} yet."
        if Store(store_path()).exists()
        else f"There is no data yet: the first files that are added make {path}."
    )
    sample = words.quoted(f"rankroom demo --store {shlex.quote(store_path())}")
    st.caption(f"Files go in below, or with {words.quoted('rankroom add')}; {sample} puts in sample data.")
    data_upload.show(None)
    st.stop()

data_scope.heading(filters)
with reading() as store:
    parts = [
        store.rows(data_inventory.about(filters, sql))
        for sql in (data_inventory.LABEL_SETS, data_inventory.QUERY_SETS, data_inventory.COLLECTIONS)
    ]
    answer(data_inventory.sentence(filters, *parts))
    run_notes.name_unscored(store.column(run_notes.to_rescore(filters)), filters)

    there, revisions, coverage, doubts, adding = st.tabs(
        ["What there is", "Label revisions", "Coverage", "Doubts", "Add files"],
        key="view",
        bind="query-params",
    )
    with there:
        if there.open:
            data_inventory.show(store, filters)
    with revisions:
        if revisions.open:
            data_revisions.show(store, filters)
    with coverage:
        if coverage.open:
            data_coverage.show(store, filters)
    with doubts:
        if doubts.open:
            data_doubts.show(store, filters)
with adding:  # always there, so that chosen files stay while one looks at other tabs; and the store is free
    data_upload.show(filters, next(row["relevant_from"] for row in parts[0] if row["is_current"]))
