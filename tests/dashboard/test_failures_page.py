from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import worlds
from rankroom.add import add_folder
from rankroom.annotations import Note, annotate
from rankroom.store import Store
from test_runs_page import texts


def listed(at: Any) -> Any:
    return at.dataframe[0].value


def expected(
    ask: Any, store: Store, run: str, k: int = 5, where: str = "split = 'dev'"
) -> set[tuple[str, str]]:
    name = run.replace("'", "''")
    return set(
        ask(
            store,
            "select query_id, fact from failures join queries using (query_id)"
            f" where run = '{name}' and k = {k} and {where}",
        )
    )


@pytest.mark.parametrize("run", ["first", "second", worlds.EVIL])
@pytest.mark.parametrize("k", [1, 5])
def test_the_list_is_the_view(look: Any, ask: Any, three: Store, run: str, k: int) -> None:
    at = look(three, "failures", run=run, k=str(k))
    assert not at.exception
    assert at.selectbox(key="run").value == run
    frame = listed(at)
    assert set(zip(frame["query_id"], frame["fact"], strict=True)) == expected(ask, three, run, k)


def test_the_best_run_is_the_default(look: Any, three: Store) -> None:
    at = look(three, "failures")
    assert at.selectbox(key="run").value == "second"
    assert "`second` fails 4 of 12 labelled queries at k = 5, for 4 causes" in at.markdown[0].value


def test_what_must_pass_stands_first(look: Any, three: Store) -> None:
    frame = listed(look(three, "failures", run="first"))
    assert frame["query_id"].iloc[0] == "partial"
    assert frame["must_pass"].iloc[0] == "★"
    assert list(frame["missing"].iloc[0]) == ["d9"]


def test_one_cause(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "failures", run="first", cause=["below the cutoff"])
    assert listed(at)["query_id"].tolist() == ["below"]
    assert "1 query — cause: below the cutoff" in texts(at)
    assert len(at.get("vega_lite_chart")) == 1


def test_causes_in_words(look: Any, three: Store) -> None:
    causes = set(listed(look(three, "failures", run="first"))["class"])
    assert {"error or timeout", "left out of the run", "returned nothing", "never retrieved"} <= causes


def test_leaks_and_forbidden_evidence(look: Any, three: Store) -> None:
    frame = listed(look(three, "failures", run="first")).set_index("query_id")
    assert frame.loc["secret", "class"] == "leak"
    assert frame.loc["closed", "class"] == "answered from forbidden evidence only"


def test_lost_at_a_stage(look: Any, staged: Store) -> None:
    frame = listed(look(staged, "failures")).set_index("query_id")
    assert frame.loc["lost", "class"] == "lost at final"


def test_filters_narrow_the_list(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "failures", run="first", language=["de"])
    assert set(zip(listed(at)["query_id"], listed(at)["fact"], strict=True)) == expected(
        ask, three, "first", where="language = 'de' and split = 'dev'"
    )


def test_a_filter_that_leaves_nothing(look: Any, three: Store) -> None:
    at = look(three, "failures", run="first", split="heldout", category=["factual"])
    assert not at.exception
    assert "No labelled query is left" in at.markdown[0].value
    assert not at.dataframe


def test_nothing_fails(look: Any, three: Store) -> None:
    at = look(three, "failures", run="second", split="heldout")
    assert "`second` fails none of 1 labelled query at k = 5" in at.markdown[0].value


def test_a_run_that_is_not_there(open_page: Any, three: Store) -> None:
    at = open_page(three, "failures", run="<b>gone</b>")
    assert "The link asks for run = `<b>gone</b>`, which is not in this store" in at.warning[0].value
    assert listed(at) is not None
    at.selectbox(key="run").select("first").run()
    assert not at.warning


def test_a_k_beyond_what_the_run_passes_on(look: Any, three: Store) -> None:
    assert "only its first 3 results" in texts(look(three, "failures", run="first", k="5"))
    assert "only its first 3 results" not in texts(look(three, "failures", run="first", k="3"))


def test_evidence_that_cannot_be_complete(look: Any, three: Store) -> None:
    assert "1 query has more than 1 relevant document" in texts(look(three, "failures", k="1"))


