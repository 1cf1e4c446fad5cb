from __future__ import annotations

import html
import re
from typing import Any

import pytest
import worlds
from rankroom import note_child
from rankroom.store import Store
from test_runs_page import texts


def lists(at: Any) -> dict[str, str]:
    """The HTML of the page's two lists, by name."""
    bodies = [element.proto.body for element in at.get("html")]
    return {found[1]: body for body in bodies if (found := re.search(r'aria-label="([^"]+)"', body))}


def marks(body: str) -> list[tuple[str, str]]:
    """What each document of a list is, and its rank."""
    return re.findall(r'class="rr-item (\w+)" role="listitem"><div class="rr-rank">([^<]+)<', body)


def test_the_question_its_evidence_and_what_came(look: Any, three: Store) -> None:
    at = look(three, "query", run="first", query="partial")
    assert not at.exception
    page = texts(at)
    assert "Half of the evidence" in page
    assert "★ must pass" in page
    assert "<bdi>chat</bdi>" in page
    assert marks(lists(at)["Labelled evidence"]) == [("relevant", "✓"), ("relevant", "✗")]
    assert "rank 9 (beyond 5)" in lists(at)["Labelled evidence"]
    ranked = marks(lists(at)["Ranked list"])
    assert ranked[0] == ("relevant", "1")
    assert ranked[1] == ("unlabelled", "2")
    assert "k = 5: metrics look no further" in lists(at)["Ranked list"]
    assert "the run passes on 3" in lists(at)["Ranked list"]


@pytest.mark.parametrize("run", ["first", "second", worlds.EVIL])
def test_the_metrics_are_those_of_the_view(look: Any, ask: Any, three: Store, run: str) -> None:
    at = look(three, "query", run=run, query="found")
    columns = "k, hit, recall, precision, rr, ap, ndcg, judged, leaks"
    name = run.replace("'", "''")
    rows = ask(
        three, f"select {columns} from query_scores where run = '{name}' and query_id = 'found' order by k"
    )
    shown = at.dataframe[0].value[columns.split(", ")]
    assert [tuple(row) for row in shown.itertuples(index=False)] == [pytest.approx(row) for row in rows]


def test_labelled_not_relevant(look: Any, three: Store) -> None:
    at = look(three, "query", run=worlds.EVIL, query="found")
    assert marks(lists(at)["Ranked list"]) == [("other", "1"), ("unlabelled", "2"), ("relevant", "3")]
    assert "In the first 3: 1 relevant, 1 labelled not relevant, 1 unlabelled." in texts(at)
    assert "the list ends before k = 5" in lists(at)["Ranked list"]
    assert "Not among the failures" in texts(at)


def test_a_leak_is_marked_forbidden(look: Any, three: Store) -> None:
    at = look(three, "query", run="first", query="secret")
    assert marks(lists(at)["Ranked list"])[0] == ("forbidden", "1")
    assert "its user may not read 1 of the first 5 results" in texts(at)
    assert "<bdi>staff</bdi>" in texts(at)
    assert "See the handbook." in texts(at)


def test_evidence_that_the_user_may_not_read(look: Any, three: Store) -> None:
    at = look(three, "query", run="first", query="closed")
    assert "Labelled evidence" not in lists(at)
    assert marks(lists(at)["Forbidden evidence"]) == [("forbidden", "⚠")]
    assert "leaked:" in lists(at)["Forbidden evidence"]
    assert "no group" in texts(at)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("broken", "error: upstream &lt;timeout&gt;"),
        ("absent", "the run left this query out"),
        ("nothing", "Nothing was returned here."),
        ("no_answer", "Not in the handbook."),
        ("unlabelled", "This query has no labels"),
        ("never", "not there"),
    ],
)
def test_states_of_a_query(look: Any, three: Store, query: str, said: str) -> None:
    at = look(three, "query", run="first", query=query)
    assert not at.exception
    assert said in texts(at)


def test_stages(look: Any, staged: Store) -> None:
    at = look(staged, "query", query="lost")
    assert "candidates: rank 4 → final: not there" in lists(at)["Labelled evidence"]
    assert len(marks(lists(at)["Ranked list"])) == 5
    at = look(staged, "query", query="lost", at_stage="candidates")
    assert ("relevant", "4") in marks(lists(at)["Ranked list"])


