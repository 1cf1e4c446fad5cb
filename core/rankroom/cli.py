"""The commands. Each says what its options are; the work is in the modules that it imports when it runs."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rankroom import __version__


class Interrupted(Exception):
    """Somebody pressed Ctrl-C."""


class OutputClosed(Exception):
    """Who read standard output, such as `head`, has had enough."""


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Run a command. Typer would make exit codes of its own of these two, in each version others."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            raise Interrupted from None
        except BrokenPipeError:
            raise OutputClosed from None
        except RuntimeError as error:
            if "Query interrupted" not in str(error):
                raise
            raise Interrupted from None  # this is how DuckDB says it


app = typer.Typer(
    name="rankroom",
    cls=_Commands,
    help="The room where a team looks at its rankings: per-query retrieval results in one DuckDB store.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

StoreOption = Annotated[
    Path, typer.Option("--store", envvar="RANKROOM_STORE", metavar="FILE", help="The store's file.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on standard output, for scripts.")]
WaitOption = Annotated[
    float,
    typer.Option(
        "--wait", min=0, metavar="SECONDS", help="How long to wait for the store while others use it."
    ),
]
PortOption = Annotated[
    int, typer.Option("--port", min=1, max=65535, metavar="N", help="The dashboard's port.")
]
NoBrowserOption = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]

ThresholdsOption = Annotated[
    Path | None,
    typer.Option(
        "--thresholds",
        envvar="RANKROOM_THRESHOLDS",
        metavar="FILE",
        help="A TOML file that changes what counts as much, and as enough.",
    ),
]

DEFAULT_STORE = Path("rankroom.duckdb")
DEFAULT_PORT = 8501
NOT_COMPARABLE = 5
"""The exit code of a comparison of what is not alike."""


class Order(StrEnum):
    """What the order of a TREC run goes by."""

    score = "score"
    rank = "rank"


class Collapse(StrEnum):
    """Which of several places of a document in one ranking counts."""

    first = "first"


class Format(StrEnum):
    """What `export` writes."""

    parquet = "parquet"
    trec = "trec"


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"rankroom {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    store: StoreOption = DEFAULT_STORE, port: PortOption = DEFAULT_PORT, no_browser: NoBrowserOption = False
) -> None:
    """Put the sample data into a store and open the dashboard on it."""
    from rankroom import serve
    from rankroom.demo import fill
    from rankroom.store import Store
    from rankroom.terminal import say, show_added, working

    serve.check_port(port)
    with working() as progress:
        added = fill(Store(store), progress)
    for one in added:
        show_added(one, store, doubts=False)
    say("what was taken with a doubt stands on the Data page")
    serve.serve(Store(store), port=port, browser=not no_browser)


@app.command()
def add(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FOLDER|RUN", help="A folder in the native form, or TREC run files."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="TREC files: the labels (qrels) of the runs. A folder: other labels than its own.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", metavar="NAME", help="TREC files: names query set, label set and collection."
        ),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(
            "--revision", metavar="R", help="TREC files: their revision; of --labels.  [default: 1]"
        ),
    ] = None,
    relevant_from: Annotated[
        int | None,
        typer.Option(
            "--relevant-from",
            metavar="N",
            help="TREC files: the lowest grade that counts as relevant.  [default: 1]",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="RUN", help="TREC files: the run's name, where it is one.")
    ] = None,
    order: Annotated[
        Order | None,
        typer.Option(
            "--order",
            help="TREC files: results go by score, as in trec_eval, or by the rank column.  [default: score]",
        ),
    ] = None,
    collapse: Annotated[
        Collapse | None,
        typer.Option("--collapse", help="Keep the first place of a document that a ranking has twice."),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep",
            min=1,
            metavar="N",
            help="Keep so many results of each ranking; else all, or 100 where a run has over a million.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read, check and score everything, and store nothing.")
    ] = False,
    wait: WaitOption = 60.0,
    json: JsonOption = False,
) -> None:
    """Add runs and their labels.

    \b
    rankroom add FOLDER                                         the native form
    rankroom add FOLDER --labels FILE --revision R              its runs under other labels
    rankroom add --dataset NAME --labels QRELS RUN [RUN...]     TREC files

    Everything is read, checked and scored first: all of it goes in or, where anything is wrong, nothing.
    """
    from rankroom.add import LabelsFile, Options, add_folder, add_trec
    from rankroom.errors import Refused, UsageError
    from rankroom.store import Store
    from rankroom.terminal import added_json, print_json, refused_json, show_added, working

    paths = paths or []
    options = Options(
        order=(order or Order.score).value,
        collapse_first=collapse is Collapse.first,
        keep=keep,
        dry_run=dry_run,
        wait=wait,
    )
    is_native = dataset is None and (labels is None or (len(paths) == 1 and paths[0].is_dir()))
    if is_native:
        _check_native(paths, labels, revision, relevant_from, name, order)
    elif labels is None or dataset is None:
        raise UsageError("TREC files need both: --dataset names the data set and --labels gives its qrels")
    try:
        with working() as progress:
            if labels is None or dataset is None:
                other_labels = LabelsFile(labels, revision) if labels and revision else None
                result = add_folder(Store(store), paths[0], options, progress, other_labels)
            else:
                result = add_trec(
                    Store(store),
                    paths,
                    labels=labels,
                    dataset=dataset,
                    revision="1" if revision is None else revision,
                    relevant_from=1 if relevant_from is None else relevant_from,
                    name=name,
                    options=options,
                    progress=progress,
                )
    except Refused as refused:
        if json:
            print_json(refused_json(refused.report))
        raise
    if json:
        print_json(added_json(result))
    else:
        show_added(result, store)


def _check_native(
    paths: list[Path],
    labels: Path | None,
    revision: str | None,
    relevant_from: int | None,
    name: str | None,
    order: Order | None,
) -> None:
    """One folder, and none of the options that only TREC files need."""
    from rankroom.errors import UsageError

    if len(paths) != 1 or paths[0].is_file():
        raise UsageError(
            "give one folder in the native form, or TREC runs with --dataset NAME and --labels QRELS"
        )
    if labels is not None and not revision:
        raise UsageError("--labels takes other labels than the folder's own: give their --revision, too")
    for option, given, instead in (
        ("--revision", revision if labels is None else None, "dataset.toml has the revision"),
        ("--relevant-from", relevant_from, "dataset.toml has relevant_from"),
        ("--name", name, "a run has its file's name"),
        ("--order", order, "the lists have an order"),
    ):
        if given is not None:
            raise UsageError(f"{option} is for TREC files: in the native form {instead}")


@app.command(name="list")
def list_runs(store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """List the runs of a store, newest first."""
    from rankroom.output import rows
    from rankroom.resources import sql
    from rankroom.store import Store
    from rankroom.terminal import print_json, say, show_table

    with Store(store).read() as con:
        runs = rows(con, sql("reports/list.sql"))
    if json:
        print_json(runs)
    elif runs:
        show_table(
            runs, only=("run", "query_set", "created", "series", "baseline", "num_rows", "n", "ndcg_at_5")
        )
    else:
        say(f"{store} has no runs yet: `rankroom add` puts some in")


@app.command()
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")],
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[
        int, typer.Option("-k", metavar="K", help="The cutoff: only the first K results count.")
    ] = 5,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="NAME,...",
            help="Slice by one to three of: category, language, must_pass, tag, or an attribute.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show one run: its means, slices and queries."""
    from rankroom.show import run_report
    from rankroom.store import Store
    from rankroom.terminal import print_json, show_run

    report = run_report(Store(store), run, k, _names(by))
    if json:
        print_json(report)
    else:
        show_run(report)


