"""Patterns of `acc`, for `canonicalize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from .constants import constant_integer
from .shapes import static_list

_SEGMENTS: Final = "operandSegmentSizes"


class ConstantCondition(RewritePattern):
    """Drop the condition of a directive that is true, or the directive if it is false. Source:
    `RemoveConstantIfCondition` of MLIR."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a directive whose first operand may be a condition."""
        segments = static_list(op.properties[_SEGMENTS])
        if segments[0] != 1 or (condition := constant_integer(op.operands[0])) is None:
            return
        if not condition:
            rewriter.erase(op)
            return
        op.operands = op.operands[1:]
        op.properties[_SEGMENTS] = DenseArrayBase.from_list(i32, [0, *segments[1:]])
        rewriter.handle_operation_modification(op)


NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = dict.fromkeys(
    ("acc.enter_data", "acc.exit_data", "acc.update"), (ConstantCondition(),)
)
