"""One statement of a stranger on the store, in a process of its own that can be stopped whatever it does.

DuckDB's SQL is code: it is run where it can do nothing but read the store and burn the time and memory it is
given. Each statement gets a fresh process (rankroom.sandbox_worker) with an empty environment and an empty
folder, held to its limits by the operating system and killed with its whole group when its time is up. Where
Linux has Landlock, the kernel keeps it from every other file and from connections. What it sends back is not
trusted either: only so many bytes of it are read, and they are checked.

While a statement runs, it has the store open for reading, and writers wait: its time limit bounds for how
long.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from rankroom.errors import RankroomError
from rankroom.store import Store

MOST_AT_ONCE = 3
"""Sandboxes that run at a time; who comes later waits for one to end."""
PATIENCE = 20.0
"""Seconds to wait for that."""
ROUND = 5.0
"""Seconds from the first of several statements at a time within which others may join it."""
WRITERS_TURN = 3.0
"""Seconds for which nothing is run after a longer round: a waiting writer tries at least so often."""
START = 20.0
"""Seconds that a process may take until it has the store open, beyond the wait for the store itself."""
GRACE = 0.5
"""Seconds beyond its limit in which a statement may still say by itself that its time is up."""
HEAD = 1_000_000
"""Bytes that may come beyond the rows: what is said about them, and Arrow's frames."""

BOOT = """
import sys
sys.path += [path for path in sys.argv[1:] if path not in sys.path]
del sys.argv[1:]
from rankroom.sandbox_worker import main
main()
"""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """How much of everything one statement may take."""

    seconds: float = 10.0
    """Writers of the store wait for a statement that runs, so this is short."""
    memory: int = 1_000_000_000
    """Bytes beyond what an idle process has; DuckDB plans with half of it."""
    rows: int = 10_000
    size: int = 20_000_000
    """Bytes of the rows that come back."""
    statement: int = 100_000
    """Bytes of the statement."""
    threads: int = 2
    wait: float = 5.0
    """Seconds to wait for a store that is being written."""


LIMITS = Limits()


@dataclass(frozen=True)
class Answer:
    """The rows of a statement. `cut` says in words which limit took some away, and is empty if none did."""

    table: pa.Table
    seconds: float
    cut: str = ""


class StatementError(RankroomError):
    """A statement that gave no rows, and why: refused, failed, time, memory, size, busy, unavailable, broken.

    `line`, `column` (from 1) and `length` say where in the statement, if that is known.
    """

    def __init__(self, kind: str, message: str, statement: str = "", at: int | None = None, length: int = 1):
        super().__init__(message)
        self.kind = kind
        self.line: int | None = None
        self.column: int | None = None
        self.length = max(1, length)
        if at is not None and at <= len(statement):
            self.line = statement.count("\n", 0, at) + 1
            self.column = at - (statement.rfind("\n", 0, at) + 1) + 1


def ask(store: Store, statement: str, limits: Limits = LIMITS) -> Answer:
    """The rows of one SELECT on the store, or StatementError. The text may come from anybody."""
    _check_text(statement, limits)
    with _places.one(), tempfile.TemporaryDirectory(prefix="rankroom-sandbox-") as folder:
        job = _job(store, statement, limits)
        with _process(job, folder) as (process, errors):
            reply = _read(process, limits)
            status = _end(process)
            return _answer(reply, status, errors, statement, limits)


