"""The sample data: taken without a fault, and what its README promises is what a store says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from rankroom.resources import folder
from rankroom.signals.search import read_signals
from rankroom.store import Store
from small_stores import ask, kept_open
from streamlit.testing.v1 import AppTest

SAMPLES = folder("sample_runs")
HERE = SAMPLES / "help_centre"
EXAMPLE = SAMPLES / "documentation_example"
README = (HERE / "README.md").read_text(encoding="utf-8")

OF_THE_HELP_CENTRE = """
    with documents as (from documents where collection = 'help_centre@2026-04'),
         queries as (from queries where starts_with(query_set, 'help_centre@')),
         labels as (from labels where starts_with(label_set, 'help_centre@')),
         runs as (from runs where starts_with(query_set, 'help_centre@'))
"""

COUNTS = {
    "documents": """
        select if(starts_with(doc_id, 'es_'), 'es', 'en') as which, count(*) from documents group by which
        union all select 'for some groups only', count(groups) from documents
    """,
    "questions": """
        with evidence as (
            select query_id, count(*) as num,
                   bool_or(documents.groups is null or queries.groups is null
                           or list_has_any(documents.groups, queries.groups)) as readable
            from labels join documents using (doc_id) join queries using (query_id)
            where label_set = 'help_centre@2' and grade >= 2 group by query_id
        )
        select 'all', count(*) from queries
        union all select language, count(*) from queries group by language
        union all select 'category ' || category, count(*) from queries group by category
        union all select 'split ' || split, count(*) from queries group by split
        union all select 'must_pass', count(*) from queries where must_pass
        union all select 'of a user with or without groups', count(groups) from queries
        union all select 'with two or more documents of evidence', count(*) from evidence where num > 1
        union all select 'whose evidence their user may not read', count(*) from evidence where not readable
        union all
        select 'with no answer in the collection', count(*) from labels
        where label_set = 'help_centre@2' and no_answer
        union all
        select 'not reviewed yet', count(*) from queries
        where query_id not in (select query_id from labels where label_set = 'help_centre@2')
    """,
    "labels": """
        select 'grade ' || grade, count(*) from labels
        where label_set = 'help_centre@2' and grade is not null group by grade
        union all
        select 'corrected by revision 2', count(distinct query_id) from (
            (select query_id, doc_id, grade from labels where label_set = 'help_centre@2'
             except select query_id, doc_id, grade from labels where label_set = 'help_centre@1')
            union all
            (select query_id, doc_id, grade from labels where label_set = 'help_centre@1'
             except select query_id, doc_id, grade from labels where label_set = 'help_centre@2')
        )
    """,
    "runs": "select 'all', count(*) from runs",
}


def table(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading of the sample's README."""
    return cells(README.split(f"\n## {heading}\n")[1])


def cells(text: str) -> list[list[str]]:
    """The rows of the first table in a text."""
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines
    rows = [line.removeprefix("|").removesuffix("|") for line in lines.group().splitlines()[2:]]
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def store(demo_file: Path) -> Iterator[Store]:
    """What `rankroom demo` made; a fault would have ended it."""
    with kept_open(Store(demo_file)) as opened:
        yield opened


def test_what_was_accepted_with_a_doubt(store: Store) -> None:
    kinds = ask(store, f"select distinct kind from doubts where starts_with(file, '{HERE}')")
    assert {kind for (kind,) in kinds} == {
        "query_without_judgements",
        "no_relevant_documents",
        "query_not_in_labels",
        "empty_result_list",
        "query_missing_from_run",
        "query_failed",
    }


@pytest.mark.parametrize("what", COUNTS)
def test_the_counts_are_as_said(store: Store, what: str) -> None:
    said = {which: int(count) for kind, which, count in table("What is in it") if kind == what}
    assert dict(ask(store, f"{OF_THE_HELP_CENTRE} from ({COUNTS[what]})")) == said


def test_every_label_has_a_reason_and_a_reviewer(store: Store) -> None:
    assert ask(store, "select distinct grade from labels order by grade") == [(1,), (2,), (3,), (None,)]
    lacking = "select query_id from labels where trim(coalesce(rationale, '')) = '' or reviewer is null"
    assert ask(store, lacking) == []


