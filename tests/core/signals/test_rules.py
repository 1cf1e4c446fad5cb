"""Each rule on data built to fire it, on data built to just not, and what it says held against the store."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import duckdb
import pytest
import signal_worlds
from rankroom.signals.finding import Finding, Signals
from rankroom.signals.search import RULES, read_signals
from signal_worlds import CASES, MANY, RUNS, SINGLE


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with signal_worlds.build(tmp_path_factory.mktemp("signals")).read() as opened:
        yield opened


@cache
def seen(con: duckdb.DuckDBPyConnection, run: str) -> Signals:
    baseline = RUNS[run].baseline
    assert baseline is not None
    return read_signals(con, baseline, run, held_out=True)


def found(con: duckdb.DuckDBPyConnection, case: str) -> Finding:
    (one,) = [one for one in seen(con, CASES[case]).findings if one.id == case.partition(".")[0]]
    return one


def test_every_rule_of_the_catalogue_is_tried(con: duckdb.DuckDBPyConnection) -> None:
    catalogue = con.execute("select rule from signal_rules order by position").fetchall()
    assert [rule for (rule,) in catalogue] == list(RULES)
    assert set(signal_worlds.RULES) == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_it_fires_where_it_must(con: duckdb.DuckDBPyConnection, rule: str) -> None:
    one = found(con, rule)
    assert one.status == "fired"
    assert one.queries
    assert len(set(one.queries)) == len(one.queries)
    assert one.numbers["n"] == one.n > 0
    assert "possible" not in one.sentence
    assert one.look_next


@pytest.mark.parametrize("case", [name for name in CASES if ".not" in name])
def test_it_just_does_not(con: duckdb.DuckDBPyConnection, case: str) -> None:
    rule = case.partition(".")[0]
    result = seen(con, CASES[case])
    assert rule in result.tried
    assert rule not in {one.id for one in result.findings}


@pytest.mark.parametrize("run", [name for name in CASES if name.endswith(".possible")])
def test_of_few_queries_it_is_possible(con: duckdb.DuckDBPyConnection, run: str) -> None:
    one = found(con, run)
    assert one.status == "possible"
    assert one.sentence.endswith(f"(possible: n = {one.n} is too few to be sure)")


def test_a_run_against_itself_or_its_like_has_none(con: duckdb.DuckDBPyConnection) -> None:
    assert read_signals(con, "usual", "usual").findings == []
    assert read_signals(con, "usual", "same").findings == []


SENTENCES = {
    "ndcg_up_hit_flat": "hit rate@5 stayed at 0.833: 30 of 30 moves lifted documents in queries that already"
    " hit; the 20 failing queries were left as they were",
    "rr_flat_evidence_lost": "MRR@5 stayed at 0.500, but recall@5 fell by 0.067 [0.040, 0.093]: 40 relevant"
    " documents left the first 5 in 20 queries, and 0 entered it",
    "overall_up_slice_down": "but in language de (n = 30) it fell by 0.167 [0.083, 0.250]: 10 of its queries"
    " lost"
    " and 0 won",
    "must_pass_broken": "1 of 5 must-pass queries had a relevant document in the first 5 and has none now:"
    " s00; 0"
    " had none and have one now; 1 in all have none",
    "hit_up_rank_worse": "(20 queries gained a hit, 0 lost theirs), but in the 100 queries that hit in both"
    " runs"
    " MRR@5 fell by 0.027 [0.016, 0.037]: the first relevant document fell in 20 of them and rose in 0",
    "mean_up_most_lose": "but 55 queries lost and 20 won: 4 queries give 20% of all that was won",
    "cutoff_disagrees": "at k = 1, 15 queries won and 0 lost; at k = 5, 0 won and 15 lost",
    "stage_gain_lost": "recall@5 did not (0.000 [0.000, 0.000]): 20 relevant documents came in and were lost"
    " again, 20 at final",
    "quality_up_cost_up": "and mean latency rose from 20 to 50 ms (+30 [30, 30], n = 120; median 20 to 50)",
    "retrieval_up_answer_down": "but the answer score faithful fell from 0.800 to 0.725 (-0.075 [-0.098,"
    " -0.053],"
    " n = 120): 30 answers got worse and 0 better",
    "dev_up_heldout_down": "on held_out (n = 40): there 20 queries lost and 0 won",
    "config_interaction": "in language de (n = 30): the only setting that changed is model",
}


@pytest.mark.parametrize("rule", SENTENCES)
def test_it_says_what_was_built(con: duckdb.DuckDBPyConnection, rule: str) -> None:
    assert SENTENCES[rule] in found(con, rule).sentence


CAUSES = {
    "ndcg_up_hit_flat": SINGLE[:30],
    "rr_flat_evidence_lost": MANY[:20],
    "overall_up_slice_down": SINGLE[50:60],
    "must_pass_broken": ["s00"],
    "hit_up_rank_worse": SINGLE[:20],
    "mean_up_most_lose": SINGLE[:55],
    "cutoff_disagrees": SINGLE[30:45],
    "stage_gain_lost": SINGLE[60:80],
    "retrieval_up_answer_down": SINGLE[:30],
    "dev_up_heldout_down": SINGLE[40:60],
    "labels_blur": SINGLE[5:40],
    "config_interaction": SINGLE[50:60],
}


@pytest.mark.parametrize("rule", CAUSES)
def test_it_names_all_queries_that_cause_it(con: duckdb.DuckDBPyConnection, rule: str) -> None:
    assert sorted(found(con, rule).queries) == CAUSES[rule]


def test_numbers_are_those_of_the_macros(con: duckdb.DuckDBPyConnection) -> None:
    one = found(con, "ndcg_up_hit_flat")
    deltas = dict(
        con.execute(
            "select metric, avg(difference) from query_deltas('usual', 'ndcg_up_hit_flat', 5) group by metric"
        ).fetchall()
    )
    assert one.numbers["ndcg_difference"] == pytest.approx(deltas["ndcg"], abs=1e-12)
    assert one.numbers["hit_difference"] == pytest.approx(deltas["hit"], abs=1e-12)
    ((moves, lifted),) = con.execute(
        "select count(*), count(*) filter (move in ('up', 'entered') and baseline_hit)"
        " from rank_transitions('usual', 'ndcg_up_hit_flat', 5) where move not in ('same', 'outside')"
    ).fetchall()
    assert (one.numbers["moves"], one.numbers["moves_up_in_hits"]) == (moves, lifted)


def test_a_cost_is_latency_or_context(con: duckdb.DuckDBPyConnection) -> None:
    one = found(con, "quality_up_cost_up.context")
    assert "mean context rose from 100 to 200 tokens" in one.sentence


def test_unlabelled_documents_leave_the_difference_open(con: duckdb.DuckDBPyConnection) -> None:
    """A document has one label for both runs; 15 queries lost their hit among documents without a label."""
    one = found(con, "labels_blur")
    assert one.numbers["hit_difference"] == pytest.approx(-15 / 120)
    assert one.numbers["hit_lowest"] == pytest.approx(-15 / 120)
    assert one.numbers["hit_highest"] == pytest.approx(0.0)
    assert one.numbers["precision_highest"] > 0


def test_over_some_queries_only(con: duckdb.DuckDBPyConnection) -> None:
    result = read_signals(con, "usual", "overall_up_slice_down", queries=SINGLE[50:])
    assert (result.n, result.findings) == (30, [])
    assert read_signals(con, "usual", "ndcg_up_hit_flat", split="held_out").n == 40


def test_what_is_missing_is_said(con: duckdb.DuckDBPyConnection) -> None:
    result = read_signals(con, "usual", "stage_gain_lost")
    assert result.not_tried == {
        "stage_gain_lost": "not both runs record the steps of their pipelines",
        "dev_up_heldout_down": "dev is held against the other splits only where that is asked for",
    }
    assert "dev_up_heldout_down" not in {
        one.id for one in read_signals(con, "usual", "dev_up_heldout_down").findings
    }
