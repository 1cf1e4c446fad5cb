"""Every metric against trec_eval's own values, per query, on random data that goes in the way files do."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from rankroom.add import Options
from rankroom.store import Store
from small_stores import add_native, add_small, ask, asked
from trec_eval import AT_CUTOFFS, CUTOFFS, UNCUT, Readable, Values, expected, in_order

ids = ["q1", "Q2", "q10", "été", "query_5", "q6", "q7", "q8", "q9"]


@dataclass
class Scored:
    """A store, and what it must hold of each (run, stage)."""

    store: Store
    expected: dict[tuple[str, str], Values]


def grades(rng: random.Random, docs: list[str], num: int, top: int = 3) -> dict[str, int]:
    return {doc: rng.choice([-2, -1, 0, 0, 1, 1, 2, top]) for doc in rng.sample(docs, num)}


def scores(rng: random.Random, docs: list[str], num: int, distinct: int) -> dict[str, float]:
    """Multiples of 1/64, exact in 32 bits; the fewer are distinct, the more ties."""
    return {doc: rng.randrange(-distinct, distinct) / 64 for doc in rng.sample(docs, num)}


def documents(rng: random.Random, num: int) -> list[str]:
    """Ids of which some sort otherwise by bytes than by number, by case or by language."""
    return [rng.choice(["d", "D", "é", "z_", "1", "😀"]) + str(i) for i in range(num)]


def trec_data(seed: int, relevant_from: int, folder: Path) -> Scored:
    """Short and long rankings, ties, missing and unlabelled queries, a query without relevant documents."""
    rng = random.Random(seed)
    docs = documents(rng, 160)
    labels = {
        query: grades(rng, docs, rng.randrange(1, 40)) for query in [*ids, *(f"x{i}" for i in range(20))]
    }
    labels["q6"] = {docs[0]: 0, docs[1]: -2}
    runs = {}
    for run, distinct in (("tied", 3), ("spread", 5000), ("all_equal", 1)):
        answered = [q for q in [*labels, "only_in_the_run"] if q != "q7" and rng.random() < 0.9]
        runs[run] = {q: scores(rng, docs, rng.choice([1, 2, 7, 30, 120, 160]), distinct) for q in answered}
    store = Store(folder / "s.duckdb")
    add_small(store, folder, labels, runs, relevant_from=relevant_from)
    return Scored(
        store, {(run, "final"): expected(labels, run_, relevant_from) for run, run_ in runs.items()}
    )


def cut_data(seed: int, relevant_from: int, folder: Path) -> Scored:
    """Rankings deeper than what is kept, with few and with many labelled documents beyond it."""
    rng = random.Random(seed)
    docs = documents(rng, 700)
    labels = {f"q{i}": grades(rng, docs, rng.choice([3, 8, 60, 200])) for i in range(24)}
    labels["deep"] = {docs[5]: 3}
    run = {q: scores(rng, docs, rng.choice([40, 100, 101, 650]), rng.choice([10, 4000])) for q in labels}
    run["deep"] = {doc: -i / 64 for i, doc in enumerate([*docs[6:600], docs[5]])}
    store = Store(folder / "s.duckdb")
    add_small(store, folder, labels, {"cut": run}, relevant_from=relevant_from, options=Options(keep=100))
    return Scored(store, {("cut", "final"): expected(labels, run, relevant_from)})


def native_data(seed: int, relevant_from: int, folder: Path) -> Scored:
    """Permissions of every kind, and two stages with rankings of their own."""
    rng = random.Random(seed)
    docs = documents(rng, 90)
    teams = ["a", "b", "c"]
    may_read = {doc: rng.choice([None, None, *([t] for t in teams), ["a", "b"]]) for doc in docs[10:]}
    asks = {f"q{i}": rng.choice([None, [], ["a"], ["b", "c"], ["nobody_else"]]) for i in range(40)}
    labels = {q: grades(rng, docs, rng.randrange(1, 25)) for q in list(asks)[:36]}
    stages = {
        stage: {q: scores(rng, docs, rng.choice([1, 5, 20, 80]), 5000) for q in asks if q != "q3"}
        for stage in ("candidates", "final")
    }

    def readable(query: str, doc: str) -> bool:
        groups, mine = may_read.get(doc), asks[query]
        return groups is None or mine is None or bool(set(groups) & set(mine))

    store = Store(folder / "s.duckdb")
    add_native(
        store,
        folder,
        dataset=f'name = "native"\n[labels]\nrelevant_from = {relevant_from}\n',
        queries=[{"query_id": q} | ({} if g is None else {"groups": g}) for q, g in asks.items()],
        documents=[{"doc_id": d} | ({} if g is None else {"groups": g}) for d, g in may_read.items()],
        labels=[{"query_id": q, "doc_id": d, "grade": g} for q, of in labels.items() for d, g in of.items()],
        runs={
            "listed": [
                {"query_id": q, "stages": {stage: in_order(run[q]) for stage, run in stages.items()}}
                for q in stages["final"]
            ]
        },
    )
    return Scored(
        store,
        {
            ("listed", stage): _in_list_order(labels, run, relevant_from, readable)
            for stage, run in stages.items()
        },
    )


def _in_list_order(
    labels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    relevant_from: int,
    readable: Readable,
) -> Values:
    falling = {q: {d: -float(i) for i, d in enumerate(in_order(s))} for q, s in run.items()}
    return expected(labels, falling, relevant_from, readable)


KINDS = {
    "trec": (trec_data, 11, 1),
    "trec, relevant from 2": (trec_data, 12, 2),
    "cut": (cut_data, 13, 1),
    "cut, relevant from 2": (cut_data, 14, 2),
    "permissions": (native_data, 15, 1),
    "permissions, relevant from 2": (native_data, 16, 2),
}


@pytest.fixture(scope="module", params=KINDS)
def scored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    make, seed, relevant_from = KINDS[request.param]
    return make(seed, relevant_from, tmp_path_factory.mktemp("oracle"))


def differences(got: Values, want: Values) -> dict[tuple[str, str, int], tuple[object, object]]:
    assert got.keys() == want.keys()
    return {
        at: (got[at], value)
        for at, value in want.items()
        if (found := got[at]) != value and (found is None or value is None or not abs(found - value) < 1e-9)
    }


def test_every_value_at_every_cutoff(scored: Scored) -> None:
    metrics = [*AT_CUTOFFS, "judged", "leaks"]
    for (run, stage), want in scored.expected.items():
        got = {
            (row["query_id"], metric, row["k"]): row[metric]
            for row in asked(
                scored.store,
                "from query_scores_all where run = $run and stage = $stage",
                run=run,
                stage=stage,
            )
            for metric in metrics
        }
        assert differences(got, {at: v for at, v in want.items() if at[2] != UNCUT}) == {}
        assert {k for _, _, k in got} == set(CUTOFFS)


def test_every_value_of_whole_rankings(scored: Scored) -> None:
    for (run, stage), want in scored.expected.items():
        rows = asked(
            scored.store,
            "from query_scores_uncut_all where run = $run and stage = $stage",
            run=run,
            stage=stage,
        )
        got = {
            (row["query_id"], metric, UNCUT): row[metric]
            for row in rows
            for metric in (
                "rr", "ap", "dcg", "ndcg", "r_precision",
                "num_relevant", "num_returned", "first_relevant_rank",
            )
        }  # fmt: skip
        assert differences(got, {at: v for at, v in want.items() if at[2] == UNCUT}) == {}
        assert not any(row["unknown_because"] for row in rows)


def test_the_data_reaches_what_it_is_there_for(scored: Scored) -> None:
    """Ranks beyond the kept part, few and many of a query; ties; forbidden documents."""
    store = scored.store
    beyond = ask(
        store,
        "select query_id, count(*) from labelled_ranks where rank > 100 group by query_id",
    )
    (kept,) = ask(store, "select any_value(kept_depth) from runs")
    if kept == (100,):
        assert any(num <= 10 for _, num in beyond)
        assert any(num > 10 for _, num in beyond)
        assert ask(store, "select max(rank) from rankings") == [(100,)]
    for (run, _), want in scored.expected.items():
        values = {metric: [v for (_, m, _), v in want.items() if m == metric] for metric in ("ndcg", "leaks")}
        assert any(v is None for v in values["ndcg"]) or kept == (100,), run
        if run == "listed":
            assert any(values["leaks"])
    if scored.expected.keys() & {("tied", "final")}:
        assert ask(
            store,
            "select count(*) > 100 from rankings a join rankings b using (run, stage, query_id, score)"
            " where run = 'tied' and a.rank + 1 = b.rank and a.doc_id > b.doc_id",
        ) == [(True,)]
