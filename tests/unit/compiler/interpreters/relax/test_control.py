"""The semantics of tuples, closures, graphs, kernel calls and annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import memref
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.interpreters import register_implementations
from xdsl.utils.exceptions import InterpretationError

from passline.compiler.interpreters.relax import RelaxFunctions
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

Array = NDArray[Any]
X = np.array([1.0, 2.0], np.float32)


@register_impls
class Buffers(InterpreterFunctions):
    """Buffers that are arrays."""

    @impl(memref.CopyOp)
    def run_copy(self, _: Interpreter, op: memref.CopyOp, args: PythonValues) -> PythonValues:
        source, destination = args
        destination[...] = source
        return ()


def call(text: str, name: str, *arguments: object) -> tuple[Any, ...]:
    """Call a function of the module in `text`, in which `!t` is the type of X."""
    ctx = make_ir_context()
    module = parse_module(ctx, f"!t = tensor<2xf32>\n{text}", "test.mlir")
    verify(module)
    interpreter = Interpreter(module)
    register_implementations(interpreter, ctx)
    interpreter.register_implementations(RelaxFunctions(), override=True)
    interpreter.register_implementations(Buffers(), override=True)
    return interpreter.call_op(name, arguments)


def test_tuples_are_python_tuples() -> None:
    text = """
    func.func @f(%x : !t, %t : tuple<!t, i1>) -> (tuple<i1, tuple<>>, !t) {
      %e = relax.tuple : () -> tuple<>
      %0 = relax.tuple_get_item %t {index = 1} : (tuple<!t, i1>) -> i1
      %1 = relax.tuple_get_item %t {index = 0} : (tuple<!t, i1>) -> !t
      %2 = relax.tuple %0, %e : (i1, tuple<>) -> tuple<i1, tuple<>>
      return %2, %1 : tuple<i1, tuple<>>, !t
    }"""
    made, element = call(text, "f", X, (X + 1, True))
    assert made == (True, ())
    np.testing.assert_array_equal(element, X + 1)


LAMBDAS = """
func.func @adder(%x : !t) -> ((!t) -> (!t, !t)) {
  %f = relax.lambda(%y : !t) -> (!t, !t) {
    %0 = relax.add %x, %y : (!t, !t) -> !t
    relax.yield %0, %x : !t, !t
  }
  return %f : (!t) -> (!t, !t)
}
func.func @two(%x : !t, %y : !t) -> (!t, !t) {
  %f = func.call @adder(%x) : (!t) -> ((!t) -> (!t, !t))
  %g = func.call @adder(%y) : (!t) -> ((!t) -> (!t, !t))
  %0, %1 = relax.invoke %f(%x) : (!t) -> (!t, !t)
  %2, %3 = relax.invoke %g(%0) : (!t) -> (!t, !t)
  return %2, %3 : !t, !t
}
func.func @nested(%x : !t) -> !t {
  %f = relax.lambda(%y : !t) -> ((!t) -> !t) {
    %g = relax.lambda(%z : !t) -> !t {
      %0 = relax.subtract %y, %z : (!t, !t) -> !t
      %1 = relax.multiply %0, %x : (!t, !t) -> !t
      relax.yield %1 : !t
    }
    relax.yield %g : (!t) -> !t
  }
  %2 = relax.exp %x : (!t) -> !t
  %h = relax.invoke %f(%2) : (!t) -> ((!t) -> !t)
  %k = relax.invoke %f(%x) : (!t) -> ((!t) -> !t)
  %3 = relax.invoke %h(%x) : (!t) -> !t
  return %3 : !t
}
"""


def test_functions_keep_what_they_captured() -> None:
    total, kept = call(LAMBDAS, "two", X, 10 * X)
    np.testing.assert_array_equal(total, 12 * X)
    np.testing.assert_array_equal(kept, 10 * X)


def test_functions_of_functions_keep_what_each_captured() -> None:
    (result,) = call(LAMBDAS, "nested", X)
    np.testing.assert_allclose(result, (np.exp(X) - X) * X, rtol=1e-6)


def test_functions_are_python_functions() -> None:
    (function,) = call(LAMBDAS, "adder", X)
    total, kept = function(X)
    np.testing.assert_array_equal(total, 2 * X)
    np.testing.assert_array_equal(kept, X)


RECURSION = """
func.func @repeat(%n : i64, %f : (!t) -> !t, %x : !t) -> !t {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi eq, %n, %zero : i64
  %0 = scf.if %c -> (!t) {
    scf.yield %x : !t
  } else {
    %m = arith.subi %n, %one : i64
    %1 = relax.invoke %f(%x) : (!t) -> !t
    %2 = func.call @repeat(%m, %f, %1) : (i64, (!t) -> !t, !t) -> !t
    scf.yield %2 : !t
  }
  return %0 : !t
}
func.func @main(%x : !t) -> !t {
  %n = arith.constant 5 : i64
  %f = relax.lambda(%y : !t) -> !t {
    %0 = relax.add %y, %x : (!t, !t) -> !t
    relax.yield %0 : !t
  }
  %1 = func.call @repeat(%n, %f, %x) : (i64, (!t) -> !t, !t) -> !t
  return %1 : !t
}
"""


def test_recursion_with_a_function_as_an_argument() -> None:
    (result,) = call(RECURSION, "main", X)
    np.testing.assert_array_equal(result, 6 * X)


def test_a_loop_calls_a_function() -> None:
    text = """
    func.func @main(%x : !t) -> !t {
      %a = arith.constant 0 : index
      %b = arith.constant 3 : index
      %s = arith.constant 1 : index
      %f = relax.lambda(%y : !t) -> !t {
        %0 = relax.add %y, %x : (!t, !t) -> !t
        relax.yield %0 : !t
      }
      %1 = scf.for %i = %a to %b step %s iter_args(%t = %x) -> (!t) {
        %2 = relax.invoke %f(%t) : (!t) -> !t
        scf.yield %2 : !t
      }
      return %1 : !t
    }"""
    (result,) = call(text, "main", X)
    np.testing.assert_array_equal(result, 4 * X)


def test_a_graph_is_computed_in_the_order_of_dependences() -> None:
    text = """
    func.func @main(%c : i1, %x : !t) -> (!t, !t) {
      %0, %1 = relax.graph -> (!t, !t) {
        %2 = relax.invoke %f(%3) : (!t) -> !t
        %f = relax.lambda(%y : !t) -> !t {
          %5 = relax.multiply %y, %4 : (!t, !t) -> !t
          relax.yield %5 : !t
        }
        %3 = scf.if %c -> (!t) {
          scf.yield %4 : !t
        } else {
          scf.yield %x : !t
        }
        %4 = relax.add %x, %x : (!t, !t) -> !t
        relax.output %2, %4 : !t, !t
      }
      return %0, %1 : !t, !t
    }"""
    product, total = call(text, "main", True, X)
    np.testing.assert_array_equal(product, 4 * X * X)
    np.testing.assert_array_equal(total, 2 * X)
    np.testing.assert_array_equal(call(text, "main", False, X)[0], 2 * X * X)


KERNEL = """
func.func @copy(%x : memref<2xf32>, %y : memref<2xf32>) {
  "memref.copy"(%x, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  return
}
func.func @main(%x : !t) -> !t {
  %0 = relax.call_tir @copy(%x) : (!t) -> !t
  return %0 : !t
}
func.func @unranked(%x : !t) -> tensor<*xf32> {
  %0 = relax.call_tir @copy(%x) : (!t) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func @sized(%x : !t, %n : index) -> tensor<?xf32> {
  %0 = relax.call_tir @copy(%x) sizes(%n) : (!t) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @update(%x : memref<2xf32>, %n : index, %y : memref<2xf32>) {
  "memref.copy"(%x, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  return
}
func.func @in_place(%x : !t, %n : index) -> (!t, tensor<?xf32>) {
  %0, %1 = relax.call_tir_inplace @update(%x, %n) sizes(%n) {inplace_indices = array<i64: 0, -1>}
    : (!t, index) -> (!t, tensor<?xf32>)
  return %0, %1 : !t, tensor<?xf32>
}
"""


def test_a_kernel_writes_into_an_array_that_is_allocated() -> None:
    (result,) = call(KERNEL, "main", X)
    assert result is not X
    np.testing.assert_array_equal(result, X)


def test_a_result_of_unknown_rank_is_not_allocated() -> None:
    with pytest.raises(InterpretationError, match=r"cannot allocate .* of type tensor<\*xf32>"):
        call(KERNEL, "unranked", X)


def test_unknown_dimensions_are_allocated_with_the_given_sizes() -> None:
    (result,) = call(KERNEL, "sized", X, 2)
    np.testing.assert_array_equal(result, X)


def test_a_negative_size_is_an_error() -> None:
    with pytest.raises(InterpretationError, match="cannot allocate a result of shape -2"):
        call(KERNEL, "sized", X, -2)


def test_new_results_of_a_call_in_place_have_the_given_sizes() -> None:
    for result in call(KERNEL, "in_place", X, 2):
        np.testing.assert_array_equal(result, X)


def test_casts_and_annotations_change_nothing() -> None:
    text = """
    func.func @main(%x : !t) -> tensor<*xf32> {
      %0 = relax.on_device %x {device = #relax.device<cpu>} : (!t) -> !t
      %1 = relax.device_copy %0 {
        src = #relax.device<cpu>, dst = #relax.device<cuda>
      } : (!t) -> !t
      %2 = relax.stop_fusion %1 : (!t) -> !t
      %3 = relax.match_cast %2 : (!t) -> tensor<*xf32>
      return %3 : tensor<*xf32>
    }"""
    (result,) = call(text, "main", X)
    assert result is X


def test_a_closure_is_its_function_with_the_first_arguments() -> None:
    text = """
    func.func @f(%x : !t, %y : !t) -> !t {
      %g = relax.make_closure @g(%x) : (!t) -> ((!t) -> (!t, !t))
      %0, %1 = relax.invoke %g(%y) : (!t) -> (!t, !t)
      %2 = relax.subtract %0, %1 : (!t, !t) -> !t
      return %2 : !t
    }
    func.func private @g(%a : !t, %b : !t) -> (!t, !t) {
      return %a, %b : !t, !t
    }"""
    assert call(text, "f", 3 * X, X)[0].tolist() == [2, 4]
