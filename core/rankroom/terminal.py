"""What the commands print: results on standard output; doubts, refusals and progress on standard error."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

from rankroom.counted import count
from rankroom.faults import Doubt, Fault, Report, clip
from rankroom.output import plain, to_json
from rankroom.printable import lines, one_line

if TYPE_CHECKING:
    from rankroom.adding import Added
    from rankroom.adding import Progress as Tell
    from rankroom.comparison import Comparison

MOST_ROWS = 200
"""So many rows of a table are shown on a terminal; a pipe gets them all."""

MOST_QUERIES = 20
NAMED_RUNS = 5
SPELT_OUT = 2
"""So many doubts of one kind are spelt out; of more, the largest is, and the others by file and count."""

PIPE_WIDTH = 100_000
LONGEST_VALUE = 1_000
"""A faulty value may be a line of a hundred megabytes: so many characters of it are in the JSON."""

NARROWEST = 10
"""Columns of text are folded into no less; on a terminal too narrow for that, a table is no longer one."""

SPARED = (("p",), ("detectable",), ("won", "tied", "lost"), ("p (Holm)",))
"""Of two runs, these columns are left out where there is no room for them, the first of them first."""

MEANS = ("ndcg", "hit", "recall", "precision", "rr", "ap", "complete", "f1", "ndcg_exp", "judged")
UNCUT = ("rr", "ap", "ndcg", "r_precision")
CEILINGS = ("precision", "recall", "complete", "f1", "ap")
OF_A_SLICE = ("ndcg", "hit", "recall", "precision", "rr")
OF_A_QUERY = ("query_id", "outcome", "ndcg", "hit", "recall", "precision", "rr", "first_relevant_rank")
NOT_COUNTED = (
    ("missed", "without a hit"),
    ("left_out", "left out by the run"),
    ("empty", "returned nothing"),
    ("errored", "failed or timed out"),
    ("no_answer", "no-answer"),
    ("unlabelled", "unlabelled"),
)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `main` what a closed pipe comes to; rich would end the process here."""
        raise BrokenPipeError


# Where nobody looks at the width, as in a pipe, lines are as long as they are.
out = _Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
err = _Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)


def say(sentence: str) -> None:
    """One line on standard output."""
    _print(out, sentence)


def warn(sentence: str) -> None:
    """One note on standard error."""
    _print(err, f"note: {sentence}")


