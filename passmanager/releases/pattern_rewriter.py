"""The base of rewriters, with the names of methods that xDSL has since 0.70, and folding."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING

from xdsl.builder import Builder, InsertOpInvT
from xdsl.folder import Folder
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriterListener
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException


def fold(op: Operation, folder: Folder, rewriter: PatternRewriter) -> None:
    """Replace an op by the result of its folder, unless that is invalid: sums of `arith` that
    overflow raise an error until xDSL 0.65.
    """
    try:
        folder.replace_with_fold(op, rewriter)
    except VerifyException:
        return


if TYPE_CHECKING or hasattr(PatternRewriter, "replace"):
    BaseRewriter = PatternRewriter
else:  # until xDSL 0.69 the names end in `_op`
    # Of the two names of the method that inserts, one calls the other; it is `insert` since 0.65.
    _insert = (
        Builder.insert
        if signature(Builder.insert) == signature(Builder.insert_op)
        else Builder.insert_op
    )

    class BaseRewriter(PatternRewriter):
        """A rewriter whose methods can be called, and overridden, by the new names.

        Patterns of xDSL call the old names.
        """

        def __init__(self, insert_point: InsertPoint) -> None:
            PatternRewriterListener.__init__(self)
            Builder.__init__(self, insert_point)

        current_operation = property(lambda self: self.matched)  # of `TrackingRewriter`

        def insert(self, op: InsertOpInvT, insertion_point: InsertPoint | None = None):
            self.has_done_action = True
            return _insert(self, op, insertion_point)

        def insert_op(self, op: InsertOpInvT, insertion_point: InsertPoint | None = None):
            return self.insert(op, insertion_point)

        def erase(self, op: Operation, safe_erase: bool = True) -> None:
            super().erase_op(op, safe_erase)

        def erase_op(self, op: Operation, safe_erase: bool = True) -> None:
            self.erase(op, safe_erase)

        def replace(
            self,
            op: Operation,
            new_ops: Operation | Sequence[Operation],
            new_results: Sequence[SSAValue | None] | None = None,
            safe_erase: bool = True,
        ) -> None:
            super().replace_op(op, new_ops, new_results, safe_erase)

        def replace_op(
            self,
            op: Operation,
            new_ops: Operation | Sequence[Operation],
            new_results: Sequence[SSAValue | None] | None = None,
            safe_erase: bool = True,
        ) -> None:
            self.replace(op, new_ops, new_results, safe_erase)
