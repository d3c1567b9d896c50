"""Merging of equal blocks, and removal of arguments of blocks that are always the same value
(MLIR's aggressive simplification of regions)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from ...passmanager.fast.edit import read_fields
from ...passmanager.ir.branch_operands import append_successor_operands
from ...passmanager.ir.control_flow import branch_of
from .attribute_numbering import AttributeNumbering
from .region_dead_code import predecessors_of, regions_of_blocks


def merge_identical_blocks(root: Operation) -> bool:
    """Merge the blocks in `root` that do the same, and drop arguments that are always the same
    value; return whether anything was changed.

    Two blocks do the same if they have the same operations with the same successors, up to values
    from other blocks. Where these differ they become arguments, if all branches have `BranchTrait`.
    Blocks with regions, and those of which values are used elsewhere, stay.
    """
    changed = False
    for region in list(regions_of_blocks(root)):
        changed |= _BlockMerger(region).run()
        changed |= _drop_redundant_arguments(region)
    return changed


# Equal blocks


class _BlockMerger:
    """The merging of equal blocks of a region; those before merged ones are looked at again."""

    def __init__(self, region: Region) -> None:
        self.numbering = AttributeNumbering()
        self.predecessors = predecessors_of(region)
        self.keys: dict[Block, object] = {}
        self.groups: dict[object, dict[Block, None]] = {}
        """The blocks with each key, in order."""
        self.pending = dict.fromkeys(list(region.blocks)[1:])

    def run(self) -> bool:
        """Merge blocks until none are equal; return whether any were merged."""
        changed = False
        while self.pending:
            pending, self.pending = self.pending, {}
            for key in dict.fromkeys(map(self.enter, pending)):
                blocks = list(self.groups.get(key, ()))
                if key is not None and len(blocks) > 1:
                    changed |= self.merge(blocks)
        return changed

    def enter(self, block: Block) -> object:
        """Put a block into the group of its key, and return that."""
        if block in self.keys:
            self.groups[self.keys.pop(block)].pop(block)
        if (key := _key(block, self.numbering)) is not None:
            self.keys[block] = key
            self.groups.setdefault(key, {})[block] = None
        return key

    def merge(self, blocks: Sequence[Block]) -> bool:
        """Merge the blocks that have the same key into the first of them; where their values from
        outside differ and a branch is not known, only those without differences."""
        ends = {block: self.ends_before(block) for block in blocks}
        outside = [_outside(block) for block in blocks]
        if not all(branch_of(end) for block in blocks for end in ends[block]):
            same = [b for b, values in zip(blocks, outside, strict=True) if values == outside[0]]
            blocks, outside = same, outside[:1] * len(same)
        if len(blocks) < 2 or any(_is_of_terminator(v) for values in outside for v in values):
            return False
        # The values that differ, each list of them once.
        columns: dict[tuple[SSAValue, ...], int] = {}
        positions: list[int | None] = []
        for column in zip(*outside, strict=True):
            is_same = all(value is column[0] for value in column)
            positions.append(None if is_same else columns.setdefault(column, len(columns)))
        leader = blocks[0]
        if columns:
            args = [leader.insert_arg(column[0].type, len(leader.args)) for column in columns]
            _replace_outside(leader, [None if p is None else args[p] for p in positions])
        for number, block in enumerate(blocks):
            for end in dict.fromkeys(ends[block]):
                _redirect(end, block, leader, [column[number] for column in columns])
        for block in blocks[1:]:
            self.groups[self.keys.pop(block)].pop(block)
            self.predecessors[leader] += self.predecessors.pop(block)
            assert block.parent is not None
            block.parent.erase_block(block, safe_erase=False)
        before = (end.parent for end in self.ends_before(leader))
        entry = leader.parent and leader.parent.first_block
        again = {block: None for block in (leader, *before) if block and block is not entry}
        self.pending |= again
        return True

    def ends_before(self, block: Block) -> list[Operation]:
        """Return the terminators that lead to a block."""
        return [end for end in self.predecessors[block] if end.parent is not None]


def _key(block: Block, numbering: AttributeNumbering) -> object:
    """Return what equal blocks share: all but their values from outside; None for a block that is
    never merged."""
    order: dict[SSAValue, int] = {}
    parts: list[object] = [numbering.of(arg.type) for arg in block.args]
    if not _define(order, block.args, block):
        return None
    for op in block.ops:
        operands, results, properties, attributes, successors, regions, _ = read_fields(op)
        if any(region.blocks for region in regions) or not _define(order, results, block):
            return None
        parts += [
            op.name,
            *numbering.of_all(properties),
            None,
            *numbering.of_all(attributes),
            *map(id, successors),
            *(numbering.of(result.type) for result in results),
            # A number for a value of the block, a tuple for one from outside.
            *(order.get(v, (numbering.of(v.type),)) for v in operands),
        ]
    return tuple(parts)


def _define(order: dict[SSAValue, int], values: Sequence[SSAValue], block: Block) -> bool:
    """Number the values of a block; return whether none of them is used in another one."""
    for value in values:
        order[value] = len(order)
        if any(use.operation.parent is not block for use in value.uses):
            return False
    return True


def _outside(block: Block) -> list[SSAValue]:
    """Return the values from other blocks that the operations of a block use, in order."""
    return [v for op in block.ops for v in op.operands if not _is_inside(v, block)]


def _is_inside(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return owner is block or (isinstance(owner, Operation) and owner.parent is block)


def _replace_outside(block: Block, new: Sequence[SSAValue | None]) -> None:
    """Replace the values from other blocks that a block uses, where there is a new one."""
    replacements = iter(new)
    for op in block.ops:
        for index, value in enumerate(op.operands):
            if not _is_inside(value, block) and (one := next(replacements)) is not None:
                op.operands[index] = one


def _is_of_terminator(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, Operation) and owner.next_op is None and bool(owner.successors)


def _redirect(end: Operation, block: Block, leader: Block, new: Sequence[SSAValue]) -> None:
    """Let a terminator lead to `leader` instead of `block`, with new values behind the others."""
    if new:
        for index, successor in enumerate(end.successors):
            if successor is block:
                append_successor_operands(end, index, new)
    if block is not leader:
        end.successors = [
            leader if successor is block else successor for successor in end.successors
        ]


# Arguments that are always the same value


def _drop_redundant_arguments(region: Region) -> bool:
    """Replace each argument for which all branches pass the same value by it."""
    redundant: dict[Block, set[int]] = {}
    predecessors = predecessors_of(region)
    for block, ends in predecessors.items():
        if block is region.first_block or not block.args or not ends:
            continue
        rows = [
            [end.operands[place] for place in places]
            for end in dict.fromkeys(ends)
            for places in _places_passed(end, block)
        ]
        if len(rows) < len(ends):
            continue  # an unknown terminator
        for arg, *passed in zip(block.args, *rows, strict=True):
            if passed[0] is not arg and all(value is passed[0] for value in passed):
                arg.replace_all_uses_with(passed[0])
                redundant.setdefault(block, set()).add(arg.index)
    dropped: dict[Operation, set[int]] = {}
    for block, indices in redundant.items():
        for end in dict.fromkeys(predecessors[block]):
            for places in _places_passed(end, block):
                dropped.setdefault(end, set()).update(places[index] for index in indices)
    for end, places in dropped.items():
        trait = branch_of(end)
        assert trait is not None  # as what it passes is known
        trait.drop_operands(end, places)
    for block, indices in redundant.items():
        for index in sorted(indices, reverse=True):
            block.erase_arg(block.args[index])
    return bool(redundant)


def _places_passed(end: Operation, block: Block) -> list[range]:
    """Return the places of the operands that a terminator passes to `block`, for each time that it
    leads there; none if that is not known."""
    trait = branch_of(end)
    if trait is None:
        return []
    return [
        trait.successor_operands(end, index)
        for index, successor in enumerate(end.successors)
        if successor is block
    ]