def test_the_runs_are_as_said(store: Store) -> None:
    found = ask(
        store,
        """
        select runs.run, monthname(created at time zone 'UTC'), day(created at time zone 'UTC'),
               coalesce(baseline, ''), ndcg, hit, recall,
               (select round(median(latency_ms), 1) from run_queries where run_queries.run = runs.run)
        from runs join run_summary on run_summary.run = runs.run and k = 5 and split = 'dev'
        order by created
        """,
    )
    shown = [
        [run, f"{day} {month}", baseline, *(f"{mean:.3f}" for mean in means), str(latency)]
        for run, month, day, baseline, *means, latency in found
    ]
    assert shown == [row[:-1] for row in table("The runs")]


def test_signals_disagree_where_it_says_so(store: Store) -> None:
    for rule, baseline, run, k, metric, language, was, is_now, n in table("Signals that disagree"):
        ((before, after, num),) = ask(
            store,
            f"""
            select avg(deltas.baseline), avg(deltas.candidate), count(*)
            from query_deltas('{baseline}', '{run}', {k}) as deltas join queries using (query_id)
            where split = 'dev' and metric = $metric and $language in ('all', language)
            """,
            metric=metric,
            language=language,
        )
        assert (f"{before:.3f}", f"{after:.3f}", str(num)) == (was, is_now, n), (rule, metric, language)


def test_must_pass_questions_are_broken(store: Store) -> None:
    broken = """
        select query_id
        from query_deltas('bm25_by_language', 'dense_text', 5) join queries using (query_id)
        where must_pass and split = 'dev' and metric = 'hit' and difference < 0 order by query_id
    """
    assert ask(store, broken) == [("q_es_celu_perdido",), ("q_es_clave",), ("q_es_planilla",)]


