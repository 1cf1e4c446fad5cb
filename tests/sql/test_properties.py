"""What must hold of any data: the exact account of a change, and what plays no part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankroom import scoring
from rankroom.add import Options
from rankroom.store import Store
from rankroom.workspace import open_workspace
from small_stores import add_small, ask

DOCS = [f"d{i}" for i in range(14)]
GROUPS = st.one_of(st.none(), st.lists(st.sampled_from("ab"), unique=True))
FEW = settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@dataclass
class Query:
    """A query as drawn: its labels, two rankings (None: left out), who asks, and where it belongs."""

    labels: dict[str, int]
    rankings: dict[str, list[str] | None]
    groups: list[str] | None
    category: str | None


@dataclass
class Drawn:
    """A data set as drawn."""

    relevant_from: int
    queries: dict[str, Query]
    readers: dict[str, list[str]] = field(default_factory=dict)


ranking = st.one_of(st.none(), st.lists(st.sampled_from(DOCS), unique=True))
query = st.builds(
    Query,
    labels=st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1, max_size=9),
    rankings=st.fixed_dictionaries({"base": ranking, "cand": ranking}),
    groups=GROUPS,
    category=st.sampled_from([None, "faq", "legal"]),
)
drawn = st.builds(
    Drawn,
    relevant_from=st.integers(1, 2),
    queries=st.lists(query, min_size=1, max_size=8).map(lambda qs: {f"q{i}": q for i, q in enumerate(qs)}),
    readers=st.dictionaries(
        st.sampled_from(DOCS), st.lists(st.sampled_from("ab"), min_size=1, unique=True), max_size=6
    ),
)


@pytest.fixture(scope="module")
def workspace() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(open_workspace(views=True)) as con:
        con.execute("set threads = 1")
        yield con


def score(con: duckdb.DuckDBPyConnection, data: Drawn) -> None:
    """Score both runs in a workspace, which has the views and macros of a store."""
    tables = [
        t for (t,) in con.execute("select table_name from duckdb_tables() where not temporary").fetchall()
    ]
    for table in set(tables) - {"cutoffs"}:
        con.execute(f"delete from {table}")
    con.execute("insert into query_sets values ('n@1', 'n', '1', 0, '', now())")
    con.execute("insert into collections values ('n@1', 'n', '1', null, null, 0, '', now())")
    con.execute(
        "insert into label_sets values ('n@1', 'n', '1', 'n@1', 'n@1', $1, null, 0, '', now())",
        [data.relevant_from],
    )
    queries = [
        {"query_id": name, "category": q.category, "groups": q.groups} for name, q in data.queries.items()
    ]
    put(con, "queries", queries, "'n@1' as query_set, false as must_pass")
    documents = [{"doc_id": doc, "groups": groups} for doc, groups in data.readers.items()]
    put(con, "documents", documents, "'n@1' as collection")
    labels = [
        {"query_id": name, "doc_id": doc, "grade": grade}
        for name, q in data.queries.items()
        for doc, grade in q.labels.items()
    ]
    put(con, "labels", labels, "'n@1' as label_set, false as no_answer")
    scoring.prepare_labels(con, "n@1", [1, 3, 5, 10])
    for run in ("base", "cand"):
        con.execute("insert into run_stages values ($1, 'final', 1, null)", [run])
        con.execute(
            "insert into runs by name select $1 as run, 'n@1' as query_set, 'n@1' as collection,"
            " 'list' as ordered_by, 0 as num_rows, '' as content_hash, now() as added_at",
            [run],
        )
        ranked = {name: q.rankings[run] for name, q in data.queries.items() if q.rankings[run] is not None}
        put(con, "run_queries", [{"run": run, "query_id": name} for name in ranked], "'ok' as status")
        results = [
            {"query_id": name, "doc_id": doc, "key": -(rank // 2)}  # two by two they tie
            for name, docs in ranked.items()
            for rank, doc in enumerate(docs or [])
        ]
        con.execute(
            "create or replace temp table ranked_input"
            " (stage varchar, query_id varchar, doc_id varchar, key double, score double)"
        )
        put(con, "ranked_input", results, "'final' as stage")
        scoring.count_results(con, run)
        scoring.keep_rankings(con, run, None)
        scoring.score_run(con, run, "n@1", keep=None, depth=None)


def rows(con: duckdb.DuckDBPyConnection, query: str, **parameters: object) -> list[tuple[Any, ...]]:
    return con.execute(query, parameters or None).fetchall()


def put(con: duckdb.DuckDBPyConnection, table: str, given_rows: list[dict[str, Any]], constants: str) -> None:
    if given_rows:
        con.register("given", pa.Table.from_pylist(given_rows))
        con.execute(f"insert into {table} by name select *, {constants} from given")
        con.unregister("given")


@given(data=drawn, k=st.sampled_from([1, 3, 5, 10]))
@FEW
def test_a_change_is_the_sum_of_its_moves(workspace: duckdb.DuckDBPyConnection, data: Drawn, k: int) -> None:
    score(workspace, data)
    workspace.execute(
        "create or replace temp table moves as from rank_transitions('base', 'cand', $k)", {"k": k}
    )
    off = rows(
        workspace,
        """
        with moved as (
            select query_id, sum(ndcg_share) as ndcg,
                   count(*) filter (relevant and move = 'entered')
                   - count(*) filter (relevant and move = 'left') as documents
            from moves group by query_id
        ), changed as (
            select query_id, max(difference) filter (metric = 'ndcg') as ndcg,
                   max(difference) filter (metric = 'recall') as recall
            from query_deltas('base', 'cand', $k) group by query_id
        )
        select query_id, moved.ndcg, changed.ndcg, documents, changed.recall, num_relevant
        from changed
        left join moved using (query_id)
        join query_scores as scores using (query_id)
        where scores.run = 'base' and scores.k = $k
          and not coalesce(abs(moved.ndcg - changed.ndcg) <= 1e-9
                           and abs(documents / num_relevant - changed.recall) <= 1e-9, false)
        """,
        k=k,
    )
    assert off == []
    assert sorted(rows(workspace, "select query_id, doc_id from moves")) == sorted(gaining(data))
    assert accounts_that_do_not_add_up(workspace, k) == []


def accounts_that_do_not_add_up(con: duckdb.DuckDBPyConnection, k: int) -> list[tuple[Any, ...]]:
    """Metrics whose account, over all queries or over some, is not the change of their mean."""
    return rows(
        con,
        """
        with of_all as (
            select metric, sum(share) as accounted, sum(share) filter (move in ('same', 'outside')) as still
            from change_account('base', 'cand', $k) group by metric
        ), of_some as (
            select metric, sum(share) as accounted
            from change_account('base', 'cand', $k, query_ids := ['q0', 'q2']) group by metric
        ), changed as (
            select metric, avg(difference) as all_queries,
                   avg(difference) filter (query_id in ('q0', 'q2')) as some_queries
            from query_deltas('base', 'cand', $k) group by metric
        )
        from changed
        left join of_all using (metric)
        left join of_some using (metric)
        where metric in ('ndcg', 'recall', 'hit', 'rr')
          and not coalesce(abs(of_all.accounted - all_queries) <= 1e-9 and coalesce(still, 0) = 0
                           and (some_queries is null or abs(of_some.accounted - some_queries) <= 1e-9), false)
        """,
        k=k,
    )


def gaining(data: Drawn) -> list[tuple[str, str]]:
    """Readable documents with gain, of the queries that have something relevant to read."""
    readable = {
        name: {
            doc: grade
            for doc, grade in q.labels.items()
            if doc not in data.readers or q.groups is None or set(data.readers[doc]) & set(q.groups)
        }
        for name, q in data.queries.items()
    }
    return [
        (name, doc)
        for name, labels in readable.items()
        if any(grade >= data.relevant_from for grade in labels.values())
        for doc, grade in labels.items()
        if grade > 0
    ]


@given(data=drawn)
@FEW
def test_against_itself_nothing_moves_and_swapped_everything_mirrors(
    workspace: duckdb.DuckDBPyConnection, data: Drawn
) -> None:
    score(workspace, data)
    assert rows(workspace, "from query_deltas('cand', 'cand', 3) where difference <> 0") == []
    itself = "from rank_transitions('cand', 'cand', 3)"
    assert rows(workspace, f"{itself} where move not in ('same', 'outside') or ndcg_share <> 0") == []
    mirror = rows(
        workspace,
        """
        from query_deltas('base', 'cand', 3) as a
        full join query_deltas('cand', 'base', 3) as b using (query_id, metric)
        where a.difference is distinct from -b.difference
        """,
    )
    assert mirror == []


MEANS = ["hit", "complete", "recall", "precision", "f1", "rr", "ap", "dcg", "ndcg", "ndcg_exp"]


@given(data=drawn)
@FEW
def test_means_and_slices_add_up(workspace: duckdb.DuckDBPyConnection, data: Drawn) -> None:
    score(workspace, data)
    workspace.execute("create or replace temp table summary as from run_summary where split = 'all'")
    means = ", ".join(f"avg({metric}) as {metric}" for metric in MEANS)
    differs = " or ".join(f"s.{metric} is distinct from m.{metric}" for metric in [*MEANS, "n"])
    off = rows(
        workspace,
        f"""
        from summary as s
        full join (select run, k, count(ndcg) as n, {means} from query_scores group by run, k) as m
            using (run, k)
        where {differs}
        """,
    )
    assert off == []
    off = rows(
        workspace,
        """
        from summary as s
        join (select run, k, dimension, sum(n) as n, sum(leaks) as leaks, sum(missed) as missed
              from slice_summary where dimension in ('category', 'language', 'must_pass') and split = 'all'
              group by run, k, dimension) as slices using (run, k)
        where (s.n, s.leaks, s.missed) is distinct from (slices.n, slices.leaks, slices.missed)
        """,
    )
    assert off == []
    named = any(query.category for query in data.queries.values())
    ((sliced,),) = rows(workspace, "select count(*) from slice_summary where dimension = 'category'")
    assert bool(sliced) == named


TABLES = {
    "rankings": "from rankings order by all",
    "query_metrics": "from query_metrics order by stage, query_id, k",
    "query_metrics_uncut": "from query_metrics_uncut order by stage, query_id",
    "labelled_ranks": "from labelled_ranks order by stage, query_id, doc_id",
    "runs": "select content_hash from runs",
}


@pytest.mark.parametrize("keep", [None, 100])
def test_the_order_of_lines_plays_no_part(tmp_path: Path, keep: int | None) -> None:
    rng = Random(5)
    docs = [f"d{i}" for i in range(300)]
    labels = {f"q{i}": {d: rng.randrange(-1, 4) for d in rng.sample(docs, 30)} for i in range(10)}
    run = {q: {d: rng.randrange(20) / 4 for d in rng.sample(docs, 250)} for q in labels}
    found = []
    for at in range(2):
        store = Store(tmp_path / f"{at}.duckdb")
        add_small(store, tmp_path / str(at), labels, {"run": run}, options=Options(keep=keep))
        found.append({table: ask(store, query) for table, query in TABLES.items()})
        labels, run = shuffled(rng, labels), shuffled(rng, run)
    assert found[0] == found[1]


def shuffled(rng: Random, of: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        query: dict(rng.sample(list(docs.items()), len(docs)))
        for query, docs in rng.sample(list(of.items()), len(of))
    }
