"""The failing queries of one run: how many of which cause, and the list a page at a time."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import streamlit as st

from panels import chart_style, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

PAGE_SIZE = 50

# What must pass first, then what found nothing at all, then by cause.
ORDER = "must_pass desc, coalesce(found, 0) > 0, class, query_id"

LISTED = """
    select failures.query_id, queries.text, coalesce(queries.must_pass, false) as must_pass, failures.class,
           failures.fact, failures.also, failures.first_relevant_rank, failures.missing, failures.found,
           failures.num_relevant, queries.category, queries.language
    from failures
    left join queries on queries.query_set = $query_set and queries.query_id = failures.query_id
    where failures.run = $run and failures.label_set = $label_set and failures.k = $k{conditions}
"""


def listed(filters: Filters, by_cause: bool = True) -> str:
    """The statement of all failing queries under the filters, for others to ask about."""
    conditions = filters.query_conditions()
    if by_cause and filters.cause:
        conditions.append("list_contains($cause, failures.class)")
    return LISTED.format(conditions="".join(f"\n      and {condition}" for condition in conditions))


def counts(filters: Filters) -> Question:
    """How many queries fail for which first cause, whatever causes are chosen."""
    sql = (
        "select class, count(*) as queries, count(*) filter (must_pass) as must_pass\n"
        f"from ({listed(filters, by_cause=False)})\ngroup by class\norder by queries desc, class"
    )
    return Question(sql, filters.values())


def page(filters: Filters, number: int) -> Question:
    """One page of the list, the gravest first."""
    sql = (
        f"from ({listed(filters)})\norder by {ORDER}\n"
        f"limit {PAGE_SIZE} offset {PAGE_SIZE * (max(number, 1) - 1)}"
    )
    return Question(sql, filters.values())


def neighbours(filters: Filters, query_id: str) -> Question:
    """Where a query stands in the list, and which come before and after it; no row if it is not listed."""
    sql = (
        "select row_number() over listed as position, count(*) over () as total,\n"
        "       query_id, class, fact, also,\n"
        "       lag(query_id) over listed as previous, lead(query_id) over listed as next\n"
        f"from ({listed(filters)})\nwindow listed as (order by {ORDER})\nqualify query_id = $query"
    )
    return Question(sql, filters.values(query=query_id))


def sentence(run: str, by_class: list[Row], num_queries: int, k: int) -> str:
    """How many queries fail and why most of them do, as Markdown."""
    if not num_queries:
        return "No labelled query is left under these filters."
    queries = words.count(num_queries, "labelled query", "labelled queries")
    failing = sum(row["queries"] for row in by_class)
    if not failing:
        return f"{words.quoted(run)} fails none of {queries} at k = {k}."
    text = f"{words.quoted(run)} fails {failing:,} of {queries} at k = {k}"
    first = by_class[0]
    cause = words.failure_phrase(first["class"])
    if len(by_class) == 1:
        return f"{text}: {cause}."
    if first["queries"] == by_class[1]["queries"]:
        return f"{text}, for {len(by_class)} causes."
    return f"{text}, most often: {cause} ({first['queries']:,})."


def chart(frame: pa.Table) -> chart_style.Chart:
    """A bar per cause; its label says the count."""
    rows = frame.to_pylist()
    causes = [f"{words.failure_class(row['class'])}  {row['queries']:,}" for row in rows]
    named = frame.append_column("cause", pa.array(causes, pa.string()))
    return (
        chart_style.Chart(named, **chart_style.look(height=26 * max(len(rows), 1) + 60))
        .mark_bar(color=chart_style.WORSE, height=14)
        .encode(
            y=alt.Y("cause:N", sort=causes, title=None, axis=alt.Axis(ticks=False, labelLimit=380)),
            x=alt.X(
                "queries:Q", title="failing queries", axis=alt.Axis(tickMinStep=1, format="d", tickCount=5)
            ),
            tooltip=[
                alt.Tooltip("class:N", title="cause"),
                alt.Tooltip("queries:Q", title="queries"),
                alt.Tooltip("must_pass:Q", title="of which must pass"),
            ],
        )
    )


def alt_text(frame: pa.Table, run: str) -> str:
    """The chart in a sentence."""
    parts = [f"{words.failure_class(row['class'])} {row['queries']}" for row in frame.to_pylist()]
    return f"Failing queries of {run} by cause: {', '.join(parts)}."


def show(frame: pa.Table, run: str) -> None:
    """The list. A click on a row's button opens the query."""
    rows = frame.to_pylist()
    shown = pa.table(
        {
            "open": pa.array(["Open ›"] * len(rows), pa.string()),
            "query_id": frame.column("query_id"),
            "must_pass": pa.array(["★" if row["must_pass"] else "" for row in rows], pa.string()),
            "class": pa.array([words.failure_class(row["class"]) for row in rows], pa.string()),
            "text": frame.column("text"),
            "first_relevant_rank": frame.column("first_relevant_rank"),
            "fact": frame.column("fact"),
            "missing": frame.column("missing"),
            "also": pa.array(
                [", ".join(words.failure_class(name) for name in row["also"] or []) for row in rows],
                pa.string(),
            ),
            "category": frame.column("category"),
            "language": frame.column("language"),
        }
    )
    for name in ("text", "category", "language"):
        if frame.column(name).null_count == len(rows):
            shown = shown.drop_columns(name)
    for name in ("must_pass", "also"):
        if not any(shown.column(name).to_pylist()):
            shown = shown.drop_columns(name)
    st.dataframe(
        shown,
        hide_index=True,
        lazy=False,
        placeholder="–",
        height="auto" if len(rows) <= 15 else 560,
        key="failures",
        alt=f"Failing queries of {run}, with cause, first relevant rank and missing documents.",
        column_config={
            "open": st.column_config.ButtonColumn(
                "open",
                key="open_query",
                type="secondary",
                width="small",
            ),
            "query_id": st.column_config.TextColumn("query", pinned=True),
            "must_pass": st.column_config.TextColumn("must pass", width=82, alignment="center"),
            "class": st.column_config.TextColumn("cause"),
            "text": st.column_config.TextColumn("text", width=300),
            "fact": st.column_config.TextColumn("fact", width=310),
            "first_relevant_rank": st.column_config.NumberColumn(
                "first relevant",
                format="%d",
                help="Rank of the first relevant document, at any depth; a dash where none came back.",
            ),
            "missing": st.column_config.ListColumn(
                "missing", width="medium", help="Relevant documents that are not in the first k."
            ),
        },
    )
    if click := st.session_state.get("open_query"):
        _open(rows[click["row"]])


def step_through(frame: pa.Table) -> None:
    """A button that opens the first query of the list; from there the arrow keys lead on."""
    if st.button("Step through", icon=":material/arrow_forward:", key="step", shortcut="Right"):
        _open(frame.slice(0, 1).to_pylist()[0])


def _open(row: Row) -> None:
    st.switch_page("app_pages/query.py", query_params={"query": str(row["query_id"])})
