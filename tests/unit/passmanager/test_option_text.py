"""The text of option values: quotes, brackets, lists, and options in options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import pytest
from support.tables import table_test

from passline.passmanager.option_text import OptionReader, OptionText, from_text
from passline.passmanager.options import to_text


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True)
class Tile:
    """The options of one of several tiles."""

    size: Size = Size.SMALL
    sizes: tuple[int, ...] = ()
    name: str = ""
    inner: tuple[int, ...] | None = None


def read(text: str, type_: object) -> object:
    """Return the value of the option `x` in `{x=text}`."""
    (option,) = OptionReader(f"{{x={text}}}").options()
    return from_text(option.values, type_)


@table_test(
    ("text", "expected"),
    [
        ('"a b"', "a b"),
        ("{a b}", "a b"),
        ("{ a  b }", "a  b"),
        ("a", "a"),
        ('a"b c"d', 'a"b c"d'),
        ("f(x,y)", "f(x,y)"),
        ("func.func(cse, canonicalize)", "func.func(cse, canonicalize)"),
        ('p{a=1 b=" {} " c=true}', 'p{a=1 b=" {} " c=true}'),
        ("{p{a=1},q[1, 2]}", "p{a=1},q[1, 2]"),
        ('"}"', "}"),
        ("", ""),
        ("{}", ""),
    ],
)
def test_string(text: str, expected: str) -> None:
    assert read(text, str) == expected


@table_test(
    ("text", "type_", "expected"),
    [
        ("1", bool, True),
        ("0", bool, False),
        ("1", bool | int, 1),
        ("{3}", int, 3),
        ("{1, 2}", tuple[int, ...], (1, 2)),
        ("{}", tuple[int, ...], ()),
        ("", tuple[int, ...], ()),
        ("{1},2,{3,4}", tuple[int, ...], (1, 2, 3, 4)),
        ('{""}', tuple[str, ...], ("",)),
        ("{,}", tuple[str, ...], ("", "")),
        ('{"",}', tuple[str, ...], ("", "")),
        ("{a b,c}", tuple[str, ...], ("a b", "c")),
        ("{p(a,b),q{c,d}}", tuple[str, ...], ("p(a,b)", "q{c,d}")),
        ("{1,2},{3}", tuple[tuple[int, ...], ...], ((1, 2), (3,))),
        ("{{1,2},{}}", tuple[tuple[int, ...], ...], ((1, 2), ())),
    ],
)
def test_list_and_numbers(text: str, type_: object, expected: object) -> None:
    assert read(text, type_) == expected


ONE, TWO = Tile(Size.LARGE, (1, 2), "a b"), Tile(name="z", inner=(4,))


@table_test(
    ("text", "expected"),
    [
        ("{size=large sizes={1,2} name={a b}}", (ONE,)),
        ("{{size=large, sizes=1,2, name={a b}},{inner=4 name=z}}", (ONE, TWO)),
        ('{size=large sizes=1 sizes=2 name="a b"},{name=z inner={4}}', (ONE, TWO)),
        ("{{}}", (Tile(),)),
        ("{}", ()),
    ],
)
def test_list_of_options(text: str, expected: object) -> None:
    assert read(text, tuple[Tile, ...]) == expected


@table_test(
    ("value", "text"),
    [
        ((ONE, TWO), '{{size="large" sizes=1,2 name="a b"},{name="z" inner=4}}'),
        ((Tile(),), "{{}}"),
        (((1, 2), (3,), ()), "{{1,2},{3},{}}"),
        ((("",),), '{{""}}'),
    ],
)
def test_what_is_printed_is_read_back(value: tuple[object, ...], text: str) -> None:
    assert to_text(value) == text
    item = Tile if isinstance(value[0], Tile) else tuple[str, ...]
    plain = value if item is Tile or value == (("",),) else (("1", "2"), ("3",), ())
    assert read(text, tuple[item, ...]) == plain


def test_error_in_an_option_of_an_option() -> None:
    with pytest.raises(ValueError, match=r"got \{sise=large\} \(.* has no option 'sise', did you"):
        read("{sise=large}", Tile)


def test_value_as_a_message_shows_it() -> None:
    texts = [OptionText("a"), OptionText("a b", quoted=True), OptionText("c d", braced=True)]
    assert [*map(str, texts)] == ["a", '"a b"', "{c d}"]
