"""The queries of a pair of runs: each with both scores, and where its first evidence stands."""

from __future__ import annotations

from typing import NoReturn

import pyarrow as pa
import streamlit as st

from panels import words
from panels.compare_pair import Pair
from panels.filters import Filters
from panels.question import Question, Value
from panels.store_access import Row

MOST = 100
"""So many wins, losses or queries of a cell are listed."""

ROW_HEIGHT, MOST_ROWS = 35, 12
WIN, LOSS = "deltas.difference > 1e-12", "deltas.difference < -1e-12"

LISTED = """
select deltas.query_id, queries.text, coalesce(queries.must_pass, false) as must_pass,
       deltas.baseline, deltas.candidate, deltas.difference,
       was.first_relevant_rank as baseline_rank, now.first_relevant_rank as candidate_rank,
       was.outcome as baseline_outcome, now.outcome as candidate_outcome,
       queries.category, queries.language, count(*) over () as of_queries
from query_deltas($base, $cand, $k, label_set := $label_set, stage := $stage) as deltas
left join queries on queries.query_set = $query_set and queries.query_id = deltas.query_id
left join query_scores_uncut_all as was
  on was.run = $base and was.label_set = $label_set and was.stage = $stage and was.query_id = deltas.query_id
left join query_scores_uncut_all as now
  on now.run = $cand and now.label_set = $label_set and now.stage = $stage and now.query_id = deltas.query_id
where deltas.metric = $metric{conditions}
order by must_pass desc, abs(deltas.difference) desc, deltas.query_id
limit {most}
"""


def values(filters: Filters, pair: Pair, compared: tuple[str, ...] | None, **more: Value) -> dict[str, Value]:
    """What the `$names` of a statement about a pair stand for."""
    return filters.values(base=pair.base, cand=pair.cand, compared=compared, **more)


def conditions(filters: Filters, compared: tuple[str, ...] | None, alias: str = "deltas") -> list[str]:
    """The conditions that leave the queries under the filters, and of these what the runs have in common."""
    found = filters.query_conditions()
    if compared is not None:
        found.append(f"list_contains($compared, {alias}.query_id)")
    return found


def listed(
    filters: Filters,
    pair: Pair,
    compared: tuple[str, ...] | None,
    metric: str,
    *further: str,
    **more: Value,
) -> Question:
    """The queries that meet these further conditions: must-pass ones first, then the largest change."""
    parts = [*conditions(filters, compared), *further]
    sql = LISTED.format(conditions="".join(f"\n  and {part}" for part in parts), most=MOST)
    return Question(sql, values(filters, pair, compared, metric=metric, **more))


def show(frame: pa.Table, pair: Pair, metric: str, key: str, about: str) -> None:
    """The list. A button in each row opens the query with both runs."""
    rows = frame.to_pylist()
    shown = pa.table(
        {
            "open": pa.array(["Open ›"] * len(rows), pa.string()),
            "must_pass": pa.array(["★" if row["must_pass"] else "" for row in rows], pa.string()),
            "difference": pa.array([words.signed(row["difference"]) for row in rows], pa.string()),
            "first": pa.array(
                [f"{_place(row, 'baseline')} → {_place(row, 'candidate')}" for row in rows],
                pa.string(),
            ),
            "query": pa.array([str(row["text"] or row["query_id"]) for row in rows], pa.string()),
            "scores": pa.array(
                [f"{words.number(row['baseline'])} → {words.number(row['candidate'])}" for row in rows],
                pa.string(),
            ),
            "category": frame.column("category"),
            "language": frame.column("language"),
        }
    )
    for name in ("category", "language"):
        if frame.column(name).null_count == len(rows):
            shown = shown.drop_columns(name)
    if not any(row["must_pass"] for row in rows):
        shown = shown.drop_columns("must_pass")
    st.dataframe(
        shown,
        hide_index=True,
        lazy=False,
        placeholder="–",
        row_height=ROW_HEIGHT,
        height=ROW_HEIGHT * (min(len(rows), MOST_ROWS) + 1) + 2,
        key=key,
        alt=f"{about} by {metric}, those that must pass first.",
        column_config={
            "open": st.column_config.ButtonColumn("open", key=f"open_{key}", type="tertiary", width=62),
            "must_pass": st.column_config.TextColumn("★", width=36, alignment="center", help="Must pass."),
            "query": st.column_config.TextColumn("query", width=255),
            "difference": st.column_config.TextColumn(metric, alignment="right", width=74),
            "scores": st.column_config.TextColumn("baseline → candidate", alignment="right", width=120),
            "first": st.column_config.TextColumn(
                "first rank",
                alignment="right",
                width=78 if all(NOT_RANKED.isdisjoint(_outcomes(row)) for row in rows) else 130,
                help="Rank of the first relevant document in baseline and candidate, at any depth; "
                "a dash where none came back; what became of the query where it was not ranked.",
            ),
        },
    )
    if click := st.session_state.get(f"open_{key}"):
        open_query(pair, str(rows[click["row"]]["query_id"]))


def cut_note(frame: pa.Table) -> str:
    """How many of how many are listed, where not all are."""
    total = frame.column("of_queries")[0].as_py() if len(frame) else 0
    return (
        f"The first {len(frame)} of {total:,}: those that must pass, then the largest."
        if total > MOST
        else ""
    )


def about(frame: pa.Table) -> str:
    """How the list is ordered, how many must pass, and how many of all are listed."""
    must_pass = sum(frame.column("must_pass").to_pylist())
    starred = f"★ {must_pass} must pass, listed first. " if must_pass else ""
    return starred + (cut_note(frame) or "The largest first.")


def open_query(pair: Pair, query_id: str) -> NoReturn:
    """Open one query with the candidate, and the baseline beside it."""
    st.switch_page(
        "app_pages/query.py", query_params={"run": pair.cand, "against": pair.base, "query": query_id}
    )


NOT_RANKED = {"left_out", "error", "timeout"}


def _outcomes(row: Row) -> tuple[str, str]:
    return row["baseline_outcome"], row["candidate_outcome"]


def _place(row: Row, side: str) -> str:
    """A rank, or why there is none: a query that was not run is not one whose evidence sank."""
    if (outcome := str(row[f"{side}_outcome"])) in NOT_RANKED:
        return outcome.replace("_", " ")
    rank = row[f"{side}_rank"]
    return "–" if rank is None else f"{rank}"
