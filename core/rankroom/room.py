"""A room: a store as Python code uses it. Data sets and runs go in, and tables of results come out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import duckdb
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from rankroom import scoring
from rankroom.adding import Added, Adding, DatasetFacts, Options, RunFacts
from rankroom.errors import RankroomError, Refused, UsageError
from rankroom.faults import Fault, Report, clip
from rankroom.names import versioned
from rankroom.readers import frames, run_frames
from rankroom.readers.arguments import in_python, plain_config
from rankroom.readers.dataset_parts import Collection
from rankroom.readers.forms import CollectionForm, DatasetForm, RunForm, settings
from rankroom.remove import remove_runs
from rankroom.rescore import rescore
from rankroom.resources import sql as sql_text
from rankroom.store import WRITE_WAIT, Store
from rankroom.stored_dataset import StoredDataset, copy_from_store, find_dataset, take_dataset

if TYPE_CHECKING:
    from rankroom.comparison import Comparison
    from rankroom.evaluating import Retriever
    from rankroom.signals.finding import Finding

DEFAULT_STORE = "rankroom.duckdb"
FormType = TypeVar("FormType", bound=BaseModel)


class RankroomWarning(UserWarning):
    """Something was accepted with a doubt: what a reader of the numbers should know."""


def open(path: str | Path | None = None) -> Room:
    """A room in this file, which is made at the first add. Default: $RANKROOM_STORE, else rankroom.duckdb."""
    return Room(path or os.environ.get("RANKROOM_STORE") or DEFAULT_STORE)


class Room:
    """A store by the path of its file. It holds no connection: each call has the file for moments.

    What is wrong with an argument raises an error (a RankroomError), and then nothing was stored. What is
    accepted with a doubt is a RankroomWarning, and stands in the `report` of what an add returns.
    """

    def __init__(self, path: str | Path):
        self.store = Store(path)

    def __repr__(self) -> str:
        return f"rankroom.open({str(self.store.path)!r})"

    @property
    def path(self) -> Path:
        """The file."""
        return self.store.path

    # Putting in

    def add_dataset(
        self,
        name: str,
        *,
        labels: Any,
        queries: Any = None,
        documents: Any = None,
        revision: str | int = "1",
        label_revision: str | int | None = None,
        relevant_from: int = 1,
        reviewer: str | None = None,
        collection: str | Mapping[str, Any] | None = None,
        dry_run: bool = False,
        wait: float = WRITE_WAIT,
    ) -> Added:
        """Add a data set: queries, labels and, if they are at hand, documents.

        Each is a dict, or a data frame (pandas, polars, Arrow) or list of dicts with the fields of the native
        folder's files. `queries`: {id: text}; None is those that the store has under this name and revision,
        else the queries of the labels. `labels`: {query: {document: grade}}, {query: [documents]} or
        {query: None}, which says that nothing answers it. `documents`: {id: text}; None is those that the
        store has of the collection. `label_revision` is the revision of the labels, by default that of the
        queries. `collection` names what was searched: a name, NAME@VERSION, or a dict with name, version,
        unit and id_scheme. With `dry_run` all is checked and nothing is stored.

        Raises Refused, with every fault, and then stores nothing.
        """
        form = _form(
            DatasetForm,
            name=name,
            revision=revision,
            collection=_collection_keys(collection),
            labels={"revision": label_revision, "relevant_from": relevant_from, "reviewer": reviewer},
        )
        with _adding(self.store, Options(dry_run=dry_run, wait=wait)) as adding:
            facts = _dataset_facts(form, self.store, documents is None)
            if _read_dataset(adding, facts, queries, labels, documents):
                adding.dataset(facts)
            return _finished(adding)

    def add_run(
        self,
        name: str,
        results: Any,
        *,
        dataset: str | None = None,
        facts: Any = None,
        config: Mapping[str, Any] | None = None,
        created: datetime | date | str | None = None,
        baseline: str | None = None,
        series: str | None = None,
        tags: Iterable[str] = (),
        commit: str | None = None,
        note: str | None = None,
        stages: Sequence[str | Mapping[str, Any]] = (),
        collection: str | Mapping[str, Any] | None = None,
        order: Literal["score", "rank"] = "score",
        collapse: Literal["first"] | None = None,
        keep: int | None = None,
        dry_run: bool = False,
        wait: float = WRITE_WAIT,
    ) -> Added:
        """Add a run: what one configuration returned for the queries of a data set.

        `results`: {query: [documents]} or {query: [(document, score)]}, in their order; {query: {document:
        score}}, by score; or a data frame (pandas, polars, Arrow) or list of dicts with query_id, doc_id and
        score (by score) or rank, and perhaps stage. `dataset` is NAME (its current labels) or NAME@REVISION,
        and may be left out where the store has only one. `facts` says more of each query (status, latency_ms,
        context_tokens, abstained, error, answer, answer_scores): {query: {...}} or a frame.

        `config` holds the settings, nested or with dotted names. `stages` are the steps of the pipeline in
        their order: names, or dicts with name, position and cut. `order="rank"` takes a frame's column rank
        although it has scores; `collapse="first"` keeps the first of a document that a ranking has twice;
        `keep` is how many results of each ranking are kept, as `--keep` of the command.

        Raises Refused, with every fault, and then stores nothing.
        """
        options = _options(order, collapse, keep, dry_run, wait)
        stored = find_dataset(self.store, dataset)
        form, report = run_form(
            name,
            stored.collection,
            config=config,
            created=created,
            baseline=baseline,
            series=series,
            tags=tags,
            commit=commit,
            note=note,
            stages=stages,
            collection=collection,
        )
        with _adding(self.store, options) as adding:
            adding.report.doubts += report.doubts
            take_dataset(adding, stored)
            _read_run(adding, name, form, stored, results, facts)
            return _finished(adding)

    def evaluate(
        self, retriever: Retriever, name: str, *, dataset: str | None = None, **options: Any
    ) -> Added:
        """Call a retriever for every query and add what it returns as a run: see `rankroom.evaluate`."""
        from rankroom.evaluating import evaluate

        return evaluate(retriever, dataset, room=self, name=name, **options)

    def rescore(self, *runs: str, k: int | Iterable[int] = (), wait: float = WRITE_WAIT) -> list[str]:
        """Score runs (none named: all) under the current labels; `k` adds cutoffs. Returns those scored."""
        cutoffs = [k] if isinstance(k, int) else list(k)
        return sorted({one.run for one in rescore(self.store, runs, cutoffs=cutoffs, wait=wait)})

    def remove(self, *runs: str, wait: float = WRITE_WAIT) -> None:
        """Remove runs and all that was computed of them: all of them or, if one is not there, none."""
        remove_runs(self.store, runs, wait)

    # Getting out: Arrow tables, of which `.to_pandas()` and polars' `from_arrow` make frames

    def datasets(self) -> pa.Table:
        """The label sets, the newest first, with what they are labels of."""
        return self.sql(
            """
            select query_sets.name as dataset, label_sets.label_set, label_sets.query_set,
                   label_sets.collection, query_sets.num_queries, label_sets.num_labels,
                   label_sets.relevant_from,
                   current_label_sets.label_set is not null as is_current, label_sets.added_at
            from label_sets
            join query_sets on query_sets.query_set = label_sets.query_set
            left join current_label_sets on current_label_sets.label_set = label_sets.label_set
            order by label_sets.added_at desc, label_sets.label_set
            """
        )

    def runs(self) -> pa.Table:
        """The runs, the newest first, with NDCG at 5."""
        return self.sql(sql_text("reports/list.sql"))

    def summary(self, k: int = 5, *, split: str = "all") -> pa.Table:
        """The means of every run at k under the current labels, the highest NDCG first."""
        self._check(k, split=split)
        return self.sql(
            "from run_summary where k = $k and split = $split order by ndcg desc nulls last, run",
            {"k": k, "split": split},
        )

    def scores(self, run: str, k: int = 5) -> pa.Table:
        """Every metric of every labelled query of a run at k, under the current labels."""
        self._check(k, run)
        return self.sql(
            "select query_scores.*, query_scores_uncut.first_relevant_rank, query_scores_uncut.num_returned"
            " from query_scores join query_scores_uncut using (run, label_set, query_id)"
            " where run = $run and k = $k order by query_id",
            {"run": run, "k": k},
        )

    def failures(self, run: str, k: int = 5) -> pa.Table:
        """The failing queries of a run at k, each with its class and the fact that shows it."""
        self._check(k, run)
        return self.sql(
            "from failures where run = $run and k = $k order by class, query_id", {"run": run, "k": k}
        )

    def compare(
        self,
        baseline: str,
        candidate: str,
        k: int = 5,
        *,
        by: str | Sequence[str] = (),
        split: str = "all",
        label_set: str | None = None,
        stage: str = "final",
        common: bool = False,
        thresholds: str | Path | None = None,
    ) -> Comparison:
        """A run compared with a baseline at k: `.sentence` says it in words, `.metrics` in numbers.

        `by` slices by up to three of category, language, must_pass, tag or an attribute. Runs not alike
        have `.reasons` and no metrics; `common=True` compares what they share. `thresholds` is a TOML file.
        """
        from rankroom.stored_comparison import compare_stored
        from rankroom.thresholds import read_thresholds

        return compare_stored(
            self.store,
            baseline,
            candidate,
            k=k,
            by=[by] if isinstance(by, str) else by,
            split=split,
            label_set=label_set,
            stage=stage,
            common=common,
            thresholds=read_thresholds(thresholds),
        )

    def signals(
        self,
        baseline: str,
        candidate: str,
        k: int = 5,
        *,
        split: str = "all",
        held_out: bool = False,
    ) -> list[Finding]:
        """Where the signals of two runs disagree at k: what fired first, then what is possible.

        Each has `id`, `status`, `sentence`, `numbers`, `queries` (the ids of those that cause it) and
        `look_next`. `held_out` also holds the split dev against the others. Runs that cannot be compared
        raise a UsageError.
        """
        from rankroom.signals.search import read_signals

        with self.store.read() as con:
            found = read_signals(con, baseline, candidate, k, split=split, held_out=held_out)
        if not found.comparable:
            raise UsageError(
                f"{baseline} and {candidate} cannot be compared: "
                + "; ".join(reason.sentence for reason in found.reasons)
            )
        return found.findings

    def sql(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None) -> pa.Table:
        """One statement on the public views; `$name` in it takes parameters["name"], ? the next of a list."""
        with self.store.read() as con, ThreadPoolExecutor(1) as aside:
            # Aside, since DuckDB can keep the thread that it works in from hearing of Ctrl-C.
            answer = aside.submit(_ask, con, statement, parameters)
            try:
                return answer.result()
            except KeyboardInterrupt:
                con.interrupt()
                raise

    def _check(self, k: int, *runs: str, split: str = "all") -> None:
        """See that there are scores at k, of these runs and this split: an empty table would say nothing."""
        [there] = self.sql(
            """
            select (select list(k order by k) from cutoffs) as cutoffs,
                   (select list(distinct split order by split) from queries where split is not null)
                   as splits,
                   (select list(run order by added_at desc, run) from runs) as runs,
                   (select list(distinct run) from run_summary where list_contains($runs::varchar[], run))
                   as scored
            """,
            {"runs": list(runs)},
        ).to_pylist()
        if k not in there["cutoffs"]:
            raise UsageError(
                f"there are no scores at k = {k}: there are at {', '.join(map(str, there['cutoffs']))};"
                " room.rescore(k=...) adds a cutoff"
            )
        if split not in ("all", *(splits := there["splits"] or [])):
            raise UsageError(
                f"no query has the split {split}: the splits are {', '.join(splits) or 'not given'}"
            )
        known = there["runs"] or []
        for run in runs:
            if run not in known:
                some = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
                raise UsageError(
                    f"there is no run named {run} in {self.path}: the runs are {some or 'none yet'}"
                )
            if run not in (there["scored"] or []):
                raise UsageError(
                    f"run {run} has no scores under the current labels: room.rescore() gives it some"
                )


def _ask(
    con: duckdb.DuckDBPyConnection, statement: str, parameters: Mapping[str, Any] | Sequence[Any] | None
) -> pa.Table:
    try:
        statements = con.extract_statements(statement)
        if len(statements) != 1:
            raise UsageError(f"expected one SQL statement, and got {len(statements) or 'none'}")
        relation = con.sql(statement, params=parameters)
        return pa.table({}) if relation is None else relation.to_arrow_table()
    except duckdb.Error as error:
        if "read-only mode" in str(error):
            sentence = "the store is open for reading only: add_run, rescore and remove change it"
            raise RankroomError(sentence) from error
        raise RankroomError("\n".join(clip(line, 300) for line in str(error).splitlines())) from error


# Data sets


def _read_dataset(adding: Adding, facts: DatasetFacts, queries: Any, labels: Any, documents: Any) -> bool:
    """Fill `queries`, `labels` and `documents`; False where anything is wrong, as the report then says."""
    con, report = adding.con, adding.report
    query_set, collection = versioned(facts.name, facts.revision), facts.collection.key
    frames.begin_dataset(con)
    there = queries is None and query_set in adding.known.parts["query_set"]
    if there:
        _fill_from_store(adding, "native_queries", "queries", "query_set", query_set)
    good = there or queries is None or frames.read_queries(con, queries, report)
    check = good and (there or queries is not None)
    good &= frames.read_labels(con, labels, facts.relevant_from, report, check_queries=check)
    if documents is not None:
        good &= frames.read_documents(con, documents, report)
    if not good:
        return False
    if queries is None and not there:
        frames.queries_of_labels(con)
    frames.insert_dataset(
        con,
        query_set=query_set,
        label_set=versioned(facts.name, facts.label_revision),
        collection=collection,
        report=report,
    )
    return True


def _fill_from_store(adding: Adding, table: str, stored: str, column: str, key: str) -> None:
    copy_from_store(
        adding.store,
        adding.con,
        table,
        f"select row_number() over () - 1 as line_no, * exclude ({column})"
        f" from {stored} where {column} = $key",
        {"key": key},
    )


def _dataset_facts(form: DatasetForm, store: Store, as_stored: bool) -> DatasetFacts:
    """What a data set says of itself; of a collection whose documents are not given, what the store has."""
    declared = form.collection
    collection = Collection(
        declared.name or form.name, declared.version or "1", declared.unit, declared.id_scheme
    )
    if as_stored and store.exists():
        with store.read() as con:
            found = con.execute(
                "select version, unit, id_scheme from collections"
                " where name = $name and version = coalesce($version, version)"
                " order by added_at desc limit 1",
                {"name": collection.name, "version": declared.version},
            ).fetchall()
        if found:
            version, unit, id_scheme = found[0]
            collection = Collection(
                collection.name, version, declared.unit or unit, declared.id_scheme or id_scheme
            )
    return DatasetFacts(
        name=form.name,
        revision=form.revision,
        label_revision=form.labels.revision or form.revision,
        collection=collection,
        relevant_from=form.labels.relevant_from,
        reviewer=form.labels.reviewer,
    )


# Runs


def run_form(
    name: str,
    own: Collection,
    *,
    config: Mapping[str, Any] | None = None,
    tags: Iterable[str] = (),
    stages: Sequence[str | Mapping[str, Any]] = (),
    collection: str | Mapping[str, Any] | None = None,
    **about: Any,
) -> tuple[RunForm, Report]:
    """What a run says of itself, and what is odd in it. `own` is the data set's collection."""
    form = _form(
        RunForm,
        tags=[tags] if isinstance(tags, str) else list(tags),
        stages=[_stage(stage, at) for at, stage in enumerate(stages, start=1)],
        collection=_collection_keys(collection),
        config=plain_config(config or {}),
        **about,
    )
    report = _run_faults(name, form, own)
    if report.num_faults:
        raise Refused(report)
    return form, report


