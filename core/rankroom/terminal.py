"""What the commands print: results on standard output, doubts and progress on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

from rankroom.add import Added
from rankroom.add import Progress as Tell
from rankroom.output import plain, to_json

MOST_ROWS = 200
MOST_QUERIES = 20
PIPE_WIDTH = 10_000

MEANS = ("ndcg", "hit", "recall", "precision", "rr", "ap", "complete", "f1", "ndcg_exp", "judged")
CEILINGS = ("precision", "recall", "complete", "f1", "ap")

# Where nobody looks at the width, as in a pipe, lines are as long as they are.
out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
err = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)


@contextmanager
def working() -> Iterator[Tell]:
    """A progress bar on standard error while the block works; nothing where that is no terminal."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    ) as bar:
        task = bar.add_task("starting", total=None)

        def tell(doing: str, at: int, of: int) -> None:
            bar.update(task, description=doing, completed=at, total=of or None)

        yield tell


def show_added(added: Added, store: Path) -> None:
    """What an add did, with every doubt."""
    for doubt in added.report.doubts:
        err.print(Text(f"note: {doubt}"))
    count = {state: [run for run in added.runs if run.state == state] for state in ("added", "rescored", "already there")}
    would = "would be " if added.dry_run else ""
    for state, runs in count.items():
        if runs:
            names = ", ".join(run.run for run in runs[:5]) + (f" and {len(runs) - 5} more" if len(runs) > 5 else "")
            rows = sum(run.num_rows for run in runs)
            said = f"{would}scored under {added.label_set}" if state == "rescored" else f"{would}{state}"
            out.print(Text(f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} {said}: {names} ({rows:,} results)"))
    if added.new_parts:
        new = ", ".join(
            f"{kind.replace('_', ' ')} {getattr(added, kind)}"
            for kind in ("query_set", "label_set", "collection")
            if kind in added.new_parts
        )
        out.print(Text(f"{'would be new' if added.dry_run else 'new'} in {store}: {new}"))
    elif not any(run.state != "already there" for run in added.runs):
        out.print(Text(f"everything is in {store} already"))
    for run in added.runs:
        if run.kept_depth is not None and run.state == "added":
            out.print(Text(f"of {run.run} the first {run.kept_depth} results of each ranking are kept"))
    if added.not_rescored:
        some = ", ".join(added.not_rescored[:3]) + (", ..." if len(added.not_rescored) > 3 else "")
        out.print(
            Text(
                f"{len(added.not_rescored)} runs have no scores under {added.label_set} yet ({some}):"
                f" `rankroom rescore --store {store}`"
            )
        )


def added_json(added: Added) -> str:
    """The same as JSON."""
    return to_json(
        {
            "query_set": added.query_set,
            "label_set": added.label_set,
            "collection": added.collection,
            "new": added.new_parts,
            "dry_run": added.dry_run,
            "runs": [vars(run) for run in added.runs],
            "not_rescored": added.not_rescored,
            "doubts": [vars(doubt) for doubt in added.report.doubts],
        }
    )


def show_run(report: dict[str, Any]) -> None:
    """One run: how many queries count and how many did not, the means, the slices, the queries with the worst first."""
    k = report["k"]
    out.print(Text(f"{report['run']} at k = {k}, labels {report['label_set']}", style="bold"))
    counts = [f"{report['n']} answerable labelled queries"]
    for name, words in (
        ("missed", "without a hit"),
        ("left_out", "left out by the run"),
        ("empty", "returned nothing"),
        ("errored", "failed or timed out"),
        ("no_answer", "no-answer"),
        ("unlabelled", "unlabelled"),
    ):
        if report[name]:
            counts.append(f"{report[name]} {words}")
    out.print(Text(", ".join(counts)))
    if report["leaks"]:
        out.print(Text(f"{report['leaks']} results that their query's user may not read", style="bold red"))
    means = Table("metric", box=None, pad_edge=False)
    means.add_column("mean", justify="right")
    means.add_column("ceiling", justify="right")
    for name in MEANS:
        ceiling = report.get(f"{name}_ceiling") if name in CEILINGS else None
        means.add_row(
            f"{name}@{k}",
            _cell(report[name]),
            _cell(ceiling) if ceiling is not None and ceiling < 1 - 1e-12 else "",
        )
    for name in ("rr", "ap", "ndcg", "r_precision"):
        means.add_row(name, _cell(report["uncut"][name]), "")
    out.print(means)
    if report["uncut"]["num_unknown"]:
        out.print(
            Text(
                f"{report['uncut']['num_unknown']} queries have uncut values that only the whole file gives:"
                " `rankroom rescore RUN --from FILE`"
            )
        )
    if "slices" in report:
        out.print()
        show_table(
            [
                one["slice"] | {"n": one["n"]} | {name: one[name] for name in ("ndcg", "hit", "recall", "precision", "rr")}
                for one in report["slices"]
            ]
        )
    queries = sorted(report["queries"], key=lambda q: (q["ndcg"] is None, q["ndcg"] or 0.0))
    out.print()
    show_table(
        [
            {name: q[name] for name in ("query_id", "outcome", "ndcg", "hit", "recall", "precision", "rr", "first_relevant_rank")}
            for q in queries[:MOST_QUERIES]
        ]
    )
    if (rest := len(queries) - MOST_QUERIES) > 0:
        out.print(Text(f"... and {rest} more queries, with higher NDCG: --json has them all"))


def show_table(rows: Sequence[dict[str, Any]], only: Sequence[str] = ()) -> None:
    """Rows as a table: numbers to the right, metrics with three decimals."""
    if not rows:
        out.print("no rows")
        return
    names = list(only or rows[0])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        numeric = all(isinstance(row[name], int | float | None) and not isinstance(row[name], bool) for row in rows)
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows[:MOST_ROWS]:
        table.add_row(*(Text(_cell(row[name])) for name in names))
    out.print(table)
    if (rest := len(rows) - MOST_ROWS) > 0:
        err.print(f"... and {rest:,} more rows: --json gives them all")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "-" if plain(value) is None else f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(plain(value))
