"""The SQL under a panel runs in any client as it stands, and gives what the page shows."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
import worlds
from hypothesis import given, settings
from hypothesis import strategies as st
from panels.question import Question, literal
from rankroom.store import Store

LINKS: list[tuple[str, dict[str, Any]]] = [
    ("runs", {}),
    ("runs", {"k": "10", "split": "all", "runs": ["first", worlds.EVIL]}),
    ("runs", {"category": [worlds.EVIL, "how_to"], "tag": ["<i>t</i>", "two_parts"], "order": "MRR"}),
    ("compare", {"base": "first", "cand": worlds.EVIL}),
    (
        "compare",
        {"category": [worlds.EVIL, "how_to"], "by": "channel", "ranks_of": "every relevant document"},
    ),
    ("slices", {"category": [worlds.EVIL, "how_to"], "must_pass": "false"}),
    ("failures", {"run": worlds.EVIL}),
    ("failures", {"run": "first", "category": [worlds.EVIL, "how_to"], "cause": ["partial evidence"]}),
    ("failures", {"run": "first", "against": worlds.EVIL, "view": "What changed", "lost": ["final"]}),
    ("failures", {"run": "first", "against": worlds.EVIL, "by": "channel", "was": ["does not fail"]}),
    ("failures", {"run": worlds.EVIL, "against": "first", "view": "Abstention"}),
    ("query", {"run": worlds.EVIL, "query": worlds.EVIL}),
    ("query", {"run": "first", "query": "lost", "against": worlds.EVIL, "beside": ["second"], "doc": "d2"}),
    ("labels", {"category": [worlds.EVIL, "how_to"]}),
    ("query", {"run": "first", "query": "secret", "k": "3"}),
]


def shown(at: Any) -> list[str]:
    return [element.value for element in at.code if element.language == "sql"]


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_every_statement_runs_as_it_stands(
    look: Any, ask: Any, three: Store, page: str, link: dict[str, Any]
) -> None:
    statements = shown(look(three, page, **link))
    assert len(statements) >= (2 if page in ("failures", "labels") else 3)
    for statement in statements:
        assert "$" not in statement.replace(literal(worlds.EVIL), "")
        ask(three, statement)


@pytest.mark.parametrize("link", [link for page, link in LINKS if page == "runs"])
def test_the_leaderboards_statement_gives_its_numbers(
    look: Any, ask: Any, three: Store, link: dict[str, Any]
) -> None:
    at = look(three, **link)
    frame = at.dataframe[0].value
    rows = ask(three, f"select run, n, ndcg, recall, rr, missed from ({shown(at)[0].rstrip(';')})")
    on_page = frame[["run", "n", "ndcg", "recall", "rr", "missed"]].itertuples(index=False)
    assert [tuple(row) for row in on_page] == [pytest.approx(row) for row in rows]


@pytest.mark.parametrize("link", [link for page, link in LINKS if page == "failures"])
def test_the_lists_statement_gives_its_rows(look: Any, ask: Any, three: Store, link: dict[str, Any]) -> None:
    at = look(three, "failures", **link)
    rows = (
        ask(three, f"select query_id, fact from ({shown(at)[1].rstrip(';')})") if len(shown(at)) > 1 else []
    )
    frames = [frame.value for frame in at.dataframe if "query_id" in frame.value]
    listed = list(frames[0][["query_id", "fact"]].itertuples(index=False, name=None)) if frames else []
    assert listed == rows


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_any_text_survives_as_a_literal(text: str) -> None:
    assert duckdb.sql(f"select {literal(text)} as it").fetchall() == [(text,)]


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)))))
def test_any_list_survives_as_a_literal(texts: list[str]) -> None:
    assert duckdb.sql(f"select {literal(tuple(texts))}::varchar[] as it").fetchall() == [(texts,)]


def test_other_values() -> None:
    assert [literal(value) for value in (None, True, False, 5, 0.25)] == [
        "null",
        "true",
        "false",
        "5",
        "0.25",
    ]


def test_a_value_that_looks_like_a_parameter_stays_a_value() -> None:
    question = Question("select $k as k, $run as run", {"k": "$run", "run": "'$k'"})
    assert duckdb.sql(question.shown()).fetchall() == [("$run", "'$k'")]
