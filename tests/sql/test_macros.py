"""Comparing runs in SQL: what the macros give, and that they refuse by name what is not there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pytest
from rankroom.store import Store
from small_stores import add_native, add_small, ask, asked, kept_open

CONFIG = """
stages = [{name = "candidates", position = 1}, {name = "final", position = 2}]
[config]
embedding.model = "e5-small"
final.k = 5
"""
OTHER_CONFIG = """
stages = [{name = "candidates", position = 1}, {name = "final", position = 2}]
[config]
embedding.model = "e5-large"
final.k = 5
reranker.model = "minilm"
"""
LABELS = {
    "q1": {"a": 3, "b": 2, "c": 1, "d": 1, "e": 1, "bad": -2, "nil": 0, "secret": 3},
    "q2": {"a": 2, "b": 2},
    "q3": {"secret": 3},
}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two runs with two stages of one data set under two revisions of its labels; and another data set."""
    folder = tmp_path_factory.mktemp("macros")
    store = Store(folder / "s.duckdb")
    candidates = {"q1": ["d", "a"], "q2": ["b", "a"], "q3": ["x"]}
    baseline = {"q1": ["a", "b", "x", "c", "d"], "q2": ["a", "b", "x", "y"], "q3": ["x", "secret"]}
    candidate = {"q1": ["b", "a", "c", "bad"], "q2": ["a", "x", "y", "b"], "q3": ["secret"]}
    for revision, labels in (("1", {"q1": {"x": 2}, "q2": {"x": 2}}), ("2", LABELS)):
        add_native(
            store,
            folder / revision,
            dataset=f'name = "moves"\n[labels]\nrevision = "{revision}"\nrelevant_from = 2\n',
            queries=[
                {"query_id": "q1", "category": "faq", "language": "en", "split": "dev", "groups": []},
                {"query_id": "q2", "category": "faq", "language": "de", "split": "held_out"},
                {"query_id": "q3", "category": "legal", "language": "en", "split": "dev", "groups": ["g"]},
            ],
            documents=[{"doc_id": "secret", "groups": ["staff"]}],
            labels=[
                {"query_id": q, "doc_id": d, "grade": g}
                for q, docs in labels.items()
                for d, g in docs.items()
            ],
            runs={
                name: [
                    {"query_id": q, "stages": {"candidates": list(candidates[q]), "final": docs}}
                    for q, docs in run.items()
                ]
                for name, run in (("base", baseline), ("cand", candidate))
            },
            about={"base": CONFIG, "cand": OTHER_CONFIG},
        )
    add_small(store, folder, {"other": {"a": 1}}, {"elsewhere": {"other": ["a"]}}, dataset="elsewhere")
    with kept_open(store) as opened:
        yield opened


def test_rank_transitions_names_every_move(room: Store) -> None:
    rows = ask(
        room,
        "select query_id, doc_id, relevant, baseline_rank, candidate_rank, move, baseline_hit"
        " from rank_transitions('base', 'cand', 3) order by query_id, doc_id",
    )
    assert rows == [
        ("q1", "a", True, 1, 2, "down", True),
        ("q1", "b", True, 2, 1, "up", True),
        ("q1", "c", False, 4, 3, "entered", True),
        ("q1", "d", False, 5, None, "outside", True),
        ("q1", "e", False, None, None, "outside", True),
        ("q2", "a", True, 1, 1, "same", True),
        ("q2", "b", True, 2, 4, "left", True),
    ]


def test_rank_transitions_shares_by_hand(room: Store) -> None:
    shares = dict(
        ask(room, "select doc_id, ndcg_share from rank_transitions('base', 'cand', 3) where query_id = 'q1'")
    )
    second, third = 1 / math.log2(3), 1 / 2
    ideal = 3 + 2 * second + 1 * third
    assert shares == pytest.approx(
        {
            "a": 3 * (second - 1) / ideal,
            "b": 2 * (1 - second) / ideal,
            "c": third / ideal,
            "d": 0,
            "e": 0,
        }
    )


def test_query_deltas(room: Store) -> None:
    rows = ask(
        room,
        "select metric, baseline, candidate, difference from query_deltas('base', 'cand', 3)"
        " where query_id = 'q2'",
    )
    second = 1 / math.log2(3)
    assert {metric: values for metric, *values in rows} == {
        "hit": [1, 1, 0],
        "complete": [1, 0, -1],
        "recall": [1, 0.5, -0.5],
        "precision": pytest.approx([2 / 3, 1 / 3, -1 / 3]),
        "f1": pytest.approx([0.8, 0.4, -0.4]),
        "rr": [1, 1, 0],
        "ap": [1, 0.5, -0.5],
        "ndcg": pytest.approx([1, 1 / (1 + second), 1 / (1 + second) - 1]),
        "ndcg_exp": pytest.approx([1, 1 / (1 + second), 1 / (1 + second) - 1]),
    }


