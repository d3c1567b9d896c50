"""Patterns of `func`, for `canonicalize`: calls of functions that are values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern


class CallDirectly(RewritePattern):
    """Call a function by its name, where the value that is called is a constant."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match each `func.call_indirect`."""
        callee, *arguments = op.operands
        constant = callee.owner
        if not isinstance(constant, Operation) or constant.name != "func.constant":
            return
        name = constant.properties.get("value")
        if isinstance(name, SymbolRefAttr):
            call = func.CallOp(name, arguments, [result.type for result in op.results])
            call.attributes |= op.attributes
            rewriter.replace(op, call)


PATTERNS: Final[Sequence[RewritePattern]] = (CallDirectly(),)
