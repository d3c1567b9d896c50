"""Poison: an operation on `ub.poison` is poison, and a selection takes the other value."""

from __future__ import annotations

from xdsl.dialects import ub
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .scalar_folds import is_foldable_scalar

_VECTOR = (
    *("vector.bitcast", "vector.broadcast", "vector.extract", "vector.extract_strided_slice"),
    *("vector.shape_cast", "vector.transpose"),
)
_STAYS = ("arith.select", "arith.constant")


class PropagatePoison(RewritePattern):
    """Replace the operations that use `ub.poison` by poison, or by their other operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ub.PoisonOp, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op.value, ub.PoisonAttr):
            return
        users = {use.operation: use.index for use in op.result.uses}
        for user, index in users.items():
            if user.name == "arith.select":
                if index:
                    _, lhs, rhs = user.operands
                    rewriter.replace(user, (), [rhs if lhs is op.result else lhs])
            elif _is_poison_of(user, index):
                rewriter.replace(user, [ub.PoisonOp(user.results[0].type)])


def _is_poison_of(user: Operation, index: int) -> bool:
    """Return whether the result of an operation is poison if an operand is."""
    if len(user.results) != 1 or user.regions:
        return False
    if user.name in _VECTOR:
        return index == 0
    return is_foldable_scalar(type(user)) or user.name.startswith("math.")


PATTERNS = (PropagatePoison(),)
