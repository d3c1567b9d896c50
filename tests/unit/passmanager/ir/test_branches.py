"""Branches: the blocks that they lead to, and the operands for the arguments of these."""

from __future__ import annotations

import re

import pytest
from support.tables import table_test
from xdsl.utils.exceptions import ParseError

from passline.passmanager.errors import InvalidIRError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context


def check(text: str) -> None:
    """Verify the body of a function on an i1, an i32 and an i64."""
    before = "func.func @f(%c: i1, %x: i32, %l: i64) {\n"
    verify(parse_module(make_ir_context(allow_unregistered=True), f"{before}{text}\n}}", "x.mlir"))


BRANCHES = {
    "cf.br": "cf.br ^bb1({})",
    "cf.cond_br, then": "cf.cond_br %c, ^bb1({}), ^bb1(%x : i32)",
    "cf.cond_br, else": "cf.cond_br %c, ^bb1(%x : i32), ^bb1({})",
    "cf.switch, default": "cf.switch %x : i32, [ default: ^bb1({}), 1: ^bb1(%x : i32) ]",
    "cf.switch, case": "cf.switch %x : i32, [ default: ^bb1(%x : i32), 1: ^bb1({}) ]",
    "llvm.br": "llvm.br ^bb1({})",
    "llvm.cond_br": "llvm.cond_br %c, ^bb1(%x : i32), ^bb1({})",
}
SECOND = ("cf.cond_br, else", "cf.switch, case", "llvm.cond_br")


@table_test("branch", BRANCHES)
def test_operands_are_as_many_as_the_arguments(branch: str) -> None:
    check(f"{BRANCHES[branch].format('%x : i32')}\n^bb1(%y: i32):\n  func.return")
    number = int(branch in SECOND)
    message = f"passes 2 operands to successor #{number}, which has 1 arguments"
    with pytest.raises(InvalidIRError, match=message):
        check(f"{BRANCHES[branch].format('%x, %x : i32, i32')}\n^bb1(%y: i32):\n  func.return")


@table_test("branch", BRANCHES)
def test_operands_have_the_types_of_the_arguments(branch: str) -> None:
    number = int(branch in SECOND)
    message = (
        f"passes a value of type 'i64' for argument #0 of successor #{number}, which has type 'i32'"
    )
    with pytest.raises(InvalidIRError, match=re.escape(message)):
        check(f"{BRANCHES[branch].format('%l : i64')}\n^bb1(%y: i32):\n  func.return")


@table_test("branch", ["cf.br ^bb0", '"foo.jump"() [^bb1, ^bb0] : () -> ()'])
def test_an_entry_block_has_no_predecessors(branch: str) -> None:
    text = f"scf.execute_region {{\n^bb0:\n  {branch}\n^bb1:\n  scf.yield\n}}\nfunc.return"
    with pytest.raises(InvalidIRError, match="has the entry block of its region for successor"):
        check(text)


def test_a_branch_of_unknown_operands_may_pass_any() -> None:
    check('"foo.jump"(%x, %l)[^bb1] : (i32, i64) -> ()\n^bb1(%y: i32):\n  func.return')


def test_an_operation_has_a_name() -> None:
    with pytest.raises(ParseError, match="an operation has a name, but this one is empty"):
        check('""() : () -> ()')
