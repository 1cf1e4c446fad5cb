"""An upload to the dashboard: checked, and then added, by a short child process.

The dashboard never opens the store for writing, so the child is the command line's own `add`. It works in a
private folder, takes no code from there, and folder and child are gone when the call returns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rankroom.errors import Refused
from rankroom.faults import Doubt, Fault
from rankroom.terminal import PROGRESS_RECORD
from rankroom.upload_files import FolderUpload, Laid, Sent, TrecUpload, Upload, lay_out

__all__ = ["FolderUpload", "Outcome", "Sent", "TrecUpload", "add", "check"]

TIMEOUT = 900.0
"""Seconds after which the child is stopped."""

WAIT = 30.0
"""Seconds that the child waits for a store which others use."""

LONGEST_REPORT = 16 * 2**20

Progress = Callable[[str, int, int], None]
"""Told what is being done, and which of how many it is."""


@dataclass(frozen=True)
class Outcome:
    """What came of an upload: what was added (or would be), or the faults, or why neither is known."""

    dry_run: bool
    added: dict[str, Any] | None = None
    faults: tuple[Fault, ...] = ()
    num_faults: int = 0
    doubts: tuple[Doubt, ...] = ()
    problem: str = ""
    not_read: int = 0
    """Files of an archive that lie outside the data set's folder."""

    @property
    def is_new(self) -> bool:
        """Whether there is anything that the store does not have already."""
        added = self.added or {}
        return bool(added.get("new")) or any(run["state"] != "already there" for run in added.get("runs", []))


def check(store: str | Path, upload: Upload, progress: Progress | None = None, **limits: float) -> Outcome:
    """Read, check and score everything, and store nothing."""
    return _send(store, upload, True, progress, **limits)


def add(store: str | Path, upload: Upload, progress: Progress | None = None, **limits: float) -> Outcome:
    """Check everything again, and store it: all of it or nothing."""
    return _send(store, upload, False, progress, **limits)


def _send(
    store: str | Path,
    upload: Upload,
    dry_run: bool,
    progress: Progress | None,
    timeout: float = TIMEOUT,
    wait: float = WAIT,
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="rankroom-upload-") as private:
        given, spill = Path(private) / "given", Path(private) / "spill"
        given.mkdir()
        spill.mkdir()
        try:
            laid = lay_out(given, upload)
        except Refused as refused:
            report = refused.report
            return Outcome(dry_run, faults=tuple(report.faults), num_faults=report.num_faults)
        command = [sys.executable, "-P", "-m", "rankroom", "add", "--json"]
        command += [f"--store={Path(store).expanduser().resolve()}", f"--wait={wait}"]
        command += ["--dry-run"] if dry_run else []
        command += ["--collapse=first"] if upload.collapse_first else []
        ended = _run([*command, *laid.arguments], laid.folder, spill, progress, timeout)
        return _outcome(ended, dry_run, laid, private)


@dataclass(frozen=True)
class _Ended:
    code: int
    out: bytes
    err: str
    timed_out: float = 0.0


def _run(command: list[str], folder: Path, spill: Path, progress: Progress | None, timeout: float) -> _Ended:
    """Run the child in the folder of the files; whatever happens here, it does not outlive this call."""
    late = threading.Event()
    with tempfile.TemporaryFile() as out:
        try:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env=_environment(spill),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except (OSError, ValueError) as error:
            return _Ended(70, b"", f"the check could not be started: {error}")

        def stop() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            assert child.stderr is not None
            said = "".join(_without_progress(child.stderr, progress))
            child.wait()
        finally:
            timer.cancel()
            child.kill()
            child.wait()
            if child.stderr:
                child.stderr.close()
        out.seek(0)
        return _Ended(child.returncode, out.read(LONGEST_REPORT + 1), said, timeout if late.is_set() else 0.0)


def _without_progress(stderr: IO[str], progress: Progress | None) -> Iterator[str]:
    for line in stderr:
        if not line.startswith(PROGRESS_RECORD):
            yield line
        elif progress:
            progress(*json.loads(line.removeprefix(PROGRESS_RECORD)))


def _environment(spill: Path) -> dict[str, str]:
    """The child finds this rankroom and no code in its own folder, and what it spills is removed with it."""
    here = [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in here if Path(path).is_absolute()),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
        "TMPDIR": str(spill),
        "RANKROOM_PROGRESS": "json",
    }


def _outcome(ended: _Ended, dry_run: bool, laid: Laid, private: str) -> Outcome:
    if ended.timed_out:
        return Outcome(
            dry_run,
            problem=f"it took longer than {ended.timed_out:,.0f} seconds and was stopped."
            " Use `rankroom add` on the machine of the store for files as large as these.",
        )
    try:
        said = json.loads(ended.out) if len(ended.out) <= LONGEST_REPORT else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return Outcome(dry_run, problem=_problem(ended, private))
    doubts = tuple(Doubt(**doubt) for doubt in said["doubts"])
    if said.get("refused"):
        faults = tuple(
            Fault(**(fault | {"file": laid.name if fault["file"] == "." else fault["file"]}))
            for fault in said["faults"]
        )
        return Outcome(dry_run, faults=faults, num_faults=said["num_faults"], doubts=doubts)
    return Outcome(dry_run, added=said, doubts=doubts, not_read=laid.not_read)


def _problem(ended: _Ended, private: str) -> str:
    if said := ended.err.replace(private, "").strip():
        return said
    if ended.code < 0:
        return (
            f"the child process was ended from outside (signal {-ended.code}); it may have run out of memory"
        )
    return f"the child process ended without a report (exit code {ended.code})"
