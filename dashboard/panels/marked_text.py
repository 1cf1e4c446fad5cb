"""A text with the words of a query marked, in any script, as HTML in which all data is escaped.

A word counts as the query's where it is equal to one of the query's words or begins alike (note, notes),
accents,
vowel marks, case and the Arabic article aside. Chinese, Japanese, Thai
and the like put no spaces between words:
there, pairs of characters are looked for.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese: written without spaces between words."""

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
"""Words of English, Spanish, German and French that say nothing about what is asked."""

SHORTEST = 2
STEM = 4
"""Words that share at least so many letters at their beginning may be forms of one word."""

ARABIC_ARTICLES = ("وال", "بال", "كال", "فال", "لل", "ال")


@cache
def _joining() -> str:
    """The characters that belong to the one before them: combining marks and joiners, as a class."""
    marks = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code)).startswith("M")]
    marks += [0x200C, 0x200D, *range(0xE0100, 0xE01F0)]
    return "".join(f"\\U{code:08x}" for code in marks if code <= sys.maxunicode)


@cache
def _pieces() -> re.Pattern[str]:
    """What a text is made of: a character of a script without spaces with its marks, or a word."""
    mark = f"[{_joining()}]*"
    return re.compile(f"(?P<unspaced>[{UNSPACED}]{mark})|(?P<word>(?:[^\\W_{UNSPACED}]{mark})+)")


def folded(text: str) -> str:
    """A word as it is compared: without case, accents, vowel marks and width."""
    plain = unicodedata.normalize("NFKD", text).replace("\u0640", "").casefold()
    return "".join(char for char in plain if not unicodedata.combining(char) and char not in "\u200c\u200d")


def _stem(word: str) -> str:
    for article in ARABIC_ARTICLES:
        if word.startswith(article) and len(word) >= len(article) + 2:
            return word[len(article) :]
    return word


def spans(query: str, text: str) -> list[tuple[int, int]]:
    """Where the words of the query stand in the text: whole words, or runs of characters without spaces."""
    is_word, pairs = _wanted(query)
    found: list[tuple[int, int]] = []
    before: tuple[int, str] | None = None  # the character of an unspaced script that ends here
    for piece in _pieces().finditer(text):
        start, end = piece.span()
        if piece["unspaced"]:
            char = folded(piece["unspaced"])
            if before and before[0] == start and before[1] + char in pairs:
                _add(found, start - _length_before(text, start), end)
            before = (end, char)
        elif is_word(piece["word"]):
            _add(found, start, end)
    return found


def _length_before(text: str, end: int) -> int:
    """How many characters the one that ends here takes, its marks included."""
    start = end - 1
    while start > 0 and unicodedata.category(text[start]).startswith("M"):
        start -= 1
    return end - start


def _add(found: list[tuple[int, int]], start: int, end: int) -> None:
    if found and start <= found[-1][1] and found[-1][1] >= start:
        found[-1] = (min(found[-1][0], start), max(found[-1][1], end))
    else:
        found.append((start, end))


@lru_cache(maxsize=16)
def _wanted(query: str) -> tuple[Callable[[str], bool], frozenset[str]]:
    """Whether a word is one of the query's, and the pairs of characters that are."""
    words: set[str] = set()
    pairs: set[str] = set()
    before: tuple[int, str] | None = None
    for piece in _pieces().finditer(query):
        if piece["unspaced"]:
            char = folded(piece["unspaced"])
            if before and before[0] == piece.start():
                pairs.add(before[1] + char)
            before = (piece.end(), char)
        elif piece["word"].casefold() not in STOP_WORDS:
            word = folded(piece["word"])
            if len(word) >= SHORTEST or word.isdigit():
                words.add(_stem(word))

    @cache
    def is_word(word: str) -> bool:
        word = _stem(folded(word))
        return word in words or any(_alike(word, one) for one in words)

    return is_word, frozenset(pairs)


def _alike(one: str, other: str) -> bool:
    """Whether two words look like forms of one: a common beginning, and short endings."""
    short, long = sorted((len(one), len(other)))
    common = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), short)
    return common >= max(STEM, long - 3)


def marked(text: str, query: str) -> str:
    """The text as HTML, the query's words in `mark` elements."""
    parts, at = [], 0
    for start, end in spans(query, text):
        parts.append(f"{html.escape(text[at:start])}<mark>{html.escape(text[start:end])}</mark>")
        at = end
    return "".join([*parts, html.escape(text[at:])])


def window(text: str, query: str, length: int) -> tuple[int, int]:
    """The part of a long text to show first: its beginning, or around the query's words."""
    if len(text) <= length:
        return 0, len(text)
    at = next(iter(spans(query, text)), (0, 0))[0]
    if at < length * 2 // 3:
        return 0, length
    start = text.rfind(" ", 0, max(at - length // 4, 1)) + 1 or at - length // 4
    return start, min(len(text), start + length)
