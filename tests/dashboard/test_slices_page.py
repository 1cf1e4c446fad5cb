from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import worlds
from rankroom.store import Store
from streamlit.typing import VegaLiteState
from test_runs_page import texts
from test_shown_sql import shown


def listed(at: Any) -> Any:
    return at.dataframe[0].value


def maps(at: Any) -> list[str]:
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def click(at: Any, number: int = 0, **cell: str) -> Any:
    at.session_state[f"map_{number}"] = VegaLiteState({"selection": {"cell": [cell]}})
    return at.run()


@pytest.mark.parametrize("split", ["dev", "heldout"])
def test_the_list_is_slice_summary(look: Any, ask: Any, three: Store, split: str) -> None:
    at = look(three, "slices", columns="runs", split=split, metric="recall", of_run="first")
    assert not at.exception
    rows = ask(
        three,
        "select slice, n, recall from slice_summary where run = 'first' and k = 5 and dimension = 'category'"
        f" and split = '{split}'",
    )
    frame = listed(at)
    on_page = {row.row: (row.n, row.value) for row in frame.itertuples()}
    assert on_page == {name: (n, pytest.approx(mean, nan_ok=True)) for name, n, mean in rows}


def test_category_by_language_with_a_map_for_each_run(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "slices", thin="1")
    assert len(maps(at)) == 3
    assert all("by category and language of" in text for text in maps(at))
    rows = ask(
        three,
        "select slice_1, slice_2, n, ndcg from"
        " slices_by('category', 5, second_by := 'language', in_split := 'dev') where run = 'second'",
    )
    on_page = {(row.row, row.column): (row.n, row.value) for row in listed(at).itertuples()}
    assert on_page == {(a, b): (n, pytest.approx(mean, nan_ok=True)) for a, b, n, mean in rows}


def test_the_gap_is_to_the_runs_mean(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "slices", columns="runs", of_run="first", thin="1")
    ((mean,),) = ask(three, "select ndcg from run_summary where run = 'first' and k = 5 and split = 'dev'")
    for row in listed(at).itertuples():
        gap = row.value - mean
        assert row.gap == ("–" if gap != gap else f"{gap:+.3f}".replace("-", "−"))


def test_the_sentence_names_the_worst_slice_that_is_not_thin(look: Any, three: Store) -> None:
    at = look(three, "slices", columns="runs", thin="2", of_run="first")
    first = listed(at).iloc[0]
    assert first["thin"] == ""
    assert f"`{first['row']}` is the worst slice of `first` at NDCG@5" in at.markdown[0].value
    assert f"over {first['n']} queries" in at.markdown[0].value
    assert "not a test" in texts(at)


def test_thin_slices_are_never_the_worst(look: Any, three: Store) -> None:
    at = look(three, "slices")
    assert "Every slice of `second` is thin, with fewer than 10 queries" in at.markdown[0].value
    assert set(listed(at)["thin"]) == {"thin"}
    at = look(three, "slices", columns="runs", thin="3", category=["how_to"])
    assert "is the only slice of `second` that is not thin" in at.markdown[0].value


def test_filters_choose_the_queries(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "slices", rows="category", columns="runs", language=["de"], of_run="first", thin="1")
    rows = ask(
        three,
        "select category, count(*), avg(ndcg) from query_scores join queries using (query_id)"
        " where run = 'first' and k = 5 and language = 'de' and split = 'dev' group by all",
    )
    on_page = {row.row: (row.n, row.value) for row in listed(at).itertuples()}
    assert on_page == {name: (n, pytest.approx(mean)) for name, n, mean in rows}


@pytest.mark.parametrize(("rows", "columns"), [("channel", "<b>"), ("<b>", "tag"), ("must_pass", "runs")])
def test_any_dimension(look: Any, three: Store, rows: str, columns: str) -> None:
    at = look(three, "slices", rows=rows, columns=columns)
    assert not at.exception
    assert at.selectbox(key="rows").value == rows
    assert at.selectbox(key="columns").value == columns
    assert len(listed(at)) > 0


def test_three_failures_of_each_slice(open_page: Any, ask: Any, three: Store, clicked: Any) -> None:
    at = open_page(three, "slices", columns="runs", of_run="first", thin="1")
    failing = ask(
        three,
        "select coalesce(category, '(none)'), count(f.query_id), count(*)"
        " from query_scores s join queries q using (query_id) left join failures f using (run, query_id, k)"
        " where s.run = 'first' and s.k = 5 and q.split = 'dev' group by all",
    )
    frame = listed(at)
    assert dict(zip(frame["row"], frame["failing"], strict=True)) == {
        worlds.EVIL: pytest.approx(float("nan"), nan_ok=True)
    } | {name: f"{count} of {labelled} ›" for name, count, labelled in failing if count}
    place = frame["row"].tolist().index("how_to")
    assert frame["failure_0"][place] == "Half of the evidence"  # it must pass
    at = clicked(at, "open_failure_1", row=place)
    assert at.title[0].value == "Query"
    assert at.query_params["run"] == "first"
    assert at.query_params["query"] == "nothing"


