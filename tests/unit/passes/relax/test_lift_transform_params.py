"""LiftTransformParams: the function computes the same of the transformed weights."""

from __future__ import annotations

import numpy as np
from support.models.from_text import run
from support.parsing import parsed
from support.suites.inprocess import passline_opt
from xdsl.dialects.func import FuncOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.instruments import SemanticsInstrument
from passline.passes.relax.lift_transform_params import LiftTransformParams
from passline.passmanager import PassContext

TEXT = """
func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32>
    attributes {num_input = 1} {
  %t = relax.transpose %w : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %s = relax.exp %b : (tensor<4xf32>) -> tensor<4xf32>
  %0 = relax.matmul %x, %t : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = relax.add %0, %s : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = relax.multiply %1, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
"""


def test_results_are_those_of_the_original():
    module = parsed(TEXT)
    rng = np.random.default_rng(0)
    x, *weights = (rng.standard_normal(s).astype(np.float32) for s in ((2, 3), (4, 3), (4,)))
    (expected,) = run(module, x, *weights)
    lifted = LiftTransformParams()(module)
    transform = entry_function(lifted, "main_transform_params")
    transformed = interpret(lifted, transform)(*weights)
    (actual,) = run(lifted, x, *map(np.asarray, transformed))
    assert np.array_equal(actual, expected)
    assert len(transformed) == 3


def test_the_check_of_semantics_samples_the_new_parameters():
    module = parsed(TEXT)
    check = SemanticsInstrument()
    with PassContext(instruments=[check]):
        lifted = LiftTransformParams()(module)
    assert check.report() == ""
    assert [op.sym_name.data for op in lifted.ops if isinstance(op, FuncOp)] == [
        "main_transform_params",
        "main",
    ]


def test_a_function_that_is_referenced_is_a_remark():
    caller = "func.func @g() { %0 = arith.constant 0 : i32 func.return }".replace(
        "%0 = arith.constant 0 : i32", '"test.op"() {f = @main} : () -> ()'
    )
    result = passline_opt("-p", "lift-transform-params", "--remarks-missed", stdin=TEXT + caller)
    assert "[Missed] Referenced" in result.stderr
    assert "main_transform_params" not in result.stdout
