"""The filters as widgets. Each is bound to the URL, so that a link reproduces the page."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from panels import failure_list, funnel, leaderboard, links, notes, slice_links
from panels.filters import ALL, NONE, Filters
from panels.question import Question
from panels.store_access import Reader
from panels.words import METRICS, failure_class, note_state, quoted

PAGES_OF_RUNS = ("Runs", "Slices")
"""Pages about many runs at once: under any labels and at any stage, and runs are chosen by what they are."""

PAGES_OF_PAIRS = ("Compare", "Signals")
"""Pages about two runs, which they choose themselves: also under any labels and at any stage."""

WITHOUT_RUN = "Labels"
"""A page about labels under all runs: it chooses queries only."""

DEFAULT_K = 5
DEFAULT_SPLIT = "dev"
MUST_PASS = (ALL, "true", "false")

DATA_SETS = Question(
    """
select query_sets.name, label_sets.label_set, label_sets.query_set,
       label_sets.label_set = current_label_sets.label_set as is_current
from label_sets
join query_sets on query_sets.query_set = label_sets.query_set
join current_label_sets on current_label_sets.query_set_name = query_sets.name
where query_sets.name in (select with_runs.name
                          from runs join query_sets as with_runs on with_runs.query_set = runs.query_set)
order by max(label_sets.added_at) over (partition by query_sets.name) desc, query_sets.name, is_current desc,
         label_sets.added_at desc, label_sets.label_set
