"""The signals of a pair of runs as core finds them, remembered until the store changes; and the rules."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import NoReturn

import streamlit as st
from rankroom.signals.finding import Finding, Signals
from rankroom.signals.search import read_signals

from panels import layout, run_notes, words
from panels.compare_pair import Pair
from panels.filters import ALL, Filters
from panels.markup import facts_line
from panels.question import Question
from panels.store_access import Reader, Row, Stamp, store_path

CATALOGUE = Question(
    "select rule, title, meaning, fires_when, look_next from signal_rules order by signal_rules.position"
)

CHOSEN = "select queries.query_id from queries where {conditions} order by queries.query_id"


@dataclass(frozen=True)
class _Asked:
    """What is looked at; `chosen` are the ids of the queries where more than a split chooses them."""

    pair: Pair
    k: int
    split: str
    label_set: str
    chosen: tuple[str, ...] | None


def found(store: Reader, filters: Filters, pair: Pair) -> Signals:
    """What the rules find in a pair under the filters."""
    chosen = None
    if filters.by_query:
        conditions = " and ".join(["queries.query_set = $query_set", *filters.query_conditions()])
        chosen = tuple(store.column(Question(CHOSEN.format(conditions=conditions), filters.values())))
    asked = _Asked(pair, filters.k, filters.split, filters.label_set, chosen)
    return _found(store, store_path(), store.stamp, asked)


@st.cache_data(max_entries=60, show_spinner="Trying the rules …")
def _found(_store: Reader, path: str, stamp: Stamp, asked: _Asked) -> Signals:
    return read_signals(
        _store.connection(),
        asked.pair.base,
        asked.pair.cand,
        asked.k,
        split=asked.split,
        label_set=asked.label_set,
        queries=asked.chosen,
        held_out=asked.split == ALL,  # only there are held-out queries looked at beside those of dev
    )


def heading(filters: Filters, pair: Pair, signals: Signals) -> None:
    """The title, the pair, the filters in force and n: a screenshot explains itself."""
    n = words.count(signals.n, "labelled, answerable query", "labelled, answerable queries")
    st.title("Signals", anchor=False)
    facts = [("baseline", pair.base), ("candidate", pair.cand), *filters.facts()]
    st.html(facts_line([*facts, ("", n if signals.n else "no queries")]))


def sentence(pair: Pair, signals: Signals) -> str:
    """How many signals disagree, as Markdown."""
    runs = f"{words.quoted(pair.cand)} against {words.quoted(pair.base)}"
    if not signals.comparable:
        return f"{runs}: these runs cannot be compared, so no rule was tried."
    if not signals.n:
        return f"{runs}: no query is left to look at."
    fired = [one for one in signals.findings if one.status == "fired"]
    possible = len(signals.findings) - len(fired)
    tried = (
        f"{words.count(len(signals.tried), 'rule')} tried over {words.count(signals.n, 'query', 'queries')}"
    )
    if not signals.findings:
        return f"{runs}: no signal fires; {tried}."
    fires = f"{words.count(len(fired), 'signal')} {'fires' if len(fired) == 1 else 'fire'}"
    parts = [fires if fired else "no signal fires"]
    if possible:
        parts.append(f"{possible} {'is' if possible == 1 else 'are'} possible")
    return f"{runs}: {' and '.join(parts)}; {tried}."


METRIC_OF = {
    "rr_flat_evidence_lost": "recall",
    "recall_up_precision_down": "precision",
    "must_pass_broken": "hit",
    "hit_up_rank_worse": "rr",
    "stage_gain_lost": "recall",
    "labels_blur": "precision",
}
"""The metric by which the queries of a finding are listed; of the others, NDCG."""


def metric_of(one: Finding) -> str:
    """By which metric the queries of a finding are listed: the one that it is about."""
    at_cutoffs = [
        name for name in ("hit", "recall") if any(key.startswith(f"{name}_at_") for key in one.numbers)
    ]
    return at_cutoffs[0] if at_cutoffs else METRIC_OF.get(one.id, "ndcg")


def numbers(one: Finding) -> list[Row]:
    """The numbers behind a sentence, by name."""
    return [{"number": name.replace("_", " "), "value": value} for name, value in one.numbers.items()]


def looked_at(signals: Signals, catalogue: list[Row]) -> list[Row]:
    """Every rule, with what became of it."""
    status = {one.id: one.status for one in signals.findings}
    return [
        {
            "rule": row["title"],
            "became": status.get(row["rule"])
            or (
                "quiet"
                if row["rule"] in signals.tried
                else f"not tried: {signals.not_tried.get(row['rule'], '')}"
            ),
            "meaning": row["meaning"],
            "fires_when": row["fires_when"],
        }
        for row in catalogue
    ]


def too_few(rows: list[Row], behind: list[str], filters: Filters) -> NoReturn:
    """The page with one run, or none: what would fill it."""
    layout.heading("Signals", filters)
    run_notes.name_unscored(behind, filters)
    layout.answer(
        f"{words.quoted(rows[0]['run'])} is the only run here: there is nothing to hold it against."
        if rows
        else "No run has scores under these labels."
    )
    st.markdown(
        "A second run of the same queries fills this page; so that its signals are kept, let it say its"
        " baseline:"
    )
    st.code(
        f'# runs/NAME.toml\nbaseline = "{rows[0]["run"] if rows else "RUN"}"\n\n'
        f"rankroom add --store {shlex.quote(store_path())} FOLDER",
        language="bash",
        wrap_lines=True,
    )
    st.stop()
