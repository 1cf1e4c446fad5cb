"""What there is of a data set: its query sets, label sets and collections, and the runs with scores."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import chart_style, data_table, words
from panels.filters import NONE, Filters
from panels.layout import panel_title, show_sql
from panels.question import Question
from panels.store_access import Reader, Row

LABEL_SETS = """
select label_set, is_current, added_at, query_set, collection, relevant_from, num_labels, relevant_labels,
       labelled_queries, no_answer_lines, unlabelled, with_rationale, reviewer, reviewers, last_reviewed,
       scored_runs, waiting_runs
from label_set_summary
where name = $data
order by is_current desc, added_at desc, label_set
"""

GRADES = """
select grade_counts.label_set, grade_counts.grade, grade_counts.relevant, grade_counts.num_labels,
       grade_counts.num_queries
from grade_counts
join label_set_summary using (label_set)
where label_set_summary.name = $data
order by label_set_summary.is_current desc, label_set_summary.added_at desc, grade_counts.label_set,
         grade_counts.grade desc
"""

QUERY_SETS = """
select query_set, is_current, added_at, num_queries, with_text, splits, categories, languages, must_pass,
       with_groups
from query_set_summary
where name = $data
order by is_current desc, added_at desc, query_set
"""

VALUES = f"""
select dimension, count(*) as num_values,
       list(value || ' · ' || queries order by queries desc, value) as queries_of_each
from (
    select dimension, slice as value, count(*) as queries
    from (
        select 'split' as dimension, coalesce(split, '{NONE}') as slice from queries
        where query_set = $query_set
          and exists (from queries where query_set = $query_set and split is not null)
        union all
        select dimension, slice from query_slices where query_set = $query_set
    )
    group by dimension, slice
)
group by dimension
order by list_position(['split', 'category', 'language', 'must_pass', 'tag'], dimension) nulls last, dimension
"""

COLLECTIONS = """
select collection, is_current, added_at, unit, id_scheme, num_documents, with_text, restricted, num_runs
from collection_summary
where collection in (select collection from label_set_summary where name = $data
                     union
                     select runs.collection
                     from runs join query_sets using (query_set) where query_sets.name = $data)
order by is_current desc, added_at desc, collection
"""

RUNS = """
select runs.run, runs.created, runs.added_at, runs.collection, runs.num_rows as results, runs.kept_depth,
       list(scorings.label_set order by scorings.scored_at, scorings.label_set)
           filter (scorings.label_set is not null) as scored_under,
       any_value(runs_to_rescore.label_set) as waits_for
