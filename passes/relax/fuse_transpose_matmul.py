"""FuseTransposeMatmul: products read transposed matrices where they are."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects.relax.base import TensorOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from ...dialects.relax.data.manipulation import TransposeOp
from ...dialects.relax.types import shape_of, tensor_type
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.ir.walk import walk
from ...passmanager.names import Rounding


def fuse_transpositions(func: Operation, actions: Actions = SILENT) -> None:
    """Replace each transposition of matrices in `func` by products that read them transposed.

    It stays if one of its users is no product, and the result is needed anyway; and if it is one of
    a constant, which `fuse-ops` moves into the kernel of the product, and is computed once.
    """
    for op in [op for op in walk(func) if isinstance(op, TransposeOp)]:
        if not swaps_matrices(op) or isinstance(op.data.owner, ConstantOp | FullOp):
            continue
        uses = [(use.operation, use.index) for use in op.result.uses]
        if not uses or not all([reads_transposed(user, index) for user, index in uses]):
            continue
        if not actions.allowed(op):
            continue
        actions.passed(op, "Fused", "read by products as it is", Products=len(uses))
        actions.count("fused")
        # A product of a matrix and its own transpose is one of two uses, and is replaced by the
        # first one: each round takes a use that is left.
        while (use := op.result.first_use) is not None:
            product = use.operation
            new = product_of_data(product, use.index, op.data)
            new.location = product.location
            Rewriter.replace_op(product, new)
        erase(op)


def swaps_matrices(op: TransposeOp) -> bool:
    """Return whether `op` exchanges the last two dimensions alone."""
    order = op.order()
    if order is None or len(order) < 2:
        return False
    *batch, rows, columns = range(len(order))
    return order == [*batch, columns, rows]


def reads_transposed(op: Operation, index: int) -> bool:
    """Return whether `op` is a product that can read the transpose of operand `index`."""
    if not isinstance(op, MatmulOp | DenseOp | BatchMatmulOp):
        return False
    ranks = [rank_of(operand) for operand in op.operands]
    if None in ranks:
        return False
    # A vector is multiplied by one matrix, on either side.
    return 1 not in ranks or ranks[index] == 2


def product_of_data(op: Operation, index: int, data: SSAValue) -> TensorOp:
    """Return the product `op` with `data` in the place of its transpose, operand `index`."""
    assert isinstance(op, MatmulOp | DenseOp | BatchMatmulOp)
    transposed = [False, isinstance(op, DenseOp)]
    if isinstance(op, BatchMatmulOp):
        transposed = [op.transpose_a, op.transpose_b]
    operands = [*op.operands]
    operands[index] = data
    transposed[index] = not transposed[index]
    if rank_of(operands[1]) == 1:  # the vector becomes a row: (A^T @ v) is (v @ A)
        operands.reverse()
        transposed = [False, False]
    types, out = [op.result.type], op.out_dtype
    if transposed == [False, False]:
        return MatmulOp(*operands, result_types=types, out_dtype=out)
    if transposed == [False, True] and rank_of(operands[1]) == 2:
        return DenseOp(*operands, result_types=types, out_dtype=out)
    flags = dict(zip(("transpose_a", "transpose_b"), transposed, strict=True))
    return BatchMatmulOp(*operands, result_types=types, out_dtype=out, **flags)


def rank_of(value: SSAValue[Attribute]) -> int | None:
    """Return the rank of a tensor; None if it is not known."""
    shape = shape_of(tensor_type(value))
    return None if shape is None else len(shape)


@dataclass(frozen=True)
class FuseTransposeMatmul(FunctionPass):
    """Compute products of transposed matrices without the transposition; source:
    `relax.FuseTransposeMatmul`.

    Before:

        func.func @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
          %0 = relax.transpose %w : (tensor<2x8xf32>) -> tensor<8x2xf32>
          %1 = relax.matmul %x, %0 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
          func.return %1 : tensor<4x2xf32>
        }

    After:

        func.func @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
          %0 = relax.nn.dense %x, %w : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
          func.return %0 : tensor<4x2xf32>
        }
    """

    name = "fuse-transpose-matmul"
    opt_level = 2
    rounds = Rounding(changes=())
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (TransposeOp,)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        fuse_transpositions(func, ctx.actions)