def test_long_lists_are_paged(
    open_page: Any, ask: Any, three: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from panels import failure_list

    monkeypatch.setattr(failure_list, "PAGE_SIZE", 4)
    seen: list[str] = []
    for number in (1, 2, 3):
        at = open_page(three, "failures", run="first", page=str(number))
        seen += listed(at)["query_id"].tolist()
    assert len(seen) == len(set(seen))
    assert set(seen) == {query for query, _ in expected(ask, three, "first")}


def test_a_click_opens_the_query(open_page: Any, three: Store, clicked: Any) -> None:
    at = clicked(open_page(three, "failures", run="first"), "open_query", row=0)
    assert at.title[0].value == "Query"
    assert at.query_params["query"] == "partial"


def test_the_list_can_be_walked_without_a_mouse(open_page: Any, three: Store) -> None:
    at = open_page(three, "failures", run="first")
    at.button(key="step").click().run()
    assert at.title[0].value == "Query"
    assert at.query_params["query"] == "partial"


def test_two_hundred_runs(look: Any, many: Store) -> None:
    at = look(many, "failures", run="run 150")
    assert not at.exception
    assert len(at.selectbox(key="run").options) == 201
    assert "`run 150` fails" in at.markdown[0].value


def ids(at: Any) -> set[str]:
    return set(listed(at)["query_id"])


def test_which_cause_turned_into_which(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "failures", run="second", against="first", view="What changed")
    assert not at.exception
    cells = ask(
        three,
        "select baseline_class, candidate_class, count(*) from failure_changes('first', 'second', 5)"
        " join queries using (query_id) where split = 'dev' and change <> 'passes' group by all",
    )
    mended = sum(queries for _, now, queries in cells if now == "not failing")
    assert f"{mended} queries no longer fail, 0 newly fail" in texts(at)
    assert mended > 3


def test_a_cell_opens_its_queries(open_page: Any, three: Store) -> None:
    at = open_page(
        three, "failures", run="second", against="first", cause=["does not fail"], was=["returned nothing"]
    )
    assert listed(at)[["query_id", "was"]].values.tolist() == [["nothing", "returned nothing"]]
    at = open_page(three, "failures", run="first", against="second", was=["does not fail"])
    assert {"nothing", "absent", "broken"} <= ids(at)
    assert "partial" not in ids(at)
    at.button(key="list_all").click().run()
    assert "partial" in ids(at)
    at = open_page(three, "query", run="first", against="second", was=["does not fail"], query="nothing")
    assert re.search(r"Failure \d of 6", texts(at))


def test_the_matrix_narrows_the_list(open_page: Any, three: Store) -> None:
    from panels import class_changes

    at = open_page(three, "failures", run="first", against="second")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_changes.st, "session_state", {})
        class_changes.choose("does not fail", "lost at final")
        assert class_changes.st.session_state == {"was": ["not failing"], "cause": ["lost_at_final"]}
        class_changes.choose(None, None)
        assert class_changes.st.session_state == {"was": [], "cause": []}
    assert at.multiselect(key="was").value == []


def test_the_view_is_the_same_on_the_way_back(open_page: Any, staged: Store) -> None:
    at = open_page(staged, "failures", view="Stages", lost=["final"])
    at.button(key="step").click().run()
    assert at.title[0].value == "Query"
    at.button(key="back").click().run()
    assert at.title[0].value == "Failures"
    assert at.get("button_group")[0].value == "Stages"
    assert at.multiselect(key="lost").value == ["final"]


def test_by_slice(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "failures", run="first", by="category")
    assert not at.exception
    rows = ask(three, at.code[0].value)
    assert ("below_cutoff", "factual", 1, 3) in rows
    assert ("partial_evidence", "how_to", 1, 3) in rows
    assert sum(queries for _, _, queries, _ in rows) == 10
    assert "Failing queries of first by cause and category" in at.get("vega_lite_chart")[0].proto.alt