def print_json(value: object) -> None:
    """A value as JSON on standard output, in whatever encoding that has."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(to_json(value, ascii_only=not unicode))


PROGRESS_RECORD = "\x1e"
"""Begins a line of progress for a program that asks for it with RANKROOM_PROGRESS=json."""


@contextmanager
def working() -> Iterator[Tell]:
    """A progress bar on standard error while the block works; nothing where that is no terminal."""
    if os.environ.get("RANKROOM_PROGRESS") == "json":
        yield _tell_program
        return
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=err,
        transient=True,
        disable=not sys.stderr.isatty() or err.is_dumb_terminal,
    ) as bar:
        task = bar.add_task("starting", total=None)

        def tell(doing: str, at: int, of: int) -> None:
            bar.update(task, description=one_line(doing), completed=at, total=of or None)

        yield tell


def _tell_program(doing: str, at: int, of: int) -> None:
    print(f"{PROGRESS_RECORD}{json.dumps([doing, at, of])}", file=sys.stderr, flush=True)


# What an add did


def show_added(added: Added, store: Path, *, doubts: bool = True) -> None:
    """What an add did, with every doubt."""
    for note in notes(added.report.doubts if doubts else ()):
        _print(err, note)
    for sentence in _of_added(added, store):
        say(sentence)


def _of_added(added: Added, store: Path) -> Iterator[str]:
    would = "would be " if added.dry_run else ""
    by_state = {state: [run for run in added.runs if run.state == state] for state in SAID_OF_RUNS}
    for state, runs in by_state.items():
        if runs:
            names = ", ".join(run.run for run in runs[:NAMED_RUNS])
            more = f" and {len(runs) - NAMED_RUNS} more" if len(runs) > NAMED_RUNS else ""
            results = count(sum(run.num_rows for run in runs), "result")
            done = SAID_OF_RUNS[state].format(would=would, label_set=added.label_set)
            yield f"{count(len(runs), 'run')} {done}: {names}{more} ({results})"
    if added.new_parts:
        new = ", ".join(
            f"{kind.replace('_', ' ')} {getattr(added, kind)}"
            for kind in ("query_set", "label_set", "collection")
            if kind in added.new_parts
        )
        yield f"{would}new in {store}: {new}"
    elif not by_state["added"] and not by_state["rescored"]:
        yield f"everything is in {store} already"
    if not added.runs:
        yield "no run was given with it"
    for run in by_state["added"]:
        if run.kept_depth is not None:
            yield f"of {run.run} the first {run.kept_depth} results of each ranking {would or 'are '}kept"
    if others := added.not_rescored:
        some = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
        has = "has" if len(others) == 1 else "have"
        yield (
            f"{count(len(others), 'run')} {has} no scores under {added.label_set} yet ({some}):"
            f" `rankroom rescore --store {shlex.quote(str(store))}`"
        )
    if added.dry_run:
        yield "nothing was stored: this was a dry run"


SAID_OF_RUNS = {
    "added": "{would}added",
    "rescored": "{would}scored under {label_set}",
    "already there": "already there",
}


def added_json(added: Added) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "query_set": added.query_set,
        "label_set": added.label_set,
        "collection": added.collection,
        "new": added.new_parts,
        "dry_run": added.dry_run,
        "runs": [vars(run) for run in added.runs],
        "not_rescored": added.not_rescored,
        "doubts": [vars(doubt) for doubt in added.report.doubts],
    }


def refused_json(report: Report) -> dict[str, Any]:
    """A refusal for JSON: the faults that were spelt out, how many there are, and what else was odd."""
    return {
        "refused": True,
        "faults": [
            vars(fault) | {"value": fault.value and clip(fault.value, LONGEST_VALUE)}
            for fault in report.faults
        ],
        "num_faults": report.num_faults,
        "doubts": [vars(doubt) for doubt in report.doubts],
    }


def notes(doubts: Sequence[Doubt]) -> Iterator[str]:
    """Every doubt with its count, each kind together: where many files share one, it is explained once."""
    for kind, alike in _together(doubts, lambda doubt: doubt.kind).items():
        if len(alike) <= SPELT_OUT:
            yield from (f"note: {doubt}" for doubt in alike)
            continue
        most, *others = sorted(alike, key=lambda doubt: -doubt.count)
        files = len({doubt.file for doubt in alike})
        yield f"note: {kind.replace('_', ' ')} in {files} files. {_file(most, alike)}: {most.sentence}"
        yield f"      and {', '.join(f'{_file(doubt, alike)} ({doubt.count:,})' for doubt in others)}"


def _file(doubt: Doubt, among: Iterable[Doubt]) -> str:
    """The file's own name, or its path where another file has that name too."""
    name = PurePath(doubt.file).name
    same = {other.file for other in among if PurePath(other.file).name == name}
    return name if len(same) == 1 else doubt.file


def refusal(report: Report) -> str:
    """The faults, a line each under the file's name, and how many there are."""
    said: list[str] = []
    for file, faults in _together(report.faults, lambda fault: fault.file).items():
        if len(faults) == 1:
            said.append(str(faults[0]))
        else:
            said += [f"{file}:", *(f"  {_within_file(fault)}" for fault in faults)]
    if (rest := report.num_faults - len(report.faults)) > 0:
        said.append(f"... and {count(rest, 'more fault')}")
    said.append(f"nothing was stored: {count(report.num_faults, 'fault')}")
    return "\n".join(one_line(line) for line in said)


def _within_file(fault: Fault) -> str:
    return str(fault).removeprefix(fault.file).lstrip(",: ")


