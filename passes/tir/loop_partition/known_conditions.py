"""Replacement of conditions whose value is known, and of the branches that depend on them."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, OpResult
from xdsl.rewriter import Rewriter

from ....compiler.releases.effects import is_side_effect_free
from ....dialects.tir.ops import LikelyOp
from ....passmanager.fast.edit import erase, insert_before
from ...loops.branches import inline_branch

__all__ = ["replace_conditions"]


def replace_conditions(known: Iterable[tuple[OpResult, bool]]) -> None:
    """Replace results of type i1 by their known values, and erase the operations that compute them.

    The values are propagated to users: an `scf.if` is replaced by the branch that is taken, an
    `arith.select` by an operand, and `%known and %x` by `%x` or false.
    """
    pending = list(known)
    replaced: list[tuple[OpResult, bool]] = []
    while pending:
        value, truth = pending.pop()
        replaced.append((value, truth))
        for use in list(value.uses):
            match user := use.operation:
                case LikelyOp():
                    pending.append((user.res, truth))
                case arith.AndIOp() | arith.OrIOp():
                    # `true or x` is true, and `false and x` false; else the other operand is the
                    # result.
                    if truth is isinstance(user, arith.OrIOp):
                        pending.append((user.result, truth))
                    # It has none if the other operand was known, too, and it was replaced.
                    elif user.parent is not None:
                        Rewriter.replace_op(user, [], [user.operands[1 - use.index]])
                case arith.SelectOp() if use.index == 0:
                    Rewriter.replace_op(user, [], [user.lhs if truth else user.rhs])
                case scf.IfOp():
                    inline_branch(user, truth)
                case _:
                    pass
    # Users are replaced after the values they use, so they are erased first.
    for value, truth in reversed(replaced):
        if value.owner.parent is not None:
            _erase(value, truth)


def _erase(value: OpResult, truth: bool) -> None:
    """Erase the operation that computes `value`, and those of its block that only it used.

    Remaining uses get the constant `truth`.
    """
    if value.first_use is not None:
        constant = arith.ConstantOp.from_int_and_width(int(truth), 1)
        insert_before(value.op, constant)
        value.replace_all_uses_with(constant.result)
    # Not beyond the block: operations around the loop may serve other parts of it.
    block, pending = value.op.parent, [value.op]
    while pending:
        op = pending.pop()
        owners = {operand.owner for operand in op.operands}
        erase(op)
        pending += [
            owner
            for owner in owners
            if isinstance(owner, Operation) and owner.parent is block and _is_dead(owner)
        ]


def _is_dead(op: Operation) -> bool:
    unused = all(result.first_use is None for result in op.results)
    return unused and not op.regions and is_side_effect_free(op)
