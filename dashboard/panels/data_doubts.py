"""What was accepted with a doubt when the parts of a data set and its runs were read."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from panels import data_table, words
from panels.filters import Filters
from panels.layout import answer, show_sql
from panels.question import Question
from panels.store_access import Reader, Row

OF_THE_DATA_SET = """
from doubts
where doubts.subject_kind = 'run'
      and doubts.subject in (select runs.run from runs join query_sets using (query_set)
                             where query_sets.name = $data)
   or doubts.subject_kind = 'query_set'
      and doubts.subject in (select query_set from query_set_summary where name = $data)
   or doubts.subject_kind = 'label_set'
      and doubts.subject in (select label_set from label_set_summary where name = $data)
   or doubts.subject_kind = 'collection'
      and doubts.subject in (select collection from label_set_summary where name = $data)
"""

DOUBTS = f"""
select replace(doubts.subject_kind, '_', ' ') as about, doubts.subject as name, doubts.kind,
       doubts.num as count, doubts.sentence, doubts.file
{OF_THE_DATA_SET.strip()}
order by doubts.kind, doubts.num desc, doubts.subject
{data_table.LIMIT}
"""

KINDS = f"""
select doubts.kind, count(*) as times, count(distinct doubts.subject) as subjects
{OF_THE_DATA_SET.strip()}
group by doubts.kind
order by times desc, doubts.kind
"""


def show(store: Reader, filters: Filters) -> None:
    """Every doubt with its count, each kind together."""
    doubts, kinds = (Question(sql, {"data": filters.data}) for sql in (DOUBTS, KINDS))
    by_kind = store.rows(kinds)
    answer(sentence(by_kind))
    if by_kind:
        frame = store.table(doubts)
        at = frame.schema.get_field_index("kind")
        readable = pa.array([words_of(kind) for kind in frame.column(at).to_pylist()], pa.string())
        data_table.show(
            frame.set_column(at, "kind", readable),
            "doubts",
            "What was accepted with a doubt: run or part, kind, count, and the sentence.",
            {"sentence": st.column_config.TextColumn("sentence", width=560)},
        )
        data_table.say_cut(frame.num_rows, sum(row["times"] for row in by_kind))
    show_sql(kinds, doubts)


def words_of(kind: str) -> str:
    """The kind of a doubt in plain words."""
    return kind.replace("_", " ")


def sentence(by_kind: list[Row]) -> str:
    """How many doubts there are, and of which kind most, as Markdown."""
    if not by_kind:
        return "Nothing of this data set was accepted with a doubt."
    total = sum(row["times"] for row in by_kind)
    text = f"{words.count(total, 'thing was', 'things were')} accepted with a doubt"
    most = by_kind[0]
    if len(by_kind) == 1:
        return f"{text}: {words_of(most['kind'])}."
    return f"{text}; most often: {words_of(most['kind'])} ({most['times']:,})."
