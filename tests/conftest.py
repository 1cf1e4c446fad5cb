"""Fixtures that tests of every part share. What they build stores with is in small_stores.py."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from rankroom import demo, turnstile
from rankroom.store import Store


@pytest.fixture(scope="session", autouse=True)
def short_turns() -> Iterator[None]:
    """Between two writes readers have a turn, and tests that write and read in one process only wait for it.

    Processes that tests start have it in its length, and so do the tests of the turnstile.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turnstile, "READERS_TURN", 0.005)
        yield


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store without a row: copying it is quicker than making one."""
    store = Store(tmp_path_factory.mktemp("empty") / "s.duckdb")
    with closing(duckdb.connect()) as con, store.write(con):
        pass
    return store.path.read_bytes()


@pytest.fixture(scope="session")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's store, made once for all processes of the tests: copy it before anything is written."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent  # each of them has a folder of its own in that of the run
    made = Store(place / "demo" / "demo.duckdb")
    made.path.parent.mkdir(exist_ok=True)
    with (made.path.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            demo.fill(made)
    return made.path


@pytest.fixture
def store(tmp_path: Path, empty_file: bytes) -> Store:
    """An empty store."""
    path = tmp_path / "rankroom.duckdb"
    path.write_bytes(empty_file)
    return Store(path)


@pytest.fixture
def no_store(tmp_path: Path) -> Store:
    """A store that does not exist yet."""
    return Store(tmp_path / "new.duckdb")
