"""One legend for all charts of a page: each run with its colour and its shape."""

from __future__ import annotations

import streamlit as st

from panels import chart_style
from panels.markup import escaped


def show_runs(runs: list[str], others: int = 0) -> None:
    """The runs that are drawn in colour, and how many stand behind them in grey."""
    signs = zip(chart_style.RUN_COLOURS, chart_style.RUN_GLYPHS, strict=True)
    parts = [_part(f"color:{colour}", glyph, run) for run, (colour, glyph) in zip(runs, signs, strict=False)]
    if others > 0:
        noun = "other run" if others == 1 else "other runs"
        parts.append(_part(f"color:{chart_style.UNDECIDED}", "—", f"{others} {noun}"))
    _show(parts)


def show_series(names: list[str], others: int = 0) -> None:
    """The series of runs that are drawn in colour, and how many stand behind them in grey."""
    signs = zip(chart_style.SERIES_COLOURS, chart_style.RUN_GLYPHS, strict=True)
    parts = [
        _part(f"color:{colour}", glyph, name) for name, (colour, glyph) in zip(names, signs, strict=False)
    ]
    if others > 0:
        parts.append(_part(f"color:{chart_style.UNDECIDED}", "—", f"{others} other series"))
    _show([escaped("series:"), *parts])


def show_fills(fills: dict[str, str], title: str) -> None:
    """What each fill of a bar stands for, in the order of the bar."""
    box = "display:inline-block;width:.8em;height:.8em;border:1px solid;border-color:"
    parts = [
        _part(f"{box}{chart_style.UNDECIDED};background:{colour}", "", name) for name, colour in fills.items()
    ]
    _show([escaped(title), *parts])


def _part(style: str, sign: str, name: str) -> str:
    return (
        f'<span style="overflow-wrap:anywhere"><span aria-hidden="true" style="{style}">{sign}</span> '
        f"{escaped(name)}</span>"
    )


def _show(parts: list[str]) -> None:
    st.html(
        f'<div style="display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.9rem">{"".join(parts)}</div>'
    )
