"""Every public name of a store has its sentence: in data_dictionary, and in the file as a COMMENT."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from rankroom import migrations
from rankroom.add import add_folder
from rankroom.resources import folder
from rankroom.store import Store

Connection = duckdb.DuckDBPyConnection

EXAMPLE = folder("sample_runs") / "documentation_example"
CALLS = {
    "query_deltas": "query_deltas('documentation_example', 'documentation_example', 5)",
    "run_comparison": "run_comparison('documentation_example', 'documentation_example', 5)",
    "rank_transitions": "rank_transitions('documentation_example', 'documentation_example', 5)",
    "compared_runs": "compared_runs('documentation_example', 'documentation_example', 5)",
    "change_account": "change_account('documentation_example', 'documentation_example', 5)",
    "shared_queries": "shared_queries('documentation_example', 'documentation_example')",
    "candidate_lists": "candidate_lists('documentation_example', 'documentation_example')",
    "config_diff": "config_diff('documentation_example', 'documentation_example')",
    "slices_by": "slices_by('category', 5)",
    "means_of": "means_of(['q_sharing'])",
    "costs_of": "costs_of(['q_sharing'])",
    "failure_classes": "failure_classes('documentation_example', 5)",
    "failure_changes": "failure_changes('documentation_example', 'documentation_example', 5)",
    "stage_funnel_by": "stage_funnel_by('documentation_example', 5)",
    "noted_queries": "noted_queries('documentation_example', 5)",
    "compared_label_sets": "compared_label_sets('documentation_example@1', 'documentation_example@1')",
    "label_changes": "label_changes('documentation_example@1', 'documentation_example@1')",
    "label_effects": "label_effects('documentation_example@1', 'documentation_example@1', 5)",
}
"""How each table macro is called on the example: DuckDB knows its columns only then."""

NOT_METRICS = {
    *("run", "stage", "label_set", "query_id", "k"),
    *("outcome", "abstained", "found", "unknown_because"),
}


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store with the documentation example, open for reading."""
    store = Store(tmp_path_factory.mktemp("store") / "s.duckdb")
    add_folder(store, EXAMPLE)
    with store.read() as opened:
        yield opened


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """The dictionary as it is written."""
    return tomllib.loads((folder("sql") / "dictionary.toml").read_text(encoding="utf-8"))


def of(con: Connection, query: str) -> set[Any]:
    """The values of a query's one column, or the rows of several."""
    rows = con.execute(query).fetchall()
    return {row[0] if len(row) == 1 else row for row in rows}


def tables_and_views(con: Connection) -> dict[str, set[str]]:
    return {
        name: set(columns)
        for name, columns in con.execute(
            "select table_name, list(column_name) from duckdb_columns() where not internal group by all"
        ).fetchall()
    }


def macros(con: Connection) -> dict[str, tuple[str, list[str]]]:
    return {
        name: (kind, parameters)
        for name, kind, parameters in con.execute(
            "select function_name, function_type, parameters from duckdb_functions() where not internal"
        ).fetchall()
    }


def columns_of_call(con: Connection, call: str) -> list[str]:
    return [column[0] for column in con.execute(f"from {call} limit 0").description]


def test_everything_is_documented(con: Connection) -> None:
    assert migrations.undocumented(con) == []


def test_parameters_of_macros_are_documented_and_no_others(con: Connection) -> None:
    documented: dict[str, set[str]] = {}
    for name, parameter in of(con, "select name, column_name from data_dictionary where kind = 'parameter'"):
        documented.setdefault(name, set()).add(parameter)
    assert documented == {
        name: set(parameters) for name, (_, parameters) in macros(con).items() if parameters
    }


def test_columns_of_table_macros_are_documented_and_no_others(con: Connection) -> None:
    assert CALLS.keys() == {name for name, (kind, _) in macros(con).items() if kind == "table_macro"}
    for name, call in CALLS.items():
        documented = of(
            con, f"select column_name from data_dictionary where name = '{name}' and kind = 'column'"
        )
        assert documented == set(columns_of_call(con, call)), name


def test_nothing_is_documented_that_does_not_exist(con: Connection, written: dict[str, Any]) -> None:
    exist = tables_and_views(con)
    kinds = dict(
        con.execute(
            "select table_name, 'table' from duckdb_tables() where not internal"
            " union all select view_name, 'view' from duckdb_views() where not internal"
            " union all select function_name, 'macro' from duckdb_functions() where not internal"
        ).fetchall()
    )
    assert {name: about["kind"] for name, about in written["objects"].items()} == kinds
    for name, about in written["objects"].items():
        if name in exist:
            assert set(about.get("columns", {})) <= exist[name], name


