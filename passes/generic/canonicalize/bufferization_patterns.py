"""Folds and patterns of `bufferization`, for `canonicalize`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.dialects import bufferization, memref
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....passmanager.ir.effects import FREES, class_effects
from .by_dialect import Fold, Folded


def _fold_to_tensor(op: Operation) -> Folded | None:
    made = op.operands[0].owner
    if isinstance(made, bufferization.ToBufferOp) and op.prev_op is made:
        # Only directly after it: the buffer may be written in between.
        source = made.operands[0]
        return source if source.type == op.results[0].type else None
    return None


def _fold_to_buffer(op: Operation) -> Folded | None:
    made = op.operands[0].owner
    if isinstance(made, bufferization.ToTensorOp):
        source = made.operands[0]
        return source if source.type == op.results[0].type else None
    return None


FOLDS: Final[Mapping[str, Fold]] = {
    "bufferization.to_buffer": _fold_to_buffer,
    "bufferization.to_tensor": _fold_to_tensor,
}


class DropClone(RewritePattern):
    """Use a buffer instead of its clone, if one of the two is freed in the block: the other one is
    not needed any more then. Source: `SimplifyClones` of MLIR."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: bufferization.CloneOp, rewriter: PatternRewriter, /) -> None:
        source, clone = op.input, op.output
        if clone.first_use is None:
            rewriter.erase(op)
            return
        if source.type != clone.type:
            return
        of_source, of_clone = _frees(source), _frees(clone)
        if len(of_source) > 1 or len(of_clone) > 1:
            return
        # Both in one block may overlap in part only.
        here = [free for free in (*of_clone, *of_source) if free.parent is op.parent]
        if len(here) != 1:
            return
        # What is freed in between may be an alias.
        following = op.next_op
        while following is not here[0]:
            if following is None or class_effects[type(following)] & FREES:
                return
            following = following.next_op
        rewriter.erase(here[0])
        rewriter.replace(op, (), [source])


def _frees(value: SSAValue) -> list[Operation]:
    """Return the operations that free a buffer."""
    return [use.operation for use in value.uses if isinstance(use.operation, memref.DeallocOp)]


PATTERNS: Final[tuple[RewritePattern, ...]] = (DropClone(),)
