"""From which rank to which rank: a matrix of the baseline's ranks against the candidate's, with counts."""

from __future__ import annotations

from math import log1p
from typing import Any

import altair as alt
import pyarrow as pa

from panels import chart_style, words
from panels.compare_pair import Pair
from panels.compare_queries import conditions, values
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

CELL = "cell"
"""The selection that a click makes: the ranks of a cell."""

FIRST, EVERY = "first relevant document of each query", "every relevant document"
ROW_HEIGHT = 58

BUCKETS = {1: "1", 3: "2–3", 5: "4–5", 10: "6–10"}
BEYOND, NEVER = "beyond", "never"
NAMES = (*BUCKETS.values(), BEYOND, NEVER)

FILLS = {"better": chart_style.BETTER, "worse": chart_style.WORSE, "same": chart_style.UNDECIDED}
MOVED, STAYED = (0.18, 0.36, 0.54, 0.72), (0.06, 0.14, 0.22, 0.3)
"""How much of its colour a cell has, from few to many: what stayed is to recede."""

BUCKET = """case when {rank} is null then 'never' when {rank} = 1 then '1' when {rank} <= 3 then '2–3'
            when {rank} <= 5 then '4–5' when {rank} <= 10 then '6–10' else 'beyond' end"""

# Rank by rank as the public views and macros give it; the rest counts.
FIRST_RANKS = """
    select was.query_id, was.first_relevant_rank as baseline_rank, now.first_relevant_rank as candidate_rank
    from query_scores_uncut_all as was
    join query_scores_uncut_all as now
      on now.run = $cand and now.label_set = $label_set and now.stage = $stage and now.query_id = was.query_id
    left join queries on queries.query_set = $query_set and queries.query_id = was.query_id
    where was.run = $base and was.label_set = $label_set and was.stage = $stage and was.num_relevant > 0
      and was.unknown_because is null and now.unknown_because is null{conditions}
"""
EVERY_RANK = """
    select was.query_id, was.baseline_rank, was.candidate_rank
    from rank_transitions($base, $cand, $k, label_set := $label_set, stage := $stage) as was
    left join queries on queries.query_set = $query_set and queries.query_id = was.query_id
    where was.relevant{conditions}
"""
PLACED = """
    select query_id, {was} as baseline, {now} as candidate
    from ({ranks})
"""
COUNTED = """
select baseline, candidate, count(*) as number, count(distinct query_id) as queries
from ({placed})
group by baseline, candidate
"""


def _placed(filters: Filters, compared: tuple[str, ...] | None, what: str) -> str:
    ranks = FIRST_RANKS if what == FIRST else EVERY_RANK
    parts = "".join(f"\n      and {part}" for part in conditions(filters, compared, "was"))
    return PLACED.format(
        was=BUCKET.format(rank="baseline_rank"),
        now=BUCKET.format(rank="candidate_rank"),
        ranks=ranks.format(conditions=parts),
    )


def transitions(filters: Filters, pair: Pair, compared: tuple[str, ...] | None, what: str) -> Question:
    """How many documents went from which rank to which."""
    sql = COUNTED.format(placed=_placed(filters, compared, what))
    return Question(sql, values(filters, pair, compared))


def behind(filters: Filters, compared: tuple[str, ...] | None, what: str) -> str:
    """The condition on the queries of one cell, which is given as `$at_baseline` and `$at_candidate`."""
    return (
        f"deltas.query_id in (select query_id from ({_placed(filters, compared, what)})\n"
        "    where baseline = $at_baseline and candidate = $at_candidate)"
    )


def cells(frame: pa.Table) -> list[Row]:
    """The cells that hold anything, with their fill."""
    rows = frame.to_pylist()
    moved = [row["number"] for row in rows if row["baseline"] != row["candidate"]]
    stayed = [row["number"] for row in rows if row["baseline"] == row["candidate"]]
    for row in rows:
        move = NAMES.index(row["baseline"]) - NAMES.index(row["candidate"])
        row["side"] = "better" if move > 0 else "worse" if move < 0 else "same"
        levels = MOVED if move else STAYED
        # By its logarithm: the many documents that neither run returns would leave all else pale.
        part = log1p(row["number"]) / log1p(max(moved if move else stayed))
        row["fill"] = FILLS[row["side"]]
        row["depth"] = levels[min(int(part * len(levels)), len(levels) - 1)]
        row["text"] = f"{row['number']:,}" + {"better": " ▲", "worse": " ▼", "same": ""}[row["side"]]
    return rows


