"""Functions that are cut down to the neighbourhood of an operation."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context
from passline.tools.bisect.bisection import neighbourhoods
from passline.tools.trials.prefix import OpPlace

PROGRAM = """\
func.func @other() {
  func.return
}
func.func private @main(%x: i32, %y: i32 {a.b}) -> (i32, i32) {
  %c = arith.constant 3 : i32
  %0 = arith.addi %x, %y : i32
  %1 = arith.muli %0, %c : i32
  %2 = arith.subi %1, %y : i32
  %3 = arith.divsi %2, %y : i32
  func.return %1, %3 : i32, i32
}
"""


def parsed(text: str) -> ModuleOp:
    return parse_module(make_ir_context(), text, "x.mlir")


def cuts(module: ModuleOp, name: str) -> list[ModuleOp]:
    op = next(op for op in walk(module) if op.name == name)
    found = [*neighbourhoods(module, OpPlace.of(op))]
    for cut in found:
        verify(cut)
    return found


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in walk(module) if "." in op.name and op.name.startswith("arith")]


def test_the_operation_alone_with_its_constants() -> None:
    module = parsed(PROGRAM)
    first = cuts(module, "arith.muli")[0]
    assert "func.func @main(%0: i32) -> i32 {" in str(first)
    assert names(first) == ["arith.constant", "arith.muli"]
    assert "@other" in str(first)
    assert str(module) == str(parsed(PROGRAM))


def test_more_at_each_distance() -> None:
    found = cuts(parsed(PROGRAM), "arith.muli")
    assert names(found[1]) == ["arith.constant", "arith.addi", "arith.muli", "arith.subi"]
    assert "(%x: i32, %y: i32) -> (i32, i32)" in str(found[1])  # %1 is returned, too
    assert names(found[2])[-1] == "arith.divsi"
    assert len(found) == 4


def test_an_operation_in_a_loop_takes_the_loop_with_it() -> None:
    module = parsed("""\
func.func @main(%x: i32, %b: i1) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = scf.if %b -> (i32) {
    %2 = arith.muli %0, %x : i32
    scf.yield %2 : i32
  } else {
    scf.yield %0 : i32
  }
  func.return %1 : i32
}
""")
    first = cuts(module, "arith.muli")[0]
    assert names(first) == ["arith.muli"] and "scf.if" in str(first)
    assert "-> i32" in str(first)


def test_an_operation_that_a_pass_has_moved_to_a_new_function() -> None:
    module = parsed(PROGRAM)
    op = next(op for op in walk(module) if op.name == "arith.muli")
    place = OpPlace("other.name", "outlined", OpPlace.of(op).location)
    assert names(next(neighbourhoods(module, place))) == ["arith.constant", "arith.muli"]


def test_no_function_to_cut() -> None:
    module = parsed(PROGRAM)
    assert [*neighbourhoods(module, OpPlace("arith.muli", "other", None))] == []
    assert [*neighbourhoods(module, OpPlace("arith.muli", "nobody", None))] == []
