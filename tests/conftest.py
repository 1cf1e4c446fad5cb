"""Fixtures that tests of every part share. What they build stores with is in small_stores.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankroom.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that does not exist yet."""
    return Store(tmp_path / "rankroom.duckdb")
