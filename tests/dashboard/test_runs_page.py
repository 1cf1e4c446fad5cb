from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import worlds
from pandas.testing import assert_frame_equal
from rankroom.rescore import rescore
from rankroom.store import Store

MEANS = "ndcg, hit, recall, precision, rr, ap, complete, f1, judged, missed, left_out, errored"


def board(at: Any) -> Any:
    return at.dataframe[0].value


def summary(ask: Any, store: Store, where: str) -> list[tuple[Any, ...]]:
    return ask(store, f"select run, n, {MEANS} from run_summary where {where} order by ndcg desc, run")


def on_page(at: Any) -> list[tuple[Any, ...]]:
    frame = board(at)
    columns = ["run", "n", *MEANS.split(", ")]
    return [tuple(row) for row in frame[columns].itertuples(index=False)]


def texts(at: Any) -> str:
    parts = [
        element.value for kind in (at.markdown, at.caption, at.warning, at.title, at.text) for element in kind
    ]
    return "\n".join([*parts, *(element.proto.body for element in at.get("html"))])


@pytest.mark.parametrize("k", [1, 5, 100])
def test_the_leaderboard_is_the_summary(look: Any, ask: Any, three: Store, k: int) -> None:
    at = look(three, k=str(k))
    assert not at.exception
    assert on_page(at) == [pytest.approx(row) for row in summary(ask, three, f"k = {k} and split = 'dev'")]


def test_the_sentence_names_the_first_run_and_n(look: Any, three: Store) -> None:
    at = look(three)
    assert "`second` is first of 3 runs by NDCG@5: 0.767 over 10 queries" in at.markdown[0].value
    assert "does not test" in texts(at)
    assert "10 labelled, answerable queries" in texts(at)


def test_another_order(look: Any, three: Store) -> None:
    at = look(three, order="MRR")
    assert "by MRR@5" in at.markdown[0].value
    assert list(board(at)["rr"]) == sorted(board(at)["rr"], reverse=True)


def test_one_run(look: Any, single: Store) -> None:
    at = look(single)
    assert "`first` has NDCG@5" in at.markdown[0].value
    assert "nothing to rank it against" in texts(at)


def test_runs_that_share_the_first_place(look: Any, many: Store) -> None:
    at = look(many)
    assert not at.exception
    assert "share the first place among 201 runs" in at.markdown[0].value
    assert "and 198 more" in at.markdown[0].value
    assert len(board(at)) == 201
    assert "196 other runs" in texts(at)


def test_the_documentation_example(look: Any, example: Store) -> None:
    at = look(example, k="3")
    row = board(at).iloc[0]
    assert row["recall"] == pytest.approx(0.8333, abs=1e-4)
    assert row["rr"] == pytest.approx(0.6667, abs=1e-4)
    assert row["n"] == 3


def test_chosen_runs_only(look: Any, three: Store) -> None:
    at = look(three, runs=["first", worlds.EVIL])
    assert sorted(board(at)["run"]) == sorted(["first", worlds.EVIL])
    assert "2 runs" in at.markdown[0].value


@pytest.mark.parametrize(
    ("link", "condition"),
    [
        ({"category": ["how_to"]}, "category = 'how_to'"),
        ({"category": ["(none)"]}, "category is null"),
        ({"language": ["de"], "category": ["how_to", "factual"]}, "language = 'de' and category is not null"),
        ({"tag": ["two_parts"]}, "list_contains(tags, 'two_parts')"),
        ({"split": "all", "category": ["how_to"]}, "category = 'how_to'"),
        ({"must_pass": "true"}, "must_pass"),
        ({"attribute.channel": ["chat"]}, "attributes['channel'] = 'chat'"),
        ({"attribute.channel": ["(none)"], "attribute.<b>": ["1"]}, "attributes['<b>'] = '1'"),
    ],
)
def test_a_choice_of_queries_gives_their_means(
    look: Any, ask: Any, three: Store, link: dict[str, Any], condition: str
) -> None:
    at = look(three, **link)
    split = "true" if link.get("split") == "all" else "split = 'dev'"
    rows = ask(
        three,
        "select run, count(*) filter (num_relevant > 0), avg(ndcg), avg(hit), avg(recall), avg(precision),"
        " avg(rr), avg(ap), avg(complete), avg(f1), avg(judged), count(*) filter (hit = 0),"
        " count(*) filter (outcome = 'left_out'), count(*) filter (outcome in ('error', 'timeout'))"
        " from query_scores join queries using (query_id)"
        f" where k = 5 and {split} and ({condition}) group by run order by avg(ndcg) desc, run",
    )
    assert on_page(at) == [pytest.approx(row) for row in rows]


def test_every_query_chosen_gives_the_summary(look: Any, ask: Any, three: Store) -> None:
    every = look(three, language=["de", "en"])
    assert_frame_equal(board(every), board(look(three)))


