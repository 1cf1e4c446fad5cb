"""Targets that the reader sets for means, and whether a run meets them: met, not met, or unattainable."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from panels import words
from panels.store_access import Row

DEFAULTS = {"rr": 0.7, "precision": 0.6, "ndcg": 0.0, "hit": 0.0, "recall": 0.0}
"""0 sets no target."""

MET, NOT_MET, UNATTAINABLE, NO_VALUE = "met", "not met", "unattainable", "no queries"
SIGNS = {MET: "✓", NOT_MET: "✗", UNATTAINABLE: "⊘", NO_VALUE: "–"}
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Target:
    """A value that a mean should reach."""

    metric: str
    value: float

    def verdict(self, row: Row) -> str:
        """Whether this row of a leaderboard meets it; no run can where the labels' ceiling is below it."""
        mean, ceiling = row[self.metric], row.get(f"{self.metric}_ceiling")
        if not isinstance(mean, float):
            return NO_VALUE
        if isinstance(ceiling, float) and ceiling < self.value - TOLERANCE:
            return UNATTAINABLE
        return MET if mean >= self.value - TOLERANCE else NOT_MET

    def text(self, row: Row) -> str:
        """The verdict as a cell of a table."""
        verdict = self.verdict(row)
        mean = row[self.metric]
        if verdict == NOT_MET and isinstance(mean, float):
            return f"{SIGNS[verdict]} {words.number(self.value - mean)} short"
        return f"{SIGNS[verdict]} {verdict}"

    def sentence(self, rows: list[Row], k: int) -> str:
        """How many of these runs meet it, as Markdown."""
        name = f"{words.metric(self.metric, k)} ≥ {words.number(self.value)}"
        verdicts = [self.verdict(row) for row in rows]
        if UNATTAINABLE in verdicts:
            ceiling = words.number(rows[verdicts.index(UNATTAINABLE)][f"{self.metric}_ceiling"])
            return f"**{name}**: unattainable under these labels (ceiling {ceiling})"
        if all(verdict == NO_VALUE for verdict in verdicts):
            return f"**{name}**: no queries"
        return f"**{name}**: met by {verdicts.count(MET)} of {words.count(len(rows), 'run')}"


def note(chosen: list[Target]) -> str:
    """That nobody has set these targets, where that is so."""
    defaults = [target.metric for target in chosen if target.value == DEFAULTS[target.metric]]
    if not defaults:
        return ""
    if len(defaults) == len(chosen):
        return "Default targets." if len(chosen) > 1 else "A default target."
    return f"The target for {' and '.join(words.METRICS[name] for name in defaults)} is a default."


def choose(k: int) -> list[Target]:
    """The targets as the reader sets them, in a popover; they are part of the URL."""
    chosen = []
    with st.popover("Targets", icon=":material/flag:"):
        st.caption(f"For the means at k = {k}. 0 sets no target.")
        for metric, default in DEFAULTS.items():
            value = st.number_input(
                words.metric(metric, k),
                min_value=0.0,
                max_value=1.0,
                value=default,
                step=0.05,
                format="%.3f",
                key=f"target_{metric}",
                bind="query-params",
            )
            if value > 0:
                chosen.append(Target(metric, float(value)))
    return chosen
