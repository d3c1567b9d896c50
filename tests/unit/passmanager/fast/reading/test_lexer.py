"""The lexer gives the tokens and the errors of xDSL's."""

from __future__ import annotations

import re
from typing import TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.tables import table_test
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from passline.passmanager.fast.reading.lexer import Lexer, end_of_space

Tokens: TypeAlias = list[tuple[object, ...]]


def tokens(lexer: MLIRLexer) -> Tokens:
    found: Tokens = []
    try:
        while not found or found[-1][0] is not MLIRTokenKind.EOF:
            token = lexer.lex()
            span = token.span
            found.append((kind_of(token), token.text, span.start, span.end, type(span), lexer.pos))
    except ParseError as error:
        found.append((str(error), error.span.start, error.span.end, lexer.pos))
    return found


def kind_of(token: MLIRToken) -> MLIRTokenKind:
    """Return the kind of a token: that of a string with escapes is text if it can be decoded, as
    the docstring of xDSL's lexer has it; its code asks for ASCII."""
    if token.kind is MLIRTokenKind.BYTES_LIT:
        try:
            StringLiteral.from_span(token.span).string_contents
        except UnicodeDecodeError:
            return token.kind
        return MLIRTokenKind.STRING_LIT
    return token.kind


def assert_alike(text: str) -> None:
    input = Input(text, "a.mlir")
    assert tokens(Lexer(input)) == tokens(MLIRLexer(input))


@table_test(
    "text",
    [
        "%0 = arith.addi %a, %b-c : i32 // a comment",
        "// a comment at the end of the file",
        '%x:2 #a #0 !t ^bb1 @f @"a b" "s" "\\n" "\\FF" ""',
        "0 12 0x1F 0xi32 1.5 1. 1.e5 1.5e-3 1e5 -1 ->",
        "{-# #-} #-a ... {} () [] <> = + * / ? | : ,",
        "é _a a$.b Ä1 ²",
        "%",
        "#",
        "@",
        "@1",
        ". .",
        '"never ends',
        '"a\nb"',
        "\ufeffmodule",
        "a\v\f\r\n\tb",
        "\u00a0a",
    ],
)
def test_tokens_are_those_of_xdsl(text: str):
    assert_alike(text)


# Of long strings that do not end xDSL takes exponential time.
TEXT = st.text(st.sampled_from([*'%#!^@"\\/ \n-> {}.,:0x1e9aZ_$é²']), max_size=40).filter(
    lambda text: not re.search(r'"[^"]{15}', text)
)


@given(TEXT)
@example("/")
@example('"²\\""')
def test_tokens_of_any_text_are_those_of_xdsl(text: str):
    assert_alike(text)


def test_a_long_string_that_does_not_end_is_an_error_at_once():
    with pytest.raises(ParseError, match="End of file reached") as error:
        Lexer(Input(f'  "{"a" * 100_000}', "a.mlir")).lex()
    assert (error.value.span.start, error.value.span.end) == (2, 3)


def test_space_ends_at_the_next_token():
    assert end_of_space("a  // b\n\n  c", 1) == 11
    assert end_of_space("a", 0) == 0
    assert end_of_space("a // b", 1) == 6


@table_test(
    ("text", "kind"),
    [
        ('"f\\C3\\BCr"', MLIRTokenKind.STRING_LIT),
        ('"\\0A\\C3\\BC\\22"', MLIRTokenKind.STRING_LIT),
        ('"\\FF"', MLIRTokenKind.BYTES_LIT),
        ('"\\C3"', MLIRTokenKind.BYTES_LIT),
    ],
)
def test_escaped_utf_8_is_a_string(text: str, kind: MLIRTokenKind) -> None:
    assert Lexer(Input(text, "a.mlir")).lex().kind is kind
