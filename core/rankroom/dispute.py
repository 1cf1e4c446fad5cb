"""What the metrics would be if one label were another: scored by the statements that score every run.

Only one query is scored again, in a workspace in which each run stands as a query of one run: so all of them
are scored at once, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import duckdb

from rankroom import scoring
from rankroom.annotations import GRADES
from rankroom.errors import UsageError
from rankroom.faults import clip
from rankroom.output import rows
from rankroom.resources import sql
from rankroom.store import Store
from rankroom.tables import copy_rows, named_in
from rankroom.workspace import open_workspace

STAND_IN = "every run"


@dataclass(frozen=True)
class Effect:
    """What a run's metrics at k are, and would be: of the query, and the means of all its queries.

    `before` and `after` hold the metrics, `num_relevant`, `found` and `fails`; None where it has no labels.
    `mean_before` and `mean_after` hold the means, with their n; None where no labelled query is left.
    """

    run: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    mean_before: dict[str, Any]
    mean_after: dict[str, Any] | None


def dispute_effect(
    store: Store,
    label_set: str,
    query: str,
    doc: str,
    grade: int | None,
    *,
    runs: Sequence[str] = (),
    k: int = 5,
) -> list[Effect]:
    """The effect on every run (or on these) of giving a document this grade, or (None) no label at all."""
    if grade is not None and abs(grade) > GRADES:
        raise UsageError(f"a grade is from -{GRADES} to {GRADES}, and {grade} is not")
    asked: dict[str, Any] = {"label_set": label_set, "query": query, "doc": doc, "grade": grade}
    asked |= {"all_runs": not runs, "runs": list(runs)}
    with store.read() as stored, closing(open_workspace()) as con:
        _check(stored, store, asked, k)
        copy_rows(stored, con, COPIES, asked)
        _score(con, label_set, k)
        rescored = con.sql(sql("dispute/rescored.sql"), params={"query": query}).to_arrow_table()
        stored.register("rescored", rescored)
        found = rows(stored, effect := sql("dispute/effect.sql"), named_in(effect, asked | {"k": k}))
    return [Effect(**row) for row in found]


def _check(con: duckdb.DuckDBPyConnection, store: Store, asked: dict[str, Any], k: int) -> None:
    label_set, query, runs = asked["label_set"], asked["query"], asked["runs"]
    if not con.execute("from label_sets where label_set = $1", [label_set]).fetchall():
        raise UsageError(f"there is no label set {clip(label_set)} in {store.path}")
    if not con.execute(
        "select 1 from labels where label_set = $1 and query_id = $2 union all"
        " select 1 from label_sets join queries using (query_set)"
        " where label_set = $1 and query_id = $2 limit 1",
        [label_set, query],
    ).fetchall():
        raise UsageError(f"there is no query {clip(query)} in {clip(label_set)} of {store.path}")
    if not con.execute("from cutoffs where k = $1", [k]).fetchall():
        raise UsageError(
            f"k = {k} is not among the cutoffs of {store.path}: `rankroom rescore -k {k}` adds it"
        )
    scored = {
        run for (run,) in con.execute("select run from scorings where label_set = $1", [label_set]).fetchall()
    }
    for run in runs:
        if run not in scored:
            raise UsageError(f"there is no run named {clip(run)} with scores under {clip(label_set)}")


def _score(con: duckdb.DuckDBPyConnection, label_set: str, k: int) -> None:
    con.execute("delete from cutoffs; insert into cutoffs select $k::integer", {"k": k})
    con.execute("insert into run_stages values ($run, 'final', 1, null)", {"run": STAND_IN})
    con.execute(
        "create or replace temp view ranked_input as"
        " select stage, query_id, doc_id, -rank::double as key, score from rankings where false"
    )
    scoring.prepare_labels(con, label_set, [k])
    scoring.score_run(con, STAND_IN, label_set, keep=None, depth=None)


CHOSEN = """(
    select run from scorings
    where label_set = $label_set and ($all_runs or list_contains($runs::varchar[], run))
)"""
OF_LABELS = "(select {} from label_sets where label_set = $label_set)"

# Each run as a query: its name is the query's id.
COPIES = {
    "label_sets": "from label_sets where label_set = $label_set",
    "query_sets": f"from query_sets where query_set = {OF_LABELS.format('query_set')}",
    "queries": f"""
        select queries.query_set, chosen.run as query_id, queries.groups, false as must_pass
        from queries cross join {CHOSEN} as chosen
        where queries.query_id = $query
          and queries.query_set = {OF_LABELS.format("query_set")}
    """,
    "labels": f"""
        select disputed.label_set, chosen.run as query_id, disputed.doc_id, disputed.grade, disputed.no_answer
        from (
            select label_set, doc_id, grade, no_answer from labels
            where label_set = $label_set and query_id = $query and doc_id is distinct from $doc
            union all
            select $label_set, $doc, $grade::integer, false where $grade::integer is not null
        ) as disputed cross join {CHOSEN} as chosen
    """,
    "run_queries": f"""
        select '{STAND_IN}' as run, run as query_id, status, abstained
        from run_queries semi join {CHOSEN} as chosen using (run) where query_id = $query
    """,
    "ranking_lengths": f"""
        select '{STAND_IN}' as run, stage, run as query_id, num_returned
        from ranking_lengths semi join {CHOSEN} as chosen using (run)
        where query_id = $query and stage = 'final'
    """,
    "rankings": f"""
        select '{STAND_IN}' as run, stage, run as query_id, rank, doc_id
        from rankings semi join {CHOSEN} as chosen using (run)
        where query_id = $query and stage = 'final'
    """,
    "documents": f"""
        select collection, doc_id, groups from documents
        where groups is not null and collection = {OF_LABELS.format("collection")}
    """,
}
