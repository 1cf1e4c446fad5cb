"""A comparison as people read it: tables for a terminal, and Markdown to paste into a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankroom.comparison import AccountRow, Comparison
from rankroom.paired import MetricComparison
from rankroom.printable import one_line
from rankroom.verdict_words import interval, metric_name, metric_verdict, signed, verdict

Row = dict[str, Any]

MOST_SETTINGS = 20

OF_MOVES = {
    "entered": "entered the first {k}",
    "up": "moved up inside",
    "down": "moved down inside",
    "left": "left the first {k}",
    "labels": "as they were, other labels",
}


def sentences(comparison: Comparison) -> Iterator[str]:
    """What has to be known before the numbers: the verdict first."""
    yield verdict(comparison)
    if comparison.metrics:
        yield _under(comparison)
        for reason in comparison.reasons:
            yield f"not alike: {reason.sentence}"
    for note in comparison.notes:
        yield note.sentence
    yield from _of_settings(comparison)
    if shared := comparison.identical_candidates:
        yield f"both began with the same candidates in {shared.identical:,} of {shared.of:,} queries"


def _under(comparison: Comparison) -> str:
    said = [f"k = {comparison.k}", f"labels {comparison.label_set}", f"n = {comparison.n:,}"]
    if comparison.split != "all":
        said.append(f"split {comparison.split}")
    if comparison.stage != "final":
        said.append(f"stage {comparison.stage}")
    return ", ".join(said)


def _of_settings(comparison: Comparison) -> Iterator[str]:
    changes = comparison.config_diff
    if changes:
        spelt = "; ".join(
            f"{change.setting}: {_value(change.baseline)} -> {_value(change.candidate)}"
            for change in changes[:MOST_SETTINGS]
        )
        more = f"; and {len(changes) - MOST_SETTINGS} more" if len(changes) > MOST_SETTINGS else ""
        yield f"changed: {spelt}{more}"
    if comparison.one_change:
        yield comparison.one_change
    if comparison.absent_settings and changes:
        yield f"neither names {', '.join(comparison.absent_settings)}"


def _value(value: str | None) -> str:
    return "(not named)" if value is None else value


def metric_rows(comparison: Comparison) -> list[Row]:
    """The metrics, a row each."""
    return [{"metric": metric_name(one.metric, one.k), **_numbers(one)} for one in comparison.metrics]


def slice_rows(comparison: Comparison) -> list[Row]:
    """The slices, a row each; the thin ones say so."""
    several = len({one.metric for one in comparison.slices}) > 1
    return [
        dict(one.slice)
        | ({"metric": metric_name(one.metric, one.k)} if several else {})
        | {"n": one.n}
        | _numbers(one)
        | {"verdict": "thin" if one.thin else metric_verdict(one)}
        for one in comparison.slices
    ]


def _numbers(one: MetricComparison) -> Row:
    return {
        "baseline": one.baseline,
        "candidate": one.candidate,
        "change": signed(one.difference),
        "95 % interval": interval(one),
        "p": _p(one.p),
        "p (Holm)": _p(one.p_holm),
        "won": one.wins,
        "tied": one.ties,
        "lost": one.losses,
        "detectable": detectable(one),
        "verdict": metric_verdict(one),
    }


def detectable(one: MetricComparison) -> float | None:
    """What so many queries show; None where none of them changed, which says nothing of how they vary."""
    return one.detectable if one.ties < one.n else None


def _p(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def account_rows(comparison: Comparison) -> list[Row]:
    """What the change is made of: moves, apart for queries that the baseline hit and those it missed."""
    moves: dict[tuple[bool, str], dict[str, AccountRow]] = {}
    for row in comparison.account:
        moves.setdefault((row.baseline_hit, row.move), {})[row.metric] = row
    return [
        {
            "queries that the baseline": "hit" if hit else "missed",
            "documents": OF_MOVES[move].format(k=comparison.k),
            "how many": by_metric["ndcg"].documents if "ndcg" in by_metric else None,
            "in queries": by_metric["ndcg"].queries if "ndcg" in by_metric else None,
        }
        | {
            metric_name(metric, comparison.k): signed(by_metric[metric].share) if metric in by_metric else "–"
            for metric in ("ndcg", "recall")
        }
        for (hit, move), by_metric in moves.items()
        if move in OF_MOVES and "ndcg" in by_metric
    ]


def markdown(comparison: Comparison) -> str:
    """The comparison as Markdown."""
    first, *others = [_escaped(sentence) for sentence in sentences(comparison)]
    parts = [f"**{first}**", "\n".join(f"- {sentence}" for sentence in others)]
    if comparison.metrics:
        parts.append(_table(metric_rows(comparison)))
    if comparison.slices:
        by = ", ".join(comparison.by)
        parts.append(
            f"By {_escaped(by)}, p corrected over the slices shown:\n\n{_table(slice_rows(comparison))}"
        )
    if comparison.account:
        parts.append(f"What the change is made of:\n\n{_table(account_rows(comparison))}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    right = [isinstance(value, int | float) for value in rows[0].values()]
    lines = [
        "| " + " | ".join(map(_escaped, rows[0])) + " |",
        "|" + "|".join("---:" if number else "---" for number in right) + "|",
    ]
    lines += ["| " + " | ".join(_cell(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else _escaped(value)


def _escaped(text: object) -> str:
    """Text in which names from data are no markup: a run may be called a|b, <b> or $x$."""
    spelt = one_line(text)
    for sign in "\\`*_{}<>#|$~&":
        spelt = spelt.replace(sign, f"\\{sign}")
    return spelt.replace("](", "\\](")  # no link; intervals keep their brackets as they are
