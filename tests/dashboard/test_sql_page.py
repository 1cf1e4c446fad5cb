"""The SQL page in all its states. Only some statements go through a real sandbox: that has its own tests."""

from __future__ import annotations

import io
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
import worlds
from panels import sql_chart, sql_dictionary, sql_editor, sql_examples, sql_result
from panels.sql_chart import BARS, LINES, POINTS, Choice
from panels.store_access import reading
from rankroom.sandbox import Answer, StatementError
from rankroom.store import Store
from test_runs_page import texts

PLAIN = Answer(pa.table({"run": ["a", "b"], "ndcg": [0.5, 0.25]}), 0.02)


class Asked(list[str]):
    """Stands in for the sandbox: notes what it is asked, and gives what it is told to."""

    outcome: Answer | StatementError = PLAIN

    def __call__(self, store: Store, statement: str) -> Answer:
        self.append(statement)
        if isinstance(self.outcome, StatementError):
            raise self.outcome
        return self.outcome


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    asked = Asked()
    monkeypatch.setattr(sql_editor, "ask", asked)
    return asked


def editor(at: Any) -> str:
    return str(at.text_area(key=sql_editor.EDITOR).value)


def linked(at: Any) -> str:
    value = at.query_params.get("statement", "")
    return value if isinstance(value, str) else value[0]


def html(at: Any) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def run(at: Any, statement: str) -> Any:
    at.text_area(key=sql_editor.EDITOR).set_value(statement)
    (button,) = (button for button in at.button if button.label == "Run")
    return button.click().run()


def test_it_opens_with_an_example_and_its_answer(open_page: Any, example: Store) -> None:
    at = open_page(example, "sql")
    assert not at.exception
    assert editor(at).startswith("-- Which run is best at 5")
    assert linked(at) == editor(at)
    assert at.markdown[0].value.startswith("**1 row in ")
    (row,) = at.dataframe[0].value.to_dict("records")
    assert (row["run"], row["n"]) == ("documentation_example", 3)
    assert "held-out queries too" in texts(at)


def test_a_link_fills_the_editor_and_runs(open_page: Any, three: Store) -> None:
    at = open_page(three, "sql", statement="select run from runs order by run")
    assert editor(at) == "select run from runs order by run"
    assert at.dataframe[0].value["run"].tolist() == sorted(["first", "second", worlds.EVIL])


def test_an_error_says_what_and_where(open_page: Any, three: Store) -> None:
    at = open_page(three, "sql", statement="select run,\n  nope from runs")
    assert not at.exception
    assert at.error[0].value == "DuckDB could not run this. Line 2, column 3."
    assert 'Referenced column "nope" not found' in at.code[0].value
    assert at.code[0].value.endswith("\n\n  nope from runs\n  ^^^^")
    assert not at.dataframe


def test_run_takes_what_was_typed_and_the_link_with_it(open_page: Any, three: Store, asked: Asked) -> None:
    at = run(open_page(three, "sql"), "select 1")
    assert asked[-1] == "select 1"
    assert (editor(at), linked(at)) == ("select 1", "select 1")
    assert "2 rows in 0.02 s" in texts(at)


def test_nothing_is_run_twice(open_page: Any, three: Store, asked: Asked) -> None:
    at = open_page(three, "sql", statement="select 1")
    at.run()
    at.text_input(key="dictionary").set_value("recall").run()
    assert asked == ["select 1"]
    at.query_params["statement"] = "select 2"  # the browser's way back
    at.run()
    assert asked == ["select 1", "select 2"]
    assert editor(at) == "select 2"


def test_a_statement_too_long_for_a_link(open_page: Any, three: Store, asked: Asked) -> None:
    long = "select '" + "é" * 2000 + "'"
    at = run(open_page(three, "sql"), long)
    assert asked[-1] == long
    assert "statement" not in at.query_params
    assert "too long for a link" in texts(at)


def test_back_from_another_page(open_page: Any, three: Store, asked: Asked) -> None:
    at = run(open_page(three, "sql"), "select 1")
    at.switch_page("app_pages/runs.py").run()
    at.switch_page("app_pages/sql.py").run()
    assert not at.exception
    assert (editor(at), linked(at)) == ("select 1", "select 1")
    assert asked.count("select 1") == 1
    assert len(at.dataframe) == 1


