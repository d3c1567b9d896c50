"""SSA dominance, which xDSL does not verify: every use stands where its definition is visible."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Protocol, TypeAlias, cast, runtime_checkable

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, BlockArgument, ErasedSSAValue, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ..errors import InvalidIRError
from .access import read_step
from .location import place_of
from .walk import walk

__all__ = [
    "DominanceInfo",
    "RegionKindInterface",
    "invalid",
    "is_graph_region",
    "name_of",
    "verify_dominance",
    "verify_scope",
]


@runtime_checkable
class RegionKindInterface(Protocol):
    """An op that says which of its regions are graph regions, whose ops stand in any order."""

    def has_ssa_dominance(self, region_index: int) -> bool:
        """Whether in this region a definition has to come before its uses."""
        ...


def name_of(op: Operation) -> str:
    """The name of an op, also of an unregistered one."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def invalid(op: Operation, message: str) -> InvalidIRError:
    """The error that `op` is invalid."""
    return InvalidIRError(f"'{name_of(op)}' op {message}", op)


Point: TypeAlias = Operation | Block | SSAValue
"""Where something is defined or used; a block stands for its start."""


def verify_dominance(op: Operation) -> None:
    """Raise InvalidIRError for the first use below `op` whose definition does not dominate it."""
    scopes = [op]
    for scope in scopes:
        scopes += verify_scope(scope)


def verify_scope(op: Operation) -> list[Operation]:
    """As `verify_dominance`, but leave out the inside of isolated ops; returns these."""
    scan = _Scan(op)
    scan.run()
    return scan.isolated


class DominanceInfo:
    """Which ops, blocks and values below an op come before which, on every path; an analysis."""

    def __init__(self, op: Operation) -> None:
        self._order: dict[Operation, int] = {op: 0}
        self._trees: dict[Region, _DominatorTree] = {}
        for holder in walk(op):
            for region in holder.regions:
                if len(blocks := [*region.blocks]) > 1:
                    self._trees[region] = _DominatorTree(blocks[0])
                for block in blocks:
                    self._order |= {inner: number for number, inner in enumerate(block.ops)}

    def properly_dominates(self, a: Point, b: Point) -> bool:
        """Whether `a` is there wherever `b` is, and is not `b`.

        As in MLIR: an op dominates what is in its regions, its results do not; in a graph region
        everything dominates what is in the same block; and to unreachable blocks everything does.
        """
        block, place = self._place(a)
        b_block, b_place = self._place(b)
        while b_block is not None and (block is None or b_block.parent is not block.parent):
            if (holder := b_block.parent_op()) is a:
                return True
            b_block, b_place = (None, 0) if holder is None else self._place(holder)
        if block is None or b_block is None or (region := block.parent) is None:
            return False
        if block is b_block:
            return place < b_place or is_graph_region(region)
        return self._trees[region].properly_dominates(block, b_block)

    def _place(self, point: Point) -> tuple[Block | None, int]:
        """The block of `point`, and its place in the list of ops; -1 is the start."""
        owner = point.owner if isinstance(point, SSAValue) else point
        if isinstance(owner, Block):
            return owner, -1
        return owner.parent, self._order[owner]


def is_graph_region(region: Region) -> bool:
    """Whether the ops of a block stand in any order; in an unregistered op, they may."""
    op = region.parent
    if isinstance(op, ModuleOp | UnregisteredOp):
        return True
    if not hasattr(op, "has_ssa_dominance"):  # `isinstance` of a protocol alone is ten times slower
        return False
    assert isinstance(op, RegionKindInterface)
    return not op.has_ssa_dominance(cast(Operation, op).get_region_index(region))


def _is_isolated(op: Operation) -> bool:
    """Whether no value from outside of `op` may be used in it."""
    return op.has_trait(IsolatedFromAbove, value_if_unregistered=False)


