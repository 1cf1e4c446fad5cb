"""Giving up files and network for good, by Landlock of Linux: what a hole in DuckDB would still run into.

DuckDB is told not to reach beyond the store, and this makes the kernel say the same. Where there is no
Landlock (macOS, kernels before 5.13, some containers) DuckDB's word is all there is.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

# The same numbers on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1
SET_NO_NEW_PRIVS = 38

READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
FILE_RIGHTS = (1 << 13) - 1
"""Executing, writing, reading, listing, removing and making anything. Later versions know more rights."""
REFER, TRUNCATE, DEVICE = 1 << 13, 1 << 14, 1 << 15
TCP = 0b11
"""Binding and connecting."""
OTHER_PROCESSES = 0b11
"""Abstract sockets of others, and signals to them."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scope", ctypes.c_uint64))


class _Rule(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def restrict_to(readable: Iterable[Path]) -> bool:
    """From here on this thread, and those it starts, open nothing but these, to read; whether that holds.

    What is open already stays open. A folder stands for all that is in it.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return False
    wanted = _Ruleset(
        _file_rights(version), TCP if version >= 4 else 0, OTHER_PROCESSES if version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow(libc, ruleset, path)
        libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _file_rights(version: int) -> int:
    later = ((2, REFER), (3, TRUNCATE), (5, DEVICE))
    return FILE_RIGHTS | sum(right for since, right in later if version >= since)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be read either
    try:
        rule = _Rule(READ_FILE | READ_FOLDER if path.is_dir() else READ_FILE, opened)
        libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(opened)
