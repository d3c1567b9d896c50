"""SimplifyExpr: algebraic simplification of neighboring operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import RewritePattern

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.elementwise.binary import AddOp, BinaryOp
from ....passmanager.ir.per_class import OpClasses, has_any
from ....passmanager.registration.rounding import Rounding
from ....passmanager.rewriting.rewriting import PatternPass
from ...constants.evaluation_code import load_constants, load_semantics
from .arithmetic_patterns import (
    MergeConstants,
    MultiplyFirst,
    ReciprocalRoot,
    RemoveNeutral,
    SubtractToAdd,
)
from .data_movement_patterns import (
    MergeAstypes,
    MergeLayoutTransforms,
    MergeReshapes,
    MergeTransposes,
    MergeViewedTransposes,
)
from .window_patterns import RemoveTaps

__all__ = ["SimplifyExpr"]


@dataclass(frozen=True)
class SimplifyExpr(PatternPass):
    """Merge neighboring operations, and remove operations without effect on their operand.

    Merged are sums and products with constants, reshapes, transpositions, layout changes and
    conversions. Sums and products of floats are reassociated, which changes their rounding.
    Taps of convolutions that read padding alone are removed. Source: `relay.SimplifyExpr`.

    Before:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
          %c = relax.constant dense<2.0> : tensor<f32>
          %0 = relax.multiply %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
          %1 = relax.multiply %0, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
          %2 = relax.reshape %1 {newshape = [3, 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
          %3 = relax.reshape %2 {newshape = [6]} : (tensor<3x2xf32>) -> tensor<6xf32>
          func.return %3 : tensor<6xf32>
        }

    After:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
          %0 = relax.full 4.0 : tensor<f32>
          %1 = relax.multiply %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
          %2 = relax.reshape %1 {newshape = [6]} : (tensor<2x3xf32>) -> tensor<6xf32>
          func.return %2 : tensor<6xf32>
        }
    """

    name = "simplify-expr"
    opt_level = 2
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become finite",
            "infinite may become NaN",
        )
    )
    required = ("infer-type",)
    preserves = ("infer-type",)
    remove_dead = True

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_constants(ops)
        if has_any(ops, ConstantOp, FullOp) and has_any(ops, BinaryOp):
            load_semantics([AddOp])  # computes the merged constants
            import_module("...constants.float_rounding", __package__)

    def patterns(self) -> Sequence[RewritePattern]:
        return (
            RemoveNeutral(),
            SubtractToAdd(),
            MergeConstants(),
            MultiplyFirst(),
            ReciprocalRoot(),
            MergeReshapes(),
            MergeTransposes(),
            MergeViewedTransposes(),
            MergeLayoutTransforms(),
            MergeAstypes(),
            RemoveTaps(),
        )
