"""Whether a run declines to answer where it should: the means of retrieval do not say so."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from panels import means, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

RATES = """
select means.run, means.no_answer, means.correct_abstention, means.n as answerable, means.false_abstention
from {source}
where {where}
order by means.run <> $run
"""


def question(filters: Filters) -> Question:
    """How often the run, and the one held against it, declined: rightly and wrongly."""
    runs = tuple(run for run in (filters.run, filters.against) if run)
    source, where = means.source(filters)
    where = f"list_contains($runs, means.run){' and ' + where if where else ''}"
    return Question(RATES.format(source=source, where=where), filters.values() | {"runs": runs})


def counted(row: Row) -> tuple[int, int]:
    """How many queries were declined rightly, and how many wrongly."""
    right = round((row["correct_abstention"] or 0) * row["no_answer"])
    return right, round((row["false_abstention"] or 0) * row["answerable"])


def sentence(row: Row, k: int) -> str:
    """How the run does, as Markdown."""
    right, wrong = counted(row)
    parts = []
    if row["no_answer"]:
        parts.append(
            f"{words.quoted(row['run'])} declines {right:,} of "
            f"{words.count(row['no_answer'], 'query', 'queries')} that nothing answers"
        )
    else:
        parts.append("Under these filters every labelled query has an answer")
    if row["answerable"]:
        queries = words.count(row["answerable"], "query", "queries")
        parts.append(f"declines {wrong:,} of {queries} that have an answer")
    return (
        f"{', and '.join(parts)}. Queries that nothing answers are outside every mean. Those that have an "
        "answer are in them, declined or not, scored by what was ranked."
    )


def show(rows: list[Row], k: int) -> None:
    """The numbers of both runs."""
    table: dict[str, list[object]] = {
        "run": [row["run"] for row in rows],
        "no_answer": [row["no_answer"] for row in rows],
        "right": [counted(row)[0] for row in rows],
        "correct_abstention": [row["correct_abstention"] for row in rows],
        "answerable": [row["answerable"] for row in rows],
        "wrong": [counted(row)[1] for row in rows],
        "false_abstention": [row["false_abstention"] for row in rows],
    }
    st.dataframe(
        pa.table(table),
        hide_index=True,
        lazy=False,
        placeholder="–",
        key="abstention",
        alt="Correct and false abstention of the run and of the one held against it.",
        column_config={
            "run": st.column_config.TextColumn("run", pinned=True),
            "no_answer": st.column_config.NumberColumn(
                "no answer", format="%d", help="Queries that nothing answers, by the labels and permissions."
            ),
            "right": st.column_config.NumberColumn("declined", format="%d"),
            "correct_abstention": st.column_config.NumberColumn(
                "correct abstention", format="%.3f", help="Declined / no answer: 1 is best."
            ),
            "answerable": st.column_config.NumberColumn("answerable", format="%d"),
            "wrong": st.column_config.NumberColumn("declined wrongly", format="%d"),
            "false_abstention": st.column_config.NumberColumn(
                "false abstention", format="%.3f", help="Declined wrongly / answerable: 0 is best."
            ),
        },
    )
