"""DynamicToStatic: operations whose parameters are constants become static ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.dynamic.base import DynamicOp
from ...passmanager.rewriting import PatternPass

__all__ = ["DynamicToStatic", "MakeStatic"]


class MakeStatic(RewritePattern):
    """Replace a `dyn` operation by the static one with the properties that its operands say."""

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
    """Replace `dyn` operations whose parameters are constants by static ones; source:
    `relay.DynamicToStatic`.

    Parameters that are computed from constants or shapes are known after `infer-type` and
    `fold-constant`; `fixpoint(infer-type,fold-constant,dynamic-to-static)` finds all.
    """

    name = "dynamic-to-static"
    opt_level = 2
    required = ("infer-type",)
    preserves = ("infer-type",)

    def patterns(self) -> Sequence[RewritePattern]:
        return (MakeStatic(),)