def test_the_failures_of_a_slice(open_page: Any, three: Store, clicked: Any) -> None:
    at = open_page(three, "slices", columns="runs", of_run="first", thin="1")
    place = listed(at)["row"].tolist().index("how_to")
    at = clicked(at, "open_slice", row=place)
    assert at.title[0].value == "Failures"
    assert at.selectbox(key="run").value == "first"
    assert at.multiselect(key="category").value == ["how_to"]
    assert set(at.dataframe[0].value["query_id"]) == {"partial", "nothing"}


def test_a_click_on_a_cell_leads_to_its_failures_and_back(open_page: Any, three: Store) -> None:
    at = open_page(three, "slices")
    at = click(at, 2, run="first", row="factual", column="en")
    assert not at.exception
    assert at.title[0].value == "Failures"
    assert at.selectbox(key="run").value == "first"
    assert at.multiselect(key="category").value == ["factual"]
    assert at.multiselect(key="language").value == ["en"]
    assert set(at.dataframe[0].value["query_id"]) == {"below", "broken"}
    at.switch_page("app_pages/slices.py").run()
    assert at.multiselect(key="category").value == []
    assert len(maps(at)) == 3


def test_what_the_reader_chose_in_between_stays(open_page: Any, three: Store) -> None:
    at = click(open_page(three, "slices"), run="second", row="factual", column="en")
    at.multiselect(key="category").set_value(["how_to"]).run()
    at.switch_page("app_pages/slices.py").run()
    assert at.multiselect(key="category").value == ["how_to"]


@pytest.mark.parametrize(
    ("rows", "cell", "key", "value"),
    [
        ("must_pass", "false", "must_pass", "false"),
        ("tag", "<i>t</i>", "tag", ["<i>t</i>"]),
        ("channel", "chat", "attribute.channel", ["chat"]),
        ("category", worlds.EVIL, "category", [worlds.EVIL]),
    ],
)
def test_any_slice_can_be_opened(
    open_page: Any, ask: Any, three: Store, rows: str, cell: str, key: str, value: Any
) -> None:
    at = open_page(three, "slices", rows=rows, columns="runs")
    at = click(at, run="first", row=cell, column="first")
    assert at.title[0].value == "Failures"
    filters = at.selectbox if key == "must_pass" else at.multiselect
    assert filters(key=key).value == value


def test_a_selection_of_a_cell_that_is_gone(open_page: Any, three: Store) -> None:
    at = click(open_page(three, "slices"), run="first", row="gone", column="en")
    assert not at.exception
    assert at.title[0].value == "Slices"


def test_runs_as_columns(look: Any, three: Store) -> None:
    at = look(three, "slices", columns="runs")
    (text,) = maps(at)
    assert text.startswith("NDCG@5 by category and run: ")
    at = look(three, "slices", columns="runs", runs=["first"])
    assert "of_run" not in [box.key for box in at.selectbox]
    assert "`first`" in at.markdown[0].value


def test_settings_of_runs(look: Any, configured: Store) -> None:
    at = look(configured, "slices", columns=f"setting {worlds.EVIL_SETTING}")
    assert not at.exception
    assert [text.split(": ")[0] for text in maps(at)] == [
        f"NDCG@5 by category and run of {worlds.EVIL_SETTING} = {value}" for value in ("8", "64", "(none)")
    ]
    assert "Each column is a run" in texts(at)
    assert "may differ in other settings" in texts(at)


def test_runs_by_setting_and_tag(look: Any, configured: Store) -> None:
    at = look(configured, "slices", columns="runs", **{f"setting.{worlds.EVIL_SETTING}": ["8", "64"]})
    assert at.selectbox(key="of_run").options == ["second", "first"]
    at = look(configured, "slices", columns="runs", run_tag=["<b>tagged</b>"])
    assert "`first`" in at.markdown[0].value
    assert "of_run" not in [box.key for box in at.selectbox]


def test_one_run(look: Any, single: Store) -> None:
    at = look(single, "slices", thin="1")
    assert not at.exception
    assert len(maps(at)) == 1
    assert "`first`" in at.markdown[0].value


@pytest.mark.parametrize(("columns", "number"), [("language", 4), ("runs", 8)])
def test_two_hundred_runs(look: Any, many: Store, columns: str, number: int) -> None:
    at = look(many, "slices", columns=columns)
    assert not at.exception
    assert len(at.selectbox(key="of_run").options) == number
    assert f"{number} of 201 runs" in texts(at)
    assert len(maps(at)) == (number if columns == "language" else 1)


