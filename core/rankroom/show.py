"""One run as `rankroom show` tells of it: its means with their n, its slices, and every query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import duckdb

from rankroom.errors import UsageError
from rankroom.output import rows
from rankroom.rescore import load_labels, score_stored_run
from rankroom.scoring import beyond_kept, check_cutoffs
from rankroom.slicing import check_dimensions, check_number
from rankroom.store import Store
from rankroom.workspace import open_workspace


def run_report(store: Store, run: str, k: int = 5, by: Sequence[str] = ()) -> dict[str, Any]:
    """What run_summary, run_summary_uncut, slices_by and query_scores say of a run at k.

    A k that the store does not hold is computed for the occasion.
    """
    check_number(by)
    with scores_at(store, run, k) as con:
        at_k: dict[str, Any] = {"run": run, "k": k}
        (summary,) = rows(con, "from run_summary where run = $run and k = $k and split = 'all'", at_k)
        if by:
            check_dimensions(con, summary["label_set"], by)
        uncut = rows(
            con,
            "select rr, ap, ndcg, r_precision, num_unknown, num_returned, num_relevant"
            " from run_summary_uncut where run = $run and split = 'all'",
            {"run": run},
        )
        report = {**summary, "uncut": uncut[0]}
        if by:
            dimensions = [*by, None, None]
            report["by"] = list(by)
            report["slices"] = [
                {"slice": {name: row[f"slice_{at}"] for at, name in enumerate(by, 1)}}
                | {name: value for name, value in row.items() if name not in NOT_OF_A_SLICE}
                for row in rows(
                    con,
                    "from slices_by($first, $k, second_by := $second, third_by := $third) where run = $run"
                    " order by slice_1, slice_2, slice_3",
                    at_k | dict(zip(("first", "second", "third"), dimensions, strict=False)),
                )
            ]
        report["queries"] = rows(
            con,
            "select s.* exclude (run, stage, label_set, k), u.first_relevant_rank, u.num_returned"
            " from query_scores s join query_scores_uncut u using (run, label_set, query_id)"
            " where run = $run and k = $k order by s.query_id",
            at_k,
        )
        return report


NOT_OF_A_SLICE = {"run", "label_set", "k", "slice_1", "slice_2", "slice_3"}


@contextmanager
def scores_at(store: Store, run: str, k: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection in which the run has scores at k under the current labels."""
    check_cutoffs([k])
    with store.read() as con:
        if not con.execute("select 1 from runs where run = $run", {"run": run}).fetchall():
            raise UsageError(f"there is no run named {run} in {store.path}: `rankroom list` names them")
        if not con.execute("select 1 from run_summary where run = $run limit 1", {"run": run}).fetchall():
            raise UsageError(
                f"run {run} has no scores under the current labels: `rankroom rescore` gives it some"
            )
        if con.execute("select 1 from cutoffs where k = $k", {"k": k}).fetchall():
            yield con
            return
        ((depth, label_set),) = con.execute(
            "select runs.kept_depth, run_summary.label_set from runs join run_summary using (run)"
            " where run = $run limit 1",
            {"run": run},
        ).fetchall()
    if depth is not None and depth < k:
        raise beyond_kept(run, depth, k)
    with closing(open_workspace(views=True)) as con:
        load_labels(store, con, label_set, [k])
        score_stored_run(store, con, run, label_set)
        yield con
