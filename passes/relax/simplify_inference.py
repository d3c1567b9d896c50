"""SimplifyInference: decompose normalizations into element-wise operations and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.interfaces import SimplifiesInference
from ...dialects.relax.reduction.normalization import (
    AffineNormOp,
    BatchNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    RMSNormOp,
)
from ...dialects.relax.types import is_ranked
from ...passmanager.conditions import no_op_of
from ...passmanager.fast.pattern_driver import actions_of
from ...passmanager.ir.per_class import OpClasses, has_any
from ...passmanager.names import Rounding
from ...passmanager.rewriting import PatternPass
from ..decompose import replace_by_decomposition


class DecomposeForInference(RewritePattern):
    """Replace an operation by a simpler equivalent at inference; not in a primitive function, whose
    operations were chosen after that."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self,
        op: SimplifiesInference | AffineNormOp | BatchNormOp | L2NormalizeOp | RMSNormOp,
        rewriter: PatternRewriter,
        /,
    ) -> None:
        around = op.parent_op()
        if around is not None and "relax.primitive" in around.attributes:
            return
        # `recognize-ops` puts decomposed normalizations together again, but only over dimensions of
        # known size, which the parameters of `relax.nn.layer_norm` have.
        if isinstance(op, InstanceNormOp) and not has_known_image(op):
            message = "an image of unknown size is normalized by one kernel"
            actions_of(rewriter).missed(op, "TypeNotKnown", message)
            return
        replace_by_decomposition(op, rewriter)


def has_known_image(op: InstanceNormOp) -> bool:
    """Return whether the dimensions that are normalized together are known."""
    if not is_ranked(type := op.data.type):
        return False
    shape = type.get_shape()
    outer = 0, op.axis % len(shape)
    return all(size != DYNAMIC_INDEX for axis, size in enumerate(shape) if axis not in outer)


_DECOMPOSED = (AffineNormOp, BatchNormOp, L2NormalizeOp, RMSNormOp)
"""The operations that do not decompose themselves."""


@dataclass(frozen=True)
class SimplifyInference(PatternPass):
    """Decompose normalizations, and remove dropout.

    `batch_norm` with constant parameters becomes a product and a sum with one constant each; an
    `instance_norm` of images of unknown size stays.
    Source: `relay.SimplifyInference`.

    Before:

        func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
          %gamma = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
          %beta = relax.constant dense<[0.0, 1.0]> : tensor<2xf32>
          %mean = relax.constant dense<[0.5, 1.0]> : tensor<2xf32>
          %var = relax.constant dense<[4.0, 16.0]> : tensor<2xf32>
          %0 = relax.nn.batch_norm %x, %gamma, %beta, %mean, %var {epsilon = 0.0}
              : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
              -> tensor<1x2xf32>
          func.return %0 : tensor<1x2xf32>
        }

    After:

        func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
          %0 = relax.constant dense<0.5> : tensor<2xf32>
          %1 = relax.multiply %x, %0 : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
          %2 = relax.constant dense<[-0.25, 0.5]> : tensor<2xf32>
          %3 = relax.add %1, %2 : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
          func.return %3 : tensor<1x2xf32>
        }
    """

    name = "simplify-inference"
    rounds = Rounding(changes=("sign of zero may change",))
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (SimplifiesInference, *_DECOMPOSED)
    ensures = (no_op_of(*_DECOMPOSED),)
    remove_dead = True

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        if has_any(ops, *_DECOMPOSED):
            import_module("..decompositions", __package__)

    def visited(self, module: ModuleOp) -> Sequence[Operation]:
        return [op for op in super().visited(module) if "relax.primitive" not in op.attributes]

    def patterns(self) -> Sequence[RewritePattern]:
        return (DecomposeForInference(),)