def _read_run(
    adding: Adding, name: str, form: RunForm, stored: StoredDataset, results: Any, facts: Any
) -> None:
    """Read a run, and keep and score it where nothing is wrong."""
    con, report = adding.con, adding.report
    # A data set that came from labels alone has their queries only: others of a run are kept and counted.
    known = None if stored.is_bare else stored.query_set
    read = run_frames.read_results(
        con,
        results,
        report,
        query_set=known,
        stages=form.stages,
        by_rank=adding.options.order == "rank",
        collapse_first=adding.options.collapse_first,
    )
    if read is None or (facts is not None and not run_frames.read_facts(con, facts, report, query_set=known)):
        return
    scoring.count_results(con, name)
    run_frames.insert_run(con, name, read.stages, list(settings(form.config)))
    if stored.is_bare and not _shares_queries(adding, name, stored.label_set):
        return
    collection = _run_collection(form.collection, stored.collection)
    _doubt_documents(adding, collection, stored.collection)
    created = form.created
    if created is not None:
        created = created.replace(tzinfo=UTC) if created.tzinfo is None else created.astimezone(UTC)
    adding.run(
        RunFacts(
            run=name,
            file="results",
            num_rows=read.num_rows,
            ordered_by=read.ordered_by,
            collection=collection,
            created=created,
            baseline=form.baseline,
            series=form.series,
            tags=form.tags,
            commit=form.commit,
            note=form.note,
        )
    )


