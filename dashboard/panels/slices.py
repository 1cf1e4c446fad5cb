"""The means of runs in slices of their queries, each beside the run's mean over all of them."""

from __future__ import annotations

from panels import means, words
from panels.filters import ALL, NONE, Filters
from panels.question import Question
from panels.slice_choice import Choice
from panels.store_access import Row

MOST_MAPS, MOST_COLUMNS = 4, 8
"""So many runs are shown without being chosen: with a map each, or as columns of one map."""

MOST_CHOSEN = 8

NO_TEST = (
    "A description, not a test: among many slices some stand below the mean by chance alone. "
    "n counts labelled, answerable queries."
)

SHOWN = """
select means.run, means.n, means.{metric} as value, {facet} as facet, count(*) over () as of_runs
from {source}
{join}{where}qualify row_number() over
    ({partition}order by means.{metric} desc nulls last, means.run) <= $most
order by means.{metric} desc nulls last, means.run
"""

CELLS = """
select slices.run, slices.slice_1 as "row", {column} as "column", {facet} as facet,
       slices.n, slices.n + slices.no_answer as labelled, slices.{metric} as value, means.{metric} as overall,
       slices.{metric} - means.{metric} as gap, slices.n < $thin as thin
from slices_by($rows, $k{second}, label_set := $label_set{narrowed}) as slices
join {source} on means.run = slices.run
{join}where list_contains($shown, slices.run){and_where}
order by {by_facet}list_position($shown, slices.run),
         slices.slice_1 = '(none)', slices.slice_1, slices.slice_2 = '(none)', slices.slice_2
"""

SETTING = "left join run_config as setting on setting.run = means.run and setting.setting = $by_setting\n"
SETTING_VALUE = f"coalesce(setting.value, '{NONE}')"


def shown_runs(filters: Filters, choice: Choice) -> Question:
    """The runs that are shown, best first: those that are chosen, else some, of each setting's value."""
    source, where = means.source(filters)
    most = MOST_CHOSEN if filters.runs else MOST_MAPS if choice.second else MOST_COLUMNS
    if choice.setting and not filters.runs:
        most = 2
    sql = SHOWN.format(
        metric=choice.metric,
        source=source,
        facet=SETTING_VALUE if choice.setting else "null",
        join=SETTING if choice.setting else "",
        where=f"where {where}\n" if where else "",
        partition=f"partition by {SETTING_VALUE} " if choice.setting else "",
    )
    return Question(sql, filters.values(most=most, by_setting=choice.setting))


def cells(filters: Filters, choice: Choice, shown: list[str]) -> Question:
    """The mean of each of these runs in each slice, with its n and the gap to the run's overall mean."""
    source, where = means.source(filters)
    narrowed = ""
    if filters.stage != "final":
        narrowed += ", stage := $stage"
    if filters.by_query:
        narrowed += f",\n               query_ids := {filters.query_ids()}"
    elif filters.split != ALL:
        narrowed += ", in_split := $split"
    sql = CELLS.format(
        metric=choice.metric,
        column="slices.slice_2" if choice.second else "slices.run",
        facet="slices.run" if choice.second else SETTING_VALUE if choice.setting else "null",
        second=", second_by := $second" if choice.second else "",
        narrowed=narrowed,
        source=source,
        join=SETTING if choice.setting else "",
        and_where=f"\n  and {where}" if where else "",
        by_facet=f"facet = '{NONE}', try_cast(facet as double) nulls last, facet, " if choice.setting else "",
    )
    return Question(
        sql,
        filters.values(
            rows=choice.rows,
            second=choice.second,
            by_setting=choice.setting,
            thin=choice.thin,
            shown=tuple(shown),
        ),
    )


def nothing_left(filters: Filters) -> str:
    """Why there is no slice, as Markdown."""
    if filters.by_run and not filters.by_query:
        return "No run with labelled, answerable queries is left under these filters."
    return "No labelled, answerable query is left under these filters, so there are no slices."


def name(row: Row, choice: Choice) -> str:
    """A slice in words, as Markdown: `how_to` in `es`."""
    first = _value(choice.rows, row["row"])
    if not choice.second:
        return first
    join = " in " if choice.second == "language" else ", "
    return first + join + _value(choice.second, row["column"])


def _value(dimension: str, value: object) -> str:
    plain = dimension in ("category", "language") and value != NONE
    return words.quoted(value) if plain else f"{words.quoted(dimension)} {words.quoted(value)}"


def worst_first(rows: list[Row], run: str) -> list[Row]:
    """The slices of one run: the lowest mean first, then thin ones, then those without a mean."""
    mine = [row for row in rows if row["run"] == run]
    return sorted(
        mine,
        key=lambda row: (
            row["value"] is None,
            row["thin"],
            row["value"] or 0.0,
            -row["n"],
            str(row["row"]),
            str(row["column"]),
        ),
    )


def sentence(ranked: list[Row], run: str, choice: Choice, k: int) -> str:
    """Which slice of the run is the worst, as Markdown. A thin one is never named."""
    metric = words.metric(choice.metric, k)
    who = words.quoted(run)
    named = [row for row in ranked if row["value"] is not None and not row["thin"]]
    if not named:
        fewer = words.count(choice.thin, "query", "queries")
        return f"Every slice of {who} is thin, with fewer than {fewer}: none is named as the worst."
    worst = named[0]
    over = f"{words.number(worst['value'])} over {words.count(worst['n'], 'query', 'queries')}"
    if len(named) == 1:
        return f"{name(worst, choice)} is the only slice of {who} that is not thin: {metric} {over}."
    if worst["gap"] > -5e-4:
        return f"No slice of {who} stands below its mean at {metric}: {words.number(worst['overall'])}."
    level = [row for row in named if abs(row["value"] - worst["value"]) < 1e-12]
    if len(level) > 1:
        others = words.count(len(level) - 1, "other slice")
        lead = f"{name(worst, choice)} and {others} are the worst of {who} at {metric}"
        return f"{lead}: {words.number(worst['value'])}, {words.number(-worst['gap'])} below its mean."
    lead = f"{name(worst, choice)} is the worst slice of {who} at {metric}"
    return f"{lead}: {over}, {words.number(-worst['gap'])} below its mean."
