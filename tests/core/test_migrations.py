"""Schema, views and dictionary: made, migrated, renewed, and refused."""

from pathlib import Path

import duckdb
import pytest
from rankroom import migrations
from rankroom.errors import StoreUnavailable
from rankroom.migrations import migrate
from rankroom.resources import folder

FIRST = "create table fruit (name varchar not null); insert into fruit values ('apple');"
SECOND = """
alter table fruit add column weight integer;
update fruit set weight = 3;
create table colours (colour varchar);
insert into colours values ('red');
"""
VIEW = "create or replace view heavy as select name, weight from fruit where weight > 2;"
MACRO = "create or replace macro heavier(than) as table select f.name from fruit f where f.weight > than;"
DICTIONARY = """
[common]
name = "What it's called."
weight = "Its weight."
than = "The weight to beat."

[objects.fruit]
kind = "table"
about = "The fruit."

[objects.heavy]
kind = "view"
about = "The heavy ones."
[objects.heavy.columns]
weight = "In the view."

[objects.heavier]
kind = "macro"
about = "Heavier than that."
columns = { name = "" }
parameters = { than = "" }
"""


@pytest.fixture
def old(tmp_path) -> Path:
    """The SQL of a program with one migration."""
    sql = tmp_path / "old"
    (sql / "schema").mkdir(parents=True)
    (sql / "views").mkdir()
    (sql / "schema" / "001_fruit.sql").write_text(FIRST)
    (sql / "views" / "10_names.sql").write_text("create or replace view names as select name from fruit;")
    (sql / "dictionary.toml").write_text('[objects.names]\nkind = "view"\nabout = "Names."\n')
    return sql


@pytest.fixture
def new(tmp_path, old) -> Path:
    """The SQL of a later program: a second migration, other views."""
    sql = tmp_path / "new"
    (sql / "schema").mkdir(parents=True)
    (sql / "views").mkdir()
    (sql / "schema" / "001_fruit.sql").write_text(FIRST)
    (sql / "schema" / "002_weights.sql").write_text(SECOND)
    (sql / "views" / "10_heavy.sql").write_text(VIEW)
    (sql / "views" / "20_heavier.sql").write_text(MACRO)
    (sql / "dictionary.toml").write_text(DICTIONARY)
    return sql


def names(con: duckdb.DuckDBPyConnection, what: str) -> set[str]:
    return {
        name
        for (name,) in con.execute(f"select {what}_name from duckdb_{what}s() where not internal").fetchall()
    }


def test_a_new_database_gets_every_migration_at_once(new):
    con = duckdb.connect()
    assert migrate(con, new, "1.0")
    assert con.execute("from heavy").fetchall() == [("apple", 3)]
    assert con.execute("from heavier(2)").fetchall() == [("apple",)]
    assert con.execute("select version, program from schema_version order by 1").fetchall() == [
        (1, "1.0"),
        (2, "1.0"),
    ]
    assert not migrate(con, new, "1.0")


def test_an_older_database_keeps_its_data_and_loses_the_views_that_are_no_more(old, new):
    con = duckdb.connect()
    migrate(con, old, "1.0")
    con.execute("insert into fruit values ('pear'); create view my_own as select * from fruit")
    assert migrate(con, new, "1.1")
    assert con.execute("from heavy order by name").fetchall() == [("apple", 3), ("pear", 3)]
    assert names(con, "view") == {"heavy", "my_own"}
    assert con.execute("select max(version) from schema_version").fetchall() == [(2,)]


def test_a_migration_that_fails_changes_nothing(old, new):
    con = duckdb.connect()
    migrate(con, old, "1.0")
    (new / "views" / "30_broken.sql").write_text("create view broken as select nothing from nowhere;")
    with pytest.raises(duckdb.CatalogException):
        migrate(con, new, "1.1")
    assert names(con, "view") == {"names"}
    assert names(con, "table") >= {"fruit"}
    assert "colours" not in names(con, "table")
    assert migrations.installed(con).version == 1


