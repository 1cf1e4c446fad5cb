"""What the Slices page shows: by what queries are sliced, what stands side by side, and what is thin."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from panels import links, words
from panels.filters import Filters
from panels.layout import answer
from panels.question import Question
from panels.sidebar import SETTING_VALUES
from panels.store_access import Reader

RUNS = "runs"
DEFAULT_THIN = 10

DIMENSIONS = """
select dimension
from query_slices
where query_set = $query_set
group by dimension
order by list_position(['category', 'language'], dimension) nulls last,
         dimension in ('must_pass', 'tag'), dimension
"""


@dataclass(frozen=True)
class Choice:
    """By which dimension of the queries the rows of the map are made, and what its columns are.

    `second` is another dimension, with a map for each run; without one each column is a run, and with a
    `setting` the runs stand together that have the same value of it.
    """

    metric: str
    rows: str
    second: str = ""
    setting: str = ""
    thin: int = DEFAULT_THIN

    @property
    def dimensions(self) -> tuple[str, ...]:
        """What makes a slice."""
        return (self.rows, self.second) if self.second else (self.rows,)


def dimensions(store: Reader, filters: Filters) -> list[str]:
    """What the queries of this data set can be sliced by."""
    return store.column(Question(DIMENSIONS, filters.values()))


def choose(store: Reader, filters: Filters, possible: list[str], bar: DeltaGenerator) -> Choice:
    """The choice as the reader makes it, in a bar above the picture; it is part of the URL."""
    found = store.rows(Question(SETTING_VALUES, filters.values()))
    settings = [f"setting {name}" for name in dict.fromkeys(str(row["name"]) for row in found)]
    with bar:
        metrics = list(words.SLICED)
        metric = links.one_of("Metric", metrics, "metric", shown=words.SLICED.__getitem__, width=150)
        no_slices = "by which these queries cannot be sliced"
        rows = links.one_of("Rows", possible, "rows", no_slices, width=160) or possible[0]
        others = [name for name in possible if name != rows]
        columns = [*others[:1], RUNS, *others[1:], *settings]
        across = (
            links.one_of(
                "Columns",
                columns,
                "columns",
                "which neither these queries nor these runs have",
                width=200,
                help="Another dimension of the queries, with a map for each run; or the runs; or a setting "
                "of the runs, which groups them by its value.",
            )
            or RUNS
        )
        thin = st.number_input(
            "Thin below n",
            min_value=1,
            max_value=1000,
            value=DEFAULT_THIN,
            step=1,
            key="thin",
            bind="query-params",
            width=130,
            help="A mean over fewer queries is shown in grey, and never named as the worst.",
        )
    return Choice(
        metric=metric or metrics[0],
        rows=rows,
        second=across if across in others else "",
        setting=across.removeprefix("setting ") if across in settings and across not in others else "",
        thin=int(thin),
    )


def one_run(runs: list[str], bar: DeltaGenerator) -> str:
    """The run whose worst slices are named and listed: the best one unless another is chosen."""
    with bar:
        chosen = links.one_of(
            "Worst slices of",
            runs,
            "of_run",
            "which is not among the runs shown here",
            least=2,
            width=280,
            help="The run that the sentence above and the list below are about.",
        )
    return chosen or runs[0]


def say_nothing_to_slice_by() -> None:
    """What a data set needs before it has slices."""
    answer("The queries of this data set say nothing that they could be sliced by.")
    st.markdown(
        "Slices come from what `queries.jsonl` says of each query: its `category`, `language`, `tags`, "
        "`must_pass`, and any further field, such as a product or a channel. Queries that come from TREC "
        "labels are ids only. A native folder with the same query ids brings the rest:"
    )
    st.code(
        '{"query_id": "q_export", "text": "How do I export?", "category": "how_to", "language": "en"}',
        language="json",
        wrap_lines=True,
    )
