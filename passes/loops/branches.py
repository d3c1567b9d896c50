"""Branches: an `scf.if` replaced by one of them, or exchanged with the loop around it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.tir.ops import ForOp
from ...passmanager.fast.edit import erase, insert_before

__all__ = ["exchange_loop_and_branch", "inline_branch"]


def inline_branch(op: scf.IfOp, truth: bool) -> Operation | None:
    """Replace an `scf.if` by the operations of one branch; return the first of them, or None."""
    region = op.true_region if truth else op.false_region
    first: Operation | None = None
    values: Sequence[SSAValue] = ()
    if region.blocks:
        block = region.block
        end = block.last_op
        assert isinstance(end, scf.YieldOp)
        values = tuple(end.operands)
        erase(end)
        first = block.first_op
        Rewriter.inline_block(block, InsertPoint.before(op))
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(op)
    return first


def exchange_loop_and_branch(
    loop: ForOp, branch: scf.IfOp, condition_ops: Sequence[Operation]
) -> list[ForOp]:
    """Move an `scf.if` without results out of `loop`; each nonempty branch then contains the loop.

    `condition_ops` are the operations in the loop that compute the condition, in order; they are
    moved before it. The rest of the body stays in each loop. Return the loops.
    """
    place = loop.next_op
    assert place is not None  # a block does not end with a loop
    for op in condition_ops:
        op.detach()
    insert_before(loop, *condition_ops)
    loop.detach()
    condition, attributes = branch.cond, branch.attributes
    then, otherwise = (_detach_body(region) for region in branch.regions)
    pairs = [(loop, branch)]
    # The loop is copied for the second branch; with one empty branch it is moved.
    if then is not None and otherwise is not None:
        pairs.append(_copy_loop(loop, branch, otherwise))
    bodies = [body for body in (then, otherwise) if body is not None]
    for (_, inner), body in zip(pairs, bodies, strict=True):
        _replace_by_body(inner, body)
    loops = [copy for copy, _ in pairs]
    blocks = [Block() if then is None else Block(loops[:1])]
    if otherwise is not None:
        blocks.append(Block(loops[-1:]))
    for block in blocks:
        block.add_op(scf.YieldOp())
    outer = scf.IfOp(condition, (), *([block] for block in blocks), attr_dict=attributes)
    outer.location = branch.location
    insert_before(place, outer)
    return loops


def _copy_loop(loop: ForOp, branch: scf.IfOp, body: Block) -> tuple[ForOp, scf.IfOp]:
    """Copy `loop`; let `body`, detached from a branch in it, use the values of the copy.

    Return the copies of the loop and of `branch` in it.
    """
    values: dict[SSAValue, SSAValue] = {}
    copy = loop.clone(values)
    for op in body.walk():
        # The detached body is not in the loop, so the copy of the loop did not rename its operands.
        op.operands = [values.get(operand, operand) for operand in op.operands]
    pairs = zip(loop.body.block.ops, copy.body.block.ops, strict=True)
    inner = next(new for old, new in pairs if old is branch)
    assert isinstance(inner, scf.IfOp)
    return copy, inner


def _detach_body(region: Region) -> Block | None:
    """Detach the block of a branch; None if it has no operations."""
    if not region.blocks or (block := region.blocks[0]).first_op is block.last_op:
        return None
    return region.detach_block(block)


def _replace_by_body(branch: scf.IfOp, body: Block) -> None:
    """Replace an `scf.if` by the operations of `body`, which are moved out of it."""
    end = body.last_op
    assert end is not None
    erase(end)
    Rewriter.inline_block(body, InsertPoint.before(branch))
    erase(branch)
