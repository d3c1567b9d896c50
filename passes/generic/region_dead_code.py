"""Removal of unreachable blocks, of dead operations that use each other, and of dead arguments of
blocks (MLIR's `runRegionDCE` and `eraseUnreachableBlocks`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.cf import BranchOp, ConditionalBranchOp, SwitchOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

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


def remove_region_dead_code(root: Operation, *, arguments: bool = True) -> bool:
    """Erase the unreachable blocks in `root`, all operations on which no effect and no terminator
    depends, and, with `arguments`, the arguments of blocks on which none does; return whether there
    were any.

    All blocks in a region of an unregistered operation are reachable: it may enter any of them.
    The arguments of the first block stay, and those of blocks that an unknown terminator enters.
    """
    live = _Live(arguments)
    live.run(root)
    dead_blocks: list[Block] = []
    dead_ops: list[Operation] = []
    shortened: list[Block] = []
    for op in live.ops:
        for region in op.regions:
            reachable = reachable_blocks(region)
            dead_blocks += [block for block in region.blocks if block not in reachable]
            dead_ops += [
                inner for block in reachable for inner in block.ops if inner not in live.ops
            ]
            if arguments and len(reachable) > 1 and not isinstance(op, UnregisteredOp):
                shortened += [b for b in reachable if b is not region.first_block and b.args]
    dead_args = [arg for block in shortened for arg in block.args if arg not in live.args]
    if dead_args:
        _drop_passed(live, set(dead_args))
    # They may use each other: a value that is erased first leaves a placeholder in its uses.
    for op in dead_ops:
        op.detach()
        op.erase(safe_erase=False)
    for block in dead_blocks:
        assert block.parent is not None
        block.parent.erase_block(block, safe_erase=False)
    for arg in reversed(dead_args):
        arg.owner.erase_arg(arg)
    return bool(dead_ops or dead_blocks or dead_args)


def _drop_passed(live: _Live, dead: set[BlockArgument]) -> None:
    """Drop the values that branches pass to dead arguments."""
    for branch in live.branches:
        targets = targets_of(branch)
        kept = [
            [value for value, arg in zip(values, block.args, strict=True) if arg not in dead]
            for block, values in targets
        ]
        if any(len(new) < len(old) for new, (_, old) in zip(kept, targets, strict=True)):
            blocks = [block for block, _ in targets]
            redirect(branch, list(zip(blocks, kept, strict=True)))


@dataclass
class _Live:
    """The operations and arguments of blocks on which an effect or a terminator depends."""

    drops_arguments: bool
    """Whether what is passed to a dead argument is not needed."""
    ops: dict[Operation, None] = field(default_factory=dict[Operation, None])
    args: set[BlockArgument] = field(default_factory=set[BlockArgument])
    """The live arguments of blocks that are not the first of their region."""
    branches: list[Branch] = field(default_factory=list[Branch])
    passed: dict[BlockArgument, list[SSAValue]] = field(
        default_factory=dict[BlockArgument, list[SSAValue]]
    )
    """The values that branches pass to arguments that are not known to be live."""
    pending: list[Operation] = field(default_factory=list[Operation])

    def run(self, root: Operation) -> None:
        """Find what is live in `root`; nothing recurses."""
        pending, live = self.pending, self.ops
        pending.append(root)
        while pending:
            op = pending.pop()
            if op in live:
                continue
            live[op] = None
            if op is not root:
                self.need(op)
            for region in op.regions:
                ops = (inner for block in reachable_blocks(region) for inner in block.ops)
                pending += (inner for inner in ops if not would_be_dead(inner))

    def need(self, op: Operation) -> None:
        """Note that the operation around `op` is live, and what `op` needs."""
        if (holder := op.parent_op()) is not None:
            self.pending.append(holder)
        operands = read_step(op)[0]
        if isinstance(op, Branch) and self.drops_arguments:
            self.branches.append(op)
            for block, values in targets_of(op):
                for arg, value in zip(block.args, values, strict=False):
                    if arg in self.args:
                        self.need_value(value)
                    else:
                        self.passed.setdefault(arg, []).append(value)
            # The condition, or the number that is switched on.
            operands = operands[: 0 if isinstance(op, BranchOp) else 1]
        elif op.successors:
            for block in op.successors:
                for arg in block.args:
                    self.need_value(arg)
        for operand in operands:
            self.need_value(operand)

    def need_value(self, value: SSAValue) -> None:
        """Note that a value is live, and what branches pass for it."""
        values = [value]
        while values:
            value = values.pop()
            if isinstance(owner := value.owner, Operation):
                self.pending.append(owner)
            elif (arg := cast(BlockArgument, value)) not in self.args and owner.prev_block:
                self.args.add(arg)
                values += self.passed.pop(arg, ())


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
