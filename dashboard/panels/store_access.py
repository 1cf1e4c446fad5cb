"""Reading the store: for a moment in each page run; what was read is remembered until the file changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

import duckdb
import pyarrow as pa
import streamlit as st
from rankroom.store import Store

from panels.question import Question, Value

DEFAULT_STORE = "rankroom.duckdb"
WAIT = 10.0
"""Seconds that a page waits for a store which another process is writing."""

Stamp = tuple[int, ...]
Row = dict[str, Any]


def store_path() -> str:
    """The file of the store that this dashboard shows."""
    return os.environ.get("RANKROOM_STORE") or DEFAULT_STORE


class Reader:
    """Answers questions within one page run. It opens the store at the first that is not remembered."""

    def __init__(self, stack: ExitStack):
        self._stack = stack
        self._store = Store(store_path())
        self._con: duckdb.DuckDBPyConnection | None = None
        self.stamp = self._store.stamp()

    def table(self, question: Question) -> pa.Table:
        """The rows that answer a question."""
        return _remembered(self, str(self._store.path), self.stamp, question.sql, question.key())

    def rows(self, question: Question) -> list[Row]:
        """The same as dictionaries, for the few rows that are put into words."""
        return self.table(question).to_pylist()

    def row(self, question: Question) -> Row | None:
        """The first row, if there is one."""
        rows = self.rows(question)
        return rows[0] if rows else None

    def column(self, question: Question) -> list[str]:
        """The first column, as texts."""
        return [str(value) for value in self.table(question).column(0).to_pylist()]

    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection of this page run, which no other thread sees."""
        if self._con is None:
            self._con = self._stack.enter_context(Store(store_path()).read(WAIT))
        return self._con


_OUTER: ContextVar[Reader | None] = ContextVar("outer_reader", default=None)


@contextmanager
def reading() -> Iterator[Reader]:
    """A reader for the block, or that of the block around it. When the block ends the file is free again."""
    if (outer := _OUTER.get()) is not None:
        yield outer
        return
    with ExitStack() as stack:
        reader = Reader(stack)
        token = _OUTER.set(reader)
        try:
            yield reader
        finally:
            _OUTER.reset(token)


@st.cache_data(max_entries=400, max_size="200MB", show_spinner=False)
def _remembered(
    _reader: Reader, path: str, stamp: Stamp, sql: str, key: tuple[tuple[str, Value], ...]
) -> pa.Table:
    question = Question(sql, dict(key))
    return _reader.connection().sql(sql, params=question.parameters()).to_arrow_table()
