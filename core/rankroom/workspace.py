"""The workspace: an in-memory database with a store's tables, for reading and scoring."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

import duckdb

from rankroom.migrations import create_tables, create_views

MEMORY_LIMIT = "700MB"
"""Of DuckDB's buffers. Beyond it, it spills to the system's temporary folder."""


SCORING_VIEWS = ("15_suspect_cutoff", "25_means", "40_slices")
"""The files in sql/views that scoring needs. All of them take ten times as long to make."""


def open_workspace(memory_limit: str = MEMORY_LIMIT, *, views: bool = False) -> duckdb.DuckDBPyConnection:
    """A new workspace, with all public `views` or, without, those that scoring needs.

    It keeps the order of rows, which the readers of lines rely on.
    """
    con = duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": memory_limit,
            # A folder of its own: DuckDB's names for spilled files are the same in every process.
            "temp_directory": str(Path(tempfile.gettempdir()) / f"rankroom-{uuid.uuid4().hex}"),
        }
    )
    con.execute("set enable_progress_bar = false")
    create_tables(con)
    create_views(con, None if views else SCORING_VIEWS)
    return con
