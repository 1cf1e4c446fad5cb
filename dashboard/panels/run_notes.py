"""What to keep in mind about runs: not scored yet, a k beyond what is used, and the like."""

from __future__ import annotations

import shlex
from typing import NoReturn

import streamlit as st

from panels import words
from panels.filters import Filters
from panels.layout import heading
from panels.question import Question
from panels.store_access import Row, reading, store_path


def to_rescore(filters: Filters) -> Question:
    """The runs of this data set that have no scores under the current labels."""
    return Question(
        "select run from runs_to_rescore where label_set = $label_set order by run", filters.values()
    )


def name_unscored(runs: list[str], filters: Filters) -> None:
    """Say which runs are missing here because they were scored under earlier labels."""
    if runs:
        st.warning(
            f"{words.listed(runs)} {'is' if len(runs) == 1 else 'are'} not scored under "
            f"{words.quoted(filters.label_set)} yet: "
            f"{words.quoted('rankroom rescore --store ' + shlex.quote(store_path()))} does it.",
            icon=":material/update:",
        )


def no_scored_run(filters: Filters) -> NoReturn:
    """The page of a run where the current labels have scored none yet."""
    with reading() as store:
        behind = store.column(to_rescore(filters))
    heading("No scored run", filters)
    name_unscored(behind, filters)
    st.stop()


FINAL_CUT = """
select coalesce((select cut from run_stages where run = $run and stage = 'final'),
                (select try_cast(value as integer) from run_config where run = $run and setting = 'final.k')
               ) as cut
"""


def final_cut(filters: Filters) -> Question:
    """How many results of the chosen run reach the next step of its pipeline, if it says so."""
    return Question(FINAL_CUT, filters.values())


def notes(summary: Row | None, cut: Row | None, filters: Filters) -> list[str]:
    """What to keep in mind about one run at this k, as Markdown."""
    found = []
    if summary and summary["n"] and summary["complete_ceiling"] < 1 - 1e-9:
        beyond = round(summary["n"] * (1 - summary["complete_ceiling"]))
        found.append(
            f"{words.count(beyond, 'query has', 'queries have')} more than {filters.k} relevant documents: "
            f"at k = {filters.k} their evidence cannot be complete."
        )
    if cut and cut["cut"] is not None and filters.k > cut["cut"]:
        found.append(
            f"This run passes on only its first {cut['cut']} results: k = {filters.k} looks beyond them."
        )
    return found