def test_query_deltas_leave_no_answer_queries_out(room: Store) -> None:
    assert ask(room, "select distinct query_id from query_deltas('base', 'cand', 5) order by all") == [
        ("q1",),
        ("q2",),
    ]


def test_run_comparison(room: Store) -> None:
    (found,) = asked(room, "from run_comparison('base', 'cand', 3) where metric = 'recall'")
    assert found == {
        "metric": "recall",
        "baseline": 1.0,
        "candidate": 0.75,
        "difference": -0.25,
        "wins": 0,
        "ties": 1,
        "losses": 1,
        "n": 2,
    }
    means = asked(room, "from run_summary where run = 'cand' and k = 3 and split = 'all'")[0]
    for metric, mean in ask(room, "select metric, candidate from run_comparison('base', 'cand', 3)"):
        assert mean == pytest.approx(means[metric], abs=1e-12), metric


def test_other_labels_and_other_stages(room: Store) -> None:
    older = ask(
        room,
        "select query_id, baseline_rank, move"
        " from rank_transitions('base', 'cand', 3, label_set := 'moves@1')",
    )
    assert sorted(older) == [("q1", 3, "left"), ("q2", 3, "up")]
    early = "select difference, n from run_comparison('base', 'cand', 1, stage := 'candidates')"
    assert ask(room, f"{early} where metric = 'rr'") == [(0.0, 2)]
    both = "select * from query_deltas('base', 'cand', 1, label_set := 'moves@1', stage := 'candidates')"
    assert len(ask(room, both)) == 18


def test_config_diff(room: Store) -> None:
    assert ask(room, "select * from config_diff('base', 'cand') order by setting") == [
        ("embedding.model", "e5-small", "e5-large"),
        ("reranker.model", None, "minilm"),
    ]
    assert ask(room, "select * from config_diff('base', 'base')") == []
    assert ask(room, "select count(*) from config_diff('elsewhere', 'cand')") == [(3,)]


def test_slices_by_one_dimension_is_slice_summary(room: Store) -> None:
    columns = "run, slice{}, n, hit, recall, ndcg, judged, leaks, missed"
    assert ask(
        room, f"select {columns.format('_1')} from slices_by('category', 3) order by run, slice_1"
    ) == ask(
        room,
        f"select {columns.format('')} from slice_summary"
        " where k = 3 and dimension = 'category' and split = 'all' order by run, slice",
    )


def test_slices_by_two_dimensions_in_a_split_at_a_stage(room: Store) -> None:
    assert ask(
        room,
        "select slice_1, slice_2, n, recall from slices_by('category', 3, second_by := 'language')"
        " where run = 'cand' order by all",
    ) == [("faq", "de", 1, 0.5), ("faq", "en", 1, 1.0), ("legal", "en", 0, None)]
    assert ask(
        room, "select slice_1, n from slices_by('language', 3, in_split := 'held_out') where run = 'cand'"
    ) == [("de", 1)]
    assert ask(
        room,
        "select slice_1, recall from slices_by('language', 3, stage := 'candidates', label_set := 'moves@2')"
        " where run = 'cand' order by slice_1",
    ) == [("de", 1.0), ("en", 0.5)]


PAIRED = ["query_deltas", "run_comparison", "rank_transitions"]
REFUSED = [
    (f"from {macro}({arguments})", names)
    for macro in PAIRED
    for arguments, names in (
        ("'ghost', 'cand', 5", "ghost"),
        ("'base', 'ghost', 5", "ghost"),
        ("'base', NULL, 5", "NULL"),
        ("'base', 'cand', 7", "7"),
        ("'base', 'cand', NULL", "NULL"),
        ("'base', 'cand', 5, stage := 'reranked'", "reranked"),
        ("'base', 'cand', 5, label_set := 'moves@9'", "moves@9"),
        ("'base', 'cand', 5, label_set := 'elsewhere@1'", "elsewhere@1"),
        ("'base', 'elsewhere', 5", "elsewhere"),
        ("'elsewhere', 'base', 5", "base"),
    )
] + [
    ("from change_account('base', 'ghost', 5)", "ghost"),
    ("from change_account('base', 'cand', 5, base_labels := 'moves@9')", "moves@9"),
    ("from query_deltas('base', 'cand', 5, base_labels := 'moves@9')", "moves@9"),
    ("from config_diff('ghost', 'cand')", "ghost"),
    ("from config_diff('base', 'ghost')", "ghost"),
    ("from slices_by('moon_phase', 5)", "moon_phase"),
    ("from slices_by('category', 5, second_by := 'moon_phase')", "moon_phase"),
    ("from slices_by('category', 5, second_by := 'language', third_by := 'moon_phase')", "moon_phase"),
    ("from slices_by('category', 7)", "7"),
    ("from slices_by(NULL, 5)", "NULL"),
    ("from slices_by('category', 5, in_split := 'hold_out')", "hold_out"),
    ("from slices_by('category', 5, stage := 'reranked')", "reranked"),
    ("from slices_by('category', 5, label_set := 'moves@9')", "moves@9"),
]


