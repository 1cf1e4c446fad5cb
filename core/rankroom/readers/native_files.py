"""Which files of a native folder are what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rankroom.faults import Fault, Report
from rankroom.names import UTF8_EXPECTED, is_utf8, run_name
from rankroom.printable import one_line


@dataclass(frozen=True)
class Files:
    """Where the parts of a data set are; None for what is not there."""

    queries: Path | None
    labels: Path | None
    documents: Path | None

    def names(self, folder: Path) -> tuple[str, ...]:
        """All files of the data set, relative to the folder where they are in it."""
        found = (folder / "dataset.toml", self.queries, self.labels, self.documents)
        return tuple(
            (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()
            for path in found
            if path
        )


def find_files(folder: Path, report: Report, labels_file: Path | None = None) -> Files:
    """The files of a data set; what is missing or there twice is a fault.

    `labels_file` is taken in the place of the folder's own labels.
    """
    qrels = sorted(path for path in folder.iterdir() if run_name(path) == "qrels" and path.is_file())
    own_labels = [*_existing(folder, "labels.jsonl", "labels.jsonl.gz"), *qrels]
    labels = [labels_file] if labels_file else own_labels
    queries = _existing(folder, "queries.jsonl", "queries.jsonl.gz")
    documents = _existing(folder, "documents.jsonl", "documents.jsonl.gz")
    for found, expected in ((queries, "queries.jsonl"), (labels, "labels.jsonl (or qrels, in TREC form)")):
        if not found:
            report.fault(Fault(str(folder), "missing_file", f"expected a file {expected} in this folder"))
    return Files(_the_one(queries, report), _the_one(labels, report), _the_one(documents, report))


def run_files(folder: str | Path) -> list[Path]:
    """The files of a folder's runs that hold results, sorted by name."""
    return sorted(path for path in _in_runs(folder) if holds_json(path) and is_utf8(path.name))


def check_run_files(folder: str | Path, report: Report) -> None:
    """Fault files of one run name and a NAME.toml without its results; say which other files are not read."""
    names = Counter(run_name(path) for path in run_files(folder))
    others = 0
    for path in _in_runs(folder):
        if not is_utf8(path.name):
            report.fault(Fault(one_line(path), "name_not_utf8", UTF8_EXPECTED))
        elif holds_json(path):
            if names[run_name(path)] > 1:
                expected = (
                    f"expected one file for the run {run_name(path)}; there are {names[run_name(path)]}"
                )
                report.fault(Fault(str(path), "repeated_run", expected))
        elif path.suffix == ".toml":
            if not names[path.stem]:
                expected = f"expected the results of this run beside it, in {path.stem}.jsonl"
                report.fault(Fault(str(path), "missing_file", expected))
        else:
            others += 1
    files = "1 file" if others == 1 else f"{others:,} files"
    report.doubt(
        str(Path(folder) / "runs"),
        "file_not_read",
        others,
        f"{files} not read: a native run ends in .jsonl (or .jsonl.gz)",
    )


def _existing(folder: Path, *names: str) -> list[Path]:
    return [folder / name for name in names if (folder / name).is_file()]


def _the_one(found: list[Path], report: Report) -> Path | None:
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        report.fault(Fault(str(found[0].parent), "two_files", f"expected one of {names}, not both"))
    return found[0] if len(found) == 1 else None


def _in_runs(folder: str | Path) -> list[Path]:
    runs = Path(folder) / "runs"
    if not runs.is_dir():
        return []
    return [path for path in sorted(runs.iterdir()) if path.is_file() and not path.name.startswith(".")]


def holds_json(path: Path) -> bool:
    """Whether a file is JSON lines, by its name."""
    return path.name.lower().endswith((".jsonl", ".jsonl.gz"))
