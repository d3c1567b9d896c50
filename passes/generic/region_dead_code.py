"""The blocks of a region, and the removal of unreachable ones and of dead operations that use each
other (MLIR's `runRegionDCE` and `eraseUnreachableBlocks`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, Operation, Region

from ...passmanager.fast.edit import read_step
from ...passmanager.ir.effects import would_be_dead


def remove_region_dead_code(root: Operation) -> bool:
    """Erase the unreachable blocks in `root`, and all operations on which no effect and no
    terminator depends; return whether there were any.

    All blocks in a region of an unregistered operation are reachable: it may enter any of them.
    """
    live = _live_operations(root)
    dead_blocks: list[Block] = []
    dead_ops: list[Operation] = []
    for op in live:
        for region in op.regions:
            reachable = reachable_blocks(region)
            dead_blocks += [block for block in region.blocks if block not in reachable]
            dead_ops += [inner for block in reachable for inner in block.ops if inner not in live]
    # They may use each other: a value that is erased first leaves a placeholder in its uses.
    for op in dead_ops:
        op.detach()
        op.erase(safe_erase=False)
    for block in dead_blocks:
        assert block.parent is not None
        block.parent.erase_block(block, safe_erase=False)
    return bool(dead_ops or dead_blocks)


def _live_operations(root: Operation) -> dict[Operation, None]:
    """Return `root`, and the operations in its reachable blocks that have effects, end a block, or
    are used by others of these; with those around them."""
    live: dict[Operation, None] = {}
    pending = [root]
    while pending:
        op = pending.pop()
        if op in live:
            continue
        live[op] = None
        if op is not root:
            pending += _needed_by(op)
        for region in op.regions:
            ops = (inner for block in reachable_blocks(region) for inner in block.ops)
            pending += (inner for inner in ops if not would_be_dead(inner))
    return live


def _needed_by(op: Operation) -> Iterator[Operation]:
    """Yield the operation around `op`, and those that define its operands."""
    if (holder := op.parent_op()) is not None:
        yield holder
    for operand in read_step(op)[0]:
        if isinstance(owner := operand.owner, Operation):
            yield owner


def reachable_blocks(region: Region) -> dict[Block, None]:
    """Return the blocks of a region that control flow may reach, in an order that is not stated."""
    if isinstance(region.parent, UnregisteredOp):
        return dict.fromkeys(region.blocks)
    reachable: dict[Block, None] = {}
    pending = [] if (entry := region.first_block) is None else [entry]
    while pending:
        block = pending.pop()
        if block not in reachable:
            reachable[block] = None
            pending += () if block.last_op is None else block.last_op.successors
    return reachable


def predecessors_of(region: Region) -> dict[Block, list[Operation]]:
    """Return the terminators that lead to each block of a region, once for each time."""
    found: dict[Block, list[Operation]] = {block: [] for block in region.blocks}
    for block in region.blocks:
        end = block.last_op
        for successor in () if end is None else end.successors:
            found[successor].append(cast(Operation, end))
    return found


def regions_of_blocks(root: Operation) -> Iterator[Region]:
    """Yield the regions in `root` of several blocks, outer ones first."""
    pending = [root]
    while pending:
        op = pending.pop()
        for region in op.regions:
            if region.first_block is not region.last_block:
                yield region
            pending += [inner for block in region.blocks for inner in block.ops if inner.regions]