def _shares_queries(adding: Adding, run: str, label_set: str) -> bool:
    """Whether any query of the run has labels. If none has, the two do not belong together: a fault."""
    [(common, run_example, label_example)] = adding.con.execute(
        """
        with own as (from run_queries where run = $run)
        select exists (from own semi join labelled_queries using (query_id)),
               (select min(query_id) from own), (select min(query_id) from labelled_queries)
        """,
        {"run": run},
    ).fetchall()
    if not common:
        expected = (
            f'no query of this run is in {label_set}: ids look like "{run_example}" here and'
            f' "{label_example}" there'
        )
        adding.report.fault(Fault("results", "no_common_queries", expected))
    return bool(common)


def _doubt_documents(adding: Adding, collection: Collection, own: Collection) -> None:
    if collection.key != own.key:
        sentence = f"this run searched {collection.key}; the labels are for {own.key}"
        adding.report.doubt("results", "other_collection", 1, sentence)
        return
    [(missing,)] = adding.con.execute(sql_text("readers/frames_missing_documents.sql")).fetchall()
    results = "1 result names a document" if missing == 1 else f"{missing:,} results name documents"
    sentence = f"{results} not among the documents of {own.key}"
    adding.report.doubt("results", "result_document_missing", missing, sentence)


def _run_faults(name: Any, form: RunForm, own: Collection) -> Report:
    """What is wrong between the arguments of a run, and what is odd in them."""
    report = Report()
    if not isinstance(name, str) or not name or name != name.strip() or not name.isprintable():
        expected = "expected a text that is not empty, without line breaks or spaces around it"
        report.fault(Fault("name", "wrong_value", expected, value=str(name)))
    if form.baseline == name:
        report.fault(Fault("baseline", "baseline_is_itself", "expected the name of another run", value=name))
    for what, names in (
        ("stage", [stage.name for stage in form.stages]),
        ("setting", [key for key, _ in settings(form.config)]),
    ):
        for twice in sorted({one for one in names if names.count(one) > 1}):
            where = "stages" if what == "stage" else "config"
            report.fault(Fault(where, f"repeated_{what}", f"this {what} is given twice", value=twice))
    declared = _run_collection(form.collection, own)
    if declared.key == own.key and declared != own:
        expected = (
            f"expected unit {own.unit!r} and id_scheme {own.id_scheme!r}, as the data set gives them for"
            f" {own.key}, or another name or version"
        )
        report.fault(Fault("collection", "collection_differs", expected))
    if form.created and form.created.tzinfo is None:
        sentence = f"{form.created.isoformat()} has no time zone; taken as UTC"
        report.doubt("created", "created_without_zone", 1, sentence)
    return report


