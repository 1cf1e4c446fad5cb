"""The file of a store without a row, which every new store begins as a copy of.

To make its views and comments takes longer than to read a small file. So it can be begun beside the reading,
and a process makes it once.
"""

from __future__ import annotations

import tempfile
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock, Thread

import duckdb

from rankroom import migrations
from rankroom.resources import folder

STORAGE_VERSION = "v1.5.0"
"""The oldest DuckDB whose clients open a store."""

_made: dict[str, bytes] = {}
_making = Lock()


def empty_store() -> bytes:
    """The bytes of the file. Raises duckdb.Error or OSError where the temporary folder takes no file."""
    with _making:
        sql = folder("sql")
        key = migrations.fingerprint(sql, schema=True)
        if key not in _made:
            _made.clear()
            _made[key] = _make()
        return _made[key]


def begin() -> None:
    """Make it in another thread: whoever asks for it meanwhile waits for that one."""
    Thread(target=_try, name="empty store").start()


def _try() -> None:
    with suppress(duckdb.Error, OSError):  # whoever asks for it gets the error
        empty_store()


def _make() -> bytes:
    with tempfile.TemporaryDirectory(prefix="rankroom") as place, closing(duckdb.connect()) as con:
        path = Path(place) / "empty.duckdb"
        quoted = str(path).replace("'", "''")
        con.execute(f"attach '{quoted}' as store (storage_version '{STORAGE_VERSION}'); use store")
        migrations.migrate(con)
        con.execute("use memory; detach store")
        return path.read_bytes()
