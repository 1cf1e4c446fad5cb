"""One add: a workspace that a reader fills, settled with what the store has, scored, and written at once.

Readers fill the tables of the workspace and call `dataset`, then `run` for each run, then `finish`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import Literal, Self

import duckdb

from rankroom import empty_store, identity, scoring, suspects
from rankroom.errors import Refused, UsageError
from rankroom.faults import Fault, Report
from rankroom.known import Kind, Known, Part, RunState, changed_content, name_of, run_name_taken
from rankroom.names import versioned
from rankroom.readers.dataset_parts import Collection
from rankroom.readers.rankings import OrderedBy
from rankroom.resources import sql
from rankroom.signals import stored as stored_signals
from rankroom.store import WRITE_WAIT, Store
from rankroom.tables import RUN_TABLES, SCORE_TABLES, append, copy_rows
from rankroom.workspace import open_workspace

Progress = Callable[[str, int, int], None]
"""Told what is being done, and which of how many it is."""


ROWS_OF: dict[Kind, str] = {"query_set": "queries", "label_set": "labels", "collection": "documents"}
DOCUMENT_COPIES = {
    "collections": "from collections where collection = $key",
    "documents": "select collection, doc_id, groups from documents where collection = $key",
}
HASHES: dict[Kind, Callable[[duckdb.DuckDBPyConnection, str], str]] = {
    "query_set": identity.query_set_hash,
    "label_set": identity.label_set_hash,
    "collection": identity.collection_hash,
}


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

    order: OrderedBy = "score"
    collapse_first: bool = False
    keep: int | None = None
    dry_run: bool = False
    wait: float = WRITE_WAIT

    def kept_depth(self, num_rows: int) -> int | None:
        """How many results of each ranking of such a run are kept; None: all."""
        if self.keep is not None:
            return self.keep
        return scoring.KEPT_OF_LARGE if num_rows > scoring.WHOLE_UP_TO else None


@dataclass(frozen=True)
class DatasetFacts:
    """What a data set says of itself, and where: what a fault of its labels, or of its names, points at."""

    name: str
    revision: str
    label_revision: str
    collection: Collection
    relevant_from: int = 1
    reviewer: str | None = None
    labels_file: str = "labels"
    named_in: tuple[str, str, str] = ("queries", "labels", "documents")
    fields: tuple[str, str, str] = ("revision", "revision", "version")
    """The files and fields that name the revision of the query set, of the label set, and the version."""


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run beside its rows. `file` is what it is called in a fault."""

    run: str
    file: str
    num_rows: int
    ordered_by: Literal["list", "score", "rank"]
    source_file: str | None = None
    known_ranks: bool = False
    """Whether `ranked_input` has a column `rank`, so that nothing has to be ordered."""
    collection: Collection | None = None
    """What it searched, if that is not the data set's."""
    created: datetime | None = None
    baseline: str | None = None
    series: str | None = None
    tags: Sequence[str] = ()
    commit: str | None = None
    note: str | None = None


