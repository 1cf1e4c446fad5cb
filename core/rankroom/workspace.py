"""The workspace: an in-memory database with a store's tables and views, for reading and scoring."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

import duckdb

from rankroom.migrations import create_workspace_schema

MEMORY_LIMIT = "700MB"
"""Of DuckDB's buffers. Beyond it, it spills to the system's temporary folder."""


def open_workspace(memory_limit: str = MEMORY_LIMIT) -> duckdb.DuckDBPyConnection:
    """A new workspace. It keeps the order of rows, which the readers of lines rely on."""
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
    create_workspace_schema(con)
    return con
