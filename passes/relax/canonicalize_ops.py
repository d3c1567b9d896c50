"""CanonicalizeOps: decompose bias_add and composite operations into basic ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.interfaces import CompositeOp
from ...dialects.relax.reduction.nn import BiasAddOp
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.rewriting import PatternPass
from ..decompose import replace_by_decomposition


class DecomposeComposite(RewritePattern):
    """Replace `bias_add`, or a composite operation, by basic ones."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CompositeOp | BiasAddOp, rewriter: PatternRewriter, /) -> None:
        replace_by_decomposition(op, rewriter)


@dataclass(frozen=True)
class CanonicalizeOps(PatternPass):
    """Replace `bias_add` by a sum, and `flatten` and `batch_flatten` by a reshape.

    Later passes then need no rules for them. A constant bias becomes a constant of the shape that
    broadcasts; another one is expanded. Source: `relay.CanonicalizeOps`.

    Before:

        func.func @main(%x: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> tensor<2x12xf32> {
          %0 = relax.nn.bias_add %x, %b : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
          %1 = relax.nn.batch_flatten %0 : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
          func.return %1 : tensor<2x12xf32>
        }

    After:

        func.func @main(%x: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> tensor<2x12xf32> {
          %0 = relax.expand_dims %b {axis = [1]} : (tensor<3xf32>) -> tensor<3x1xf32>
          %1 = relax.add %x, %0 : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
          %2 = relax.reshape %1 {newshape = [0, -1]} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
          func.return %2 : tensor<2x12xf32>
        }
    """

    name = "canonicalize-ops"
    opt_level = 1
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (BiasAddOp, CompositeOp)
    remove_dead = True

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        if BiasAddOp in ops:
            import_module("..decompositions", __package__)

    def patterns(self) -> Sequence[RewritePattern]:
        return (DecomposeComposite(),)