class Adding:
    """One add, from an empty workspace to the transaction."""

    def __init__(self, store: Store, options: Options, progress: Progress | None):
        self.store = store
        self.options = options
        self.progress = progress or (lambda doing, at, of: None)
        self.report = Report()
        if not store.exists() and not options.dry_run:
            empty_store.begin()
        self.con = open_workspace()
        self.doubts_kept = 0
        self.parts: dict[str, Part] = {}
        self.adopted: str | None = None
        """The collection whose documents are the store's."""
        self.only_scored_from = False
        """Whether the workspace lacks what of the data set is not scored, and so cannot be written."""
        self.runs: list[AddedRun] = []
        self.known = Known.of_store(store, self.con)
        self.con.execute("delete from cutoffs")
        self.con.execute("insert into cutoffs select unnest($ks::integer[])", {"ks": self.known.cutoffs})
        least, most = max(self.known.cutoffs), scoring.MOST_KEPT
        if options.keep is not None and not least <= options.keep <= most:
            raise UsageError(
                f"keep must be from {least}, the largest cutoff, to {most:,}, and is {options.keep:,}"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.con.close()

    def dataset(self, facts: DatasetFacts) -> None:
        """Settle a data set that has been read into `queries`, `labels` and `documents` under these names."""
        con, name = self.con, facts.name
        self._add_collection(facts.collection)
        query_place, label_place, collection_place = zip(facts.named_in, facts.fields, strict=True)
        self._adopt_documents(facts.collection)
        self._settle("collection", facts.collection.key, *collection_place)
        query_set = versioned(name, facts.revision)
        con.execute(
            "insert into query_sets select $key, $name, $revision,"
            " (select count(*) from queries where query_set = $key), '', now()",
            {"key": query_set, "name": name, "revision": facts.revision},
        )
        self._settle("query_set", query_set, *query_place)
        label_set = versioned(name, facts.label_revision)
        con.execute(
            "insert into label_sets select $key, $name, $revision, $query_set, $collection, $relevant_from,"
            " $reviewer, (select count(doc_id) from labels where label_set = $key), '', now()",
            {
                "key": label_set,
                "name": name,
                "revision": facts.label_revision,
                "query_set": self.parts["query_set"].key,
                "collection": self.parts["collection"].key,
                "relevant_from": facts.relevant_from,
                "reviewer": facts.reviewer,
            },
        )
        self._settle("label_set", label_set, *label_place)
        scoring.prepare_labels(con, self.parts["label_set"].key, self.known.cutoffs)
        self._check("labels", facts.labels_file)
        self._keep_doubts(self.parts["label_set"].key, "label_set")

    def stored_dataset(self, query_set: str, label_set: str, collection: str) -> None:
        """Go on with a data set that the store has, once the workspace holds what scoring reads of it."""
        keys: dict[Kind, str] = {"query_set": query_set, "label_set": label_set, "collection": collection}
        for kind, key in keys.items():
            hashed = self.known.parts[kind][key]
            self.parts[kind] = Part(kind, key, key, hashed, is_new=False, file=str(self.store.path), field="")
        self.only_scored_from = True

    def _add_collection(self, collection: Collection) -> None:
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

    def _adopt_documents(self, collection: Collection) -> None:
        """Where the data set names a collection without giving its documents, take those of the store.

        Only what scoring reads of them: they are there already, and are not written.
        """
        key = {"key": collection.key}
        given = self.con.execute("select 1 from documents where collection = $key limit 1", key).fetchall()
        if given or collection.key not in self.known.parts["collection"]:
            return
        self.con.execute("delete from collections where collection = $key", key)
        with self.store.read() as stored:
            copy_rows(stored, self.con, DOCUMENT_COPIES, key)
        self.adopted = collection.key

    def _settle(self, kind: Kind, declared: str, file: str, field: str) -> None:
        """Give a part the name under which the store has its content, and see that no other has its name."""
        there = self.known.parts[kind]
        adopted = kind == "collection" and declared == self.adopted
        hashed = there[declared] if adopted else HASHES[kind](self.con, declared)
        key = declared
        if declared not in there:
            same = (k for k, h in there.items() if h == hashed and name_of(k) == name_of(declared))
            key = next(same, declared)
        if key != declared:
            for table in (f"{kind}s", ROWS_OF[kind]):
                self.con.execute(
                    f"update {table} set {kind} = $key where {kind} = $declared",
                    {"key": key, "declared": declared},
                )
        self.con.execute(
            f"update {kind}s set content_hash = $hash where {kind} = $key", {"hash": hashed, "key": key}
        )
        if kind == "label_set" and key != declared:
            sentence = f"{declared} has the content of {key}, which the store has: that name stays"
            self.report.doubt(file, "same_content", 1, sentence)
        part = Part(kind, key, declared, hashed, key not in there, file, field)
        self.parts[kind] = part
        if there.get(key, hashed) != hashed:
            self.report.fault(changed_content(part))

    def run(self, facts: RunFacts) -> None:
        """Keep the rankings of a run that has been read into `ranked_input`, and score them.

        Its `ranking_lengths` (scoring.count_results), `run_queries`, `run_stages`, and what else is known of
        it, are in the workspace already.
        """
        con, run, label_set = self.con, facts.run, self.parts["label_set"].key
        own = self.parts["collection"]
        collection = own.key
        if facts.collection is not None and facts.collection.key != own.declared:
            collection = facts.collection.key
            self._add_collection(facts.collection)
        kept_depth = self.options.kept_depth(facts.num_rows)
        con.execute(
            "insert into runs values ($run, $query_set, $collection, $created, $baseline, $series, $tags,"
            " $commit, $note, $ordered_by, $num_rows, $kept_depth, $source_file, '', now())",
            {
                "run": run,
                "query_set": self.parts["query_set"].key,
                "collection": collection,
                "created": facts.created,
                "baseline": facts.baseline,
                "series": facts.series,
                "tags": list(facts.tags),
                "commit": facts.commit,
                "note": facts.note,
                "ordered_by": facts.ordered_by,
                "num_rows": facts.num_rows,
                "kept_depth": kept_depth,
                "source_file": facts.source_file,
            },
        )
        scoring.keep_rankings(con, run, kept_depth, known_ranks=facts.known_ranks)
        hashed = identity.run_hash(con, run)
        con.execute("update runs set content_hash = $hash where run = $run", {"hash": hashed, "run": run})
        state = self.known.state_of_run(run, hashed, label_set)
        if state is None:
            self.report.fault(self._name_taken(facts, kept_depth))
            return
        scoring.score_run(con, run, label_set, keep=kept_depth, depth=None, known_ranks=facts.known_ranks)
        self._check("run", facts.file)
        self._keep_doubts(run, "run")
        self.runs.append(AddedRun(run, facts.file, state, facts.num_rows, kept_depth))

    def _name_taken(self, facts: RunFacts, kept_depth: int | None) -> Fault:
        """What is wrong with a run whose name the store has: another, or another part of it is kept."""
        with self.store.read() as stored:
            there = stored.execute(
                "select kept_depth, num_rows from runs where run = $run", {"run": facts.run}
            ).fetchall()
        if not there or there[0][1] != facts.num_rows or there[0][0] == kept_depth:
            return run_name_taken(facts.file, facts.run)
        depth = there[0][0]
        kept = "every result" if depth is None else f"the first {depth:,} results of each ranking"
        again = "without --keep" if depth is None else f"with --keep {depth}"
        return Fault(
            facts.file,
            "run_kept_otherwise",
            f"the store has a run of this name with as many results, and keeps {kept} of it: {again} it shows"
            " whether this is the same; to keep another part of it, `rankroom remove` it and add it again",
            field="run",
            value=facts.run,
        )

    def _check_baselines(self) -> None:
        """A baseline may come later, but it may also be misspelt."""
        known = {*self.known.runs, *(run.run for run in self.runs)}
        for run, baseline in self.con.execute(
            "select run, baseline from runs where baseline is not null order by run"
        ).fetchall():
            if baseline not in known:
                file = next((one.file for one in self.runs if one.run == run), run)
                sentence = f"its baseline {baseline} is not in the store yet"
                self.report.doubt(file, "baseline_missing", 1, sentence)
                self._keep_doubts(run, "run")

    def _check(self, what: Literal["labels", "run"], file: str) -> None:
        for kind, num, sentence in self.con.execute(sql(f"checks/{what}.sql")).fetchall():
            self.report.doubt(file, kind, num, sentence)

    def _keep_doubts(self, subject: str, kind: str) -> None:
        """Put the doubts that came up since the last time beside their subject, for its readers."""
        doubts = self.report.doubts[self.doubts_kept :]
        self.doubts_kept = len(self.report.doubts)
        if doubts:
            self.con.executemany(
                "insert into doubts values (?, ?, ?, ?, ?, ?)",
                [(subject, kind, d.file, d.kind, d.count, d.sentence) for d in doubts],
            )

    def finish(self) -> Added:
        """Write what is new, all at once. Raises Refused if there was any fault, and then writes nothing."""
        self._check_baselines()
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
            self._write(added)
        return added

    def _write(self, added: Added) -> None:
        scored = [run.run for run in self.runs if run.state != "already there"]
        self.progress("comparing with the baselines", 0, 0)
        signals = stored_signals.prepare(
            self.store, self.con, added.label_set, scored, in_store=self._have_stored_partners(scored)
        )
        self.progress("looking at the labels", 0, 0)
        suspects.prepare(self.store, self.con, added.label_set, added.collection, added.new_parts, scored)
        self.progress("writing to the store", 0, 0)
        with self.store.write(self.con, self.options.wait) as con:
            known = Known.of_connection(con, "store.main.")
            self._recheck(known)
            # Others may have written since the store was looked at: what is told is what is done here.
            added.new_parts = [p.kind for p in self.parts.values() if p.key not in known.parts[p.kind]]
            for part in self.parts.values():
                if part.kind in added.new_parts:
                    for table in (f"{part.kind}s", ROWS_OF[part.kind]):
                        append(con, table, part.kind, [part.key])
                    append(con, "doubts", "subject", [part.key], subject_kind=part.kind)
            others = [
                key
                for (key,) in con.execute("select collection from memory.main.collections").fetchall()
                if key not in known.parts["collection"] and key != self.parts["collection"].key
            ]
            append(con, "collections", "collection", others)
            suspects.write_parts(con, added.label_set, added.collection, added.new_parts)
            states = [known.state_of_run(run.run, self._hash(run.run), added.label_set) for run in self.runs]
            added.runs = [
                replace(run, state=state) for run, state in zip(self.runs, states, strict=True) if state
            ]
            new = [run.run for run in added.runs if run.state == "added"]
            scored = [run.run for run in added.runs if run.state != "already there"]
            for table in RUN_TABLES:
                append(con, table, "run", new)
            append(con, "doubts", "subject", new, subject_kind="run")
            for table in SCORE_TABLES:
                append(con, table, "run", scored)
            stored_signals.write(con, signals, scored)
            added.not_rescored = [
                run
                for (run,) in con.execute(
                    "select run from store.main.runs_to_rescore order by run"
                ).fetchall()
            ]

    def _have_stored_partners(self, runs: Sequence[str]) -> bool:
        """Whether any of these runs declares one of the store as its baseline, or is declared by one."""
        declared = self.con.execute(
            "select baseline from runs where baseline is not null and list_contains($runs::varchar[], run)",
            {"runs": list(runs)},
        ).fetchall()
        baselines = {baseline for (baseline,) in declared}
        return bool(baselines & self.known.runs.keys() or self.known.baselines & {*runs})

    def _recheck(self, known: Known) -> None:
        """What the store got since it was looked at must not contradict what is about to be written."""
        report = Report()
        for part in self.parts.values():
            there = known.parts[part.kind].get(part.key)
            if there is None and self.only_scored_from:
                expected = f"it no longer has {part.key}: another file took its place meanwhile"
                report.fault(Fault(str(self.store.path), "part_gone", expected))
            elif there not in (None, part.content_hash):
                report.fault(changed_content(part))
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