def test_previous_and_next_walk_through_the_failures(open_page: Any, three: Store) -> None:
    order = open_page(three, "failures", run="first").dataframe[0].value["query_id"].tolist()
    at = open_page(three, "query", run="first", query=order[0])
    assert at.button(key="previous").disabled
    walked = [order[0]]
    while not at.button(key="next").disabled:
        at.button(key="next").click().run()
        walked.append(at.query_params["query"])
    assert walked == order
    at.button(key="previous").click().run()
    assert at.query_params["query"] == order[-2]
    assert f"Failure {len(order) - 1} of {len(order)}" in texts(at)


def test_the_walk_keeps_to_the_cause(look: Any, three: Store) -> None:
    at = look(three, "query", run="first", query="below", cause="below the cutoff")
    assert "Failure 1 of 1" in texts(at)


def test_back_to_the_list(open_page: Any, three: Store) -> None:
    at = open_page(three, "query", run="first", query="below")
    at.button(key="back").click().run()
    assert at.title[0].value == "Failures"


@pytest.mark.parametrize("query", ["no such query", "<script>", ""])
def test_an_unknown_query(look: Any, three: Store, query: str) -> None:
    at = look(three, "query", run="first", query=query)
    assert not at.exception
    assert ("There is no query" if query else "No query is chosen") in texts(at)
    assert not at.dataframe


def test_an_unknown_run(look: Any, three: Store) -> None:
    at = look(three, "query", run="gone", query="found")
    assert "The link asks for run = `gone`, which is not in this store" in at.warning[0].value


def test_hostile_text_is_text(look: Any, three: Store) -> None:
    at = look(three, "query", run="first", query=worlds.EVIL)
    assert not at.exception
    for element in at.get("html"):
        body = element.proto.body.split("</style>")[-1]
        assert "<script" not in body
        assert "<b onclick" not in body
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in texts(at)
    at = look(three, "query", run="first", query="lost")
    assert "&lt;script&gt;" in lists(at)["Ranked list"]


def test_long_texts_open_on_demand(look: Any, three: Store) -> None:
    at = look(three, "query", run="first", query="found")
    assert "<details><summary" in lists(at)["Ranked list"]


def test_how_much_of_the_list(look: Any, many: Store) -> None:
    at = look(many, "query", query="found", depth="10")
    assert len(marks(lists(at)["Ranked list"])) == 10


def bodies(at: Any) -> list[str]:
    return [element.proto.body.split("</style>")[-1] for element in at.get("html")]


def columns(at: Any) -> dict[str, list[tuple[str, str, str]]]:
    """The rankings that stand side by side: mark, rank and move of each document, by run."""
    (body,) = (one for one in bodies(at) if 'class="rr-sides"' in one)
    found = {}
    for part in body.split('aria-label="Ranking of ')[1:]:
        rows = re.findall(
            r'class="rr-row (\w+)[^"]*".*?class="rr-rank">(\d+)<.*?class="rr-move[^"]*">([^<]*)<', part
        )
        found[html.unescape(part.split('"')[0])] = rows
    return found


def test_runs_side_by_side_with_what_moved(look: Any, three: Store) -> None:
    at = look(three, "query", run="second", query="below", against="first")
    assert not at.exception
    beside = columns(at)
    assert list(beside) == ["first", "second"]
    assert beside["second"][0] == ("relevant", "1", "▲ from 7")
    assert beside["second"][1] == ("unlabelled", "2", "▼ from 1")
    assert beside["first"][6] == ("relevant", "7", "→ 1")
    assert beside["first"][9] == ("unlabelled", "10", "→ gone")
    assert "1 relevant document entered the first 5, 0 left, 0 stayed" in texts(at)
    assert "against first" in texts(at)


def test_more_runs_beside_it(look: Any, three: Store) -> None:
    at = look(three, "query", run="second", query=worlds.EVIL, against="first", beside=[worlds.EVIL])
    beside = columns(at)
    assert list(beside) == ["first", "second", worlds.EVIL]
    assert [move for _, _, move in beside["first"]] == [""] * 10
    assert beside["second"] == [("relevant", "1", "▲ from 3")]
    at = look(three, "query", run="first", query="absent", against="second")
    assert "the run left this query out" in texts(at)


def test_a_leak_is_marked_side_by_side(look: Any, three: Store) -> None:
    at = look(three, "query", run="first", query="secret", against="second")
    assert columns(at)["first"][0][:2] == ("forbidden", "1")
    assert "🔒" in texts(at)