def test_a_filter_that_leaves_nothing(open_page: Any, three: Store) -> None:
    at = open_page(three, "slices", split="heldout", category=["factual"])
    assert not at.exception
    assert "No labelled, answerable query is left" in at.markdown[0].value
    assert not maps(at)
    at.button[0].click().run()
    assert len(maps(at)) == 3


def test_settings_that_leave_no_run(look: Any, configured: Store) -> None:
    at = look(configured, "slices", run_tag=["<b>tagged</b>"], **{f"setting.{worlds.EVIL_SETTING}": ["8"]})
    assert not at.exception
    assert "No run with labelled, answerable queries is left" in at.markdown[0].value


def test_only_queries_without_an_answer(open_page: Any, tmp_path: Path) -> None:
    """A slice has no mean where nothing in it can be answered, and is not the worst."""
    queries = [
        {"query_id": f"q{i}", "category": "no_answer" if i > 2 else "answered", "split": "dev"}
        for i in range(6)
    ]
    labels = [
        {"query_id": query["query_id"]}
        | ({"no_answer": True} if query["category"] == "no_answer" else {"doc_id": "d1", "grade": 1})
        for query in queries
    ]
    results = {"r": [{"query_id": query["query_id"], "results": ["d2"]} for query in queries]}
    store = Store(tmp_path / "s.duckdb")
    worlds.add_parts(store, tmp_path / "native", queries, labels, results)
    at = open_page(store, "slices", thin="1")
    assert not at.exception
    assert "`answered` is the only slice of `r` that is not thin" in at.markdown[0].value
    frame = listed(at)
    assert frame["n"].tolist() == [3, 0]
    assert frame["gap"].tolist() == ["0.000", "–"]


def test_queries_that_say_nothing(open_page: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    worlds.add_parts(
        store,
        tmp_path / "native",
        [{"query_id": "q"}],
        [{"query_id": "q", "doc_id": "d1", "grade": 1}],
        {"r": [{"query_id": "q", "results": ["d1"]}]},
    )
    at = open_page(store, "slices")
    assert not at.exception
    assert "say nothing that they could be sliced by" in at.markdown[0].value
    assert "queries.jsonl" in texts(at)


def test_other_labels_and_stages_have_no_failures(open_page: Any, staged: Store) -> None:
    at = open_page(staged, "slices", stage="candidates", thin="1")
    assert not at.exception
    assert "failing" not in listed(at)
    assert "at the final stage under the current labels only" in texts(at)
    at = click(at, run="staged", row="factual", column="en")
    assert at.title[0].value == "Slices"


def test_values_that_are_not_there_fall_back(look: Any, three: Store) -> None:
    at = look(three, "slices", rows="<b>gone", columns="x", metric="y", thin="-1", of_run="z", k="7")
    assert not at.exception
    assert listed(at).equals(listed(look(three, "slices")))


def test_names_from_data_are_shown_as_they_are(look: Any, three: Store) -> None:
    at = look(three, "slices", columns="runs", of_run=worlds.EVIL, thin="1")
    assert f"``{worlds.EVIL}``" in at.markdown[0].value
    assert worlds.EVIL in set(listed(at)["row"])
    for element in at.get("html"):
        assert "<b onclick" not in element.proto.body


LINKS: list[dict[str, Any]] = [
    {},
    {"columns": "runs", "metric": "MRR", "of_run": worlds.EVIL},
    {"rows": "<b>", "columns": "category", "category": [worlds.EVIL, "how_to"], "split": "all"},
]


@pytest.mark.parametrize("link", LINKS)
def test_the_shown_statements_give_the_pages_numbers(
    look: Any, ask: Any, three: Store, link: dict[str, Any]
) -> None:
    at = look(three, "slices", **link)
    cells, runs, *_, failing = shown(at)
    run = at.selectbox(key="of_run").value.replace("'", "''")
    rows = ask(three, f'select "row", "column", n, value from ({cells.rstrip(";")}) where run = \'{run}\'')
    frame = listed(at)
    across = frame["column"] if "column" in frame else [at.selectbox(key="of_run").value] * len(frame)
    on_page = dict(zip(zip(frame["row"], across, strict=True), frame["value"], strict=True))
    assert on_page == {(a, b): pytest.approx(value, nan_ok=True) for a, b, _, value in rows}
    assert len(ask(three, runs)) == 3
    counts = [int(text.split(" ")[0]) for text in frame["failing"].dropna()]
    assert sorted(counts) == sorted(n for (n,) in ask(three, f"select failing from ({failing.rstrip(';')})"))
