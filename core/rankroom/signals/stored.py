"""The findings that a store keeps: of each run against the baseline that it declares.

They are looked for in the workspace in which the run was scored, before the store is opened for writing, and
are written in the transaction that writes its scores. What others wrote meanwhile is looked at within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import duckdb

from rankroom.migrations import create_views
from rankroom.resources import sql
from rankroom.store import Store
from rankroom.tables import copy_rows

if TYPE_CHECKING:
    from rankroom.signals.finding import Finding

K = 5
"""The cutoff of the findings that are kept."""

DEV = "dev"

VIEWS = ("10_current_labels", "79_signal_rules", "85_two_runs")
"""The files in sql/views that the rules need, beside those of scoring."""


@dataclass(frozen=True)
class Declared:
    """A run and its baseline, as they were scored at these times."""

    run: str
    baseline: str
    run_scored_at: datetime
    baseline_scored_at: datetime


@dataclass(frozen=True)
class Kept:
    """What the rules found in a pair over the queries of one split."""

    split: str
    finding: Finding


@dataclass
class Prepared:
    """What was found before the store was opened for writing."""

    label_set: str
    found: dict[Declared, list[Kept]] = field(default_factory=dict)


def prepare(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    label_set: str,
    scored: Sequence[str],
    later: Sequence[str] = (),
    *,
    in_store: bool = True,
) -> Prepared:
    """Look for what `write` will keep of runs that were scored in this workspace.

    `later`: runs that are about to be scored as well, and are looked at then. Without `in_store` the store
    has no run that these declare as their baseline, or that declares one of these.
    """
    partners = _partners(store, con, label_set, scored, later) if in_store else {}
    copied = _copy(store, con, label_set, partners)
    try:
        if pairs := _declared(con, label_set, scored, later):
            create_views(con, VIEWS)
        return Prepared(label_set, _look(con, label_set, pairs))
    finally:
        for table in COPIES if copied else ():
            con.execute(f"delete from {table} where list_contains($runs::varchar[], run)", {"runs": copied})


def write(
    con: duckdb.DuckDBPyConnection, prepared: Prepared, scored: Sequence[str], later: Sequence[str] = ()
) -> None:
    """Keep the findings of these runs, and of those that declare them, in the open transaction."""
    label_set = prepared.label_set
    con.execute(
        "delete from store.main.signal_findings where label_set = $label_set"
        " and (list_contains($runs::varchar[], run) or list_contains($runs::varchar[], baseline))"
        # those with a run that comes later stay until then: it may never come
        " and not (list_contains($later::varchar[], run) or list_contains($later::varchar[], baseline))",
        {"label_set": label_set, "runs": list(scored), "later": list(later)},
    )
    with _in_store(con):
        pairs = _declared(con, label_set, scored, later)
        # Almost always none: another process wrote the one while this one scored the other.
        unseen = [pair for pair in pairs if pair not in prepared.found]
        found = prepared.found | _look(con, label_set, unseen)
    _insert(con, label_set, {pair: found[pair] for pair in pairs})


def _declared(
    con: duckdb.DuckDBPyConnection, label_set: str, scored: Sequence[str], later: Sequence[str]
) -> list[Declared]:
    """The pairs that can be compared of which one run is among these, and neither comes later."""
    rows = con.execute(sql("signals/declared.sql"), {"label_set": label_set, "runs": list(scored)}).fetchall()
    pairs = [Declared(*row) for row in rows]
    return [pair for pair in pairs if not {pair.run, pair.baseline} & {*later}]


def _partners(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    label_set: str,
    scored: Sequence[str],
    later: Sequence[str],
) -> dict[str, datetime]:
    """The runs of the store that these declare as baselines, or that declare one of these: when scored."""
    if not scored or not store.exists():
        return {}
    baselines = con.execute(
        "select distinct baseline from runs where baseline is not null and list_contains($runs::varchar[],"
        " run)",
        {"runs": list(scored)},
    ).fetchall()
    with store.read() as stored:
        rows = stored.execute(
            "select runs.run, scorings.scored_at from runs"
            " join scorings on scorings.run = runs.run and scorings.label_set = $label_set"
            " where list_contains($baselines::varchar[], runs.run)"
            " or list_contains($scored::varchar[], runs.baseline)",
            {
                "label_set": label_set,
                "baselines": [baseline for (baseline,) in baselines],
                "scored": list(scored),
            },
        ).fetchall()
    return {run: scored_at for run, scored_at in rows if run not in {*scored, *later}}


OF_RUNS = "list_contains($runs::varchar[], run)"
COPIES = {
    "runs": f"from runs where {OF_RUNS}",
    "run_stages": f"from run_stages where {OF_RUNS}",
    "run_config": f"from run_config where {OF_RUNS}",
    "run_queries": f"select * replace (null as answer, null as error) from run_queries where {OF_RUNS}",
    "answer_scores": f"from answer_scores where {OF_RUNS}",
    "rankings": f"from rankings where {OF_RUNS} and stage = 'final' and rank <= {K}",
    "scorings": f"from scorings where {OF_RUNS} and label_set = $label_set",
    "labelled_ranks": f"from labelled_ranks where {OF_RUNS} and label_set = $label_set",
    "query_metrics": f"from query_metrics where {OF_RUNS} and label_set = $label_set and stage = 'final'",
}
"""What the rules look at of a stored run."""


def _copy(
    store: Store, con: duckdb.DuckDBPyConnection, label_set: str, partners: dict[str, datetime]
) -> list[str]:
    """Put stored runs into the workspace, and say which: those that it had already only get their times."""
    there = {run for (run,) in con.execute("select run from runs").fetchall()}
    for run in there & partners.keys():
        con.execute(
            "update scorings set scored_at = $at where run = $run and label_set = $label_set",
            {"at": partners[run], "run": run, "label_set": label_set},
        )
    if not (wanted := sorted(partners.keys() - there)):
        return []
    with store.read() as stored:
        copy_rows(stored, con, COPIES, {"runs": wanted, "label_set": label_set})
    return wanted


def _look(
    con: duckdb.DuckDBPyConnection, label_set: str, pairs: Sequence[Declared]
) -> dict[Declared, list[Kept]]:
    """Try the rules on each pair: over all queries and, where some are of the split dev, over these."""
    if not pairs:
        return {}
    if not con.execute("select 1 from cutoffs where k = $k", {"k": K}).fetchall():
        return {pair: [] for pair in pairs}
    from rankroom.signals.pair import Pair, Surroundings
    from rankroom.signals.search import try_rules
    from rankroom.thresholds import read_thresholds

    about, limits = Surroundings.read(con, label_set), read_thresholds()
    dev = [query_id for query_id, split in about.splits.items() if split == DEV]
    found = {}
    for one in pairs:
        pair = Pair(con, one.baseline, one.run, K, label_set, about, limits)
        found[one] = [Kept("all", finding) for finding in try_rules(pair)]
        if dev:
            found[one] += [Kept(DEV, finding) for finding in try_rules(pair.only(dev))]
    return found


@contextmanager
def _in_store(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """The store's views and macros under their plain names."""
    ((catalog, schema),) = con.execute("select current_database(), current_schema()").fetchall()
    con.execute("use store.main")
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # of a transaction that failed, whose own error counts
            con.execute(f"use {catalog}.{schema}")


