"""The exact account of a change: which moves of documents it is the sum of, and in which queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
from rankroom.comparison import AccountRow
from rankroom.verdict_words import metric_name

from panels import chart_axes, chart_style, words
from panels.store_access import Row

METRICS = ("ndcg", "recall", "hit", "rr")
"""Metrics whose change is a sum of moves."""

MOVES = {
    "entered": "entered the first {k}",
    "up": "moved up inside",
    "down": "moved down inside",
    "left": "left the first {k}",
}
GROUPS = {True: "queries that the baseline had hit", False: "queries that it had missed"}
TOTAL = "change"
ROW_HEIGHT = 27
TINY = 5e-4
"""A change below this is 0.000 as it is written."""

CAUTION = (
    "Queries that the baseline missed can hardly fall, and those it hit fall more easily than they rise: "
    "two runs that differ by chance alone show some of this split too."
)

SENTENCES = {
    (1, 1): "It helped both; {part:.0%} of the gain lies in queries that failed before",
    (1, 0): "It helped the queries that worked already and left the failing ones as they were",
    (1, -1): "It helped the queries that worked already and made the failing ones worse still",
    (0, 1): "The gain lies in queries that failed before; those that worked are as they were",
    (0, 0): "Neither kind of query moved",
    (0, -1): "The loss lies in queries that failed before; those that worked are as they were",
    (-1, 1): "It rescued queries that failed, and took from those that worked",
    (-1, 0): "It took from the queries that worked, and left the failing ones as they were",
    (-1, -1): "It took from both",
}
"""What became of queries that the baseline had hit, and of those it had missed: better, the same, worse."""


def steps(account: Sequence[AccountRow], metric: str) -> list[Row]:
    """The moves of one metric as steps from 0 to the change, first in the queries that were hit already.

    A row with `kind` 'move' has its share and where it begins and ends; 'group' sums up one kind of queries;
    the last is the whole change.
    """
    mine = [row for row in account if row.metric == metric]
    at = 0.0
    found: list[Row] = []
    for hit in GROUPS:
        of_group = {row.move: row for row in mine if row.baseline_hit is hit}
        if not of_group:
            continue
        moved = [of_group[move] for move in MOVES if move in of_group]
        share = sum(row.share for row in moved)
        found.append(_step("group", hit, "", share, at, at + share, sum(row.documents for row in moved)))
        for row in moved:
            end = at + row.share
            found.append(_step("move", hit, row.move, row.share, at, end, row.documents))
            at = end
    if found:
        found.append(_step(TOTAL, None, "", at, 0.0, at, 0))
    return found


def _step(
    kind: str, hit: bool | None, move: str, share: float, begin: float, end: float, documents: int
) -> Row:
    return {
        "kind": kind,
        "hit": hit,
        "move": move,
        "key": f"{hit}/{move}",
        "share": share,
        "begin": begin,
        "end": end,
        "documents": documents,
    }


def chart(found: list[Row], metric: str, k: int) -> chart_style.LayerChart:
    """A waterfall: each bar begins where the one before it ended, and the last is the whole."""
    noun = _unit(metric)
    keys = [row["key"] for row in found]
    bold = tuple(row["key"] for row in found if row["kind"] != "move")
    left = chart_axes.written({row["key"]: _label(row, k) for row in found}, size=12, limit=230, bold=bold)
    right = chart_axes.written(
        {row["key"]: _amount(row, noun) for row in found}, orient="right", size=12, bold=bold
    )
    rows = alt.Scale(domain=keys, paddingInner=0.25)
    values = [_values(row) for row in found]
    x = alt.X(
        "begin:Q",
        title=f"change of the mean of {metric_name(metric, k)}",
        scale=alt.Scale(zero=True, padding=8),
        axis=alt.Axis(format="+.3~f", tickCount=4),
    )
    y = alt.Y("key:N", title=None, scale=rows, axis=left)
    data = alt.Data(values=values)
    tooltip = [
        alt.Tooltip("queries:N", title="in"),
        alt.Tooltip("what:N", title="move"),
        alt.Tooltip("share:Q", title="share of the change", format="+.4f"),
        alt.Tooltip("documents:Q", title=noun),
    ]
    colour = alt.Color(
        "side:N",
        scale=alt.Scale(
            domain=["better", "worse", "none"],
            range=[chart_style.BETTER, chart_style.WORSE, chart_style.UNDECIDED],
        ),
        legend=None,
    )
    base = chart_style.Chart(data).encode(y=y, tooltip=tooltip)
    zero = (
        chart_style.Chart(alt.Data(values=[{"at": 0}]))
        .mark_rule(color=chart_style.UNDECIDED, strokeWidth=1.5)
        .encode(x="at:Q")
    )
    bars = (
        base.transform_filter("datum.kind != 'group'")
        .mark_bar()
        .encode(
            x=x,
            x2="end:Q",
            color=colour,
            opacity=alt.condition("datum.kind == 'move'", alt.value(0.85), alt.value(1)),
        )
    )
    spans = (
        base.transform_filter("datum.kind == 'group'")
        .mark_rule(strokeWidth=3)
        .encode(x=x, x2="end:Q", color=colour)
    )
    beside = (
        chart_style.Chart(data)
        .mark_point(opacity=0)
        .encode(x=x, y=alt.Y("key:N", title=None, scale=rows, axis=right))
    )
    marks = chart_style.LayerChart(layer=[zero, spans, bars])
    return chart_style.LayerChart(
        layer=[marks, beside], **chart_style.look(height=ROW_HEIGHT * len(found) + 56)
    ).resolve_axis(y="independent")


def _values(row: Row) -> dict[str, Any]:
    return {
        "key": row["key"],
        "kind": row["kind"],
        "share": row["share"],
        "begin": row["begin"],
        "end": row["end"],
        "documents": row["documents"],
        "queries": GROUPS.get(row["hit"], "all queries"),
        "what": row["move"] or "all moves",
        "side": "none" if abs(row["share"]) < TINY else "better" if row["share"] > 0 else "worse",
    }


def _amount(row: Row, noun: str) -> str:
    share = words.signed(row["share"])
    if row["kind"] == TOTAL:
        return share
    return f"{share} · {words.count(row['documents'], noun, _many(noun))}"


def _label(row: Row, k: int) -> str:
    if row["kind"] == TOTAL:
        return "the whole change"
    return MOVES[row["move"]].format(k=k) if row["kind"] == "move" else GROUPS[row["hit"]]


def _unit(metric: str) -> str:
    """What moves: documents, or for hit and MRR the first relevant one of each query."""
    return "document" if metric in ("ndcg", "recall") else "query"


def _many(noun: str) -> str:
    return "queries" if noun == "query" else f"{noun}s"


def alt_text(found: list[Row], metric: str, k: int) -> str:
    """The waterfall in a sentence."""
    if not found:
        return f"Account of the change of {metric_name(metric, k)}: nothing moved."
    parts = [f"{GROUPS[row['hit']]}: {words.signed(row['share'])}" for row in found if row["kind"] == "group"]
    return (
        f"Account of the change of {metric_name(metric, k)}, {words.signed(found[-1]['share'])} in all. "
        f"In {'; in '.join(parts)}."
    )


def sentence(found: list[Row], metric: str, k: int, hit: int, missed: int, is_clear: bool) -> str:
    """Did it help the queries that worked already, and neglect the ones that fail? As Markdown.

    `hit` and `missed` are how many queries the baseline hit and missed. Nothing is claimed of where a change
    lies that is itself not clear.
    """
    name = metric_name(metric, k)
    if not missed:
        return f"The baseline missed no query: all of {name}'s change lies in queries that worked already."
    if not hit:
        return f"The baseline hit no query: all of {name}'s change lies in queries that failed."
    by_group = {row["hit"]: row["share"] for row in found if row["kind"] == "group"}
    helped, rescued = by_group.get(True, 0.0), by_group.get(False, 0.0)
    split = (
        f"{words.signed(helped)} in the {words.count(hit, 'query', 'queries')} that the baseline had hit, "
        f"{words.signed(rescued)} in the {words.count(missed, 'query', 'queries')} that it had missed"
    )
    signs = _sign(helped), _sign(rescued)
    if not is_clear and any(signs):
        return f"**The change of {name} is not clear, and so not where it lies:** {split}."
    part = rescued / (helped + rescued or 1.0)
    return f"**{SENTENCES[signs].format(part=part)}:** {split}."


def _sign(share: float) -> int:
    return 0 if abs(share) < TINY else 1 if share > 0 else -1
