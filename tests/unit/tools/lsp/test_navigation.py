"""Definitions, references, renaming, the outline and folding."""

from __future__ import annotations

import pytest
from lsprotocol.types import DocumentSymbol
from support.marked import open_at, open_text
from support.tables import table_test

from passline.passmanager.errors import PasslineError
from passline.tools.lsp.navigation import (
    definition,
    folding,
    highlights,
    outline,
    references,
    rename,
    rename_range,
)
from passline.tools.lsp.pass_runs import edited

TEXT = """#map = affine_map<(d0) -> (d0)>
func.func @f(%a : i32, %m : memref<4xi32, #map>) -> i32 {
  %b = func.call @g(%a) : (i32) -> i32
  cf.br ^bb1(%b : i32)
^bb1(%c : i32):
  return %c : i32
}
func.func @g(%a : i32) -> i32 {
  return %a : i32
}
"""


def at(piece: str, count: int = 1) -> str:
    """Return TEXT with the cursor after the first character of an occurrence of `piece`."""
    start = -1
    for _ in range(count):
        start = TEXT.index(piece, start + 1)
    return f"{TEXT[: start + 1]}<|>{TEXT[start + 1 :]}"


@table_test(
    "marked, line",
    [
        (at("%a) :"), 1),
        (at("%b :"), 2),
        (at("^bb1("), 4),
        (at("@g("), 7),
        (at("%c :"), 4),
        (at("#map>"), 0),
        (at("%a :", 3), 7),
    ],
)
def test_a_name_is_defined_at_a_line(marked: str, line: int) -> None:
    (found,) = definition(*open_at(marked))
    assert found.range.start.line == line


@table_test("marked", [at("return"), at(" i32"), "<|>", "func.func @f() {\n  %x<|>\n}"])
def test_what_is_no_name_has_no_definition(marked: str) -> None:
    assert definition(*open_at(marked)) == []


def test_references_are_the_uses_with_the_definition_if_it_is_asked_for() -> None:
    file, offset = open_at(at("%a :"))
    assert [found.range.start.line for found in references(file, offset, True)] == [1, 2]
    assert [found.range.start.line for found in references(file, offset, False)] == [2]
    assert len(highlights(file, offset)) == 2


def test_a_symbol_is_found_in_all_functions() -> None:
    assert [r.range.start.line for r in references(*open_at(at("@g(")), True)] == [2, 7]


def renamed(marked: str, new: str) -> str:
    file, offset = open_at(marked)
    return edited(file.source, rename(file, offset, new))


def test_a_value_is_renamed_in_its_scope_alone() -> None:
    text = renamed(at("%a :"), "new")
    assert text.count("%new") == 2 and "@g(%a : i32)" in text


def test_a_sigil_in_the_new_name_is_none_of_it() -> None:
    assert "@g2(%a)" in renamed(at("@g("), "@g2")


def test_a_symbol_in_generic_form_is_renamed() -> None:
    text = '"func.func"() <{sym_name = "f<|>", function_type = () -> ()}> ({}) : () -> ()\n'
    assert 'sym_name = "g"' in renamed(text, "g")


def test_results_that_share_a_name_are_renamed_together() -> None:
    text = '%x<|>:2 = "test.op"() : () -> (i32, i32)\n"test.op"(%x#1) : (i32) -> ()\n'
    assert renamed(text, "y").count("%y") == 2


@table_test(
    "marked, new",
    [
        (at("%a :"), "b"),
        (at("%a :"), "c"),
        (at("%a :"), "x y"),
        (at("%a :"), ""),
        (at("@g("), "f"),
        (at("return"), "x"),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused(marked: str, new: str) -> None:
    with pytest.raises(PasslineError):
        renamed(marked, new)


def test_a_name_of_another_function_may_be_taken() -> None:
    assert renamed(at("%a :", 2), "b").count("%b") == 4


def test_the_place_to_rename_is_the_name_without_its_sigil() -> None:
    file, offset = open_at(at("%a :"))
    place = rename_range(file, offset)
    assert place is not None and place.end.character - place.start.character == 1
    assert rename_range(*open_at(at("return"))) is None


def tree(symbols: list[DocumentSymbol]) -> list[object]:
    return [(s.name, tree([*(s.children or ())])) if s.children else s.name for s in symbols]


def test_the_outline_has_symbols_and_operations_with_regions() -> None:
    text = """module @m {
  func.func @f(%c : i1) {
    scf.if %c {
      "test.op"() : () -> ()
    }
    return
  }
  func.func private @g()
}
"""
    inside: list[object] = [("@f", ["scf.if"]), "@g"]
    assert tree(outline(open_text(text))) == [("@m", inside)]
    assert tree(outline(open_text(text.replace(" @m", "")))) == inside
    loop = '"test.op"() ({\n  func.func private @f()\n}) : () -> ()\n'
    assert tree(outline(open_text(loop))) == [("test.op", ["@f"])]


def test_a_file_that_is_broken_in_the_middle_keeps_its_outline() -> None:
    broken = TEXT.replace("cf.br ^bb1(%b : i32)", "scf.if { ( [")
    assert [s.name for s in outline(open_text(broken))] == ["@f", "@g"]


def test_regions_and_comments_fold() -> None:
    found = folding(open_text(f"// a\n// b\n// c\n{TEXT}"))
    assert [(r.start_line, r.end_line) for r in found] == [(0, 2), (4, 8), (10, 11)]
