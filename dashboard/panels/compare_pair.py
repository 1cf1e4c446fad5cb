"""Which two runs are compared: a baseline and a candidate. Both are in the URL: a link reproduces it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from panels import words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

BASE, CAND = "base", "cand"
"""The parameters of the URL."""

BASE_CHOICE, CAND_CHOICE = "base_choice", "cand_choice"
REMEMBERED, UNKNOWN = "compared_pair", "unknown_of_pair"

RUNS = """
select runs.run, runs.baseline, runs.series, runs.created
from runs
join scorings on scorings.run = runs.run and scorings.label_set = $label_set
where exists (select 1 from run_stages where run_stages.run = runs.run and run_stages.stage = $stage)
order by runs.created desc nulls last, runs.added_at desc, runs.run
"""


@dataclass(frozen=True)
class Pair:
    """A baseline and the candidate that is held against it."""

    base: str
    cand: str

    @property
    def is_one(self) -> bool:
        """Whether a run is held against itself."""
        return self.base == self.cand


def runs(filters: Filters) -> Question:
    """The runs that can be compared: scored under these labels at this stage, the newest first."""
    return Question(RUNS, filters.values())


def default(rows: list[Row]) -> Pair:
    """The newest run that has its declared baseline here; else the newest against the one before."""
    names = {str(row["run"]) for row in rows}
    for row in rows:
        if row["baseline"] in names:
            return Pair(str(row["baseline"]), str(row["run"]))
    return Pair(str(rows[min(1, len(rows) - 1)]["run"]), str(rows[0]["run"]))


def asked(rows: list[Row]) -> Pair:
    """The pair that the link names, or that was looked at last, or the default."""
    names = {str(row["run"]) for row in rows}
    usual = default(rows)
    remembered = st.session_state.get(REMEMBERED)
    chosen = remembered if remembered and {remembered.base, remembered.cand} <= names else usual
    base, cand = (st.query_params.get(name) for name in (BASE, CAND))
    unknown = [name for name in (base, cand) if name and name not in names]
    if unknown:
        st.session_state[UNKNOWN] = unknown
    if cand in names and base not in names:
        # A link that names the candidate only means it against its own baseline.
        declared = next(row["baseline"] for row in rows if row["run"] == cand)
        fallback = usual.base if usual.base != cand else usual.cand
        return Pair(str(declared) if declared in names else fallback, cand)
    return Pair(base if base in names else chosen.base, cand if cand in names else chosen.cand)


def choose(rows: list[Row], bar: DeltaGenerator) -> Pair:
    """The pair as the reader chooses it, with a button that swaps the two."""
    pair = asked(rows)
    _put(pair)
    names = [str(row["run"]) for row in rows]
    with bar:
        st.selectbox("Baseline", names, key=BASE_CHOICE, on_change=_chosen, width=300)
        st.button(
            "Swap",
            icon=":material/swap_horiz:",
            key="swap",
            on_click=_swap,
            help="Hold the baseline against the candidate.",
        )
        st.selectbox("Candidate", names, key=CAND_CHOICE, on_change=_chosen, width=300)
    return pair


def say_unknown() -> None:
    """Say so where the link asked for a run that is not here."""
    if unknown := st.session_state.get(UNKNOWN):
        are = "is" if len(unknown) == 1 else "are"
        st.warning(
            f"{words.listed(unknown)} {are} not in this store under these labels at this stage, "
            "or not any more.",
            icon=":material/link_off:",
        )


def _put(pair: Pair) -> None:
    st.session_state[BASE_CHOICE], st.session_state[CAND_CHOICE] = pair.base, pair.cand
    st.session_state[REMEMBERED] = pair
    if (st.query_params.get(BASE), st.query_params.get(CAND)) != (pair.base, pair.cand):
        st.query_params[BASE], st.query_params[CAND] = pair.base, pair.cand


def _chosen() -> None:
    st.session_state.pop(UNKNOWN, None)
    st.query_params[BASE] = st.session_state[BASE_CHOICE]
    st.query_params[CAND] = st.session_state[CAND_CHOICE]


def _swap() -> None:
    st.session_state[BASE_CHOICE], st.session_state[CAND_CHOICE] = (
        st.session_state[CAND_CHOICE],
        st.session_state[BASE_CHOICE],
    )
    _chosen()
