"""Scoring in a workspace: from rankings and labels to labelled ranks and metrics, by sql/metrics."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from rankroom.errors import UsageError
from rankroom.resources import sql

WHOLE_UP_TO = 1_000_000
"""Runs with so many results, of all stages, are kept whole."""

KEPT_OF_LARGE = 100
"""Of larger runs, so many results of every ranking are kept."""

MOST_KEPT = 999_999
"""So many results of each ranking can be kept, where not all are: DuckDB's max(value, n) takes no more."""

LARGEST_CUTOFF = 1_000_000

WITHOUT_LIMIT = 2**31 - 1


def count_results(con: duckdb.DuckDBPyConnection, run: str) -> None:
    """Fill `ranking_lengths` from `ranked_input`."""
    _set(con, run=run)
    con.execute(sql("metrics/ranking_lengths.sql"))


def check_cutoffs(cutoffs: Iterable[int]) -> None:
    """Refuse what is no cutoff."""
    for k in cutoffs:
        if k < 1:
            raise UsageError(f"k must be a positive integer, and is {k}")
        if k > LARGEST_CUTOFF:
            raise UsageError(f"k must be at most {LARGEST_CUTOFF:,}, and is {k}")


def beyond_kept(run: str, depth: int, k: int) -> UsageError:
    """What to raise for a cutoff at which a run, of which only the first results were kept, has no scores."""
    return UsageError(f"of run {run} only the first {depth} results a query are kept: k = {k} is beyond them")


def keep_rankings(
    con: duckdb.DuckDBPyConnection, run: str, keep: int | None, *, known_ranks: bool = False
) -> None:
    """Fill `rankings` (the first `keep` of each; None: all) from `ranked_input`.

    With `known_ranks` that has a column `rank` too, so that nothing has to be ordered.
    """
    _set(con, run=run, keep=keep or WITHOUT_LIMIT)
    how = "ranked" if known_ranks else "first" if keep else "whole"
    con.execute(sql(f"metrics/rankings_{how}.sql"))


def prepare_labels(con: duckdb.DuckDBPyConnection, label_set: str, cutoffs: list[int]) -> None:
    """What all runs share under one label set: the labels as users see them, and the ideal DCG."""
    _set(con, label_set=label_set)
    con.execute(
        "create or replace temp table wanted_cutoffs as select distinct unnest($cutoffs::integer[]) as k",
        {"cutoffs": cutoffs},
    )
    con.execute(sql("metrics/labels_seen.sql"))
    con.execute(sql("metrics/ideal.sql"))
    ((query_set, collection),) = con.execute(
        "select query_set, collection from label_sets where label_set = $label_set", {"label_set": label_set}
    ).fetchall()
    _set(con, query_set=query_set, collection=collection)


def score_run(
    con: duckdb.DuckDBPyConnection,
    run: str,
    label_set: str,
    *,
    keep: int | None,
    depth: int | None,
    ranked: bool = False,
    known_ranks: bool = False,
) -> None:
    """Fill `labelled_ranks`, `query_metrics`, `query_metrics_uncut` and `unlabelled_queries` of one run.

    After `prepare_labels` of the label set, and `count_results` and `keep_rankings` of the run. `keep` is how
    much of each ranking stands in `rankings`, with the rest in `ranked_input`; `depth`, how much was at hand
    at all (None: all). With `ranked`, `labelled_ranks` are filled already; `known_ranks` as in keep_rankings.
    """
    _set(con, run=run, keep=keep or WITHOUT_LIMIT, depth=depth)
    con.execute(sql("metrics/outcomes.sql"))
    if not ranked:
        con.execute(sql(f"metrics/labelled_ranks{'_ranked' if known_ranks else ''}.sql"))
    for step in ("at_cutoffs", "uncut", "slice_means", "unlabelled"):
        con.execute(sql(f"metrics/{step}.sql"))
    con.execute(
        "insert into scorings values ($run, $label_set, $depth, now())",
        {"run": run, "label_set": label_set, "depth": depth},
    )


def _set(con: duckdb.DuckDBPyConnection, **variables: str | int | None) -> None:
    """Give variables to the statements that read them with getvariable()."""
    for name, value in variables.items():
        con.execute(f"set variable {name} = $value", {"value": value})