"""
)

CUTOFFS = Question("select k from cutoffs order by k")

QUERY_VALUES = f"""
with named as (
    select 'split' as name, split as value from queries where query_set = $query_set
    union all
    select 'category', coalesce(category, '{NONE}') from queries where query_set = $query_set
    union all
    select 'language', coalesce(language, '{NONE}') from queries where query_set = $query_set
    union all
    select 'tag', unnest(tags) from queries where query_set = $query_set
    union all
    select 'must_pass', must_pass::varchar from queries where query_set = $query_set
)
select name, value from named where value is not null group by name, value
order by name, value = '{NONE}', value
"""

OTHER_SPLITS = """
select count(*) as num from queries where query_set = $query_set and split is distinct from $split
"""

ATTRIBUTE_VALUES = f"""
select dimension as name, slice as value
from query_slices
where query_set = $query_set and not list_contains(['category', 'language', 'must_pass', 'tag'], dimension)
group by dimension, slice
order by dimension, slice = '{NONE}', slice
"""

STAGES = """
select run_stages.stage
from run_stages
join scorings on scorings.run = run_stages.run
where scorings.label_set = $label_set
group by run_stages.stage
order by run_stages.stage <> 'final', max(run_stages.position) desc, run_stages.stage
"""

RUN_TAGS = """
select distinct unnest(runs.tags) as tag
from runs join scorings on scorings.run = runs.run
where scorings.label_set = $label_set
order by tag
"""

# A setting is something to choose runs by where they differ in it, and not each has a value of its own.
SETTING_VALUES = f"""
with scored as (
    select run from scorings where label_set = $label_set
), settings as (
    select distinct run_config.setting from run_config join scored on scored.run = run_config.run
)
select settings.setting as name, coalesce(run_config.value, '{NONE}') as value
from settings cross join scored
left join run_config on run_config.run = scored.run and run_config.setting = settings.setting
group by name, value
qualify count(*) over (partition by name) between 2 and 20
order by name, value = '{NONE}', try_cast(value as double) nulls last, value
"""

RUNS = """
select run from scorings where label_set = $label_set order by run
"""


def choose(store: Reader, page: str) -> Filters | None:
    """The filters as the sidebar has them; None in a store without labels, where nothing can be filtered."""
    sets = store.rows(DATA_SETS)
    if not sets:
        return None
    on_runs, on_pair = page in PAGES_OF_RUNS, page in PAGES_OF_PAIRS
    slice_links.arrive(page)
    with st.sidebar:
        names = list(dict.fromkeys(str(row["name"]) for row in sets))
        has_none = "which has no scored run in this store"
        data = links.one_of("Data set", names, "data", has_none, least=2) or names[0]
        labels = {str(row["label_set"]): row for row in sets if row["name"] == data}
        label_set = next(iter(labels))  # the current one
        run_slot = st.container()
        k = _cutoff(store)
        if on_runs or on_pair:
            of_others = "which this data set does not have"
            label_set = links.one_of("Labels", list(labels), "labels", of_others, least=2) or label_set
        filters = Filters(
            data=data,
            label_set=label_set,
            query_set=str(labels[label_set]["query_set"]),
            is_current=bool(labels[label_set]["is_current"]),
            k=k,
        )
        if on_runs or (on_pair and page != "Signals"):  # signals are read at the end of the pipeline
            filters = replace(filters, stage=_stage(store, filters))
        filters = _query_filters(store, filters)
        if on_pair or page == WITHOUT_RUN:
            return filters
        if on_runs:
            filters = _run_filters(store, filters)
            return replace(filters, order=_order()) if page == "Runs" else filters
        with run_slot:
            filters = _one_run(store, filters)
            filters = _against(store, filters)
        return _causes(store, filters)


def _cutoff(store: Reader) -> int:
    cutoffs = [int(k) for k in store.column(CUTOFFS)] or [DEFAULT_K]
    index = cutoffs.index(DEFAULT_K) if DEFAULT_K in cutoffs else 0
    chosen = links.one_of(
        "Cutoff k",
        cutoffs,
        "k",
        "at which this store has no scores",
        index=index,
        help="Metrics look at the first k results of each query.",
    )
    return chosen or cutoffs[index]


def _stage(store: Reader, filters: Filters) -> str:
    stages = store.column(Question(STAGES, filters.values()))
    stages = stages if len(stages) > 1 else ["final"]
    return links.one_of("Stage", stages, "stage", "at which no run has scores here", least=2) or "final"


def _query_filters(store: Reader, filters: Filters) -> Filters:
    """Split, category, language, tags and so on: each only where the queries differ in it."""
    options = _options(store, Question(QUERY_VALUES, filters.values()))
    splits = [ALL, *(name for name in options.get("split", []) if name != ALL)]
    index = splits.index(DEFAULT_SPLIT) if DEFAULT_SPLIT in splits else 0
    none_of_it = "of which there are no queries here"
    split = links.one_of("Split", splits, "split", none_of_it, least=2, index=index) or ALL
    filters = replace(filters, split=split)
    others = 0 if split == ALL else store.rows(Question(OTHER_SPLITS, filters.values()))[0]["num"]
    filters = replace(
        filters,
        left_aside=others,
        category=links.some_of("Category", options.get("category", []), "category"),
        language=links.some_of("Language", options.get("language", []), "language"),
        tag=links.some_of("Tag", options.get("tag", []), "tag", least=1),
    )
    differ = len(options.get("must_pass", [])) > 1
    must_pass = links.one_of("Must pass", MUST_PASS if differ else MUST_PASS[:1], "must_pass", least=2) or ALL
    attributes = _options(store, Question(ATTRIBUTE_VALUES, filters.values()))
    chosen = [
        (name, links.some_of(quoted(name), values, f"attribute.{name}"))
        for name, values in attributes.items()
    ]
    return replace(
        filters,
        must_pass="" if must_pass == ALL else must_pass,
        attributes=tuple((name, values) for name, values in chosen if values),
    )


def _options(store: Reader, question: Question) -> dict[str, list[str]]:
    """The values of each name, in the order of the answer."""
    options: dict[str, list[str]] = {}
    for row in store.rows(question):
        options.setdefault(row["name"], []).append(row["value"])
    return options


def _run_filters(store: Reader, filters: Filters) -> Filters:
    """Which runs the page holds: by name, by their tags, by the settings in which they differ."""
    names = store.column(Question(RUNS, filters.values()))
    runs = links.some_of("Runs", names, "runs")
    if len(names) < 2:
        return filters
    tags = links.some_of(
        "Tags of runs", store.column(Question(RUN_TAGS, filters.values())), "run_tag", least=1
    )
    return replace(filters, runs=runs, run_tag=tags, settings=_settings(store, filters))


def _settings(store: Reader, filters: Filters) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The chosen values of every setting that differs between runs, folded away unless some are chosen."""
    settings = _options(store, Question(SETTING_VALUES, filters.values()))
    if not settings:
        return ()
    in_link = any(st.session_state.get(f"setting.{name}") for name in settings) or any(
        key.startswith("setting.") for key in st.query_params
    )
    with st.expander("Settings of runs", expanded=in_link):
        chosen = [
            (name, links.some_of(quoted(name), values, f"setting.{name}"))
            for name, values in settings.items()
        ]
    return tuple((name, values) for name, values in chosen if values)


