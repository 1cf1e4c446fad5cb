"""Comparing two runs of a store: whether they can be, what changed between them, and the account of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rankroom.comparison import METRICS, Comparison, compare
from rankroom.errors import UsageError
from rankroom.rescore import rescore
from rankroom.store import Store
from rankroom.stored_comparison import compare_stored
from rankroom.verdict_words import verdict
from small_stores import add_native, ask, kept_open

QUERIES = [f"q{at:02}" for at in range(1, 31)]


def dataset(revision: str, labels: str | None = None, version: str = "3") -> str:
    return (
        f'name = "help"\nrevision = "{revision}"\n[collection]\nname = "docs"\nversion = "{version}"\n'
        f'[labels]\nrevision = "{labels or revision}"\n'
    )


def query(name: str, **facts: Any) -> dict[str, Any]:
    at = int(name[1:])
    about = {"category": "faq" if at % 3 else "legal", "language": "en" if at % 2 else "de"}
    return {"query_id": name, "text": f"what is {name}?", "split": "dev" if at <= 20 else "heldout"} | (
        about | facts
    )


def lines(rank: dict[str, int] | int, queries: list[str] = QUERIES, **facts: Any) -> list[dict[str, Any]]:
    """A run that has each query's one relevant document at this rank (0: nowhere) of ten."""
    found = []
    for name in queries:
        at = rank if isinstance(rank, int) else rank.get(name, 1)
        ranking = [f"other{n}" for n in range(10)]
        if at:
            ranking[at - 1] = f"doc_{name}"
        found.append({"query_id": name, "stages": {"candidates": sorted(ranking), "final": ranking}} | facts)
    return found


def labels(queries: list[str] = QUERIES, grade: int = 2) -> list[dict[str, Any]]:
    return [{"query_id": name, "doc_id": f"doc_{name}", "grade": grade} for name in queries]


