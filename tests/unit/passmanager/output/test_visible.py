"""visible: control characters as escapes."""

from __future__ import annotations

from support.tables import table_test

from passline.passmanager.output.visible import excerpt_of, visible


@table_test(
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


def test_short_line_is_whole_and_tabs_stay() -> None:
    assert excerpt_of("\ta, b", 4, 5) == ["\ta, b", "\t   ^"]


def test_at_least_one_caret() -> None:
    assert excerpt_of("ab", 2, 2) == ["ab", "  ^"]


@table_test("before", [0, 5, 79, 80, 81, 10**6])
@table_test("after", [0, 5, 200, 10**6])
def test_long_line_is_shown_in_part_and_the_carets_are_below_the_word(
    before: int, after: int
) -> None:
    line, carets = excerpt_of("." * before + "HERE" + "," * after, before, before + 4)
    assert len(line) <= 166 and len(carets) <= len(line)
    assert [c for c, mark in zip(line, carets) if mark == "^"] == list("HERE")
    assert line.rstrip(".").endswith((",", "HERE"))


def test_long_word_is_marked_as_far_as_it_is_shown() -> None:
    line, carets = excerpt_of("x" * 1000, 0, 1000)
    assert line == "x" * 160 + "..." and len(carets) == len(line)