def test_a_filter_that_leaves_nothing(open_page: Any, three: Store) -> None:
    at = open_page(three, split="heldout", category=["factual"])
    assert not at.exception
    assert "No labelled, answerable query is left" in at.markdown[0].value
    assert "no queries" in texts(at)
    at.button[0].click().run()
    assert len(board(at)) == 3


def test_only_queries_without_an_answer_have_no_means(look: Any, three: Store) -> None:
    at = look(three, category=["(none)"], tag=["<i>t</i>"], language=["en"])
    assert board(at)["n"].tolist() == [1, 1, 1]


def test_held_out_queries_are_another_split(look: Any, ask: Any, three: Store) -> None:
    at = look(three)
    assert set(board(at)["n"]) == {10}
    assert "1 query of other splits" in texts(at)
    assert set(board(look(three, split="heldout"))["n"]) == {1}
    at = look(three, split="all")
    assert set(board(at)["n"]) == {11}
    assert "other splits" not in texts(at)


def test_values_that_are_not_there_fall_back(look: Any, three: Store) -> None:
    at = look(three, k="7", split="x", category=["y"], runs=["z"], order="<b>", target_rr="many", stage="q")
    assert not at.exception
    assert board(at).equals(board(look(three)))


def test_targets(look: Any, three: Store) -> None:
    at = look(three)
    assert "**MRR@5 ≥ 0.700**: met by 1 of 3 runs" in texts(at)
    assert "**precision@5 ≥ 0.600**: unattainable under these labels (ceiling 0.220)" in texts(at)
    assert board(at)["target_rr"].tolist()[0] == "✓ met"
    assert set(board(at)["target_precision"]) == {"⊘ unattainable"}
    at = look(three, target_rr="0", target_precision="0.2", target_hit="0.9")
    assert "MRR@5 ≥" not in texts(at)
    assert "hit rate@5 ≥ 0.900" in texts(at)
    assert board(at)["target_precision"].tolist()[0] == "✗ 0.020 short"


def test_ceilings_stand_in_the_headings(look: Any, ask: Any, three: Store) -> None:
    ((ceiling,),) = ask(three, "select max(precision_ceiling) from run_summary where k = 5 and split = 'dev'")
    columns = json.loads(look(three).dataframe[0].proto.columns)
    assert columns["precision"]["label"] == f"precision ≤ {ceiling:.3f}"
    assert columns["hit"]["label"] == "hit rate"


def test_the_curve_and_the_ranks(look: Any, ask: Any, three: Store) -> None:
    at = look(three)
    charts = [chart.proto.alt for chart in at.get("vega_lite_chart")]
    assert len(charts) == 6
    assert all(charts)
    assert "second from" in next(text for text in charts if text.startswith("Hit rate over"))
    ranks = at.dataframe[1].value.set_index("run")
    rows = ask(
        three,
        "select run, first_relevant_rank from query_scores_uncut join queries using (query_id)"
        " where num_relevant > 0 and split = 'dev' and outcome not in ('error', 'left_out')",
    )
    for run in ("first", "second"):
        mine = [rank for name, rank in rows if name == run]
        assert ranks.loc[run, "1"].split(" ")[0] == str(mine.count(1))
        assert ranks.loc[run, "never"].split(" ")[0] == str(mine.count(None))
        assert ranks.loc[run, "6–10"].split(" ")[0] == str(sum(6 <= (rank or 0) <= 10 for rank in mine))
    assert ranks.loc["first", "not run"] == "2 · 20%"


def test_stages(look: Any, ask: Any, staged: Store) -> None:
    at = look(staged, stage="candidates")
    expected = ask(
        staged,
        f"select run, n, {MEANS} from run_summary_all where k = 5 and split = 'dev' and stage = 'candidates'",
    )
    assert on_page(at) == [pytest.approx(row) for row in expected]
    assert at.selectbox(key="stage").options == ["final", "candidates"]


def test_a_click_on_a_run_leads_to_its_failures(open_page: Any, three: Store, clicked: Any) -> None:
    at = clicked(open_page(three), "open_failures", row=2)
    assert at.title[0].value == "Failures"
    assert at.query_params["run"] == "first"
    assert at.selectbox(key="run").value == "first"


def test_names_from_data_are_shown_as_they_are(look: Any, three: Store) -> None:
    at = look(three)
    assert f"``{worlds.EVIL}``" in at.markdown[0].value
    for element in at.get("html"):
        assert "<b onclick" not in element.proto.body
    assert worlds.EVIL in set(board(at)["run"])


def told(at: Any, start: str) -> str:
    """What the chart with this beginning says without eyes."""
    return next(
        (chart.proto.alt for chart in at.get("vega_lite_chart") if chart.proto.alt.startswith(start)), ""
    )


