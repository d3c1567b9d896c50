"""RemoveNoOp: what does nothing, or nothing that is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, SymbolOpInterface

from ...analysis.arith.analyzer import Analyzer, negated
from ...analysis.arith.linear_form import Scoped
from ...analysis.memory.buffers import Allocation
from ...analysis.memory.effects import Access, Epochs, Memory, Root, Stamp, has_nested_effects
from ...dialects.tir.ops import ForOp, PrimFuncOp
from ...passmanager.context import PassContext
from ...passmanager.remarks import Remarks
from ..rewriting.dead_code import is_used
from .base import PrimFuncPass

__all__ = ["RemoveNoOp", "remove_no_ops"]


def remove_no_ops(
    func: PrimFuncOp, gate: Callable[[], bool] | None = None, remarks: Remarks | None = None
) -> int:
    """Erase what has no effect on a function; returns how many operations.

    That is: pure operations and loads without uses; loops that do nothing, or never run; branches
    without operations; stores of what is there already; stores that are overwritten, or whose
    allocation goes away, before anything may read them; allocations without uses. An `scf.if` that
    is left with an `else` only is turned around. `gate`, if given, is asked before each, and may
    keep it from being erased.
    """
    removed = 0
    # Once more after each change: what a loop no longer reads may be stored in it for nothing.
    while found := Removal(func, gate, remarks).run():
        removed += found
    return removed


Place = tuple[object, ...]
"""What is written: the operation's class, the buffer, the indices and the type."""


@dataclass
class Summary:
    """What is left in a block."""

    reads: set[Root] = field(default_factory=set[Root])
    writes: set[Root] = field(default_factory=set[Root])
    is_opaque: bool = False

    def add(self, access: Access) -> None:
        """Add what an operation does."""
        self.reads |= access.reads
        self.writes |= access.writes
        self.is_opaque |= access.is_opaque


class Removal:
    """One sweep over a function, backwards, with what is overwritten later."""

    def __init__(
        self, func: PrimFuncOp, gate: Callable[[], bool] | None, remarks: Remarks | None
    ) -> None:
        self.func = func
        self.gate = gate
        self.remarks = remarks or None
        self.removed = 0
        self.memory = Memory(func)
        self.survey = Survey(self.memory)
        self.epochs = Epochs(self.memory)
        self.overwritten: Scoped[Place, Stamp] = Scoped()
        """What is written later before it is read, if its memory still has that stamp."""

    def run(self) -> int:
        """Sweep; gives how many operations went."""
        self.survey.visit(self.func.body.block)
        self.sweep(self.func.body.block)
        return self.removed

    def sweep(self, block: Block) -> Summary:
        """Visit the operations of a block, last first."""
        left = Summary()
        for op in block.ops:
            if isinstance(op, Allocation) and self.memory.is_private(op.memref):
                self.write_later((op.memref,), op.memref)
        op = block.last_op
        while op is not None:
            previous = op.prev_op
            self.visit(op, left)
            op = previous
        return left

    def visit(self, op: Operation, left: Summary) -> None:
        """Erase one operation if it does nothing, and else note what it does."""
        if op in self.survey.never and self.erase(op, "never runs"):
            return
        access = self.enter(op) if op.regions and has_nested_effects(op) else self.memory.of(op)
        if reason := self.why_not(op, access):
            if self.erase(op, reason):
                return
        if isinstance(op, IfOp):
            self.tidy(op)
        place = place_of(op)
        if place is not None:
            for root in access.writes:
                self.write_later(place, root)
                if isinstance(op, memref.CopyOp) and op.destination is root:
                    self.write_later((root,), root)
        self.epochs.change(access.reads, access.is_opaque)
        left.add(access)

    def enter(self, op: Operation) -> Access:
        """Sweep the regions of an operation; gives what is left in them."""
        before = self.memory.of(op)
        total = Summary()
        for region in op.regions:
            for block in region.blocks:
                mark = self.overwritten.mark()
                with self.epochs.scope():
                    if not isinstance(op, IfOp):  # what comes next may be any of it
                        self.epochs.change(before.reads, before.is_opaque)
                    left = self.sweep(block)
                self.overwritten.back(mark)
                total.reads |= left.reads
                total.writes |= left.writes
                total.is_opaque |= left.is_opaque
        return Access(frozenset(total.reads), frozenset(total.writes), total.is_opaque)

    def why_not(self, op: Operation, access: Access) -> str | None:
        """Why an operation is not needed; None if it is."""
        if op.has_trait(IsTerminator) or op.has_trait(SymbolOpInterface):
            return None
        if not access.has_effects:
            return None if is_used(op.results) else "has no effect"
        if op in self.survey.redundant:
            return "stores what is there"
        if (place := place_of(op)) is None or access.is_opaque:
            return None
        (root,) = access.writes
        if self.is_overwritten((root,), root):
            return "stores what is not read"
        return "is overwritten" if self.is_overwritten(place, root) else None

    def write_later(self, place: Place, root: Root) -> None:
        """Note that a place is written before it is read."""
        self.overwritten.put(place, self.epochs.stamp(root))

    def is_overwritten(self, place: Place, root: Root) -> bool:
        """Whether a place is written before it is read."""
        return self.overwritten.get(place) == self.epochs.stamp(root)

    def tidy(self, op: IfOp) -> None:
        """Take away an `else` that does nothing; negate the condition if only that does."""
        then, other = op.true_region, op.false_region
        if op.results or not other.blocks:
            return
        if is_empty(other.block):
            other.detach_block(other.block).erase()
        elif is_empty(then.block):
            block = op.parent
            assert block is not None
            condition, made = opposite(op.cond)
            block.insert_ops_before(made, op)
            op.operands = [condition]
            then.detach_block(then.block).erase()
            then.add_block(other.detach_block(other.block))

    def erase(self, op: Operation, reason: str) -> bool:
        """Take out an operation that nothing uses, if that is let through."""
        if self.gate is not None and not self.gate():
            return False
        if self.remarks is not None:
            self.remarks.passed(op, "Removed", reason)
        op.detach()
        op.drop_all_references()
        self.removed += 1
        return True