@app.command()
def compare(
    baseline: Annotated[str, typer.Argument(metavar="BASE", help="The baseline run.")],
    candidate: Annotated[str, typer.Argument(metavar="CAND", help="The run that is compared with it.")],
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[
        int, typer.Option("-k", metavar="K", help="The cutoff: only the first K results count.")
    ] = 5,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="NAME,...",
            help="Slice by one to three of: category, language, must_pass, tag, or an attribute.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="NAME", help="The metric of the slices. Can be given again.  [default: ndcg]"
        ),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="Only the queries of this split.")
    ] = "all",
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="LABELS", help="As NAME@REVISION.  [default: the newest]"),
    ] = None,
    baseline_labels: Annotated[
        str | None,
        typer.Option("--baseline-labels", metavar="LABELS", help="Other labels for the baseline."),
    ] = None,
    stage: Annotated[str, typer.Option("--stage", help="The stage of the pipeline.")] = "final",
    common: Annotated[
        bool, typer.Option("--common", help="Compare only queries that are the same for both.")
    ] = False,
    thresholds: ThresholdsOption = None,
    json: JsonOption = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown, to paste into a pull request.")
    ] = False,
) -> None:
    """Compare a run with a baseline: a verdict and its numbers.

    Says whether the difference can be told from chance, and what it is made of. Only like with like: runs of
    other queries, labels or collections end with exit code 5 and the reason; --common then compares what they
    share.
    """
    from rankroom.comparison_report import markdown as as_markdown
    from rankroom.store import Store
    from rankroom.stored_comparison import compare_stored
    from rankroom.terminal import print_json, show_comparison
    from rankroom.thresholds import read_thresholds

    result = compare_stored(
        Store(store),
        baseline,
        candidate,
        k=k,
        by=_names(by),
        split=split,
        label_set=labels,
        stage=stage,
        slice_metrics=metric or ["ndcg"],
        common=common,
        baseline_labels=baseline_labels,
        thresholds=read_thresholds(thresholds),
    )
    if json:
        print_json(result.as_dict())
    elif markdown:
        print(as_markdown(result), end="")
    else:
        show_comparison(result)
    if not result.metrics:
        raise typer.Exit(NOT_COMPARABLE)


