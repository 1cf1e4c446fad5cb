"""The Compare page: what it says is what the macros say, in every state a store can be in."""

from __future__ import annotations

import html
import os
import re
from typing import Any

import pytest
import worlds
from panels import compare_result
from rankroom.add import add_folder
from rankroom.store import Store
from streamlit.typing import VegaLiteState
from test_runs_page import texts
from test_shown_sql import shown


def charts(at: Any) -> list[str]:
    """What each chart says without eyes."""
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def chart(at: Any, part: str) -> str:
    """What one of them says, by a part of it."""
    return next(text for text in charts(at) if part in text)


def said(at: Any) -> str:
    """All texts of the page, without their tags."""
    plain = " ".join([texts(at), *(caption.value for caption in at.caption)])
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", " ", plain, flags=re.DOTALL)
    return " ".join(html.unescape(plain).split())


def click(at: Any, chart: str, selection: str, **fields: Any) -> Any:
    at.session_state[chart] = VegaLiteState({"selection": {selection: [fields]}})
    return at.run()


TABLES = {
    "metrics": "Every metric",
    "losses": "Losses",
    "wins": "Wins",
    "behind": "The queries behind a mark",
}


def table(at: Any, name: str) -> Any:
    """The rows of a table."""
    return next(frame.value for frame in at.dataframe if frame.proto.alt.startswith(TABLES[name]))


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two runs over two versions of a collection, and one that declares a baseline."""
    folder = tmp_path_factory.mktemp("apart")
    native = worlds.write_folder(folder / "native", {name: worlds.RUNS[name] for name in ("first", "second")})
    (native / "runs" / "second.toml").write_text('collection = {version = "2"}\n')
    (native / "runs" / "third.toml").write_text(
        'baseline = "first"\n[config]\nfinal.k = 3\nreranker = "<b>"\n'
    )
    (native / "runs" / "third.jsonl").write_text((native / "runs" / "second.jsonl").read_text())
    store = Store(folder / "store.duckdb")
    add_folder(store, native)
    return store


def test_the_newest_run_against_the_one_before(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "compare")
    assert not at.exception
    assert (at.query_params["base"], at.query_params["cand"]) == ("first", "second")
    assert "baseline first candidate second data handbook labels handbook@1 k 5 split dev" in said(at)
    assert "cannot tell second from first" in said(at)
    rows = ask(
        three,
        "select metric, avg(baseline), avg(candidate), count(*) filter (difference > 0),"
        " count(*) filter (difference < 0), count(*)"
        " from query_deltas('first', 'second', 5) join queries using (query_id) where split = 'dev'"
        " group by all",
    )
    means = {metric: values for metric, *values in rows}
    numbers = table(at, "metrics").set_index("metric")
    for metric, name in (("ndcg", "NDCG@5"), ("hit", "hit rate@5"), ("recall", "recall@5")):
        row = numbers.loc[name]
        assert list(row[["baseline", "candidate", "wins", "losses", "n"]]) == pytest.approx(means[metric])
        assert row["verdict"] == "○ cannot tell"
    assert f"{numbers.loc['NDCG@5', 'difference']} [" in chart(at, "Differences,")
    assert "10,000 resamples" in said(at)


def test_the_pictures_and_lists_agree_with_the_macros(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "compare", base="second", cand=worlds.EVIL)
    assert not at.exception
    scope = (
        f"query_deltas('second', $r${worlds.EVIL}$r$, 5) join queries using (query_id) where split = 'dev'"
    )
    ((change, wins, losses),) = ask(
        three,
        "select avg(difference), sum((difference > 0)::int), sum((difference < 0)::int)"
        f" from {scope} and metric = 'ndcg'",
    )
    assert f"{change:+.3f}".replace("-", "−") in chart(at, "Account")
    assert f"{wins} better, {losses} worse" in chart(at, "baseline against candidate")
    assert set(table(at, "losses")["query"]) == {
        text for (text,) in ask(three, f"select text from {scope} and metric = 'ndcg' and difference < 0")
    }
    ((better,),) = ask(
        three,
        "select count(*) from query_scores_uncut as b join query_scores_uncut as c using (query_id)"
        f" where b.run = 'second' and c.run = $r${worlds.EVIL}$r$ and query_id <> 'held'"
        " and coalesce(c.first_relevant_rank, 1e6) < coalesce(b.first_relevant_rank, 1e6)",
    )
    assert f"{better} higher up" in chart(at, "Ranks")
    assert len(table(at, "losses")) == losses


def test_a_change_elsewhere_in_the_store_compares_nothing_anew(
    open_page: Any, three: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = table(open_page(three, "compare", base="first", cand="second"), "metrics")
    os.utime(three.path)
    monkeypatch.setattr(compare_result, "compare", None)
    at = open_page(three, "compare", base="first", cand="second")
    assert not at.exception
    assert table(at, "metrics").equals(before)


def test_swapping_mirrors_the_page(open_page: Any, three: Store) -> None:
    at = open_page(three, "compare", base="first", cand="second")
    before = table(at, "metrics")
    at.button(key="swap").click().run()
    assert (at.query_params["base"], at.query_params["cand"]) == ("second", "first")
    after = table(at, "metrics")
    assert list(after["wins"]) == list(before["losses"])
    assert list(after["baseline"]) == list(before["candidate"])
    at.selectbox(key="cand_choice").set_value(worlds.EVIL).run()
    assert not at.exception
    assert at.query_params["cand"] == worlds.EVIL


def test_a_run_against_itself(look: Any, three: Store) -> None:
    at = look(three, "compare", base=worlds.EVIL, cand=worlds.EVIL)
    assert not at.exception
    assert "<b onclick" not in " ".join(str(element.proto) for element in at.get("html"))
    assert "compared with itself: nothing differs" in said(at)
    assert "Neither kind of query moved" in said(at)
    assert set(table(at, "metrics")["difference"]) == {"0.000"}
    assert "No query has a lower NDCG@5." in said(at)


def test_one_run_has_nothing_to_be_compared_with(look: Any, single: Store) -> None:
    at = look(single, "compare")
    assert not at.exception
    assert "`first` is the only run here" in said(at)
    assert "rankroom add --store" in at.code[0].value


def test_runs_that_are_not_comparable(open_page: Any, apart: Store) -> None:
    at = open_page(apart, "compare", base="first", cand="second")
    assert not at.exception
    assert "not comparable as they stand" in said(at)
    assert "handbook 1 against 2" in said(at)
    assert charts(at) == []
    at.toggle(key="common").set_value(True).run()
    assert not at.exception
    assert "that both share" in said(at)
    assert table(at, "metrics")["n"][0] > 0
    lists = [sql for sql in shown(at) if "query_deltas" in sql]
    assert lists
    assert all("list_contains([" in sql for sql in lists)


def test_a_link_with_the_candidate_alone_means_its_declared_baseline(look: Any, apart: Store) -> None:
    at = look(apart, "compare", cand="third")
    assert at.query_params["base"] == "first"
    assert "One of the settings that the runs name changed." in said(at)
    assert "(not named) → <b>" in said(at)


def test_a_run_that_is_not_there_is_said(look: Any, three: Store) -> None:
    at = look(three, "compare", base="<b>gone</b>", cand="second")
    assert not at.exception
    assert "`<b>gone</b>` is not in this store" in at.warning[0].value


def test_a_filter_that_leaves_no_query(open_page: Any, three: Store) -> None:
    at = open_page(three, "compare", category=[worlds.EVIL], language=["de"])
    assert not at.exception
    assert "no answerable query to be compared on" in said(at)
    assert charts(at) == []
    next(button for button in at.button if button.label == "Clear the filters").click().run()
    assert len(charts(at)) >= 4


def test_a_filter_chooses_the_queries(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "compare", language=["de"], base="first", cand="second")
    ((n,),) = ask(
        three,
        "select count(*) from query_deltas('first', 'second', 5) join queries using (query_id)"
        " where split = 'dev' and language = 'de' and metric = 'hit'",
    )
    assert set(table(at, "metrics")["n"]) == {n}
    assert f"of {n} queries" in chart(at, "baseline against candidate")


def test_clicks_lead_to_queries(open_page: Any, ask: Any, three: Store, clicked: Any) -> None:
    at = open_page(three, "compare", base="first", cand="second", by_metric="hit rate")
    assert "Difference of hit rate@5 by category and language" in chart(at, "Difference of")
    click(at, "difference_map", "cell", row="how_to", column="en")
    behind = table(at, "behind")
    assert {"Found at once", "Returned nothing"} == set(behind["query"])
    click(at, "difference_map", "cell", row="how_to", column="nowhere")
    click(at, "rank_matrix", "cell", baseline="never", candidate="1")
    behind = table(at, "behind")
    assert "Returned nothing" in set(behind["query"])
    at = clicked(at, "open_of_ranks", row=list(behind["query"]).index("Returned nothing"))
    assert at.title[0].value == "Query"
    assert at.selectbox(key="run").value == "second"
    assert at.query_params["query"] == "nothing"
    assert at.query_params["against"] == "first"


def test_a_point_of_one_query_opens_it_and_of_several_lists_them(open_page: Any, three: Store) -> None:
    at = open_page(three, "compare", base="first", cand="second", by="channel", and_by="(one dimension)")
    assert "chat (n = 1, thin)" in chart(at, "chat")
    click(at, "scatter", "point", baseline=0.0, candidate=1.0)
    assert len(table(at, "behind")) > 1
    click(at, "scatter", "point", baseline=0.613, candidate=0.613)
    assert at.title[0].value == "Query"
    assert at.query_params["query"] == "partial"


def test_two_hundred_runs_to_choose_from(look: Any, many: Store) -> None:
    at = look(many, "compare")
    assert not at.exception
    assert len(at.selectbox(key="base_choice").options) == 201
    assert "have the same scores in each of" in said(at)


def test_from_the_leaderboard(open_page: Any, apart: Store, clicked: Any) -> None:
    at = open_page(apart)
    row = list(at.dataframe[0].value["run"]).index("third")
    at = clicked(at, "open_compare", row=row)
    assert at.title[0].value == "Compare"
    assert (at.query_params["base"], at.query_params["cand"]) == ("first", "third")


def test_the_account_is_of_the_metric_where_it_has_one(open_page: Any, three: Store) -> None:
    at = open_page(three, "compare", by_metric="MRR")
    assert "the change of MRR@5" in chart(at, "Account")
    at.selectbox(key="by_metric").set_value("f1").run()
    assert "the change of NDCG@5" in chart(at, "Account")
    assert "F1@5 of" in chart(at, "baseline against candidate")
