"""The last uses of tensors, through views of them."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ...dialects.relax.interfaces import View
from ...dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ...dialects.relax.tuples import MatchCastOp

__all__ = ["dies_at", "source_of", "users_of"]


def source_of(value: SSAValue) -> SSAValue:
    """Return the value of which `value` is a view, or itself."""
    while isinstance(value.owner, View | MatchCastOp):
        value = value.owner.operands[0]
    return value


def users_of(value: SSAValue) -> list[Operation]:
    """Return the operations that use `value` or a view of it, once for each use."""
    found: list[Operation] = []
    for use in value.uses:
        found.append(user := use.operation)
        if isinstance(user, View | MatchCastOp):
            found += users_of(user.results[0])
    return found


def dies_at(op: Operation, value: SSAValue) -> bool:
    """Return whether the call `op` may overwrite its operand `value`: a kernel in the same block
    computed it, `op` uses it once, and nothing else uses it or a view of it later.

    Only calls of kernels and views may use it: a tuple, a concatenation, a region or a terminator
    would keep it in a way that is not followed here.
    """
    source = source_of(value)
    if not isinstance(source.owner, CallTIROp | CallTIRInplaceOp):
        return False
    if source.owner.parent is not op.parent:
        return False
    users = users_of(source)
    if users.count(op) != 1:
        return False
    return all(
        user is op
        or (
            isinstance(user, View | MatchCastOp | CallTIROp | CallTIRInplaceOp)
            and user.parent is op.parent
            and user.is_before_in_block(op)
        )
        for user in users
    )
