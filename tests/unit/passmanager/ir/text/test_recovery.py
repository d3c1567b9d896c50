"""Several errors of one text."""

from functools import partial

import pytest
from support.tables import table_test
from xdsl.utils.exceptions import ParseError

from passline.passmanager.fast.reading.locating_parser import LocatingParser
from passline.passmanager.fast.reading.memoizing_parser import MemoizingParser
from passline.passmanager.ir.text import parser as parser_module
from passline.passmanager.ir.text.parser import MAX_ERRORS, parse_module, read_with
from passline.passmanager.ir.text.syntax_errors import InvalidText, parse_errors
from passline.passmanager.registry import make_ir_context


@pytest.fixture(params=[LocatingParser, MemoizingParser], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parser_module, "_reader", partial(read_with, request.param))


def lines_of_errors(text: str) -> list[int]:
    with pytest.raises((ParseError, InvalidText)) as info:
        parse_module(make_ir_context(), text, "t.mlir")
    return [error.span.get_location()[1] for error in parse_errors(info.value)]


GOOD = "func.func @good(%x: i32) -> i32 {\n  func.return %x : i32\n}\n"
UNDEFINED = "func.func @undefined() {\n  %x = arith.addi %y, %y : i32\n  func.return\n}\n"
UNKNOWN = "func.func @unknown() {\n  foo.bar\n  func.return\n}\n"
REFUSED = "func.func @refused(%x: i1) {\n  %0 = arith.cmpi x, %x, %x : i1\n  func.return\n}\n"
BLOCK = "func.func @block() {\n  cf.br ^a\n}\n"
STRING = 'func.func @string() {\n  "\n  func.return\n}\n'
ALIAS = "#map = affine_map<(d0) -> (d0)>\n"
USES = GOOD.replace("{", "attributes {a = #map} {")


def indented(text: str) -> str:
    return "module {\n" + "".join(f"  {line}\n" for line in text.splitlines()) + "}\n"


@table_test(
    ("text", "lines"),
    [
        (UNDEFINED + GOOD + UNKNOWN, [2, 9]),
        (UNKNOWN + REFUSED + GOOD + BLOCK + STRING, [2, 6, 13, 16]),
        (REFUSED + GOOD + UNDEFINED, [2, 9]),
        (STRING + UNKNOWN, [2, 6]),
        (UNKNOWN.replace("@", "@ @") + UNDEFINED, [1, 6]),
    ],
)
def test_functions_after_an_error_are_read(text: str, lines: list[int]):
    assert lines_of_errors(text) == lines
    assert lines_of_errors(indented(text)) == [line + 1 for line in lines]


@table_test(
    "text",
    [
        UNKNOWN.removesuffix("}\n") + GOOD,
        UNKNOWN.replace("foo.bar", "foo.bar }") + GOOD,
        UNKNOWN + ALIAS + USES,
        UNDEFINED + GOOD.replace("x", "y"),
        UNKNOWN + indented(GOOD),
    ],
)  # fmt: skip
def test_one_mistake_is_one_error(text: str):
    assert lines_of_errors(text) == [2]


def test_reading_goes_on_at_an_op_that_is_isolated_from_above() -> None:
    # The second line may be wrong because of the first one.
    assert lines_of_errors(f"foo.bar\narith.addi x\n{UNDEFINED}") == [1, 4]


def test_nothing_is_read_after_a_broken_alias():
    assert lines_of_errors(ALIAS.replace("(d0)>", "(d1)>") + USES) == [1]


def test_error_of_a_function_that_an_open_region_holds_is_reported_once():
    assert lines_of_errors(GOOD.removesuffix("}\n") + UNKNOWN + UNDEFINED) == [4, 8]


def test_errors_are_limited():
    assert len(lines_of_errors(UNKNOWN * (MAX_ERRORS + 5))) == MAX_ERRORS