def _together(items: Iterable[Any], key: Any) -> dict[str, list[Any]]:
    """Items that share a key, in the order in which the keys come up."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


# One run


def show_run(report: dict[str, Any]) -> None:
    """One run: which queries count and which do not, its means, its slices, and its queries, worst first."""
    k = report["k"]
    _print(out, f"{report['run']} at k = {k}, labels {report['label_set']}", style="bold")
    for sentence in _of_queries(report):
        say(sentence)
    if report["leaks"]:
        many = count(report["leaks"], "result")
        _print(out, f"{many} that the query's user may not read", style="bold red")
    show_table(_means(report, k))
    if unknown := report["uncut"]["num_unknown"]:
        many = f"{count(unknown, 'query', 'queries')} {'has' if unknown == 1 else 'have'}"
        say(
            f"{many} uncut values that only the whole file gives:"
            f" `rankroom rescore {shlex.quote(report['run'])} --from FILE`"
        )
    if "slices" in report:
        out.print()
        show_table([one["slice"] | _of(one, ("n", *OF_A_SLICE)) for one in report["slices"]])
    queries = sorted(report["queries"], key=lambda q: (q["ndcg"] is None, q["ndcg"] or 0.0))
    out.print()
    show_table([_of(query, OF_A_QUERY) for query in queries[:MOST_QUERIES]])
    if (rest := len(queries) - MOST_QUERIES) > 0:
        say(f"... and {count(rest, 'more query', 'more queries')}: --json has them all")


def _of_queries(report: dict[str, Any]) -> Iterator[str]:
    counts = [count(report["n"], "answerable labelled query", "answerable labelled queries")]
    counts += [f"{report[name]:,} {words}" for name, words in NOT_COUNTED if report[name]]
    yield ", ".join(counts)
    if report["no_answer"]:
        yield f"abstained rightly in {report['correct_abstention']:.3f} of the no-answer queries"
    if report["false_abstention"]:
        yield f"abstained wrongly in {report['false_abstention']:.3f} of the answerable queries"


def _means(report: dict[str, Any], k: int) -> list[dict[str, Any]]:
    """The means, and beside those of which no ranking reaches 1 under these labels what it can reach."""
    ceilings = {f"{name}@{k}": report[f"{name}_ceiling"] for name in CEILINGS}
    below_1 = {name: at for name, at in ceilings.items() if at is not None and at < 1 - 1e-12}
    means = {f"{name}@{k}": report[name] for name in MEANS} | {name: report["uncut"][name] for name in UNCUT}
    return [
        {"metric": name, "mean": mean} | ({"ceiling": below_1.get(name, "")} if below_1 else {})
        for name, mean in means.items()
    ]


# Two runs


def show_comparison(comparison: Comparison) -> None:
    """Two runs: the verdict in words, what to know before the numbers, and the numbers."""
    from rankroom import comparison_report

    first, *others = comparison_report.sentences(comparison)
    _print(out, first, style="bold")
    for sentence in others:
        say(sentence)
    for rows in (
        comparison_report.metric_rows(comparison),
        comparison_report.slice_rows(comparison),
        comparison_report.account_rows(comparison),
    ):
        if rows:
            out.print()
            show_table(rows, spare=SPARED)
    if not comparison.metrics and comparison.common:
        say("--common compares them on what they share")


# Failures


def show_failures(report: dict[str, Any]) -> None:
    """How many queries fail for which cause, and each of them with the fact that shows it."""
    failing, k = report["failures"], report["k"]
    picked = " with this first cause" if report["classes"] else ""
    where = f" in split {report['split']}" if report["split"] != "all" else ""
    where = where or (" in all splits" if report["has_splits"] else "")
    many = f"{len(failing):,} of {count(report['num_queries'], 'query', 'queries')}{where} fail{picked}"
    _print(out, f"{report['run']} at k = {k}, labels {report['label_set']}: {many}", style="bold")
    if not failing and not report["counts"]:
        return
    by = report["by"]
    show_table(
        [
            ({by: row["slice"]} if by else {})
            | {"class": row["class"], "first cause": row["num_failing"], "also": row["num_also"]}
            | ({"of": row["num_queries"]} if by else {})
            for row in report["counts"]
        ]
    )
    out.print()
    if failing:
        show_table([_of_failure(row) for row in failing], spare=(("also",), ("missing",)))


def _of_failure(row: Mapping[str, Any]) -> dict[str, Any]:
    return _of(row, ("query_id", "class", "fact")) | {
        "also": ", ".join(row["also"]),
        "missing": ", ".join(row["missing"]),
    }


def say_lines(text: Iterable[str]) -> None:
    """Lines that are fit to be printed, as they are: no folding, so that they can be pasted."""
    for line in text:
        out.file.write(f"{line}\n")


# Tables


def show_table(
    rows: Sequence[Mapping[str, Any]],
    only: Sequence[str] = (),
    *,
    raw: bool = False,
    spare: Sequence[Sequence[str]] = (),
) -> None:
    """Rows as a table, numbers to the right; metrics with three decimals or, if `raw`, values as they are.

    Columns of `spare` are left out, those that stand together all at once and the first of them first, until
    every row has room on one line.
    """
    if not rows:
        say("no rows")
        return
    names = list(only or rows[0])
    cell = _raw_cell if raw else _cell
    shown = rows[:MOST_ROWS] if sys.stdout.isatty() else rows
    heads = [one_line(name) for name in names]
    cells = [[cell(row[name]) for name in names] for row in shown]
    widths = [max(map(cell_len, column)) for column in zip(heads, *cells, strict=True)]
    if left_out := _to_leave_out(dict(zip(names, widths, strict=True)), spare):
        show_table(rows, [name for name in names if name not in left_out], raw=raw)
        say(f"no room here for {', '.join(left_out)}: a wider window, a pipe and --json have them")
        return
    to_the_right = [_is_numeric([row[name] for row in shown]) for name in names]
    least = [
        width if right else min(width, NARROWEST) for width, right in zip(widths, to_the_right, strict=True)
    ]
    room = out.width - 2 * (len(widths) - 1)
    if sum(widths) <= room:
        _align(heads, cells, widths, to_the_right)
    elif sum(least) <= room:
        _fold(heads, cells, to_the_right)
    else:
        _pile(heads, cells)
    if (rest := len(rows) - len(shown)) > 0:
        _print(err, f"... and {count(rest, 'more row')}: a pipe gets them all, and so does --json")


def _to_leave_out(widths: Mapping[str, int], spare: Sequence[Sequence[str]]) -> list[str]:
    """As many of the columns to spare as make room for the others; none where not even all would."""
    over = sum(widths.values()) + 2 * (len(widths) - 1) - out.width
    left_out: list[str] = []
    for names in spare:
        if over > 0:
            there = [name for name in names if name in widths]
            left_out += there
            over -= sum(widths[name] + 2 for name in there)
    return left_out if over <= 0 else []


def _align(
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
    to_the_right: Sequence[bool],
) -> None:
    """Every row on one line."""
    for at, row in enumerate((heads, *cells)):
        padded = (
            " " * (width - cell_len(text)) + text if right else text + " " * (width - cell_len(text))
            for text, width, right in zip(row, widths, to_the_right, strict=True)
        )
        line = "  ".join(padded).rstrip()
        if at == 0:
            _print(out, line, style="bold")
        else:
            out.file.write(f"{line}\n")  # rich would take a minute for 100,000 of them


def _fold(heads: Sequence[str], cells: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> None:
    """Columns made narrower: what does not fit goes on in the next line; numbers stay whole."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head, right in zip(heads, to_the_right, strict=True):
        table.add_column(Text(head), justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in cells:
        table.add_row(*map(Text, row))
    out.print(table)


def _pile(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Every row as a block of lines, a line a column, where there is no room for columns."""
    for at, row in enumerate(cells):
        if at:
            out.print()
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column(overflow="fold")
        for head, text in zip(heads, row, strict=True):
            table.add_row(Text(head), Text(text))
        out.print(table)


def show_plan(rows: Sequence[Mapping[str, Any]]) -> None:
    """What EXPLAIN says, which is a drawing of many lines."""
    for row in rows:
        out.print(Text(lines(row["explain_value"])))


def is_plan(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these rows are what EXPLAIN gives."""
    return bool(rows) and list(rows[0]) == ["explain_key", "explain_value"]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if plain(value) is None else f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return _raw_cell(value)


def _raw_cell(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.6g}"
    spelt = plain(value)
    return one_line(spelt if isinstance(spelt, str) else json.dumps(spelt, ensure_ascii=False))


def _is_numeric(column: Sequence[Any]) -> bool:
    """Whether a column has numbers, and beside them only gaps."""
    given = [value for value in column if value is not None and value != ""]
    return bool(given) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in given)


def _of(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _print(console: Console, sentence: str, style: str = "") -> None:
    console.print(Text(one_line(sentence), style=style))