class Survey:
    """What a walk over a function in order finds: what is known where something runs."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.epochs = Epochs(memory)
        self.analyzer = Analyzer()
        self.loaded: dict[SSAValue, Stamp] = {}
        self.never: set[Operation] = set()
        """Loops that never run."""
        self.redundant: set[Operation] = set()
        """Stores of what was loaded from the same place, to which nothing happened."""

    def visit(self, block: Block) -> None:
        """Visit the operations of a block in order."""
        for op in block.ops:
            if isinstance(op, ForOp):
                high = self.analyzer.bounds(op.extent).high
                if high is not None and high <= 0:
                    self.never.add(op)
                    continue
            access = self.memory.of(op)
            if op.regions:
                if has_nested_effects(op):
                    self.enter(op, access)
            elif isinstance(op, memref.LoadOp | vector.LoadOp):
                for root in access.reads:
                    self.loaded[op.results[0]] = self.epochs.stamp(root)
            elif isinstance(op, memref.StoreOp | vector.StoreOp) and self.is_redundant(op, access):
                self.redundant.add(op)
                continue
            elif isinstance(op, memref.CopyOp) and op.source is op.destination:
                self.redundant.add(op)
                continue
            self.epochs.change(access.writes, access.is_opaque)

    def enter(self, op: Operation, access: Access) -> None:
        """Visit the regions of an operation."""
        for index, region in enumerate(op.regions):
            for block in region.blocks:
                with self.epochs.scope(), self.analyzer.scope():
                    if isinstance(op, IfOp):
                        self.analyzer.assume(op.cond, index == 0)
                    else:  # what came before may be any of it
                        self.epochs.change(access.writes, access.is_opaque)
                    if isinstance(op, ForOp):
                        with self.analyzer.inside(op):
                            self.visit(block)
                    else:
                        self.visit(block)

    def is_redundant(self, op: memref.StoreOp | vector.StoreOp, access: Access) -> bool:
        """Whether a store writes what is there."""
        value, buffer, *indices = op.operands
        load = value.owner
        if not isinstance(load, memref.LoadOp | vector.LoadOp):
            return False
        source, *places = load.operands
        if access.is_opaque or source is not buffer or places != indices:
            return False
        (root,) = access.writes
        return self.loaded.get(value) == self.epochs.stamp(root)


def place_of(op: Operation) -> Place | None:
    """What an operation writes, equal for those that write the same; None if it is no store."""
    match op:
        case memref.StoreOp() | vector.StoreOp():
            value, *place = op.operands
            return (type(op), value.type, *place)
        case memref.CopyOp():
            return (type(op), op.destination)
        case vector.MaskedStoreOp():
            return (type(op), op)
        case _:
            return None


def is_empty(block: Block) -> bool:
    """Whether there is nothing in a block but its end."""
    return block.first_op is block.last_op


def opposite(condition: SSAValue) -> tuple[SSAValue, list[Operation]]:
    """A value that is true where the condition is not, and what makes it."""
    if isinstance(op := condition.owner, arith.XOrIOp) and (known := negated(op)) is not None:
        return known, []
    true = arith.ConstantOp(BoolAttr.from_bool(True))
    negation = arith.XOrIOp(condition, true)
    return negation.result, [true, negation]


@dataclass(frozen=True)
class RemoveNoOp(PrimFuncPass):
    """Remove what has no effect on a function; source: `tir.RemoveNoOp`."""

    name = "tir-remove-no-op"

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("removed", remove_no_ops(func, ctx.gate(self.name), ctx.remarks))
