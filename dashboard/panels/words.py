"""How the dashboard puts things: names of metrics and failures, numbers, and names from data in sentences."""

from __future__ import annotations

import re

METRICS = {
    "ndcg": "NDCG",
    "hit": "hit rate",
    "recall": "recall",
    "precision": "precision",
    "rr": "MRR",
    "ap": "MAP@k",
    "complete": "complete",
    "f1": "F1",
}
"""Metrics that a leaderboard can be ordered by, with the name of their mean."""

SLICED = METRICS | {"ndcg_exp": "NDCG (gain 2^grade - 1)"}
"""Metrics that slices can be looked at by."""

CEILINGS = ("precision", "recall", "complete", "f1", "ap")
"""Metrics whose mean may have a ceiling below 1 under the labels."""

COLUMNS = {
    "n": "Labelled, answerable queries under the filters in force: the denominator of every mean.",
    "ndcg": "Mean NDCG at k: gain = grade, discount 1/log2(rank + 1), ideal over all readable labels.",
    "hit": "Share of queries with a relevant document in the first k.",
    "recall": "Mean share of the relevant documents that stand in the first k.",
    "precision": "Mean of found / k, also where fewer than k came back.",
    "rr": "Mean of 1 / rank of the first relevant document in the first k, 0 if none.",
    "ap": "Mean average precision at k, over all relevant documents.",
    "complete": "Share of queries with all relevant documents in the first k.",
    "f1": "Mean of 2 found / (k + relevant).",
    "judged": "Mean share of the first k that has a label. Where it is low, scores may be the labels' doing.",
    "missed": "Queries without a relevant document in the first k; those left out or failed are among them.",
    "left_out": "Labelled queries that the run has no line for. They score 0.",
    "empty": "Queries that ran and returned nothing. They score 0.",
    "errored": "Queries that ended in an error or a timeout. They score 0.",
    "no_answer": "Queries that nothing answers by the labels. They are outside every mean.",
    "unlabelled": "Queries without any label. They are outside every mean.",
    "leaks": "Documents in the first k that the query's user may not read. 0 is the only good value.",
    "correct_abstention": "Share of the queries without an answer that it declined: 1 is best.",
    "false_abstention": "Share of the queries with an answer that it declined: 0 is best.",
    "latency_p50_ms": "Median latency of the queries that ran to their end and recorded one.",
    "latency_p95_ms": "95 % of the queries that ran to their end, and recorded a latency, took no longer.",
    "context_tokens_mean": "Mean size of the context that reached the prompt, where it was recorded.",
}
"""What the columns of a leaderboard hold."""

FAILURE_CLASSES = {
    "not failing": "does not fail",
    "not_run": "left out of the run",
    "error": "error or timeout",
    "false_abstention": "declined to answer, though an answer exists",
    "empty": "returned nothing",
    "never_retrieved": "never retrieved",
    "below_cutoff": "below the cutoff",
    "partial_evidence": "partial evidence",
    "forbidden_only": "answered from forbidden evidence only",
    "false_answer": "answered, though nothing answers it",
    "leak": "leak",
    "unjudged_on_top": "unlabelled document on top",
}

NOTE_STATES = {
    "open": "open",
    "in_work": "in work",
    "explained": "explained",
    "fixed": "fixed",
    "wont_fix": "won't fix",
    "none": "no note",
}
"""How far a note is."""

MARKS = {
    "relevant": "relevant",
    "other": "labelled not relevant",
    "unlabelled": "unlabelled",
    "forbidden": "forbidden to this user",
}
"""What a retrieved document is to the query's user."""


def metric(name: str, k: int) -> str:
    """The mean of a metric at a cutoff, as people write it: NDCG@5."""
    return f"{SLICED[name]}@{k}"


def failure_class(name: str) -> str:
    """A failure class in plain words."""
    if name.startswith("lost_at_"):
        return f"lost at {name.removeprefix('lost_at_')}"
    return FAILURE_CLASSES.get(name, name.replace("_", " "))


def note_state(name: str) -> str:
    """The state of a note in words."""
    return NOTE_STATES.get(name, name.replace("_", " "))


def class_of(phrase: str) -> str:
    """The failure class that is put so."""
    if phrase.startswith("lost at "):
        return f"lost_at_{phrase.removeprefix('lost at ')}"
    return next((name for name, said in FAILURE_CLASSES.items() if said == phrase), phrase.replace(" ", "_"))


def failure_phrase(name: str) -> str:
    """The same inside Markdown, where the name of a stage comes from data."""
    return (
        f"lost at {quoted(name.removeprefix('lost_at_'))}"
        if name.startswith("lost_at_")
        else failure_class(name)
    )


def number(value: object) -> str:
    """A metric with three decimals; a dash where it has no value."""
    return f"{value:.3f}" if isinstance(value, int | float) else "–"


def signed(value: object) -> str:
    """A difference with three decimals and its sign; a dash where it has no value."""
    if not isinstance(value, int | float):
        return "–"
    return f"{value:+.3f}".replace("-", "−") if f"{abs(value):.3f}" != "0.000" else "0.000"


def clipped(text: object, most: int = 60) -> str:
    """A text on one line, cut where it is longer than there is room for."""
    line = re.sub(r"\s+", " ", str(text)).strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def count(number_of: object, one: str, many: str = "") -> str:
    """A count with its noun: 1 query, 12 queries."""
    return f"{number_of:,} {one if number_of == 1 else many or one + 's'}"


def quoted(name: object) -> str:
    """A name from data inside Markdown: as code, where nothing in it is interpreted."""
    text = re.sub(r"\s+", " ", str(name)).strip() or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def listed(names: list[str], most: int = 3) -> str:
    """Names from data as a phrase: `a`, `b` and 4 more."""
    shown = [quoted(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 2 else shown)
