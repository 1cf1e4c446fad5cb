"""Whether two runs are alike enough to be compared: only like with like, or the reason is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from rankroom.counted import count, queries
from rankroom.errors import UsageError
from rankroom.output import rows
from rankroom.resources import sql
from rankroom.tables import named_in

RESCORE = "`rankroom rescore` scores every run under the newest labels"


@dataclass(frozen=True)
class Reason:
    """Something that is not the same for two runs."""

    kind: str
    """One of: other_queries, queries_absent, queries_changed, labels, collection; of notes, queries_left_out,
    queries_failed, older_labels, labels_of_other_collection."""
    sentence: str
    count: int | None
    """How many queries, labels or documents; None where it is not known."""


@dataclass(frozen=True)
class Examined:
    """Whether two runs can be compared, under which labels, and on which queries."""

    label_set: str | None
    """The labels that both have scores under; None: there are none."""
    baseline_labels: str | None
    """Labels of its own that were asked for the baseline."""
    reasons: list[Reason]
    """What speaks against a comparison."""
    notes: list[Reason]
    """What should be known all the same."""
    queries: list[str]
    """The ids of the queries that count: labelled, answerable, and among those that were asked for."""
    common: list[str]
    """Those of them that were the same for both runs, and that both have a line for."""

    @property
    def comparable(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons

    @property
    def like_with_like(self) -> bool:
        """The same, where it was asked for that the labels differ."""
        return all(reason.kind == "labels" and self.baseline_labels for reason in self.reasons)


def examine(
    con: duckdb.DuckDBPyConnection,
    baseline: str,
    candidate: str,
    *,
    stage: str = "final",
    label_set: str | None = None,
    baseline_labels: str | None = None,
    split: str = "all",
    queries: Sequence[str] | None = None,
    only_common: bool = False,
) -> Examined:
    """What speaks against comparing two runs, and what they have in common.

    `only_common`: only this is going to be compared, and so what a run left out does not count.
    Runs that are not there, and a stage, a split or a label set that is not, are a UsageError.
    """
    base, cand = _runs(con, baseline, candidate)
    for run in (base, cand):
        if stage not in run["stages"]:
            raise UsageError(f"run {run['run']} has no stage {stage}: it has {', '.join(run['stages'])}")
    check_split(con, [base["query_set"], cand["query_set"]], split)
    if base["query_set_name"] != cand["query_set_name"]:
        sentence = (
            f"{baseline} was asked the queries of {base['query_set_name']}, and {candidate} those of"
            f" {cand['query_set_name']}"
        )
        return Examined(None, None, [Reason("other_queries", sentence, None)], [], [], [])
    labels, reasons, notes = _choose_labels(con, base, cand, label_set)
    own = _own_labels(con, base, labels, baseline_labels)
    if own and labels:
        changed = _changed_labels(con, own, labels)
        sentence = f"{count(changed, 'label')} changed between {own} and {labels}"
        reasons = [Reason("labels", sentence, changed)]
    ids = None if queries is None else list(queries)
    asked = {"base": baseline, "cand": candidate, "labels": labels, "stage": stage}
    (counts,) = rows(con, sql("comparison/queries.sql"), asked | {"split": split, "queries": ids})
    reasons += [*_of_queries(base, cand, counts), *_of_collections(con, base, cand)]
    notes += [*_of_outcomes(base, cand, counts, only_common), *_of_label_collection(con, labels, base, cand)]
    if base is not cand and labels:
        notes += _of_abstention(con, base, cand, asked | {"split": split, "queries": ids})
    common = counts["common_queries"] if labels and _same_ids(base, cand) else []
    return Examined(labels, own, reasons, notes, counts["all_queries"], common)


def _runs(con: duckdb.DuckDBPyConnection, baseline: str, candidate: str) -> list[dict[str, Any]]:
    asked = {"base": baseline, "cand": candidate}
    found = {run["run"]: run for run in rows(con, sql("comparison/runs.sql"), asked)}
    for run in (baseline, candidate):
        if run not in found:
            raise UsageError(f"there is no run named {run}: `rankroom list` names them")
    return [found[baseline], found[candidate]]


def check_split(con: duckdb.DuckDBPyConnection, query_sets: Sequence[str], split: str) -> None:
    """Refuse a split that no query of these has, instead of an answer about nothing."""
    if split == "all":
        return
    known = [
        name
        for (name,) in con.execute(
            "select distinct split from queries where split is not null"
            " and list_contains($query_sets::varchar[], query_set) order by split",
            {"query_sets": list(query_sets)},
        ).fetchall()
    ]
    if split not in known:
        raise UsageError(f"no query has the split {split}: the splits are {', '.join(known) or 'not given'}")


# Labels


def _choose_labels(
    con: duckdb.DuckDBPyConnection, base: dict[str, Any], cand: dict[str, Any], wanted: str | None
) -> tuple[str | None, list[Reason], list[Reason]]:
    """The labels to compare under, and what is to be said of them."""
    ((current,),) = con.execute("select labels_for($run, $wanted)", _known(con, base, wanted)).fetchall()
    without = [run for run in (base, cand) if current not in (run["scored_under"] or [])]
    if wanted is not None and without:
        raise UsageError(f"run {without[0]['run']} has no scores under {wanted}: {RESCORE}")
    if not without:
        return current, [], []
    shared = [name for name in base["scored_under"] or [] if name in (cand["scored_under"] or [])]
    newest = shared[0] if shared else None
    if newest and len({run["run"] for run in without}) == len({base["run"], cand["run"]}):
        sentence = f"the labels {current} are newer than {newest}, under which these are: {RESCORE}"
        return newest, [], [Reason("older_labels", sentence, _changed_labels(con, newest, current))]
    return newest, [_other_labels(con, run, current) for run in without], []


def _own_labels(
    con: duckdb.DuckDBPyConnection, base: dict[str, Any], labels: str | None, own: str | None
) -> str | None:
    """The labels that the baseline is to be taken under, if others than those of the comparison."""
    if own is None:
        return None
    _known(con, base, own)
    if own not in (base["scored_under"] or []):
        raise UsageError(f"run {base['run']} has no scores under {own}: {RESCORE}")
    return None if own == labels else own


def _known(con: duckdb.DuckDBPyConnection, base: dict[str, Any], wanted: str | None) -> dict[str, Any]:
    known = [
        name
        for (name,) in con.execute(
            "select label_set from label_sets join query_sets using (query_set) where query_sets.name = $name"
            " order by label_sets.added_at desc, label_set",
            {"name": base["query_set_name"]},
        ).fetchall()
    ]
    if wanted is not None and wanted not in known:
        raise UsageError(
            f"{base['query_set_name']} has no labels named {wanted}: there are {', '.join(known) or 'none'}"
        )
    return {"run": base["run"], "wanted": wanted}


def _other_labels(con: duckdb.DuckDBPyConnection, run: dict[str, Any], current: str) -> Reason:
    if not run["scored_under"]:
        return Reason("labels", f"{run['run']} has no scores under {current}: {RESCORE}", None)
    own = run["scored_under"][0]
    changed = _changed_labels(con, own, current)
    sentence = (
        f"{count(changed, 'label')} changed: {run['run']} has scores under {own}, and none under {current};"
        f" {RESCORE}"
    )
    return Reason("labels", sentence, changed)


def _changed_labels(con: duckdb.DuckDBPyConnection, old: str, new: str) -> int:
    ((changed,),) = con.execute(
        "select count(*) from label_changes($old, $new) where change <> 'details'", {"old": old, "new": new}
    ).fetchall()
    return int(changed)


# Queries


def _of_queries(base: dict[str, Any], cand: dict[str, Any], counts: dict[str, Any]) -> Iterator[Reason]:
    for run, num in ((base, counts["absent_in_baseline"]), (cand, counts["absent_in_candidate"])):
        if num:
            sentence = f"{queries(num)} absent from {run['query_set']}, which {run['run']} was asked"
            yield Reason("queries_absent", sentence, num)
    if num := counts["changed"]:
        sentence = f"{queries(num)} changed between {base['query_set']} and {cand['query_set']}"
        yield Reason("queries_changed", sentence, num)


def _of_outcomes(
    base: dict[str, Any], cand: dict[str, Any], counts: dict[str, Any], only_common: bool
) -> Iterator[Reason]:
    """A query that a run has no results for counts as 0, which may be the run's fault or the file's."""
    for kind, key, words in (
        ("queries_left_out", "left_out_by", "{run} left out {queries}: {zero}"),
        ("queries_failed", "failed_in", "{queries} failed or timed out in {run}: {zero}"),
    ):
        for run, side in ((base, "baseline"), (cand, "candidate")):
            if (num := counts[f"{key}_{side}"]) and not (side == "candidate" and base is cand):
                if only_common and kind == "queries_left_out":
                    zero = "it is not compared" if num == 1 else "they are not compared"
                else:
                    zero = "it counts as 0" if num == 1 else "they count as 0"
                yield Reason(kind, words.format(run=run["run"], queries=queries(num), zero=zero), num)


def _of_abstention(
    con: duckdb.DuckDBPyConnection, base: dict[str, Any], cand: dict[str, Any], asked: dict[str, Any]
) -> Iterator[Reason]:
    """Whether a run answers is in none of the metrics of its rankings."""
    statement = sql("comparison/abstention.sql")
    for row in rows(con, statement, named_in(statement, asked)):
        have = "has" if row["queries"] == 1 else "have"
        that = f"{have} an answer" if row["answerable"] else "nothing answers"
        of = f"{queries(row['queries'])} that {that}"
        declined = f"{cand['run']} declines {row['by_candidate']:,} and {base['run']} {row['by_baseline']:,}"
        yield Reason("abstention", f"of {of}, {declined}", abs(row["by_candidate"] - row["by_baseline"]))


# Collections


def _of_collections(
    con: duckdb.DuckDBPyConnection, base: dict[str, Any], cand: dict[str, Any]
) -> Iterator[Reason]:
    if _same_collection(base, cand):
        return
    if base["collection_name"] == cand["collection_name"]:
        sentence = (
            f"collection {base['collection_name']} {base['collection_version']} against"
            f" {cand['collection_version']}"
        )
    else:
        sentence = f"collection {base['collection']} against {cand['collection']}"
    num = None
    if base["num_documents"] and cand["num_documents"]:
        asked = {"base": base["collection"], "cand": cand["collection"]}
        ((num,),) = con.execute(sql("comparison/documents.sql"), asked).fetchall()
        sentence += f": {count(num, 'document')} {'is' if num == 1 else 'are'} not the same"
    yield Reason("collection", sentence, num)


def _of_label_collection(
    con: duckdb.DuckDBPyConnection, labels: str | None, base: dict[str, Any], cand: dict[str, Any]
) -> Iterator[Reason]:
    """Both runs searched the same, and the labels are of something else."""
    found = con.execute(
        "select collection from label_sets where label_set = $labels", {"labels": labels}
    ).fetchall()
    if found and base["collection"] == cand["collection"] != found[0][0]:
        sentence = f"both runs searched {base['collection']}, and the labels are about {found[0][0]}"
        yield Reason("labels_of_other_collection", sentence, None)


def _same_collection(base: dict[str, Any], cand: dict[str, Any]) -> bool:
    """One collection, or two versions that hold the same documents."""
    return base["collection"] == cand["collection"] or bool(
        base["num_documents"] and base["collection_hash"] == cand["collection_hash"]
    )


def _same_ids(base: dict[str, Any], cand: dict[str, Any]) -> bool:
    """Whether an id can mean the same document in both: nothing says that it does not."""
    return all(
        base[field] is None or cand[field] is None or base[field] == cand[field]
        for field in ("unit", "id_scheme")
    )