def about(config: str = "", more: str = "") -> str:
    stages = 'stages = [{name = "candidates", position = 1}, {name = "final", position = 2}]\n'
    return f"{stages}{more}[config]\n{config}\n"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Runs over one data set: two ranks, partly worse, incomplete, and one over another collection."""
    folder = tmp_path_factory.mktemp("comparison")
    store = Store(folder / "s.duckdb")
    partly = {name: 1 if int(name[1:]) % 3 else 8 for name in QUERIES}
    broken = [
        line | ({"status": "error", "error": "no answer"} if line["query_id"] == "q05" else {})
        for line in lines(1, QUERIES[3:])
    ]
    add_native(
        store,
        folder / "help",
        dataset=dataset("1"),
        queries=[query(name) for name in QUERIES],
        labels=labels(),
        runs={
            "second": lines(2),
            "first": lines(1),
            "partly": lines(partly),
            "broken": broken,
            "newer": lines(1),
        },
        about={
            "second": about('embedding.model = "small"\nfinal.k = 5'),
            "first": about('embedding.model = "large"\nfinal.k = 5'),
            "partly": about('embedding.model = "large"\nfinal.k = 10\nreranker.model = "r"'),
            "broken": about('embedding.model = "small"\nfinal.k = 5'),
            "newer": about("", 'collection = {version = "4"}\n'),
        },
    )
    add_native(
        store,
        folder / "other",
        dataset='name = "other"\n',
        queries=[query("q01")],
        labels=labels(["q01"]),
        runs={"elsewhere": lines(1, ["q01"])},
        about={"elsewhere": about()},
    )
    with kept_open(store) as opened:
        yield opened


def compared(store: Store, base: str, cand: str, **options: Any) -> Comparison:
    with store.read() as con:
        return compare(con, base, cand, **options)


def test_better_everywhere(room: Store) -> None:
    found = compared(room, "second", "first")
    assert (found.comparable, found.reasons, found.notes, found.on_common) == (True, [], [], False)
    assert (found.label_set, found.n, found.k) == ("help@1", 30, 5)
    assert [one.metric for one in found.metrics] == list(METRICS)
    ndcg, hit = found.metric("ndcg"), found.metric("hit")
    assert (ndcg.verdict, ndcg.wins, ndcg.losses) == ("improved", 30, 0)
    assert ndcg.difference == pytest.approx(1 - 0.6309297535714575)
    assert (hit.verdict, hit.difference, hit.p, hit.flat) == ("no_clear_change", 0.0, 1.0, True)
    assert verdict(found) == (
        "first is better than second at NDCG@5 by 0.369 [0.369, 0.369] and MRR@5 by 0.500 [0.500, 0.500];"
        " hit rate@5 and recall@5 the same in every query"
    )


def test_the_numbers_are_those_of_the_macro(room: Store) -> None:
    found = compared(room, "second", "partly", k=10)
    macro = {row[0]: row[1:] for row in ask(room, "from run_comparison('second', 'partly', 10)")}
    assert macro.keys() == set(METRICS)
    for one in found.metrics:
        assert macro[one.metric] == pytest.approx(
            (one.baseline, one.candidate, one.difference, one.wins, one.ties, one.losses, one.n), abs=1e-12
        )


def test_a_run_against_itself(room: Store) -> None:
    found = compared(room, "first", "first", by=["category"])
    assert found.comparable
    assert found.one_change is None
    assert {(one.difference, one.p, one.low, one.high) for one in found.metrics} == {(0.0, 1.0, 0.0, 0.0)}
    assert {one.verdict for one in found.metrics + list(found.slices)} == {"no_clear_change"}
    assert verdict(found) == "first is compared with itself: nothing differs"


def test_settings_that_changed(room: Store) -> None:
    one = compared(room, "second", "first")
    assert [(s.setting, s.baseline, s.candidate) for s in one.config_diff] == [
        ("embedding.model", "small", "large")
    ]
    assert one.one_change is None
    assert "reranker.model" in one.absent_settings
    assert "embedding.model" not in one.absent_settings
    several = compared(room, "second", "partly")
    assert [s.setting for s in several.config_diff] == ["embedding.model", "final.k", "reranker.model"]
    assert several.config_diff[2].baseline is None
    assert several.one_change == "3 settings changed: the effect cannot be credited to one of them"
    assert "no setting changed" in str(compared(room, "second", "broken").one_change)


def test_identical_candidates(room: Store) -> None:
    shared = compared(room, "second", "first").identical_candidates
    assert shared is not None
    assert (shared.identical, shared.of) == (0, 30)
    shared = compared(room, "first", "partly").identical_candidates
    assert shared is not None
    assert (shared.identical, shared.of) == (20, 30)


def test_what_a_run_left_out_counts_as_0_and_is_said(room: Store) -> None:
    found = compared(room, "first", "broken")
    assert found.comparable
    assert [(note.kind, note.count) for note in found.notes] == [
        ("queries_left_out", 3),
        ("queries_failed", 1),
    ]
    assert found.notes[0].sentence == "broken left out 3 queries: they count as 0"
    assert (found.n, found.metric("hit").losses) == (30, 4)
    common = compared(room, "first", "broken", common=True)
    assert (common.n, common.common, common.on_common) == (27, 27, True)
    assert common.metric("hit").losses == 1


def test_another_collection(room: Store) -> None:
    found = compared(room, "first", "newer")
    assert not found.comparable
    assert [reason.sentence for reason in found.reasons] == ["collection docs 3 against 4"]
    assert (found.metrics, found.slices, found.account, found.n) == ([], [], [], 0)
    assert found.common == 30
    assert verdict(found) == (
        "newer and first are not comparable: collection docs 3 against 4."
        " 30 queries can be compared like with like."
    )
    assert compared(room, "first", "newer", common=True).metric("ndcg").ties == 30


def test_another_query_set(room: Store) -> None:
    found = compared(room, "first", "elsewhere", common=True)
    assert not found.comparable
    assert (found.label_set, found.common, found.metrics) == (None, 0, [])
    assert found.reasons[0].kind == "other_queries"
    assert "Nothing is common to both" in verdict(found)


def test_slices(room: Store) -> None:
    found = compared(room, "second", "partly", by=["category", "language"], slice_metrics=["ndcg", "hit"])
    assert [one.metric for one in found.slices] == ["ndcg"] * 4 + ["hit"] * 4
    assert [one.slice for one in found.slices[:4]] == [
        {"category": "faq", "language": "de"},
        {"category": "faq", "language": "en"},
        {"category": "legal", "language": "de"},
        {"category": "legal", "language": "en"},
    ]
    assert [one.n for one in found.slices[:4]] == [10, 10, 5, 5]
    assert [one.thin for one in found.slices[:4]] == [False, False, True, True]
    assert [one.verdict for one in found.slices[:2]] == ["improved", "improved"]
    assert found.slices[2].difference == pytest.approx(-0.6309297535714575)
    for one in found.slices:
        assert one.p is not None
        assert one.p_holm is not None
        assert one.p_holm >= one.p


def test_only_some_queries(room: Store) -> None:
    assert compared(room, "second", "first", split="heldout").n == 10
    assert compared(room, "second", "first", queries=["q01", "q02", "nope"]).n == 2
    nothing = compared(room, "second", "first", queries=[], by=["category"])
    assert (nothing.n, nothing.slices, nothing.account) == (0, [], [])
    assert nothing.metric("ndcg").p is None
    assert "no answerable query" in verdict(nothing)


def test_what_is_not_there_is_refused(room: Store) -> None:
    for options, said in (
        ({"base": "nope"}, "no run named nope"),
        ({"k": 0}, "k must be a positive integer"),
        ({"k": 7}, "no scores at k = 7"),
        ({"by": ["colour"]}, "cannot be sliced by colour: they have category, language"),
        ({"by": ["category", "language", "tag", "must_pass"]}, "at most 3"),
        ({"split": "test"}, "no query has the split test: the splits are dev, heldout"),
        ({"stage": "fused"}, "has no stage fused: it has candidates, final"),
        ({"label_set": "help@9"}, "help has no labels named help@9: there are help@1"),
        ({"slice_metrics": ["mrr"]}, "there is no metric mrr"),
    ):
        with pytest.raises(UsageError, match=said):
            compared(room, **({"base": "second", "cand": "first"} | options))


def test_a_stage(room: Store) -> None:
    assert compared(room, "second", "first", stage="candidates").metric("ndcg").ties == 30


def test_a_cutoff_that_the_store_lacks(room: Store) -> None:
    found = compare_stored(room, "second", "partly", k=8, by=["category"])
    assert found.metric("hit").baseline == 1.0
    assert found.metric("hit").candidate == 1.0
    assert sum(row.share for row in found.account if row.metric == "ndcg") == pytest.approx(
        found.metric("ndcg").difference, abs=1e-9
    )
    assert [one.n for one in found.slices] == [20, 10]
    at_ten = compare_stored(room, "second", "partly", k=10)
    assert at_ten == compared(room, "second", "partly", k=10)


@pytest.fixture(scope="module")
def revised(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A query set that got three more queries and lost one, another text, and other labels.

    The new labels have something better, which the old runs have on top, for q02 and q03.
    """
    folder = tmp_path_factory.mktemp("revised")
    store = Store(folder / "s.duckdb")
    first, second = QUERIES[:20], QUERIES[1:23]
    documents = [{"doc_id": f"doc_{name}"} for name in QUERIES]
    add_native(
        store,
        folder / "1",
        dataset=dataset("1"),
        queries=[query(name) for name in first],
        labels=labels(first),
        documents=documents,
        runs={"old": lines(2, first), "waiting": lines(1, first)},
        about={"old": about(), "waiting": about()},
    )
    add_native(
        store,
        folder / "2",
        dataset=dataset("2", version="4"),
        queries=[query(name, **({"text": "another question"} if name == "q04" else {})) for name in second],
        labels=labels(second[:12])
        + labels(second[12:], grade=1)
        + [{"query_id": name, "doc_id": "other0", "grade": 3} for name in ("q02", "q03")],
        documents=documents[:10] + documents[11:] + [{"doc_id": "fresh"}],
        runs={"new": lines(1, second)},
        about={"new": about()},
    )
    return store


