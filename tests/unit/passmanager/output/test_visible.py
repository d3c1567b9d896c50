"""visible: control characters as escapes."""

from __future__ import annotations

import pytest

from passline.passmanager.diagnostics.excerpt import excerpt_of
from passline.passmanager.output.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é \U0001f600", "plain é \U0001f600"),
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\0\r\x7f\x9b", r"\x00\x0d\x7f\x9b"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_carets_stay_below_what_they_mark() -> None:
    assert excerpt_of("\x1bab", 1, 2) == [r"\x1bab", "    ^"]
    assert excerpt_of("\x1bab", 0, 1) == [r"\x1bab", "^^^^"]
