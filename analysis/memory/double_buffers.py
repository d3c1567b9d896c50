"""Which buffers can be filled for the next iteration of a loop while this one reads the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, is_side_effect_free

from ...dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ...passmanager.ir.walk import walk
from .buffers import DOUBLE_BUFFER, Access, Allocation, View, buffer_type
from .live_ranges import Numbers, Stored, number, step_of, stored

__all__ = ["DoubleBuffered", "candidates"]


@dataclass(frozen=True)
class DoubleBuffered:
    """An allocation in the body of a loop, what fills it, and what that needs of the body."""

    allocation: Allocation
    fill: Operation
    needed: list[Operation]


class NotDoubled(Exception):
    """Why an allocation is not doubled."""


def candidates(loop: ForOp) -> tuple[list[DoubleBuffered], dict[Operation, str]]:
    """The allocations in the body of a loop that have the mark, and why others that have it are
    left as they are.
    """
    numbers = number(loop)
    found: list[DoubleBuffered] = []
    refused: dict[Operation, str] = {}
    for op in loop.body.block.ops:
        if isinstance(op, Allocation) and DOUBLE_BUFFER in op.attributes:
            try:
                found.append(double_buffered(op, loop, numbers))
            except NotDoubled as reason:
                refused[op] = str(reason)
    return found, refused


def double_buffered(op: Allocation, loop: ForOp, numbers: Numbers) -> DoubleBuffered:
    """How an allocation in the body of a loop is filled; NotDoubled if that cannot be done while
    the rest of the body reads it.
    """
    if loop.for_kind not in (ForKind.SERIAL, ForKind.UNROLLED):
        raise NotDoubled(f"the iterations of a {loop.for_kind} loop have no order")
    body = loop.body.block
    if not isinstance(buffer_type(op.memref).layout, NoneAttr):
        raise NotDoubled("it has a layout")
    if any(is_defined_in(size, body) for size in op.operands):
        raise NotDoubled("its size is computed in the loop")
    allocation = stored(op, numbers)
    check_uses(allocation)
    if not writes(allocation.touches[0], op.memref):
        raise NotDoubled("it is read before it is written")
    fill = allocation.steps[0]
    for touch, step in zip(allocation.touches, allocation.steps, strict=True):
        if step is not fill and writes(touch, op.memref):
            raise NotDoubled("it is written by more than one statement of the loop")
    if any(step_of(use.operation, body) is not fill for r in fill.results for use in r.uses):
        raise NotDoubled("what fills it computes a value that is used later")
    needed = slice_of(fill, body)
    check_order(op, fill, needed, body)
    return DoubleBuffered(op, fill, needed)


def check_uses(allocation: Stored) -> None:
    """NotDoubled unless all uses of an allocation are accesses to its elements or copies."""
    if allocation.escape:
        raise NotDoubled(allocation.escape)
    others = [*allocation.views, *allocation.shapes]
    others += [op for op in allocation.touches if not isinstance(op, Access | memref.CopyOp)]
    if others:
        raise NotDoubled(f"it is used by '{others[0].name}'")
    if not allocation.touches:
        raise NotDoubled("it is not used")


def writes(op: Operation, buffer: SSAValue) -> bool:
    """Whether an access, or a copy, writes the buffer."""
    if isinstance(op, memref.CopyOp):
        return op.destination is buffer
    return not isinstance(op, memref.LoadOp | vector.LoadOp | vector.MaskedLoadOp)


def is_defined_in(value: SSAValue, block: Block) -> bool:
    """Whether a value is an argument of the block or is computed in it."""
    if isinstance(value.owner, Block):
        return value.owner is block
    return step_of(value.owner, block) is not None


def slice_of(op: Operation, body: Block) -> list[Operation]:
    """What `op`, in the body, needs of it, in order; NotDoubled for what cannot be done twice."""
    needed: set[Operation] = set()
    pending = [op]
    while pending:
        for inner in walk(pending.pop()):
            for operand in inner.operands:
                made = operand.owner
                if isinstance(made, Operation) and made.parent is body and made not in needed:
                    if isinstance(made, Allocation):
                        continue
                    if not is_side_effect_free(made) and not isinstance(made, memref.LoadOp):
                        raise NotDoubled(f"what fills it needs the result of '{made.name}'")
                    needed.add(made)
                    pending.append(made)
    needed.discard(op)
    return [op for op in body.ops if op in needed]


@dataclass(frozen=True)
class Effects:
    """The buffers that operations read, and that they write; None for one that is not known."""

    reads: set[object]
    writes: set[object]


def check_order(op: Allocation, fill: Operation, needed: Sequence[Operation], body: Block) -> None:
    """NotDoubled unless what fills an allocation may run before the rest of the body."""
    for inner in walk(fill):
        if not may_move(inner):
            raise NotDoubled(f"'{inner.name}' fills it")
    ours = effects_of([*needed, fill])
    others = effects_of(other for other in body.ops if other is not fill)
    made = {inner.memref for inner in walk(fill) if isinstance(inner, Allocation)}
    if None in ours.reads or ours.reads & others.writes or (ours.reads and None in others.writes):
        raise NotDoubled("what fills it reads a buffer that the loop writes")
    if ours.writes - {op.memref} - made:
        raise NotDoubled("what fills it writes another buffer")


def may_move(op: Operation) -> bool:
    """Whether it is known what an operation does: it computes, or accesses its operands."""
    known = isinstance(
        op, Access | Allocation | View | memref.CopyOp | ForOp | scf.ForOp | scf.IfOp
    )
    return known or op.has_trait(IsTerminator) or is_side_effect_free(op)


def effects_of(ops: Iterable[Operation]) -> Effects:
    """What operations do to buffers; one that is not known reads and writes its operands."""
    effects = Effects(set(), set())
    for root in ops:
        for op in walk(root):
            if isinstance(op, View | memref.DimOp | memref.RankOp):
                continue
            for buffer in op.operands:
                if not isinstance(buffer.type, MemRefType):
                    continue
                known = isinstance(op, Access | memref.CopyOp)
                writing = not known or writes(op, buffer)
                if writing:
                    effects.writes.add(base_of(buffer))
                if not writing or not known or isinstance(op, memref.AtomicRMWOp):
                    effects.reads.add(base_of(buffer))
    return effects


def base_of(buffer: SSAValue) -> object:
    """What a buffer is a part of: different things do not overlap. None if it is not known."""
    while isinstance(buffer.owner, View):
        buffer = buffer.owner.operands[0]
    match buffer.owner:
        case memref.AllocOp() | memref.AllocaOp():
            return buffer
        case memref.GetGlobalOp():
            return buffer.owner.name_
        case Block() if isinstance(func := buffer.owner.parent_op(), PrimFuncOp):
            return func if "tir.alias" in func.attributes else buffer
        case _:
            return None
