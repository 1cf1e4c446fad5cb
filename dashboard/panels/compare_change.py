"""What changed between two runs, and whether they can be compared at all."""

from __future__ import annotations

import streamlit as st
from rankroom.comparability import Reason
from rankroom.comparison import Comparison

from panels import words
from panels.compare_pair import Pair
from panels.filters import Filters
from panels.markup import escaped, facts_line
from panels.question import Question

MOST_SETTINGS = 12
NOT_RUN = ("queries_left_out", "queries_failed")
"""The kinds of notes on queries that a run has no ranking of."""
COMMON = "common"
"""The parameter of the URL that asks for what is common to both runs."""

DIFFERENCES = "select setting, baseline, candidate from config_diff($base, $cand) order by setting"
CANDIDATES = (
    "select count(*) filter (identical) as identical, count(*) as queries from candidate_lists($base, $cand)"
)


def settings(filters: Filters, pair: Pair) -> Question:
    """The settings in which the runs differ."""
    return Question(DIFFERENCES, filters.values(base=pair.base, cand=pair.cand))


def candidates(filters: Filters, pair: Pair) -> Question:
    """In how many queries both pipelines began with the same documents."""
    return Question(CANDIDATES, filters.values(base=pair.base, cand=pair.cand))


def questions(filters: Filters, pair: Pair, found: Comparison) -> list[Question]:
    """The statements behind what is said of the change."""
    asked = [settings(filters, pair)]
    return [*asked, candidates(filters, pair)] if found.identical_candidates else asked


def sentence(found: Comparison) -> str:
    """How many settings changed, and what follows. Plain text."""
    if found.reasons and not found.one_change:
        return "One setting changed, but the runs are not alike in more than that."
    if found.one_change:
        return f"{found.one_change[0].upper()}{found.one_change[1:]}."
    return "One of the settings that the runs name changed." if found.config_diff else ""


def same_candidates(found: Comparison) -> str:
    """The share of queries in which both pipelines began with the same documents. Plain text."""
    shared = found.identical_candidates
    if shared is None:
        return ""
    of = words.count(shared.of, "query", "queries")
    if shared.identical == shared.of:
        said = f"Both began with the same candidates in each of {of}"
        changed = any(one.ties < one.n for one in found.metrics)
        all_ran = all(note.kind not in NOT_RUN for note in found.notes)
        return f"{said}: the change came after that step." if changed and all_ran else f"{said}."
    return f"Both began with the same candidates in {shared.identical:,} of {of}."


def show(found: Comparison) -> None:
    """What changed, setting by setting; how many candidates were the same; what else should be known."""
    lines = [line for line in (sentence(found), same_candidates(found)) if line]
    lines += [_sentence(note) for note in found.notes if note.kind != "abstention"]  # beside the metrics
    if found.absent_settings and found.config_diff:
        names = ", ".join(found.absent_settings)
        lines.append(f"Neither run names {names}: a change there would not show.")
    if lines:
        st.html(f'<div style="font-size:.93rem">{"<br>".join(map(escaped, lines))}</div>')
    if found.config_diff:
        changed = [
            (one.setting, f"{_value(one.baseline)} → {_value(one.candidate)}")
            for one in found.config_diff[:MOST_SETTINGS]
        ]
        more = len(found.config_diff) - MOST_SETTINGS
        st.html(facts_line([*changed, *([("", f"and {more} more")] if more > 0 else [])]))


def _value(value: str | None) -> str:
    return "(not named)" if value is None else words.clipped(value)


def _sentence(reason: Reason) -> str:
    """A reason as it stands: it may begin with the name of a run."""
    return f"{reason.sentence}."


def guard(reasons: list[Reason], common: int) -> bool:
    """Why the runs are not comparable, and the offer to compare what they share; whether it is taken."""
    listed = "".join(f"<li>{escaped(_sentence(reason))}</li>" for reason in reasons)
    with st.container(border=True):
        st.html(
            '<div><b><span aria-hidden="true">⚠</span> These runs are not comparable as they stand.</b>'
            f'<ul style="margin:.3rem 0 0">{listed}</ul></div>'
        )
        if not common:
            st.caption(
                "No answerable query under these filters is the same for both: there is nothing to compare."
            )
            return False
        return st.toggle(
            f"Compare on the {words.count(common, 'query', 'queries')} that can be compared like with like",
            key=COMMON,
            bind="query-params",
        )
