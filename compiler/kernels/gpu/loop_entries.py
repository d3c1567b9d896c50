"""Conversion of loops on buffers to tile programs, and of their function to launches of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import cf, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, MemRefType, i32, i64
from xdsl.ir import Block, Operation
from xdsl.utils.hints import isa

from ....dialects.cuda_tile.module_ops import EntryOp
from ....dialects.target import Target
from ....dialects.tir.ops import AssumeOp, ForKind, ForOp, PrefetchOp, PrimFuncOp, YieldOp
from ....passes.generic.purity import Allocation
from ....passmanager.actions import SILENT, Actions
from ....passmanager.ir.walk import walk
from ...analysis.arith.analyzer import Analyzer
from ...analysis.constant_evaluator import integer_constant
from ...analysis.dependence import base_of, dependence_of, is_pure
from .lane_entry import LoopEntry, Nest, is_host_op, is_host_value
from .lane_program import stored_in

__all__ = ["lower_kernel"]


def lower_kernel(func: PrimFuncOp, target: Target, *, actions: Actions = SILENT) -> list[EntryOp]:
    """Replace the loops of `func` by launches of tile programs, and return these.

    Each outer loop nest is a launch. The iterations of its outer loops that do not depend on each
    other are the lanes of tiles; a nest without such loops runs in one lane.

    Errors: NoKernel for an operation that tiles cannot compute; `func` may be changed then.
    """
    return KernelLowering(func, target, actions).lower()


@dataclass
class KernelLowering:
    """The conversion of one function."""

    func: PrimFuncOp
    target: Target
    actions: Actions
    entries: list[EntryOp] = field(default_factory=list[EntryOp])

    def lower(self) -> list[EntryOp]:
        self.index = index_type(self.func)
        self.stored = stored_in([self.func])
        self.repeatable: dict[Operation, bool] = {}
        self.analyzer = Analyzer()
        self.block(self.func.body.block)
        return self.entries

    def block(self, block: Block) -> None:
        """Replace the operations of a block on the host that run on the device."""
        device = self.device_ops(block)
        branches: set[Operation] = set()
        for group in self.groups(block, device):
            first = group[0]
            if (
                len(group) == 1
                and isinstance(first, scf.IfOp)
                and self.is_host_branch(first, device)
            ):
                branches.add(first)
                for region in first.regions:
                    if region.blocks:
                        self.block(region.block)
            else:
                self.launch(group)
        for op in reversed(device):
            if op.parent is block and op not in branches:
                op.detach()
                op.erase()

    # Which operations run where

    def device_ops(self, block: Block) -> list[Operation]:
        """Return the operations that access memory, or use what is computed of it."""
        device: dict[Operation, None] = {}
        for op in block.ops:
            used = (v for inner in walk(op) for v in inner.operands)
            depends = any(isinstance(v.owner, Operation) and v.owner in device for v in used)
            if depends or not is_host_op(op):
                device[op] = None
        return [op for op in device if not isinstance(op, YieldOp | scf.YieldOp)]

    def is_host_branch(self, op: scf.IfOp, device: Sequence[Operation]) -> bool:
        """Return whether a branch can be taken on the host: nothing in it needs what `device`
        computes."""
        if op.results:
            return False
        own = {result for inner in walk(op) for result in inner.results}
        outer = {v for inner in walk(op) for v in inner.operands} - own
        computed = {result for other in device for result in other.results}
        return not any(
            (v in computed and not isinstance(v.type, MemRefType))
            or isinstance(base_of(v).owner, memref.AllocaOp)
            for v in outer
        )

    def groups(self, block: Block, device: Sequence[Operation]) -> list[list[Operation]]:
        """Return the operations that run together in one entry: those between which values or
        buffers in registers pass. What can be computed again is part of no group."""
        ops = [op for op in device if not self.is_repeatable(op)]
        place = {op: number for number, op in enumerate(ops)}
        last = [*range(len(ops))]
        for op in ops:
            for value in (v for inner in walk(op) for v in self.inputs(inner)):
                if (other := place.get(value)) is not None:
                    last[other] = max(last[other], place[op])
        found: list[list[Operation]] = []
        end = -1
        for number, op in enumerate(ops):
            if number > end:
                found.append([])
            found[-1].append(op)
            end = max(end, last[number])
        return found

    def inputs(self, op: Operation) -> Iterator[Operation]:
        """Yield the operations outside of memory on which an operation depends: those that define
        its operands, through what can be computed again."""
        pending, seen = [*op.operands], set[Operation]()
        while pending:
            value = pending.pop()
            if isinstance(value.type, MemRefType):
                value = base_of(value)
            owner = value.owner
            if not isinstance(owner, Operation) or owner in seen:
                continue
            seen.add(owner)
            yield owner
            if self.is_repeatable(owner):
                pending += owner.operands

    def is_repeatable(self, op: Operation) -> bool:
        """Return whether each entry may compute an operation for itself."""
        if op not in self.repeatable:
            self.repeatable[op] = self._is_repeatable(op)
        return self.repeatable[op]

    def _is_repeatable(self, op: Operation) -> bool:
        if isinstance(op, memref.LoadOp):
            return base_of(op.memref) not in self.stored
        if op.regions or not is_pure(op) or isinstance(op, NOT_PURE):
            return False
        return all(
            is_host_value(value) or self.is_repeatable(value.owner)
            for value in op.operands
            if isinstance(value.owner, Operation)
        )

    # Entries

    def launch(self, ops: Sequence[Operation]) -> None:
        delay_deallocations(ops)
        nest = self.nest(ops)
        name = f"{self.func.sym_name.data}_{len(self.entries)}"
        entry = LoopEntry(name, nest, self.index, self.target.cores)
        if entry.known_total() == 0:
            return
        entry.write()
        self.entries.append(entry.finish())

    def nest(self, ops: Sequence[Operation]) -> Nest:
        """Return operations with the loops whose iterations are lanes."""
        first = ops[0]
        if len(ops) > 1 or not isinstance(first, ForOp):
            self.remark(first)
            return Nest(ops)
        loops: list[ForOp] = []
        inner: ForOp | None = first
        with self.analyzer.scope():
            while inner is not None and self.is_independent(inner, first):
                loops.append(inner)
                inner = sole_loop(inner)
                if inner is not None and not bounds_are_outside(inner, first):
                    inner = None
        if not loops:
            self.remark(first)
        return Nest(ops, loops)

    def is_independent(self, loop: ForOp, first: ForOp) -> bool:
        if not (is_host_value(loop.min) and is_host_value(loop.extent)):
            return False  # the host computes the grid
        if loop.for_kind in (ForKind.PARALLEL, ForKind.VECTORIZED):
            return True
        if integer_constant(loop.extent) == 1:
            return True
        found = dependence_of(loop, self.analyzer)
        if not found.is_none or (found.private and loop is not first):
            return False
        for op in reversed(found.private):
            op.detach()
            loop.body.block.insert_op_before(op, loop.body.block.ops.first or op)
        return True

    def remark(self, op: Operation) -> None:
        self.actions.missed(op, "Lanes", "runs in one lane: its iterations depend on each other")


def index_type(func: PrimFuncOp) -> IntegerType:
    """Return the type of indices in the entries of `func`: i32 if they are known to be small."""
    types = {v.type for op in walk(func) for v in (*op.operands, *op.results)}
    for type in types:
        if isa(type, MemRefType):
            shape = type.get_shape()
            if DYNAMIC_INDEX in shape or prod(shape) >= 1 << 31:
                return i64
    return i32


ACCESSES = memref.LoadOp | memref.StoreOp | memref.AtomicRMWOp
NOT_PURE = ACCESSES | Allocation | cf.AssertOp | AssumeOp | PrefetchOp


def sole_loop(loop: ForOp) -> ForOp | None:
    """Return the loop that is all of the body of `loop` but for pure operations."""
    body = [op for op in loop.body.block.ops if not isinstance(op, YieldOp)]
    loops = [op for op in body if isinstance(op, ForOp)]
    rest = (op for op in body if not isinstance(op, ForOp))
    if len(loops) != 1 or any(op.regions or not is_scalar(op) for op in rest):
        return None
    return loops[0]


def is_scalar(op: Operation) -> bool:
    return op.dialect_name() in ("arith", "math") or op.name == "tir.likely"


def bounds_are_outside(loop: ForOp, first: ForOp) -> bool:
    """Return whether the bounds of `loop` are known before the loop `first`, which is around it."""
    return not any(
        first.is_ancestor(v.owner) and integer_constant(v) is None for v in (loop.min, loop.extent)
    )


def delay_deallocations(ops: Sequence[Operation]) -> None:
    """Move deallocations that are between operations behind the last one, where they launch."""
    block, last = ops[-1].parent, ops[-1]
    assert block is not None
    op = ops[0].next_op if len(ops) > 1 else last
    while op is not None and op is not last:
        following = op.next_op
        if isinstance(op, memref.DeallocOp):
            op.detach()
            block.insert_op_after(op, last)
        op = following
