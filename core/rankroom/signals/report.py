"""What `rankroom signals` says of two runs, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from rankroom.counted import count
from rankroom.signals.finding import Finding, Signals

MOST_QUERIES = 10
"""So many queries of a finding are named; --json names them all."""

WORDS = {"fired": "FIRED", "possible": "possible"}


def lines(signals: Signals) -> Iterator[str]:
    """The findings, or that there is none, and what was looked at."""
    if not signals.comparable:
        yield f"{signals.baseline} and {signals.candidate} cannot be compared, so no rule was tried:"
        yield from (f"  {reason.sentence}" for reason in signals.reasons)
        return
    split = "" if signals.split == "all" else f", split {signals.split}"
    n = count(signals.n, "query", "queries")
    yield (
        f"{signals.candidate} against {signals.baseline} at k = {signals.k}, labels"
        f" {signals.label_set}{split}: {n}"
    )
    for one in signals.findings:
        yield ""
        yield from _finding(one)
    yield ""
    if signals.n:
        yield from _summary(signals)
    else:
        yield "no query is left to look at, so no rule was tried"


def _finding(one: Finding) -> Iterator[str]:
    yield f"{WORDS[one.status]}  {one.id}: {one.title}"
    yield f"  {one.sentence}"
    if one.queries:
        many = count(len(one.queries), "query", "queries")
        named = ", ".join(one.queries[:MOST_QUERIES])
        more = len(one.queries) - MOST_QUERIES
        yield f"  {many}: {named}{f' and {more:,} more' if more > 0 else ''}"
    yield f"  next: {one.look_next}"


def _summary(signals: Signals) -> Iterator[str]:
    fired = sum(one.status == "fired" for one in signals.findings)
    if not signals.findings:
        yield "no signal fires"
    elif not fired:
        yield "no signal fires; what is possible stands above"
    yield f"tried: {', '.join(signals.tried)}"
    for rule, why in signals.not_tried.items():
        yield f"not tried: {rule} ({why})"
