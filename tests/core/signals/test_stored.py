"""The findings that a store keeps, of each run against its declared baseline, in whatever order they come."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rankroom
import signal_worlds
from rankroom.remove import remove_runs
from rankroom.rescore import rescore, score_stored_run
from rankroom.signals import stored
from rankroom.signals.search import read_signals
from rankroom.store import Store
from signal_worlds import RUNS
from small_stores import Rows, add_native, ask, kept_open

RUN = "overall_up_slice_down"
KEPT = "select * exclude (found_at) from signal_findings"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run and its baseline, which came in one add."""
    store = signal_worlds.build(tmp_path_factory.mktemp("both"), "usual", RUN, declare=True)
    with kept_open(store) as opened:
        yield opened


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The baseline alone."""
    return signal_worlds.build(tmp_path_factory.mktemp("alone"), "usual")


@pytest.fixture
def begun(alone: Store, tmp_path: Path) -> Store:
    """A copy of that store, for the run to come."""
    return Store(shutil.copy(alone.path, tmp_path / "begun.duckdb"))


@pytest.fixture
def changed(both: Store, tmp_path: Path) -> Store:
    """A copy of that store, to change."""
    return Store(shutil.copy(both.path, tmp_path / "copy.duckdb"))


def kept(store: Store) -> Rows:
    return ask(store, f"{KEPT} order by split, status, rule")


def by_hand(store: Store, label_set: str = "native@1") -> Rows:
    """The same, asked for pair by pair."""
    with store.read() as con:
        rows: list[tuple[Any, ...]] = [
            (RUN, "usual", label_set, 5, split, one.id, one.status, one.sentence, one.numbers, one.queries)
            for split in ("all", "dev")
            for one in read_signals(con, "usual", RUN, split=split, label_set=label_set).findings
        ]
    return sorted(rows, key=lambda row: (row[4], row[6], row[5]))


def test_they_are_those_that_are_found_when_asked(both: Store) -> None:
    found = kept(both)
    assert found == by_hand(both)
    assert {row[4] for row in found} == {"all", "dev"}
    assert ("fired", RUN) in {(row[6], row[5]) for row in found}
    ((shown,),) = ask(both, "select count(*) from signal_conflicts where look_next is not null")
    assert shown == len(found)


def test_the_baseline_may_come_later(both: Store, tmp_path: Path) -> None:
    store = Store(tmp_path / "later.duckdb")
    signal_worlds.add_runs(store, tmp_path / "run", RUN)
    assert kept(store) == []
    signal_worlds.add_runs(store, tmp_path / "usual", "usual")
    assert kept(store) == kept(both)


def test_the_run_may_come_later_and_from_python(both: Store, begun: Store) -> None:
    room = rankroom.open(begun.path)
    built = RUNS[RUN]
    lines = built.lines()
    facts = {
        line["query_id"]: {key: line[key] for key in ("latency_ms", "context_tokens", "answer_scores")}
        for line in lines
    }
    results = {line["query_id"]: line["results"] for line in lines}
    room.add_run(RUN, results, facts=facts, baseline="usual", config={"model": "b"})
    assert kept(begun) == kept(both)
    assert [one.id for one in room.signals("usual", RUN)] == [row[5] for row in _by_status(kept(begun))]


def _by_status(rows: Rows) -> Rows:
    """The order in which findings are told: what fired first, then as the catalogue has it."""
    from rankroom.signals.search import RULES

    return sorted(
        (row for row in rows if row[4] == "all"),
        key=lambda row: (row[6] != "fired", list(RULES).index(row[5])),
    )


def test_what_another_process_added_meanwhile_is_looked_at_within_the_transaction(
    both: Store, begun: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "prepare", lambda store, con, label_set, *_, **__: stored.Prepared(label_set))
    signal_worlds.add_runs(begun, tmp_path / "run", RUN)
    assert kept(begun) == kept(both)


def test_removing_either_removes_them(changed: Store, tmp_path: Path) -> None:
    again = Store(shutil.copy(changed.path, tmp_path / "again.duckdb"))
    remove_runs(changed, [RUN])
    remove_runs(again, ["usual"])
    assert kept(changed) == kept(again) == []


def test_scoring_again_does_not_double_them(changed: Store) -> None:
    before = kept(changed)
    rescore(changed)
    assert kept(changed) == before
    rescore(changed, ["usual"])
    assert kept(changed) == before


def test_scoring_that_stops_half_way_loses_none(changed: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before, scored = kept(changed), []

    def stops(store: Store, con: Any, run: str, *others: Any) -> None:
        if scored:
            raise KeyboardInterrupt
        scored.append(run)
        score_stored_run(store, con, run, *others)

    monkeypatch.setattr("rankroom.rescore.score_stored_run", stops)
    with pytest.raises(KeyboardInterrupt):
        rescore(changed)
    assert len(scored) == 1
    assert kept(changed) == before


def test_under_new_labels_they_are_found_anew(both: Store, changed: Store, tmp_path: Path) -> None:
    """Under the new labels no German query is known to have lost anything."""
    german = {query["query_id"] for query in signal_worlds.queries() if query["language"] == "de"}
    add_native(
        changed,
        tmp_path / "labels",
        queries=signal_worlds.queries(),
        labels=[line for line in signal_worlds.labels() if line["query_id"] not in german],
        dataset='name = "native"\nrevision = "1"\n[labels]\nrevision = "2"\n',
    )
    assert ask(changed, "select count(*) from signal_conflicts") == [(0,)]
    rescore(changed, ["usual"])
    assert ask(changed, "select count(*) from signal_conflicts") == [(0,)]
    rescore(changed, [RUN])
    new = [row for row in kept(changed) if row[2] == "native@2"]
    assert new == by_hand(changed, "native@2")
    assert new
    assert RUN not in {row[5] for row in new}
    assert ask(changed, "select distinct label_set from signal_conflicts") == [("native@2",)]
    assert [row for row in kept(changed) if row[2] == "native@1"] == kept(both)


def test_of_another_query_set_there_are_none(both: Store, changed: Store, tmp_path: Path) -> None:
    add_native(
        changed,
        tmp_path / "other",
        queries=[{"query_id": "q"}],
        labels=[{"query_id": "q", "doc_id": "d", "grade": 1}],
        runs={"elsewhere": [{"query_id": "q", "results": ["d"]}]},
        about={"elsewhere": 'baseline = "usual"\n'},
        dataset='name = "other"\n',
    )
    assert kept(changed) == kept(both)


def test_without_a_baseline_nothing_heavy_is_loaded(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]; from pathlib import Path; from rankroom.store import Store;"
        " from small_stores import add_small;"
        " place = Path(sys.argv[1]);"
        " add_small(Store(place / 's.duckdb'), place, {'q': {'d': 1}}, {'run': {'q': ['d']}});"
        " sys.exit(sum(name in sys.modules for name in ('scipy', 'rankroom.signals.pair')))"
    )
    here = Path(__file__).parent
    command = [sys.executable, "-c", program, str(tmp_path), str(here.parents[1])]
    assert subprocess.run(command, check=False).returncode == 0
