"""Dominance of operations, blocks and values, its verification, and graph regions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from io import StringIO
from typing import Protocol, TypeAlias, cast, runtime_checkable

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, BlockArgument, ErasedSSAValue, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ..errors import InvalidIRError
from ..fast.edit import read_step
from .location import file_location, place_of
from .per_class import PerClass
from .walk import ancestors, name_of, symbol_of, walk

# The dominator tree of the blocks of a region.


class DominatorTree:
    """The dominator tree of the reachable blocks of a region, computed by Semi-NCA.

    Blocks are numbered in depth-first preorder from the entry, which is 0. A dominator of a block
    is an ancestor of it in the depth-first tree, so its number is smaller.
    Source: L. Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005; LLVM
    uses it too.
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
        """Number the blocks; the parent of each is the block from which it was reached first."""
        pending = [(entry, 0)]
        while pending:
            block, parent = pending.pop()
            if block in self.numbers:
                continue
            number = self.numbers[block] = len(self.blocks)
            self.blocks.append(block)
            self.parents.append(parent)
            # Reversed on a stack, so that the first successor is visited first, as in a recursive
            # search; a block may be pushed several times, and the first to be popped counts.
            pending += [(successor, number) for successor in reversed(_successors(block))]

    def _predecessors(self) -> list[list[int]]:
        """Return the numbers of the reachable predecessors of each block."""
        predecessors: list[list[int]] = [[] for _ in self.blocks]
        for number, block in enumerate(self.blocks):
            for successor in _successors(block):
                predecessors[self.numbers[successor]].append(number)
        return predecessors

    def _dominators(self, predecessors: list[list[int]]) -> list[int]:
        """Return the immediate dominator of each block.

        It is the nearest ancestor in the dominator tree built so far whose number is at most that
        of the semidominator (the "NCA" step).
        """
        semi = self._semidominators(predecessors)
        # In preorder, so that the dominators of all ancestors are final. O(n^2) in the worst case,
        # to which real programs do not come near.
        dominators = self.parents.copy()
        for number in range(1, len(dominators)):
            while dominators[number] > semi[number]:
                dominators[number] = dominators[dominators[number]]
        return dominators

    def _semidominators(self, predecessors: list[list[int]]) -> list[int]:
        """Return the semidominator of each block.

        That is the lowest block from which a path leads to it through blocks of higher numbers
        only. Blocks are processed from the last number down, so the blocks processed already are
        those with numbers above the current one: `linked` in `_lowest`.
        """
        count = len(self.blocks)
        semi, labels, ancestors = [*range(count)], [*range(count)], self.parents.copy()
        for number in range(count - 1, 0, -1):
            semi[number] = min(
                # The edge from the parent is a path of its own.
                self.parents[number],
                *(
                    semi[_lowest(predecessor, number + 1, semi, labels, ancestors)]
                    for predecessor in predecessors[number]
                ),
            )
        return semi

    def _intervals(self) -> tuple[list[int], list[int]]:
        """Return the times at which a walk of the tree enters and leaves each block.

        A block dominates the blocks whose times lie between its own.
        """
        enter, leave = [0] * len(self.blocks), [0] * len(self.blocks)
        clock, pending = 0, [~0, 0]  # ~n: leave block n; n: enter it
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
        """Return whether `a` is another block than `b`, and on every path to `b`.

        An unreachable `b` has no such path and is dominated by every other block.
        """
        if (b_number := self.numbers.get(b)) is None:
            return a is not b
        if (a_number := self.numbers.get(a)) is None:
            return False
        return (
            # Constant time, where walking up the tree takes its depth.
            self.enter[a_number] < self.enter[b_number]
            and self.leave[b_number] < self.leave[a_number]
        )


def _successors(block: Block) -> tuple[Block, ...]:
    """Return the successors of `block` in its region."""
    if (last := block.last_op) is None:
        return ()
    return tuple(successor for successor in last.successors if successor.parent is block.parent)


def _lowest(
    number: int, linked: int, semi: list[int], labels: list[int], ancestors: list[int]
) -> int:
    """Return the block with the lowest semidominator on the path of ancestors from `number` up to,
    not including, the first one below `linked`.

    Compresses the path: `labels` holds the best block of each compressed part, so that a sequence
    of calls takes nearly linear time.
    """
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


# Dominance of operations, blocks and values, as an analysis; graph regions.


@runtime_checkable
class RegionKindInterface(Protocol):
    """An op that tells which of its regions are graph regions, whose ops stand in any order."""

    def has_ssa_dominance(self, region_index: int) -> bool:
        """Return whether definitions have to dominate their uses in this region."""
        ...


Point: TypeAlias = Operation | Block | SSAValue
"""A point of definition or use; a block stands for its start."""


