"""A command of rankroom in a short child process: how the dashboard, which only reads, writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rankroom.terminal import PROGRESS_RECORD

LONGEST_REPORT = 16 * 2**20
"""Bytes of standard output that are read, and one more: of a longer report nothing is believed."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, and which of how many it is."""


@dataclass(frozen=True)
class Ended:
    """How a child ended: exit code, standard output and error, and the time limit it met (0: none)."""

    code: int
    out: bytes
    err: str
    timed_out: float = 0.0


def run(
    arguments: Sequence[str],
    *,
    folder: Path,
    spill: Path,
    timeout: float,
    progress: Progress | None = None,
) -> Ended:
    """Run `rankroom ARGUMENTS` in a folder; whatever happens here, it does not outlive this call."""
    late = threading.Event()
    with tempfile.TemporaryFile() as out:
        try:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "rankroom", *arguments],
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
            return Ended(70, b"", f"the child process could not be started: {error}")

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
        return Ended(child.returncode, out.read(LONGEST_REPORT + 1), said, timeout if late.is_set() else 0.0)


def problem(ended: Ended) -> str:
    """Why a child ended without a report."""
    if said := ended.err.strip():
        return said
    if ended.code < 0:
        return (
            f"the child process was ended from outside (signal {-ended.code}); it may have run out of memory"
        )
    return f"the child process ended without a report (exit code {ended.code})"


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