@pytest.mark.parametrize(
    ("error", "heading", "says"),
    [
        (StatementError("refused", "This page only reads: <b>*x*</b>."), "Not run.", "<b>*x*</b>"),
        (StatementError("time", "Stopped: longer than 10 seconds."), "Stopped: longer than 10 seconds.", ""),
        (StatementError("memory", "Stopped: more memory."), "Stopped: more memory.", ""),
        (StatementError("size", "Stopped: larger than 20 MB."), "Stopped: larger than 20 MB.", ""),
        (StatementError("busy", "3 statements are running."), "3 statements are running.", ""),
        (StatementError("unavailable", "it's open"), "Not run: the store could not be had.", "it's open"),
        (StatementError("broken", "It ended (SIGSEGV)."), "It gave no answer.", "SIGSEGV"),
        (StatementError("failed", "Parser error: x"), "DuckDB could not run this.", "Parser error: x"),
    ],
)
def test_why_there_is_no_answer(
    open_page: Any, three: Store, asked: Asked, error: StatementError, heading: str, says: str
) -> None:
    asked.outcome = error
    at = open_page(three, "sql", statement="select 1")
    assert not at.exception
    assert at.error[0].value == heading
    assert says in texts(at) + "".join(code.value for code in at.code)
    assert not at.dataframe


def test_a_cut_is_said(open_page: Any, three: Store, asked: Asked) -> None:
    asked.outcome = Answer(pa.table({"n": range(10_000)}), 1.234, "cut at 10,000 rows")
    at = open_page(three, "sql", statement="from many")
    assert at.markdown[0].value == "**10,000 rows in 1.23 s, cut at 10,000 rows**"


def test_no_rows(open_page: Any, three: Store, asked: Asked) -> None:
    asked.outcome = Answer(pa.table({"run": pa.array([], pa.string())}), 0.01)
    at = open_page(three, "sql", statement="from none")
    assert not at.exception
    assert at.markdown[0].value == "**No rows in 0.01 s**"
    assert at.dataframe[0].value.shape == (0, 1)
    assert not at.get("vega_lite_chart")


def test_names_and_values_from_data_are_text(open_page: Any, three: Store, asked: Asked) -> None:
    asked.outcome = Answer(
        pa.table({worlds.EVIL: [worlds.EVIL, "b"], worlds.EVIL_TEXT: [1.0, 2.0], "": ["x", "y"]}), 0.01
    )
    at = open_page(three, "sql", statement=worlds.EVIL_TEXT)
    assert not at.exception
    assert editor(at) == worlds.EVIL_TEXT
    assert at.dataframe[0].value.columns.tolist() == [worlds.EVIL, worlds.EVIL_TEXT, ""]
    assert worlds.EVIL not in texts(at).replace(worlds.EVIL_TEXT, "")
    assert "<script>" not in html(at)


def test_a_store_that_changed_since(open_page: Any, fresh: Store, asked: Asked) -> None:
    at = open_page(fresh, "sql")
    assert "has changed since" not in texts(at)
    with duckdb.connect() as con, fresh.write(con):
        con.execute("insert into store.cutoffs values (7)")
    at.run()
    assert "has changed since" in texts(at)
    assert len(asked) == 1


def test_choosing_an_example_fills_and_runs(open_page: Any, example: Store, asked: Asked) -> None:
    at = open_page(example, "sql")
    titles = [one.title for one in sql_examples.examples()]
    at.selectbox(key="sql_example").select_index(titles.index("Two runs compared")).run()
    assert not at.exception
    assert editor(at) == asked[-1]
    assert "run_comparison('documentation_example', 'documentation_example', 5)" in asked[-1]
    assert at.selectbox(key="sql_example").value is None


def test_choosing_a_view_shows_its_first_rows(open_page: Any, example: Store, asked: Asked) -> None:
    at = open_page(example, "sql")
    at.selectbox(key="sql_object").select("stage_funnel").run()
    assert asked[-1] == "from stage_funnel\nlimit 100"


@pytest.mark.parametrize("name", ["example", "three", "staged"])
def test_every_example_runs(name: str, request: pytest.FixtureRequest, monkeypatch: Any, ask: Any) -> None:
    store = request.getfixturevalue(name)
    monkeypatch.setenv("RANKROOM_STORE", str(store.path))
    with reading() as reader:
        names = sql_examples.names_of(reader)
    assert len(sql_examples.examples()) >= 10
    for one in sql_examples.examples():
        ask(store, one.filled(names))


def test_every_example_asks_a_question() -> None:
    titles = [one.title for one in sql_examples.examples()]
    assert len(set(titles)) == len(titles)
    for one in sql_examples.examples():
        assert one.question.endswith("?")
        assert not one.sql.startswith("--")
        assert not one.sql.endswith(";")


