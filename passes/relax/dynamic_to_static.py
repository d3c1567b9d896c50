"""DynamicToStatic: replace dynamic operations with constant parameters by static ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.dynamic.computation import DynamicOp
from ...passmanager.rewriting import PatternPass


class MakeStatic(RewritePattern):
    """Replace a `dyn` operation by the static one, whose properties are the values of operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DynamicOp, rewriter: PatternRewriter, /) -> None:
        if (values := op.known_values()) is None:
            return
        static = op.static_op(op.operands[: op.INPUTS], values, op.result_types)
        if static is not None:
            static.attributes |= op.attributes
            rewriter.replace(op, static)


@dataclass(frozen=True)
class DynamicToStatic(PatternPass):
    """Replace `dyn` operations whose parameters are constants by static operations.

    Parameters computed from constants or static shapes become constants in `fold-constant`;
    `fixpoint(infer-type,fold-constant,dynamic-to-static)` replaces all such operations.
    Source: `relay.DynamicToStatic`.

    Before:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
          %shape = relax.constant dense<[3, 2]> : tensor<2xi64>
          %0 = relax.dyn.reshape %x, %shape : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
          func.return %0 : tensor<3x2xf32>
        }

    After:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
          %shape = relax.constant dense<[3, 2]> : tensor<2xi64>
          %0 = relax.reshape %x {newshape = [3, 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
          func.return %0 : tensor<3x2xf32>
        }
    """

    name = "dynamic-to-static"
    opt_level = 2
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (DynamicOp,)

    def patterns(self) -> Sequence[RewritePattern]:
        return (MakeStatic(),)
