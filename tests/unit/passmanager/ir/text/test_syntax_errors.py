"""What is said about broken text: the same with and without acceleration."""

from functools import partial

import pytest
from support.releases import needs_xdsl
from support.tables import table_test
from xdsl.utils.exceptions import ParseError

from passline.passmanager.diagnostics import Diagnostic, render
from passline.passmanager.fast.reading.locating_parser import LocatingParser
from passline.passmanager.fast.reading.memoizing_parser import MemoizingParser
from passline.passmanager.ir.text import parser as parser_module
from passline.passmanager.ir.text.parser import parse_module, read_with
from passline.passmanager.ir.text.syntax_errors import InvalidText
from passline.passmanager.registry import make_ir_context
from passline.tools.failures import diagnostics_of


@pytest.fixture(params=[LocatingParser, MemoizingParser], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parser_module, "_reader", partial(read_with, request.param))


def headlines(diagnostic: Diagnostic) -> list[str]:
    return [line for line in render(diagnostic).splitlines() if line.startswith("t.mlir")]


def errors_of(text: str, line_offset: int = 0) -> list[str]:
    """Return the first lines of all errors and notes about a text."""
    with pytest.raises((ParseError, InvalidText)) as info:
        parse_module(make_ir_context(), text, "t.mlir", line_offset=line_offset)
    return [line for error in diagnostics_of(info.value) for line in headlines(error)]