def test_the_examples_are_about_runs_of_the_store(monkeypatch: Any, three: Store) -> None:
    monkeypatch.setenv("RANKROOM_STORE", str(three.path))
    with reading() as reader:
        names = sql_examples.names_of(reader)
    assert names["split"] == "dev"
    assert {names["base"], names["cand"]} < {"first", "second", worlds.EVIL}
    assert names["base"] != names["cand"]


def test_an_empty_store_has_its_dictionary(open_page: Any, store: Store) -> None:
    at = open_page(store, "sql")
    assert not at.exception
    assert at.markdown[0].value.startswith("**No rows")
    assert "run_summary" in html(at)
    assert "run_comparison(base, cand, at_k, label_set, stage)" in html(at)


def test_a_store_that_is_not_there(open_page: Any, no_store: Store) -> None:
    at = open_page(no_store, "sql")
    assert at.title[0].value == "No runs yet"


def test_the_dictionary_is_searched_by_name_and_sentence(open_page: Any, three: Store, asked: Asked) -> None:
    at = open_page(three, "sql")
    assert html(at).count("<summary>") > 40
    at.text_input(key="dictionary").set_value("pipeline HOLDS").run()
    assert "<summary>stage_funnel</summary>" in html(at)
    assert "<summary>run_comparison</summary>" not in html(at)
    assert "The place of the stage in the pipeline" in html(at)
    at.text_input(key="dictionary").set_value("<b>nothing").run()
    assert "Nothing in the dictionary has these words." in texts(at)


def test_every_entry_of_the_dictionary_has_its_place(monkeypatch: Any, three: Store, ask: Any) -> None:
    monkeypatch.setenv("RANKROOM_STORE", str(three.path))
    with reading() as reader:
        rows = reader.rows(sql_dictionary.OBJECTS)
    assert {sql_dictionary.group(row) for row in rows} == set(sql_dictionary.GROUPS)
    ((num,),) = ask(three, "select count(*) from data_dictionary")
    assert sum(1 + len(row["parameters"]) + len(row["columns"]) for row in rows) == num
    for name in sql_dictionary.readable(rows):
        ask(three, f"from {name} limit 1")
    typed = {
        (row["name"], column["name"])
        for row in rows
        if row["kind"] != "macro"
        for column in row["columns"]
        if column["type"]
    }
    assert ("run_summary", "ndcg") in typed


# What is taken away

AWKWARD = pa.table(
    {
        "text": ["a", "", None],
        "big": pa.array([2**53 + 1, -1, None], pa.int64()),
        "list": [[1, 2], [], None],
        "struct": [{"a": 'x"y'}, {"a": None}, None],
        "bytes": [b"\x00a", b"", None],
        "nothing": pa.nulls(3),
        "a.b": [0.1, 1e-300, None],
        'it\'s "x"': [1, 2, 3],
    }
)


def test_csv_keeps_every_digit_and_tells_null_from_empty() -> None:
    lines = sql_result.csv(AWKWARD).decode().split("\n")
    assert lines[0] == '"text","big","list","struct","bytes","nothing","a.b","it\'s ""x"""'
    assert lines[1].startswith('"a","9007199254740993","[1, 2]",')
    assert lines[2].startswith('"","-1","[]",')
    assert lines[3] == ',,,,,,,"3"'


def test_parquet_keeps_types() -> None:
    back = pa.parquet.read_table(io.BytesIO(sql_result.parquet(AWKWARD)))
    for name in ("text", "big", "list", "struct", "bytes", "a.b"):
        assert back.column(name).equals(AWKWARD.column(name))


def test_a_long_line_is_shown_around_the_place() -> None:
    statement = "select " + "a, " * 100 + "nope"
    error = StatementError("failed", "x", statement, statement.index("nope"), 4)
    line, mark = sql_result.pointed(statement, error).split("\n")
    assert len(line) <= 100
    assert line[mark.index("^") : mark.index("^") + 4] == "nope"
    assert mark.strip() == "^^^^"


# The quick chart

BOARD = pa.table({"run": ["a", worlds.EVIL], "n": [4, 4], "ndcg": [0.5, 0.25]})
CURVE = pa.table({"run": ["a", "a", "b", "b"], "k": [1, 5, 1, 5], "hit": [0.1, 0.2, 0.3, None]})
GROUPS = pa.table({"run": ["a", "a", "b"], "class": ["x", "y", "x"], "queries": [1, 2, 3]})
DELTAS = pa.table({"base": [0.1, 0.2], "cand": [0.2, 0.2]})
MANY = pa.table({"run": [f"r{i % 12}" for i in range(24)], "k": [1, 5] * 12, "hit": [0.5] * 24})
LONG = pa.table({"query_id": [f"q{i}" for i in range(100)], "ndcg": [0.5] * 100})
WHEN = pa.table(
    {"created": pa.array([0, 86_400], pa.timestamp("s", "UTC")), "total": pa.array([1, 2], pa.int64())}
)