def test_labels_that_one_run_has_no_scores_under(revised: Store) -> None:
    found = compared(revised, "old", "new", common=True)
    kinds = {reason.kind: reason for reason in found.reasons}
    assert kinds["labels"].count == 1 + 5 + 7  # removed, added, regraded
    assert kinds["labels"].sentence.startswith("13 labels changed: old has scores under help@1, and none")
    assert (found.label_set, found.metrics) == (None, [])
    assert compared(revised, "old", "waiting").label_set == "help@1"
    (note,) = compared(revised, "old", "waiting").notes
    assert (note.kind, note.count) == ("older_labels", 13)


@pytest.fixture(scope="module")
def rescored(revised: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The same, after one of the old runs has its scores under the new labels."""
    store = Store(tmp_path_factory.mktemp("rescored") / "s.duckdb")
    store.path.write_bytes(revised.path.read_bytes())
    rescore(store, ["old"])
    with kept_open(store) as opened:
        yield opened


def test_what_the_labels_did_and_what_the_retriever(rescored: Store) -> None:
    store = rescored
    found = compared(store, "old", "new", baseline_labels="help@1", common=True)
    assert (found.baseline_labels, found.label_set) == ("help@1", "help@2")
    assert {reason.kind for reason in found.reasons} == {
        "labels",
        "queries_absent",
        "queries_changed",
        "collection",
    }
    assert verdict(found).startswith(
        "on the 17 queries that both share: new under help@2 is better than old under help@1 at NDCG@5"
    )
    itself = compared(store, "old", "old", baseline_labels="help@1")
    assert not itself.comparable
    assert itself.reasons[0].sentence == "13 labels changed between help@1 and help@2"
    assert itself.n == 19  # of the 22 queries under the new labels; three have no old label
    assert itself.on_common
    for one in (found, itself):
        for metric in ("ndcg", "recall", "hit", "rr"):
            share = sum(row.share for row in one.account if row.metric == metric)
            assert share == pytest.approx(one.metric(metric).difference, abs=1e-9)
    assert {(row.metric, row.move, row.queries) for row in itself.account if row.share} == {
        ("ndcg", "labels", 2),
        ("rr", "labels", 2),
    }
    assert itself.metric("rr").difference == pytest.approx(2 * 0.5 / 19)
    assert compared(store, "old", "old", baseline_labels="help@2").baseline_labels is None
    with pytest.raises(UsageError, match="run new has no scores under help@1"):
        compared(store, "new", "old", baseline_labels="help@1")


def test_queries_that_came_after_both_runs_are_said_to_count(rescored: Store) -> None:
    found = compared(rescored, "old", "old")  # of help@1, under labels with three queries more
    assert (found.comparable, found.n) == (True, 22)
    assert ("queries_left_out", 3) in [(note.kind, note.count) for note in found.notes]
    assert found.metric("hit").baseline == pytest.approx(19 / 22)


def test_query_sets_and_collections_that_differ(rescored: Store) -> None:
    store = rescored
    found = compared(store, "old", "new")
    assert not found.comparable
    assert {(reason.kind, reason.count) for reason in found.reasons} == {
        ("queries_absent", 3),
        ("queries_changed", 1),
        ("collection", 2),
    }
    assert found.reasons[0].sentence == "3 queries absent from help@1, which old was asked"
    assert found.common == 19 - 1 - 1  # the changed one, and that whose document is gone
    assert found.metrics == []
    common = compared(store, "old", "new", common=True, by=["category"])
    assert (common.comparable, common.on_common, common.n) == (False, True, 17)
    assert common.metric("rr").wins == 15
    assert sum(one.n for one in common.slices) == 17
    assert verdict(common).startswith("on the 17 queries that both share: new is better than old at NDCG@5")


def test_the_account_by_hand(room: Store) -> None:
    """In a third of the queries the document goes from 2 to 8, in the others from 2 to 1; at 5."""
    found = compared(room, "second", "partly")
    second = 0.6309297535714575
    account = {(row.metric, row.move): row for row in found.account}
    assert {row.baseline_hit for row in found.account} == {True}
    assert {key: (row.documents, row.queries) for key, row in account.items()} == {
        (metric, move): (num, num)
        for metric in ("ndcg", "recall", "hit", "rr")
        for move, num in (("up", 20), ("left", 10))
    }
    shares = {key: row.share for key, row in account.items()}
    assert shares == pytest.approx(
        {
            ("ndcg", "up"): 20 * (1 - second) / 30,
            ("ndcg", "left"): -10 * second / 30,
            ("recall", "up"): 0,
            ("recall", "left"): -1 / 3,
            ("hit", "up"): 0,
            ("hit", "left"): -1 / 3,
            ("rr", "up"): 20 * 0.5 / 30,
            ("rr", "left"): -10 * 0.5 / 30,
        }
    )
    half = compared(room, "second", "partly", queries=["q01", "q02", "q03"])
    assert {row.move: row.queries for row in half.account if row.metric == "hit"} == {"up": 2, "left": 1}
    assert sum(row.share for row in half.account if row.metric == "hit") == pytest.approx(-1 / 3)
