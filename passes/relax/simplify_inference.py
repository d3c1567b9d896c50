"""SimplifyInference: decompose normalizations into element-wise operations and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.interfaces import SimplifiesInference
from ...dialects.relax.normalization import AffineNormOp, BatchNormOp, L2NormalizeOp, RMSNormOp
from ...passmanager.rewriting import PatternPass
from ..rewriting.decompose import replace_by_decomposition

__all__ = ["DecomposeForInference", "SimplifyInference"]


class DecomposeForInference(RewritePattern):
    """Replace an operation by a simpler equivalent at inference."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self,
        op: SimplifiesInference | AffineNormOp | BatchNormOp | L2NormalizeOp | RMSNormOp,
        rewriter: PatternRewriter,
        /,
    ) -> None:
        replace_by_decomposition(op, rewriter)


@dataclass(frozen=True)
class SimplifyInference(PatternPass):
    """Decompose normalizations, and remove dropout.

    `batch_norm` with constant parameters becomes a product and a sum with one constant each.
    Source: `relay.SimplifyInference`.
    """

    name = "simplify-inference"
    required = ("infer-type",)
    preserves = ("infer-type",)
    remove_dead = True

    def patterns(self) -> Sequence[RewritePattern]:
        return (DecomposeForInference(),)