@app.command()
def signals(
    baseline: Annotated[str, typer.Argument(metavar="BASE", help="The baseline run.")],
    candidate: Annotated[str, typer.Argument(metavar="CAND", help="The run that is held against it.")],
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[
        int, typer.Option("-k", metavar="K", help="The cutoff: only the first K results count.")
    ] = 5,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="Only the queries of this split.")
    ] = "all",
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="LABELS", help="As NAME@REVISION.  [default: the newest]"),
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Also hold the split dev against the others.")
    ] = False,
    thresholds: ThresholdsOption = None,
    json: JsonOption = False,
) -> None:
    """Say where the signals of two runs disagree.

    Such as NDCG that rises while the hit rate stays flat. Each rule is a test: what fired is beyond chance,
    what is possible has too few queries to be sure. Runs of other queries, labels or collections end with
    exit code 5 and the reason.
    """
    from rankroom.signals.report import lines
    from rankroom.signals.search import read_signals
    from rankroom.store import Store
    from rankroom.terminal import print_json, say, warn
    from rankroom.thresholds import read_thresholds

    with Store(store).read() as con:
        found = read_signals(
            con,
            baseline,
            candidate,
            k,
            split=split,
            label_set=labels,
            held_out=held_out,
            thresholds=read_thresholds(thresholds),
        )
    if not json:
        for line in lines(found):
            say(line)
    else:
        print_json([one.as_json() for one in found.findings])
        for reason in found.reasons:
            warn(reason.sentence)
    if not found.comparable:
        raise typer.Exit(NOT_COMPARABLE)


def _names(given: str | None) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()] if given else []


@app.command()
def failures(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")],
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[
        int, typer.Option("-k", metavar="K", help="The cutoff: only the first K results count.")
    ] = 5,
    classes: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="CLASS", help="Only this first cause. Can be given again."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="NAME", help="Count by category, language, tag, or an attribute."),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="Only the queries of this split.")
    ] = "all",
    json: JsonOption = False,
) -> None:
    """List the failing queries of a run, each with its cause and the fact that shows it."""
    from rankroom.failing import failures_report
    from rankroom.store import Store
    from rankroom.terminal import print_json, show_failures

    report = failures_report(Store(store), run, k, classes or (), by, split)
    if json:
        print_json(report["failures"])
    else:
        show_failures(report)


@app.command()
def explain(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query's id.")],
    store: StoreOption = DEFAULT_STORE,
    against: Annotated[
        str | None, typer.Option("--against", metavar="BASE", help="A run to hold it against.")
    ] = None,
    k: Annotated[
        int, typer.Option("-k", metavar="K", help="The cutoff: only the first K results count.")
    ] = 5,
    json: JsonOption = False,
) -> None:
    """Say what happened to one query in one run, as text to paste into a ticket."""
    from rankroom.explain import as_text, explanation
    from rankroom.store import Store
    from rankroom.terminal import print_json, say_lines

    report = explanation(Store(store), run, query, k, against)
    if json:
        print_json(report)
    else:
        say_lines(as_text(report))


