"""Making and migrating a store's schema: numbered SQL files forward, then the views, then the dictionary."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from rankroom import __version__
from rankroom.errors import StoreUnavailable
from rankroom.resources import folder

BOOTSTRAP = """
create table if not exists schema_version (
    version integer not null,
    applied_at timestamptz not null,
    program varchar not null
);
create table if not exists installed_views (
    fingerprint varchar not null,           -- of sql/views and sql/dictionary.toml
    installed_at timestamptz not null,
    program varchar not null
);
create table if not exists data_dictionary (
    name varchar not null,
    column_name varchar,                    -- NULL: about the table, view or macro itself
    kind varchar not null,                  -- table, view, macro; column, parameter
    sentence varchar not null
);
"""


@dataclass(frozen=True)
class Installed:
    """What a store holds: the number of its last migration (0: none) and which program made its views."""

    version: int
    views: str | None = None
    program: str | None = None


def installed(con: duckdb.DuckDBPyConnection) -> Installed | None:
    """What the current database of this connection holds; None if it is a database of something else."""
    try:
        rows = con.execute(
            "select (select max(version) from schema_version), fingerprint, program from installed_views"
        ).fetchall()
    except duckdb.CatalogException:
        others = "from duckdb_tables() where database_name = current_database() and not internal"
        return None if con.execute(f"select 1 {others} limit 1").fetchall() else Installed(0)
    return Installed(*rows[0]) if rows else None


def newest(sql: Path | None = None) -> int:
    """The number of the last migration that this program has."""
    return max(_migrations(sql or folder("sql")), default=0)


def check_not_newer(found: Installed | None, name: str, sql: Path | None = None) -> Installed:
    """What was found in the database, unless it is no store, or one that a newer program migrated."""
    if found is None:
        raise StoreUnavailable(f"{name} is a DuckDB file, but not a store of rankroom")
    if found.version > (mine := newest(sql)):
        raise StoreUnavailable(
            f"{name} has schema version {found.version}, made by rankroom {found.program}; this is rankroom "
            f"{__version__}, which knows schema versions up to {mine}: use a newer rankroom"
        )
    return found


def is_current(found: Installed, sql: Path | None = None, program: str = __version__) -> bool:
    """Whether `migrate` has nothing to do: this schema, and these views or those of a newer program."""
    sql = sql or folder("sql")
    return found.version == newest(sql) and (
        found.views == fingerprint(sql) or _version(found.program) > _version(program)
    )


def migrate(
    con: duckdb.DuckDBPyConnection,
    sql: Path | None = None,
    program: str = __version__,
    name: str = "the file",
) -> bool:
    """Bring the current database up to this program's schema, views and dictionary, all in one transaction.

    Returns whether there was anything to do. Views of the same schema version are renewed when their text
    changed, unless a newer program put them there. `name` is what an error calls the database.
    """
    sql = sql or folder("sql")
    found = check_not_newer(installed(con), name, sql)
    if is_current(found, sql, program):
        return False
    con.execute("begin")
    try:
        con.execute(BOOTSTRAP)
        if found.version:
            _drop_views(con)
        for number, path in _migrations(sql).items():
            if number > found.version:
                con.execute(path.read_text(encoding="utf-8"))
                con.execute("insert into schema_version values (?, now(), ?)", [number, program])
        _create_views(con, sql)
        _fill_dictionary(con, sql)
        con.execute("delete from installed_views")
        con.execute("insert into installed_views values (?, now(), ?)", [fingerprint(sql), program])
        con.execute("commit")
    except BaseException:
        with suppress(duckdb.Error):
            con.execute("rollback")
        raise
    return True


def create_tables(con: duckdb.DuckDBPyConnection) -> None:
    """The tables of a store in an in-memory database: no views, and no sentences in the dictionary."""
    con.execute("begin")
    con.execute(BOOTSTRAP)
    for path in _migrations(folder("sql")).values():
        con.execute(path.read_text(encoding="utf-8"))
    con.execute("commit")


def create_views(con: duckdb.DuckDBPyConnection, only: Collection[str] | None = None) -> None:
    """The public views and macros in an in-memory database with a store's tables; `only` of these files."""
    con.execute("begin")
    for path in _views(folder("sql")):
        if only is None or path.stem in only:
            con.execute(path.read_text(encoding="utf-8"))
    con.execute("commit")