class DominanceInfo:
    """The dominance between all ops, blocks and values below an op; an analysis."""

    def __init__(self, op: Operation) -> None:
        self._order: dict[Operation, int] = {op: 0}
        self._trees: dict[Region, DominatorTree] = {}
        for holder in walk(op):
            for region in holder.regions:
                if len(blocks := [*region.blocks]) > 1:
                    self._trees[region] = DominatorTree(blocks[0])
                for block in blocks:
                    self._order |= {inner: number for number, inner in enumerate(block.ops)}

    def properly_dominates(self, a: Point, b: Point) -> bool:
        """Return whether `a` properly dominates `b`.

        As in MLIR, an op dominates the contents of its regions, but its results do not; in a graph
        region an op dominates every op of its block; and every point dominates unreachable blocks.
        """
        block, place = self._place(a)
        b_block, b_place = self._place(b)
        # Lift `b` to the op around it that is in the region of `a`.
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
        """Return the block of `point` and its index among the ops; -1 is the start of the block."""
        owner = point.owner if isinstance(point, SSAValue) else point
        if isinstance(owner, Block):
            return owner, -1
        return owner.parent, self._order[owner]


def is_graph_region(region: Region) -> bool:
    """Return whether the ops of a block stand in any order; assumed for unregistered ops."""
    op = region.parent
    if isinstance(op, ModuleOp | UnregisteredOp):
        return True
    if not hasattr(op, "has_ssa_dominance"):  # `isinstance` of a protocol alone is ten times slower
        return False
    assert isinstance(op, RegionKindInterface)
    return not op.has_ssa_dominance(cast(Operation, op).get_region_index(region))


# The verification of SSA dominance, which xDSL does not check.


def invalid(op: Operation, message: str) -> InvalidIRError:
    """Return the error that `op` is invalid; the message is put after the name of the op. A note
    shows an op that has no location, as one that a pass made."""
    error = InvalidIRError(f"'{name_of(op)}' op {message}", op)
    if file_location(op.location) is None and not isinstance(op, ModuleOp):
        error.add_note(f"the operation has no location; it is{_in_function(op)}: {_text(op)}")
    return error


def _in_function(op: Operation) -> str:
    """Return ` in @f` for an op in a function or another symbol, else empty text."""
    around = (symbol_of(holder) for holder in ancestors(op) if holder is not op)
    return next((f" in @{name}" for name in around if name), "")


def _text(op: Operation) -> str:
    """Return an op with its operands and types, without its regions."""
    from .text.printer import ExactPrinter, PrintStyle  # for invalid IR alone

    stream = StringIO()
    style = PrintStyle(generic=True, skip_regions=True, elide_elements=16)
    try:
        ExactPrinter(stream, style).print_op(op)
    except Exception:  # of a printer that assumes what is invalid
        return f"'{name_of(op)}'"
    return stream.getvalue()


DOMINANCE_NOTE = (
    "this check of SSA dominance, which xDSL does not make, is turned off alone by "
    "--no-verify-dominance, or PassContext(verify_dominance=False)"
)


def verify_dominance(op: Operation) -> None:
    """Raise InvalidIRError for the first use below `op` whose definition does not dominate it."""
    # Values do not pass the border of an isolated op, so each scope is checked alone.
    scopes = [op]
    for scope in scopes:
        scopes += verify_scope(scope)


def verify_scope(op: Operation) -> list[Operation]:
    """Verify dominance below `op`, but not inside of isolated ops, and return these.

    Errors: InvalidIRError for the first use that its definition does not dominate.
    """
    verifier = DominanceVerifier(op)
    verifier.run()
    return verifier.isolated


_is_isolated = PerClass[Operation, bool](
    lambda op_class: op_class.has_trait(IsolatedFromAbove, value_if_unregistered=False)
)
"""Whether the regions of an op may use no values from outside."""


