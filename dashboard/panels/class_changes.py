"""Which cause of failure turned into which between two runs."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from panels import chart_style, count_map, failure_list, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

KEY = "class_changes"


CHANGES = """
select changes.baseline_class as was, changes.candidate_class as class, count(*) as queries,
       count(*) filter (queries.must_pass) as must_pass,
       count(*) filter (changes.change = 'other cause') as other_cause
from failure_changes($against, $run, $k, label_set := $label_set) as changes
left join queries on queries.query_set = $query_set and queries.query_id = changes.query_id
where changes.change <> 'passes'{conditions}
group by was, class
order by queries desc, was, class
"""


def question(filters: Filters) -> Question:
    """How many queries that fail in one of the runs have which cause in either."""
    conditions = "".join(f"\n  and {condition}" for condition in filters.query_conditions())
    return Question(CHANGES.format(conditions=conditions), filters.values())


def sentence(rows: list[Row], filters: Filters, by_final: bool = False) -> str:
    """How many queries were mended, broken, and fail for another cause, as Markdown.

    `by_final`: the runs record different stages, so causes are compared by the final ranking alone.
    """
    passes = failure_list.PASSES
    fixed = sum(row["queries"] for row in rows if row["class"] == passes)
    broken = sum(row["queries"] for row in rows if row["was"] == passes)
    both = [row for row in rows if passes not in (row["was"], row["class"])]
    turned = sum(row["other_cause"] for row in both)
    same = sum(row["queries"] for row in both) - turned
    return (
        f"Against {words.quoted(filters.against)}: "
        f"{words.count(fixed, 'query no longer fails', 'queries no longer fail')}"
        f", {broken:,} newly {'fails' if broken == 1 else 'fail'}, {turned:,} "
        f"{'fails' if turned == 1 else 'fail'} "
        f"for another cause, {same:,} for the same{', by the final ranking alone' if by_final else ''}."
    )


def _names(rows: list[Row], side: str) -> list[str]:
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row[side]] = sizes.get(row[side], 0) + row["queries"]
    return sorted(sizes, key=lambda name: (name == failure_list.PASSES, -sizes[name], name))


def chart(frame: pa.Table, filters: Filters) -> chart_style.LayerChart:
    """The matrix: rows are the causes in the run held against, columns those in this one."""
    rows = frame.to_pylist()
    cells = [
        {
            "row": words.failure_class(row["was"]),
            "column": words.failure_class(row["class"]),
            "queries": row["queries"],
            "note": row["must_pass"],
            "kind": "better"
            if row["class"] == failure_list.PASSES
            else "worse"
            if row["was"] == failure_list.PASSES
            else "other",
        }
        for row in rows
    ]
    return count_map.chart(
        pa.Table.from_pylist(cells),
        (f"in {words.clipped(filters.against, 30)}", f"in {words.clipped(filters.run, 30)}"),
        [words.failure_class(name) for name in _names(rows, "was")],
        [words.failure_class(name) for name in _names(rows, "class")],
        "of which must pass",
    )


def alt_text(frame: pa.Table, filters: Filters) -> str:
    """The matrix in a sentence: its largest cells."""
    parts = [
        f"{words.failure_class(row['was'])} to {words.failure_class(row['class'])} {row['queries']}"
        for row in frame.to_pylist()[:5]
    ]
    return (
        f"Causes of failure in {filters.against} and what they became in {filters.run}: {', '.join(parts)}."
    )


def narrow() -> None:
    """List the queries of the cell that was clicked: a callback of the chart."""
    cell = count_map.clicked(KEY)
    choose(cell["row"], cell["column"]) if cell else choose(None, None)


def choose(was: str | None, now: str | None) -> None:
    """Narrow the list to queries that had one cause and have another now, both in words."""
    for key, value in (("was", was), ("cause", now)):
        st.session_state[key] = [words.class_of(value)] if value else []
