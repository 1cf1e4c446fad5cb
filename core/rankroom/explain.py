"""What happened to one query in one run: for `rankroom explain`, as data and as text for a ticket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from rankroom.errors import NotComparable, UsageError
from rankroom.faults import clip
from rankroom.output import rows
from rankroom.printable import one_line
from rankroom.resources import sql
from rankroom.show import scores_at
from rankroom.store import Store

METRICS = ("ndcg", "hit", "recall", "precision", "rr", "complete")
LONGEST_ANSWER = 2_000
OUTCOMES = {
    "left_out": "the run has no line for it",
    "empty": "it returned nothing",
    "error": "it failed",
    "timeout": "it timed out",
}
HOW_LOST = {
    "not_retrieved": "never retrieved",
    "dropped": "dropped",
    "beyond_cut": "below the cut",
    "not_kept": "not in the part that was kept",
    "error": "the query failed",
    "not_run": "the query was not run",
}


def explanation(store: Store, run: str, query: str, k: int = 5, against: str | None = None) -> dict[str, Any]:
    """All that the store knows of a query in a run at k, beside a baseline if one is named."""
    mine = _at_k(store, run, query, k)
    base = None if against is None else _at_k(store, against, query, k)
    if base and base["label_set"] != mine["label_set"]:
        raise NotComparable(
            f"run {clip(run)} has its labels from {mine['label_set']} and run {clip(str(against))} from"
            f" {base['label_set']}: they cannot be held against each other"
        )
    about = {"run": run, "query_id": query, "label_set": mine["label_set"]}
    with store.read() as con:
        (asked,) = rows(con, sql("explain/query.sql"), about)
        if not (asked.pop("in_query_set") or asked["labelled"] or asked["status"] != "left_out"):
            raise UsageError(
                f"there is no query {clip(query)} in {mine['label_set'].rpartition('@')[0]} of {store.path}"
            )
        results = rows(con, sql("explain/results.sql"), about | {"against": against, "k": k})
        evidence = rows(con, sql("explain/evidence.sql"), about)
        notes = _notes(con, run, query)
    lost = {row["doc_id"]: row for row in mine.pop("lost")}
    for label in evidence:
        label["lost"] = lost.get(label["doc_id"])
    if against is None:
        for result in results:
            del result["baseline_rank"]
    return {
        "run": run,
        "against": against,
        "k": k,
        **mine,
        "query": asked,
        "evidence": evidence,
        "results": results,
        "baseline": base,
        "notes": notes,
    }


def _at_k(store: Store, run: str, query: str, k: int) -> dict[str, Any]:
    """Why a query fails at k, where its evidence was lost, and its metrics."""
    with scores_at(store, run, k) as con:
        at_k: dict[str, Any] = {"run": run, "query_id": query, "k": k}
        ((label_set,),) = con.execute("select labels_for($run, null)", {"run": run}).fetchall()
        where = "where run = $run and query_id = $query_id and k = $k"
        failure = rows(con, f"select class, also, fact, missing from failures {where}", at_k)
        metrics = rows(
            con,
            "select s.* exclude (run, stage, label_set, query_id, k), u.first_relevant_rank, u.num_returned"
            " from query_scores s join query_scores_uncut u using (run, label_set, query_id)"
            " where run = $run and query_id = $query_id and k = $k",
            at_k,
        )
        lost = rows(
            con,
            f"select doc_id, stage, how, rank from lost_evidence {where}"
            " qualify row_number() over (partition by doc_id order by position) = 1 order by doc_id",
            at_k,
        )
    return {
        "label_set": label_set,
        "failure": failure[0] if failure else None,
        "metrics": metrics[0] if metrics else None,
        "lost": lost,
    }


def _notes(con: duckdb.DuckDBPyConnection, run: str, query: str) -> list[dict[str, Any]]:
    return rows(
        con,
        """
        select n.* exclude (query_set_name, query_id)
        from notes as n
        join query_sets as s on s.name = n.query_set_name
        join runs as r on r.query_set = s.query_set
        where r.run = $run and n.query_id = $query
        order by n.annotated_at
        """,
        {"run": run, "query": query},
    )


def as_text(report: Mapping[str, Any]) -> Iterator[str]:
    """The explanation as lines of text, in which nothing from data moves a cursor or breaks a line."""
    yield from _about(report)
    yield from _section("Evidence", _evidence(report))
    yield from _section(f"First {report['k']} results", _results(report))
    if report["against"]:
        yield from _section(f"Against {one_line(report['against'])}", _against(report))
    yield from _section("Metrics", _metrics(report))
    yield from _section("Answer", _answer(report["query"]))
    yield from _section("Notes", _notes_said(report["notes"]))


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    """A title over its lines; nothing where there are none."""
    said = [one_line(line) for line in lines]
    if said:
        yield ""
        yield title
        yield from (f"  {line}" for line in said)


def _about(report: Mapping[str, Any]) -> Iterator[str]:
    query = report["query"]
    yield one_line(f"Query {query['query_id']} in {report['run']} at k = {report['k']}")
    if query["text"]:
        yield one_line(f"  {query['text']}")
    said = [f"{name} {query[name]}" for name in ("category", "language", "split") if query[name] is not None]
    said += [f"tags {', '.join(query['tags'])}"] if query["tags"] else []
    said += ["must pass"] if query["must_pass"] else []
    if query["groups"] is not None:
        said.append(f"asked by a user in {', '.join(query['groups']) or 'no group'}")
    said += [f"{name} {value}" for name, value in (query["attributes"] or {}).items()]
    said += [f"labels {report['label_set']}"]
    yield one_line(f"  {'; '.join(said)}")
    failure, metrics = report["failure"], report["metrics"]
    if failure:
        also = f" (also {', '.join(failure['also'])})" if failure["also"] else ""
        yield one_line(f"  {failure['class']}: {failure['fact']}{also}")
    elif metrics is None:
        yield "  it has no labels: it is outside every mean"
    elif metrics["num_relevant"] == 0:
        yield "  it does not fail: by the labels nothing that its user may read answers it, and it abstained"
    else:
        yield "  it does not fail"


def _evidence(report: Mapping[str, Any]) -> Iterator[str]:
    k = report["k"]
    for label in report["evidence"]:
        kind = "relevant" if label["relevant"] else "not relevant"
        kind += "" if label["readable"] else ", its user may not read it"
        title = f" {label['title']}" if label["title"] else ""
        yield f"{label['doc_id']}{title} (grade {label['grade']}, {kind})"
        if label["rationale"]:
            yield f"    why: {label['rationale']}"
        if label["relevant"]:
            yield f"    {_way(label['ranks'], k)}"
        if lost := label["lost"]:
            at = "" if lost["rank"] is None else f" at rank {lost['rank']}"
            yield f"    lost at {lost['stage']}: {HOW_LOST[lost['how']]}{at}"
    if not report["evidence"] and report["query"]["labelled"]:
        yield "none: it was reviewed, and nothing answers it"


def _way(ranks: Sequence[Mapping[str, Any]], k: int) -> str:
    """A document's rank at every stage, with the stage's cut."""
    said = []
    for at in ranks:
        cut = k if at["stage"] == "final" else at["cut"]
        below = at["rank"] is not None and cut is not None and at["rank"] > cut
        rank = "–" if at["rank"] is None else f"{at['rank']}"
        said.append(f"{at['stage']} {rank}" + (f" (cut {cut})" if below else ""))
    return " → ".join(said)


def _results(report: Mapping[str, Any]) -> Iterator[str]:
    came = [row for row in report["results"] if row["rank"] is not None and row["rank"] <= report["k"]]
    for row in came:
        yield f"{row['rank']:>3}  {_marked(row)}"
    status = report["query"]["status"]
    if status != "ok":
        error = report["query"]["error"]
        yield OUTCOMES.get(status, status) + (f": {error}" if error else "")
    elif not came:
        yield OUTCOMES["empty"]


def _marked(row: Mapping[str, Any]) -> str:
    grade = "" if row["grade"] is None or row["mark"] == "forbidden" else f", grade {row['grade']}"
    title = f" {row['title']}" if row["title"] else ""
    return f"{row['doc_id']}{title} [{row['mark']}{grade}]"


def _against(report: Mapping[str, Any]) -> Iterator[str]:
    """What moved, what came and what went, and what the baseline made of the query."""
    base, k = report["baseline"], report["k"]
    failure = base["failure"]
    yield f"there: {failure['class']}: {failure['fact']}" if failure else "there it does not fail"
    for row in report["results"]:
        was, now = row["baseline_rank"], row["rank"]
        if was != now:
            yield f"{_rank(was)} → {_rank(now)}  {_marked(row)}{_moved(was, now, k)}"
    for name in METRICS:
        was, now = ((side["metrics"] or {}).get(name) for side in (base, report))
        if was is not None and now is not None and was != now:
            yield f"{name}@{k} {was:.3f} → {now:.3f} ({now - was:+.3f})"


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _moved(was: int | None, now: int | None, k: int) -> str:
    was_in, is_in = was is not None and was <= k, now is not None and now <= k
    if was_in == is_in:
        return ""
    return f"  entered the first {k}" if is_in else f"  left the first {k}"


def _metrics(report: Mapping[str, Any]) -> Iterator[str]:
    metrics, query = report["metrics"], report["query"]
    if metrics:
        values = [
            f"{name}@{report['k']} {metrics[name]:.3f}" for name in METRICS if metrics[name] is not None
        ]
        if values:
            yield ", ".join(values)
        first = metrics["first_relevant_rank"]
        found = f"first relevant rank {first}, " if first is not None else ""
        yield (
            f"{found}{metrics['num_returned']:,} returned, {metrics['num_relevant']:,} relevant,"
            f" {metrics['leaks']:,} that its user may not read"
        )
    took = [f"{query['latency_ms']:,.0f} ms"] if query["latency_ms"] is not None else []
    took += [f"{query['context_tokens']:,} tokens of context"] if query["context_tokens"] is not None else []
    if took:
        yield ", ".join(took)


def _answer(query: Mapping[str, Any]) -> Iterator[str]:
    if query["abstained"]:
        yield "it declined to answer"
    if query["answer"]:
        yield clip(query["answer"], LONGEST_ANSWER)
    if query["answer_scores"]:
        yield ", ".join(f"{name} {value:.3g}" for name, value in query["answer_scores"].items())


def _notes_said(notes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for note in notes:
        about = f"in {note['run']}" if note["run"] else "in every run"
        if note["doc_id"]:
            wanted = "no label" if note["dispute"] == "no_label" else f"grade {note['disputed_grade']}"
            about = f"label of {note['doc_id']}" + (f", should be {wanted}" if note["dispute"] else "")
        said = [part for part in (note["cause"], note["note"]) if part]
        said += [f"with {note['owner']}"] if note["owner"] else []
        when = f"{note['who']}, {note['annotated_at']:%Y-%m-%d}"
        yield f"{note['state']} ({about}): {'; '.join(said) or '–'} ({when})"
