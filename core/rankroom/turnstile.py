"""The turnstile: a lock file beside the store, so that neither readers nor writers starve the others.

DuckDB lets one process write a file or many read it, and refuses whoever comes at the wrong moment. With a
plain retry, a busy dashboard keeps every writer out for ever. So readers pass a gate (a shared flock) each
time they open, and a writer keeps that gate shut while it waits for the last reader to leave and while it
writes.

A writer that waits shuts the gate for less than a second and then steps back: a DuckDB shell that somebody
left open must not freeze the dashboard. Two moments written in the lock file make the turns: until when a
writer wants the gate (readers hold back, so that it need not catch an instant without any of them), and when
a writer last freed it (writers keep off for READERS_TURN from then, so that readers pass between them).
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb

HOLD = 0.8
"""Seconds for which a waiting writer keeps readers out in one go. Two in a row stay below two seconds."""
READERS_TURN = 0.1
"""Seconds for which writers keep off the gate after one of them has held it."""
LONGEST_PAUSE = 2.0
"""Seconds to which a waiting writer's pauses grow."""
WANTED_FOR = 0.1
"""Seconds for which a writer's wish holds readers back; a waiting writer renews it, a killed one cannot."""
MOMENT = struct.Struct("<d")
FREED, WANTED = 0, MOMENT.size
"""Where the two moments stand in the lock file, in seconds of the clock."""
READER_POLL = 0.01
WRITER_POLL = 0.005
OPEN_POLL = 0.02

T = TypeVar("T")


class GateShut(Exception):
    """The gate did not open in time: other processes were writing."""


class Turnstile:
    """The gate of one store. Every `read` and `write` opens the lock file anew, so threads may share it."""

    def __init__(self, store: Path):
        self.path = Path(f"{store}.gate")

    def read(self, opening: Callable[[], T], wait: float) -> T:
        """What `opening` returns, called with the gate shared; called again while a writer has the file.

        The last error of `opening` is raised after `wait` seconds, or GateShut.
        """
        deadline = time.monotonic() + wait
        while True:
            with self._shared(deadline):
                try:
                    return opening()
                except duckdb.IOException as error:
                    if not is_busy(error) or time.monotonic() > deadline:
                        raise
            _sleep(OPEN_POLL)

    @contextmanager
    def write(self, opening: Callable[[], T], wait: float) -> Iterator[T]:
        """What `opening` returns (tried for `wait` seconds), with the gate shut until the block ends."""
        deadline = time.monotonic() + wait
        pause = READERS_TURN
        while True:
            with self._exclusive(deadline):
                try:
                    opened = _insist(opening, until=min(deadline, time.monotonic() + HOLD))
                except duckdb.IOException as error:
                    if not is_busy(error) or time.monotonic() > deadline:
                        raise
                else:
                    yield opened
                    return
            _sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = min(pause * 2, LONGEST_PAUSE)

    @contextmanager
    def _shared(self, deadline: float) -> Iterator[None]:
        fd = self._open_for_reader()
        if fd is None:
            yield
            return
        try:
            while not (_Moments.of(fd).readers_may_pass() and _lock(fd, fcntl.LOCK_SH)):
                if time.monotonic() > deadline:
                    raise GateShut
                _sleep(READER_POLL)
            yield
        finally:
            _free(fd)

    @contextmanager
    def _exclusive(self, deadline: float) -> Iterator[None]:
        fd = self._open_for_writer()
        try:
            while not _shut(fd):
                if time.monotonic() > deadline:
                    raise GateShut
                _sleep(WRITER_POLL)
            try:
                yield
            finally:
                _note(fd, WANTED, 0.0)
                _note(fd, FREED, time.time())
        finally:
            _free(fd)

    def _open_for_reader(self) -> int | None:
        """The gate, or None where none can be made (a read-only folder: there is no writer either)."""
        try:
            return os.open(self.path, os.O_RDONLY | os.O_CREAT, 0o666)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                return None
            raise

    def _open_for_writer(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)


def is_busy(error: duckdb.Error) -> bool:
    """Whether another process has the file: the one error that passes by itself, so the only one retried."""
    return isinstance(error, duckdb.IOException) and "Could not set lock" in str(error)


def _insist(opening: Callable[[], T], until: float) -> T:
    """What `opening` returns, called again while another process has the file, up to the moment `until`."""
    while True:
        try:
            return opening()
        except duckdb.IOException as error:
            if not is_busy(error) or time.monotonic() > until:
                raise
        _sleep(OPEN_POLL)


def _lock(fd: int, how: int) -> bool:
    # Asked again and again rather than waited for: a blocking flock cannot be given a time limit in a thread.
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _shut(fd: int) -> bool:
    """Shut the gate if it can be had now; if readers are on their way through, let no more of them in."""
    if _Moments.of(fd).is_readers_turn():
        return False
    if not _lock(fd, fcntl.LOCK_EX):
        _note(fd, WANTED, time.time() + WANTED_FOR)
        return False
    if _Moments.of(fd).is_readers_turn():  # another writer came and went between the two
        fcntl.flock(fd, fcntl.LOCK_UN)
        return False
    return True


@dataclass(frozen=True)
class _Moments:
    """What the lock file says: when a writer last freed the gate, and until when one wants it."""

    freed: float = 0.0
    wanted_until: float = 0.0

    @classmethod
    def of(cls, fd: int) -> _Moments:
        content = os.pread(fd, 2 * MOMENT.size, 0).ljust(2 * MOMENT.size, b"\0")
        return cls(*MOMENT.unpack_from(content, FREED), *MOMENT.unpack_from(content, WANTED))

    def is_readers_turn(self) -> bool:
        return 0 <= time.time() - self.freed < READERS_TURN

    def readers_may_pass(self) -> bool:
        # A moment further ahead than a writer ever asks for is one of a clock that was set back.
        wanted = 0 < self.wanted_until - time.time() <= WANTED_FOR
        return self.is_readers_turn() or not wanted


def _note(fd: int, where: int, moment: float) -> None:
    # A disk so full that it does not take these bytes costs turns, not the store.
    with suppress(OSError):
        os.pwrite(fd, MOMENT.pack(moment), where)


def _free(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_UN)  # said, not left to close: a forked child may hold the descriptor too
    os.close(fd)


def _sleep(seconds: float) -> None:
    """Sleep about so long, so that processes that began together do not stay in step."""
    time.sleep(seconds * random.uniform(0.75, 1.25))
