"""cse: common subexpression elimination as xDSL's or as MLIR's, in linear time."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Final

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, Region
from xdsl.traits import IsTerminator
from xdsl.transforms.dead_code_elimination import result_only_effects

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import Fields, erase, read_fields, replace_all_uses
from ...passmanager.ir.dominance import DominatorTree, is_graph_region
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
from .arith_families import COMMUTATIVE, family
from .common_subexpressions import CommonSubexprEliminator, Frame, Key
from .dead_code_elimination import is_used


def cse(root: Operation, actions: Actions = SILENT, *, mlir: bool = False) -> None:
    """Replace each operation nested in `root` by an equal one before it in the same block or one
    around it, and remove dead operations. With `mlir` also by one in another block that dominates
    it, and by one with exchanged operands, if it is commutative; without it the result is that of
    xDSL's `cse`.

    Equal operations have the same name, operands, attributes, properties, result types and, up to
    the names of values, the same regions. They have no effects, or only read memory which no
    operation between them writes. Without `mlir`, regions of several blocks are left alone.
    """
    (DominatingEliminator if mlir else XDSLEliminator)(actions).run(root)


_BARRIER = WRITES | UNKNOWN


class XDSLEliminator(CommonSubexprEliminator):
    """The policy of xDSL: operations that read memory are merged, too, and dead ones removed."""

    def __init__(self, actions: Actions) -> None:
        super().__init__(actions, large=sys.maxsize)
        self.read_at: dict[int, int] = {}
        """The number of writes before each available operation that reads memory."""
        self.dead: list[Operation] = []

    def run(self, root: Operation) -> None:
        """Visit the operations nested in `root`, and erase those that are dead then."""
        super().run(root)
        # In the end: an `id` in a key must not become that of a new operation.
        for op in self.dead:
            if op.parent is not None:  # else it was in an operation that is erased
                erase(op)

    def ops_of(self, block: Block) -> Iterator[Operation]:
        return iter(block.ops)

    def enter_block(self, frame: Frame, block: Block) -> None:
        super().enter_block(frame, block)
        # In regions of several blocks, and in all below them, only effects are collected.
        is_single = block.next_block is None and block.prev_block is None
        frame.simplifies = is_single and (frame is self.frames[0] or self.frames[-2].simplifies)
        frame.is_graph = block.parent is not None and is_graph_region(block.parent)

    def close(self, frame: Frame) -> None:
        super().close(frame)
        if self.frames:
            effects = own_effects(op := frame.owner)
            if effects & NESTED:
                effects = effects & ~NESTED | frame.effects
            self.simplify(op, read_fields(op), effects, self.frames[-1])

    def visit(self, op: Operation, fields: Fields, frame: Frame) -> None:
        if not is_pure[type(op)]:
            self.simplify(op, fields, own_effects(op) & ~NESTED, frame)
        elif frame.simplifies:
            if is_used(fields[1]):
                self.simplify_pure(op, fields, frame)
            else:
                self.erase(op)

    def simplify_pure(self, op: Operation, fields: Fields, frame: Frame) -> None:
        """Replace an operation without effects by an equal one, or make it available."""
        key, existing = self.find(op, fields, self.operand_key(op, fields))
        if existing is None:
            self.put(key, op, frame)
        else:
            self.replace(op, existing)

    def operand_key(self, op: Operation, fields: Fields) -> Iterable[int]:
        """Return what stands for the operands in the key of an operation."""
        return map(id, fields[0])

    def simplify(self, op: Operation, fields: Fields, effects: int, frame: Frame) -> None:
        """Remove, replace or make available an operation with these effects, and note them."""
        frame.effects |= effects
        # A clock that advances with each write: a read is still valid while the clock is unchanged.
        frame.writes += effects & _BARRIER != 0
        if not frame.simplifies or op.has_trait(IsTerminator, value_if_unregistered=True):
            return
        if not is_used(fields[1]) and not is_kept[type(op)] and _is_unobservable(op, effects):
            self.erase(op)
        elif any(region.first_block is not region.last_block for region in fields[5]):
            return
        elif not effects:
            self.simplify_pure(op, fields, frame)
        elif effects == READS:
            self.simplify_read(op, fields, frame)

    def simplify_read(self, op: Operation, fields: Fields, frame: Frame) -> None:
        """Replace an operation that reads memory by an equal one in its block, unless an operation
        between them may write; else make it available."""
        key, existing = self.find(op, fields, map(id, fields[0]))
        # Only in its block: between a block and one around it an unknown number of writes may
        # happen.
        if existing is not None and existing.parent is op.parent:
            if self.read_at[id(existing)] == frame.writes:
                self.replace(op, existing)
                return
        self.put(key, op, frame)
        self.read_at[id(op)] = frame.writes

    def put(self, key: Key, op: Operation, frame: Frame) -> None:
        """Make `op` available; among uses before definitions it is found by its `id`, too."""
        self.available.put(key, op)
        if frame.is_graph:
            self.available.put(id(op), op)

    def replace(self, op: Operation, existing: Operation) -> None:
        """Replace the results of `op`, unless an operation before it, in a graph region, uses
        them."""
        if not self.actions.allowed(op):
            return
        for old, new in zip(op.results, existing.results, strict=True):
            if not any(id(use.operation) in self.available for use in old.uses):
                replace_all_uses(old, new)
        if not is_used(op.results):
            self.actions.passed(op, "Merged", "replaced by an equal operation")
            self.actions.count("merged")
            self.dead.append(op)

    def erase(self, op: Operation) -> None:
        """Erase a dead operation in the end, if that is allowed."""
        if self.actions.allowed(op):
            self.actions.passed(op, "Removed", "has no effects, and its results are unused")
            self.actions.count("removed")
            self.dead.append(op)


COMMUTATIVE_HERE: Final = COMMUTATIVE | family("addui_extended mulsi_extended mului_extended")


class DominatingEliminator(XDSLEliminator):
    """The policy of MLIR: the blocks of a region are visited in the order of dominance, so that
    what a block defines is available in the blocks that it dominates."""

    def __init__(self, actions: Actions) -> None:
        super().__init__(actions)
        self.ends: dict[Block, int] = {}
        """Where the scope of a block ended that dominates others."""
        self.starts: dict[int, int] = {}
        """Where the scope of a region of several blocks began, by the `id` of its frame."""
        self.dominators: dict[Block, Block | None] = {}
        """The immediate dominator of each block in a region of several that is visited; None for
        the first one."""

    def open(self, op: Operation) -> Frame:
        frame = super().open(op)
        if any(region.first_block is not region.last_block for region in op.regions):
            frame.blocks = iter([block for region in op.regions for block in self.order(region)])
        return frame

    def order(self, region: Region) -> Iterable[Block]:
        """Return the blocks that may be reached, each before those that it dominates."""
        entry = region.first_block
        if entry is None or entry is region.last_block or isinstance(region.parent, UnregisteredOp):
            return region.blocks
        tree = DominatorTree(entry)
        self.dominators[entry] = None
        blocks: list[Block] = []
        pending = [entry]
        while pending:
            block = pending.pop()
            blocks.append(block)
            children = tree.children[tree.numbers[block]]
            self.dominators |= dict.fromkeys(children, block)
            pending += reversed(children)
        return blocks

    def enter_block(self, frame: Frame, block: Block) -> None:
        is_first = block not in self.dominators or self.dominators[block] is None
        if is_first:
            self.leave_region(frame)
            super().enter_block(frame, block)
            if block in self.dominators:
                self.starts[id(frame)] = frame.mark
        else:
            dominator = self.dominators[block]
            assert dominator is not None
            self.available.rollback(self.ends[dominator])
        frame.simplifies = frame is self.frames[0] or self.frames[-2].simplifies

    def leave_block(self, frame: Frame) -> None:
        block = frame.block
        assert block is not None
        if block in self.dominators:
            self.ends[block] = self.available.mark()
        else:
            super().leave_block(frame)

    def leave_region(self, frame: Frame) -> None:
        """Forget what became available in a region of several blocks."""
        if (start := self.starts.pop(id(frame), None)) is not None:
            self.available.rollback(start)

    def close(self, frame: Frame) -> None:
        self.leave_region(frame)
        super().close(frame)

    def operand_key(self, op: Operation, fields: Fields) -> Iterable[int]:
        ids = map(id, fields[0])
        return sorted(ids) if type(op) in COMMUTATIVE_HERE else ids


def _is_pure(cls: type[Operation]) -> bool:
    return class_effects[cls] == 0 and not is_kept[cls]


is_pure: Final = PerClass[Operation, bool](_is_pure)
"""Whether operations of a class without regions have no effects, and may be removed."""


def _is_unobservable(op: Operation, effects: int) -> bool:
    if effects & ALLOCATES_OUTSIDE:
        return result_only_effects(op)
    return not effects & OBSERVABLE


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
        cse(module, ctx.actions, mlir=True)
