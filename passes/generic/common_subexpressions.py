"""The engine of the passes that replace an operation by an equal one: value numbering in one walk.

A policy derives from `CommonSubexprEliminator`. It says which operations may be merged, how long
they are available to later ones, and what else happens on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue, SSAValues
from xdsl.traits import IsolatedFromAbove

from ...passmanager.actions import Actions
from ...passmanager.fast.edit import Fields, erase, read_fields, replace_all_uses, replace_operands
from ...passmanager.ir.location import location_of, place_text
from ...passmanager.ir.ordering import in_order
from .attribute_numbering import LARGE, AttributeNumbering
from .scoped_dict import ScopedDict

Key: TypeAlias = tuple[object, ...]


def _no_ops() -> Iterator[Operation]:
    return iter(())


@dataclass(slots=True)
class Frame:
    """An operation whose regions are being visited, and the place in them."""

    owner: Operation
    blocks: Iterator[Block]
    """The blocks that are still to be visited."""
    block: Block | None = None
    ops: Iterator[Operation] = field(default_factory=_no_ops)
    """The operations of `block` that are still to be visited."""
    mark: int = 0
    """What is undone at the end of `block` came after this."""
    outer: ScopedDict[Key | int, Operation] | None = None
    """The operations that are available around `owner`, if they are not in its regions."""
    simplifies: bool = True
    """False where only effects are collected."""
    is_graph: bool = False
    """Whether `block` may have uses before definitions, if the policy asks."""
    effects: int = 0
    """The effects of the operations in the regions so far."""
    writes: int = 0
    """The number of operations in the regions so far that may write memory."""


class CommonSubexprEliminator:
    """Value numbering with a hash table whose scopes follow the regions of the IR."""

    def __init__(self, actions: Actions, large: int = LARGE) -> None:
        self.actions = actions
        self.numbering = AttributeNumbering(large)
        self.available = ScopedDict[Key | int, Operation]()
        """The operations that may take the place of later ones, by their keys."""
        self.frames: list[Frame] = []
        """The operations around the current one, outermost first."""
        self.renamed: dict[int, SSAValue] = {}
        """The replacements of the results of merged operations, by the `id` of the result."""
        self.merged: list[tuple[Operation, Operation]] = []
        self.erased = 0
        """The number of operations in `merged` that are erased; they are alive in it, so that no
        other operation has their `id`."""

    def run(self, root: Operation) -> None:
        """Visit the operations nested in `root` in order; nothing recurses."""
        frames = self.frames
        frames.append(self.open(root))
        while frames:
            frame = frames[-1]
            for op in frame.ops:
                fields = read_fields(op)
                # Before a key is made: `exp(%1)` is equal to `exp(%0)` only once %1 is known to be
                # %0.
                if self.renamed and not self.renamed.keys().isdisjoint(map(id, fields[0])):
                    operands = [self.renamed.get(id(operand), operand) for operand in fields[0]]
                    replace_operands(op, SSAValues(operands))
                    fields = read_fields(op)
                if fields[5]:
                    frames.append(self.open(op))
                    break
                self.visit(op, fields, frame)
            else:
                self.next_block(frame)
        self.erase_merged()

    def next_block(self, frame: Frame) -> None:
        """Go on to the next block of `frame`, or close it."""
        if frame.block is not None:
            self.leave_block(frame)
        frame.block = block = next(frame.blocks, None)
        if block is None:
            self.frames.pop()
            self.close(frame)
        else:
            frame.ops = self.ops_of(block)
            self.enter_block(frame, block)

    # What a policy says

    def visit(self, op: Operation, fields: Fields, frame: Frame) -> None:
        """Merge an operation without regions, or make it available."""
        raise NotImplementedError

    def ops_of(self, block: Block) -> Iterator[Operation]:
        """Return the operations of a block in the order in which they are visited."""
        return in_order(block)

    def is_isolated(self, op: Operation) -> bool:
        """Return whether operations around `op` are not available in its regions."""
        # An unregistered op counts as isolated: nothing from outside is used in it then.
        return op.has_trait(IsolatedFromAbove, value_if_unregistered=True)

    def open(self, op: Operation) -> Frame:
        """Return the frame of an operation with regions."""
        frame = Frame(op, (block for region in op.regions for block in region.blocks))
        if self.is_isolated(op):
            frame.outer, self.available = self.available, ScopedDict[Key | int, Operation]()
        return frame

    def enter_block(self, frame: Frame, block: Block) -> None:
        """Open the scope of a block of `frame`."""
        frame.mark = self.available.mark()

    def leave_block(self, frame: Frame) -> None:
        """Forget the operations that became available in a block of `frame`."""
        self.available.rollback(frame.mark)

    def close(self, frame: Frame) -> None:
        """Visit the owner of `frame`, whose regions were visited."""
        if frame.outer is not None:
            self.available = frame.outer

    # Equality

    def find(
        self, op: Operation, fields: Fields, operands: Iterable[object]
    ) -> tuple[Key, Operation | None]:
        """Return the operation that is available and equal to `op`, or None; and the key under
        which to make `op` available. Equal operations share the key, which has `operands` in the
        place of the operands."""
        key: Key = (op.name, *operands)
        if properties := fields[2]:
            key += self.numbering.of_all(properties)
        if attributes := fields[3]:
            # None sets attributes apart from properties of the same names.
            key += (None, *self.numbering.of_all(attributes))
        get = self.available.get
        existing = get(key)
        # Operands and attributes nearly always determine the types: these join the key on demand.
        if existing is not None and not _has_same_types(existing, op):
            key += tuple(map(self.numbering.of, op.result_types))
            existing = get(key)
        while existing is not None and op.regions and not _has_same_regions(existing, op):
            key += (...,)
            existing = get(key)
        return key, existing

    # Merging

    def merge(self, op: Operation, existing: Operation) -> None:
        """Rename the results of `op` to those of an equal operation, if that is allowed."""
        if self.actions.allowed(op):
            self.merged.append((op, existing))
            for old, new in zip(op.results, existing.results, strict=True):
                self.renamed[id(old)] = new

    def erase_merged(self) -> None:
        """Erase the operations whose results were renamed.

        The walk renamed operands when it visited a user: replacing the uses of a value one by one
        takes time quadratic in the number of operands of a user. Only uses that the walk did not
        reach are replaced here: those before the definition, in graph regions or in blocks out of
        dominance order, and those in regions that it did not enter.
        """
        for op, existing in self.merged[self.erased :]:
            if op.parent is None:
                continue  # nested in another one
            if self.actions.wants_remarks:
                self.report(op, existing)
            for old, new in zip(op.results, existing.results, strict=True):
                replace_all_uses(old, new)
            self.actions.merged(op, existing)
            erase(op)
        if new := len(self.merged) - self.erased:
            self.actions.count("merged", new)
            self.erased += new

    def report(self, op: Operation, existing: Operation) -> None:
        """Report that `op` is replaced by `existing`, with the location of `existing`."""
        message = "replaced by an equal operation"
        if (at := location_of(existing)) is not None:
            self.actions.passed(op, "Merged", message, First=place_text(at))
        else:
            self.actions.passed(op, "Merged", message)


def _has_same_types(a: Operation, b: Operation) -> bool:
    return len(a.results) == len(b.results) and all(
        x.type is y.type or x.type == y.type for x, y in zip(a.results, b.results, strict=True)
    )


def _has_same_regions(a: Operation, b: Operation) -> bool:
    """Return whether the regions of two operations compute the same from the same values."""
    return len(a.regions) == len(b.regions) and all(
        x.is_structurally_equivalent(y) for x, y in zip(a.regions, b.regions, strict=True)
    )
