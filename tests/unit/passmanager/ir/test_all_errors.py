"""All errors of invalid IR, in the order of the checks."""

from __future__ import annotations

from support.marked import known_dialects

from passline.passmanager.ir.all_errors import all_errors
from passline.passmanager.ir.text.parser import parse_module


def messages(text: str, *, is_whole: bool = True) -> list[str]:
    module = parse_module(known_dialects().context(), text, "x.mlir")
    return [str(error) for error in all_errors(module, is_whole=is_whole)]


BODY = """func.func @f() -> i32 {
  "test.op"(%a) : (i32) -> ()
  "test.op"(%a) : (i32) -> ()
  %a = "arith.constant"() : () -> i32
  %b = "arith.constant"() : () -> i32
  return
}
"""


def test_each_operation_and_each_use_has_its_error() -> None:
    found = messages(BODY)
    assert [text.split("'")[1] for text in found] == [
        "arith.constant",
        "arith.constant",
        "func.return",
        "test.op",
        "test.op",
    ]


def test_the_last_operation_of_a_block_that_was_not_read_as_a_whole_is_left_out() -> None:
    assert not [text for text in messages(BODY, is_whole=False) if "func.return" in text]


def test_an_operation_around_an_invalid_one_is_left_out() -> None:
    inner = "module {\n  func.func private @f()\n  func.func private @f()\n%s}\n"
    assert len(messages(inner % "")) == 1
    (found,) = messages(inner % '  "arith.constant"() : () -> i32\n')
    assert "arith.constant" in found


def test_valid_ir_has_none() -> None:
    assert messages("func.func @f() {\n  return\n}\n") == []
