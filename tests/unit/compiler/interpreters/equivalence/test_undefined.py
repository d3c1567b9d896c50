"""Undefined behaviour of arithmetic: division, and poison."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.tables import table_test
from xdsl.context import Context

from passline.compiler.interpreters.equivalence.evaluation import (
    Evaluated,
    NotEvaluable,
    RefusedArguments,
    evaluate,
)
from passline.compiler.interpreters.signature import entry_function


@table_test(
    "op, arguments, poison, division",
    [
        ("arith.addi %a, %b : i8", (127, 1), False, False),
        ("arith.addi %a, %b overflow<nsw> : i8", (127, 1), True, False),
        ("arith.addi %a, %b overflow<nsw> : i8", (126, 1), False, False),
        ("arith.addi %a, %b overflow<nuw> : i8", (-1, 1), True, False),
        ("arith.addi %a, %b overflow<nuw> : i8", (127, 1), False, False),
        ("arith.subi %a, %b overflow<nsw> : i8", (-128, 1), True, False),
        ("arith.subi %a, %b overflow<nuw> : i8", (1, 2), True, False),
        ("arith.muli %a, %b overflow<nsw> : i8", (64, 2), True, False),
        ("arith.shli %a, %b : i8", (1, 8), True, False),
        ("arith.shli %a, %b : i8", (1, 7), False, False),
        ("arith.shli %a, %b overflow<nsw> : i8", (1, 7), True, False),
        ("arith.shrui %a, %b : i8", (1, -1), True, False),
        ("arith.divsi %a, %b : i8", (1, 0), True, True),
        ("arith.divsi %a, %b : i8", (-128, -1), True, True),
        ("arith.divsi %a, %b : i8", (-127, -1), False, False),
        ("arith.divui %a, %b : i8", (-128, -1), False, False),
        ("arith.remui %a, %b : i8", (1, 0), True, True),
        ("arith.remsi %a, %b : i8", (-128, -1), True, True),
        ("arith.floordivsi %a, %b : i8", (1, 0), True, True),
        ("arith.ceildivui %a, %b : i8", (1, 0), True, True),
    ],
)
def test_scalars(op: str, arguments: tuple[int, int], poison: bool, division: bool):
    text = f"func.func @f(%a: i8, %b: i8) -> i8 {{ %r = {op} return %r : i8 }}"
    module = parsed(text)
    for strict, undefined in ((True, poison), (False, division)):
        func = entry_function(module, "f")
        outcome = evaluate(module, func, arguments, Context(), poison=strict)  # pyright: ignore[reportArgumentType]
        assert isinstance(outcome, RefusedArguments if undefined else Evaluated)


def test_elements_of_vectors_and_indices_of_64_bits():
    vector = """
    func.func @f() -> i8 {
      %v = arith.constant dense<[1, 127]> : vector<2xi8>
      %s = arith.addi %v, %v overflow<nsw> : vector<2xi8>
      %r = arith.constant 0 : i8
      return %r : i8
    }"""
    index = """
    func.func @f() -> index {
      %m = arith.constant 9223372036854775807 : index
      %r = arith.addi %m, %m overflow<nsw> : index
      return %r : index
    }"""
    for text in (vector, index):
        module = parsed(text)
        outcome = evaluate(module, entry_function(module, "f"), (), Context())
        assert isinstance(outcome, RefusedArguments)
        assert outcome.reason.startswith("undefined behaviour: 'arith.addi' at x.mlir:4:")


@pytest.mark.parametrize(
    "cast",
    [
        "relax.match_cast %x : (tensor<1x?xf32>) -> tensor<1x2xf32>",
        "tensor.cast %x : tensor<1x?xf32> to tensor<1x2xf32>",
    ],
)
def test_casts_to_a_shape_that_the_value_has_not(cast: str):
    module = parsed(f"""
    func.func @f(%x: tensor<1x?xf32>) -> tensor<1x2xf32> {{
      %k = relax.constant dense<0.0> : tensor<1xf32>
      %r = {cast}
      return %r : tensor<1x2xf32>
    }}""")
    func = entry_function(module, "f")
    for size, poison, expected in (
        (2, True, Evaluated),
        (3, True, RefusedArguments),
        (3, False, Evaluated),
    ):
        array = np.ones((1, size), np.float32)
        outcome = evaluate(module, func, (array,), Context(), poison=poison)
        assert isinstance(outcome, expected), outcome


@pytest.mark.parametrize(("element", "expected"), [("f16", Evaluated), ("bf16", NotEvaluable)])
def test_bytes_are_not_viewed_as_bf16(element: str, expected: type):
    """Numpy has four bytes for one, so that views would overlap or exceed their buffer."""
    module = parsed(f"""
    func.func @f() {{
      %a = memref.alloc() : memref<8xi8>
      %zero = arith.constant 0 : index
      %v = memref.view %a[%zero][] : memref<8xi8> to memref<4x{element}>
      return
    }}""")
    assert isinstance(evaluate(module, entry_function(module, "f"), (), Context()), expected)
