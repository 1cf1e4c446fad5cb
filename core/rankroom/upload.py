"""An upload to the dashboard: checked, and then added, by a short child process.

The dashboard never opens the store for writing, so the child is the command line's own `add`. It works in a
private folder, takes no code from there, and folder and child are gone when the call returns.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankroom import child
from rankroom.child import LONGEST_REPORT, Ended, Progress
from rankroom.errors import Refused
from rankroom.faults import Doubt, Fault
from rankroom.upload_files import FolderUpload, Laid, Sent, TrecUpload, Upload, lay_out

__all__ = ["FolderUpload", "Outcome", "Sent", "TrecUpload", "add", "check"]

TIMEOUT = 900.0
"""Seconds after which the child is stopped."""

WAIT = 30.0
"""Seconds that the child waits for a store which others use."""


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
        command = ["add", "--json"]
        command += [f"--store={Path(store).expanduser().resolve()}", f"--wait={wait}"]
        command += ["--dry-run"] if dry_run else []
        command += ["--collapse=first"] if upload.collapse_first else []
        ended = child.run(
            [*command, *laid.arguments], folder=laid.folder, spill=spill, timeout=timeout, progress=progress
        )
        return _outcome(ended, dry_run, laid, private)


def _outcome(ended: Ended, dry_run: bool, laid: Laid, private: str) -> Outcome:
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
        return Outcome(dry_run, problem=child.problem(ended).replace(private, ""))
    doubts = tuple(Doubt(**doubt) for doubt in said["doubts"])
    if said.get("refused"):
        faults = tuple(
            Fault(**(fault | {"file": laid.name if fault["file"] == "." else fault["file"]}))
            for fault in said["faults"]
        )
        return Outcome(dry_run, faults=faults, num_faults=said["num_faults"], doubts=doubts)
    return Outcome(dry_run, added=said, doubts=doubts, not_read=laid.not_read)
