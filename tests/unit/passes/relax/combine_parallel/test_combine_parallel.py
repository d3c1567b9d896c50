"""CombineParallelConv2D and CombineParallelMatmul: the check of a group, large fills, remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from support.parsing import parsed
from support.suites.inprocess import passline_opt
from xdsl.ir import Operation

from passline.passes.relax.combine_parallel import CombineParallelConv2D, CombineParallelMatmul
from passline.passmanager import Pass
from passline.passmanager.ir.walk import walk

MATMULS = """
func.func @f(%x: tensor<5x8xf32>, %q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x2xf32>)
    -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>) {
  %0 = relax.matmul %x, %q : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %1 = relax.matmul %x, %k : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %2 = relax.matmul %x, %v : (tensor<5x8xf32>, tensor<8x2xf32>) -> tensor<5x2xf32>
  return %0, %1, %2 : tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>
}
"""

FILLS = """
func.func @f(%x: tensor<1x4096x1x1xf32>) -> (tensor<1x4096x1x1xf32>, tensor<1x4096x1x1xf32>) {
  %v = relax.full 1.0 : tensor<4096x4096x1x1xf32>
  %w = relax.full 2.0 : tensor<4096x4096x1x1xf32>
  %0 = relax.nn.conv2d %x, %v
    : (tensor<1x4096x1x1xf32>, tensor<4096x4096x1x1xf32>) -> tensor<1x4096x1x1xf32>
  %1 = relax.nn.conv2d %x, %w
    : (tensor<1x4096x1x1xf32>, tensor<4096x4096x1x1xf32>) -> tensor<1x4096x1x1xf32>
  return %0, %1 : tensor<1x4096x1x1xf32>, tensor<1x4096x1x1xf32>
}
"""


@dataclass(frozen=True)
class OfQueries(CombineParallelMatmul):
    """Combine no group of more than two products."""

    name = "test-combine-queries"

    def check(self, ops: Sequence[Operation]) -> bool:
        return len(ops) <= 2


def counts(pass_: Pass, text: str) -> Counter[str]:
    """Return the number of operations of each name after the pass."""
    module = pass_(parsed(text))
    return Counter(op.name for op in walk(module))


def test_a_subclass_refuses_a_group():
    assert counts(CombineParallelMatmul(), MATMULS)["relax.matmul"] == 1
    assert counts(OfQueries(), MATMULS)["relax.matmul"] == 3


def test_large_fills_are_not_written_out():
    found = counts(CombineParallelConv2D(min_num_branches=2), FILLS)
    assert (found["relax.nn.conv2d"], found["relax.concatenate"], found["relax.full"]) == (1, 1, 2)
    equal = counts(CombineParallelConv2D(min_num_branches=2), FILLS.replace("full 2.0", "full 1.0"))
    assert (equal["relax.nn.conv2d"], equal["relax.concatenate"], equal["relax.full"]) == (1, 0, 1)


def test_too_few_branches_are_a_remark():
    pipeline = "combine-parallel-matmul{min-num-branches=4}"
    result = passline_opt("-p", pipeline, "--remarks-missed", stdin=MATMULS)
    assert "[Missed] TooFewBranches" in result.stderr and "Branches=3, Needed=4" in result.stderr
