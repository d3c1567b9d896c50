"""AdjustMatmulOrder: compute chains of matrix products in the order of fewer multiplications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.contraction.linear_algebra import MatmulOp
from ...dialects.relax.types import shape_of, static_shape, tensor_type
from ...passmanager.names import Rounding
from ...passmanager.rewriting import PatternPass

MAX_ROWS = 1 << 40
"""An upper bound of the rows of a tensor whose number of rows is not known."""


@dataclass(frozen=True)
class Reassociate(RewritePattern):
    """Replace `(x @ a) @ b` by `x @ (a @ b)`, or the reverse, for matrices `a` and `b` of known
    shapes, where that takes fewer multiplications."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter, /) -> None:
        # `op` may be `(x @ a) @ b` (`is_left`), `x @ (a @ b)`, or both.
        for inner, is_left in ((op.lhs.owner, True), (op.rhs.owner, False)):
            if not isinstance(inner, MatmulOp) or not inner.result.has_one_use():
                continue
            x, a, b = (*inner.operands, op.rhs) if is_left else (op.lhs, *inner.operands)
            if op.out_dtype or inner.out_dtype or not _is_cheaper(x, a, b, left=not is_left):
                continue
            first = MatmulOp(a, b) if is_left else MatmulOp(x, a)
            second = MatmulOp(x, first) if is_left else MatmulOp(first, b)
            if second.result.type == op.result.type:
                rewriter.replace(op, [first, second])
                return


def _is_cheaper(x: SSAValue, a: SSAValue, b: SSAValue, *, left: bool) -> bool:
    """Return whether the order `(x @ a) @ b`, if `left`, or else `x @ (a @ b)`, takes fewer
    multiplications than the other one, for any number of rows that `x` may have.

    False if the shapes of `a` and `b` are not known, or they are not matrices.
    """
    a_shape, b_shape = static_shape(a.type), static_shape(b.type)
    if a_shape is None or b_shape is None or len(a_shape) != 2 or len(b_shape) != 2:
        return False
    (terms, rank), (_, columns) = a_shape, b_shape
    # Both costs are linear in the number of rows, so that the ends of its range decide.
    for rows in _rows(x):
        left_first = rows * rank * (terms + columns)
        right_first = terms * columns * (rank + rows)
        if not (left_first < right_first if left else right_first < left_first):
            return False
    return True


def _rows(x: SSAValue) -> Sequence[int]:
    """Return the number of rows of a tensor, those of all matrices of a batch; the minimum and the
    maximum if it is not known."""
    shape = shape_of(tensor_type(x))
    if shape is None or any(size < 0 for size in shape[:-1]):
        return (1, MAX_ROWS)
    return (prod(shape[:-1]),)


@dataclass(frozen=True)
class AdjustMatmulOrder(PatternPass):
    """Compute products of three matrices in the order of fewer multiplications.

    `x @ (a @ b)` becomes `(x @ a) @ b`, or the reverse, if both have results of the same type and
    the inner product has no other use. Products with matrices of low rank, such as those of LoRA,
    are computed without the full matrix. The number of rows of `x` may be unknown: the order then
    changes only where that saves multiplications for any number of rows. Sums of floats are rounded
    in another way. Source: `relax.AdjustMatmulOrder`.

    Before:

        func.func @main(%x: tensor<?x64xf32>, %a: tensor<64x4xf32>, %b: tensor<4x32xf32>)
            -> tensor<?x32xf32> {
          %0 = relax.matmul %a, %b : (tensor<64x4xf32>, tensor<4x32xf32>) -> tensor<64x32xf32>
          %1 = relax.matmul %x, %0 : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
          func.return %1 : tensor<?x32xf32>
        }

    After:

        func.func @main(%x: tensor<?x64xf32>, %a: tensor<64x4xf32>, %b: tensor<4x32xf32>)
            -> tensor<?x32xf32> {
          %0 = relax.matmul %x, %a : (tensor<?x64xf32>, tensor<64x4xf32>) -> tensor<?x4xf32>
          %1 = relax.matmul %0, %b : (tensor<?x4xf32>, tensor<4x32xf32>) -> tensor<?x32xf32>
          func.return %1 : tensor<?x32xf32>
        }
    """

    name = "adjust-matmul-order"
    opt_level = 4
    required = ("infer-type",)
    stage = "simplify"
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become NaN",
            "NaN may become infinite",
            "finite may become infinite",
            "finite may become NaN",
        )
    )
    preserves = ("infer-type",)
    acts_on = (MatmulOp,)
    remove_dead = True

    def patterns(self) -> Sequence[RewritePattern]:
        return (Reassociate(),)
