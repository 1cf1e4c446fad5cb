"""The leaderboard: a row per run at one cutoff, means with their n and what was not scored.

Runs with the same scores are in the order of their names: the last digit of a mean is chance.
"""

from __future__ import annotations

from panels import means, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

MEANS = ("ndcg", "hit", "recall", "precision", "rr", "ap", "complete", "f1")
COUNTS = ("missed", "left_out", "empty", "errored", "no_answer", "unlabelled", "leaks")

ABSTENTION = ("correct_abstention", "false_abstention")
"""Shown beside the means and in none of them."""

COSTS = ("latency_p50_ms", "latency_p95_ms", "context_tokens_mean")

BOARD = """
select means.run, runs.created, runs.series, means.n,
       {means},
       means.judged, {counts}, {abstention},
       {ceilings}{costs}
from {source}
join runs on runs.run = means.run
{join_costs}{where}order by round(means.{order}, 12) desc nulls last, means.run
"""


def question(filters: Filters, costs: bool = False) -> Question:
    """The rows of the leaderboard, best first; with what each run took, if asked."""
    source, where = means.source(filters)
    sql = BOARD.format(
        source=source,
        where=f"where {where}\n" if where else "",
        means=", ".join(f"means.{name}" for name in MEANS),
        counts=", ".join(f"means.{name}" for name in COUNTS),
        abstention=", ".join(f"means.{name}" for name in ABSTENTION),
        ceilings=", ".join(f"means.{name}_ceiling" for name in words.CEILINGS),
        costs=",\n       costs.n_timed, costs.n_context, " + ", ".join(f"costs.{name}" for name in COSTS)
        if costs
        else "",
        join_costs=means.join_costs(filters) if costs else "",
        order=filters.order,
    )
    return Question(sql, filters.values())


def sentence(rows: list[Row], filters: Filters) -> str:
    """Which run leads, as Markdown: the answer to the question that the page asks."""
    name = words.metric(filters.order, filters.k)
    if not rows and filters.by_run and not filters.by_query:
        return "No run is left under these filters."
    if not rows and not filters.by_query:
        labels, split = words.quoted(filters.label_set), words.quoted(filters.split)
        return f"No run has scores under {labels} in the split {split}."
    ranked = [row for row in rows if row[filters.order] is not None]
    if not ranked:
        return f"No labelled, answerable query is left under these filters, so no run has a {name}."
    best = ranked[0][filters.order]
    n = words.count(ranked[0]["n"], "query", "queries")
    if len(rows) == 1:
        return f"{words.quoted(ranked[0]['run'])} has {name} {words.number(best)} over {n}."
    leaders = [str(row["run"]) for row in ranked if abs(row[filters.order] - best) < 1e-12]
    if len(leaders) > 1:
        who = f"{words.listed(leaders)} share the first place among {len(rows)} runs by {name}"
    else:
        who = f"{words.quoted(leaders[0])} is first of {len(rows)} runs by {name}"
    text = f"{who}: {words.number(best)} over {n}"
    followers = ranked[len(leaders) :]
    if followers:
        gap = best - followers[0][filters.order]
        text += f", {words.number(gap)} ahead of {words.quoted(followers[0]['run'])}"
    return f"{text}."


def ceilings(rows: list[Row]) -> dict[str, float]:
    """The ceilings below 1, by metric. They come from the labels, so they are the same for all runs."""
    found = {}
    for metric in words.CEILINGS:
        values = [row[f"{metric}_ceiling"] for row in rows if row[f"{metric}_ceiling"] is not None]
        if values and max(values) < 1 - 1e-9:
            found[metric] = max(values)
    return found


def row_of(rows: list[Row], run: str) -> Row | None:
    """The row of one run, if the leaderboard has it."""
    return next((row for row in rows if row["run"] == run), None)
