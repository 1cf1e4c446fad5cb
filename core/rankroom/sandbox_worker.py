"""The child process that runs one statement of a stranger on the store, and ends: see rankroom.sandbox.

It takes a job as JSON on stdin and answers on stdout in lines of JSON: that the store is open, and then
either a fault or the head of an answer, after which the rows follow as an Arrow stream. All limits are in
force before DuckDB sees the statement. They bound the process itself, since DuckDB's own limits do not hold
everywhere: no memory_limit stops repeat('x', 2e9), and no max_execution_time stops sleep_ms.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import IO, Any

import duckdb
import pyarrow as pa

from rankroom.errors import StoreUnavailable
from rankroom.faults import clip
from rankroom.resources import folder
from rankroom.sandbox_landlock import restrict_to
from rankroom.statement import LINE
from rankroom.store import Store
from rankroom.turnstile import Turnstile

BATCH = 2048
MESSAGE_LINES = 40
OPEN_FILES = 64
MAPPED = Path("/proc/self/statm")
MACHINE = [
    Path("/proc/self/cgroup"),
    Path("/sys/fs/cgroup"),
    Path("/sys/devices/system/cpu"),
    Path("/sys/kernel/mm/transparent_hugepage"),
    Path("/proc/sys/vm/overcommit_memory"),
    Path("/proc/meminfo"),
    Path("/dev/urandom"),
]
"""Where DuckDB and its memory pools look how large the machine is."""

READS = "This page only reads: "
CHANGES = READS + "runs and labels come in with `rankroom add`, and go out with `rankroom remove`."
SETTINGS = READS + "its settings are locked, and the same for everyone."
FILES = READS + "it writes no files. A result is downloaded with the buttons below it."
OUTSIDE = "This page reads nothing but the store: files, addresses, extensions and secrets are out of reach."
TRANSACTIONS = READS + "there is nothing to begin, commit or tidy up."
ONE_STORE = READS + "it is about one store, and opens no other database."

REFUSALS = {
    "COPY": FILES,
    "EXPORT": FILES,
    "COPY_DATABASE": ONE_STORE,
    "ATTACH": ONE_STORE,
    "DETACH": ONE_STORE,
    "LOAD": READS + "extensions are neither installed nor loaded.",
    "EXTENSION": READS + "extensions are neither installed nor loaded.",
    "SET": SETTINGS,
    "VARIABLE_SET": SETTINGS,
    "PRAGMA": READS + "PRAGMA is not for it. SHOW TABLES, DESCRIBE and SUMMARIZE are.",
    "CALL": READS + "CALL is not for it. A function that gives a table is read with SELECT ... FROM.",
    "CREATE": CHANGES + " A name for a part of a statement is given by WITH ... AS.",
    "CREATE_FUNC": CHANGES,
    "DROP": CHANGES,
    "ALTER": CHANGES,
    "INSERT": CHANGES,
    "UPDATE": CHANGES,
    "DELETE": CHANGES,
    "MERGE_INTO": CHANGES,
    "PREPARE": READS + "write the statement itself, with its values.",
    "EXECUTE": READS + "write the statement itself, with its values.",
    "TRANSACTION": TRANSACTIONS,
    "VACUUM": TRANSACTIONS,
    "ANALYZE": TRANSACTIONS,
    "MULTI": "PIVOT takes several statements where it has to find its columns by itself: "
    "name them, as in PIVOT ... ON k IN (1, 5, 10).",
    "EXPLAIN": "EXPLAIN is for a SELECT here: EXPLAIN SELECT ... or EXPLAIN ANALYZE SELECT ...",
}

UNSHOWN = re.compile(r"\b(BIT|BIGNUM|UNION|VARIANT|GEOMETRY|UHUGEINT|INTERVAL|TIME WITH TIME ZONE)\b")
"""Types that would lose something on their way through Arrow, or have no form outside DuckDB."""


class Fault(Exception):
    """Why there is no answer: of a kind, in a sentence, and where in the statement if that is known."""

    def __init__(self, kind: str, message: str, position: int | None = None, length: int | None = None):
        super().__init__(message)
        self.head = {"kind": kind, "message": message, "position": position, "length": length}


@dataclass(frozen=True)
class Job:
    """What to run on which store, and how much of everything it may take."""

    store: str
    statement: str
    seconds: float
    wait: float
    alarm: float
    memory: int
    rows: int
    size: int
    threads: int


def main() -> None:
    """Answer the job on stdin."""
    job = Job(**json.load(sys.stdin))
    # Should the parent be gone, nobody else ends this process.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, job.alarm)
    with _reply_channel() as reply:
        try:
            tempfile.tempdir = str(Path.cwd())  # or it is looked for where nothing can be made any more
            restrict_to(_readable(job.store))
            _answer(job, reply)
        except Fault as fault:
            _say(reply, fault=fault.head)
        except StoreUnavailable as error:
            _say(reply, fault=Fault("unavailable", str(error)).head)
        except (MemoryError, pa.ArrowMemoryError):
            _say(reply, fault=_out_of_memory().head)


def _readable(store: str) -> list[Path]:
    """What has yet to be opened when all is imported: the store, and the schema it is checked against."""
    gate = Turnstile(Path(store)).path
    if Path(store).exists():  # made here, since nothing can be made later
        with suppress(OSError):
            os.close(os.open(gate, os.O_RDONLY | os.O_CREAT, 0o666))
    return [Path(store), Path(f"{store}.wal"), gate, folder("sql"), MAPPED, *MACHINE]


def _answer(job: Job, reply: IO[bytes]) -> None:
    with Store(job.store).read(job.wait) as con:
        _harden(con, job)
        _limit(job)
        _say(reply, open=True)
        start = time.monotonic()
        statement = _only_statement(con, job.statement)
        with closing(_reader(con, statement, job.statement)) as reader:
            schema = _with_own_names(reader.schema)
            batches, cut = _first(reader, schema, job)
            _say(reply, answer={"cut": cut, "seconds": time.monotonic() - start})
            with pa.ipc.new_stream(reply, schema) as stream:
                for batch in batches:
                    stream.write_batch(batch)


@contextmanager
def _reply_channel() -> Iterator[IO[bytes]]:
    """The stdout that we were given, out of reach of anything that prints; what is printed goes nowhere."""
    with os.fdopen(os.dup(1), "wb") as reply:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for taken in (0, 1):
            os.dup2(nowhere, taken)
        os.close(nowhere)
        yield reply


def _say(reply: IO[bytes], **line: object) -> None:
    reply.write(json.dumps(line).encode() + b"\n")
    reply.flush()


def _harden(con: duckdb.DuckDBPyConnection, job: Job) -> None:
    """Shut everything that a SELECT could reach beyond the store. The last setting makes that final."""
    for setting, value in {
        "threads": job.threads,
        "memory_limit": f"{job.memory // 2}B",
        "temp_directory": "",
        "max_execution_time": ceil(job.seconds * 1000),
        "errors_as_json": True,
        "python_enable_replacements": False,
        "enable_external_access": False,
        "lock_configuration": True,
    }.items():
        con.execute(f"set {setting} = $value", {"value": value})


def _limit(job: Job) -> None:
    """What the operating system holds this process to, from here on, whatever happens inside it."""
    used = ceil(time.process_time())
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, used + ceil(job.seconds * job.threads) + 1),
        (resource.RLIMIT_NPROC, 0),  # no process, no thread beyond those that run; root is exempt
    ]
    if mapped := _mapped_bytes():
        limits.append((resource.RLIMIT_AS, mapped + job.memory))
    for limit, value in limits:
        with suppress(ValueError, OSError):  # a lower one is in force already
            resource.setrlimit(limit, (value, value))


def _mapped_bytes() -> int:
    """The address space in use, 0 where the system does not say (macOS, which has no such limit either).

    Counted from here, since what DuckDB and Arrow map at their start depends on the machine.
    """
    try:
        pages = int(MAPPED.read_bytes().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _only_statement(con: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    with _explained(text):
        statements = con.extract_statements(text)
    if not statements:
        raise Fault("refused", "There is no statement here, only space or comments.")
    if len(statements) > 1:
        raise Fault("refused", f"One statement at a time, please: there are {len(statements)} here.")
    (statement,) = statements
    kind = statement.type.name
    if kind != "SELECT" and not (kind == "EXPLAIN" and _explains_select(con, statement.query)):
        raise Fault("refused", REFUSALS.get(kind, f"{READS}it does not run statements of the type {kind}."))
    return statement


def _explains_select(con: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Whether that is all that would be run: EXPLAIN ANALYZE runs what it explains."""
    inner = re.sub(
        r"^(\s|--[^\n]*\n|/\*.*?\*/)*explain\s+(analyze\s+)?", "", text, count=1, flags=re.I | re.S
    )
    try:
        return [statement.type.name for statement in con.extract_statements(inner)] == ["SELECT"]
    except duckdb.Error:
        return False


