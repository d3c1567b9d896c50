"""The options of a pass: described from its fields, filled from values and from text."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum, StrEnum, auto
from typing import Literal

import pytest
from support.passes.toy import Append, Nothing
from support.tables import table_test
from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from passline.passes import PASSES, REPLACEMENTS
from passline.passmanager import PipelineSyntaxError
from passline.passmanager.option_text import OptionText, from_text
from passline.passmanager.options import (
    PassOption,
    alternatives,
    find_option,
    from_value,
    options_text,
    pass_options,
    pass_text,
    to_text,
)
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import installed


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


class Mode(Enum):
    FAST = auto()
    EXACT = auto()


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass(frozen=True)
class Settings:
    """Options that belong to no pass."""

    size: int
    """Required."""
    max_steps: int = field(default=8, metadata={"help": "how far to go"})
    names: tuple[str, ...] = field(default_factory=tuple[str, ...])
    derived: int = field(default=0, init=False)


@dataclass(frozen=True)
class Foreign(xdsl_passes.ModulePass):
    """A pass of another project."""

    name = "foreign"

    limit: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


def text(*values: str) -> list[OptionText]:
    """The values as they stand without quotes."""
    return [OptionText(value) for value in values]


def quoted(*values: str) -> list[OptionText]:
    return [OptionText(value, quoted=True) for value in values]


# Description


def test_options_are_the_fields_in_order_with_type_default_and_help() -> None:
    _, steps, names = pass_options(Settings)
    assert steps == PassOption("max_steps", int, 8, "how far to go")
    assert names == PassOption("names", tuple[str, ...], (), "")


def test_field_that_is_no_argument_is_no_option() -> None:
    assert [option.field for option in pass_options(Settings)] == ["size", "max_steps", "names"]


def test_options_of_a_pass_leave_out_its_name() -> None:
    assert [option.field for option in pass_options(Append)] == ["tag"]


def test_foreign_pass_has_options_too() -> None:
    assert pass_options(Foreign) == (PassOption("limit", int | None, None, ""),)


@table_test("cls", [Nothing, int])
def test_class_that_is_no_dataclass_has_no_options(cls: type) -> None:
    assert pass_options(cls) == ()


def test_name_of_an_option_is_in_kebab_case() -> None:
    assert [option.name for option in pass_options(Settings)] == ["size", "max-steps", "names"]


@table_test(("type_", "shown"), [(int, "int"), (int | None, "int | None"), (Colour, "Colour")])
def test_type_as_text(type_: object, shown: str) -> None:
    assert PassOption("f", type_, 0, "").type_text == shown


@table_test("name", ["max-steps", "max_steps"])
def test_option_is_found_with_hyphen_or_underscore(name: str) -> None:
    assert find_option(Settings, name, "p").field == "max_steps"


def test_unknown_option_gets_the_nearest() -> None:
    with pytest.raises(
        ValueError, match="^'p' has no option 'max-step', did you mean 'max-steps'?"
    ):
        find_option(Settings, "max-step", "p")


def test_unknown_option_near_to_none_gets_all() -> None:
    with pytest.raises(ValueError, match="^'p' has no option 'zzz'; its options are size, max-"):
        find_option(Settings, "zzz", "p")


def test_unknown_option_of_a_pass_without_options_says_so() -> None:
    with pytest.raises(ValueError, match="'toy-nothing' has no option 'x'; it has none$"):
        find_option(Nothing, "x", "toy-nothing")


# From values


@table_test(
    ("value", "type_", "expected"),
    [
        (3, int, 3),
        (3, float, 3.0),
        (True, bool, True),
        ("a", str, "a"),
        (None, int | None, None),
        (3, int | None, 3),
        ([1, 2], tuple[int, ...], (1, 2)),
        ((), tuple[int, ...], ()),
        ([1, "a"], tuple[int, str], (1, "a")),
        ([[1], [2, 3]], tuple[tuple[int, ...], ...], ((1,), (2, 3))),
        ("b", Literal["a", "b"], "b"),
        ("red", Colour, Colour.RED),
        (Colour.RED, Colour, Colour.RED),
        ("EXACT", Mode, Mode.EXACT),
        (Mode.EXACT, Mode, Mode.EXACT),
        (2, Level, Level.HIGH),
        (1, float | int, 1),
        (True, int | bool, True),
        (Settings(1), Settings, Settings(1)),
    ],
)
def test_value_of_the_type_is_taken(value: object, type_: object, expected: object) -> None:
    found = from_value(value, type_)
    assert found == expected and type(found) is type(expected)


@table_test(
    ("value", "type_", "expected"),
    [
        ("3", int, "a whole number"),
        (3.0, int, "a whole number"),
        (True, int, "a whole number"),
        (True, float, "a number"),
        (1, bool, "true or false"),
        (1, str, "a string"),
        (None, int, "a whole number"),
        ("ab", tuple[str, ...], r"a list \(each a string\)"),
        ([1, "a"], tuple[int, ...], r"a list \(each a whole number\)"),
        ([1], tuple[int, str], r"\(a whole number, a string\)"),
        ({1, 2}, tuple[int, ...], "a list"),
        ("c", Literal["a", "b"], "one of a, b"),
        (True, Literal[1], "one of 1"),
        (1, Literal[True], "one of true"),
        ("green", Colour, "one of red, dark-blue"),
        (9, Mode, "one of FAST, EXACT"),
        (True, Level, "one of LOW, HIGH"),
        ("x", int | None, "a whole number or none"),
        ({}, Settings, "Settings"),
    ],
)
def test_value_of_another_type_is_an_error(value: object, type_: object, expected: str) -> None:
    with pytest.raises(ValueError, match=f"^expected {expected}.*, got "):
        from_value(value, type_)


# From text


@table_test(
    ("values", "type_", "expected"),
    [
        (text("3"), int, 3),
        (text("-3"), int, -3),
        (text("0x1F"), int, 31),
        (text("1"), float, 1.0),
        (text("1e-5"), float, 1e-5),
        (text("1e5"), float, 1e5),
        (text(".5"), float, 0.5),
        (text("-inf"), float, float("-inf")),
        (text("true"), bool, True),
        (text("False"), bool, False),
        ([], bool, True),
        (text("a"), str, "a"),
        (text("5"), str, "5"),
        (text("true"), str, "true"),
        (text("a.b"), str, "a.b"),
        (text("a/b"), str, "a/b"),
        (quoted(""), str, ""),
        (text("none"), str, "none"),
        (text("none"), str | None, None),
        (quoted("none"), str | None, "none"),
        (text("3"), int | None, 3),
        ([], int | None, None),
        ([], bool | None, True),
        (text("1", "2"), tuple[int, ...], (1, 2)),
        (text("1"), tuple[int, ...], (1,)),
        ([], tuple[int, ...], ()),
        ([], tuple[int, ...] | None, ()),
        (text("none"), tuple[int, ...] | None, None),
        (text("1", "a"), tuple[int, str], (1, "a")),
        (text("none", "1"), tuple[int | None, ...], (None, 1)),
        (text("1", "2.5"), tuple[int | float, ...], (1, 2.5)),
        (text("b"), Literal["a", "b"], "b"),
        (quoted("b"), Literal["a", "b"], "b"),
        (text("2"), Literal[1, 2], 2),
        (text("true"), Literal[True, "auto"], True),
        (text("none"), Literal["a", None], None),
        (text("dark-blue"), Colour, Colour.DARK_BLUE),
        (text("EXACT"), Mode, Mode.EXACT),
        (text("HIGH"), Level, Level.HIGH),
        (text("5"), str | int, 5),
        (quoted("5"), str | int, "5"),
        (text("5"), float | int, 5),
        (text("1.5"), str | float, 1.5),
        (text("5.0"), int | float, 5.0),
        (text("auto"), Literal["auto"] | int, "auto"),
        (text("7"), Literal["auto"] | int, 7),
    ],
)
def test_text_of_the_type_is_read(
    values: list[OptionText], type_: object, expected: object
) -> None:
    found = from_text(values, type_)
    assert found == expected and type(found) is type(expected)


@table_test(
    ("values", "type_", "message"),
    [
        (text("true"), int, "expected a whole number, got true"),
        (text("1.5"), int, "expected a whole number, got 1.5"),
        (quoted("1"), int, 'expected a whole number, got "1"'),
        ([], int, "expected a whole number, got no value"),
        (text("1", "2"), int, "expected a whole number, got 1,2"),
        (text("x"), float, "expected a number, got x"),
        ([], float, "expected a number, got no value"),
        (text("2"), bool, "expected true or false, got 2"),
        (quoted("true"), bool, 'expected true or false, got "true"'),
        ([], str, "expected a string, got no value"),
        (text("a", "b"), str, "expected a string, got a,b"),
        (text("none"), int, "expected a whole number, got none"),
        (text("x"), int | None, "expected a whole number or none, got x"),
        (text("1", "x"), tuple[int, ...], "expected a list (each a whole number), got 1,x"),
        (text("1"), tuple[int, int], "expected (a whole number, a whole number), got 1"),
        (text("c"), Literal["a", "b"], "expected one of a, b, got c"),
        (text("RED"), Colour, "expected one of red, dark-blue, got RED"),
        (text("fast"), Mode, "expected one of FAST, EXACT, got fast"),
        (text("x"), Settings, "expected Settings, got x"),
    ],
)
def test_text_of_another_type_is_an_error(
    values: list[OptionText], type_: object, message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        from_text(values, type_)
    assert str(caught.value) == message


# To text


@table_test(
    ("value", "expected"),
    [
        (None, "none"),
        (True, "true"),
        (-3, "-3"),
        (1e-5, "1e-05"),
        ("a", '"a"'),
        ('say "\\"', r'"say \"\\\""'),
        ("a\n\tb", r'"a\n\tb"'),
        ("ä", '"ä"'),
        ((), ""),
        ((1, None, "x"), '1,none,"x"'),
        (Colour.DARK_BLUE, '"dark-blue"'),
        (Mode.EXACT, "EXACT"),
        (Level.HIGH, "HIGH"),
    ],
)
def test_value_as_text(value: object, expected: str) -> None:
    assert to_text(value) == expected


def test_options_at_their_defaults_are_not_shown() -> None:
    assert pass_text(Append()) == "toy-append"


def test_options_that_were_set_are_shown() -> None:
    assert pass_text(Append("y")) == 'toy-append{tag="y"}'


def test_required_options_are_always_shown() -> None:
    assert options_text(Settings(1)) == "{size=1}"


def test_defaults_are_shown_on_request() -> None:
    assert options_text(Settings(1), defaults=True) == "{size=1 max-steps=8 names={}}"


def test_foreign_pass_as_text() -> None:
    assert pass_text(Foreign(3)) == "foreign{limit=3}"


def test_pass_without_options_as_text() -> None:
    assert pass_text(Nothing()) == "toy-nothing"


# The least value


@dataclass(frozen=True)
class Bounded(Nothing):
    """A pass whose numbers have least values."""

    name = "toy-bounded"

    limit: int = field(default=5, metadata={"minimum": 0})
    maybe: int | None = field(default=None, metadata={"minimum": 1})
    layers: tuple[int, ...] = field(default=(), metadata={"minimum": 0})
    scale: float = field(default=1.0, metadata={"minimum": 0})


@table_test(
    ("text", "message"),
    [
        ("limit=-5", "option 'limit' of 'toy-bounded': expected 0 or more, got -5"),
        ("maybe=0", "option 'maybe' of 'toy-bounded': expected 1 or more, got 0"),
        ("layers=3,-1", "option 'layers' of 'toy-bounded': expected 0 or more, got -1"),
        ("scale=nan", "option 'scale' of 'toy-bounded': expected 0 or more, got nan"),
    ],
)
def test_number_below_the_least_value(text: str, message: str) -> None:
    with pytest.raises(PipelineSyntaxError) as caught:
        parse_pipeline(f"toy-bounded{{{text}}}", {"toy-bounded": lambda: Bounded})
    assert caught.value.message == message


def test_least_values_are_allowed() -> None:
    text = "toy-bounded{limit=0 maybe=1 layers=0,7 scale=0}"
    pipeline = parse_pipeline(text, {"toy-bounded": lambda: Bounded})
    assert pipeline.passes == (Bounded(0, 1, (0, 7), 0.0),)


def test_number_below_the_least_value_in_python() -> None:
    with pytest.raises(ValueError, match="option limit: expected 0 or more, got -5"):
        Bounded(-5).info
    assert Bounded(maybe=None).info.text == "toy-bounded"


@table_test("text", ["1" * 6000, "0x" + "f" * 6000, "-" + "9" * 5000])
def test_number_with_too_many_digits(text: str) -> None:
    with pytest.raises(ValueError, match="expected a whole number, got ") as caught:
        from_text([OptionText(text)], int)
    assert len(str(caught.value)) < 200 and f"({len(text)} characters)" in str(caught.value)


def test_all_limits_of_our_passes_refuse_less_than_nothing() -> None:
    refused: list[str] = []
    available = {**installed().passes, **REPLACEMENTS}
    for name in (*PASSES, *REPLACEMENTS):
        for option in pass_options(available[name]()):
            if int in alternatives(option.type):
                with pytest.raises(PipelineSyntaxError, match="or more, got -5"):
                    parse_pipeline(f"{name}{{{option.name}=-5}}", available)
                refused.append(option.name)
    assert {"max-elements", "max-num-rewrites", "stack-bytes", "max-depth"} <= set(refused)
