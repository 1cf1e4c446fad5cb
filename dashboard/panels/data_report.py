"""Faults and doubts as tables whose sentences are read in full; whatever comes from data is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from rankroom.faults import Doubt, Fault, clip
from rankroom.printable import one_line

from panels.data_doubts import words_of
from panels.markup import escaped

STYLE = """<style>
.rr-report {overflow-x: auto}
.rr-report table {border-collapse: collapse; width: 100%; font-size: .9rem; line-height: 1.4}
.rr-report th {text-align: left; font-weight: 600; opacity: .74}
.rr-report th, .rr-report td {vertical-align: top; padding: .35rem .9rem .35rem 0;
  border-bottom: 1px solid color-mix(in srgb, currentColor 16%, transparent)}
.rr-report td {overflow-wrap: anywhere; min-width: 5.2rem}
.rr-report td:last-child {min-width: 11rem}
.rr-report .number {min-width: 3rem; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums}
</style>"""

LONGEST = 600
"""Characters of a sentence: some name many things."""


def faults(found: Sequence[Fault]) -> str:
    """What is wrong: file, line, field, value, and what was expected."""
    rows = ((fault.file, fault.line, fault.field, fault.value, fault.expected) for fault in found)
    return _table("Faults", ("file", "line", "field", "value", "what is wrong, or was expected"), rows)


def doubts(found: Sequence[Doubt]) -> str:
    """What is accepted with a doubt, with its count."""
    rows = ((doubt.file, words_of(doubt.kind), doubt.count, doubt.sentence) for doubt in found)
    return _table("Doubts", ("file", "kind", "count", "sentence"), rows)


def _table(name: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(heading)}</th>' for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'{STYLE}<div class="rr-report"><table aria-label="{html.escape(name)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    if value is None:
        return "<td>–</td>"
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{escaped(clip(one_line(value), LONGEST))}</td>"