def _reader(con: duckdb.DuckDBPyConnection, statement: duckdb.Statement, text: str) -> pa.RecordBatchReader:
    """The rows as they come: a relation is not read to its end before its first rows are there."""
    with _explained(text):
        try:
            relation = con.sql(statement)
        except duckdb.Error:
            con.execute(statement)  # fails in the same way, and says where
            raise
        for name, sort in zip(relation.columns, relation.types, strict=True):
            if found := UNSHOWN.search(_without_names(str(sort))):
                raise Fault(
                    "refused",
                    f"The column {clip(name)} is of the type {found[0]}, which has no exact form outside "
                    "DuckDB: cast it, for example to VARCHAR.",
                )
        return relation.to_arrow_reader(BATCH)


def _without_names(sort: str) -> str:
    """A type without the quoted names and values in it."""
    return re.sub(r""""[^"]*"|'[^']*'""", "", sort)


def _first(reader: pa.RecordBatchReader, schema: pa.Schema, job: Job) -> tuple[list[pa.RecordBatch], str]:
    """The rows that the limits let through, and which limit cut them: rows, size or none."""
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    with _explained(job.statement):
        for batch in reader:
            batch = pa.RecordBatch.from_arrays(batch.columns, schema=schema)
            rest = batch.slice(0, job.rows - rows)
            kept = rest.slice(0, _rows_within(rest, job.size - size))
            _check(kept)
            batches.append(kept)
            rows, size = rows + kept.num_rows, size + kept.nbytes
            if kept.num_rows < rest.num_rows:
                if not rows:
                    raise Fault("size", "The first row alone takes more than all may.")
                return batches, "size"
            if rest.num_rows < batch.num_rows:
                return batches, "rows"
    return batches, ""


