"""The means and costs of any choice of queries: the same numbers as the summaries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rankroom.store import Store
from small_stores import add_native, ask, asked, kept_open

QUERIES = [
    {"query_id": "a", "category": "faq", "split": "dev", "language": "en"},
    {"query_id": "b", "category": "faq", "split": "held_out", "language": "de"},
    {"query_id": "c", "category": "legal", "split": "dev", "language": "en"},
    {"query_id": "none", "category": "legal", "split": "dev"},
    {"query_id": "unlabelled", "split": "dev"},
]
LABELS = [
    {"query_id": "a", "doc_id": "x", "grade": 2},
    {"query_id": "a", "doc_id": "y", "grade": 1},
    {"query_id": "b", "doc_id": "x", "grade": 1},
    {"query_id": "c", "doc_id": "z", "grade": 1},
    {"query_id": "none", "no_answer": True},
]
RESULTS = [
    {"query_id": "a", "results": ["y", "q", "x"], "latency_ms": 10, "context_tokens": 100},
    {"query_id": "b", "results": [], "latency_ms": 20, "context_tokens": 300},
    {"query_id": "c", "results": ["z"], "status": "timeout", "latency_ms": 9000, "context_tokens": 5},
    {"query_id": "none", "results": [], "latency_ms": 60},
    {"query_id": "unlabelled", "results": ["x"]},
]
IDS = "array(select query_id from queries{})"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("means")
    store = Store(folder / "s.duckdb")
    runs = {"timed": RESULTS, "untimed": [{"query_id": "a", "results": ["x"]}]}
    add_native(store, folder / "files", queries=QUERIES, labels=LABELS, runs=runs)
    with kept_open(store) as opened:
        yield opened


@pytest.mark.parametrize(
    ("where", "split"),
    [("", "all"), (" where split = 'dev'", "dev"), (" where split = 'held_out'", "held_out")],
)
def test_means_of_a_split_are_the_summary(room: Store, where: str, split: str) -> None:
    summary = asked(room, f"from run_summary where split = '{split}' order by run, k")
    chosen = asked(room, f"from means_of({IDS.format(where)}) order by run, k")
    assert len(chosen) == 2 * 7
    for one, other in zip(chosen, summary, strict=True):
        del other["split"]
        assert one == pytest.approx(other), one["k"]


def test_means_of_at_a_cutoff(room: Store) -> None:
    rows = ask(
        room, "select run, k, n, hit, unlabelled from means_of(['a', 'unlabelled'], at_k := 1) order by 1"
    )
    assert rows == [("timed", 1, 1, 1.0, 1), ("untimed", 1, 1, 1.0, 1)]


def test_no_query_and_unknown_queries_have_no_means(room: Store) -> None:
    for ids in ("[]", "NULL", "['ghost']", IDS.format(" where false")):
        assert ask(room, f"from means_of({ids})") == []
        assert ask(room, f"from costs_of({ids})") == []


def test_a_query_named_twice_counts_once(room: Store) -> None:
    assert ask(room, "select n from means_of(['a', 'a'], at_k := 5)") == [(1,), (1,)]


def test_slices_of_chosen_queries(room: Store) -> None:
    asked_for = (
        "select slice_1, n, num_queries from slices_by('category', 5, query_ids := {}) where run = 'timed'"
    )
    assert ask(room, f"{asked_for.format(['a', 'c'])} order by 1") == [("faq", 1, 1), ("legal", 1, 1)]
    assert ask(room, f"{asked_for.format(['a', 'a'])} order by 1") == [("faq", 1, 1)]
    assert ask(room, asked_for.format("[]")) == []
    every = ask(room, f"{asked_for.format(IDS.format(''))} order by 1")
    assert every == ask(room, f"{asked_for.format('NULL')} order by 1")
    assert every == [("faq", 2, 2), ("legal", 1, 2)]


def test_a_query_without_tags_is_in_no_slice_of_them(store: Store, tmp_path: Path) -> None:
    add_native(
        store,
        tmp_path,
        queries=[{"query_id": "a", "category": "faq", "tags": ["x"]}, {"query_id": "b", "category": "faq"}],
        labels=LABELS[:3],
        runs={"r": [{"query_id": "a", "results": ["x"]}]},
    )
    for by in ("'category', 5, second_by := 'tag'", "'tag', 5, second_by := 'category'"):
        rows = ask(store, f"select n from slices_by({by})")
        assert rows == [(1,)]


def test_means_of_a_group_in_anyones_own_statement(room: Store) -> None:
    rows = ask(
        room,
        "select n, missed, empty, errored, no_answer from"
        " (select unnest(means(s)) from query_scores as s where s.run = 'timed' and s.k = 5)",
    )
    assert rows == [(3, 2, 2, 1, 1)]


def test_costs_are_those_of_queries_that_ran(room: Store) -> None:
    costs = "n_timed, latency_p50_ms, latency_p95_ms, n_context, context_tokens_mean, context_tokens_max"
    rows = ask(room, f"select run, split, {costs} from run_costs order by split")
    assert [(run, split, *numbers) for run, split, *numbers in rows] == [
        ("timed", "all", *map(pytest.approx, (3, 20, 56, 2, 200, 300))),
        ("timed", "dev", *map(pytest.approx, (2, 35, 57.5, 1, 100, 100))),
        ("timed", "held_out", *map(pytest.approx, (1, 20, 20, 1, 300, 300))),
    ]
    assert ask(room, f"select run, 'all', {costs} from costs_of({IDS.format('')})") == rows[:1]


def test_what_only_a_failed_query_recorded_is_no_cost(store: Store, tmp_path: Path) -> None:
    add_native(
        store,
        tmp_path,
        queries=QUERIES,
        labels=LABELS,
        runs={"r": [{"query_id": "a", "results": [], "status": "error", "latency_ms": 3}]},
    )
    assert ask(store, "select split, n_timed, latency_p50_ms from run_costs order by split") == [
        ("all", 0, None),
        ("dev", 0, None),
    ]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("means_of(['a'], at_k := 7)", "k = 7"),
        ("means_of([], label_set := 'moves@9')", "moves@9"),
        ("means_of(['a'], stage := 'reranked')", "reranked"),
    ],
)
def test_what_is_not_there_is_refused(room: Store, call: str, named: str) -> None:
    with pytest.raises(Exception, match=named):
        ask(room, f"from {call}")
