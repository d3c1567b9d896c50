"""Blocks of a region, branches between them, and the removal of unreachable blocks and of dead
operations that use each other (MLIR's `runRegionDCE` and `eraseUnreachableBlocks`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.cf import BranchOp, ConditionalBranchOp, SwitchOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ...passmanager.fast.edit import read_step
from ...passmanager.ir.effects import would_be_dead

Branch: TypeAlias = BranchOp | ConditionalBranchOp | SwitchOp
"""A terminator whose operands are known to be passed to blocks, but for the first one of two."""
Target: TypeAlias = tuple[Block, Sequence[SSAValue]]
"""A block, and the values of its arguments."""


def targets_of(branch: Branch) -> list[Target]:
    """Return the blocks that a branch may go to, with the values that it passes to each."""
    match branch:
        case BranchOp():
            return [(branch.successor, branch.arguments)]
        case ConditionalBranchOp():
            return [
                (branch.then_block, branch.then_arguments),
                (branch.else_block, branch.else_arguments),
            ]
        case SwitchOp():
            cases = zip(branch.case_blocks, branch.case_operand, strict=True)
            return [(branch.default_block, branch.default_operands), *cases]


def redirect(branch: Branch, targets: Sequence[Target]) -> None:
    """Let a branch lead to other targets, as many; its condition and weights stay."""
    blocks, values = [block for block, _ in targets], [values for _, values in targets]
    match branch:
        case BranchOp():
            new = BranchOp(blocks[0], *values[0])
        case ConditionalBranchOp():
            new = ConditionalBranchOp(branch.cond, blocks[0], values[0], blocks[1], values[1])
        case SwitchOp():
            cases = branch.case_values
            new = SwitchOp(branch.flag, blocks[0], values[0], cases, blocks[1:], values[1:])
    # Not replaced: who knows the branch goes on to do so.
    branch.operands = new.operands
    branch.successors = list(new.successors)
    branch.properties |= new.properties
    new.drop_all_references()


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
