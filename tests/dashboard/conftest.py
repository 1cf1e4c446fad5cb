from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
import worlds
from rankroom.add import add_folder
from rankroom.resources import folder
from rankroom.store import Store
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

APP = folder("dashboard") / "app.py"
sys.path.insert(0, str(APP.parent))  # as `streamlit run` has it

Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def no_components() -> Iterator[None]:
    """For each AppTest streamlit reads what every installed package says of itself, in search of components.

    The dashboard has none, and that takes longer than most pages do.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page of the dashboard on a store, by the name of the page and the parameters of the link."""

    def opened(store: Store, on: str = "runs", /, **link: Any) -> AppTest:
        monkeypatch.setenv("RANKROOM_STORE", str(store.path))
        at = AppTest.from_file(str(APP), default_timeout=20)
        if on != "runs":
            at.switch_page(f"app_pages/{on}.py")
        for name, value in link.items():
            at.query_params[name] = value
        return at.run()

    return opened


@pytest.fixture(scope="session")
def looked_at() -> dict[tuple[object, ...], AppTest]:
    """Pages as they were opened, by their store and link."""
    return {}


@pytest.fixture
def look(open_page: Open, looked_at: dict[tuple[object, ...], AppTest]) -> Open:
    """Opens a page to look at and not to act on: the tests that look at the same one share it."""

    def looked(store: Store, on: str = "runs", /, **link: Any) -> AppTest:
        page = (store.path, store.stamp(), on, repr(sorted(link.items())))
        if page not in looked_at:
            looked_at[page] = open_page(store, on, **link)
        return looked_at[page]

    return looked


@contextmanager
def kept_open(store: Store) -> Iterator[Store]:
    """A store that nobody writes, open throughout: each page and each query finds its views bound already."""
    with store.read():
        yield store


Once = Callable[[Callable[[Path], Store]], Store]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Makes a store that tests only read, in a folder by its maker's name, once for all their processes."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent  # each of them has a folder of its own in that of the run

    def made(make: Callable[[Path], Store]) -> Store:
        folder = place / "looked_at" / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            whole = folder / "whole"
            if not whole.exists():
                whole.write_text(str(make(folder).path))
        return Store(Path(whole.read_text()))

    return made


@pytest.fixture(scope="session")
def three(once: Once) -> Iterator[Store]:
    """Three runs, one of them with a name that could be taken for anything."""

    def three_runs(folder: Path) -> Store:
        return worlds.world(folder, "first", "second", worlds.EVIL)

    with kept_open(once(three_runs)) as store:
        yield store


@pytest.fixture(scope="session")
def single(once: Once) -> Iterator[Store]:
    def single_run(folder: Path) -> Store:
        return worlds.world(folder, "first")

    with kept_open(once(single_run)) as store:
        yield store


@pytest.fixture
def fresh(single: Store, tmp_path: Path) -> Store:
    """A copy of the store with one run, to change."""
    return Store(shutil.copy(single.path, tmp_path / "store.duckdb"))


@pytest.fixture(scope="session")
def waiting(single: Store, once: Once) -> Iterator[Store]:
    """One run, and newer labels that it is not scored under."""

    def waiting_run(folder: Path) -> Store:
        store = Store(shutil.copy(single.path, folder / "store.duckdb"))
        add_folder(store, worlds.write_folder(folder / "two", {}, labels_revision="2"))
        return store

    with kept_open(once(waiting_run)) as store:
        yield store


@pytest.fixture(scope="session")
def staged(once: Once) -> Iterator[Store]:
    def staged_run(folder: Path) -> Store:
        return worlds.world(folder, "staged")

    with kept_open(once(staged_run)) as store:
        yield store


@pytest.fixture(scope="session")
def configured(once: Once) -> Iterator[Store]:
    """Three runs that differ in their settings; their names and values could be taken for anything."""
    with kept_open(once(worlds.configured)) as store:
        yield store


@pytest.fixture(scope="session")
def example(once: Once) -> Iterator[Store]:
    """The documentation example."""

    def documentation_example(place: Path) -> Store:
        store = Store(place / "example.duckdb")
        add_folder(store, folder("sample_runs") / "documentation_example")
        return store

    with kept_open(once(documentation_example)) as store:
        yield store


@pytest.fixture(scope="session")
def many(once: Once) -> Iterator[Store]:
    """Two hundred runs and one."""

    def many_runs(folder: Path) -> Store:
        store = worlds.world(folder, "second")
        worlds.multiply(store, "second", 200)
        return store

    with kept_open(once(many_runs)) as store:
        yield store


@pytest.fixture(scope="session")
def ask(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[Store, str], list[tuple[Any, ...]]]]:
    """Asks a store with a plain DuckDB client, as someone would who pastes a statement.

    The client has a copy, for it is configured otherwise than our readers, and keeps it until another store,
    or the same after a change, is asked.
    """
    place = tmp_path_factory.mktemp("asked") / "store.duckdb"
    with ExitStack() as client:
        asked_last: tuple[object, ...] = ()
        con = duckdb.connect()

        def asked(store: Store, sql: str) -> list[tuple[Any, ...]]:
            nonlocal asked_last, con
            if asked_last != (asked_now := (store.path, store.stamp())):
                client.close()
                shutil.copy(store.path, place)
                con = client.enter_context(duckdb.connect(str(place), read_only=True))
                asked_last = asked_now
            return con.execute(sql).fetchall()

        yield asked


@pytest.fixture
def clicked() -> Callable[..., AppTest]:
    """Clicks a button in a row of a table, for which AppTest has no public way."""

    def click(at: AppTest, key: str, row: int) -> AppTest:
        ids = [button for table in at.dataframe for button in table.proto.button_click_widgets.values()]
        states = at._tree.get_widget_states()
        state = states.widgets.add()
        (state.id,) = (button for button in ids if button.endswith(f"-{key}"))
        state.json_trigger_value = json.dumps({"row": row, "label": ""})
        return at._run(states)

    return click
