"""Functions that the interpreter prepares, and those around them that it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.parsing import parsed
from xdsl.dialects import arith
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passmanager.errors import PasslineError


def load(text: str, listener: Interpreter.Listener | None = None, name: str = "main") -> Any:
    module = parsed(text)
    listeners = () if listener is None else (listener,)
    return interpret(module, entry_function(module, name), listeners=listeners)


COLLATZ = """
func.func @main(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  cf.br ^head(%n, %zero : i64, i64)
^head(%x: i64, %count: i64):
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %next = arith.addi %count, %one : i64
  %done = arith.cmpi sle, %x, %one : i64
  cf.cond_br %done, ^end(%count : i64), ^step
^step:
  %odd = arith.remsi %x, %two : i64
  %is_odd = arith.cmpi eq, %odd, %one : i64
  cf.cond_br %is_odd, ^up, ^down
^up:
  %three = arith.constant 3 : i64
  %more = arith.muli %x, %three : i64
  %up = arith.addi %more, %one : i64
  cf.br ^head(%up, %next : i64, i64)
^down:
  %down = arith.divsi %x, %two : i64
  cf.br ^head(%down, %next : i64, i64)
^end(%result: i64):
  return %result : i64
}
"""


def test_branches():
    main = load(COLLATZ)
    assert [int(*main(np.int64(n))) for n in (1, 2, 3, 27)] == [0, 1, 7, 111]


def test_blocks_swap_their_arguments():
    main = load("""
        func.func @main(%a: i64, %b: i64) -> (i64, i64) {
          %no = arith.constant false
          cf.br ^loop(%a, %b, %no : i64, i64, i1)
        ^loop(%x: i64, %y: i64, %done: i1):
          %yes = arith.constant true
          cf.cond_br %done, ^end, ^loop(%y, %x, %yes : i64, i64, i1)
        ^end:
          return %x, %y : i64, i64
        }""")
    assert [*map(int, main(np.int64(1), np.int64(2)))] == [2, 1]


def test_each_call_has_a_frame():
    main = load("""
        func.func @main(%n: i64) -> i64 {
          %one = arith.constant 1 : i64
          %last = arith.cmpi sle, %n, %one : i64
          %result = scf.if %last -> (i64) {
            scf.yield %one : i64
          } else {
            %less = arith.subi %n, %one : i64
            %rest = func.call @main(%less) : (i64) -> i64
            %product = arith.muli %n, %rest : i64
            scf.yield %product : i64
          }
          return %result : i64
        }""")
    assert int(*main(np.int64(10))) == 3628800


MIXED = """
func.func @main(%a: i64) -> i64 {
  %one = arith.constant 1 : i64
  %more = arith.addi %a, %one : i64
  %inner = func.call @tensors(%more) : (i64) -> i64
  %sum = arith.addi %inner, %more : i64
  return %sum : i64
}
func.func private @tensors(%a: i64) -> i64 {
  %zero = arith.constant 0 : index
  %tensor = tensor.from_elements %a : tensor<1xi64>
  %b = func.call @numbers(%a) : (i64) -> i64
  %c = tensor.extract %tensor[%zero] : tensor<1xi64>
  %sum = arith.addi %b, %c : i64
  return %sum : i64
}
func.func private @numbers(%a: i64) -> i64 {
  %two = arith.constant 2 : i64
  %product = arith.muli %a, %two : i64
  return %product : i64
}
"""


def test_functions_with_and_without_a_frame_call_each_other():
    assert int(*load(MIXED)(np.int64(4))) == 20


class Recorder(Interpreter.Listener):
    """A listener that records what it is told."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self.seen.append(f"{op.name}{tuple(map(int, args))}")

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        self.seen.append(f"{op.name} = {tuple(map(int, results))}")


def test_listeners_hear_of_every_operation():
    recorder = Recorder()
    main = load(
        """
        func.func @main(%n: index) -> index {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %result = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (index) {
            %next = arith.addi %sum, %i : index
            scf.yield %next : index
          }
          return %result : index
        }""",
        recorder,
    )
    main(np.int64(2))
    assert recorder.seen == [
        "arith.constant()",
        "arith.constant = (0,)",
        "arith.constant()",
        "arith.constant = (1,)",
        "scf.for(0, 2, 1, 0)",
        "arith.addi(0, 0)",
        "arith.addi = (0,)",
        "scf.yield(0,)",
        "scf.yield = ()",
        "arith.addi(0, 1)",
        "arith.addi = (1,)",
        "scf.yield(1,)",
        "scf.yield = ()",
        "scf.for = (1,)",
        "func.return(1,)",
        "func.return = ()",
    ]


class Failing(Interpreter.Listener):
    """A listener that fails without a text."""

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        raise AssertionError


def test_an_exception_without_a_text_is_named():
    with pytest.raises(PasslineError, match=r"'arith.constant'.* computed: AssertionError$"):
        load(MIXED, Failing())(np.int64(4))


def test_a_function_that_changed_is_prepared_anew():
    module = parsed(MIXED)
    numbers = entry_function(module, "numbers")
    function: Any = interpret(module, numbers)
    assert int(*function(np.int64(4))) == 8
    constant = numbers.body.block.first_op
    assert isinstance(constant, arith.ConstantOp)
    new = arith.ConstantOp.from_int_and_width(5, 64)
    numbers.body.block.insert_op_before(new, constant)
    constant.result.replace_all_uses_with(new.result)
    constant.detach()
    constant.erase()
    assert int(*function(np.int64(4))) == 20


def test_an_error_names_its_operation_and_leaves_nothing_behind():
    main = load("""
        func.func @main(%buffer: memref<4xi64>, %index: index) -> i64 {
          %value = memref.load %buffer[%index] : memref<4xi64>
          return %value : i64
        }""")
    buffer = np.arange(4)
    for _ in range(2):
        with pytest.raises(PasslineError, match=r"'memref.load' at x.mlir:3:\d+ cannot be compu"):
            main(buffer, np.int64(4))
        assert int(*main(buffer, np.int64(3))) == 3


def test_an_operation_without_semantics_fails_when_it_is_reached():
    main = load("""
        func.func @main(%yes: i1) -> i64 {
          %result = scf.if %yes -> (i64) {
            %one = arith.constant 1 : i64
            scf.yield %one : i64
          } else {
            %none = "llvm.mlir.zero"() : () -> i64
            scf.yield %none : i64
          }
          return %result : i64
        }""")
    assert int(*main(np.True_)) == 1
    with pytest.raises(PasslineError, match=r"'llvm.mlir.zero' at x.mlir:\d+:\d+ cannot be compu"):
        main(np.False_)