@pytest.mark.parametrize(
    ("baseline", "run", "k", "rule", "sentence"),
    re.findall(
        r"^    \$ rankroom signals (\S+) (\S+)(?: -k (\d+))?\n"
        r"    FIRED  (\w+): [^\n]*\n((?:      [^\n]*\n)+)",
        (SAMPLES.parent / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    ),
)
def test_signals_are_as_the_readme_says(
    store: Store, baseline: str, run: str, k: str, rule: str, sentence: str
) -> None:
    with store.read() as con:
        found = {one.id: one for one in read_signals(con, baseline, run, int(k or 5)).findings}
    assert (found[rule].status, found[rule].sentence) == ("fired", " ".join(sentence.split()))


def test_every_kind_of_failure_occurs(store: Store) -> None:
    said = table("Every kind of failure")
    failures = ask(store, "select run, query_id, [class] || also, fact from failures where k = 5")
    for class_, run, query_id, fact in said:
        found = [(classes, what) for *of, classes, what in failures if of == [run, query_id]]
        assert [(class_ in classes, what) for classes, what in found] == [(True, fact)], (class_, found)
    there = {class_ for *_, classes, _ in failures for class_ in classes}
    assert there == {class_ for class_, *_ in said}


def test_abstention_is_as_said(store: Store) -> None:
    ((right, wrong),) = ask(
        store,
        "select correct_abstention, false_abstention from run_summary"
        " where run = 'hybrid_abstain' and k = 5 and split = 'dev'",
    )
    assert f"declines {right:.2f} of" in README
    assert f"{wrong:.3f} of those with one" in README


def test_every_run_has_scores_under_both_revisions(store: Store) -> None:
    current = "select label_set from current_label_sets where query_set_name = 'help_centre'"
    assert ask(store, current) == [("help_centre@2",)]
    ((num, moved),) = ask(
        store,
        """
        select count(*), count(*) filter (new.ndcg <> old.ndcg)
        from run_summary_all as old join run_summary_all as new using (run, stage, k, split)
        where old.label_set = 'help_centre@1' and new.label_set = 'help_centre@2'
              and stage = 'final' and k = 5 and split = 'dev'
        """,
    )
    assert num == moved == len(table("The runs"))


@pytest.mark.parametrize(("name", "key"), [("documents.jsonl", "doc_id"), ("queries.jsonl", "query_id")])
def test_the_documentation_example_is_part_of_it(name: str, key: str) -> None:
    whole = {record[key]: record for record in records(HERE / name)}
    for record in records(EXAMPLE / name):
        assert record.items() <= whole[record[key]].items()


def test_the_files_are_small() -> None:
    sizes = {path: path.stat().st_size for path in SAMPLES.rglob("*") if path.suffix in (".jsonl", ".toml")}
    assert max(sizes.values()) < 1_000_000
    assert sum(sizes.values()) < 2_500_000


# The tour of the project's README

TOUR = (SAMPLES.parent / "README.md").read_text(encoding="utf-8")
TOUR = TOUR.split("\n## A tour of the sample\n")[1].split("\n## ")[0]
QUESTIONS = dict(re.findall(r"^\*\*(.+?)\*\*\n(.*?)(?=^\*\*|\Z)", TOUR, re.MULTILINE | re.DOTALL))


def shown(value: object) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def test_the_tour_asks_five_questions() -> None:
    assert len(QUESTIONS) == 5


@pytest.mark.parametrize("question", QUESTIONS)
def test_sql_answers_a_question_of_the_tour_as_the_readme_does(store: Store, question: str) -> None:
    statement = QUESTIONS[question].split("```sql\n")[1].split("```")[0]
    answer = cells(QUESTIONS[question])
    assert [[shown(value) for value in row] for row in ask(store, statement)] == answer


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_page_answers_a_question_of_the_tour_as_the_readme_does(
    store: Store, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKROOM_STORE", str(store.path))
    link = re.search(r"\(http://localhost:8501/(\w*)\?(\S+)\)", QUESTIONS[question])
    assert link
    at = AppTest.from_file(str(folder("dashboard") / "app.py"), default_timeout=30)
    if link[1]:
        at.switch_page(f"app_pages/{link[1]}.py")
    for name, values in parse_qs(link[2]).items():
        at.query_params[name] = values
    at.run()
    assert not at.exception
    said = " ".join(re.findall(r"^> (.*)$", QUESTIONS[question], re.MULTILINE))
    assert f"**{said}**" in [markdown.value for markdown in at.markdown]


# The five failures below the tour

FAILURES = cells(TOUR.split("\n### Five failures that say most\n")[1])


def test_the_five_failures_are_as_the_readme_says(store: Store) -> None:
    assert len(FAILURES) == 5
    found = ask(
        store,
        "select run, query_id, class, fact from failures join queries using (query_id)"
        " where k = 5 and split = 'dev'",
    )
    assert {tuple(row[:4]) for row in FAILURES} <= set(found)


def test_what_the_readme_adds_to_the_five_failures(store: Store) -> None:
    ranks = {
        (run, query, stage, document): rank
        for run, query, stage, document, rank in ask(
            store, "select run, query_id, stage, doc_id, rank from evidence_ranks where grade = 3"
        )
    }
    assert ranks["hybrid_rerank", "q_sso_setup", "candidates", "admin_sso"] == 1
    assert ranks["hybrid_rerank_groups", "q_sso_setup", "final", "admin_sso"] == 1
    assert ranks["hybrid_rrf", "q_es_planilla", "lexical", "es_exportar_csv"] == 2
    assert ranks["hybrid_rrf", "q_es_planilla", "dense", "es_exportar_csv"] is None
    assert ranks["hybrid_rerank", "q_overwritten", "filtered", "version_history"] == 12
    must_pass = {query for (query,) in ask(store, "select query_id from queries where must_pass")}
    said = {row[1] for row in FAILURES if row[4].startswith("It must pass.")}
    assert said == {row[1] for row in FAILURES} & must_pass
    recall = "select recall from query_scores where k = 5 and run = 'bm25_by_language' and query_id = '{}'"
    assert ask(store, recall.format("q_calendar_public")) == [(1.0,)]
    leaked = "select min(rank) from labelled_ranks where run = 'bm25_by_language' and query_id = '{}'"
    assert ask(store, f"{leaked.format('q_calendar_public')} and not readable") == [(1,)]
    first = "select first_relevant_rank from query_scores_uncut where run = 'hybrid_abstain'"
    assert ask(store, f"{first} and query_id = 'q_fewer_seats'") == [(1,)]
