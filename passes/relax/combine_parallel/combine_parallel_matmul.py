"""CombineParallelMatmul: products of one tensor with several matrices become one product."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation

from ....dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from ....dialects.relax.shapes import replace_dimension
from ....dialects.relax.types import shape_of, static_shape, tensor_type
from .parallel_branches import CombineParallel, Parallel

__all__ = ["CombineParallelMatmul", "parallel_matmul"]


def parallel_matmul(op: Operation) -> Parallel | None:
    """Describe a product of data with matrices of known shape, on the right."""
    if not isinstance(op, MatmulOp | DenseOp | BatchMatmulOp):
        return None
    weight, result = static_shape(op.operands[1].type), shape_of(tensor_type(op.result))
    if weight is None or len(weight) < 2 or not result:
        return None
    match op:
        case MatmulOp():
            weight_axis = len(weight) - 1
        case DenseOp():
            weight_axis = 0
        case BatchMatmulOp():
            weight_axis = 1 if op.transpose_b else 2
    axis = len(result) - 1
    if result[axis] != weight[weight_axis] or op.result.type not in op.inferred_types():
        return None
    key = (
        type(op),
        tuple(op.properties.items()),
        (tensor_type(op.operands[1]).element_type, replace_dimension(weight, weight_axis)),
        tuple(op.attributes.items()),
    )
    return Parallel(key, weight_axis, axis)


@dataclass(frozen=True)
class CombineParallelMatmul(CombineParallel):
    """Combine products of one tensor with several matrices, with the element-wise operations after
    them, into one.

    These are `relax.matmul`, `relax.nn.dense` and `relax.nn.batch_matmul`, as for the queries, keys
    and values of attention. The matrices differ in their elements and numbers of columns only. A
    bias, or another operand of the following operations with an element for each column, is
    concatenated as the matrices are. A subclass may refuse a group by overriding `check`. Source:
    `relax.CombineParallelMatmul`, `relay.CombineParallelDense` and `CombineParallelBatchMatmul`.

    Before:

        func.func @f(%x: tensor<5x8xf32>, %q: tensor<8x4xf32>, %k: tensor<8x4xf32>)
            -> (tensor<5x4xf32>, tensor<5x4xf32>) {
          %0 = relax.matmul %x, %q : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          %1 = relax.matmul %x, %k : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          func.return %0, %1 : tensor<5x4xf32>, tensor<5x4xf32>
        }

    After:

        func.func @f(%x: tensor<5x8xf32>, %q: tensor<8x4xf32>, %k: tensor<8x4xf32>)
            -> (tensor<5x4xf32>, tensor<5x4xf32>) {
          %0 = relax.concatenate %q, %k {axis = 1}
            : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
          %1 = relax.matmul %x, %0 : (tensor<5x8xf32>, tensor<8x8xf32>) -> tensor<5x8xf32>
          %2, %3 = relax.split %1 {indices = [4], axis = 1}
            : (tensor<5x8xf32>) -> (tensor<5x4xf32>, tensor<5x4xf32>)
          func.return %2, %3 : tensor<5x4xf32>, tensor<5x4xf32>
        }
    """

    name = "combine-parallel-matmul"
    opt_level = 4
    acts_on = (BatchMatmulOp, DenseOp, MatmulOp)

    min_num_branches: int = field(default=2, metadata={"minimum": 2})
    """Combine at least this number of products."""

    def describe(self, op: Operation) -> Parallel | None:
        return parallel_matmul(op)