def test_views_are_renewed_when_their_text_changes_without_a_migration(old):
    con = duckdb.connect()
    migrate(con, old, "1.0")
    (old / "views" / "10_names.sql").write_text(
        "create or replace view names as select upper(name) as name from fruit;"
    )
    assert migrate(con, old, "1.0")
    assert con.execute("from names").fetchall() == [("APPLE",)]
    assert con.execute("select count(*) from fruit").fetchall() == [(1,)]


def test_the_dictionary_is_refilled_when_it_changes(old):
    con = duckdb.connect()
    migrate(con, old, "1.0")
    (old / "dictionary.toml").write_text('[objects.names]\nkind = "view"\nabout = "Other words."\n')
    assert migrate(con, old, "1.0")
    assert con.execute("select sentence from data_dictionary").fetchall() == [("Other words.",)]


def test_an_older_program_leaves_the_views_of_a_newer_one(old):
    con = duckdb.connect()
    migrate(con, old, "1.10")
    (old / "views" / "10_names.sql").write_text("create or replace view names as select 1 as name;")
    assert not migrate(con, old, "1.9")
    assert con.execute("from names").fetchall() == [("apple",)]


def test_a_newer_schema_is_refused_and_both_versions_named(old, new):
    con = duckdb.connect()
    migrate(con, new, "9.0")
    with pytest.raises(
        StoreUnavailable, match=r"x.duckdb has schema version 2, made by rankroom 9.0.* up to 1"
    ):
        migrate(con, old, "1.0", name="x.duckdb")


def test_a_database_of_something_else_is_refused(old):
    con = duckdb.connect()
    con.execute("create table invoices (amount integer)")
    with pytest.raises(StoreUnavailable, match="not a store of rankroom"):
        migrate(con, old, "1.0")
    assert names(con, "table") == {"invoices"}


def test_two_migrations_of_one_number_are_a_mistake(new):
    (new / "schema" / "002_other.sql").write_text("select 1;")
    with pytest.raises(ValueError, match="two migrations have the number 2"):
        migrate(duckdb.connect(), new, "1.0")


def test_the_dictionary_says_each_thing_once_as_a_row_and_as_a_comment(new):
    con = duckdb.connect()
    migrate(con, new, "1.0")
    assert set(con.execute("select name, column_name, kind, sentence from data_dictionary").fetchall()) == {
        ("fruit", None, "table", "The fruit."),
        ("fruit", "name", "column", "What it's called."),
        ("fruit", "weight", "column", "Its weight."),
        ("heavy", None, "view", "The heavy ones."),
        ("heavy", "name", "column", "What it's called."),
        ("heavy", "weight", "column", "In the view."),
        ("heavier", None, "macro", "Heavier than that."),
        ("heavier", "name", "column", "What it's called."),
        ("heavier", "than", "parameter", "The weight to beat."),
    }
    comments = con.execute(
        """
        select table_name, comment from duckdb_tables() where table_name = 'fruit'
        union all select view_name, comment from duckdb_views() where view_name = 'heavy'
        union all select function_name, comment from duckdb_functions() where function_name = 'heavier'
        union all select column_name, comment from duckdb_columns() where table_name = 'heavy'
        """
    ).fetchall()
    assert set(comments) == {
        ("fruit", "The fruit."),
        ("heavy", "The heavy ones."),
        ("heavier", "Heavier than that."),
        ("name", "What it's called."),
        ("weight", "In the view."),
    }


def test_what_has_no_sentence_is_found(new):
    con = duckdb.connect()
    migrate(con, new, "1.0")
    missing = [
        found
        for found in migrations.undocumented(con)
        if not found[0].startswith(("schema_", "installed_", "data_"))
    ]
    assert missing == [("colours", "colour"), ("colours", None)]


def test_the_migrations_of_this_program_are_numbered_from_one_without_a_gap():
    numbers = [int(path.name[:3]) for path in sorted((folder("sql") / "schema").glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert migrations.newest() == len(numbers)
