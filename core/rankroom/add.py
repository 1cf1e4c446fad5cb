"""Adding data sets and runs to a store: everything is read, checked and scored first, then one transaction.

Either all files of a call go in, or nothing does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

import duckdb

from rankroom import identity, scoring
from rankroom.errors import Refused, UsageError
from rankroom.faults import Fault, Report
from rankroom.known import Kind, Known, Part, RunState, changed_content, name_of, run_name_taken
from rankroom.names import run_name, versioned
from rankroom.readers import native, trec
from rankroom.resources import sql
from rankroom.store import WRITE_WAIT, Store
from rankroom.tables import RUN_TABLES, SCORE_TABLES, append
from rankroom.workspace import open_workspace

Progress = Callable[[str, int, int], None]
"""Told what is being done, and which of how many it is."""


@dataclass(frozen=True)
class AddedRun:
    """What became of one run file. `kept_depth`: only so many results a ranking were kept (None: all)."""

    run: str
    file: str
    state: RunState
    num_rows: int
    kept_depth: int | None


@dataclass
class Added:
    """What an add did, or with `dry_run` would do."""

    query_set: str
    label_set: str
    collection: str
    new_parts: list[str]
    runs: list[AddedRun] = field(default_factory=list)
    report: Report = field(default_factory=Report)
    dry_run: bool = False
    not_rescored: list[str] = field(default_factory=list)
    """Other runs that have no scores under the labels that are now current."""


@dataclass(frozen=True)
class Options:
    """How rankings are read and kept."""

    order: trec.OrderedBy = "score"
    collapse_first: bool = False
    keep: int | None = None
    dry_run: bool = False
    wait: float = WRITE_WAIT

    def kept_depth(self, num_rows: int) -> int | None:
        """How many results of each ranking of such a run are kept; None: all."""
        if self.keep is not None:
            return self.keep
        return scoring.KEPT_OF_LARGE if num_rows > scoring.WHOLE_UP_TO else None


def add_folder(
    store: Store, folder: str | Path, options: Options | None = None, progress: Progress | None = None
) -> Added:
    """Add a data set and its runs in the native form.

    Raises Refused, with all faults, and then stores nothing.
    """
    adding = _Adding(store, options or Options(), progress)
    with closing(adding.con):
        return adding.folder(Path(folder))


def add_trec(
    store: Store,
    runs: Sequence[str | Path],
    *,
    labels: str | Path,
    dataset: str,
    revision: str = "1",
    relevant_from: int = 1,
    name: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Added:
    """Add TREC runs with their qrels; `dataset` and `revision` name query set, label set and collection.

    The query set is the queries of the qrels. `name` names the run where there is only one file.
    Raises Refused, with all faults, and then stores nothing.
    """
    if relevant_from < 1:
        raise UsageError(f"--relevant-from must be at least 1, and is {relevant_from}")
    adding = _Adding(store, options or Options(), progress)
    with closing(adding.con):
        return adding.trec([Path(run) for run in runs], Path(labels), dataset, revision, relevant_from, name)


class _Adding:
    """One add, from an empty workspace to the transaction."""

    def __init__(self, store: Store, options: Options, progress: Progress | None):
        self.store = store
        self.options = options
        self.progress = progress or (lambda doing, at, of: None)
        self.report = Report()
        self.con = open_workspace()
        self.parts: dict[str, Part] = {}
        self.runs: list[AddedRun] = []
        self.known = Known.of_store(store)
        self.con.execute("delete from cutoffs")
        self.con.execute("insert into cutoffs select unnest($ks::integer[])", {"ks": self.known.cutoffs})
        self.con.execute(
            "create or replace temp table results"
            " (run varchar, stage varchar, query_id varchar, doc_id varchar, key double, score double)"
        )
        largest = max(self.known.cutoffs)
        if options.keep is not None and options.keep < largest:
            raise UsageError(f"--keep must be at least {largest}, the largest cutoff, and is {options.keep}")

    # The native form

    def folder(self, folder: Path) -> Added:
        self.progress("reading the data set", 0, 0)
        dataset = native.read_dataset(self.con, folder, self.report)
        if dataset is not None:
            self._dataset(
                name=dataset.name,
                revision=dataset.revision,
                label_revision=dataset.label_revision,
                collection=dataset.collection,
                relevant_from=dataset.relevant_from,
                reviewer=dataset.reviewer,
                files=(
                    str(folder / "queries.jsonl"),
                    str(folder / "labels.jsonl"),
                    str(folder / "dataset.toml"),
                ),
            )
        files = native.run_files(folder)
        for at, file in enumerate(files):
            self.progress(f"reading and scoring {run_name(file)}", at, len(files))
            start = len(self.report.doubts)
            run = native.read_run(
                self.con, folder, file, dataset, self.report, collapse_first=self.options.collapse_first
            )
            if run is None or dataset is None or self.report.num_faults:
                continue
            if run.collection.key == dataset.collection.key:
                collection = self.parts["collection"].key
            else:
                collection = run.collection.key
                self._collection(run.collection)
            self.con.execute(
                "create or replace temp view ranked_input as"
                " select stage, query_id, doc_id, key, score from results"
            )
            self._run(
                str(file),
                run.run,
                num_rows=run.num_rows,
                ordered_by="list",
                collection=collection,
                source_file=run.source_file,
                doubts_from=start,
                about=(run.created, run.baseline, run.series, list(run.tags), run.commit, run.note),
            )
            self.con.execute("delete from results")
        return self._finish()

    # TREC files

    def trec(
        self,
        runs: list[Path],
        labels: Path,
        dataset: str,
        revision: str,
        relevant_from: int,
        name: str | None,
    ) -> Added:
        names = self._trec_names(runs, name)
        self.progress("reading the labels", 0, 0)
        trec.read_qrels(self.con, labels, "qrels", self.report)
        if not self.report.num_faults:
            label_set = versioned(dataset, revision)
            self.con.execute(
                "insert into labels by name"
                " select $label_set as label_set, query_id, doc_id, grade, false as no_answer from qrels",
                {"label_set": label_set},
            )
            self.con.execute(
                "insert into queries by name select $query_set as query_set, query_id, false as must_pass"
                " from qrels group by query_id",
                {"query_set": versioned(dataset, revision)},
            )
            bare = self.known.bare_collection(dataset)
            self._dataset(
                name=dataset,
                revision=revision,
                label_revision=revision,
                collection=native.Collection(dataset, bare or revision),
                relevant_from=relevant_from,
                reviewer=None,
                files=(str(labels),) * 3,
            )
        for at, (run, file) in enumerate(zip(names, runs, strict=True)):
            self.progress(f"reading and scoring {run}", at, len(runs))
            start = len(self.report.doubts)
            read = trec.read_run(
                self.con,
                file,
                "trec_run",
                self.report,
                order=self.options.order,
                collapse_first=self.options.collapse_first,
            )
            if self.report.num_faults:
                continue
            self.con.execute(
                "create or replace temp view ranked_input as"
                " select 'final' as stage, query_id, doc_id, key, score from trec_run"
            )
            if not self._shares_queries(file, labels):
                continue
            self.con.execute("insert into run_stages values ($run, 'final', 1, null)", {"run": run})
            self.con.execute(
                "insert into run_queries by name select $run as run, query_id, 'ok' as status"
                " from ranked_input group by query_id",
                {"run": run},
            )
            self._run(
                str(file),
                run,
                num_rows=read.num_rows,
                ordered_by=read.ordered_by,
                collection=self.parts["collection"].key,
                source_file=file.name,
                doubts_from=start,
                about=(None, None, None, [], None, None),
            )
            self.con.execute("drop view ranked_input")
            self.con.execute("drop table trec_run")
        return self._finish()

    def _trec_names(self, runs: list[Path], name: str | None) -> list[str]:
        if name is not None and len(runs) != 1:
            raise UsageError(f"--name names one run, and {len(runs)} files are given")
        names = [name] if name is not None else [run_name(run) for run in runs]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise UsageError(
                f"two of the files would make a run named {twice[0]}: add them apart, with --name"
            )
        return names

    def _shares_queries(self, file: Path, labels: Path) -> bool:
        """Whether any query of the run has labels. If none has, the files do not belong together: a fault."""
        ((common, run_example, label_example),) = self.con.execute(
            """
            select exists (from ranked_input semi join labelled_queries using (query_id)),
                   (select min(query_id) from ranked_input),
                   (select min(query_id) from labelled_queries)
            """
        ).fetchall()
        if not common:
            self.report.fault(
                Fault(
                    str(file),
                    "no_common_queries",
                    f'no query of this run is in {labels}: ids look like "{run_example}" here and'
                    f' "{label_example}" there',
                )
            )
        return bool(common)

    # Both forms

    def _dataset(
        self,
        *,
        name: str,
        revision: str,
        label_revision: str,
        collection: native.Collection,
        relevant_from: int,
        reviewer: str | None,
        files: tuple[str, str, str],
    ) -> None:
        """Fill collections, query_sets and label_sets, by the names that the store has for the same content."""
        con = self.con
        queries_file, labels_file, collection_file = files
        self._collection(collection)
        self._settle("collection", collection.key, identity.collection_hash, collection_file, ("documents",))
        query_set = versioned(name, revision)
        con.execute(
            "insert into query_sets select $key, $name, $revision,"
            " (select count(*) from queries where query_set = $key), '', now()",
            {"key": query_set, "name": name, "revision": revision},
        )
        self._settle("query_set", query_set, identity.query_set_hash, queries_file, ("queries",))
        label_set = versioned(name, label_revision)
        con.execute(
            "insert into label_sets select $key, $name, $revision, $query_set, $collection, $relevant_from,"
            " $reviewer, (select count(doc_id) from labels where label_set = $key), '', now()",
            {
                "key": label_set,
                "name": name,
                "revision": label_revision,
                "query_set": self.parts["query_set"].key,
                "collection": self.parts["collection"].key,
                "relevant_from": relevant_from,
                "reviewer": reviewer,
            },
        )
        self._settle("label_set", label_set, identity.label_set_hash, labels_file, ("labels",))
        settled = self.parts["label_set"].key
        scoring.prepare_labels(con, settled, self.known.cutoffs)
        start = len(self.report.doubts)
        self._check("labels", labels_file)
        self._keep_doubts(start, settled, "label_set", from_the_first=True)

    def _collection(self, collection: native.Collection) -> None:
        self.con.execute(
            "insert into collections select $key, $name, $version, $unit, $id_scheme,"
            " (select count(*) from documents where collection = $key), '', now()"
            " where $key not in (select collection from collections)",
            {
                "key": collection.key,
                "name": collection.name,
                "version": collection.version,
                "unit": collection.unit,
                "id_scheme": collection.id_scheme,
            },
        )

    def _settle(
        self,
        kind: Kind,
        declared: str,
        content_hash: Callable[[duckdb.DuckDBPyConnection, str], str],
        file: str,
        tables: tuple[str, ...],
    ) -> None:
        """Give a part the name under which the store has its content, and see that no other has its name."""
        hashed = content_hash(self.con, declared)
        there = self.known.parts[kind]
        key = declared
        if declared not in there:
            key = next(
                (k for k, h in there.items() if h == hashed and name_of(k) == name_of(declared)), declared
            )
        elif there[declared] != hashed:
            self.report.fault(changed_content(kind, declared, file))
        for table in (f"{kind}s", *tables):
            self.con.execute(
                f"update {table} set {kind} = $key where {kind} = $declared",
                {"key": key, "declared": declared},
            )
        self.con.execute(
            f"update {kind}s set content_hash = $hash where {kind} = $key", {"hash": hashed, "key": key}
        )
        self.parts[kind] = Part(kind, key, declared, hashed, key not in there, file)

    def _run(
        self,
        file: str,
        run: str,
        *,
        num_rows: int,
        ordered_by: str,
        collection: str,
        source_file: str,
        doubts_from: int,
        about: tuple[datetime | None, str | None, str | None, list[str], str | None, str | None],
    ) -> None:
        """Keep the rankings of a run that has been read, see whether the store has it, and score it."""
        con, label_set = self.con, self.parts["label_set"].key
        kept_depth = self.options.kept_depth(num_rows)
        created, baseline, series, tags, commit, note = about
        con.execute(
            "insert into runs values ($run, $query_set, $collection, $created, $baseline, $series, $tags,"
            " $commit, $note, $ordered_by, $num_rows, $kept_depth, $source_file, '', now())",
            {
                "run": run,
                "query_set": self.parts["query_set"].key,
                "collection": collection,
                "created": created,
                "baseline": baseline,
                "series": series,
                "tags": tags,
                "commit": commit,
                "note": note,
                "ordered_by": ordered_by,
                "num_rows": num_rows,
                "kept_depth": kept_depth,
                "source_file": source_file,
            },
        )
        scoring.keep_rankings(con, run, kept_depth)
        hashed = identity.run_hash(con, run)
        con.execute("update runs set content_hash = $hash where run = $run", {"hash": hashed, "run": run})
        state = self.known.state_of_run(run, hashed, label_set)
        if state is None:
            self.report.fault(run_name_taken(file, run))
            return
        scoring.score_run(con, run, label_set, keep=kept_depth, depth=None)
        self._check("run", file)
        self._keep_doubts(doubts_from, run, "run")
        self.runs.append(AddedRun(run, file, state, num_rows, kept_depth))

    def _check(self, what: Literal["labels", "run"], file: str) -> None:
        for kind, num, sentence in self.con.execute(sql(f"checks/{what}.sql")).fetchall():
            self.report.doubt(file, kind, num, sentence)

    def _keep_doubts(self, start: int, subject: str, kind: str, *, from_the_first: bool = False) -> None:
        """Put the doubts that came up since `start` beside their subject, for readers of its numbers."""
        doubts = self.report.doubts[0 if from_the_first else start :]
        if doubts:
            self.con.executemany(
                "insert into doubts values (?, ?, ?, ?, ?, ?)",
                [(subject, kind, d.file, d.kind, d.count, d.sentence) for d in doubts],
            )

    def _finish(self) -> Added:
        if self.report.num_faults:
            raise Refused(self.report)
        parts = self.parts
        added = Added(
            query_set=parts["query_set"].key,
            label_set=parts["label_set"].key,
            collection=parts["collection"].key,
            new_parts=[part.kind for part in parts.values() if part.is_new],
            runs=self.runs,
            report=self.report,
            dry_run=self.options.dry_run,
        )
        if not self.options.dry_run and (
            added.new_parts or any(run.state != "already there" for run in self.runs)
        ):
            self.progress("writing to the store", 0, 0)
            self._write(added)
        return added

    def _write(self, added: Added) -> None:
        with self.store.write(self.con, self.options.wait) as con:
            known = Known.of_connection(con, "store.main.")
            self._recheck(known)
            for part in self.parts.values():
                if part.key not in known.parts[part.kind]:
                    tables = {"query_set": "queries", "label_set": "labels", "collection": "documents"}
                    for table in (f"{part.kind}s", tables[part.kind]):
                        append(con, table, part.kind, [part.key])
                    append(con, "doubts", "subject", [part.key], subject_kind=part.kind)
            others = [
                key
                for (key,) in con.execute("select collection from memory.main.collections").fetchall()
                if key not in known.parts["collection"] and key != self.parts["collection"].key
            ]
            append(con, "collections", "collection", others)
            states = {
                run.run: known.state_of_run(run.run, self._hash(run.run), added.label_set)
                for run in self.runs
            }
            new = [run for run, state in states.items() if state == "added"]
            scored = [run for run, state in states.items() if state != "already there"]
            for table in RUN_TABLES:
                append(con, table, "run", new)
            append(con, "doubts", "subject", new, subject_kind="run")
            for table in SCORE_TABLES:
                append(con, table, "run", scored)
            added.not_rescored = [
                run
                for (run,) in con.execute(
                    "select run from store.main.runs_to_rescore order by run"
                ).fetchall()
            ]

    def _recheck(self, known: Known) -> None:
        """What the store got since it was looked at must not contradict what is about to be written."""
        report = Report()
        for part in self.parts.values():
            if known.parts[part.kind].get(part.key, part.content_hash) != part.content_hash:
                report.fault(changed_content(part.kind, part.key, part.file))
        for run in self.runs:
            if known.state_of_run(run.run, self._hash(run.run), self.parts["label_set"].key) is None:
                report.fault(run_name_taken(run.file, run.run))
        if known.cutoffs != self.known.cutoffs:
            report.fault(
                Fault(
                    str(self.store.path),
                    "cutoffs_changed",
                    "its cutoffs were changed meanwhile: add once more",
                )
            )
        if report.num_faults:
            raise Refused(report)

    def _hash(self, run: str) -> str:
        return str(
            self.con.execute(
                "select content_hash from memory.main.runs where run = $run", {"run": run}
            ).fetchall()[0][0]
        )
