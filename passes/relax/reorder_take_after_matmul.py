"""ReorderTakeAfterMatmul: multiply by a whole table, then take from the products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.constant import ConstantOp
from ...dialects.relax.contraction.linear_algebra import DenseOp, MatmulOp
from ...dialects.relax.data.indexing import GatherOp, TakeOp
from ...dialects.relax.data.manipulation import BroadcastToOp, ReshapeOp, TransposeOp
from ...dialects.relax.types import shape_of, static_shape, tensor_type
from ...passmanager.names import Rounding
from ...passmanager.rewriting import PatternPass


def taken_axis(take: TakeOp) -> int | None:
    """Return the axis of the table from which a vector of indices takes, counted from the first;
    None for other indices, and if the rank of the table is unknown."""
    table, indices = shape_of(tensor_type(take.x)), shape_of(tensor_type(take.indices))
    if table is None or indices is None or len(indices) != 1 or take.axis is None:
        return None
    return take.axis % len(table)


class TakeColumns(RewritePattern):
    """Replace the product with columns of a matrix by columns of the product with the matrix."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp | DenseOp, rewriter: PatternRewriter, /) -> None:
        data, weight = op.operands
        take, result = weight.owner, shape_of(tensor_type(op.result))
        if not isinstance(take, TakeOp) or not weight.has_one_use() or result is None:
            return
        table = shape_of(tensor_type(take.x))
        columns = 0 if isinstance(op, DenseOp) else len(table or ()) - 1
        if table is None or len(table) < 2 or taken_axis(take) != columns:
            return
        product = type(op)(data, take.x, out_dtype=op.out_dtype)
        new = TakeOp(product, take.indices, axis=len(result) - 1, mode=take.mode)
        if new.result.type == op.result.type:
            rewriter.replace(op, [product, new])


class TakeMatrices(RewritePattern):
    """Replace the product of each batch with its own matrix of a table, as in batched LoRA, by
    one product with all matrices of the table, side by side, of which each batch takes its part.

    The matrix of each batch is then not copied out of the table. All shapes are known.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter, /) -> None:
        take = op.rhs.owner
        if not isinstance(take, TakeOp) or not op.rhs.has_one_use() or taken_axis(take) != 0:
            return
        data, table = static_shape(op.lhs.type), static_shape(take.x.type)
        batches = static_shape(take.indices.type)
        if data is None or table is None or len(data) != 3 or len(table) != 3:
            return
        if batches != data[:1] or static_shape(op.result.type) is None or 0 in (*data, *table):
            return
        count, terms, columns = table
        batch, rows, _ = data

        def insert(new: Operation) -> SSAValue:
            return rewriter.insert(new).results[0]

        side_by_side = insert(TransposeOp(take.x, axes=(1, 0, 2)))
        matrix = insert(ReshapeOp(side_by_side, newshape=(terms, count * columns)))
        products = insert(MatmulOp(op.lhs, matrix, out_dtype=op.out_dtype))
        parts = insert(ReshapeOp(products, newshape=(batch, rows, count, columns)))
        # The indices as `mode` reads them: beyond the end, or from it.
        all_numbers = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [count]), range(count))
        numbers = insert(ConstantOp(all_numbers))
        valid = insert(TakeOp(numbers, take.indices, axis=0, mode=take.mode))
        places = insert(ReshapeOp(valid, newshape=(batch, 1, 1, 1)))
        places = insert(BroadcastToOp(places, shape=(batch, rows, 1, columns)))
        part = insert(GatherOp(parts, places, axis=2))
        rewriter.replace(op, [ReshapeOp(part, newshape=(batch, rows, columns))])


@dataclass(frozen=True)
class ReorderTakeAfterMatmul(PatternPass):
    """Multiply by a whole table, and take from the products; source:
    `relax.ReorderTakeAfterMatmul`.

    The product then does not depend on the indices, so that it may be combined with others, and its
    weights prepared. It has as many columns as the table.

    Before:

        func.func @f(%x: tensor<2x8xf32>, %table: tensor<8x4xf32>, %i: tensor<3xi64>)
            -> tensor<2x3xf32> {
          %0 = relax.take %table, %i {axis = 1}
            : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<8x3xf32>
          %1 = relax.matmul %x, %0 : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
          func.return %1 : tensor<2x3xf32>
        }

    After:

        func.func @f(%x: tensor<2x8xf32>, %table: tensor<8x4xf32>, %i: tensor<3xi64>)
            -> tensor<2x3xf32> {
          %0 = relax.matmul %x, %table : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
          %1 = relax.take %0, %i {axis = 1} : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<2x3xf32>
          func.return %1 : tensor<2x3xf32>
        }
    """

    name = "reorder-take-after-matmul"
    opt_level = 4
    stage = "simplify"
    rounds = Rounding(changes=())
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (TakeOp,)
    remove_dead = True

    def patterns(self) -> Sequence[RewritePattern]:
        return (TakeColumns(), TakeMatrices())