def _run_collection(declared: CollectionForm, own: Collection) -> Collection:
    """The collection that a run searched; what it leaves out is as in the data set's."""
    name = declared.name or own.name
    same = name == own.name
    return Collection(
        name,
        declared.version or (own.version if same else "1"),
        declared.unit or (own.unit if same else None),
        declared.id_scheme or (own.id_scheme if same else None),
    )


def _stage(stage: str | Mapping[str, Any], position: int) -> dict[str, Any]:
    return {"position": position, **({"name": stage} if isinstance(stage, str) else stage)}


def _options(order: str, collapse: str | None, keep: int | None, dry_run: bool, wait: float) -> Options:
    if order not in ("score", "rank"):
        raise UsageError(f'order is "score" or "rank", and not {order!r}')
    if collapse not in (None, "first"):
        raise UsageError(f'collapse is "first" or None, and not {collapse!r}')
    return Options(
        order="rank" if order == "rank" else "score",
        collapse_first=collapse == "first",
        keep=keep,
        dry_run=dry_run,
        wait=wait,
    )


# Both


def _adding(store: Store, options: Options) -> Adding:
    try:
        return Adding(store, options, None)
    except UsageError as error:
        raise UsageError(in_python(str(error))) from None


def _finished(adding: Adding) -> Added:
    """The end of an add: what is wrong raised, or what is odd warned of, both in the words of Python."""
    try:
        added = adding.finish()
    except Refused as refused:
        said = refused.report
        faults = [
            Fault(one.file, one.kind, in_python(one.expected), one.line, one.field, one.value)
            if type(one) is Fault
            else one
            for one in said.faults
        ]
        raise Refused(Report(faults, said.num_faults, said.doubts)) from None
    for doubt in added.report.doubts:
        warnings.warn(str(doubt), RankroomWarning, stacklevel=3)
    return added


def _collection_keys(collection: str | Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(collection, str):
        name, at, version = collection.rpartition("@")
        return {"name": name, "version": version} if at else {"name": collection}
    return dict(collection or {})


def _form(form: type[FormType], **arguments: Any) -> FormType:
    """The arguments as the form that the same keys of a TOML file fill; raises Refused."""
    given = {key: value for key, value in arguments.items() if value is not None}
    if isinstance(labels := given.get("labels"), dict):
        given["labels"] = {key: value for key, value in labels.items() if value is not None}
    try:
        return form.model_validate(given)
    except ValidationError as error:
        report = Report()
        for wrong in error.errors(include_url=False):
            path = ".".join(str(part) for part in wrong["loc"] if part != "labels")
            path = "label_revision" if wrong["loc"] == ("labels", "revision") else path
            value = wrong["input"]
            expected = wrong["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
            if wrong["type"] == "extra_forbidden":
                expected = "this key is not known here"
            report.fault(Fault(path, "wrong_value", expected, value=str(value)))
        raise Refused(report) from None
