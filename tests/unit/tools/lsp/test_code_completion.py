"""Completion, signatures and semantic tokens."""

from __future__ import annotations

from lsprotocol.types import TextEdit
from support.marked import open_at, open_text
from support.tables import table_test

from passline.tools.lsp.code_completion import completions, signature
from passline.tools.lsp.semantic_tokens import TYPES, semantic_tokens

BEFORE = "!alias = i32\n#attr = 1 : i32\nfunc.func @f(%a : i32, %b : f32) {\n"
AFTER = "\n^bb1:\n  return\n}\nfunc.func private @g()\n"


@table_test(
    "line, expected, absent",
    [
        ("  %", ["%a", "%b"], ["%c"]),
        ("  arith.ad", ["arith.addi", "arith.addf"], ["scf.for"]),
        ("  %x = ari", ["arith.", "scf."], ["arith.addi"]),
        ('  "arith.', ['"arith.addi'], []),
        ("  func.call @", ["@f", "@g"], []),
        ("  cf.br ^", ["^bb1"], []),
        ("  %x = arith.constant 1 : ", ["i32", "index", "tensor<>"], []),
        ("  %x = arith.constant #", ["#attr"], []),
        ("  %x = arith.addi %a, %a : !", ["!alias", "!llvm."], []),
        ("  %x = arith.addi %a, %a : !llvm.p", ["!llvm.ptr"], []),
        ('  "memref.load"(%a) <{', ["nontemporal = "], []),
        ("  // arith.", [], ["arith.addi"]),
        ("  %x = arith.constant 1", [], ["i32"]),
    ],
)
def test_what_may_stand_here_is_offered(line: str, expected: list[str], absent: list[str]) -> None:
    found = completions(*open_at(f"{BEFORE}{line}<|>{AFTER}"))
    texts = {item.text_edit.new_text for item in found if isinstance(item.text_edit, TextEdit)}
    assert {*expected} <= texts and not {*absent} & texts


def test_values_have_their_types_and_the_nearest_comes_first() -> None:
    found = completions(*open_at(f"{BEFORE}  %c = arith.constant 1 : i8\n  %<|>{AFTER}"))
    assert min(found, key=lambda item: item.sort_text or "").label == "%c"
    assert {item.detail for item in found if item.label == "%b"} == {"f32"}


def test_the_word_that_is_written_is_replaced() -> None:
    (item, *_) = completions(*open_at(f"{BEFORE}  arith.ad<|>{AFTER}"))
    assert isinstance(item.text_edit, TextEdit)
    assert item.text_edit.range.start.character == 2 and item.text_edit.range.end.character == 10


@table_test(
    "line, active",
    [("  %x = arith.addi <|>", 0), ("  %x = arith.addi %a, <|>", 1), ('  "arith.addi"(%a,<|>', 1)],
)
def test_the_signature_shows_the_operand_that_is_written(line: str, active: int) -> None:
    found = signature(*open_at(f"{BEFORE}{line}{AFTER}"))
    assert found is not None and found.active_parameter == active
    label, parameters = found.signatures[0].label, found.signatures[0].parameters or ()
    shown = [label[p.label[0] : p.label[1]] for p in parameters if isinstance(p.label, tuple)]
    assert label.startswith("arith.addi") and shown == ["$lhs", "$rhs"]


@table_test("line", ["  <|>", "  x.y <|>", "  // arith.addi <|>", "  arith<|>.addi"])
def test_there_is_no_signature_elsewhere(line: str) -> None:
    assert signature(*open_at(f"{BEFORE}{line}{AFTER}")) is None


def coloured(text: str) -> list[tuple[str, str, int]]:
    """Return the text, the type and the modifiers of each semantic token."""
    lines, data = text.split("\n"), semantic_tokens(open_text(text))
    line = character = 0
    found: list[tuple[str, str, int]] = []
    for i in range(0, len(data), 5):
        down, right, length, type, modifiers = data[i : i + 5]
        character = right + (character if down == 0 else 0)
        line += down
        found.append((lines[line][character : character + length], TYPES[type], modifiers))
    return found


def test_arguments_are_told_from_results_also_where_they_are_used() -> None:
    found = coloured("func.func @f(%a : i32) {\n  %b = arith.addi %a, %a : i32\n  x.y %b\n}\n")
    assert ("%a", "parameter", 1) in found and ("%a", "parameter", 0) in found
    assert ("%b", "variable", 1) in found and ("%b", "variable", 0) in found
    assert ("arith.addi", "method", 0) in found and ("@f", "function", 1) in found
    assert ("x.y", "method", 2) in found  # not registered


def test_tokens_of_functions_and_of_what_is_between_are_in_the_order_of_the_file() -> None:
    text = "module {\n  func.func private @f()\n  %0 = arith.constant 1 : i32\n}\n"
    assert [t for t, _, _ in coloured(text)] == [
        "module",
        "func.func",
        "@f",
        "%0",
        "arith.constant",
        "1",
        "i32",
    ]
