"""Where a page has its means from: the summary of a split, or the means of the chosen queries."""

from __future__ import annotations

from panels.filters import ALL, Filters


def source(filters: Filters, at_k: bool = True) -> tuple[str, str]:
    """What stands behind FROM, with the alias `means`, and the condition on it; at every k unless at one."""
    if not filters.by_query:
        return (
            f"{filters.view('run_summary')} as means",
            f"{filters.scope('means', at_k)} and means.split = $split",
        )
    k = "at_k := $k, " if at_k else ""
    stage = "" if filters.stage == "final" else ", stage := $stage"
    return (
        f"means_of({filters.query_ids()},\n              {k}label_set := $label_set{stage}) as means",
        " and ".join(filters.run_conditions("means")),
    )


def join_costs(filters: Filters) -> str:
    """The join that brings latency and context size to each run of `means`, with the alias `costs`."""
    if filters.by_query:
        return f"left join costs_of({filters.query_ids()}) as costs on costs.run = means.run\n"
    split = "'all'" if filters.split == ALL else "$split"
    return f"left join run_costs as costs on costs.run = means.run and costs.split = {split}\n"
