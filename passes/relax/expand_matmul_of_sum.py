"""ExpandMatmulOfSum: a product with a sum becomes the sum of two products."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects.relax.base import OneResultOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.contraction.linear_algebra import DenseOp, MatmulOp
from ...dialects.relax.data.manipulation import TransposeOp
from ...dialects.relax.elementwise.binary import AddOp
from ...dialects.relax.types import static_shape
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.effects import own_effects
from ...passmanager.ir.walk import walk
from ...passmanager.names import Rounding
from .lift_transform_params import NUM_INPUT


def expand_sums(func: FuncOp, actions: Actions = SILENT) -> None:
    """Replace `x @ (a + b)` in `func` by `x @ a + x @ b`; the sum may be transposed.

    A sum stays if it is computed of weights alone, which is done once: of constants and of the
    parameters after the first `num_input`. So does one with another use, or one that broadcasts.
    """
    known = computed_of_weights(func)
    for op in [op for op in walk(func) if isinstance(op, MatmulOp | DenseOp)]:
        x, value = op.operands
        transposition = value.owner if isinstance(value.owner, TransposeOp) else None
        sum = value.owner if transposition is None else transposition.data.owner
        if not isinstance(sum, AddOp) or not value.has_one_use() or not sum.result.has_one_use():
            continue
        # With a type of its own, the products do not wrap around where the sum does.
        if op.out_dtype is not None or static_shape(sum.result.type) is None:
            continue
        if {sum.lhs.type, sum.rhs.type} != {sum.result.type} or sum.result in known:
            continue
        if not actions.allowed(op):
            continue
        products: list[OneResultOp] = []
        for part in (sum.lhs, sum.rhs):
            if transposition is not None:
                part = inserted(TransposeOp(part, axes=transposition.axes), op).result
            product = type(op)(x, part, result_types=[op.result.type])
            products.append(inserted(product, op))
        total = AddOp(*products, result_types=[op.result.type])
        total.location = op.location
        Rewriter.replace_op(op, total)
        for dead in (transposition, sum):
            if dead is not None:
                erase(dead)
        actions.count("expanded")
        actions.passed(total, "Expanded", "a product with a sum is two products")


def inserted(new: OneResultOp, before: Operation) -> OneResultOp:
    """Insert `new` before an operation, at its location."""
    new.location = before.location
    insert_before(before, new)
    return new


def computed_of_weights(func: FuncOp) -> set[SSAValue]:
    """Return the values that pure operations compute of constants and weights alone."""
    number = func.attributes.get(NUM_INPUT)
    args = [] if func.is_declaration else [*func.args]
    inputs = number.value.data if isinstance(number, IntegerAttr) else len(args)
    known: set[SSAValue] = set(args[inputs:])
    for op in walk(func):
        is_known = isinstance(op, ConstantOp | FullOp) or (
            op.operands and all([operand in known for operand in op.operands])
        )
        if is_known and not op.regions and not own_effects(op):
            known.update(op.results)
    return known


@dataclass(frozen=True)
class ExpandMatmulOfSum(FunctionPass):
    """Replace a product with a sum by the sum of two products; source: `relax.ExpandMatmulOfSum`.

    So a weight and its update by LoRA are multiplied one by one, and `adjust-matmul-order` computes
    the second product in the order of fewer multiplications.

    Before:

        func.func @f(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>, %d: tensor<8x4xf32>)
            -> tensor<2x4xf32> {
          %0 = relax.add %w, %d : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
          %1 = relax.matmul %x, %0 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
          func.return %1 : tensor<2x4xf32>
        }

    After:

        func.func @f(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>, %d: tensor<8x4xf32>)
            -> tensor<2x4xf32> {
          %0 = relax.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
          %1 = relax.matmul %x, %d : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
          %2 = relax.add %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
          func.return %2 : tensor<2x4xf32>
        }
    """

    name = "expand-matmul-of-sum"
    opt_level = 4
    stage = "simplify"
    before = ("adjust-matmul-order",)
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become finite",
            "infinite may become NaN",
            "NaN may become infinite",
            "finite may become infinite",
            "finite may become NaN",
        )
    )
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (DenseOp, MatmulOp)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        expand_sums(func, ctx.actions)