def fingerprint(sql: Path, *, schema: bool = False) -> str:
    """A hash of everything that is renewed without a migration: the views' text and the dictionary.

    With `schema`, of the migrations too.
    """
    digest = hashlib.sha256()
    for path in [*(_migrations(sql).values() if schema else ()), *_views(sql), sql / "dictionary.toml"]:
        if path.exists():
            digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def undocumented(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str | None]]:
    """Names (column NULL) and columns of the current database that have no sentence in data_dictionary."""
    return con.execute(
        """
        with objects as (
            select database_name, internal, table_name as name, null as column_name from duckdb_tables()
            union select database_name, internal, view_name, null from duckdb_views()
            union select database_name, internal, table_name, column_name from duckdb_columns()
            union select database_name, internal, function_name, null from duckdb_functions()
            where function_type in ('macro', 'table_macro')
        )
        select name, column_name from objects o
        where database_name = current_database() and not internal
          and not exists (from data_dictionary d
                          where d.name = o.name and d.column_name is not distinct from o.column_name)
        order by all
        """
    ).fetchall()


def _migrations(sql: Path) -> dict[int, Path]:
    """The migrations in their order, by number."""
    found: dict[int, Path] = {}
    for path in sorted((sql / "schema").glob("*.sql")):
        number = int(path.name.partition("_")[0])
        if number in found:
            raise ValueError(f"two migrations have the number {number}: {found[number].name} and {path.name}")
        found[number] = path
    return dict(sorted(found.items()))


def _views(sql: Path) -> list[Path]:
    return sorted((sql / "views").glob("*.sql"))


def _version(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text or "")[:3])


def _create_views(con: duckdb.DuckDBPyConnection, sql: Path) -> None:
    for path in _views(sql):
        con.execute(path.read_text(encoding="utf-8"))


def _drop_views(con: duckdb.DuckDBPyConnection) -> None:
    """Drop the views and macros of the program that was here before; what people made themselves stays."""
    before = con.execute(
        """
        select distinct d.name, coalesce(f.function_type, 'view')
        from data_dictionary d
        left join (from duckdb_functions() where database_name = current_database() and not internal) f
               on d.kind = 'macro' and f.function_name = d.name
        where d.kind = 'view' or f.function_name is not null
        """
    ).fetchall()
    for name, kind in before:
        con.execute(f"drop {KINDS[kind]} if exists {_identifier(name)}")


KINDS = {"table": "table", "view": "view", "macro": "macro", "table_macro": "macro table"}


def _fill_dictionary(con: duckdb.DuckDBPyConnection, sql: Path) -> None:
    """Refill data_dictionary from sql/dictionary.toml, and say the same as COMMENT where DuckDB takes it."""
    con.execute("delete from data_dictionary")
    path = sql / "dictionary.toml"
    if not path.exists():
        return
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = _sentences(written, _columns(con))
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        con.execute("insert into data_dictionary select unnest(?), unnest(?), unnest(?), unnest(?)", columns)
    _comment(con)


def _columns(con: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    return dict(
        con.execute(
            "select table_name, list(column_name order by column_index) from duckdb_columns() "
            "where database_name = current_database() and not internal group by table_name"
        ).fetchall()
    )


def _sentences(
    written: dict[str, Any], columns: dict[str, list[str]]
) -> list[tuple[str, str | None, str, str]]:
    """The rows of the dictionary: a column without its own sentence takes the common one of its name.

    DuckDB does not know a macro's columns: the dictionary lists them, with "" where the common sentence
    serves.
    """
    common = written.get("common", {})
    rows: list[tuple[str, str | None, str, str]] = []
    for name, about in written.get("objects", {}).items():
        own = about.get("columns", {})
        rows.append((name, None, about["kind"], about["about"]))
        for column in columns.get(name, own):
            if sentence := own.get(column) or common.get(column):
                rows.append((name, column, "column", sentence))
        for parameter, sentence in about.get("parameters", {}).items():
            rows.append((name, parameter, "parameter", sentence or common.get(parameter, "")))
    return rows


def _comment(con: duckdb.DuckDBPyConnection) -> None:
    about = con.execute(
        """
        select d.name, d.sentence, coalesce(f.function_type, d.kind)
        from data_dictionary d
        left join (from duckdb_functions() where database_name = current_database() and not internal) f
               on d.kind = 'macro' and f.function_name = d.name
        where d.kind in ('table', 'view', 'macro')
        group by all
        """
    ).fetchall()
    columns = con.execute(
        """
        select c.table_name, c.column_name, d.sentence from data_dictionary d
        join duckdb_columns() c on c.table_name = d.name and c.column_name = d.column_name
        where d.kind = 'column' and c.database_name = current_database()
        """
    ).fetchall()
    statements = [
        f"comment on {KINDS[kind]} {_identifier(name)} is {_text(sentence)}" for name, sentence, kind in about
    ]
    statements += [
        f"comment on column {_identifier(table)}.{_identifier(column)} is {_text(sentence)}"
        for table, column, sentence in columns
    ]
    con.execute(";\n".join(statements))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