def function(*lines: str, parameters: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @f({parameters}) {{\n{body}}}\n"


NAME = "a name has letters from A to Z, digits, and '$', '.', '_', '-'"
ALLOWED = "--allow-unregistered-dialect allows it in generic form"
NUMBER = "a float is written as 1.0 or 1.0e5, a hexadecimal integer as 0x1F"


@table_test(
    ("line", "error"),
    [
        ("%é = foo.bar", f"2:3: error: expected a name after '%', but found 'é': {NAME}"),
        ("% = foo.bar", f"2:3: error: expected a name after '%': {NAME}"),
        ("cf.br ^é", f"2:9: error: expected a name after '^', but found 'é': {NAME}"),
        ("# why", f"2:3: error: expected a name after '#': {NAME}; a comment begins with '//'"),
        ("%0 = arith.constant 1e5 : f32", f"2:23: error: '1e5' is not a number: {NUMBER}"),
        ("%0 = arith.constant 0xZZ : i8", f"2:23: error: '0xZZ' is not a number: {NUMBER}"),
        ("%0 = arith.constant .5 : f32", "2:23: error: a float begins with a digit: 0.5"),
        ("%0 = arith.constant 1 :", "2:26: error: type expected"),
        ("%0 = arith.constant 1 : // of", "2:26: error: type expected"),
        (
            "%0 = arith.constant 1 : tensor<4xi32>",
            "2:23: error: expected an integer, index or float type for a number, but found "
            "tensor<4xi32>; a constant of that type is dense<1>",
        ),
        (
            '%0 = arith.constant "abc : i32',
            "2:23: error: expected '\"' at the end of the string, on the same line",
        ),
        (
            r'%0 = arith.constant "a\qc" : i32',
            r"2:25: error: invalid escape '\q' in a string: "
            r"\n, \t, \\, \" and two hexadecimal digits, as \0A, are known",
        ),
        ("%0 = arith.constant #m : i32", "2:23: error: alias '#m' is not defined before this use"),
        ('%0 = arith.constant "a" : i32', '2:8: error: Unexpected attribute "a"'),
        (
            "%0:2 = arith.constant 1 : i1",
            "2:3: error: 'arith.constant' op has 1 result, but 2 are named",
        ),
        (
            "foo.bar",
            f"2:3: error: operation 'foo.bar' is not registered; {ALLOWED}, "
            "and --load=FILE.py loads its dialect",
        ),
        pytest.param(
            "%0 = arith.constant 1 : tensor<2xf3>",
            "2:36: error: Expected shape type, but found 'f3': the type of the elements, "
            "as f32 or i8, comes last",
            marks=needs_xdsl("0.70", "another message about a float of 3 bits"),
        ),
        (
            "%one = arith.constant 1 : i1 func.call @f(%onne) : (i1) -> ()",
            "2:45: error: use of undeclared SSA value name %onne, did you mean '%one'?",
        ),
        (
            "retrun",
            "2:3: error: operation 'retrun' is not registered, did you mean 'func.return'? "
            f"({ALLOWED})",
        ),
        (
            "airth.addi",
            "2:3: error: operation 'airth.addi' is not registered, did you mean 'arith.addi'? "
            f"({ALLOWED})",
        ),
        ("cf.br ^nope", "2:9: error: block '^nope' is not defined in the region of this branch"),
    ],
)
def test_message_says_where_and_what_was_expected(line: str, error: str):
    assert errors_of(function(line, "func.return")) == [f"t.mlir:{error}"]


def test_places_are_those_of_the_file():
    assert errors_of(function("foo.bar"), line_offset=10)[0].startswith("t.mlir:12:3: error")


def test_each_missing_block_is_an_error():
    text = function("cf.cond_br %c, ^a, ^b", parameters="%c: i1")
    places = [error.partition(" error: ")[0] for error in errors_of(text)]
    assert places == ["t.mlir:2:18:", "t.mlir:2:22:"]


def test_file_that_ends_in_a_region_names_its_start():
    text = function("scf.if %c {", parameters="%c: i1").removesuffix("}\n")
    assert errors_of(text + "  // more\n\n") == [
        "t.mlir:2:14: error: expected '}', but the file ends",
        "t.mlir:2:13: note: the region begins here",
    ]


@table_test(
    ("text", "error"),
    [
        ("func.func @f(%x: tensor<2x", "1:27: error: Expected shape type, but the file ends"),
        ("func.func @f() -> \n\n", "1:18: error: type expected, but the file ends"),
    ],
)
def test_file_that_ends_in_a_type(text: str, error: str):
    assert errors_of(text) == [f"t.mlir:{error}"]


def test_operand_of_another_type_names_its_definition():
    text = function("%y = arith.addi %x, %x : i32", parameters="%x: f32")
    assert errors_of(text) == [
        "t.mlir:2:19: error: operand is used with type i32, but has been previously used or "
        "defined with type f32",
        "t.mlir:1:14: note: %x is defined here",
    ]


@needs_xdsl("0.74", "compares the types of uses before the definition")
def test_operand_of_another_type_names_its_first_use():
    text = function("%y = math.absi %x : i32", "%z = math.absi %x : i64")
    assert errors_of(text) == [
        "t.mlir:3:18: error: operand is used with type i64, but has been previously used or "
        "defined with type i32",
        "t.mlir:2:18: note: %x is first used here",
    ]


def test_custom_form_of_an_unregistered_operation_names_the_nearest():
    with pytest.raises(ParseError, match="generic form only.*, did you mean 'arith.andi'"):
        parse_module(make_ir_context(True), function("arith.adi"), "t.mlir")
    with pytest.raises(ParseError, match="generic form only.*; --load=FILE.py loads its dialect"):
        parse_module(make_ir_context(True), function("toy.double"), "t.mlir")


def test_token_that_begins_no_operation():
    assert errors_of(function("%0 = arith.constant true : i1")) == [
        "t.mlir:2:28: error: expected an operation or '}', but found ':'",
        "t.mlir:1:16: note: the region begins here",
    ]


@table_test(
    ("text", "error", "first"),
    [
        (
            function("%x = arith.constant 1 : i32", "%x = arith.constant 2 : i32"),
            "3:3: error: SSA value %x is already defined",
            "2:3",
        ),
        (
            function("%x = arith.constant 1 : i32", parameters="%a: i32, %x: i32"),
            "2:3: error: SSA value %x is already defined",
            "1:23",
        ),
        (function(*("cf.br ^a", "^a:") * 2), "5:3: error: re-declaration of block 'a'", "3:3"),
        (function(*("cf.br ^1", "^1:") * 2), "5:3: error: re-declaration of block '1'", "3:3"),
        ("#a = 1\n#a = 2\n", "2:1: error: re-declaration of alias '#a'", "1:1"),
    ],
)
def test_second_definition_names_the_first(text: str, error: str, first: str):
    assert errors_of(text) == [f"t.mlir:{error}", f"t.mlir:{first}: note: first defined here"]
