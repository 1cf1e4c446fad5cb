"""`rankroom failures --split`: the queries of one split, and the sentence that says which are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cli_run
import pytest
from rankroom.store import Store
from small_stores import add_native, kept_open

Failures = Callable[..., cli_run.Ended]
SPLITS = {"q1": "dev", "q2": "dev", "q3": "test", "q4": None}


def room(folder: Any, splits: dict[str, str | None]) -> Store:
    store = Store(folder / "s.duckdb")
    add_native(
        store,
        folder / "files",
        queries=[
            {"query_id": query} | ({"split": split} if split else {}) for query, split in splits.items()
        ],
        labels=[{"query_id": query, "doc_id": "a", "grade": 1} for query in splits],
        runs={"r": [{"query_id": query, "results": ["a" if query == "q2" else "b"]} for query in splits]},
    )
    return store


@pytest.fixture(scope="module")
def split_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with kept_open(room(tmp_path_factory.mktemp("split"), SPLITS)) as opened:
        yield opened


@pytest.fixture
def failures(
    split_room: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Failures:
    monkeypatch.setenv("COLUMNS", "200")
    return partial(cli_run.run, monkeypatch, capsys, "failures", "r", "--store", split_room.path)


def test_without_a_split_the_sentence_says_that_it_is_all_of_them(failures: Failures) -> None:
    assert "3 of 4 queries in all splits fail\n" in failures().out
    assert "3 of 4 queries in all splits fail\n" in failures("--split", "all").out


@pytest.mark.parametrize(("split", "failing"), [("dev", ["q1"]), ("test", ["q3"])])
def test_one_split(failures: Failures, split: str, failing: list[str]) -> None:
    total = sum(name == split for name in SPLITS.values())
    queries = "1 query" if total == 1 else f"{total} queries"
    said = failures("--split", split).out
    assert f"{len(failing)} of {queries} in split {split} fail" in said
    assert [row["query_id"] for row in failures("--split", split, "--json").json] == failing
    counted = [line.split() for line in said.splitlines() if line.startswith("never_retrieved ")]
    assert counted == [["never_retrieved", str(len(failing)), "0"]]


def test_a_split_that_no_query_has(failures: Failures) -> None:
    ended = failures("--split", "gone")
    assert ended.code == 2
    assert "no query has the split gone: the splits are dev, test" in ended.err


def test_queries_without_splits_are_just_queries(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = room(tmp_path, {"q1": None, "q2": None})
    ended = cli_run.run(monkeypatch, capsys, "failures", "r", "--store", store.path)
    assert "1 of 2 queries fail\n" in ended.out
    ended = cli_run.run(monkeypatch, capsys, "failures", "r", "--store", store.path, "--split", "dev")
    assert "no query has the split dev: the splits are not given" in ended.err
