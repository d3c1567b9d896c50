"""Reductions of control flow between blocks: branches and successors."""

from __future__ import annotations

from collections import Counter
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from ...passmanager.ir.walk import walk
from .replacement import Edit, erase_and_replace, is_terminator, stand_in

__all__ = ["branches", "successors"]


def branches(module: ModuleOp) -> list[Edit]:
    """Return edits that replace a branch by a copy of a returning terminator of the region, and
    erase the blocks that become unreachable."""

    def edit(end: Operation) -> None:
        block, region = end.parent, end.parent_region()
        if block is None or region is None or (leave := _exit(region)) is None:
            return
        new = leave.clone()
        block.insert_op_before(new, end)
        for number, operand in enumerate(leave.operands):
            new.operands[number] = stand_in(operand, end.operands, block)
        erase_and_replace(end)
        _erase_unreached(region)

    ends = [op for op in walk(module) if op.successors]
    return [partial(edit, op) for op in ends if (r := op.parent_region()) and _exit(r)]


def successors(module: ModuleOp) -> list[Edit]:
    """Return edits that merge a block with the only branch to it."""

    def edit(end: Operation, successor: Block) -> None:
        block, region = end.parent, end.parent_region()
        if block is None or region is None or successor.parent is not region:
            return
        for arg in successor.args:
            if arg.first_use is not None:
                arg.replace_all_uses_with(stand_in(arg, end.operands, block))
        erase_and_replace(end)
        for op in [*successor.ops]:
            op.detach()
            block.add_op(op)
        region.detach_block(successor)
        _erase_unreached(region)

    found: list[Edit] = []
    for region in (region for op in walk(module) for region in op.regions):
        ends = [end for block in region.blocks if (end := block.last_op) is not None]
        reached = Counter(successor for end in ends for successor in end.successors)
        found += [
            partial(edit, end, successor)
            for end in ends
            for successor in end.successors
            if reached[successor] == 1 and successor not in (region.first_block, end.parent)
        ]
    return found


def _exit(region: Region) -> Operation | None:
    """Return the first terminator in a region that leaves it."""
    ends = (block.last_op for block in region.blocks)
    return next((end for end in ends if end and is_terminator(end) and not end.successors), None)


def _erase_unreached(region: Region) -> None:
    """Erase the blocks of a region that are not reachable from its first block."""
    reached = {block: None for block in [region.first_block] if block is not None}
    pending = [*reached]
    while pending:
        end = pending.pop().last_op
        new = [block for block in end.successors if block not in reached] if end else []
        reached |= dict.fromkeys(new)
        pending += new
    for block in [block for block in region.blocks if block not in reached]:
        region.detach_block(block).drop_all_references()
