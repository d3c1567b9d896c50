"""CanonicalizeOps: what one operation says for several becomes the basic ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.interfaces import CompositeOp
from ...dialects.relax.nn import BiasAddOp
from ...passmanager.rewriting import PatternPass
from ..rewriting.decompose import replace_by_parts

__all__ = ["CanonicalizeOps", "SpellOut"]


class SpellOut(RewritePattern):
    """Replace an operation by the basic ones that it stands for."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CompositeOp | BiasAddOp, rewriter: PatternRewriter, /) -> None:
        replace_by_parts(op, rewriter)


@dataclass(frozen=True)
class CanonicalizeOps(PatternPass):
    """Replace `bias_add` by a sum, and `flatten` and `batch_flatten` by a reshape, so that other
    passes know one form of each; source: `relay.CanonicalizeOps`.

    A bias that is a constant becomes one of the shape that broadcasts. What loses its last use
    goes.
    """

    name = "canonicalize-ops"
    opt_level = 1
    required = ("infer-type",)
    preserves = ("infer-type",)
    remove_dead = True

    def patterns(self) -> Sequence[RewritePattern]:
        return (SpellOut(),)