@pytest.mark.parametrize(
    ("table", "choice"),
    [
        (BOARD, Choice("run", "ndcg", BARS)),
        (CURVE, Choice("k", "hit", LINES, "run")),
        (GROUPS, Choice("run", "queries", BARS, "class")),
        (DELTAS, Choice("base", "cand", POINTS)),
        (MANY, Choice("k", "hit", LINES, "run")),
        (LONG, Choice("query_id", "ndcg", BARS)),
        (WHEN, Choice("created", "total", LINES)),
        (BOARD.slice(0, 1), None),
        (BOARD.select(["run"]), None),
        (DELTAS.select(["base"]), None),
        (pa.table({"run": ["a", "b"], "v": [float("nan"), None]}), None),
        (pa.table({"l": [[1], [2]], "s": [{"a": 1}, {"a": 2}]}), None),
    ],
)
def test_what_is_drawn_at_first(table: pa.Table, choice: Choice | None) -> None:
    columns = sql_chart.columns_of(table)
    assert sql_chart.proposal(table, columns) == choice
    if choice:
        for mark in sql_chart.MARKS:
            drawn = Choice(choice.x, choice.y, mark, choice.colour)
            spec = sql_chart.chart(table, columns, drawn).to_dict(validate=True)
            assert spec["encoding"]["tooltip"][1]["title"] == choice.y
            assert sql_chart.alt_text(table, columns, drawn).startswith(f"{mark.capitalize()} of {choice.y}")


def test_names_of_columns_are_only_titles() -> None:
    evil = "datum.x[0]:Q'"
    table = pa.table({evil: ["a", "b"], worlds.EVIL: [1.0, 2.0]})
    columns = sql_chart.columns_of(table)
    choice = Choice(evil, worlds.EVIL, BARS)
    assert sql_chart.proposal(table, columns) == choice
    encoding = sql_chart.chart(table, columns, choice).to_dict(validate=True)["encoding"]
    assert (encoding["y"]["field"], encoding["y"]["title"]) == ("x", evil)
    assert (encoding["x"]["field"], encoding["x"]["title"]) == ("y", worlds.EVIL)


def test_more_groups_than_colours() -> None:
    columns = sql_chart.columns_of(MANY)
    spec = sql_chart.chart(MANY, columns, Choice("k", "hit", LINES, "run")).to_dict(validate=True)
    scale = spec["encoding"]["color"]["scale"]
    assert scale["domain"][-1] == "4 others"
    assert len(scale["domain"]) == len(scale["range"]) == len(set(scale["range"])) == 9
    assert spec["encoding"]["detail"]["field"] == "group"


@pytest.mark.parametrize(
    ("table", "choice", "says"),
    [
        (CURVE, Choice("k", "hit", LINES, "run"), "1 row without one of the values is left out."),
        (LONG, Choice("query_id", "ndcg", BARS), "Drawn are the first 60 rows."),
        (GROUPS, Choice("run", "queries", BARS), "Several rows share a place"),
        (GROUPS, Choice("run", "queries", BARS, "class"), ""),
        (GROUPS, Choice("run", "queries", POINTS), ""),
    ],
)
def test_what_a_chart_leaves_out_is_said(table: pa.Table, choice: Choice, says: str) -> None:
    remarks = sql_chart.remarks(table, sql_chart.columns_of(table), choice)
    assert says in remarks
    assert bool(remarks) == bool(says)


def test_the_chart_can_be_changed(open_page: Any, three: Store, asked: Asked) -> None:
    asked.outcome = Answer(CURVE, 0.01)
    at = open_page(three, "sql", statement="select 1")
    assert len(at.get("vega_lite_chart")) == 1
    boxes = {box.label: box for box in at.selectbox}
    assert [boxes[name].value for name in ("Mark", "Along", "Value")] == [LINES, "k", "hit"]
    at = boxes["Mark"].select(POINTS).run()
    at = next(box for box in at.selectbox if box.label == "Along").select("run").run()
    assert not at.exception
    assert len(at.get("vega_lite_chart")) == 1
    assert len(asked) == 1
