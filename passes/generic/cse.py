"""cse: xDSL's common subexpression elimination, with the same result, in linear time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.transforms.dead_code_elimination import result_only_effects

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.diagnostics.actions import SILENT, Actions
from ...passmanager.fast.access import Fields, read_fields
from ...passmanager.fast.edit import erase, replace_all_uses
from ...passmanager.ir.effects import (
    ALLOCATES_OUTSIDE,
    NESTED,
    OBSERVABLE,
    READS,
    UNKNOWN,
    WRITES,
    class_effects,
    is_kept,
    own_effects,
)
from ...passmanager.ir.per_class import PerClass
from .analysis.attribute_numbering import AttributeNumbering
from .dead_code.dead_code import is_used

__all__ = ["CommonSubexpressionElimination", "cse"]


def cse(root: Operation, actions: Actions = SILENT) -> None:
    """Replace each operation nested in `root` by an equal one before it in the same block or one
    around it, and remove dead operations; the result is that of xDSL's `cse`.

    Equal operations have the same name, operands, attributes, properties, result types and, up to
    the names of values, the same regions. They have no effects, or only read memory which no
    operation between them writes. Regions of several blocks are left alone.
    """
    CommonSubexprEliminator(actions).run(root)


Key: TypeAlias = tuple[object, ...]
_BARRIER = WRITES | UNKNOWN


@dataclass(slots=True)
class Available:
    """The operations that later ones may be replaced by, up to an operation isolated from above."""

    by_key: dict[Key, Operation] = field(default_factory=dict[Key, Operation])
    undo_log: list[tuple[Key, Operation | None]] = field(
        default_factory=list[tuple[Key, Operation | None]]
    )
    """The keys in the order of their changes, each with the operation that it had before."""
    ids: set[int] = field(default_factory=set[int])
    """The `id` of each operation that was added; the operations are alive."""

    def put(self, key: Key, op: Operation, before: Operation | None = None) -> None:
        """Make `op` available, in the place of an equal operation `before` it."""
        self.by_key[key] = op
        self.undo_log.append((key, before))
        self.ids.add(id(op))

    def undo(self, size: int) -> None:
        """Go back to the state in which `undo_log` had this size."""
        # In reverse, as a key may have been put twice in one block: a read after a write.
        while len(self.undo_log) > size:
            key, before = self.undo_log.pop()
            self.ids.remove(id(self.by_key.pop(key)))
            if before is not None:
                self.by_key[key] = before


@dataclass(slots=True)
class Frame:
    """An operation whose regions are being visited, and the place in them."""

    owner: Operation
    blocks: Iterator[Block]
    simplifies: bool
    """False in regions of several blocks, and in all below them: only effects are collected."""
    outer: Available | None
    """The values that are available around `owner`, if it is isolated from above."""
    block: Block | None = None
    op: Operation | None = None
    """The next operation of `block`."""
    scope: int = 0
    """The size of the undo log before `block`."""
    effects: int = 0
    """The effects of all operations so far."""
    writes: int = 0
    """The number of operations so far that may write memory."""

    def simplifies_block(self) -> bool:
        """Return whether operations of the current block may be replaced."""
        block = self.block
        return self.simplifies and block is not None and _is_single(block)


class CommonSubexprEliminator:
    """Value numbering with a hash table whose scopes follow the regions of the IR."""

    def __init__(self, actions: Actions) -> None:
        self.actions = actions
        self.numbering = AttributeNumbering(large=sys.maxsize)
        self.available = Available()
        self.read_at: dict[int, int] = {}
        """The number of writes before each available operation that reads memory."""
        self.erased: list[Operation] = []

    def run(self, root: Operation) -> None:
        """Visit the operations nested in `root`, those in regions before the one that holds them;
        nothing recurses."""
        frames = [self.open(root, True)]
        while frames:
            frame = frames[-1]
            if (holder := self.visit_block(frame)) is not None:
                frames.append(self.open(holder, frame.simplifies_block()))
            elif not self.next_block(frame):
                self.close(frames.pop(), frames[-1] if frames else None)
        # In the end: an `id` in a key must not become that of a new operation.
        for op in self.erased:
            if op.parent is not None:  # else it was in an operation that is erased
                erase(op)

    # Regions

    def open(self, op: Operation, simplifies: bool) -> Frame:
        """Return the frame of an operation with regions."""
        outer = None
        # An unregistered op counts as isolated: nothing from outside is used in it then.
        if simplifies and op.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            outer, self.available = self.available, Available()
        blocks = (block for region in op.regions for block in region.blocks)
        return Frame(op, blocks, simplifies, outer)

    def next_block(self, frame: Frame) -> bool:
        """Go on to the next block of a frame; return whether there is one."""
        if frame.simplifies_block():
            self.available.undo(frame.scope)
        frame.block = block = next(frame.blocks, None)
        if block is not None:
            frame.op = block.first_op
            frame.scope = len(self.available.undo_log)
        return block is not None

    def close(self, frame: Frame, around: Frame | None) -> None:
        """Simplify the operation whose regions were visited."""
        if frame.outer is not None:
            self.available = frame.outer
        if around is not None:
            effects = own_effects(frame.owner)
            if effects & NESTED:
                effects = effects & ~NESTED | frame.effects
            self.simplify(frame.owner, read_fields(frame.owner), effects, around)

    def visit_block(self, frame: Frame) -> Operation | None:
        """Simplify the operations of a block up to one with regions, and return that one."""
        op, simplifies = frame.op, frame.simplifies_block()
        while op is not None:
            fields = read_fields(op)
            if fields[5]:
                frame.op = fields[6]
                return op
            if not is_pure[type(op)]:
                self.simplify(op, fields, own_effects(op) & ~NESTED, frame)
            elif simplifies:
                self.simplify_pure(op, fields)
            op = fields[6]
        frame.op = None
        return None

    # Operations

    def simplify_pure(self, op: Operation, fields: Fields) -> None:
        """Remove an operation without effects, or replace it by an equal one, or make it
        available."""
        if not is_used(fields[1]):
            self.erase(op)
            return
        key, existing = self.find(op, fields)
        if existing is None:
            self.available.put(key, op)
        else:
            self.replace(op, existing)

    def simplify(self, op: Operation, fields: Fields, effects: int, frame: Frame) -> None:
        """Do the same for any operation with these effects, and note the effects."""
        frame.effects |= effects
        # A clock that advances with each write: a read is still valid while the clock is unchanged.
        frame.writes += effects & _BARRIER != 0
        if not frame.simplifies_block() or op.has_trait(IsTerminator, value_if_unregistered=True):
            return
        if not is_used(fields[1]) and not is_kept[type(op)] and _is_unobservable(op, effects):
            self.erase(op)
            return
        if any(region.first_block is not region.last_block for region in fields[5]):
            return
        if not effects:
            key, existing = self.find(op, fields)
            if existing is None:
                self.available.put(key, op)
            else:
                self.replace(op, existing)
        elif effects == READS:
            self.simplify_read(op, fields, frame)

    def simplify_read(self, op: Operation, fields: Fields, frame: Frame) -> None:
        """Replace an operation that reads memory by an equal one in its block, unless an operation
        between them may write; else make it available."""
        key, existing = self.find(op, fields)
        # Only in its block: between a block and one around it an unknown number of writes may
        # happen.
        if existing is not None and existing.parent is op.parent:
            if self.read_at[id(existing)] == frame.writes:
                self.replace(op, existing)
                return
        self.available.put(key, op, existing)
        self.read_at[id(op)] = frame.writes

    def find(self, op: Operation, fields: Fields) -> tuple[Key, Operation | None]:
        """Return an available operation that is equal to `op` and its key, or None and the key
        under which to make `op` available."""
        operands, _, properties, attributes, _, _, _ = fields
        key: Key = (op.name, *map(id, operands))
        if properties:
            key += self.numbering.of_all(properties)
        if attributes:
            key += (None, *self.numbering.of_all(attributes))
        by_key = self.available.by_key
        # Operands and attributes nearly always decide the types: the key is short, and grows on
        # demand.
        while (existing := by_key.get(key)) is not None and not _has_same_results(existing, op):
            key += (...,)  # the same but for types or regions
        return key, existing

    def replace(self, op: Operation, existing: Operation) -> None:
        """Replace the results of `op`, unless an operation before it, in a graph region, uses
        them."""
        if not self.actions.allowed(op):
            return
        ids = self.available.ids
        for old, new in zip(op.results, existing.results, strict=True):
            if not any(id(use.operation) in ids for use in old.uses):
                replace_all_uses(old, new)
        if not is_used(op.results):
            self.actions.passed(op, "Merged", "replaced by an equal operation")
            self.actions.count("merged")
            self.erased.append(op)

    def erase(self, op: Operation) -> None:
        """Erase a dead operation in the end, if that is allowed."""
        if self.actions.allowed(op):
            self.actions.passed(op, "Removed", "has no effects, and its results are unused")
            self.actions.count("removed")
            self.erased.append(op)


def _is_pure(cls: type[Operation]) -> bool:
    return class_effects[cls] == 0 and not is_kept[cls]


is_pure: Final = PerClass[Operation, bool](_is_pure)
"""Whether operations of a class without regions have no effects, and may be removed."""


def _is_unobservable(op: Operation, effects: int) -> bool:
    if effects & ALLOCATES_OUTSIDE:
        return result_only_effects(op)
    return not effects & OBSERVABLE


def _is_single(block: Block) -> bool:
    return block.next_block is None and block.prev_block is None


def _has_same_results(a: Operation, b: Operation) -> bool:
    """Return whether two operations have equal result types and equivalent regions."""
    types = zip(a.results, b.results, strict=False)
    return (
        len(a.results) == len(b.results)
        and all(x.type is y.type or x.type == y.type for x, y in types)
        and all(x.is_structurally_equivalent(y) for x, y in zip(a.regions, b.regions, strict=True))
    )


class CommonSubexpressionElimination(ModulePass):
    """Compute equal values once; replaces xDSL's pass of this name.

    Before:

        func.func @main(%x: i32) -> i32 {
          %0 = arith.muli %x, %x : i32
          %1 = arith.muli %x, %x : i32
          %2 = arith.addi %0, %1 : i32
          func.return %2 : i32
        }

    After:

        func.func @main(%x: i32) -> i32 {
          %0 = arith.muli %x, %x : i32
          %1 = arith.addi %0, %0 : i32
          func.return %1 : i32
        }
    """

    name = "cse"
    nestable = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        cse(module, ctx.actions)