def chart(frame: pa.Table, k: int, what: str) -> chart_style.LayerChart:
    """Rows are ranks in the baseline, columns in the candidate; a line stands where the first k end."""
    rows = cells(frame)
    x = alt.X(
        "candidate:N",
        title="rank in the candidate",
        sort=list(NAMES),
        scale=alt.Scale(domain=list(NAMES), paddingInner=0.04, paddingOuter=0.02),
        axis=alt.Axis(orient="top", labelAngle=0, ticks=False, titlePadding=6, labelFontSize=12),
    )
    y = alt.Y(
        "baseline:N",
        title="rank in the baseline",
        sort=list(NAMES),
        scale=alt.Scale(domain=list(NAMES), paddingInner=0.05, paddingOuter=0.02),
        axis=alt.Axis(ticks=False, titlePadding=6, labelFontSize=12),
    )
    tooltip = [
        alt.Tooltip("baseline:N", title="rank in the baseline"),
        alt.Tooltip("candidate:N", title="rank in the candidate"),
        alt.Tooltip("number:Q", title="queries" if what == FIRST else "documents"),
        alt.Tooltip("queries:Q", title="of queries"),
    ]
    click = alt.selection_point(name=CELL, fields=["baseline", "candidate"], on="click", toggle=False)
    base = chart_style.Chart(alt.Data(values=rows)).encode(x=x, y=y, tooltip=tooltip)
    boxes = (
        base.mark_rect(cursor="pointer", stroke=chart_style.UNDECIDED, strokeWidth=0.4)
        .encode(color=alt.Color("fill:N", scale=None), fillOpacity=alt.FillOpacity("depth:Q", scale=None))
        .add_params(click)
    )
    ink: dict[str, Any] = {"color": chart_style.INK, "cursor": "pointer"}
    numbers = base.mark_text(fontSize=14, fontWeight=600, **ink).encode(text="text:N")
    layers = [boxes, numbers]
    if k in BUCKETS:
        edge = chart_style.Chart(alt.Data(values=[{"baseline": BUCKETS[k], "candidate": BUCKETS[k]}]))
        line: dict[str, Any] = {"strokeWidth": 2, "strokeDash": [6, 4], "color": chart_style.UNDECIDED}
        layers += [
            edge.mark_rule(**line).encode(x=alt.X("candidate:N", sort=list(NAMES), bandPosition=1)),
            edge.mark_rule(**line).encode(y=alt.Y("baseline:N", sort=list(NAMES), bandPosition=1)),
        ]
    return chart_style.LayerChart(layer=layers, **chart_style.look(height=ROW_HEIGHT * len(NAMES) + 62))


def caption(frame: pa.Table, k: int, what: str) -> str:
    """How to read it, and how many crossed the cutoff."""
    things = ("query", "queries") if what == FIRST else ("document", "documents")
    entered, left = crossed(frame, k)
    text = "▲ below the diagonal: higher up than before. ▼ above it: further down. "
    if k in BUCKETS:
        text += (
            f"Across the dashed line, the first {k}: {words.count(entered, *things)} came in, "
            f"{left:,} went out. "
        )
    return text + "A click on a cell lists its queries."


def crossed(frame: pa.Table, k: int) -> tuple[int, int]:
    """How many came into the first k, and how many went out of them."""
    within = {name for end, name in BUCKETS.items() if end <= k}
    entered = left = 0
    for row in frame.to_pylist():
        was, now = row["baseline"] in within, row["candidate"] in within
        entered += row["number"] * (now and not was)
        left += row["number"] * (was and not now)
    return entered, left


def alt_text(frame: pa.Table, what: str) -> str:
    """The matrix in a sentence."""
    by_side = dict.fromkeys(("better", "worse", "same"), 0)
    for row in cells(frame):
        by_side[row["side"]] += row["number"]
    return (
        f"Ranks in the baseline against ranks in the candidate, {what}: {by_side['better']} higher up, "
        f"{by_side['worse']} further down, {by_side['same']} in the same range."
    )