@contextmanager
def refusal(name: str) -> Iterator[None]:
    with pytest.raises(duckdb.Error) as raised:
        yield
    assert name in str(raised.value).replace("Invalid Input Error: ", "")


@pytest.mark.parametrize(("query", "named"), REFUSED)
def test_what_is_not_there_is_refused_by_name(room: Store, query: str, named: str) -> None:
    with refusal(named):
        ask(room, query)
    with refusal(named):  # also where no column of it is looked at
        ask(room, f"select count(*) {query}")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Labels, and no run yet."""
    folder = tmp_path_factory.mktemp("bare")
    store = Store(folder / "s.duckdb")
    queries = [{"query_id": "q", "category": "faq", "language": "en"}]
    labels = [{"query_id": "q", "doc_id": "a", "grade": 1}]
    add_native(store, folder / "files", queries=queries, labels=labels)
    with kept_open(store) as opened:
        yield opened


@pytest.mark.parametrize("query", [f"from {macro}('base', 'cand', 5)" for macro in PAIRED])
def test_a_store_without_runs_refuses_too(bare: Store, query: str) -> None:
    with refusal("no run named base"):
        ask(bare, query)


@pytest.mark.parametrize("macro", ["config_diff", "shared_queries", "candidate_lists"])
def test_macros_that_need_no_cutoff_refuse_too(room: Store, bare: Store, macro: str) -> None:
    with refusal("no run named base"):
        ask(bare, f"from {macro}('base', 'cand')")
    for count in ("", "select count(*) "):
        with refusal("no run named nope"):
            ask(room, f"{count}from {macro}('base', 'nope')")


@pytest.mark.parametrize("macro", ["failure_classes", "noted_queries", "stage_funnel_by"])
def test_macros_about_one_run_refuse_too(room: Store, bare: Store, macro: str) -> None:
    for store in (room, bare):
        for count in ("", "select count(*) "):
            with refusal("NULL"):
                ask(store, f"{count}from {macro}(NULL, 5)")
            with refusal("no run named nope"):
                ask(store, f"{count}from {macro}('nope', 5)")


@pytest.mark.parametrize(("query", "named"), [refused for refused in REFUSED if "slices_by" in refused[0]])
def test_slices_of_a_store_without_runs_are_refused_too(bare: Store, query: str, named: str) -> None:
    with refusal(named):
        ask(bare, query)


def test_slices_of_a_store_without_runs_are_empty(bare: Store) -> None:
    assert ask(bare, "from slices_by('category', 5)") == []


def test_hostile_names_are_only_text(store: Store, tmp_path: Path) -> None:
    name = "a'; drop table runs; --"
    add_small(store, tmp_path, {"q": {"a": 1}}, {name: {"q": ["a"]}})
    for macro in PAIRED:
        assert ask(store, f"select count(*) > 0 from {macro}($name, $name, 5)", name=name) == [(True,)]


# Other clients: nothing of rankroom, only the file.


def everything(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """How many rows each public view and macro gives."""
    views = [v for (v,) in con.execute("select view_name from duckdb_views() where not internal").fetchall()]
    calls = [f"{macro}('base', 'cand', 5)" for macro in PAIRED]
    calls += [f"{macro}('base', 'cand')" for macro in ("config_diff", "shared_queries", "candidate_lists")]
    calls += ["change_account('base', 'cand', 5)", "slices_by('category', 5, second_by := 'language')"]
    return {
        what: con.execute(f"select count(*) from {what}").fetchall()[0][0]
        for what in sorted({*views, *calls})
    }


def test_the_file_opened_directly_or_attached_and_used(room: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(room.path.read_bytes())
    with room.read() as con:
        by_rankroom = everything(con)
    assert by_rankroom["query_scores"] == 3 * 2 * 7 + 7
    with closing(duckdb.connect(str(copy), read_only=True)) as con:
        assert everything(con) == by_rankroom
    with closing(duckdb.connect()) as con:
        con.execute(f"attach '{copy}' as x (read_only)")
        assert con.execute("select count(*) from x.query_scores").fetchall() == [(3 * 2 * 7 + 7,)]
        con.execute("use x")
        assert everything(con) == by_rankroom