def test_run_by_run(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "failures", run="first", view="Run by run")
    assert not at.exception
    counts = ask(three, at.code[0].value)
    assert set(counts) == set(
        ask(
            three,
            "select run, class, count(*) from failures join queries using (query_id)"
            " where k = 5 and split = 'dev' group by all",
        )
    )
    assert "in all: first 10, second 4" in at.get("vega_lite_chart")[0].proto.alt


def test_the_funnel(look: Any, ask: Any, staged: Store) -> None:
    at = look(staged, "failures", view="Stages", split="all")
    assert not at.exception
    rows = ask(staged, "select stage, passed_on, lost from stage_funnel where k = 5 order by position")
    said = "; ".join(f"{stage} passes on {kept} and loses {lost}" for stage, kept, lost in rows)
    assert said in at.get("vega_lite_chart")[0].proto.alt
    means = at.dataframe[0].value
    scores = ask(
        staged,
        "select stage, recall from run_summary_all where k = 5 and split = 'all' order by stage",
    )
    assert list(zip(means["stage"], means["recall"], strict=True)) == [
        (stage, pytest.approx(recall)) for stage, recall in scores
    ]


def test_a_loss_opens_its_queries(look: Any, ask: Any, staged: Store) -> None:
    at = look(staged, "failures", lost=["final"])
    lost = ask(
        staged,
        "select distinct query_id from lost_evidence join queries using (query_id)"
        " where k = 5 and stage = 'final' and split = 'dev'",
    )
    assert ids(at) == {query for (query,) in lost}
    assert "evidence lost at `final`" in texts(at)


def test_abstention_stands_apart(open_page: Any, three: Store) -> None:
    at = open_page(three, "failures", run="first", view="Abstention")
    assert "`first` declines 0 of 2 queries that nothing answers, and declines 1 of 10" in texts(at)
    at.button(key="list_forbidden_only").click().run()
    assert at.dataframe[1].value["query_id"].tolist() == ["closed"]


def test_abstention_stands_on_the_leaderboard(look: Any, ask: Any, three: Store) -> None:
    frame = look(three).dataframe[0].value.set_index("run")
    rows = ask(three, "select run, correct_abstention, false_abstention from abstention where split = 'dev'")
    for run, right, wrong in rows:
        assert frame.loc[run, ["correct_abstention", "false_abstention"]].tolist() == [right, wrong]


def test_answers_by_evidence(open_page: Any, ask: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    lines = [dict(line) for line in worlds.RUNS["second"]]
    for at_line, line in enumerate(lines):
        line["answer_scores"] = {"faithful": at_line / 20}
    add_folder(store, worlds.write_folder(tmp_path / "native", {"second": lines}))
    at = open_page(store, "failures", view="Answers", split="all")
    assert not at.exception
    rows = ask(store, "select evidence, mean, num_answers from answers_by_evidence where k = 5")
    assert {kind for kind, _, _ in rows} >= {"complete", "partial", "missing", "no_answer"}
    for kind, mean, n in rows:
        said = "nothing answers" if kind == "no_answer" else f"the evidence is {kind}"
        assert f"{mean:.3f} where {said} (n = {n})" in texts(at)


def test_what_was_noted_and_is_fixed_since(open_page: Any, fresh: Store, tmp_path: Path) -> None:
    annotate(fresh, Note("nothing", "Noor", dataset="handbook", state="explained", cause="an empty index"))
    annotate(fresh, Note("below", "Noor", dataset="handbook", state="explained", cause="a long text"))
    lines = [line for line in worlds.RUNS["second"] if line["query_id"] != "below"]
    add_folder(fresh, worlds.write_folder(tmp_path / "native", {"later": lines}))
    at = open_page(fresh, "failures", run="later")
    assert not at.exception
    frame = listed(at).set_index("query_id")
    assert frame.loc["below", "note"] == "still failing, explained by a long text"
    assert "queries, 1 with a note" in texts(at)
    assert "still failing, explained by a long text" in texts(
        open_page(fresh, "query", run="later", query="below")
    )
    assert at.dataframe[1].value["query_id"].tolist() == ["nothing"]
    assert "Noted, and fixed since" in [title.value for title in at.subheader]