class _Scan:
    """A walk over the ops of one scope, in an order in which each comes after what dominates it.

    What is visible is a set, from which the values of a block are dropped when all is done that the
    block dominates. So a use costs one look-up, wherever its definition is.
    """

    def __init__(self, root: Operation) -> None:
        self.isolated: list[Operation] = []
        self._root = root
        self._visible: set[int] = set()  # ids, as xDSL's hash of a value is slow
        self._trail: list[int] = []  # what is visible, in the order in which it became so
        # What is left to do, last first: go into a block; go on after an op, when its regions are
        # done; go into the blocks of a region that cannot be reached; shorten the trail to an int.
        self._pending: list[Block | Operation | Region | int] = []
        self._children: dict[Block, list[Block]] = {}
        self._unreachable: set[Block | None] = set()

    def run(self) -> None:
        self._push_regions(self._root)
        while self._pending:
            match self._pending.pop():
                case int(length):
                    self._visible.difference_update(self._trail[length:])
                    del self._trail[length:]
                case Operation() as op:
                    self._define(op.results)
                    self._scan(op.next_op)
                case Block() as block:
                    self._enter(block)
                case region:
                    self._enter_unreachable(region)

    def _push_regions(self, op: Operation) -> None:
        for region in reversed(op.regions):
            if (entry := region.first_block) is None:
                continue
            if entry.next_block is not None:
                tree = _DominatorTree(entry)
                self._children |= zip(tree.blocks, tree.children)
                self._unreachable |= {b for b in region.blocks if b not in tree.numbers}
                self._pending.append(region)
            self._pending.append(entry)

    def _enter(self, block: Block) -> None:
        self._pending.append(len(self._trail))
        self._pending += reversed(self._children.get(block, ()))
        self._define(block.args)
        if block.parent is not None and is_graph_region(block.parent):
            for op in block.ops:
                self._define(op.results)
        self._scan(block.first_op)

    def _enter_unreachable(self, region: Region) -> None:
        """Make all values of a region visible, and go into the blocks that cannot be reached.

        MLIR is stricter in one case: an op nested in such a block that uses a later value of it.
        """
        blocks = [block for block in region.blocks if block in self._unreachable]
        if not blocks:
            return
        self._pending.append(len(self._trail))
        self._pending += reversed(blocks)
        for block in region.blocks:
            self._define(block.args)
            for op in block.ops:
                self._define(op.results)

    def _define(self, values: Iterable[SSAValue]) -> None:
        ids = [id(value) for value in values if id(value) not in self._visible]
        self._visible.update(ids)
        self._trail += ids

    def _scan(self, op: Operation | None) -> None:
        """Check the uses in `op` and those after it, up to an op with regions to go into."""
        visible, trail = self._visible, self._trail
        while op is not None:
            operands, results, regions, next_op = read_step(op)
            for operand in operands:
                if id(operand) not in visible:
                    self._check_invisible(op, operand)
            if regions:
                if not _is_isolated(op):
                    self._pending.append(op)
                    self._push_regions(op)
                    return
                self.isolated.append(op)
            for result in results:
                if (key := id(result)) not in visible:
                    visible.add(key)
                    trail.append(key)
            op = next_op

    def _check_invisible(self, op: Operation, operand: SSAValue) -> None:
        """Raise, unless `operand` comes from above the root, or the block cannot be reached."""
        if op.parent in self._unreachable:
            return
        index = [*op.operands].index(operand)
        if isinstance(operand, ErasedSSAValue):
            raise invalid(op, f"operand #{index} is an erased value")
        isolated = _is_isolated(self._root)
        if not isolated and self._surroundings.properly_dominates(operand, self._root):
            return
        outside = isolated and not _is_below(operand, self._root)
        what = "is defined outside of the region" if outside else "does not dominate this use"
        raise invalid(op, f"operand #{index} {what}: {_describe(operand)}")

    @cached_property
    def _surroundings(self) -> DominanceInfo:
        top = self._root
        while (parent := top.parent_op()) is not None:
            top = parent
        return DominanceInfo(top)


def _is_below(value: SSAValue, op: Operation) -> bool:
    return value.owner is not op and op.is_ancestor(value.owner)


def _describe(value: SSAValue) -> str:
    """What `value` is and of what; its name is the hint, as there is no other."""
    hint = "" if value.name_hint is None else f"%{value.name_hint}, "
    if isinstance(value, OpResult):
        return f"{hint}result #{value.index} of {_with_place(value.op)}"
    holder = value.owner.parent_op()
    of = "" if holder is None else f" of {_with_place(holder)}"
    return f"{hint}argument #{cast(BlockArgument, value).index} of a block{of}"


