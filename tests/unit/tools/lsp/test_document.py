"""The text of an open file, and the pieces that it is read in."""

from __future__ import annotations

from lsprotocol.types import Position, PositionEncodingKind, Range
from lsprotocol.types import TextDocumentContentChangePartial as PartialChange
from lsprotocol.types import TextDocumentContentChangeWholeDocument as WholeChange
from support.tables import table_test

from passline.tools.lsp.document import Piece, SourceText, split_pieces


def pieces(text: str) -> list[Piece]:
    """Return the pieces of the first part of a text, the rest last."""
    return split_pieces(text, lambda name: name.endswith((".func", "module")))[0].pieces


def functions(text: str) -> list[str]:
    return [piece.text for piece in pieces(text) if not piece.is_rest]


F = "func.func @f() {\n  return\n}"
G = "func.func private @g() -> i32"


@table_test(
    "text, expected",
    [
        (f"{F}\n{G}\n", [F, G]),
        (f"// RUN: x\n\n{F}\n// CHECK: y\n\n{G}\n// end\n", [F, G]),
        (f"module {{\n{F}\n{G}\n}}\n", [F, G]),
        (f"builtin.module attributes {{a = 1 : i32}} {{\n{F}\n}}", [F]),
        (f'"builtin.module"() ({{\n{F}\n}}) : () -> ()', [F]),
        (
            f"module {{\n{F}\n}}\nmodule {{\n{G}\n}}\n",
            [f"module {{\n{F}\n}}", f"module {{\n{G}\n}}"],
        ),
        ('"x.y"() : () -> ()\n', []),
        ("", []),
    ],
)
def test_functions_are_pieces(text: str, expected: list[str]) -> None:
    assert functions(text) == expected


def test_what_is_in_no_function_is_the_rest() -> None:
    text = f'module {{\n{F}\n  %0 = "a.b"() : () -> i32\n}}\n'
    rest = pieces(text)[-1]
    assert rest.is_rest and rest.text == 'module {\n\n  %0 = "a.b"() : () -> i32\n}\n'
    assert rest.in_file(rest.text.index("%0")) == text.index("%0")
    assert rest.in_text(text.index("%0")) == rest.text.index("%0")
    assert rest.in_text(text.index("return")) is None


@table_test(
    "broken",
    [
        "func.func @x() {\n  scf.if %c {\n  return\n}",
        "func.func @x() {\n  foo(\n  return\n",
        "func.func @x() }{{\n  return\n}",
        'func.func @x() {\n  "unclosed\n}',
    ],
)
def test_a_broken_function_leaves_the_others_alone(broken: str) -> None:
    assert functions(f"{F}\n{broken}\n{F}\n")[::2] == [F, F]
    inside = f"module {{\n  {F}\n  {broken}\n  {F}\n}}\n"
    assert f"  {F}" in functions(inside)


def test_a_piece_is_read_after_the_aliases_that_it_uses() -> None:
    text = (
        f"#a = 1 : i32\n#b = [#a,\n  #a]\n#c = 2 : i32\n{G} attributes {{x = #b}}\n#d = 3 : i32\n"
    )
    assert pieces(text)[0].prefix == "#a = 1 : i32\n#b = [#a,\n  #a]\n"


def test_a_piece_is_read_after_the_resources_that_it_uses() -> None:
    text = f"{G} attributes {{x = dense_resource<r> : tensor<1xi8>}}\n{{-# x #-}}\n"
    assert pieces(text)[0].prefix == "{-# x #-}\n"


def test_parts_are_between_lines_of_dashes() -> None:
    splits = split_pieces(f"{F}\n// -----\n{G}\n  // -----  \n", lambda name: name == "func.func")
    assert [len(split.pieces) for split in splits] == [2, 2, 1]


@table_test(
    "encoding, text, offset, character",
    [
        (PositionEncodingKind.Utf16, "// äx", 4, 4),
        (PositionEncodingKind.Utf16, "// 😀x", 4, 5),
        (PositionEncodingKind.Utf8, "// äx", 4, 5),
        (PositionEncodingKind.Utf32, "// 😀x", 4, 4),
    ],
)
def test_positions_count_the_units_of_the_encoding(
    encoding: str, text: str, offset: int, character: int
) -> None:
    source = SourceText(f"first\n{text}\n", encoding)
    assert source.position(6 + offset) == Position(1, character)
    assert source.offset(Position(1, character)) == 6 + offset


def test_a_position_after_the_end_of_a_line_is_that_end() -> None:
    source = SourceText("ab\r\ncd")
    assert source.offset(Position(0, 99)) == 2
    assert source.offset(Position(1, 99)) == 6 and source.offset(Position(9, 0)) == 6


def test_changes_are_made_one_after_the_other() -> None:
    source = SourceText("abc\ndef\n")
    insert = PartialChange(Range(Position(1, 1), Position(1, 2)), "X\nY")
    after = PartialChange(Range(Position(2, 0), Position(2, 1)), "Z")
    assert source.changed([insert, after]).text == "abc\ndX\nZf\n"
    assert source.changed([WholeChange("new")]).text == "new"
