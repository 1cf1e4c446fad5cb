"""The query's words in a text: found in any script, and everything else shown as it is."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels.marked_text import marked, spans, window

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("How do I share a note?", "Notes: share a NOTE, not a notebook.", ["Notes", "share", "NOTE"]),
        ("怎么重置密码", "如何重置密码？重置。密，码", ["重置密码", "重置"]),
        ("共有する", "ノートを共有するには", ["共有する"]),
        ("รหัสผ่าน", "รีเซ็ตรหัสผ่าน", ["รหัสผ่าน"]),
        ("دفتر", "شارك الدَّفْتَرَ مع", ["الدَّفْتَرَ"]),
        ("הגדרות", "פתח את הַגְדָרוֹת", ["הַגְדָרוֹת"]),
        ("cafe\u0301", "caf\u00e9 CAFE\u0301S", ["caf\u00e9", "CAFE\u0301S"]),
        ("Straße", "STRASSE", ["STRASSE"]),
        ("नमस्ते", "नमस्ते दुनिया", ["नमस्ते"]),
        ("plan 7", "Plan 7 or 17", ["Plan", "7"]),
        ("the and of", "the and of", []),
        ("$x$ <b>", "a $x$ <b>b</b>", []),
        ("", "anything", []),
    ],
)
def test_words_of_the_query(query: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in spans(query, text)] == found


def test_hostile_text_stays_text() -> None:
    shown = marked("<script>alert('share')</script> & <mark>", "share script")
    assert shown == (
        "&lt;<mark>script</mark>&gt;alert(&#x27;<mark>share</mark>&#x27;)&lt;/<mark>script</mark>&gt;"
        " &amp; &lt;mark&gt;"
    )


@given(TEXTS, TEXTS)
def test_nothing_is_lost_and_no_sign_is_split(query: str, text: str) -> None:
    shown = marked(text, query)
    assert html.unescape(re.sub("</?mark>", "", shown)) == text
    for start, end in spans(query, text):
        assert start < end
        for at in (start, end):
            assert at == len(text) or not unicodedata.category(text[at]).startswith("M") or at == 0


@given(TEXTS, TEXTS, st.integers(1, 30))
def test_the_part_that_is_shown_first_is_part_of_the_text(query: str, text: str, length: int) -> None:
    start, end = window(text, query, length)
    assert 0 <= start <= end <= len(text)
    assert end - start <= length


def test_the_part_that_is_shown_first_has_the_words() -> None:
    text = "filler " * 200 + "the password is here " + "filler " * 50
    start, end = window(text, "password", 100)
    assert "password" in text[start:end]