class DominanceVerifier:
    """The check of all uses in one isolated scope, in one walk in the order of dominance.

    The walk goes down the dominator trees of the regions. The values defined on the way down are
    visible, and removed when the subtree of their block is done. So a use costs one look-up,
    however far away its definition is, and the walk is linear.
    """

    def __init__(self, root: Operation) -> None:
        self.isolated: list[Operation] = []
        self._root = root
        self._visible: set[int] = set()  # ids, as xDSL's hash of a value is slow
        self._trail: list[int] = []  # the visible values in the order of their definition
        # A stack of work items, as recursion would limit the depth of nesting. Block: enter it;
        # Operation: its regions are done, continue after it; Region: enter its unreachable blocks;
        # int: cut the trail to this length.
        self._pending: list[Block | Operation | Region | int] = []
        self._children: dict[Block, list[Block]] = {}
        self._unreachable: set[Block | None] = set()

    def run(self) -> None:
        """Check all uses; afterwards `isolated` has the isolated ops, which were not entered."""
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
                tree = DominatorTree(entry)
                self._children |= zip(tree.blocks, tree.children)
                self._unreachable |= {b for b in region.blocks if b not in tree.numbers}
                # Below the entry on the stack: unreachable blocks come last, when those that
                # dominate are done.
                self._pending.append(region)
            self._pending.append(entry)

    def _enter(self, block: Block) -> None:
        """Check a block; the blocks that it immediately dominates come next."""
        self._pending.append(len(self._trail))
        self._pending += reversed(self._children.get(block, ()))
        self._define(block.args)
        if block.parent is not None and is_graph_region(block.parent):
            for op in block.ops:
                self._define(op.results)
        self._scan(block.first_op)

    def _enter_unreachable(self, region: Region) -> None:
        """Enter the unreachable blocks of a region, with all values of the region visible.

        MLIR is stricter in one case: it refuses an op nested in an unreachable block that uses a
        later value of that block.
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
        # What was visible before stays so when the trail is cut: in a graph region the results are
        # defined at the start, and once more when the scan meets the op.
        ids = [id(value) for value in values if id(value) not in self._visible]
        self._visible.update(ids)
        self._trail += ids

    def _scan(self, op: Operation | None) -> None:
        """Check the operands of `op` and the ops after it, up to an op with regions to enter."""
        visible, trail = self._visible, self._trail
        while op is not None:
            operands, results, regions, next_op = read_step(op)
            for operand in operands:
                # The fast path ends here; everything that `_check_invisible` does is for a few
                # uses.
                if id(operand) not in visible:
                    self._check_invisible(op, operand)
            if regions:
                if not _is_isolated[type(op)]:
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
        """Raise unless `operand` is defined above the root, or the use is unreachable."""
        if op.parent in self._unreachable and not self._is_outside(operand):
            return
        index = [*op.operands].index(operand)
        if isinstance(operand, ErasedSSAValue):
            return self.report(invalid(op, f"operand #{index} is an erased value"))
        if _stands_in_any_order(op, operand):
            return
        isolated = _is_isolated[type(self._root)]
        if not isolated and self._surroundings.properly_dominates(operand, self._root):
            return
        outside = self._is_outside(operand)
        problem = "is defined outside of the region" if outside else "does not dominate this use"
        error = invalid(op, f"operand #{index} {problem}: {_describe(operand)}")
        error.add_note(DOMINANCE_NOTE)
        self.report(error)

    def report(self, error: InvalidIRError) -> None:
        """Raise the error for one use; a subclass may keep it."""
        raise error

    def _is_outside(self, operand: SSAValue) -> bool:
        """Return whether an operand is defined outside of the root, which is isolated."""
        return (
            _is_isolated[type(self._root)]
            and not isinstance(operand, ErasedSSAValue)
            and not _is_below(operand, self._root)
        )

    @cached_property
    def _surroundings(self) -> DominanceInfo:
        """The dominance in all IR around the root."""
        top = self._root
        while (parent := top.parent_op()) is not None:
            top = parent
        return DominanceInfo(top)


_CYCLIC_DIALECTS = ("eqsat", "equivalence")
"""xDSL's dialects of e-graphs: a class of equivalent values may contain what is computed of it."""


def _stands_in_any_order(op: Operation, operand: SSAValue) -> bool:
    """Return whether nothing is known of the order of ops in the region of `operand`, which holds
    `op`: a region of xDSL's `test.op`, which stands for any op, or with an e-graph.

    Asked of uses that look invalid alone, as it looks at all ops of the region.
    """
    from xdsl.dialects.test import TestOp  # a hundredth of a second, for invalid IR alone

    block = operand.owner if isinstance(operand.owner, Block) else operand.owner.parent
    region = None if block is None else block.parent
    inside = op.parent
    if region is None or inside is None or region.find_ancestor_block_in_region(inside) is None:
        return False
    if type(region.parent) is TestOp:
        return True
    ops = (inner for inner_block in region.blocks for inner in inner_block.ops)
    return any(inner.dialect_name() in _CYCLIC_DIALECTS for inner in ops)


def _is_below(value: SSAValue, op: Operation) -> bool:
    return value.owner is not op and op.is_ancestor(value.owner)


def _describe(value: SSAValue) -> str:
    """Return text that identifies `value` in an error: its name hint, its index and its owner."""
    hint = "" if value.name_hint is None else f"%{value.name_hint}, "
    if isinstance(value, OpResult):
        return f"{hint}result #{value.index} of {_with_place(value.op)}"
    holder = value.owner.parent_op()
    of = "" if holder is None else f" of {_with_place(holder)}"
    return f"{hint}argument #{cast(BlockArgument, value).index} of a block{of}"


def _with_place(op: Operation) -> str:
    return f"'{name_of(op)}'{place_of(op)}"