from runs
join query_sets using (query_set)
left join scorings on scorings.run = runs.run
left join runs_to_rescore on runs_to_rescore.run = runs.run
where query_sets.name = $data
group by all
order by waits_for is null, runs.run
"""


def about(filters: Filters, sql: str) -> Question:
    """A question about the chosen data set."""
    return Question(sql, filters.values(data=filters.data))


def sentence(filters: Filters, labels: list[Row], queries: list[Row], collections: list[Row]) -> str:
    """How much there is, as Markdown: the current revision of each part."""
    now = next(row for row in labels if row["is_current"])
    query_set = next(row for row in queries if row["query_set"] == now["query_set"])
    collection = next(row for row in collections if row["collection"] == now["collection"])
    labelled = words.count(now["labelled_queries"], "query", "queries")
    parts = [
        words.count(query_set["num_queries"], "query", "queries"),
        f"{words.count(now['num_labels'], 'label')} on {labelled}",
    ]
    if len(labels) > 1:
        parts[-1] += f" in the newest of {len(labels)} revisions"
    if collection["num_documents"]:
        parts.append(words.count(collection["num_documents"], "document"))
    parts.append(words.count(now["scored_runs"] + now["waiting_runs"], "run"))
    return f"{words.quoted(filters.data)} has {', '.join(parts[:-1])} and {parts[-1]}."


def show(store: Reader, filters: Filters) -> None:
    """Every part with its revisions, the current ones first."""
    labels, grades, queries, values, collections, runs = (
        about(filters, sql) for sql in (LABEL_SETS, GRADES, QUERY_SETS, VALUES, COLLECTIONS, RUNS)
    )
    panel_title("Label sets")
    data_table.show(
        store.table(labels),
        "label_sets",
        "The label sets, the current one first: what is in them, their reviewers, how many runs have scores.",
        {
            "label_set": st.column_config.TextColumn("label set", pinned=True),
            "is_current": st.column_config.TextColumn("current"),
            "num_labels": st.column_config.NumberColumn("labels", format="localized"),
            "no_answer_lines": st.column_config.NumberColumn("no-answer lines", format="localized"),
        },
    )
    counted = store.table(grades)
    mine = counted.filter(pc.equal(counted.column("label_set"), filters.label_set))
    if mine.num_rows:
        st.altair_chart(chart(mine), alt=alt_text(mine, filters.label_set))
    if counted.num_rows > mine.num_rows:
        with st.expander("Grades of every revision", type="compact"):
            data_table.show(counted, "grades", "How many labels of each grade every label set has.")
    show_sql(labels, grades)

    panel_title("Query sets")
    data_table.show(
        store.table(queries),
        "query_sets",
        "The query sets, the current one first, and what their queries say of themselves.",
        {
            "query_set": st.column_config.TextColumn("query set", pinned=True),
            "is_current": st.column_config.TextColumn("current"),
            "num_queries": st.column_config.NumberColumn("queries", format="localized"),
            "with_groups": st.column_config.NumberColumn(
                "permissions tested",
                format="localized",
                help="Queries that say which groups their user is in.",
            ),
        },
    )
    valued = store.table(values)
    if valued.num_rows:
        data_table.show(
            valued,
            "values",
            "How many queries of the current query set have which split, category and so on.",
            {
                "num_values": st.column_config.NumberColumn("values", format="localized"),
                "queries_of_each": st.column_config.ListColumn("queries of each", width="large"),
            },
        )
    else:
        st.caption("Its queries name no split, category, language, tag or attribute.")
    show_sql(queries, values)

    panel_title("Collections")
    data_table.show(
        store.table(collections),
        "collections",
        "The collections that labels or runs of this data set are about.",
        {
            "collection": st.column_config.TextColumn("collection", pinned=True),
            "is_current": st.column_config.TextColumn("current"),
            "num_documents": st.column_config.NumberColumn(
                "documents", format="localized", help="0: named, and its documents were not given."
            ),
            "restricted": st.column_config.NumberColumn(
                "restricted", format="localized", help="Documents that only some groups may read."
            ),
            "num_runs": st.column_config.NumberColumn("runs", format="localized"),
        },
    )
    show_sql(collections)

    panel_title("Runs and the labels they were scored under")
    if (scored := store.table(runs)).num_rows:
        data_table.show(
            scored,
            "data_runs",
            "The runs of this data set, those that wait for scores under the current labels first.",
            {"run": st.column_config.TextColumn("run", pinned=True)},
        )
    else:
        st.markdown("No run yet. The tab **Add files** takes some, and so does `rankroom add`.")
    show_sql(runs)


def chart(frame: pa.Table) -> chart_style.Chart:
    """A bar per grade; its label says what the grade counts as, and how many labels have it."""
    rows = frame.to_pylist()
    names = [
        f"grade {row['grade']}, {'relevant' if row['relevant'] else 'not relevant'}: {row['num_labels']:,}"
        for row in rows
    ]
    return (
        chart_style.Chart(
            frame.append_column("name", pa.array(names, pa.string())),
            **chart_style.look(height=26 * max(len(rows), 1) + 60),
        )
        .mark_bar(height=14)
        .encode(
            y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(ticks=False, labelLimit=380)),
            x=alt.X("num_labels:Q", title="labels", axis=alt.Axis(tickMinStep=1, format="~s", tickCount=5)),
            color=alt.Color(
                "relevant:N",
                scale=alt.Scale(domain=[True, False], range=[chart_style.RELEVANT, chart_style.UNDECIDED]),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("grade:Q", title="grade"),
                alt.Tooltip("num_labels:Q", title="labels", format=","),
                alt.Tooltip("num_queries:Q", title="queries with one", format=","),
            ],
        )
    )


def alt_text(frame: pa.Table, label_set: str) -> str:
    """The chart in a sentence."""
    parts = [f"{row['num_labels']:,} of grade {row['grade']}" for row in frame.to_pylist()]
    return f"Labels of {label_set} by grade: {', '.join(parts)}."
