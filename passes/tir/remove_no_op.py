"""tir-remove-no-op: remove operations without an observable effect."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import BoolAttr, MemRefType, ModuleOp
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, SymbolOpInterface

from ...compiler.analysis.arith.expressions import negated_operand
from ...compiler.analysis.memory.effects import (
    Effects,
    Epochs,
    Memory,
    RedundantEffects,
    Root,
    Stamp,
    has_nested_effects,
)
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ..generic.dead_code_elimination import is_used
from ..generic.purity import Allocation
from ..generic.scoped_dict import ScopedDict
from .base import PrimFuncPass


def remove_no_ops(func: PrimFuncOp, actions: Actions = SILENT) -> None:
    """Erase the operations of `func` that do not affect its results.

    These are: pure operations and loads without uses; loops without effects or iterations; branches
    without operations; stores of a value that is there already; stores that are overwritten, or
    whose allocation ends, before anything may read them; allocations without uses. An `scf.if` with
    operations in its `else` only is inverted.
    """
    while NoOpRemover(func, actions).run():
        pass


Place = tuple[object, ...]
"""The memory that an operation writes: its class, the buffer, the indices, the type. A buffer alone
stands for all of it."""


@dataclass
class BlockEffects:
    """The memory effects that are left in a block."""

    reads: set[Root] = field(default_factory=set[Root])
    writes: set[Root] = field(default_factory=set[Root])
    is_opaque: bool = False

    def add(self, effects: Effects) -> None:
        """Add the effects of an operation."""
        self.reads |= effects.reads
        self.writes |= effects.writes
        self.is_opaque |= effects.is_opaque


class NoOpRemover:
    """One backward sweep over a function, which computes the liveness of memory.

    The epochs change where memory is read. A write is dead if its place is in `overwritten` with
    the current stamp of its memory: then no read comes between it and the later write.
    """

    def __init__(self, func: PrimFuncOp, actions: Actions) -> None:
        self.func = func
        self.actions = actions
        self.has_freed = False
        """Whether an operation was erased without which a write may be dead: a store may be read
        only by a load of a later iteration, or a buffer escape by one operation only."""
        self.memory = Memory(func)
        self.redundant = RedundantEffects(self.memory)
        self.epochs = Epochs(self.memory)
        self.overwritten: ScopedDict[Place, Stamp] = ScopedDict()
        """Places that are written later, with the stamp of their memory before that write."""

    def run(self) -> bool:
        """Sweep over the function; return whether another sweep may find more to erase."""
        self.sweep(self.func.body.block)
        return self.has_freed

    def sweep(self, block: Block) -> BlockEffects:
        """Visit the operations of a block, last first; return the effects that are left."""
        left = BlockEffects()
        for op in block.ops:
            # An allocation ends with its block: that is like a write of all of it.
            if isinstance(op, Allocation) and self.memory.is_private(op.memref):
                self.note_write((op.memref,), op.memref)
        op = block.last_op
        while op is not None:
            previous = op.prev_op
            self.visit(op, left)
            op = previous
        return left

    def visit(self, op: Operation, left: BlockEffects) -> None:
        """Erase an operation without effect, or add its effects to those that are left."""
        if op in self.redundant.loops and self.erase(op, "never runs"):
            return
        effects = self.enter(op) if op.regions and has_nested_effects(op) else self.memory.of(op)
        if (reason := self.reason_to_erase(op, effects)) and self.erase(op, reason):
            return
        if isinstance(op, IfOp):
            drop_empty_branch(op)
        place = place_of(op)
        if place is not None:
            for root in effects.writes:
                self.note_write(place, root)
                if isinstance(op, memref.CopyOp) and op.destination is root:
                    self.note_write((root,), root)
        # Backwards, a read is what separates a write from the one after it.
        self.epochs.change(effects.reads, effects.is_opaque)
        left.add(effects)

    def enter(self, op: Operation) -> Effects:
        """Sweep the regions of an operation; return the effects that are left in them."""
        before = self.memory.of(op)
        total = BlockEffects()
        for region in op.regions:
            for block in region.blocks:
                mark = self.overwritten.mark()
                with self.epochs.scope():
                    if not isinstance(op, IfOp):  # the next iteration may read what this one wrote
                        self.epochs.change(before.reads, before.is_opaque)
                    left = self.sweep(block)
                self.overwritten.rollback(mark)
                total.reads |= left.reads
                total.writes |= left.writes
                total.is_opaque |= left.is_opaque
        return Effects(frozenset(total.reads), frozenset(total.writes), total.is_opaque)

    def reason_to_erase(self, op: Operation, effects: Effects) -> str | None:
        """Return why an operation has no observable effect; None if it may have one."""
        if op.has_trait(IsTerminator, value_if_unregistered=True) or op.has_trait(
            SymbolOpInterface, value_if_unregistered=True
        ):
            return None
        if not effects.has_effects:
            return None if is_used(op.results) else "has no effect"
        if op in self.redundant.stores:
            return "stores the value that is there"
        if (place := place_of(op)) is None or effects.is_opaque:
            return None
        (root,) = effects.writes
        if self.is_overwritten((root,), root):
            return "stores a value that is not read"
        return "is overwritten" if self.is_overwritten(place, root) else None

    def note_write(self, place: Place, root: Root) -> None:
        """Note that a place in the memory of `root` is written before it is read."""
        self.overwritten.put(place, self.epochs.stamp(root))

    def is_overwritten(self, place: Place, root: Root) -> bool:
        """Return whether a place in the memory of `root` is written before it is read."""
        return self.overwritten.get(place) == self.epochs.stamp(root)

    def erase(self, op: Operation, reason: str) -> bool:
        """Erase an operation without uses if that is allowed; return whether it was."""
        if not self.actions.allowed(op):
            return False
        self.actions.passed(op, "Removed", reason)
        self.actions.count("removed")
        buffers = (operand for operand in op.operands if isinstance(operand.type, MemRefType))
        self.has_freed |= bool(op.regions) or next(buffers, None) is not None
        erase(op)
        return True


def place_of(op: Operation) -> Place | None:
    """Return the place that a store or copy writes, equal for equal places; None for other ops."""
    match op:
        case memref.StoreOp() | vector.StoreOp():
            value, *place = op.operands
            return (type(op), value.type, *place)
        case memref.CopyOp():
            return (type(op), op.destination)
        case vector.MaskedStoreOp():
            return (type(op), op)  # the masks of two stores are not compared
        case _:
            return None


def drop_empty_branch(op: IfOp) -> None:
    """Drop an `else` without operations; if the `then` has none, invert the condition."""
    then, other = op.true_region, op.false_region
    if op.results or not other.blocks:
        return
    if _is_empty(other.block):
        other.detach_block(other.block).erase()
    elif _is_empty(then.block):
        op.operands = [_inverted(op.cond, op)]
        then.detach_block(then.block).erase()
        then.add_block(other.detach_block(other.block))


def _is_empty(block: Block) -> bool:
    """Return whether a block has no operation but its terminator."""
    return block.first_op is block.last_op


def _inverted(condition: SSAValue, at: Operation) -> SSAValue:
    """Return the negation of `condition`, computed before `at`."""
    owner = condition.owner
    if isinstance(owner, arith.XOrIOp) and (operand := negated_operand(owner)) is not None:
        return operand
    true = arith.ConstantOp(BoolAttr.from_bool(True))
    negation = arith.XOrIOp(condition, true)
    insert_before(at, true, negation)
    return negation.result


@dataclass(frozen=True)
class RemoveNoOp(PrimFuncPass):
    """Remove operations without an observable effect; source: `tir.RemoveNoOp`.

    Before:

        tir.prim_func @f(%a: memref<8xf32>, %x: f32, %y: f32, %i: index) {
          %c0 = arith.constant 0 : index
          memref.store %x, %a[%i] : memref<8xf32>
          memref.store %y, %a[%i] : memref<8xf32>
          tir.for %j = %c0 extent %i {
            %0 = memref.load %a[%j] : memref<8xf32>
          }
        }

    After:

        tir.prim_func @f(%a: memref<8xf32>, %x: f32, %y: f32, %i: index) {
          memref.store %y, %a[%i] : memref<8xf32>
        }
    """

    name = "tir-remove-no-op"

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        remove_no_ops(func, ctx.actions)
