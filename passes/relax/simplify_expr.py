"""SimplifyExpr: algebraic simplification of neighboring operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.pattern_rewriter import RewritePattern

from ...passmanager.rewriting import PatternPass
from ..rewriting.arithmetic_patterns import (
    MergeConstants,
    MultiplyFirst,
    ReciprocalRoot,
    RemoveNeutral,
    SubtractToAdd,
)
from ..rewriting.data_movement_patterns import (
    MergeCasts,
    MergeLayoutTransforms,
    MergeReshapes,
    MergeTransposes,
)

__all__ = ["SimplifyExpr"]


@dataclass(frozen=True)
class SimplifyExpr(PatternPass):
    """Merge neighboring operations, and remove operations without effect on their operand.

    Merged are sums and products with constants, reshapes, transpositions, layout changes and
    conversions. Sums and products of floats are reassociated, which changes their rounding.
    Source: `relay.SimplifyExpr`.
    """

    name = "simplify-expr"
    opt_level = 2
    required = ("infer-type",)
    preserves = ("infer-type",)
    remove_dead = True

    def patterns(self) -> Sequence[RewritePattern]:
        return (
            RemoveNeutral(),
            SubtractToAdd(),
            MergeConstants(),
            MultiplyFirst(),
            ReciprocalRoot(),
            MergeReshapes(),
            MergeTransposes(),
            MergeLayoutTransforms(),
            MergeCasts(),
        )
