"""What the metrics would be with another label, before anyone edits it: of the query, and the means."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import streamlit as st
from rankroom.dispute import Effect, dispute_effect
from rankroom.errors import UsageError
from rankroom.store import Store

from panels import words
from panels.filters import Filters
from panels.layout import show_sql
from panels.question import Question
from panels.store_access import Stamp, store_path

METRICS = ("hit", "recall", "ndcg")

AS_IT_IS = """
select scores.run, fails(scores) as fails, scores.hit, scores.recall, scores.ndcg, summary.n,
       summary.ndcg as mean_ndcg
from query_scores as scores
join run_summary as summary on summary.run = scores.run and summary.label_set = scores.label_set
                           and summary.k = scores.k and summary.split = 'all'
where scores.label_set = $label_set and scores.query_id = $query and scores.k = $k
order by scores.run
"""


@st.cache_data(max_entries=60, show_spinner="Scoring every run with the other label")
def _effects(
    path: str, stamp: Stamp, label_set: str, query: str, doc: str, grade: int | None, k: int
) -> list[Effect] | str:
    """What every run would have; a sentence where that cannot be said."""
    try:
        return dispute_effect(Store(path), label_set, query, doc, grade, k=k)
    except UsageError as error:
        return str(error)


def show(filters: Filters, query_id: str, doc_id: str, grade: int | None) -> None:
    """The effect on every run: those that are looked at first, then where most would change."""
    path = store_path()
    found = _effects(path, Store(path).stamp(), filters.label_set, query_id, doc_id, grade, filters.k)
    if isinstance(found, str):
        st.warning(words.quoted(found), icon=":material/rule:")
        return
    effects = sorted(found, key=lambda effect: _order(effect, filters))
    st.markdown(sentence(effects, filters, grade))
    _table(effects, filters.k)
    st.caption(
        "Nothing is changed by looking. The verdicts and metrics are those of this query; the means are "
        "over all labelled queries, whatever the split."
    )
    show_sql(Question(AS_IT_IS, filters.values(query=query_id)))


def _order(effect: Effect, filters: Filters) -> tuple[bool, bool, bool, float, str]:
    change = abs(_value(effect.after, "ndcg") - _value(effect.before, "ndcg"))
    looked_at = (effect.run != filters.run, effect.run != filters.against)
    return (*looked_at, not turned(effect), -change, effect.run)


def _value(metrics: dict[str, Any] | None, name: str) -> float:
    return float((metrics or {}).get(name) or 0.0)


def turned(effect: Effect) -> bool:
    """Whether the verdict on the query would be another."""
    return _verdict(effect.before) != _verdict(effect.after)


def _verdict(metrics: dict[str, Any] | None) -> str:
    if metrics is None:
        return "unlabelled"
    if metrics["fails"]:
        return "fails"
    return "no answer, as it should" if metrics["num_relevant"] == 0 else "does not fail"


def _change(effect: Effect) -> str:
    before, after = _verdict(effect.before), _verdict(effect.after)
    return before if before == after else f"{before} → {after}"


def sentence(effects: list[Effect], filters: Filters, grade: int | None) -> str:
    """What would change, as Markdown."""
    label = "without this label" if grade is None else f"with grade {grade}"
    changed = sum(turned(effect) for effect in effects)
    text = f"{label[0].upper()}{label[1:]} the verdict on this query changes in {changed:,} of "
    text += f"{words.count(len(effects), 'run')}"
    mine = next((effect for effect in effects if effect.run == filters.run), None)
    if mine is None:
        return f"{text}."
    before, after = ((part or {}).get("ndcg") for part in (mine.before, mine.after))
    means = [(part or {}).get("ndcg") for part in (mine.mean_before, mine.mean_after)]
    return (
        f"{text}; {words.quoted(filters.run)}: {_change(mine)}, "
        f"NDCG@{filters.k} {words.number(before)} → {words.number(after)}, mean {words.number(means[0])} → "
        f"{words.number(means[1])}."
    )


def _table(effects: list[Effect], k: int) -> None:
    columns: dict[str, list[Any]] = {
        "run": [effect.run for effect in effects],
        "verdict": [_change(effect) for effect in effects],
    }
    for name in METRICS:
        columns[name] = [_moved(effect.before, effect.after, name) for effect in effects]
    columns["mean"] = [_moved(effect.mean_before, effect.mean_after, "ndcg") for effect in effects]
    columns["n"] = [_moved(effect.mean_before, effect.mean_after, "n") for effect in effects]
    st.dataframe(
        pa.table(columns),
        hide_index=True,
        lazy=False,
        height="auto" if len(effects) <= 8 else 300,
        key="dispute_effect",
        alt="Verdict and metrics of this query in every run, as they are and with the other label.",
        column_config={
            "run": st.column_config.TextColumn("run", pinned=True),
            "verdict": st.column_config.TextColumn("verdict", width=230),
            **{
                name: st.column_config.TextColumn(f"{label}@{k}", alignment="right")
                for name, label in (("hit", "hit"), ("recall", "recall"), ("ndcg", "NDCG"))
            },
            "mean": st.column_config.TextColumn(f"mean NDCG@{k}", alignment="right"),
            "n": st.column_config.TextColumn("n", alignment="right"),
        },
    )


def _moved(before: dict[str, Any] | None, after: dict[str, Any] | None, name: str) -> str:
    one, other = ((part or {}).get(name) for part in (before, after))
    shown = [
        f"{value:,}" if name in ("hit", "n") and value is not None else words.number(value)
        for value in (one, other)
    ]
    return shown[0] if shown[0] == shown[1] else f"{shown[0]} → {shown[1]}"
