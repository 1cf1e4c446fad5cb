"""The commands. Each says what its options are and hands on: the work is in the modules it imports when it runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rankroom import __version__

app = typer.Typer(
    name="rankroom",
    help="The room where a team looks at its rankings: per-query retrieval results in one DuckDB store.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

StoreOption = Annotated[
    Path, typer.Option("--store", envvar="RANKROOM_STORE", help="The store's file.", show_default=True)
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on standard output, for scripts.")]
WaitOption = Annotated[
    float, typer.Option("--wait", min=0, help="How many seconds to wait for the store while others use it.")
]
PortOption = Annotated[int, typer.Option("--port", min=1, max=65535, help="The dashboard's port.")]
NoBrowserOption = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]

DEFAULT_STORE = Path("rankroom.duckdb")
DEFAULT_PORT = 8501


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
    from rankroom.terminal import show_added, working

    serve.check_port(port)
    with working() as progress:
        added = fill(Store(store), progress)
    for one in added:
        show_added(one, store)
    serve.serve(Store(store), port=port, browser=not no_browser)


@app.command()
def add(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FOLDER | RUN...", help="A folder in the native form, or TREC run files."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    labels: Annotated[Path | None, typer.Option("--labels", help="The qrels of the TREC runs.")] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Names query set, label set and collection of TREC files.")
    ] = None,
    revision: Annotated[str, typer.Option("--revision", help="Their revision, for TREC files.")] = "1",
    relevant_from: Annotated[
        int, typer.Option("--relevant-from", help="The lowest grade that counts as relevant, for TREC files.")
    ] = 1,
    name: Annotated[str | None, typer.Option("--name", help="The run's name, for one TREC run.")] = None,
    order: Annotated[
        Order, typer.Option("--order", help="Order TREC runs by score, as trec_eval does, or by their rank column.")
    ] = Order.score,
    collapse: Annotated[
        Collapse | None,
        typer.Option("--collapse", help="Keep the first place of a document that a ranking has twice."),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, help="Keep so many results of each ranking (else all up to a million rows)."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read, check and score, and store nothing.")] = False,
    wait: WaitOption = 60.0,
    json: JsonOption = False,
) -> None:
    """Add runs and their labels: a folder in the native form, or TREC files with --dataset and --labels."""
    from rankroom.add import Options, add_folder, add_trec
    from rankroom.errors import UsageError
    from rankroom.store import Store
    from rankroom.terminal import added_json, show_added, working

    options = Options(
        order=order.value, collapse_first=collapse is Collapse.first, keep=keep, dry_run=dry_run, wait=wait
    )
    paths = paths or []
    with working() as progress:
        if labels is not None or dataset is not None:
            if labels is None or dataset is None:
                raise UsageError("TREC files need both: --dataset names the data set and --labels gives its qrels")
            result = add_trec(
                Store(store),
                paths,
                labels=labels,
                dataset=dataset,
                revision=revision,
                relevant_from=relevant_from,
                name=name,
                options=options,
                progress=progress,
            )
        else:
            if len(paths) != 1 or paths[0].is_file():
                raise UsageError(
                    "give one folder in the native form, or TREC runs with --dataset NAME and --labels QRELS"
                )
            result = add_folder(Store(store), paths[0], options, progress)
    if json:
        print(added_json(result))
    else:
        show_added(result, store)


@app.command(name="list")
def list_runs(store: StoreOption = DEFAULT_STORE, json: JsonOption = False) -> None:
    """List the runs of a store."""
    from rankroom.output import rows, to_json
    from rankroom.resources import sql
    from rankroom.store import Store
    from rankroom.terminal import show_table

    with Store(store).read() as con:
        runs = rows(con, sql("reports/list.sql"))
    if json:
        print(to_json(runs))
    elif runs:
        show_table(runs, only=("run", "query_set", "created", "series", "baseline", "num_rows", "n", "ndcg_at_5"))
    else:
        print(f"{store} has no runs yet: `rankroom add` puts some in")


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="The run's name.")],
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[int, typer.Option("-k", help="The cutoff.")] = 5,
    by: Annotated[
        str | None, typer.Option("--by", help="Slice by these, with commas: category,language, an attribute, tag.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show one run: its means at k with their n, its slices, and its queries."""
    from rankroom.output import to_json
    from rankroom.show import run_report
    from rankroom.store import Store
    from rankroom.terminal import show_run

    dimensions = [part.strip() for part in by.split(",") if part.strip()] if by else []
    report = run_report(Store(store), run, k, dimensions)
    if json:
        print(to_json(report))
    else:
        show_run(report)


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(help="One statement; it can only read.")],
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Ask the store something in SQL. The views are described in the table data_dictionary."""
    from rankroom.output import to_json
    from rankroom.statement import ask
    from rankroom.store import Store
    from rankroom.terminal import show_table

    rows = ask(Store(store), statement)
    if json:
        print(to_json(rows))
    else:
        show_table(rows)


@app.command()
def rescore(
    runs: Annotated[list[str] | None, typer.Argument(metavar="[RUN...]", help="None: all runs.")] = None,
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[
        list[int] | None, typer.Option("-k", help="A further cutoff for the whole store. Can be given again.")
    ] = None,
    whole_file: Annotated[
        Path | None,
        typer.Option("--from", help="The file of one run of which only the first results were kept."),
    ] = None,
    wait: WaitOption = 60.0,
    json: JsonOption = False,
) -> None:
    """Score stored runs again: under the newest labels, at further cutoffs, or from the whole file."""
    from rankroom.output import to_json
    from rankroom.rescore import rescore as score_again
    from rankroom.store import Store
    from rankroom.terminal import working

    with working() as progress:
        done = score_again(
            Store(store), runs or (), cutoffs=k or (), whole_file=whole_file, wait=wait, progress=progress
        )
    if json:
        print(to_json([{"run": one.run, "label_set": one.label_set} for one in done]))
    else:
        label_sets = sorted({one.label_set for one in done})
        runs_done = len({one.run for one in done})
        print(
            f"scored {runs_done} {'run' if runs_done == 1 else 'runs'} under {', '.join(label_sets)}"
            if done
            else f"{store} has no runs to score"
        )


@app.command()
def remove(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...")],
    store: StoreOption = DEFAULT_STORE,
    wait: WaitOption = 60.0,
) -> None:
    """Remove runs from a store. Its query sets, labels and documents stay."""
    from rankroom.remove import remove_runs
    from rankroom.store import Store

    remove_runs(Store(store), runs, wait)
    print(f"removed {', '.join(runs)}")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder to write into.")],
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[list[str] | None, typer.Option("--run", help="Only this run. Can be given again.")] = None,
    form: Annotated[
        Format, typer.Option("--format", help="Parquet: tables and views; trec: runs and qrels.")
    ] = Format.parquet,
) -> None:
    """Write a store's contents as Parquet files, or its rankings and labels in TREC form."""
    from rankroom.export import export_parquet, export_trec
    from rankroom.store import Store
    from rankroom.terminal import working

    write: Any = export_parquet if form is Format.parquet else export_trec
    with working() as progress:
        files = write(Store(store), folder, run or (), progress)
    print(f"wrote {len(files)} files to {folder}")


@app.command()
def migrate(store: StoreOption = DEFAULT_STORE, wait: WaitOption = 60.0) -> None:
    """Bring a store that an older rankroom made up to this one's schema and views."""
    from rankroom.store import Store

    changed = Store(store).migrate(wait)
    print(f"{store} {'is now' if changed else 'was already'} up to date")


@app.command()
def serve(
    store: StoreOption = DEFAULT_STORE, port: PortOption = DEFAULT_PORT, no_browser: NoBrowserOption = False
) -> None:
    """Open the dashboard on a store."""
    from rankroom import serve as server
    from rankroom.store import Store

    server.check_port(port)
    server.serve(Store(store), port=port, browser=not no_browser)
