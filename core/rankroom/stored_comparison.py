"""Comparing two runs of a store by its file, also at a cutoff that the store has no scores at."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import duckdb

from rankroom import scoring
from rankroom.comparability import examine
from rankroom.comparison import Comparison, compare
from rankroom.errors import UsageError
from rankroom.rescore import load_labels, score_stored_run
from rankroom.store import Store
from rankroom.thresholds import Thresholds
from rankroom.workspace import open_workspace

READ_BY_A_COMPARISON = ("runs", "run_stages", "scorings", "labelled_ranks", "query_metrics")


def compare_stored(
    store: Store,
    baseline: str,
    candidate: str,
    *,
    k: int = 5,
    by: Sequence[str] = (),
    split: str = "all",
    label_set: str | None = None,
    stage: str = "final",
    slice_metrics: Sequence[str] = ("ndcg",),
    queries: Sequence[str] | None = None,
    common: bool = False,
    baseline_labels: str | None = None,
    thresholds: Thresholds | None = None,
) -> Comparison:
    """What `compare` says of two runs. A k that the store does not hold is computed for the occasion."""
    scoring.check_cutoffs([k])

    def told(con: duckdb.DuckDBPyConnection, scored: duckdb.DuckDBPyConnection | None = None) -> Comparison:
        return compare(
            con,
            baseline,
            candidate,
            k=k,
            by=by,
            split=split,
            label_set=label_set,
            stage=stage,
            slice_metrics=slice_metrics,
            queries=queries,
            common=common,
            baseline_labels=baseline_labels,
            thresholds=thresholds,
            scored=scored,
        )

    with store.read() as con:
        found = examine(con, baseline, candidate, stage=stage, label_set=label_set, split=split)
        if found.label_set is None or con.execute("select 1 from cutoffs where k = $k", {"k": k}).fetchall():
            return told(con)
        if baseline_labels:
            raise UsageError(
                f"there are no scores at k = {k} under both label sets: `rankroom rescore -k {k}` adds them"
            )
        _check_depth(con, k, baseline, candidate)
    with closing(open_workspace(views=True)) as scored:
        _score(store, scored, sorted({baseline, candidate}), found.label_set, k)
        with store.read() as con:
            return told(con, scored)


def _score(store: Store, scored: duckdb.DuckDBPyConnection, runs: Sequence[str], labels: str, k: int) -> None:
    """Score runs, one after the other, and keep what each comes to."""
    load_labels(store, scored, labels, [k])
    for table in READ_BY_A_COMPARISON:
        scored.execute(f"create temp table all_{table} as from {table} limit 0")
    for run in runs:
        score_stored_run(store, scored, run, labels)
        for table in READ_BY_A_COMPARISON:
            scored.execute(f"insert into all_{table} from {table}")
    for table in READ_BY_A_COMPARISON:
        scored.execute(f"delete from {table}")
        scored.execute(f"insert into {table} from all_{table}")


def _check_depth(con: duckdb.DuckDBPyConnection, k: int, *runs: str) -> None:
    cut = con.execute(
        "select run, kept_depth from runs where list_contains($runs, run) and kept_depth < $k order by run",
        {"runs": list(runs), "k": k},
    ).fetchall()
    if cut:
        run, depth = cut[0]
        raise scoring.beyond_kept(run, depth, k)
