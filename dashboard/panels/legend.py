"""One legend for all charts of a page: each run with its colour and its shape."""

from __future__ import annotations

import streamlit as st

from panels import chart_style
from panels.markup import escaped


def show(runs: list[str], others: int = 0) -> None:
    """The runs that are drawn in colour, and how many stand behind them in grey."""
    parts = [
        f'<span style="white-space:nowrap"><span aria-hidden="true" style="color:{colour}">{glyph}</span> '
        f"{escaped(run)}</span>"
        for run, colour, glyph in zip(runs, chart_style.RUN_COLOURS, chart_style.RUN_GLYPHS, strict=False)
    ]
    if others > 0:
        noun = "other run" if others == 1 else "other runs"
        parts.append(
            f'<span style="white-space:nowrap"><span aria-hidden="true" '
            f'style="color:{chart_style.UNDECIDED}">—</span> {others} {noun}</span>'
        )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:0.2rem 1.2rem">{"".join(parts)}</div>')