def test_every_common_sentence_is_used(con: Connection, written: dict[str, Any]) -> None:
    used = of(con, "select distinct column_name from data_dictionary where kind = 'column'")
    own = {
        column: sum(bool(about.get("columns", {}).get(column)) for about in written["objects"].values())
        for column in written["common"]
    }
    for column in written["common"]:
        assert column in used
        ((times,),) = con.execute(
            "select count(*) from data_dictionary where kind = 'column' and column_name = ?", [column]
        ).fetchall()
        assert times > own[column], f"every {column} has a sentence of its own"


def test_every_sentence_is_one_plain_sentence(con: Connection) -> None:
    for name, column, sentence in of(con, "select name, column_name, sentence from data_dictionary"):
        where = f"{name}.{column}: {sentence}"
        assert sentence.endswith("."), where
        assert not sentence.endswith(".."), where
        assert sentence == sentence.strip(), where
        assert "\n" not in sentence, where
        assert len(sentence) <= 260, where


def test_names_are_documented_once(con: Connection) -> None:
    twice = con.execute(
        "select name, column_name, kind from data_dictionary group by all having count(*) > 1"
    ).fetchall()
    assert twice == []


def test_sentences_stand_in_the_file_as_comments(con: Connection) -> None:
    comments = of(
        con,
        "select table_name, null, comment from duckdb_tables() where not internal"
        " union all select view_name, null, comment from duckdb_views() where not internal"
        " union all select function_name, null, comment from duckdb_functions() where not internal"
        " union all select table_name, column_name, comment from duckdb_columns() where not internal",
    )
    on_macros = set(macros(con))
    sentences = {
        row
        for row in of(con, "select name, column_name, sentence from data_dictionary")
        if row[0] not in on_macros or row[1] is None
    }
    assert comments == sentences


def test_every_metric_has_its_definition(con: Connection) -> None:
    at_k = set(columns_of_call(con, "query_scores")) - NOT_METRICS - {"num_relevant"}
    uncut = set(columns_of_call(con, "query_scores_uncut")) - NOT_METRICS
    assert of(con, "select metric from metric_definitions where at_k") == at_k
    assert of(con, "select metric from metric_definitions where uncut") == uncut
    assert of(con, "select count(*) - count(distinct metric) from metric_definitions") == {0}


def test_definitions_say_all_that_tools_disagree_about(con: Connection) -> None:
    """What every metric has is never NULL; a part that it may lack is NULL, and not an empty text."""
    assert (
        con.execute(
            "from metric_definitions where definition is null or at_k is null or uncut is null"
            " or cutoff is null or missing_queries is null or source is null or not (at_k or uncut)"
        ).fetchall()
        == []
    )
    assert (
        con.execute("from metric_definitions where denominator is not null and ceiling is null").fetchall()
        == []
    )
    for (text,) in con.execute(
        "select unnest([definition, gain, discount, ideal, cutoff, denominator, ties, missing_queries,"
        " ceiling, source]) from metric_definitions"
    ).fetchall():
        assert text is None or text.strip() == text != ""


def test_ceilings_are_those_of_the_summary(con: Connection) -> None:
    """A metric whose ceiling can be below 1 has a column for it in run_summary, and no other has."""
    with_column = {
        column.removesuffix("_ceiling")
        for column in columns_of_call(con, "run_summary")
        if column.endswith("_ceiling")
    }
    defined = of(
        con,
        "select metric from metric_definitions"
        " where at_k and ceiling <> '1' and metric not in ('dcg', 'leaks')",
    )
    assert defined == with_column


def test_views_use_no_function_that_older_clients_lack() -> None:
    """A store is to be read by DuckDB 1.5, which has no function if()."""
    for path in sorted((folder("sql") / "views").glob("*.sql")):
        statements = re.sub(r"--.*|'[^']*'", "", path.read_text(encoding="utf-8"))
        assert not re.search(r"\bif\s*\(", statements, re.IGNORECASE), path.name


def test_a_change_of_a_sentence_reaches_an_existing_store(tmp_path: Path) -> None:
    """The dictionary is renewed like the views: without a migration."""
    sql = tmp_path / "sql"
    (sql / "schema").mkdir(parents=True)
    (sql / "schema" / "001_one.sql").write_text("create table things (thing varchar);")
    dictionary = sql / "dictionary.toml"
    for sentence in ("What it was.", "What it is."):
        dictionary.write_text(f'[objects.things]\nkind = "table"\nabout = "{sentence}"\n')
        with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
            assert migrations.migrate(con, sql)
            assert of(con, "select comment from duckdb_tables() where table_name = 'things'") == {sentence}
            assert not migrations.migrate(con, sql)