def _rows_within(batch: pa.RecordBatch, size: int) -> int:
    """How many rows from the first on take no more than this many bytes."""
    if batch.nbytes <= size:
        return int(batch.num_rows)
    low, high = 0, batch.num_rows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if batch.slice(0, middle).nbytes <= size else (low, middle)
    return low


def _check(batch: pa.RecordBatch) -> None:
    """Refuse a whole number too long for Arrow (over 38 digits), rather than show it wrong."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise Fault(
            "refused", f"A value has no exact form outside DuckDB: cast it to VARCHAR. ({error})"
        ) from error


def _with_own_names(schema: pa.Schema) -> pa.Schema:
    """Of columns with one name, later ones get a number: tables and files need a name for each."""
    names: list[str] = []
    for plain in schema.names:
        name, at = plain, 1
        while name in names:
            at += 1
            name = f"{plain}_{at}"
        names.append(name)
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


@contextmanager
def _explained(text: str) -> Iterator[None]:
    """Errors of DuckDB as faults; those that come while rows stream are wrapped by Arrow."""
    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError, pa.ArrowMemoryError) as error:
        raise _out_of_memory() from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise _fault(str(error), text) from error


def _fault(message: str, text: str) -> Fault:
    found: dict[str, Any] = {}
    if (start := message.find("{")) >= 0:
        with suppress(ValueError):
            found, _ = json.JSONDecoder().raw_decode(message[start:])
    kind = str(found.get("exception_type", ""))
    said = str(found.get("exception_message", message))
    if "maximum execution time" in said:
        return Fault("time", said)
    if kind == "Out of Memory" or "Out of Memory" in message or "bad_alloc" in message:
        return _out_of_memory()
    if "read-only mode" in said:
        return Fault("refused", CHANGES)
    if "disabled by configuration" in said:
        return Fault("refused", OUTSIDE)
    lines = [clip(line, LINE) for line in said.splitlines()[:MESSAGE_LINES]]
    lines[:1] = [f"{kind} error: {lines[0]}" if kind else lines[0]] if lines else ["DuckDB gave no reason."]
    return Fault("failed", "\n".join(lines), *_place(found, text))


def _place(found: dict[str, Any], text: str) -> tuple[int | None, int | None]:
    """Where in the text it is, in characters from its start, and how long; DuckDB counts bytes."""
    try:
        start, length = json.loads(found["location"])
        whole = text.encode()
        at = len(whole[:start].decode(errors="ignore"))
        return at, len(whole[start : start + length].decode(errors="ignore"))
    except (KeyError, ValueError, TypeError):
        return None, None


def _out_of_memory() -> Fault:
    return Fault("memory", "It needs more memory than it may have.")


if __name__ == "__main__":
    main()
