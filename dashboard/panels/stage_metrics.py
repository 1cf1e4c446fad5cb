"""Means at each stage of the pipeline: whether what the candidates gained reaches the final list."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import streamlit as st

from panels import means, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

METRICS = ("hit", "recall", "ndcg", "rr")

STAGES = Question(
    """
select run_stages.stage, run_stages.position, run_stages.stage in (
           select other.stage from run_stages as other where other.run = $against) as in_both
from run_stages where run_stages.run = $run order by run_stages.position, run_stages.stage
"""
)


def stages(filters: Filters) -> Question:
    """The stages of the run in the order of the pipeline, and whether the run held against has them too."""
    return Question(STAGES.sql, filters.values())


def question(filters: Filters, names: list[str]) -> Question:
    """The means of the run, and of the one held against, at each of these stages."""
    parts, values = [], filters.values()
    for at, stage in enumerate(names, 1):
        one = replace(filters, stage=stage, runs=tuple(run for run in (filters.run, filters.against) if run))
        source, where = means.source(one)
        columns = ", ".join(f"means.{name}" for name in METRICS)
        columns = f"{at} as place, $stage_{at} as stage, means.run, means.n, {columns}"
        sql = f"select {columns}\nfrom {source}\nwhere {where}"
        parts.append(sql.replace("$stage ", f"$stage_{at} ").replace("$stage)", f"$stage_{at})"))
        values |= {f"stage_{at}": stage}
    return Question("\nunion all\n".join(parts) + "\norder by place", values | {"runs": one.runs})


def differences(rows: list[Row], filters: Filters, metric: str) -> dict[str, float]:
    """By how much the run differs from the one held against, at each stage that both have."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row[metric] is not None:
            found.setdefault(row["stage"], {})[row["run"]] = row[metric]
    return {
        stage: both[filters.run] - both[filters.against]
        for stage, both in found.items()
        if filters.run in both and filters.against in both
    }


def sentence(rows: list[Row], filters: Filters, metric: str = "recall") -> str:
    """Whether early stages and the final one moved alike, as Markdown."""
    change = differences(rows, filters, metric)
    name = f"{metric}@{filters.k}"
    if "final" not in change or len(change) < 2:
        return ""
    early = {stage: by for stage, by in change.items() if stage not in ("final", "context")}
    if not early:
        return ""
    best = max(early, key=lambda stage: abs(early[stage]))
    text = (
        f"{name} against {words.quoted(filters.against)}: {words.signed(early[best])} at "
        f"{words.quoted(best)}, "
        f"{words.signed(change['final'])} at the final stage"
    )
    if early[best] > LOOKS_DIFFERENT >= change["final"]:
        return f"{text}: what the early stage gained does not reach the final list."
    return f"{text}."


LOOKS_DIFFERENT = 0.0005


def show(rows: list[Row], filters: Filters, names: list[str]) -> None:
    """The table: a row for each stage, the run's means and their differences."""
    by_place = {(row["stage"], row["run"]): row for row in rows}
    columns: dict[str, list[object]] = {"stage": list(names)}
    columns["n"] = [(by_place.get((name, filters.run)) or {}).get("n") for name in names]
    for metric in METRICS:
        mine = [(by_place.get((name, filters.run)) or {}).get(metric) for name in names]
        columns[metric] = list(mine)
        if filters.against:
            change = differences(rows, filters, metric)
            columns[f"{metric} change"] = [words.signed(change.get(name)) for name in names]
    config = {"stage": st.column_config.TextColumn("stage", pinned=True)}
    for metric in METRICS:
        label = f"{words.METRICS[metric]}@{filters.k}"
        config[metric] = st.column_config.NumberColumn(label, format="%.3f")
        config[f"{metric} change"] = st.column_config.TextColumn("±", alignment="right", width=70)
    st.dataframe(
        pa.table(columns),
        hide_index=True,
        lazy=False,
        placeholder="–",
        key="stage_metrics",
        alt=f"Means of {filters.run} at each stage, k = {filters.k}.",
        column_config=config,
    )
    if filters.against:
        st.caption(
            f"±: against {words.quoted(filters.against)}, where it has the stage. No test is made here: "
            "the Compare page has intervals. At an early stage the first k of that stage's own list count."
        )
