"""The top of the Compare page: what is compared, by which metric, and the verdict in words."""

from __future__ import annotations

import shlex
from typing import NoReturn

import streamlit as st
from rankroom.comparison import METRICS, Comparison
from rankroom.verdict_words import NAMES, metric_name, verdict
from streamlit.delta_generator import DeltaGenerator

from panels import layout, run_notes, words
from panels.compare_pair import Pair
from panels.filters import Filters
from panels.markup import facts_line, paragraph
from panels.store_access import Row, store_path

ONE = "(one dimension)"
"""No second dimension to slice by."""


def heading(filters: Filters, pair: Pair, found: Comparison | None) -> None:
    """The title, the pair, the filters in force and n: a screenshot explains itself."""
    n = "no queries"
    if found and found.n:
        n = words.count(found.n, "labelled, answerable query", "labelled, answerable queries")
        if found.on_common:
            n += " that both have in common"
    st.title("Compare", anchor=False)
    st.html(facts_line([("baseline", pair.base), ("candidate", pair.cand), *filters.facts(), ("", n)]))


def refused(filters: Filters, pair: Pair, reason: str) -> NoReturn:
    """The page of a pair that core refuses, such as one whose queries do not know the split."""
    heading(filters, pair, None)
    st.text(f"{reason}.")
    st.stop()


def metric(bar: DeltaGenerator) -> str:
    """The metric that everything below the forest is about."""
    return (
        bar.selectbox(
            "Metric",
            METRICS,
            format_func=NAMES.__getitem__,
            key="by_metric",
            bind="query-params",
            width=150,
            help="The account, the slices, the queries and the costs are shown by this metric.",
        )
        or METRICS[0]
    )


def link_to_signals(pair: Pair, bar: DeltaGenerator) -> None:
    """The way to the signals of the same pair."""
    if bar.button(
        "Signals ›", key="to_signals", type="tertiary", help="Where the metrics of this pair disagree."
    ):
        st.switch_page("app_pages/signals.py", query_params={"base": pair.base, "cand": pair.cand})


def dimensions(possible: list[str], bar: DeltaGenerator) -> tuple[str, ...]:
    """By what queries are sliced: two dimensions, or one; none where queries say nothing."""
    if not possible:
        return ()
    first = bar.selectbox("Rows", possible, key="by", bind="query-params", width=170) or possible[0]
    others = [name for name in possible if name != first]
    second = bar.selectbox(
        "Columns", [*others, ONE], key="and_by", bind="query-params", width=170, disabled=not others
    )
    return (first,) if not second or second == ONE else (first, second)


def say_verdict(found: Comparison) -> None:
    """Whether the candidate is better, and can that be told; the guard speaks where nothing is compared."""
    if found.reasons and not found.metrics:
        return
    text = verdict(found)
    if found.on_common:
        text = text[0].upper() + text[1:]  # it begins with the word "on"
    st.html(paragraph(text if text.endswith(".") else f"{text}.", "rr-question"))


def named(name: str, k: int) -> str:
    """A metric as this page writes it: NDCG@5."""
    return metric_name(name, k)


def too_few(rows: list[Row], behind: list[str], filters: Filters) -> NoReturn:
    """The page with one run, or none at this stage: what would fill it."""
    layout.heading("Compare", filters)
    run_notes.name_unscored(behind, filters)
    if rows:
        layout.answer(
            f"{words.quoted(rows[0]['run'])} is the only run here: there is nothing to compare it with."
        )
    else:
        layout.answer("No run has scores under these labels at this stage.")
    st.markdown("A second run of the same queries fills this page:")
    st.code(
        f"rankroom add --store {shlex.quote(store_path())} FOLDER\n"
        f"rankroom add --store {shlex.quote(store_path())} --dataset NAME --labels QRELS RUN [RUN...]",
        language="bash",
        wrap_lines=True,
    )
    st.stop()
