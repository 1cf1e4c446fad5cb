"""The store: one DuckDB file that many processes read and, a moment at a time, one writes."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import duckdb

from rankroom import empty_store, migrations
from rankroom.errors import StoreUnavailable
from rankroom.turnstile import GateShut, Turnstile, is_busy
from rankroom.workspace import open_workspace

CATALOG = "store"
READ_WAIT = 10.0
WRITE_WAIT = 60.0
SMALL_STORE = 32_000_000
"""Bytes. In a store up to here, what a join could tell a scan to leave out is less than the telling costs."""


class Store:
    """A store, by the path of its file. It holds no connection: `read` and `write` have one for a block."""

    def __init__(self, path: str | Path):
        self.path = Path(path).expanduser()
        # Two names of one file must share its gate and its write-ahead log.
        self._file = self.path.resolve()
        self._wal = Path(f"{self._file}.wal")
        self._draft = Path(f"{self._file}.rankroom-new")  # a name that nobody else gives a file
        self._turnstile = Turnstile(self._file)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def exists(self) -> bool:
        """Whether there is a file with anything in it; not whether it is a store."""
        return self._file.is_file() and self._file.stat().st_size > 0

    def stamp(self) -> tuple[int, ...]:
        """Time (ns) and size of the file and of its write-ahead log: changes whenever the store does."""
        stamps: list[int] = []
        for path in (self._file, self._wal):
            try:
                stat = path.stat()
                stamps += [stat.st_mtime_ns, stat.st_size]
            except FileNotFoundError:
                stamps += [0, 0]
        return tuple(stamps)

    @contextmanager
    def read(self, wait: float = READ_WAIT) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection on the file, for the block only; other threads take a `cursor()`."""
        con = self._open_for_reading(wait)
        try:
            with self._explained(only=_is_damage):
                found = self._check_schema(con)
                try:
                    yield con
                except (duckdb.CatalogException, duckdb.BinderException) as error:
                    if migrations.is_current(found):
                        raise
                    raise StoreUnavailable(
                        self._to_migrate(f"the views of rankroom {found.program}")
                    ) from error
        finally:
            con.close()

    @contextmanager
    def write(
        self, con: duckdb.DuckDBPyConnection, wait: float = WRITE_WAIT
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """The file as catalog `store` of this workspace connection, in one transaction: that of the block.

        An error in the block, or at the commit, leaves the store as it was. A store that does not exist is
        made, and is there only once its first transaction is; one of an older schema is migrated first.
        In the block only `store` may be written: a transaction of DuckDB writes to one file.
        """
        with ExitStack() as stack:
            with self._explained():
                self._check_place()
                attached = stack.enter_context(self._turnstile.write(lambda: self._attach(con), wait))
            try:
                with self._explained(only=lambda error: _is_damage(error) or _is_full(error)):
                    self._migrate_attached(con)
                    con.execute("begin")
                    yield con
                with self._explained():
                    con.execute("commit")
                    if attached == self._draft:
                        con.execute(f"checkpoint {CATALOG}")
            except BaseException:
                _let_go(con)
                if attached == self._draft:
                    self._discard_draft()
                raise
            _let_go(con)
            if attached == self._draft:
                with self._explained():
                    self._publish_draft()

    def migrate(self, wait: float = WRITE_WAIT) -> bool:
        """Bring an existing store up to this program's schema and views; whether there was anything to do."""
        with closing(self._open_for_reading(wait)) as con:
            found = migrations.check_not_newer(migrations.installed(con), str(self.path))
            if migrations.is_current(found):
                return False
        with closing(open_workspace()) as con, self.write(con, wait):
            return True

    def _open_for_reading(self, wait: float) -> duckdb.DuckDBPyConnection:
        # One for every reader of a process: DuckDB gives them one instance, and that has one configuration.
        config: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": _spill_folder(self._file),
        }
        with self._explained():
            self._check_place()
            if not self.exists():
                raise StoreUnavailable(
                    f"there is no store at {self.path}: "
                    f"`rankroom add --store {shlex.quote(str(self.path))} ...` makes one"
                )
            is_small = self._file.stat().st_size <= SMALL_STORE
            con = self._turnstile.read(
                lambda: duckdb.connect(str(self._file), read_only=True, config=config), wait
            )
        con.execute("set enable_progress_bar = false")
        if is_small:
            con.execute("set disabled_optimizers = 'join_filter_pushdown'")
        return con

    def _check_place(self) -> None:
        if self._file.is_dir():
            raise StoreUnavailable(f"{self.path} is a folder, not the file of a store")
        if self._file.exists() and not self._file.is_file():
            # A new store takes the place of an empty file, and must never take that of /dev/null.
            raise StoreUnavailable(f"{self.path} is a device, a pipe or a socket, not the file of a store")
        if not self._file.parent.is_dir():
            raise StoreUnavailable(f"{self.path} cannot be a store: there is no folder {self._file.parent}")

    def _check_schema(self, con: duckdb.DuckDBPyConnection) -> migrations.Installed:
        found = migrations.check_not_newer(migrations.installed(con), str(self.path))
        if found.version < (mine := migrations.newest()):
            raise StoreUnavailable(
                self._to_migrate(f"schema version {found.version}, and this rankroom needs {mine}")
            )
        return found

    def _to_migrate(self, what: str) -> str:
        command = f"rankroom migrate --store {shlex.quote(str(self.path))}"
        return f"{self.path} has {what}: `{command}` brings it up to date"

    def _attach(self, con: duckdb.DuckDBPyConnection) -> Path:
        """Attach the file; or, where there is none yet, a draft that takes its place when it is complete.

        The draft is what makes a new store appear whole or not at all, even if this process is killed.
        """
        self._discard_draft()  # of a process that was killed: whoever makes a draft holds the gate
        if self.exists():
            con.execute(f"attach {_text(self._file)} as {CATALOG}")
            return self._file
        try:
            self._draft.write_bytes(empty_store.empty_store())
            con.execute(f"attach {_text(self._draft)} as {CATALOG}")
        except (duckdb.Error, OSError):
            self._discard_draft()
            raise
        return self._draft

    def _migrate_attached(self, con: duckdb.DuckDBPyConnection) -> None:
        # Used as the default while its views are made, or their bodies would name this catalog.
        ((catalog, schema),) = con.execute("select current_database(), current_schema()").fetchall()
        con.execute(f"use {CATALOG}")
        try:
            migrations.migrate(con, name=str(self.path))
        finally:
            con.execute(f"use {catalog}.{schema}")

    def _publish_draft(self) -> None:
        if self._file.is_file() and not self.exists():
            self._file.unlink()  # an empty file, as mktemp makes them
        try:
            os.link(self._draft, self._file)  # not a rename: it never takes the place of another's file
        except FileExistsError:
            self._discard_draft()
            raise StoreUnavailable(
                f"another program made {self.path} meanwhile: nothing was stored, try again"
            ) from None
        except OSError:
            self._draft.rename(self._file)  # a file system without links
        self._discard_draft()

    def _discard_draft(self) -> None:
        for path in (self._draft, Path(f"{self._draft}.wal")):
            path.unlink(missing_ok=True)

    @contextmanager
    def _explained(self, only: Callable[[Exception], bool] = lambda _: True) -> Iterator[None]:
        """Errors of DuckDB, the gate and the file system, where `only` says so, as StoreUnavailable."""
        try:
            yield
        except (duckdb.Error, GateShut, OSError) as error:
            if not only(error):
                raise
            raise StoreUnavailable(self._sentence(error)) from error

    def _sentence(self, error: Exception) -> str:
        text = str(error)
        if isinstance(error, GateShut):
            return f"{self.path} could not be had: other processes kept writing to it; try again"
        if isinstance(error, duckdb.Error) and is_busy(error):
            return f"{self.path} could not be had: {_holder(text)}"
        if "Unique file handle conflict" in text or "with a different configuration" in text:
            return (
                f"{self.path} is open in this very program, in another thread or connection: close that first"
            )
        if _is_full(error):
            return f"{self.path}: the disk is full, or the file may not grow; nothing was stored ({text})"
        if "not a valid DuckDB database file" in text:
            return f"{self.path} is not a store: it is not a DuckDB file"
        if "version number" in text:
            return f"{self.path} was written by another version of DuckDB: {text}"
        if "ermission denied" in text or "Read-only file system" in text:
            return f"{self.path} may not be opened: permission denied ({text})"
        if _is_damage(error):
            return f"{self.path} is damaged: {text}"
        return f"{self.path} could not be opened: {text}"


def _let_go(con: duckdb.DuckDBPyConnection) -> None:
    """Give the file back in whatever state the connection is: an error here would hide the one that counts.

    DuckDB empties the write-ahead log into the file here. Where it cannot, the log stays and is good.
    """
    for statement in ("rollback", f"detach {CATALOG}"):
        with suppress(duckdb.Error):
            con.execute(statement)


def _is_full(error: Exception) -> bool:
    return any(part in str(error) for part in ("No space left on device", "File too large", "quota exceeded"))


def _is_damage(error: Exception) -> bool:
    return any(
        part in str(error)
        for part in (
            "Corrupt database file",
            "replaying WAL",
            "Could not read enough bytes",
            "does not match stored",
        )
    )


def _holder(message: str) -> str:
    """Who holds the file, as DuckDB's message names the process."""
    found = re.search(r"Conflicting lock is held in (.*?\(PID \d+\)(?: by user [^.]+)?)", message)
    return f"{found[1]} has it open" if found else message


def _spill_folder(file: Path) -> str:
    # Not beside the store, where a reader may have no right to write; and no two processes may share one.
    name = f"rankroom-{os.getpid()}-{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    return str(Path(tempfile.gettempdir()) / name)


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