def test_the_way_through_the_stages(look: Any, staged: Store) -> None:
    at = look(staged, "query", query="lost")
    assert "`final` lost `d4`" in texts(at)
    cells = re.findall(r'<td class="(\w+)">', texts(at))
    assert cells == ["doc", "passed", "lost"]
    at = look(staged, "query", query="never")
    assert "No stage had `gone`" in texts(at)


def read(at: Any) -> str:
    """The text of the document that is read."""
    return next(body for body in bodies(at) if 'class="rr-read"' in body)


def test_the_text_of_a_document(open_page: Any, three: Store) -> None:
    at = open_page(three, "query", run="first", query="lost", doc=worlds.EVIL)
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; **bold** $\\int x$" in read(at)
    at.selectbox(key="doc").select("d2").run()
    assert "Text 2." in read(at)
    at = open_page(three, "query", run="first", query="closed", doc="vault")
    assert "🔒 not this query&#x27;s user: admin" in texts(at)
    at = open_page(three, "query", run="first", query="never", doc="gone")
    assert "The collection does not have this document." in texts(at)


def test_the_text_for_a_ticket(open_page: Any, three: Store) -> None:
    at = open_page(three, "query", run="second", query="below", against="first")
    assert not [code for code in at.code if code.language != "sql"]
    at.session_state["ticket"] = True
    at.run()
    assert not at.exception
    (text,) = (code.value for code in at.code if code.language != "sql")
    assert text.startswith("Query below in second at k = 5")
    assert "Against first" in text


def test_the_query_over_time(look: Any, ask: Any, three: Store) -> None:
    at = look(three, "query", run="first", query=worlds.EVIL, against="second", history="RR")
    name = worlds.EVIL.replace("'", "''")
    rows = ask(three, f"select run, rr from query_scores where query_id = '{name}' and k = 5 order by run")
    assert len(rows) == 3
    assert "does better on this query than `first` (RR@5 0.333)" in texts(at)
    assert (
        "RR@5 of this query in 3 runs over time, from 0.333 to 1.000"
        in at.get("vega_lite_chart")[0].proto.alt
    )
    assert "No run has a metric of this query" in texts(look(three, "query", run="first", query="no_answer"))


def test_a_note_is_written_and_kept(open_page: Any, ask: Any, fresh: Store) -> None:
    at = open_page(fresh, "query", run="first", query="below")
    assert "Nothing is noted of this query" in texts(at)
    at.button(key="FormSubmitter:note_form-Add the note").click().run()
    assert "The note says nothing yet" in at.error[0].value
    at.text_input(key="note_who").set_value("Noor")
    at.selectbox(key="note_state").select("explained")
    at.text_input(key="note_cause").set_value("<b>long</b> $x$")
    at.button(key="FormSubmitter:note_form-Add the note").click().run()
    assert not at.error
    assert ask(fresh, "select query_id, run, state, cause, who from notes") == [
        ("below", None, "explained", "<b>long</b> $x$", "Noor")
    ]
    assert "&lt;b&gt;long&lt;/b&gt; $x$" in lists(at)["Notes"]
    assert at.text_input(key="note_who").value == "Noor"
    frame = open_page(fresh, "failures", run="first").dataframe[0].value.set_index("query_id")
    assert frame.loc["below", "note"] == "explained by <b>long</b> $x$"
    at = open_page(fresh, "failures", run="first", noted=["explained"])
    assert at.dataframe[0].value["query_id"].tolist() == ["below"]


def test_a_note_that_cannot_be_written_says_why(
    open_page: Any, ask: Any, fresh: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from panels import note_form

    monkeypatch.setattr(note_form, "write_note", lambda *_: note_child.Outcome(False, "`it` is *held*"))
    at = open_page(fresh, "query", run="first", query="below")
    at.text_input(key="note_who").set_value("Noor")
    at.text_area(key="note_text").set_value("a text")
    at.button(key="FormSubmitter:note_form-Add the note").click().run()
    assert at.error[0].value == "The note was not written: `` `it` is *held* ``"
    at.text_input(key="note_who").set_value(" ")
    at.button(key="FormSubmitter:note_form-Add the note").click().run()
    assert "A note needs a name" in at.error[0].value
    assert ask(fresh, "select count(*) from annotations") == [(0,)]
