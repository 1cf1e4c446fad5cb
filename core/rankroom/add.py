"""Adding files to a store: a folder in the native form, or TREC runs with their qrels. All go in, or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rankroom import scoring
from rankroom.adding import Added, Adding, DatasetFacts, Options, Progress, RunFacts
from rankroom.errors import UsageError
from rankroom.faults import Fault, clip
from rankroom.names import NAME_EXPECTED, UTF8_EXPECTED, is_name, is_utf8, run_name, versioned
from rankroom.readers import trec
from rankroom.readers.clean_run import Needed
from rankroom.readers.dataset_parts import Collection, LabelsFile
from rankroom.readers.rankings import pair_hashes
from rankroom.store import Store

__all__ = ["Added", "LabelsFile", "Options", "Progress", "add_folder", "add_trec"]


def add_folder(
    store: Store,
    folder: str | Path,
    options: Options | None = None,
    progress: Progress | None = None,
    labels: LabelsFile | None = None,
) -> Added:
    """Add a data set and its runs in the native form.

    `labels` are taken in the place of the folder's own: an earlier revision that lies beside them, say.
    Raises Refused, with all faults, and then stores nothing.
    """
    from rankroom.readers import native  # with pydantic, which files of other tools do without

    folder = Path(folder)
    labels_file = labels.path if labels else folder / "labels.jsonl"
    _check_paths(folder, labels_file)
    if labels and not is_name(labels.revision):
        raise UsageError(f"--revision: {NAME_EXPECTED}, and not {labels.revision!r}")
    with Adding(store, options or Options(), progress) as adding:
        con, report = adding.con, adding.report
        adding.progress("reading the data set", 0, 0)
        dataset = native.read_dataset(con, folder, report, labels)
        if dataset is not None:
            about = str(folder / "dataset.toml")
            adding.dataset(
                DatasetFacts(
                    name=dataset.name,
                    revision=dataset.revision,
                    label_revision=dataset.label_revision,
                    collection=dataset.collection,
                    relevant_from=dataset.relevant_from,
                    reviewer=dataset.reviewer,
                    labels_file=str(labels_file),
                    named_in=(about, str(labels_file) if labels else about, about),
                    fields=(
                        "revision",
                        "--revision" if labels else "labels.revision",
                        "collection.version",
                    ),
                )
            )
        con.execute(
            "create temp table results"
            " (run varchar, stage varchar, query_id varchar, doc_id varchar, key double, score double)"
        )
        con.execute(
            "create temp view ranked_input as select stage, query_id, doc_id, key, score from results"
        )
        files = native.run_files(folder)
        for at, file in enumerate(files):
            adding.progress(f"reading and scoring {run_name(file)}", at, len(files))
            collapse = adding.options.collapse_first
            run = native.read_run(con, folder, file, dataset, report, collapse_first=collapse)
            if run is not None and adding.parts:
                scoring.count_results(con, run.run)
                adding.run(
                    RunFacts(
                        run=run.run,
                        file=str(file),
                        num_rows=run.num_rows,
                        ordered_by="list",
                        source_file=run.source_file,
                        collection=run.collection,
                        created=run.created,
                        baseline=run.baseline,
                        series=run.series,
                        tags=run.tags,
                        commit=run.commit,
                        note=run.note,
                    )
                )
            con.execute("delete from results")
        return adding.finish()


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
    if relevant_from > trec.LIMIT:
        raise UsageError(
            f"--relevant-from must be at most {trec.LIMIT}, the highest grade, and is {relevant_from}"
        )
    for option, given in (("--dataset", dataset), ("--revision", revision)):
        if not is_name(given):
            raise UsageError(f"{option}: {NAME_EXPECTED}, and not {given!r}")
    files = [Path(run) for run in runs]
    names = _names(files, name)
    _check_paths(*files, labels)
    with Adding(store, options or Options(), progress) as adding:
        adding.progress("reading the labels", 0, 0)
        trec.read_qrels(adding.con, labels, "qrels", adding.report)
        if not adding.report.num_faults:
            _settle_dataset(adding, str(labels), dataset, revision, relevant_from)
        for at, (run, file) in enumerate(zip(names, files, strict=True)):
            adding.progress(f"reading and scoring {run}", at, len(files))
            _add_run(adding, run, file, str(labels))
        return adding.finish()


def _check_paths(*paths: str | Path) -> None:
    """A file's name goes into the store, whose texts are UTF-8."""
    for path in paths:
        if not is_utf8(path):
            raise UsageError(f"{path}: {UTF8_EXPECTED}")


