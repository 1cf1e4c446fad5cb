"""How far the labels reach: what runs returned without a label, and labels that no run ever met."""

from __future__ import annotations

import altair as alt
import pyarrow as pa
import streamlit as st

from panels import chart_style, data_table, words
from panels.filters import Filters
from panels.layout import answer, panel_title, show_sql
from panels.question import Question
from panels.store_access import Reader, Row

MOST_DRAWN = 30

JUDGED = """
select run, n, judged, lowest_judged, wholly_unjudged, wholly_judged
from label_coverage
where label_set = $label_set and k = $k
order by judged nulls first, run
"""

GAPS = """
select summary.scored_runs, summary.relevant_labels, never.num as never, never.num_relevant as never_relevant,
       never.num_cut,
       (select count(*) from queries_without_labels where label_set = $label_set) as unlabelled,
       (select count(*) from labels_without_document where label_set = $label_set) as without_document
from label_set_summary as summary
cross join (select count(*) as num, count(*) filter (relevant) as num_relevant, max(num_cut) as num_cut
            from labels_never_returned where label_set = $label_set) as never
where summary.label_set = $label_set
"""

UNLABELLED = f"""
select missing.query_id, queries.text, missing.in_query_set, missing.num_runs as runs, queries.split,
       queries.category, queries.language
from queries_without_labels as missing
left join queries on queries.query_set = $query_set and queries.query_id = missing.query_id
where missing.label_set = $label_set
order by missing.num_runs desc, missing.query_id
{data_table.LIMIT}
"""

NEVER = f"""
select never.query_id, never.doc_id, never.grade, never.relevant, queries.text as query, documents.title
from labels_never_returned as never
join label_sets on label_sets.label_set = never.label_set
left join queries on queries.query_set = label_sets.query_set and queries.query_id = never.query_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = never.doc_id
where never.label_set = $label_set
order by never.relevant desc, never.grade desc, never.query_id, never.doc_id
{data_table.LIMIT}
"""

WITHOUT_DOCUMENT = f"""
select query_id, doc_id, grade, collection
from labels_without_document
where label_set = $label_set
order by grade desc, query_id, doc_id
{data_table.LIMIT}
"""


def show(store: Reader, filters: Filters) -> None:
    """How much of what each run returned is labelled, and where labels and runs miss each other."""
    values = filters.values()
    judged, gaps = Question(JUDGED, values), Question(GAPS, values)
    frame, row = store.table(judged), store.rows(gaps)[0]
    answer(sentence(frame.to_pylist(), row, filters.k))
    st.caption(f"All splits, under {words.quoted(filters.label_set)}.")

    panel_title(f"Judged at {filters.k}")
    if frame.num_rows:
        st.altair_chart(chart(frame, filters.k), alt=alt_text(frame, filters.k))
        if frame.num_rows > MOST_DRAWN:
            st.caption(f"Drawn are the {MOST_DRAWN} runs with the lowest share; the table has all.")
        share = {
            name: st.column_config.NumberColumn(label, format="%.3f", help=about)
            for name, label, about in (
                ("judged", "judged", words.COLUMNS["judged"]),
                ("lowest_judged", "lowest of a query", "The lowest share of one query."),
            )
        }
        data_table.show(
            frame,
            "coverage",
            f"The share of the first {filters.k} results that has a label, by run, lowest first.",
            {"run": st.column_config.TextColumn("run", pinned=True), **share},
        )
    else:
        st.markdown("No run has scores under these labels, so nothing returned can be held against them.")
    show_sql(judged, gaps)

    _list(
        store,
        "Queries without labels",
        Question(UNLABELLED, values),
        "unlabelled",
        row["unlabelled"],
        "Every query has a label, or a line that says that nothing answers it.",
        f"{words.count(row['unlabelled'], 'query has', 'queries have')} neither a label nor a no-answer line:"
        " outside every mean.",
    )
    _list(
        store,
        "Labelled documents that no run returned",
        Question(NEVER, values),
        "never_returned",
        row["never"],
        "Every labelled document came back in some run, at some stage and depth."
        if row["scored_runs"]
        else "No run has scores under these labels.",
        _of_never(row),
    )
    _list(
        store,
        "Labelled documents that the collection lacks",
        Question(WITHOUT_DOCUMENT, values),
        "without_document",
        row["without_document"],
        "None: every labelled document is in the collection, or its documents were not given.",
        f"{words.count(row['without_document'], 'label')}: their documents count as readable by everyone.",
    )