class Places:
    """Places for a few statements at a time, in rounds.

    A statement holds the store for up to its time limit, and statements that overlap would keep writers out
    for ever. So others join only at the start of a round, and after a long one comes the writers' turn.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._began = 0.0
        self._not_before = 0.0

    @contextmanager
    def one(self) -> Iterator[None]:
        """A place for the block, or StatementError if there is none for too long."""
        deadline = time.monotonic() + PATIENCE
        with self._changed:
            while not self._may_enter(now := time.monotonic()):
                if now > deadline:
                    raise StatementError("busy", "Other statements are running, or just did: try again.")
                self._changed.wait(0.1)
            if not self._running:
                self._began = now
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                ended = time.monotonic()
                if not self._running and ended - self._began > ROUND:
                    self._not_before = ended + WRITERS_TURN
                self._changed.notify_all()

    def _may_enter(self, now: float) -> bool:
        if self._running:
            return self._running < MOST_AT_ONCE and now - self._began < ROUND
        return now >= self._not_before


_places = Places()


def _check_text(statement: str, limits: Limits) -> None:
    try:
        size = len(statement.encode())
    except UnicodeEncodeError as error:
        raise StatementError(
            "refused", "The statement holds half a character (a lone surrogate).", statement, error.start
        ) from None
    if size > limits.statement:
        raise StatementError(
            "refused",
            f"The statement has {size:,} bytes, and {limits.statement:,} are the most: nothing was run.",
        )
    if (at := statement.find("\0")) >= 0:
        raise StatementError("refused", "The statement holds a NUL character.", statement, at)
    if not statement.strip():
        raise StatementError("refused", "There is no statement yet.")


def _job(store: Store, statement: str, limits: Limits) -> bytes:
    return json.dumps(
        {
            "store": str(store.path.resolve()),
            "statement": statement,
            "seconds": limits.seconds,
            "wait": limits.wait,
            "alarm": START + limits.wait + limits.seconds + GRACE,
            "memory": limits.memory,
            "rows": limits.rows,
            "size": limits.size,
            "threads": limits.threads,
        }
    ).encode()


@contextmanager
def _process(job: bytes, folder: str) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """The process, and the file of what it complains of. When the block ends nothing of it is left."""
    paths = [path for path in sys.path if os.path.isabs(path)]  # noqa: PTH117
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as errors:
        # Files rather than pipes: a process that does not read, or writes a lot, keeps nobody waiting.
        stdin.write(job)
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", BOOT, *paths],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        try:
            yield process, errors
        finally:
            _end(process, at_once=True)
            if process.stdout:
                process.stdout.close()


def _environment(folder: str) -> dict[str, str]:
    """All that the process gets to know: no secret, and the same time zone and language for everybody."""
    environment = {
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        # Pools that a machine with many cores would fill the address space with.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }
    if libraries := os.environ.get("LD_LIBRARY_PATH"):  # without it some Pythons do not start
        environment["LD_LIBRARY_PATH"] = libraries
    return environment


def _read(process: subprocess.Popen[bytes], limits: Limits) -> bytes:
    """What the process says until it ends, its time is up, or it says too much."""
    assert process.stdout is not None
    reply = bytearray()
    deadline = time.monotonic() + START + limits.wait
    is_open = False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                continue
            part = os.read(process.stdout.fileno(), 1 << 20)
            reply += part
            if not part:
                return bytes(reply)
            if len(reply) > limits.size + HEAD:
                raise StatementError("size", _too_large(limits))
            if not is_open and b"\n" in reply:
                is_open = True
                deadline = time.monotonic() + limits.seconds + GRACE
    if not is_open:
        raise StatementError("unavailable", "The process for the statement did not start in time: try again.")
    raise StatementError("time", _too_slow(limits))


def _end(process: subprocess.Popen[bytes], at_once: bool = False) -> int:
    """Its exit status, once nothing of its group is left. It gets a second to end unless `at_once`."""
    if not at_once:
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _answer(reply: bytes, status: int, errors: IO[bytes], statement: str, limits: Limits) -> Answer:
    first, _, rest = reply.partition(b"\n")
    head, _, rows = rest.partition(b"\n") if b'"open"' in first else (first, b"", b"")
    try:
        said = json.loads(head)
        if "fault" in said:
            raise _error(said["fault"], statement, limits)
        table = pa.ipc.open_stream(rows).read_all()
        table.validate(full=True)
        return Answer(table, float(said["answer"]["seconds"]), _cut(said["answer"]["cut"], limits))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, pa.ArrowException):
        raise _broken(status, errors, limits) from None


def _error(fault: dict[str, Any], statement: str, limits: Limits) -> StatementError:
    kind, message = str(fault["kind"]), str(fault["message"])
    if kind == "time":
        return StatementError(kind, _too_slow(limits))
    if kind == "memory":
        return StatementError(kind, _too_hungry(limits))
    if kind == "size":
        return StatementError(kind, _too_large(limits))
    if kind not in ("refused", "failed", "unavailable"):
        raise ValueError(kind)
    at, length = fault["position"], fault["length"]
    return StatementError(
        kind,
        message,
        statement,
        at if isinstance(at, int) else None,
        length if isinstance(length, int) else 1,
    )


def _broken(status: int, errors: IO[bytes], limits: Limits) -> StatementError:
    """An answer that is none, by how the process ended."""
    if status in (-signal.SIGXCPU, -signal.SIGALRM):
        return StatementError("time", _too_slow(limits))
    errors.seek(0)
    _log.warning("a sandbox ended with status %s: %s", status, errors.read(4000).decode(errors="replace"))
    if status < 0:
        name = signal.Signals(-status).name
        return StatementError(
            "broken",
            f"The statement brought its process down ({name}); nothing else is harmed. Most often it needs "
            f"more memory than it may have ({_megabytes(limits.memory)}), or nests too deeply.",
        )
    return StatementError(
        "broken", f"The process for the statement ended without an answer (exit status {status})."
    )


def _cut(cut: object, limits: Limits) -> str:
    return {
        "rows": f"cut at {limits.rows:,} rows",
        "size": f"cut at {_megabytes(limits.size)}",
    }.get(str(cut), "")


def _too_slow(limits: Limits) -> str:
    return (
        f"Stopped: the statement took longer than {limits.seconds:g} seconds, the most it may. "
        "Ask for fewer rows, or add conditions such as k = 5."
    )


def _too_hungry(limits: Limits) -> str:
    return (
        f"Stopped: the statement needs more memory than it may have ({_megabytes(limits.memory)}). "
        "Ask for fewer or shorter rows, or add conditions such as k = 5."
    )


def _too_large(limits: Limits) -> str:
    return f"Stopped: a row is larger than {_megabytes(limits.size)}. Ask for fewer or shorter columns."


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
