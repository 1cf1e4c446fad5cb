"""What the Data page is about: any data set of the store, also one without runs, and a cutoff."""

from __future__ import annotations

import streamlit as st

from panels.filters import Filters
from panels.markup import facts_line
from panels.question import Question
from panels.sidebar import CUTOFFS, DEFAULT_K
from panels.store_access import Reader

DATA_SETS = Question(
    """
select name, label_set, query_set from label_set_summary where is_current order by added_at desc, name
"""
)


def choose(store: Reader) -> Filters | None:
    """The data set as the sidebar has it, under its current labels; None in a store without labels."""
    sets = {str(row["name"]): row for row in store.rows(DATA_SETS)}
    if not sets:
        return None
    if (added := st.session_state.pop("just_added", None)) in sets:
        st.session_state["data"] = added
    data = next(iter(sets))
    with st.sidebar:
        if len(sets) > 1:
            data = st.selectbox("Data set", list(sets), key="data", bind="query-params") or data
        cutoffs = [int(k) for k in store.column(CUTOFFS)] or [DEFAULT_K]
        k = st.selectbox(
            "Cutoff k",
            cutoffs,
            index=cutoffs.index(DEFAULT_K) if DEFAULT_K in cutoffs else 0,
            key="k",
            bind="query-params",
            help="Metrics look at the first k results of each query.",
        )
    row = sets[data]
    return Filters(data=data, label_set=str(row["label_set"]), query_set=str(row["query_set"]), k=k)


def heading(filters: Filters) -> None:
    """The title, and what the page is about. No split: what there is, is there in all of them."""
    st.title("Data", anchor=False)
    facts = [("data", filters.data), ("current labels", filters.label_set), ("k", filters.k)]
    st.html(facts_line(facts))


def current() -> Filters | None:
    """The data set that app.py chose in this page run."""
    filters: Filters | None = st.session_state["filters"]
    return filters
