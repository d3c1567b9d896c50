"""Modules that are mixed of two versions."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context
from passline.tools.trials.prefix import changed_functions, restore_functions

BEFORE = "".join(
    f"func.func @{name}() -> i32 {{\n  %c = arith.constant {n} : i32\n  func.return %c : i32\n}}\n"
    for n, name in enumerate(["a", "b", "c", "gone"])
)


def parse(text: str) -> ModuleOp:
    return parse_module(make_ir_context(), text, "x.mlir")


def test_functions_that_differ() -> None:
    before = parse(BEFORE)
    after = parse(BEFORE.replace("constant 1", "constant 7").replace("@gone", "@new"))
    assert [*changed_functions(before, after)] == ["b"]
    assert [*changed_functions(before, parse(BEFORE))] == []


def test_functions_of_before_return_where_they_stood() -> None:
    before = parse(BEFORE)
    text = BEFORE.replace("constant 0", "constant 6").replace("constant 1", "constant 7")
    after = parse(text.replace("@gone", "@new"))
    restore_functions(after, before, ["b"])
    verify(after)
    assert [*changed_functions(before, after)] == ["b"]
    found = [line.split("@")[1][:3] for line in str(after).splitlines() if "func.func" in line]
    assert found == ["a()", "b()", "c()", "new", "gon"]
