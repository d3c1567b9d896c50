"""FlattenConcatenate: the limit of operands."""

from __future__ import annotations

from support.suites.inprocess import passline_opt
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region

from passline.dialects.relax.data.concatenation import ConcatenateOp
from passline.passes.relax.flatten_concatenate import FlattenConcatenate


def test_doubling_ends_at_the_limit():
    ops: list[Operation] = [TestOp(result_types=[TensorType(f32, [1])])]
    for _ in range(30):
        ops.append(ConcatenateOp(ops[-1], ops[-1]))
    func = FuncOp(
        "f", ((), ops[-1].result_types), Region(Block([*ops, ReturnOp(*ops[-1].results)]))
    )
    module = FlattenConcatenate(max_operands=64)(ModuleOp([func]))
    counts = [len(op.operands) for op in module.walk() if isinstance(op, ConcatenateOp)]
    assert max(counts) == 64 and len(counts) < 10


def test_a_concatenation_over_the_limit_is_a_remark():
    text = """
    func.func @f(%x : tensor<1xf32>) -> tensor<4xf32> {
      %0 = relax.concatenate %x, %x : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %1 = relax.concatenate %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    """
    result = passline_opt(
        "-p", "flatten-concatenate{max-operands=3}", "--remarks-missed", stdin=text
    )
    assert "[Missed] TooManyOperands" in result.stderr and "Operands=4, Limit=3" in result.stderr
