"""Scoring stored runs again: under newer labels, at further cutoffs, or from the whole file of a cut run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from rankroom import scoring, suspects
from rankroom.errors import RankroomError, Refused, UsageError
from rankroom.faults import Fault, Report
from rankroom.signals import stored as stored_signals
from rankroom.store import WRITE_WAIT, Store
from rankroom.tables import RUN_TABLES, SCORE_TABLES, copy_rows
from rankroom.workspace import open_workspace

if TYPE_CHECKING:
    from rankroom.adding import Progress


@dataclass(frozen=True)
class Rescored:
    """One run under one label set, as it was scored again."""

    run: str
    label_set: str


class RunGone(UsageError):
    """Another process removed the run."""


def rescore(
    store: Store,
    runs: Sequence[str] = (),
    *,
    cutoffs: Sequence[int] = (),
    whole_file: Path | None = None,
    wait: float = WRITE_WAIT,
    progress: Progress | None = None,
) -> list[Rescored]:
    """Score runs (none named: all) under the current labels, and under every label set they have scores for.

    `cutoffs` are added to those of the store, and then every run is scored. Each run is one transaction.
    `whole_file` gives the rankings of one run again that the store keeps only the first results of.
    """
    scoring.check_cutoffs(cutoffs)
    if whole_file is not None and len(runs) != 1:
        raise UsageError("--from gives the rankings of one run: name that run")
    with store.read() as con:
        _all_known(store, runs, con)
        kept = [k for (k,) in con.execute("select k from cutoffs order by k").fetchall()]
        further = sorted({*cutoffs} - {*kept})
        if further:
            _deep_enough(con, max(further))
        pairs = _pairs(con, () if further else runs)
        with_baselines = _with_baselines(con)
    done: list[Rescored] = []
    for label_set, group in groupby(pairs, key=lambda pair: pair.label_set):
        with closing(open_workspace()) as con:
            load_labels(store, con, label_set, [*kept, *further])
            of_labels = list(group)
            for at, pair in enumerate(of_labels):
                if progress:
                    progress(f"scoring {pair.run}", pairs.index(pair), len(pairs))
                file = whole_file if pair.run in runs else None
                with suppress(RunGone):
                    score_stored_run(store, con, pair.run, label_set, file)
                    suspects.prepare_runs(con, [pair.run])
                    later = [one.run for one in of_labels[at + 1 :]]
                    signals = stored_signals.prepare(
                        store, con, label_set, [pair.run], later, in_store=pair.run in with_baselines
                    )
                    _replace(store, con, pair, signals, later, wait)
                    done.append(pair)
    if further:
        _add_cutoffs(store, further, done, wait)
    return done


def load_labels(store: Store, con: duckdb.DuckDBPyConnection, label_set: str, cutoffs: Sequence[int]) -> None:
    """Copy into a workspace what scoring under one label set reads, and prepare it for these cutoffs."""
    con.execute("delete from cutoffs")
    con.execute("insert into cutoffs select unnest($ks::integer[])", {"ks": list(cutoffs)})
    with store.read() as stored:
        copy_rows(stored, con, LABEL_COPIES, {"label_set": label_set})
    scoring.prepare_labels(con, label_set, list(cutoffs))


def score_stored_run(
    store: Store, con: duckdb.DuckDBPyConnection, run: str, label_set: str, whole_file: Path | None = None
) -> None:
    """Score one stored run in a workspace with these labels, in the place of the run scored there before."""
    for table in (*RUN_TABLES, *SCORE_TABLES):
        con.execute(f"delete from {table}")
    of_pair = {"run": run, "label_set": label_set}
    with store.read() as stored:
        copy_rows(stored, con, RUN_COPIES, {"run": run})
        kept = con.execute("select kept_depth from runs").fetchall()
        if not kept:
            raise RunGone(f"run {run} was removed from {store.path} meanwhile")
        ((keep,),) = kept
        ranked = keep is not None and whole_file is None and _scored_from_whole(stored, of_pair)
        if ranked:
            copy_rows(stored, con, RANK_COPIES, of_pair)
    if whole_file is not None:
        _rank_file(con, run, whole_file, keep)
    else:
        con.execute(
            "create or replace temp view ranked_input as"
            " select stage, query_id, doc_id, -rank::double as key, score from rankings where false"
        )
    whole = ranked or whole_file is not None
    scoring.score_run(con, run, label_set, keep=keep, depth=None if whole else keep, ranked=ranked)


def _pairs(con: duckdb.DuckDBPyConnection, runs: Sequence[str]) -> list[Rescored]:
    """The runs (none named: all) with the label sets to score them under."""
    return [
        Rescored(*row)
        for row in con.execute(
            "select run, label_set from (select run, label_set from scorings union"
            " select run, label_set from runs_to_rescore)"
            " where $all or list_contains($runs::varchar[], run) order by label_set, run",
            {"all": not runs, "runs": list(runs)},
        ).fetchall()
    ]


def _with_baselines(con: duckdb.DuckDBPyConnection) -> set[str]:
    """The runs that declare a baseline, and what they declare."""
    declared = con.execute("select run, baseline from runs where baseline is not null").fetchall()
    return {run for pair in declared for run in pair}


def _scored_from_whole(stored: duckdb.DuckDBPyConnection, of_pair: dict[str, str]) -> bool:
    """Whether the stored labelled ranks come from the whole file: then what is kept may not replace them."""
    return bool(
        stored.execute(
            "select 1 from scorings where run = $run and label_set = $label_set and depth is null", of_pair
        ).fetchall()
    )


def _all_known(store: Store, runs: Iterable[str], con: duckdb.DuckDBPyConnection) -> None:
    known = {run for (run,) in con.execute("select run from runs").fetchall()}
    for run in runs:
        if run not in known:
            raise UsageError(f"there is no run named {run} in {store.path}: `rankroom list` names them")


def _deep_enough(con: duckdb.DuckDBPyConnection, k: int) -> None:
    cut = con.execute(
        "select run, kept_depth from runs where kept_depth < $k order by kept_depth, run limit 1", {"k": k}
    ).fetchall()
    if cut:
        run, depth = cut[0]
        raise scoring.beyond_kept(run, depth, k)


LABEL_COPIES = {
    "label_sets": "from label_sets where label_set = $label_set",
    "labels": "select * replace (null as rationale) from labels where label_set = $label_set",
    "query_sets": "from query_sets",
    "queries": "from queries where query_set ="
    " (select query_set from label_sets where label_set = $label_set)",
    "near_documents": "from near_documents where collection ="
    " (select collection from label_sets where label_set = $label_set)",
    "documents": "select * replace (null as title, null as text) from documents where groups is not null"
    " and collection = (select collection from label_sets where label_set = $label_set)",
}
RUN_COPIES = {
    "runs": "from runs where run = $run",
    "run_stages": "from run_stages where run = $run",
    "run_queries": "select * replace (null as answer) from run_queries where run = $run",
    "run_config": "from run_config where run = $run",
    "answer_scores": "from answer_scores where run = $run",
    "rankings": "from rankings where run = $run",
    "ranking_lengths": "from ranking_lengths where run = $run",
}
RANK_COPIES = {"labelled_ranks": "from labelled_ranks where run = $run and label_set = $label_set"}


def _rank_file(con: duckdb.DuckDBPyConnection, run: str, file: Path, keep: int | None) -> None:
    """Rank a TREC run from its file: kept as when it was added, that must give what the store has."""
    from rankroom.readers import trec  # with NumPy, which to show a stored run takes long to import

    report = Report()
    ((ordered_by,),) = con.execute("select ordered_by from runs").fetchall()
    if ordered_by == "list":
        raise UsageError(f"run {run} did not come from a TREC file, which is what --from reads")
    # A run that was added with --collapse first has documents twice; any other would differ in its lengths.
    trec.read_run(con, file, "trec_run", report, order=ordered_by, collapse_first=True)
    if report.num_faults:
        raise Refused(report)
    con.execute(
        "create or replace temp view ranked_input as"
        " select 'final' as stage, query_id, doc_id, key, score from trec_run"
    )
    for table in ("rankings", "ranking_lengths"):
        con.execute(f"create or replace temp table stored_{table} as from {table}")
        con.execute(f"delete from {table}")
    scoring.count_results(con, run)
    scoring.keep_rankings(con, run, keep)
    for table in ("rankings", "ranking_lengths"):
        differing = con.execute(
            f"(from {table} except from stored_{table}) union all"
            f" (from stored_{table} except from {table}) limit 1"
        ).fetchall()
        if differing:
            report.fault(
                Fault(
                    str(file),
                    "other_file",
                    f"this is not the file that run {run} came from: its rankings differ",
                )
            )
            raise Refused(report)


def _replace(
    store: Store,
    con: duckdb.DuckDBPyConnection,
    pair: Rescored,
    signals: stored_signals.Prepared,
    later: Sequence[str],
    wait: float,
) -> None:
    """Put the scores of one run under one label set in the place of those that the store has."""
    with store.write(con, wait):
        ((there,),) = con.execute(
            "select count(*) from store.main.runs join memory.main.runs as mine using (run, content_hash)"
        ).fetchall()
        if not there:
            raise RunGone(f"run {pair.run} was removed from {store.path} meanwhile")
        if con.execute("from store.main.cutoffs anti join memory.main.cutoffs using (k)").fetchall():
            raise RankroomError(f"the cutoffs of {store.path} were changed meanwhile: rescore once more")
        of_pair = {"run": pair.run, "label_set": pair.label_set}
        for table in SCORE_TABLES:
            con.execute(
                f"delete from store.main.{table} where run = $run and label_set = $label_set", of_pair
            )
            con.execute(f"insert into store.main.{table} by name from memory.main.{table}")
        stored_signals.write(con, signals, [pair.run], later)


def _add_cutoffs(store: Store, further: Sequence[int], scored: Sequence[Rescored], wait: float) -> None:
    """Make cutoffs known, now that every run has its scores there."""
    with closing(duckdb.connect()) as con, store.write(con, wait):
        there = con.execute("select run, label_set from store.main.scorings").fetchall()
        if added := [run for run, label_set in there if Rescored(run, label_set) not in scored]:
            raise RankroomError(f"run {added[0]} was added to {store.path} meanwhile: rescore once more")
        con.execute(
            "insert into store.main.cutoffs select k from (select unnest($ks::integer[]) as k)"
            " where k not in (select k from store.main.cutoffs)",
            {"ks": list(further)},
        )
