"""The leaderboard: a row per run at one cutoff, means with their n and what was not scored."""

from __future__ import annotations

from panels import words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

MEANS = ("ndcg", "hit", "recall", "precision", "rr", "ap", "complete", "f1")
COUNTS = ("missed", "left_out", "empty", "errored", "no_answer", "unlabelled", "leaks")

# The aggregates of the view run_summary, for a choice of queries of which the store keeps no summary.
CHOSEN_QUERIES = """
    select scores.run,
           count(*) filter (num_relevant > 0) as n,
           avg(ndcg) as ndcg, avg(hit) as hit, avg(recall) as recall, avg(precision) as precision,
           avg(rr) as rr, avg(ap) as ap, avg(complete) as complete, avg(f1) as f1, avg(judged) as judged,
           count(*) filter (hit = 0) as missed,
           count(*) filter (outcome = 'left_out') as left_out,
           count(*) filter (outcome = 'empty') as empty,
           count(*) filter (outcome in ('error', 'timeout')) as errored,
           count(*) filter (num_relevant = 0) as no_answer,
           (select count(*) from unlabelled_queries
            {unlabelled_join}
            where unlabelled_queries.run = scores.run
              and unlabelled_queries.label_set = $label_set) as unlabelled,
           sum(leaks)::bigint as leaks,
           avg(least(num_relevant, k) / k) filter (num_relevant > 0) as precision_ceiling,
           avg(least(num_relevant, k) / num_relevant) filter (num_relevant > 0) as recall_ceiling,
           avg((num_relevant <= k)::integer) filter (num_relevant > 0) as complete_ceiling,
           avg(2 * least(num_relevant, k) / (k + num_relevant)) filter (num_relevant > 0) as f1_ceiling,
           avg(least(num_relevant, k) / num_relevant) filter (num_relevant > 0) as ap_ceiling
    from {view} as scores
    {join}
    where {scope}
    group by scores.run
"""

BOARD = """
select means.run, runs.created, runs.series, means.n,
       {means},
       means.judged, {counts},
       {ceilings}
from {source}
join runs on runs.run = means.run
{where}order by means.{order} desc nulls last, means.run
"""


def question(filters: Filters) -> Question:
    """The rows of the leaderboard, best first."""
    if filters.by_query:
        chosen = CHOSEN_QUERIES.format(
            view=filters.view("query_scores"),
            join=filters.join_queries("scores"),
            scope=filters.scope("scores"),
            unlabelled_join=filters.join_queries("unlabelled_queries"),
        )
        source, where = f"({chosen}) as means", ""
    else:
        source = f"{filters.view('run_summary')} as means"
        where = f"where {filters.scope('means')} and means.split = $split\n"
    sql = BOARD.format(
        source=source,
        where=where,
        means=", ".join(f"means.{name}" for name in MEANS),
        counts=", ".join(f"means.{name}" for name in COUNTS),
        ceilings=", ".join(f"means.{name}_ceiling" for name in words.CEILINGS),
        order=filters.order,
    )
    return Question(sql, filters.values())


def sentence(rows: list[Row], filters: Filters) -> str:
    """Which run leads, as Markdown: the answer to the question that the page asks."""
    name = words.metric(filters.order, filters.k)
    if not rows and not filters.by_query and not filters.runs:
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
