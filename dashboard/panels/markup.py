"""HTML of which every piece that comes from data is escaped: it is shown and never interpreted."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from panels import marked_text

STYLE = f"<style>{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>"

SHORT = 260
"""Characters of a document's text that are shown before it is opened."""


def escaped(value: object) -> str:
    """Data as HTML text, its direction kept to itself."""
    return f"<bdi>{html.escape(str(value))}</bdi>"


def paragraph(text: object, css_class: str) -> str:
    """A piece of data as a paragraph."""
    return f'{STYLE}<p class="{css_class}" dir="auto">{html.escape(str(text))}</p>'


def facts_line(facts: Iterable[tuple[str, object]]) -> str:
    """Names with their values, on as many lines as they need."""
    parts = "".join(
        f"<div>{f'<span>{escaped(name)}</span> ' if name else ''}<b>{escaped(value)}</b></div>"
        for name, value in facts
    )
    return f'{STYLE}<div class="rr-facts">{parts}</div>'


def mark(kind: str, label: str) -> str:
    """What a document is to the query's user: a sign and a word, the colour only repeats it."""
    sign = {"relevant": "●", "other": "○", "unlabelled": "◌", "forbidden": "🔒"}[kind]
    return f'<span class="rr-mark {kind}"><span aria-hidden="true">{sign}</span> {html.escape(label)}</span>'


READ = 2000
"""Characters of a document's text that a list holds at all."""


def item(
    kind: str,
    lead: str,
    label: str,
    doc: Mapping[str, Any],
    notes: str = "",
    score: str = "",
    query: str = "",
) -> str:
    """A document in a list: its rank or sign, what it is, its title and id, its text, remarks."""
    head = f'<span class="rr-id">{escaped(doc["doc_id"])}</span>'
    if doc["title"]:
        head = f'<span class="rr-title">{escaped(doc["title"])}</span> {head}'
    return (
        f'<div class="rr-item {kind}" role="listitem"><div class="rr-rank">{html.escape(lead)}</div>'
        f'<div class="rr-doc">{mark(kind, label)}{head}{excerpt(doc["text"], query)}{notes}</div>'
        f'<div class="rr-score">{html.escape(score)}</div></div>'
    )


def excerpt(text: str | None, query: str = "") -> str:
    """The part of a text that has the query's words, marked; the rest opens on demand."""
    if not text:
        return ""
    if len(text) <= SHORT:
        return f'<div class="rr-text" dir="auto">{marked_text.marked(text, query)}</div>'
    start, end = marked_text.window(text, query, SHORT)
    whole = marked_text.marked(text[:READ], query) + (" …" if len(text) > READ else "")
    before, after = "… " if start else "", " …" if end < len(text) else ""
    shown = f"{before}{marked_text.marked(text[start:end], query)}{after}"
    opened = f'<div class="rr-text" dir="auto">{whole}</div>'
    return f'<details><summary dir="auto">{shown}</summary>{opened}</details>'


def note(name: str, value: object) -> str:
    """A remark about a document."""
    return f'<div class="rr-note"><span>{html.escape(name)}</span> {escaped(value)}</div>'


def cut_line(text: str) -> str:
    """A line across a list."""
    return f'<div class="rr-cut" role="separator">{html.escape(text)}</div>'


def listing(name: str, items: Iterable[str]) -> str:
    """A list of documents."""
    return f'{STYLE}<div class="rr-list" role="list" aria-label="{html.escape(name)}">{"".join(items)}</div>'