def _insert(con: duckdb.DuckDBPyConnection, label_set: str, found: dict[Declared, list[Kept]]) -> None:
    rows = [
        (
            pair.run,
            pair.baseline,
            kept.split,
            one.id,
            one.status,
            one.sentence,
            *_split(one.numbers),
            one.queries,
        )
        for pair, several in found.items()
        for kept in several
        for one in (kept.finding,)
    ]
    if not rows:
        return
    names = ("run", "baseline", "split", "rule", "status", "sentence", "names", "sizes", "query_ids")
    kinds = dict.fromkeys(names, "varchar[]") | dict.fromkeys(("names", "query_ids"), "varchar[][]")
    kinds |= {"sizes": "double[][]"}
    columns = ", ".join(f"unnest(${name}::{kind}) as {name}" for name, kind in kinds.items())
    con.execute(
        "insert into store.main.signal_findings by name"
        " select * exclude (names, sizes), map(names, sizes) as numbers, $label_set as label_set, $k as k,"
        f" now() as found_at from (select {columns})",
        {"label_set": label_set, "k": K}
        | {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)},
    )


def _split(numbers: dict[str, float]) -> tuple[list[str], list[float]]:
    """Names and values apart, as DuckDB makes a map of them."""
    return list(numbers), list(numbers.values())
