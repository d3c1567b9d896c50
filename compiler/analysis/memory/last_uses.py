"""The last uses of tensors, through views of them."""

from __future__ import annotations

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.relax.interfaces import View
from ....dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ....dialects.relax.tuples import MatchCastOp

__all__ = ["dies_at", "source_of", "users_of"]


def source_of(value: SSAValue) -> SSAValue:
    """Return the value that `value` is a view of, or itself."""
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
    computed it, or a loop carries it into this block; `op` uses it once, and nothing else uses it
    or a view of it later.

    Only calls of kernels and views may use it: a tuple, a concatenation, a region or a terminator
    would keep it in a way that is not followed here.
    """
    source = source_of(value)
    match source.owner:
        case Block() as block if block is op.parent and _is_carried(block):
            pass
        case CallTIROp() | CallTIRInplaceOp() as maker if maker.parent is op.parent:
            pass
        case _:
            return False
    users = users_of(source)
    # A second operand that is the same buffer would be read after it was overwritten.
    if users.count(op) != 1:
        return False
    return all(
        # `is_before_in_block` walks on from `user`, to the end of the block if it is not before.
        user is op
        or (
            isinstance(user, View | MatchCastOp | CallTIROp | CallTIRInplaceOp)
            and user.parent is op.parent
            and user.is_before_in_block(op)
        )
        for user in users
    )


def _is_carried(block: Block) -> bool:
    """Return whether the arguments of `block` are what a loop carries from turn to turn."""
    match block.parent_op():
        case ForOp():
            return True
        case WhileOp() as loop:
            # The arguments of the region `before` may be passed on by its condition.
            return block is loop.after_region.block
        case _:
            return False
