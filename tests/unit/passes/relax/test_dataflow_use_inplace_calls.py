"""DataflowUseInplaceCalls: equal results, and the memory that it saves."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType

import passline
from passline.dialects.relax.kernels import CallTIRInplaceOp
from passline.passmanager.pipeline import parse_pipeline

# Operands of parameters, values that die, one that is used later and one in a branch.
TEXT = """
func.func @main(%c: i1, %x: tensor<8x16xf32>, %b: tensor<16xf32>)
    -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = relax.nn.softmax %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = relax.add %0, %b : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %2 = relax.nn.softmax %1 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = relax.multiply %2, %1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = scf.if %c -> (tensor<8x16xf32>) {
    %5 = relax.nn.softmax %3 : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %6 = relax.subtract %5, %3 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    scf.yield %6 : tensor<8x16xf32>
  } else {
    %7 = relax.exp %3 : (tensor<8x16xf32>) -> tensor<8x16xf32>
    scf.yield %7 : tensor<8x16xf32>
  }
  %8 = relax.nn.softmax %4 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  func.return %8, %3 : tensor<8x16xf32>, tensor<8x16xf32>
}"""


@pytest.mark.parametrize("condition", [True, False])
def test_results_are_equal(condition: bool):
    module = parse_pipeline("legalize-ops")(parsed(TEXT))
    in_place = parse_pipeline("dataflow-use-inplace-calls")(module)
    planned = parse_pipeline("plan-memory")(in_place)
    assert sum(isinstance(op, CallTIRInplaceOp) for op in in_place.walk()) == 3
    rng = np.random.default_rng(1)
    arguments = (
        np.array(condition),
        *(rng.normal(size=shape).astype(np.float32) for shape in [(8, 16), (16,)]),
    )
    expected = passline.compile(module, level=None, engine="numpy")(*arguments)
    for other in (in_place, planned):
        found = passline.compile(other, level=None, engine="numpy")(*arguments)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_one_buffer_instead_of_two():
    """The operand and the result of a sum share their bytes."""
    text = """
    func.func @main(%x: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
      %0 = relax.nn.softmax %x : (tensor<64xf32>) -> tensor<64xf32>
      %1 = relax.add %0, %b : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      %2 = relax.nn.softmax %1 : (tensor<64xf32>) -> tensor<64xf32>
      func.return %2 : tensor<64xf32>
    }"""
    assert arena_of("legalize-ops,plan-memory", text) == 512
    assert arena_of("legalize-ops,dataflow-use-inplace-calls,plan-memory", text) == 256


def arena_of(pipeline: str, text: str) -> int:
    """Return the bytes of the allocation of `@main` after a pipeline."""
    module = parse_pipeline(pipeline)(parsed(text))
    arena = next(op for op in module.walk() if isinstance(op, memref.AllocOp))
    assert isinstance(type := arena.memref.type, MemRefType)
    return type.get_shape()[0]
