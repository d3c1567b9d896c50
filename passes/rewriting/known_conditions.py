"""Conditions that are known to hold, or not to: what is left of what depends on them."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, OpResult
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from ...dialects.tir.ops import LikelyOp
from .branches import inline_branch

__all__ = ["replace_conditions"]


def replace_conditions(known: Iterable[tuple[OpResult, bool]]) -> None:
    """Replace results, of type i1, by what they are known to be, and erase what computed them.

    What is made of them is known too: of an `scf.if` or an `arith.select` the part that is chosen
    stays, of a conjunction the other side.
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
                    if truth is isinstance(user, arith.OrIOp):
                        pending.append((user.result, truth))
                    elif user.parent is not None:
                        Rewriter.replace_op(user, [], [user.operands[1 - use.index]])
                case arith.SelectOp() if use.index == 0:
                    Rewriter.replace_op(user, [], [user.lhs if truth else user.rhs])
                case scf.IfOp():
                    inline_branch(user, truth)
                case _:
                    pass
    for value, truth in reversed(replaced):  # what uses a value before what computes it
        if value.owner.parent is not None:
            _erase(value, truth)


def _erase(value: OpResult, truth: bool) -> None:
    """Erase the operation that computes a value, and in its block what only that needed; other
    uses get a constant.
    """
    if value.first_use is not None:
        constant = arith.ConstantOp.from_int_and_width(int(truth), 1)
        Rewriter.insert_op(constant, InsertPoint.before(value.op))
        value.replace_all_uses_with(constant.result)
    block, pending = value.op.parent, [value.op]
    while pending:
        op = pending.pop()
        owners = {operand.owner for operand in op.operands}
        Rewriter.erase_op(op)
        for owner in owners:
            if isinstance(owner, Operation) and owner.parent is block and _is_dead(owner):
                pending.append(owner)


def _is_dead(op: Operation) -> bool:
    unused = all(result.first_use is None for result in op.results)
    return unused and not op.regions and is_side_effect_free(op)
