"""Text from data, made fit for a terminal: what could move the cursor, colour or hide is shown escaped."""

from __future__ import annotations

import re

UNFIT = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
)
"""Control characters, those that turn the direction of writing, and halves of surrogate pairs."""

IN_LINES = re.compile(f"[{UNFIT}]")
IN_A_LINE = re.compile(f"[{UNFIT}\n]")


def one_line(text: object) -> str:
    r"""The text on one line: a line break becomes \n, an escape character \x1b, and so on."""
    return IN_A_LINE.sub(_escape, str(text))


def lines(text: object) -> str:
    """The same for a text of our own making that may have several lines."""
    return IN_LINES.sub(_escape, str(text))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