def _list(
    store: Reader, title: str, question: Question, key: str, total: int, if_none: str, about: str
) -> None:
    panel_title(title)
    if total:
        st.caption(about)
        frame = store.table(question)
        data_table.show(frame, key, f"{title}: {total:,}.")
        data_table.say_cut(frame.num_rows, total)
    else:
        st.markdown(if_none)
    show_sql(question)


def sentence(rows: list[Row], gaps: Row, k: int) -> str:
    """How far the labels reach, as Markdown."""
    parts = []
    known = [row for row in rows if row["judged"] is not None]
    if known:
        lowest, highest = known[0], max(known, key=lambda row: row["judged"])
        if len(known) == 1:
            who = words.quoted(lowest["run"])
            parts.append(f"Labels reach {lowest['judged']:.1%} of what {who} returned in the first {k}.")
        else:
            parts.append(
                f"Labels reach {lowest['judged']:.1%} ({words.quoted(lowest['run'])}) to"
                f" {highest['judged']:.1%} of what {len(known):,} runs returned in the first {k}."
            )
    if gaps["unlabelled"]:
        parts.append(f"{words.count(gaps['unlabelled'], 'query has', 'queries have')} no label.")
    if gaps["scored_runs"]:
        few = words.count(gaps["scored_runs"], "run")
        parts.append(
            f"{gaps['never_relevant']:,} of {words.count(gaps['relevant_labels'], 'relevant label')}"
            f" never came back in any of {few}."
            if gaps["scored_runs"] > 1
            else f"{gaps['never_relevant']:,} of {words.count(gaps['relevant_labels'], 'relevant label')}"
            " never came back in the one run."
        )
    return " ".join(parts) or "No run has scores under these labels yet."


def _of_never(gaps: Row) -> str:
    if not gaps["never"]:
        return ""
    runs = "the one run" if gaps["scored_runs"] == 1 else f"{gaps['scored_runs']:,} runs"
    text = (
        f"{words.count(gaps['never'], 'label')}, {gaps['never_relevant']:,} of them relevant to a user who"
        f" may read the document: at no stage and depth of {runs}"
    )
    if gaps["num_cut"]:
        text += (
            f". Of {gaps['num_cut']:,} of them only the kept results were at hand: what stands deeper there"
            " is not known until `rankroom rescore RUN --from FILE`"
        )
    return f"{text}."


def chart(frame: pa.Table, k: int) -> chart_style.Chart:
    """A bar per run."""
    drawn = frame.slice(0, MOST_DRAWN)
    runs = drawn.column("run").to_pylist()
    return (
        chart_style.Chart(drawn, **chart_style.look(height=26 * max(len(runs), 1) + 60))
        .mark_bar(height=14, color=chart_style.UNDECIDED)
        .encode(
            y=alt.Y("run:N", sort=runs, title=None),
            x=alt.X(
                "judged:Q",
                title=f"share of the first {k} that has a label",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("judged:Q", title="judged", format=".3f"),
                alt.Tooltip("n:Q", title="n"),
                alt.Tooltip("wholly_unjudged:Q", title="queries with no label at all"),
            ],
        )
    )


def alt_text(frame: pa.Table, k: int) -> str:
    """The chart in a sentence."""
    rows = frame.to_pylist()
    parts = [f"{row['run']} {words.number(row['judged'])}" for row in rows[:5]]
    more = f", and {len(rows) - 5} more runs" if len(rows) > 5 else ""
    return f"Share of the first {k} results that has a label, lowest first: {', '.join(parts)}{more}."
