"""The partition of the calls in a block into groups that can become calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from xdsl.ir import Block, Operation, OpResult

from ....passmanager.fast.access import read_step
from ....passmanager.ir.walk import walk

__all__ = ["MergeGroups", "dependences"]

K = TypeVar("K", bound=Hashable)


@dataclass
class FusionGroup:
    """A group of operations; sets of groups are the bits of integers."""

    ops: list[Operation]
    bits: int
    """This group, and those that were merged into it."""
    direct: int = 0
    """The groups whose results its operations use."""
    via: int = 0
    """The first groups on the ways through operations of no group."""


@dataclass
class MergeGroups(Generic[K]):
    """A partition of operations of equal `kind`, where neighbours are merged without cycles.

    Two neighbours are merged unless one depends on the other through an operation outside of both:
    the outside would have to run between two parts of one call. Operations without a `kind` join
    no group. Source: TVM's `MergeCompositeFunctions`.
    """

    kind: Callable[[Operation], K | None]
    is_ordered: Callable[[Operation], bool]
    """Whether an operation has effects, so that it stays in the order of the others with effects.
    """
    groups: list[FusionGroup] = field(default_factory=list[FusionGroup])
    _root: list[int] = field(default_factory=list[int])
    _group_of: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _first_groups: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Operation in no group -> the groups that are reached first on the paths up from it."""

    def add(self, block: Block) -> None:
        """Partition the operations of `block`."""
        for op, needed in dependences(block.ops, self.is_ordered):
            # A set of groups is an integer, whose operations take n/30 digits.
            direct = via = 0
            neighbours: dict[int, None] = {}
            for producer in needed:
                if (number := self._group_of.get(producer)) is not None:
                    direct |= 1 << number
                    neighbours[number] = None
                else:
                    # Only the first groups: these lead to those behind them.
                    via |= self._first_groups[producer]
            if (kind := self.kind(op)) is None:
                self._first_groups[op] = direct | via
                continue
            number = self._group_of[op] = len(self.groups)
            self._root.append(number)
            self.groups.append(FusionGroup([op], 1 << number, direct, via))
            # Greedily in the order of operands, as TVM; others may give fewer groups.
            for neighbour in neighbours:
                if self.kind(self.groups[self.root(neighbour)].ops[0]) == kind:
                    self.merge(number, neighbour)

    def merge(self, a: int, b: int) -> None:
        """Merge the groups of two numbers unless that makes a cycle."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return
        one, other = self.groups[a], self.groups[b]
        if self.passes_outside(one, other) or self.passes_outside(other, one):
            return
        # The smaller number stays, so that groups come in the order of their first operations.
        early, late = sorted((a, b))
        into, merged = self.groups[early], self.groups[late]
        self._root[late] = early
        into.ops += merged.ops
        into.bits |= merged.bits
        into.direct |= merged.direct
        into.via |= merged.via
        merged.ops = []

    def passes_outside(self, late: FusionGroup, early: FusionGroup) -> bool:
        """Return whether `late` depends on `early` through an operation outside of both."""
        both = late.bits | early.bits
        found = 0
        # Direct uses of `early` are inside of the merged group, other ways are not.
        pending = late.via | late.direct & ~both
        while pending:
            if pending & early.bits:
                return True
            group = self.groups[self.root((pending & -pending).bit_length() - 1)]
            found |= group.bits
            pending = (pending | group.direct | group.via) & ~found
        return False

    def root(self, number: int) -> int:
        """Return the number of the group that has the operations of the group `number`."""
        roots = self._root
        while roots[number] != number:
            roots[number] = number = roots[roots[number]]  # path halving
        return number

    def found(self) -> list[list[Operation]]:
        """Return the groups, each in the order of its block."""
        order = {op: i for i, op in enumerate(self._group_of)}
        return [sorted(group.ops, key=order.__getitem__) for group in self.groups if group.ops]


def dependences(
    ops: Iterable[Operation], is_ordered: Callable[[Operation], bool]
) -> Iterator[tuple[Operation, Iterable[Operation]]]:
    """Yield the operations of a block with those that they depend on, by values or effects."""
    last: Operation | None = None
    for op in ops:
        needed: dict[Operation, None] = {}
        for inner in walk(op) if op.regions else (op,):
            for value in read_step(inner)[0]:
                if isinstance(value, OpResult) and value.op.parent is op.parent:
                    needed[value.op] = None
        # Each with the last one only: the order is transitive.
        if is_ordered(op):
            if last is not None:
                needed[last] = None
            last = op
        yield op, needed
