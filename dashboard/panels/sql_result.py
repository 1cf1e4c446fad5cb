"""What a statement gave: rows to read and to take away, or the reason why there are none."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import streamlit as st
from rankroom.sandbox import Answer, StatementError

from panels import words
from panels.layout import answer as sentence
from panels.sql_editor import Shown, fits_into_link
from panels.store_access import Stamp

ROW_HEIGHT = 34
MOST_ROWS = 14
"""Beyond so many rows the table scrolls inside itself."""

HEADINGS = {
    "refused": "Not run.",
    "failed": "DuckDB could not run this.",
    "unavailable": "Not run: the store could not be had.",
    "broken": "It gave no answer.",
}
"""What stands above a message that can have data in it; the other messages are whole sentences of ours."""


def show_rows(shown: Shown, answer: Answer, stamp: Stamp) -> None:
    """The sentence, the table and the downloads."""
    table = answer.table
    sentence(summary(answer))
    if stamp != shown.stamp:
        st.caption("The store has changed since: run it again to see its present state.")
    if table.num_columns:
        st.dataframe(
            as_text(table, only=_is_awkward),
            hide_index=True,
            row_height=ROW_HEIGHT,
            height=ROW_HEIGHT * (min(max(table.num_rows, 1), MOST_ROWS) + 1) + 2,
            placeholder="NULL",
            lazy=False,
            alt=f"The result of the statement: {summary(answer)}",
            column_config={name: config for name in table.column_names if (config := _config(table, name))},
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "CSV",
            lambda: csv(table),
            "rankroom.csv",
            "text/csv",
            on_click="ignore",
            icon=":material/download:",
            help="The rows above with all their digits; NULL is an empty field without quotes.",
        )
        st.download_button(
            "Parquet",
            lambda: parquet(table),
            "rankroom.parquet",
            "application/vnd.apache.parquet",
            on_click="ignore",
            icon=":material/download:",
            help="The rows above with their types.",
        )
        st.caption(
            "The address of this page carries the statement: whoever opens it sees this result."
            if fits_into_link(shown.statement)
            else "This statement is too long for a link: share it as text."
        )


def show_error(shown: Shown, error: StatementError) -> None:
    """What is wrong, and where."""
    heading = HEADINGS.get(error.kind)
    where = f" Line {error.line}, column {error.column}." if error.line else ""
    st.error(f"{heading}{where}" if heading else str(error), icon=":material/block:")
    if error.kind == "failed":
        pointer = pointed(shown.statement, error)
        st.code(f"{error}\n\n{pointer}" if pointer else str(error), language=None, wrap_lines=not pointer)
    elif heading:
        st.text(str(error))


def summary(answer: Answer) -> str:
    """How many rows came, how long it took, and whether there would be more."""
    rows = words.count(answer.table.num_rows, "row") if answer.table.num_rows else "No rows"
    cut = f", {answer.cut}" if answer.cut else ""
    return f"{rows} in {answer.seconds:.2f} s{cut}"


def pointed(statement: str, error: StatementError, before: int = 60, width: int = 100) -> str:
    """The line of the statement that the error is about, with a mark under the place."""
    if not error.line or not error.column:
        return ""
    line = statement.split("\n")[error.line - 1].replace("\t", " ")
    start = max(0, error.column - 1 - before)
    excerpt = line[start : start + width]
    at = error.column - 1 - start
    return f"{excerpt}\n{' ' * at}{'^' * max(1, min(error.length, len(excerpt) - at))}"


def csv(table: pa.Table) -> bytes:
    """The rows as CSV: every value as DuckDB writes it."""
    file = io.BytesIO()
    pa.csv.write_csv(as_text(table), file)
    return file.getvalue()


def parquet(table: pa.Table) -> bytes:
    """The rows as Parquet; a column without a type in it is of text."""
    file = io.BytesIO()
    pa.parquet.write_table(as_text(table, only=pa.types.is_null), file)
    return file.getvalue()


def as_text(table: pa.Table, only: Callable[[pa.DataType], bool] = lambda _: True) -> pa.Table:
    """The table with these columns as the text that DuckDB has for their values."""
    wanted = [only(field.type) for field in table.schema]
    if not any(wanted):
        return table
    # Numbered meanwhile, so that no name of a column becomes part of a statement.
    numbered = table.rename_columns([f"c{at}" for at in range(table.num_columns)])
    columns = [f"c{at}::varchar as c{at}" if text else f"c{at}" for at, text in enumerate(wanted)]
    with duckdb.connect() as con:
        con.execute("set TimeZone = 'UTC'")
        texts = con.from_arrow(numbered).project(", ".join(columns)).to_arrow_table()
    return texts.rename_columns(table.column_names)


def _config(table: pa.Table, name: str) -> Any:
    """How a column is shown, where the browser's own way would not do."""
    column = table.column(name)
    if pa.types.is_timestamp(column.type):
        return st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss", timezone="UTC")
    if pa.types.is_floating(column.type) and _reads_as_metric(column):
        return st.column_config.NumberColumn(format="%.3f")
    return None


def _reads_as_metric(column: pa.ChunkedArray) -> bool:
    """Whether three decimals show each value: metrics, shares and their differences."""
    sizes = pc.abs(column)
    span = pc.min_max(sizes.filter(pc.greater(sizes, 0))).as_py()
    return span["max"] is not None and span["min"] >= 0.001 and span["max"] <= 1


def _is_awkward(sort: pa.DataType) -> bool:
    """Whether a browser's table does not show it as it is: nested values, bytes, numbers beyond 64 bits."""
    types = pa.types
    return (
        types.is_nested(sort)
        or types.is_binary(sort)
        or types.is_large_binary(sort)
        or types.is_null(sort)
        or (types.is_decimal(sort) and sort.scale == 0)
    )