def _with_place(op: Operation) -> str:
    return f"'{name_of(op)}'{place_of(op)}"


class _DominatorTree:
    """The dominator tree of the blocks that can be reached in a region, by Semi-NCA.

    L. Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005; as in LLVM.
    Blocks have the number of their visit in a depth-first search, and so do their dominators.
    """

    def __init__(self, entry: Block) -> None:
        self.blocks: list[Block] = []
        self.numbers: dict[Block, int] = {}
        self.parents: list[int] = []
        self._search(entry)
        self.dominators = self._dominators(self._predecessors())
        self.children: list[list[Block]] = [[] for _ in self.blocks]
        for number, dominator in enumerate(self.dominators[1:], 1):
            self.children[dominator].append(self.blocks[number])
        self.enter, self.leave = self._intervals()

    def _search(self, entry: Block) -> None:
        """Number the blocks; each one's parent is the block that it was reached from."""
        pending = [(entry, 0)]
        while pending:
            block, parent = pending.pop()
            if block in self.numbers:
                continue
            number = self.numbers[block] = len(self.blocks)
            self.blocks.append(block)
            self.parents.append(parent)
            pending += [(successor, number) for successor in reversed(_successors(block))]

    def _predecessors(self) -> list[list[int]]:
        predecessors: list[list[int]] = [[] for _ in self.blocks]
        for number, block in enumerate(self.blocks):
            for successor in _successors(block):
                predecessors[self.numbers[successor]].append(number)
        return predecessors

    def _dominators(self, predecessors: list[list[int]]) -> list[int]:
        """The immediate dominators: of each block, the nearest ancestor up to its semidominator."""
        semi = self._semidominators(predecessors)
        dominators = self.parents.copy()
        for number in range(1, len(dominators)):
            while dominators[number] > semi[number]:
                dominators[number] = dominators[dominators[number]]
        return dominators

    def _semidominators(self, predecessors: list[list[int]]) -> list[int]:
        count = len(self.blocks)
        semi, labels, ancestors = [*range(count)], [*range(count)], self.parents.copy()
        for number in range(count - 1, 0, -1):
            semi[number] = min(
                self.parents[number],
                *(
                    semi[_lowest(predecessor, number + 1, semi, labels, ancestors)]
                    for predecessor in predecessors[number]
                ),
            )
        return semi

    def _intervals(self) -> tuple[list[int], list[int]]:
        """When a walk of the tree enters and leaves each block: what it dominates is in between."""
        enter, leave = [0] * len(self.blocks), [0] * len(self.blocks)
        clock, pending = 0, [~0, 0]
        while pending:
            number = pending.pop()
            clock += 1
            if number < 0:
                leave[~number] = clock
                continue
            enter[number] = clock
            for child in self.children[number]:
                pending += (~self.numbers[child], self.numbers[child])
        return enter, leave

    def properly_dominates(self, a: Block, b: Block) -> bool:
        """Whether every path to `b` comes through `a`, another block; to no block, all do."""
        if (b_number := self.numbers.get(b)) is None:
            return a is not b
        if (a_number := self.numbers.get(a)) is None:
            return False
        return (
            self.enter[a_number] < self.enter[b_number]
            and self.leave[b_number] < self.leave[a_number]
        )


def _successors(block: Block) -> tuple[Block, ...]:
    """Where the end of `block` leads to, within its region."""
    if (last := block.last_op) is None:
        return ()
    return tuple(successor for successor in last.successors if successor.parent is block.parent)


def _lowest(
    number: int, linked: int, semi: list[int], labels: list[int], ancestors: list[int]
) -> int:
    """The block of lowest semidominator on the way from `number` up to before the first block
    below `linked`; compresses that way."""
    if ancestors[number] < linked:
        return labels[number]
    path: list[int] = []
    while ancestors[number] >= linked:
        path.append(number)
        number = ancestors[number]
    best, top = labels[number], ancestors[number]
    for number in reversed(path):
        ancestors[number] = top
        if semi[best] < semi[labels[number]]:
            labels[number] = best
        else:
            best = labels[number]
    return best