def _names(files: list[Path], name: str | None) -> list[str]:
    if name == "":
        raise UsageError("--name: a run needs a name that is not empty")
    if name is not None and len(files) != 1:
        raise UsageError(f"--name names one run, and {len(files)} files are given")
    names = [name] if name is not None else [run_name(file) for file in files]
    if twice := sorted({one for one in names if names.count(one) > 1}):
        raise UsageError(f"two of the files would make a run named {twice[0]}: add them apart, with --name")
    return names


def _settle_dataset(adding: Adding, labels: str, dataset: str, revision: str, relevant_from: int) -> None:
    key = versioned(dataset, revision)
    adding.con.execute(
        "insert into labels by name"
        " select $key as label_set, query_id, doc_id, grade, false as no_answer from qrels",
        {"key": key},
    )
    adding.con.execute(
        "insert into queries by name"
        " select $key as query_set, query_id, false as must_pass from qrels group by query_id",
        {"key": key},
    )
    # TREC files say nothing of the documents: one collection of the name serves every revision of the labels.
    version = adding.known.bare_collection(dataset, key) or revision
    adding.dataset(
        DatasetFacts(
            name=dataset,
            revision=revision,
            label_revision=revision,
            collection=Collection(dataset, version),
            relevant_from=relevant_from,
            labels_file=labels,
            named_in=(labels,) * 3,
            fields=("--revision", "--revision", "--revision"),
        )
    )


def _add_run(adding: Adding, run: str, file: Path, labels: str) -> None:
    con, report, options = adding.con, adding.report, adding.options
    before = report.num_faults
    read = trec.read_run(
        con,
        file,
        "trec_run",
        report,
        order=options.order,
        collapse_first=options.collapse_first,
        needed=Needed(options.kept_depth, pair_hashes(con, "qrels")),
    )
    if report.num_faults > before or not adding.parts:
        return
    con.execute(
        "create or replace temp view ranked_input as select 'final' as stage, query_id, doc_id, key, score"
        f"{', rank, pair' if read.ranked else ''} from trec_run"
    )
    if read.ranked:
        con.execute(
            "insert into ranking_lengths select $run, 'final', query_id, num_returned from trec_run_rankings",
            {"run": run},
        )
    else:
        scoring.count_results(con, run)
    con.execute("insert into run_stages values ($run, 'final', 1, null)", {"run": run})
    con.execute(
        "insert into run_queries by name"
        " select run, query_id, 'ok' as status from ranking_lengths where run = $run",
        {"run": run},
    )
    if not _shares_queries(adding, run, file, labels):
        return
    adding.run(
        RunFacts(
            run,
            str(file),
            read.num_rows,
            read.ordered_by,
            source_file=file.name,
            known_ranks=read.ranked,
        )
    )
    con.execute("drop view ranked_input")
    trec.release_run(con, "trec_run")


def _shares_queries(adding: Adding, run: str, file: Path, labels: str) -> bool:
    """Whether any query of the run has labels. If none has, the files do not belong together: a fault."""
    ((common, run_example, label_example),) = adding.con.execute(
        """
        with own as (from run_queries where run = $run)
        select exists (from own semi join labelled_queries using (query_id)),
               (select min(query_id) from own),
               (select min(query_id) from labelled_queries)
        """,
        {"run": run},
    ).fetchall()
    if not common:
        adding.report.fault(
            Fault(
                str(file),
                "no_common_queries",
                f'no query of this run is in {labels}: ids look like "{clip(run_example)}" here and'
                f' "{clip(label_example)}" there',
            )
        )
    return bool(common)
