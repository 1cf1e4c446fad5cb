"""What a page says when there is nothing to show yet, or the store cannot be had, and what to do about it."""

from __future__ import annotations

import shlex

import streamlit as st
from rankroom.store import Store

from panels.question import Question
from panels.store_access import Reader, store_path
from panels.words import quoted

MISSING, EMPTY = "missing", "empty"

CONTENTS = Question(
    """
select (select count(*) from runs) as runs,
       (select count(*) from label_sets) as label_sets,
       (select count(*) from scorings) as scorings
"""
)


def state_of(store: Reader) -> str | None:
    """Why there is nothing to show; None if there is something."""
    if not Store(store_path()).exists():
        return MISSING
    row = store.row(CONTENTS)
    return EMPTY if row is None or not row["scorings"] else None


def show(state: str | None) -> None:
    """The page of a store with nothing in it: the commands that fill it, with this store's path."""
    path = shlex.quote(store_path())
    st.title("No runs yet", anchor=False)
    if state == MISSING:
        st.markdown(f"There is no store at {quoted(store_path())}. The first run that is added makes it.")
    else:
        st.markdown(f"The store {quoted(store_path())} holds no scored run.")
    st.markdown(
        "A folder in the native form (labels, queries and runs, written by hand or by your pipeline):"
    )
    st.code(f"rankroom add --store {path} FOLDER", language="bash")
    st.markdown("TREC files, labels and one or more runs:")
    st.code(f"rankroom add --store {path} --dataset NAME --labels QRELS RUN [RUN...]", language="bash")
    st.markdown("Or look around with sample data first:")
    st.code(f"rankroom demo --store {path}", language="bash")
    st.caption("This page shows new runs by itself within a few seconds.")


def unavailable(reason: str) -> None:
    """The page of a store that cannot be read: the reason, and what to do."""
    st.title("The store could not be read", anchor=False)
    st.text(reason)
    st.markdown(_advice(reason))
    st.caption("This page tries again every few seconds.")


def _advice(reason: str) -> str:
    path = quoted(f"rankroom migrate --store {shlex.quote(store_path())}")
    if "has it open" in reason or "could not be had" in reason:
        return "Close the other program, or wait until it is done. Nothing is lost."
    if "newer rankroom" in reason:
        return "Install the newer rankroom, or point this dashboard at another store."
    if "rankroom migrate" in reason or "does not exist" in reason:
        return f"{path} brings the store up to date."
    return "Point `rankroom serve --store` at another file, or restore this one from a copy."
