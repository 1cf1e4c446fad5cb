from __future__ import annotations

from typing import Any

import pytest
import worlds
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
def test_the_list_is_the_view(open_page: Any, ask: Any, three: Store, run: str, k: int) -> None:
    at = open_page(three, "failures", run=run, k=str(k))
    assert not at.exception
    assert at.selectbox(key="run").value == run
    frame = listed(at)
    assert set(zip(frame["query_id"], frame["fact"], strict=True)) == expected(ask, three, run, k)


def test_the_best_run_is_the_default(open_page: Any, three: Store) -> None:
    at = open_page(three, "failures")
    assert at.selectbox(key="run").value == "second"
    assert "`second` fails 4 of 12 labelled queries at k = 5, for 4 causes" in at.markdown[0].value


def test_what_must_pass_stands_first(open_page: Any, three: Store) -> None:
    frame = listed(open_page(three, "failures", run="first"))
    assert frame["query_id"].iloc[0] == "partial"
    assert frame["must_pass"].iloc[0] == "★"
    assert list(frame["missing"].iloc[0]) == ["d9"]


def test_one_cause(open_page: Any, ask: Any, three: Store) -> None:
    at = open_page(three, "failures", run="first", cause=["below the cutoff"])
    assert listed(at)["query_id"].tolist() == ["below"]
    assert "1 query — cause: below the cutoff" in texts(at)
    assert len(at.get("vega_lite_chart")) == 1


def test_causes_in_words(open_page: Any, three: Store) -> None:
    causes = set(listed(open_page(three, "failures", run="first"))["class"])
    assert {"error or timeout", "left out of the run", "returned nothing", "never retrieved"} <= causes


def test_leaks_and_forbidden_evidence(open_page: Any, three: Store) -> None:
    frame = listed(open_page(three, "failures", run="first")).set_index("query_id")
    assert frame.loc["secret", "class"] == "leak"
    assert frame.loc["closed", "class"] == "answered from forbidden evidence only"


def test_lost_at_a_stage(open_page: Any, staged: Store) -> None:
    frame = listed(open_page(staged, "failures")).set_index("query_id")
    assert frame.loc["lost", "class"] == "lost at final"


def test_filters_narrow_the_list(open_page: Any, ask: Any, three: Store) -> None:
    at = open_page(three, "failures", run="first", language=["de"])
    assert set(zip(listed(at)["query_id"], listed(at)["fact"], strict=True)) == expected(
        ask, three, "first", where="language = 'de' and split = 'dev'"
    )


def test_a_filter_that_leaves_nothing(open_page: Any, three: Store) -> None:
    at = open_page(three, "failures", run="first", split="heldout", category=["factual"])
    assert not at.exception
    assert "No labelled query is left" in at.markdown[0].value
    assert not at.dataframe


def test_nothing_fails(open_page: Any, three: Store) -> None:
    at = open_page(three, "failures", run="second", split="heldout")
    assert "`second` fails none of 1 labelled query at k = 5" in at.markdown[0].value


def test_a_run_that_is_not_there(open_page: Any, three: Store) -> None:
    at = open_page(three, "failures", run="<b>gone</b>")
    assert "There is no run named `<b>gone</b>`" in at.warning[0].value
    assert listed(at) is not None
    at.selectbox(key="run").select("first").run()
    assert not at.warning


def test_a_k_beyond_what_the_run_passes_on(open_page: Any, three: Store) -> None:
    assert "only its first 3 results" in texts(open_page(three, "failures", run="first", k="5"))
    assert "only its first 3 results" not in texts(open_page(three, "failures", run="first", k="3"))


def test_evidence_that_cannot_be_complete(open_page: Any, three: Store) -> None:
    assert "1 query has more than 1 relevant document" in texts(open_page(three, "failures", k="1"))


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


def test_two_hundred_runs(open_page: Any, many: Store) -> None:
    at = open_page(many, "failures", run="run 150")
    assert not at.exception
    assert len(at.selectbox(key="run").options) == 201
    assert "`run 150` fails" in at.markdown[0].value