@app.command()
def sql(
    statement: Annotated[
        str, typer.Argument(metavar="SQL", help="One statement; - reads it from standard input.")
    ],
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Ask the store something in SQL.

    The store is open for reading only. Its table data_dictionary says what every table, view, macro and
    column means.
    """
    from rankroom.statement import ask
    from rankroom.store import Store
    from rankroom.terminal import is_plan, print_json, show_plan, show_table

    rows = ask(Store(store), sys.stdin.read() if statement == "-" else statement)
    if json:
        print_json(rows)
    elif is_plan(rows):
        show_plan(rows)
    else:
        show_table(rows, raw=True)


@app.command()
def rescore(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="The runs; none given: all of the store.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", metavar="K", help="A further cutoff for the whole store. Can be given again."),
    ] = None,
    whole_file: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="The file of one run of which only the first results were kept."
        ),
    ] = None,
    wait: WaitOption = 60.0,
    json: JsonOption = False,
) -> None:
    """Score stored runs again.

    Under the newest labels, at further cutoffs, or from the whole file of a run of which only the first
    results were kept.
    """
    from rankroom.rescore import rescore as score_again
    from rankroom.store import Store
    from rankroom.terminal import print_json, say, warn, working

    with working() as progress:
        done = score_again(
            Store(store), runs or (), cutoffs=k or (), whole_file=whole_file, wait=wait, progress=progress
        )
    if json:
        print_json([{"run": one.run, "label_set": one.label_set} for one in done])
    elif done:
        label_sets = ", ".join(sorted({one.label_set for one in done}))
        count = len({one.run for one in done})
        say(f"scored {count:,} {'run' if count == 1 else 'runs'} under {label_sets}")
        if runs and {one.run for one in done} - {*runs}:
            warn("a cutoff is one for the whole store: every run was scored, not only those named")
    else:
        say(f"{store} has no runs to score")


@app.command()
def remove(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="The names of the runs.")],
    store: StoreOption = DEFAULT_STORE,
    wait: WaitOption = 60.0,
) -> None:
    """Remove runs from a store.

    Query sets, labels and documents stay, and so do notes that people wrote about queries.
    """
    from rankroom.remove import remove_runs
    from rankroom.store import Store
    from rankroom.terminal import say

    remove_runs(Store(store), runs, wait)
    say(f"removed {', '.join(runs)}")


@app.command()
def note(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query's id.")],
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="About the query in this run; else in every run."),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="STATE", help="open, in_work, explained, fixed or wont_fix."),
    ] = None,
    cause: Annotated[
        str | None, typer.Option("--cause", metavar="TEXT", help="What the failure comes from.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="The note in words.")] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="NAME", help="Who takes care of it.")
    ] = None,
    dispute: Annotated[
        str | None,
        typer.Option("--dispute", metavar="DOC", help="It is about the label of this document."),
    ] = None,
    grade: Annotated[
        int | None, typer.Option("--grade", metavar="N", help="The grade that this label should have.")
    ] = None,
    no_label: Annotated[bool, typer.Option("--no-label", help="The document should have no label.")] = False,
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", help="Who says it.  [default: your user name]")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="The data set, where two have a query of this id."),
    ] = None,
    wait: WaitOption = 60.0,
    json: JsonOption = False,
) -> None:
    """Write a note about a query: what is known of its failure, or that a label of it is wrong.

    Notes are only ever added: what is not said stays as it was, an empty text takes back what was said, and
    every change is kept with who made it and when. They outlive rescoring, new runs and removed ones.
    """
    from rankroom.annotations import Note, annotate, user_name
    from rankroom.store import Store
    from rankroom.terminal import print_json, say

    said = Note(
        query_id=query,
        who=user_name() if who is None else who,
        run=run,
        dataset=dataset,
        state=state,
        cause=cause,
        text=text,
        owner=owner,
        doc_id=dispute,
        grade=grade,
        no_label=no_label,
    )
    written = annotate(Store(store), said, wait)
    if json:
        print_json(vars(said) | vars(written))
    else:
        about = f"{query} in {run}" if run else query
        about = f"the label of {dispute} for {about}" if dispute else about
        say(f"noted about {about}, queries {written.query_set}, by {said.who}")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder to write into.")],
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        list[str] | None, typer.Option("--run", metavar="RUN", help="Only this run. Can be given again.")
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="parquet: tables and views; trec: runs and qrels.")
    ] = Format.parquet,
) -> None:
    """Write a store out as Parquet or TREC files."""
    from rankroom.export import export_parquet, export_trec, left_out_of_trec
    from rankroom.store import Store
    from rankroom.terminal import say, warn, working

    write = export_parquet if form is Format.parquet else export_trec
    with working() as progress:
        files = write(Store(store), folder, run or (), progress)
    if form is Format.trec:
        for sentence in left_out_of_trec(Store(store), run or ()):
            warn(sentence)
    say(f"wrote {len(files)} files to {folder}")


@app.command()
def migrate(store: StoreOption = DEFAULT_STORE, wait: WaitOption = 60.0) -> None:
    """Bring an older store up to date.

    Its schema, its views and its data dictionary become those of this rankroom. `serve` and `add` do so too.
    """
    from rankroom.store import Store
    from rankroom.terminal import say

    changed = Store(store).migrate(wait)
    say(f"{store} {'is now' if changed else 'was already'} up to date")


@app.command()
def serve(
    store: StoreOption = DEFAULT_STORE,
    port: PortOption = DEFAULT_PORT,
    address: Annotated[
        str,
        typer.Option(
            "--address", help="Who may reach it: 0.0.0.0 is everyone on the network, without a password."
        ),
    ] = "localhost",
    no_browser: NoBrowserOption = False,
) -> None:
    """Open the dashboard on a store."""
    from rankroom import serve as server
    from rankroom.store import Store

    server.check_port(port, address)
    server.serve(Store(store), port=port, browser=not no_browser, address=address)
