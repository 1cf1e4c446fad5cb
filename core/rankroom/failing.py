"""The failing queries of one run, as `rankroom failures` tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from rankroom.comparability import check_split
from rankroom.errors import UsageError
from rankroom.faults import clip
from rankroom.output import rows
from rankroom.show import scores_at
from rankroom.slicing import check_dimensions
from rankroom.store import Store

CLASSES = (
    "not_run",
    "error",
    "false_abstention",
    "empty",
    "never_retrieved",
    "below_cutoff",
    "partial_evidence",
    "forbidden_only",
    "false_answer",
    "leak",
    "unjudged_on_top",
)
"""Every class but lost_at_STAGE, which a run with stages has for each of its steps up to the final one."""


def failures_report(
    store: Store,
    run: str,
    k: int = 5,
    classes: Sequence[str] = (),
    by: str | None = None,
    split: str = "all",
) -> dict[str, Any]:
    """The failures of a run at k, and how many queries fail for which cause, by a dimension if one is named.

    `classes` picks out those of these first causes (none named: all), `split` the queries of one split. A k
    that the store does not hold is computed for the occasion.
    """
    with scores_at(store, run, k) as con:
        at_k: dict[str, Any] = {"run": run, "k": k, "split": split}
        ((label_set, query_set),) = con.execute(
            "select label_set, query_set from label_sets where label_set = labels_for($run, null)",
            {"run": run},
        ).fetchall()
        check_split(con, [query_set], split)
        _check_classes(con, run, classes)
        if by is not None:
            check_dimensions(con, label_set, [by])
        counts = rows(
            con,
            "from failure_classes($run, $k, sliced_by := $by, in_split := $split)"
            " where $all or list_contains($classes::varchar[], class)"
            " order by slice, num_failing desc, num_also desc, class",
            at_k | {"by": by, "all": not classes, "classes": list(classes)},
        )
        listed = rows(
            con,
            """
            select f.query_id, f.class, f.also, f.fact, q.category, q.language, f.first_relevant_rank,
                   f.missing
            from failures as f
            join label_sets as l on l.label_set = f.label_set
            left join queries as q on q.query_set = l.query_set and q.query_id = f.query_id
            where f.run = $run and f.k = $k and ($all or list_contains($classes::varchar[], f.class))
              and ($split = 'all' or q.split = $split)
            order by count(*) over (partition by f.class) desc, f.class, f.query_id
            """,
            at_k | {"all": not classes, "classes": list(classes)},
        )
        ((num_queries, has_splits),) = con.execute(
            """
            select count(*) filter ($split = 'all' or q.split = $split), count(q.split) > 0
            from query_scores as s
            left join queries as q on q.query_set = $query_set and q.query_id = s.query_id
            where s.run = $run and s.k = $k
            """,
            at_k | {"query_set": query_set},
        ).fetchall()
    return {
        "run": run,
        "k": k,
        "label_set": label_set,
        "by": by,
        "split": split,
        "has_splits": has_splits,
        "classes": list(classes),
        "num_queries": num_queries,
        "counts": counts,
        "failures": listed,
    }


def _check_classes(con: duckdb.DuckDBPyConnection, run: str, classes: Sequence[str]) -> None:
    """Refuse a class that no query of this run could have, instead of an empty list."""
    steps = con.execute(
        "select string_agg(stage, ' + ' order by stage) from run_stages where run = $run"
        " and position <= (select position from run_stages where run = $run and stage = 'final')"
        " group by position order by position",
        {"run": run},
    ).fetchall()
    known = [*CLASSES, *(f"lost_at_{step}" for (step,) in steps[1:])]
    for name in classes:
        if name not in known:
            raise UsageError(f"there is no class {clip(name)} of failures: there are {', '.join(known)}")