def _order() -> str:
    """What the leaderboard is ordered by."""
    metrics = list(METRICS)
    return links.one_of("Order by", metrics, "order", shown=METRICS.__getitem__) or metrics[0]


def _one_run(store: Reader, filters: Filters) -> Filters:
    """The run whose failures are looked at: the best by NDCG unless another is chosen."""
    names = store.column(leaderboard.question(filters)) or store.column(Question(RUNS, filters.values()))
    not_here = "which is not in this store under these labels, or not any more"
    return replace(filters, run=links.one_of("Run", names, "run", not_here) or "")


BASELINE = Question(
    "select baseline from runs where run = $run and baseline in (select run from scorings where label_set "
    "= $label_set)"
)


def _against(store: Reader, filters: Filters) -> Filters:
    """The run that this one is held against: the baseline that it declares, unless another is chosen."""
    names = [name for name in store.column(Question(RUNS, filters.values())) if name != filters.run]
    if not names or not filters.run:
        return filters
    declared = store.column(Question(BASELINE.sql, filters.values()))
    chosen = st.selectbox(
        "Against",
        names,
        index=None,
        key="against",
        bind="query-params",
        placeholder="its declared baseline" if declared else "no baseline declared",
        help="The run that is shown beside it. Unless one is chosen, the baseline that the run declares.",
    )
    return replace(filters, against=chosen or next(iter(declared), ""))


def _causes(store: Reader, filters: Filters) -> Filters:
    """What the listed queries failed for, here and in the run held against it; where evidence was lost."""
    noted = store.row(notes.any_of(filters))
    filters = replace(filters, has_notes=bool(noted and noted["has_notes"]))
    causes = store.column(failure_list.counts(filters))
    if filters.against:
        other = replace(filters, run=filters.against)
        before = [*store.column(failure_list.counts(other)), failure_list.PASSES]
        causes.append(failure_list.PASSES)
        was = links.some_of(f"Cause in {quoted(filters.against)}", before, "was", failure_class, least=1)
        filters = replace(filters, was=was)
    if filters.has_notes:
        states = [*store.column(notes.states(filters)), notes.NO_NOTE]
        filters = replace(filters, noted=links.some_of("State of the note", states, "noted", note_state))
    steps = [str(row["stage"]) for row in store.rows(funnel.question(filters)) if row["lost"]]
    return replace(
        filters,
        cause=links.some_of("Cause of failure", causes, "cause", failure_class, least=1),
        lost=links.some_of("Evidence lost at", steps, "lost"),
    )


def current() -> Filters:
    """The filters that app.py chose in this page run."""
    filters: Filters = st.session_state["filters"]
    return filters


def reset_filters() -> None:
    """Choose all queries and runs again, but stay within the split: from the callback of a button."""
    for key in map(str, st.session_state):
        if key in (
            "category",
            "language",
            "tag",
            "runs",
            "run_tag",
            "cause",
            "was",
            "lost",
            "noted",
        ) or key.startswith(("attribute.", "setting.")):
            st.session_state[key] = []
    if "must_pass" in st.session_state:
        st.session_state["must_pass"] = ALL