def test_means_over_time_by_series(look: Any, three: Store) -> None:
    at = look(three)
    assert told(at, "NDCG@5 over time") == (
        "NDCG@5 over time: (no series) 0.767 (second); weekly 0.274 (first)."
    )
    assert f"``{worlds.EVIL}`` does not say when they were made" in texts(at)


def test_runs_without_a_date_have_no_trend(look: Any, many: Store, single: Store) -> None:
    at = look(single)
    assert not told(at, "NDCG@5 over time")
    assert "over time" not in texts(at)
    assert told(look(many), "NDCG@5 over time").startswith("NDCG@5 over time: (no series) from 0.767")


def test_what_changed_between_neighbours_is_marked(open_page: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    queries = [{"query_id": "q", "split": "dev"}]
    labels = [{"query_id": "q", "doc_id": "d1", "grade": 1}]
    for number in (1, 2, 3):
        run = {f"r{number}": [{"query_id": "q", "results": ["d1"]}]}
        about = {f"r{number}": f'created = 2026-03-0{number}T10:00:00Z\nseries = "nightly"\n'}
        parts = tmp_path / f"n{number}"
        version = 'collection.version = "1"\n' if number < 3 else 'collection.version = "<b>2</b>"\n'
        revision = "1" if number == 1 else str(number)
        worlds.add_parts(
            store, parts, queries, labels, run, about, more=f'labels.revision = "{revision}"\n{version}'
        )
        labels = [*labels, {"query_id": "q", "doc_id": f"more{number}", "grade": 1}]
    rescore(store)
    at = open_page(store)
    assert not at.exception
    notes = texts(at)
    assert "all points are scored under `parts@3`" in notes
    assert "Before `r2`: `labels parts@1 → parts@2`" in notes
    assert "Before `r3`: `collection parts@1 → parts@<b>2</b>, labels parts@2 → parts@3`" in notes


def test_quality_beside_costs(look: Any, ask: Any, three: Store) -> None:
    at = look(three)
    rows = ask(three, "select run, latency_p50_ms, latency_p95_ms from run_costs where split = 'dev'")
    frame = board(at)
    on_page = zip(frame["run"], frame["latency_p50_ms"], frame["latency_p95_ms"], strict=True)
    assert sorted(on_page) == sorted(rows)
    assert "context_tokens_mean" not in frame
    assert "best second 12 ms at 0.767" in told(at, "NDCG@5 over median latency")
    assert not told(at, "NDCG@5 over mean context size")
    assert "that ran to their end" in texts(at)


def test_costs_are_those_of_the_chosen_queries(open_page: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    queries = [{"query_id": "a", "category": "x"}, {"query_id": "b", "category": "y"}, {"query_id": "c"}]
    labels = [{"query_id": query["query_id"], "doc_id": "d1", "grade": 1} for query in queries]
    costs = {"a": (1, 10), "b": (3000, 30), "c": (None, None)}
    run = [
        {"query_id": query, "results": ["d1"]}
        | ({} if latency is None else {"latency_ms": latency, "context_tokens": tokens})
        for query, (latency, tokens) in costs.items()
    ]
    worlds.add_parts(store, tmp_path / "n", queries, labels, {"r": run, "silent": run[2:]})
    frame = board(open_page(store)).set_index("run")
    assert frame.loc["r", "latency_p50_ms"] == 1500.5
    assert frame.loc["r", "context_tokens_mean"] == 20
    at = open_page(store, category=["y"])
    assert board(at).set_index("run").loc["r", "latency_p50_ms"] == 3000
    assert "1 run recorded no latency. 1 run recorded no context size." in texts(at)
    assert told(at, "NDCG@5 over mean context size")


def test_nothing_recorded_shows_no_costs(look: Any, staged: Store) -> None:
    at = look(staged)
    assert "latency_p50_ms" not in board(at)
    assert not told(at, "NDCG@5 over median latency")


def test_settings_and_tags_choose_runs(open_page: Any, configured: Store) -> None:
    key = f"setting.{worlds.EVIL_SETTING}"
    at = open_page(configured)
    assert at.multiselect(key=key).options == ["8", "64", "(none)"]
    assert "final.k" not in [box.label for box in at.multiselect]
    at = open_page(configured, **{key: ["8", "(none)"]})
    assert sorted(board(at)["run"]) == sorted(["second", worlds.EVIL])
    assert worlds.EVIL_SETTING not in texts(at)  # but escaped
    at = open_page(configured, run_tag=["<b>tagged</b>"], category=["how_to"])
    assert board(at)["run"].tolist() == ["first"]
    at = open_page(configured, run_tag=["<b>tagged</b>"], **{key: ["8"]})
    assert "No run is left under these filters" in at.markdown[0].value
    at.button[0].click().run()
    assert len(board(at)) == 3
