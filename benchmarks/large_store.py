"""A store of 200 runs x 5,000 queries x 50 results: what its questions and its pages take.

    pip install -e '.[bench]' && python benchmarks/large_store.py [--runs N] [--queries N] [--store FILE]

The store is made once where FILE is not there yet; that takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from rankroom import scoring, suspects
from rankroom.known import Known
from rankroom.resources import folder
from rankroom.store import Store
from rankroom.tables import RUN_TABLES, SCORE_TABLES, append
from rankroom.workspace import open_workspace

RESULTS = 50
TOGETHER = 20
LABEL_SET = "made@1"

DATASET = """
    insert into collections values ('made@1', 'made', '1', null, null, 0, '', now());
    insert into query_sets values ('made@1', 'made', '1', {queries}, '', now());
    insert into queries by name
    select 'made@1' as query_set, 'query_' || q as query_id,
           'What is the answer to question ' || q || '?' as text,
           ['factual', 'how_to', 'comparison', 'navigation', 'other'][1 + q % 5] as category,
           ['en', 'es', 'de', 'zh'][1 + q // 5 % 4] as language, if(q % 4 = 0, 'held_out', 'dev') as split,
           q % 50 = 0 as must_pass, map {{'tier': 't' || q % 7}} as attributes
    from range({queries}) t(q);
    insert into label_sets values ('made@1', 'made', '1', 'made@1', 'made@1', 1, null, 0, '', now());
    insert into labels by name
    select distinct on (q, d) 'made@1' as label_set, 'query_' || q as query_id, 'document_' || d as doc_id,
           1 + (q + n) % 3 as grade, false as no_answer
    from (select q, n, hash(q * 10 + n) % 60 + q * 7 as d from range({queries}) t(q), range(3) u(n));
"""

RUN = """
    create or replace temp view ranked_input as
    select 'final' as stage, 'query_' || q as query_id, 'document_' || (q * 7 + d) as doc_id,
           score as key, score
    from (
        select q, d, hash(q * 1000003 + d * 997 + {run}) % 1000003 / 1000003.0 as score
        from range({queries}) t(q), range(120) u(d)
        qualify row_number() over (partition by q order by score desc) <= {results}
    )
"""

QUESTIONS = {
    "leaderboard": "from run_summary where k = 5 and split = 'dev' order by ndcg desc",
    "leaderboard, all queries": "from run_summary where k = 5 and split = 'all' order by ndcg desc",
    "all slices of all runs": "from slice_summary where k = 5",
    "category x language of all runs": "from slices_by('category', 5, second_by := 'language')",
    "comparison": "from run_comparison('run_000', 'run_001', 5)",
    "rank transitions": "select move, count(*) from rank_transitions('run_000', 'run_001', 5) group by move",
    "failures of a run": "from failures where run = 'run_000' and k = 5",
    "failures of a run by class": "from failure_classes('run_000', 5, sliced_by := 'category')",
    "failures of a query in all runs": "from failures where query_id = 'query_12' and k = 5",
    "which class turned into which": "select baseline_class, candidate_class, count(*)"
    " from failure_changes('run_000', 'run_001', 5) group by all",
    "failing queries of all runs": "select run, count(*) filter (fails(s))"
    " from query_scores as s where k = 5 group by run",
    "funnel of a run by language": "from stage_funnel_by('run_000', 5, sliced_by := 'language')",
    "labels at fault": "from label_suspects order by num_verdicts desc limit 100",
    "k-curve of all runs": "select run, k, hit, recall, precision from run_summary where split = 'all'",
}


def make(store: Store, runs: int, queries: int) -> None:
    """Score made-up rankings, so many runs in a transaction."""
    for first in range(0, runs, TOGETHER):
        with closing(open_workspace()) as con:
            con.execute(DATASET.format(queries=queries))
            scoring.prepare_labels(con, LABEL_SET, [1, 3, 5, 10, 20, 50, 100])
            names = [f"run_{run:03}" for run in range(first, min(first + TOGETHER, runs))]
            for run, name in enumerate(names, first):
                con.execute(RUN.format(run=run, queries=queries, results=RESULTS))
                con.execute("insert into run_stages values ($run, 'final', 1, null)", {"run": name})
                con.execute(
                    "insert into run_queries by name"
                    " select $run as run, query_id, 'ok' as status from queries",
                    {"run": name},
                )
                con.execute(
                    """
                    insert into runs by name
                    select $run as run, 'made@1' as query_set, 'made@1' as collection, 'score' as ordered_by,
                           $num as num_rows, '' as content_hash, now() as added_at
                    """,
                    {"run": name, "num": queries * RESULTS},
                )
                scoring.count_results(con, name)
                scoring.keep_rankings(con, name, None)
                scoring.score_run(con, name, LABEL_SET, keep=None, depth=None)
            suspects.prepare_runs(con, names)
            with store.write(con):
                if LABEL_SET not in Known.of_connection(con, "store.main.").parts["label_set"]:
                    for table in ("collections", "query_sets", "queries", "label_sets", "labels"):
                        con.execute(f"insert into store.main.{table} from memory.main.{table}")
                for table in (*RUN_TABLES, *SCORE_TABLES):
                    append(con, table, "run", names)
        print(f"  {first + len(names)} runs", flush=True)


def timed(what: Callable[[], object], times: int = 5) -> list[float]:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        what()
        taken.append(time.perf_counter() - start)
    return taken


def ask(store: Store) -> None:
    """What each question takes on an open connection, the first time and then; and what opening one takes."""
    for name, statement in QUESTIONS.items():
        with store.read() as con:
            taken = timed(lambda statement=statement, con=con: con.sql(statement).to_arrow_table())
        print(f"{name:35} {taken[0]:8.3f} s first {statistics.median(taken[1:]):8.3f} s then", flush=True)

    def open_one() -> None:
        with store.read():
            pass

    print(f"{'opening the store':35} {statistics.median(timed(open_one)):31.3f} s")


def rerun_pages(store: Store) -> None:
    """What a page takes to run again, as a click makes it do."""
    from streamlit.testing.v1 import AppTest

    os.environ["RANKROOM_STORE"] = str(store.path)
    app = AppTest.from_file(str(folder("dashboard") / "app.py"), default_timeout=120)
    for page in sorted(path.name for path in (folder("dashboard") / "app_pages").glob("*.py")):
        app.switch_page(f"app_pages/{page}")
        taken = timed(app.run, 4)
        if app.exception:
            raise SystemExit(str(app.exception))
        print(
            f"{'page ' + page:35} {taken[0]:8.3f} s first {statistics.median(taken[1:]):8.3f} s then",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--store", type=Path, default=Path("large_store.duckdb"))
    asked = parser.parse_args()
    store = Store(asked.store)
    if not store.exists():
        make(store, asked.runs, asked.queries)
    print(f"{asked.store}: {asked.store.stat().st_size / 2**20:,.0f} MiB")
    ask(store)
    rerun_pages(store)


if __name__ == "__main__":
    main()
