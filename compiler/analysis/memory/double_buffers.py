"""Double buffering: buffers that can be filled for the next iteration while this one reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ....passes.generic.purity import Allocation, View
from ....passmanager.ir.effects import all_effects
from ....passmanager.ir.walk import walk
from .buffers import DOUBLE_BUFFER, Access, buffer_type
from .effects import Memory, Root
from .live_ranges import AllocationUses, OpNumbers, find_uses, number_ops


@dataclass(frozen=True)
class DoubleBuffer:
    """An allocation in the body of a loop that can be doubled.

    `fill` is the one statement of the body that writes it, and `inputs` are the operations of the
    body that compute what `fill` needs, in order.
    """

    allocation: Allocation
    fill: Operation
    inputs: list[Operation]


class Refusal(Exception):
    """The reason why an allocation cannot be doubled."""


def find_double_buffers(
    func: PrimFuncOp, loop: ForOp
) -> tuple[list[DoubleBuffer], dict[Operation, str]]:
    """Return the marked allocations in the body of `loop` that can be doubled.

    The second result has the other marked allocations, with the reason for each.
    """
    numbers, memory = number_ops(loop), Memory(func)
    found: list[DoubleBuffer] = []
    refused: dict[Operation, str] = {}
    for op in loop.body.block.ops:
        if isinstance(op, Allocation) and DOUBLE_BUFFER in op.attributes:
            try:
                found.append(check_allocation(op, loop, numbers, memory))
            except Refusal as reason:
                refused[op] = str(reason)
    return found, refused


def check_allocation(
    op: Allocation, loop: ForOp, numbers: OpNumbers, memory: Memory
) -> DoubleBuffer:
    """Return how the allocation `op` in the body of `loop` is filled.

    Raises Refusal unless it is filled by one statement that can run an iteration ahead of the rest
    of the body.
    """
    if loop.for_kind not in (ForKind.SERIAL, ForKind.UNROLLED):
        raise Refusal(f"the iterations of a {loop.for_kind} loop have no order")
    body = loop.body.block
    if not isinstance(buffer_type(op.memref).layout, NoneAttr):
        raise Refusal("it has a layout")
    # Both halves are allocated once, before the loop.
    sizes = (size.owner for size in op.operands)
    if any(
        owner is body if isinstance(owner, Block) else body.find_ancestor_op_in_block(owner)
        for owner in sizes
    ):
        raise Refusal("its size is computed in the loop")
    uses = find_uses(op, numbers)
    check_uses(uses)
    # A read at the start would see the iteration before the last, as the buffers alternate.
    if not is_written_by(uses.accesses[0], op.memref):
        raise Refusal("it is read before it is written")
    fill = uses.statements[0]
    for access, statement in zip(uses.accesses, uses.statements, strict=True):
        if statement is not fill and is_written_by(access, op.memref):
            raise Refusal("it is written by more than one statement of the loop")
    # The fill for iteration i + 1 runs in iteration i: its results would be those of the next.
    users = (use.operation for result in fill.results for use in result.uses)
    if any(body.find_ancestor_op_in_block(user) is not fill for user in users):
        raise Refusal("the statement that fills it computes a value that is used later")
    # `fill(buf, i); use(buf)` is to become, with two halves of the buffer,
    #   fill(buf[(i + 1) % 2], i + 1); use(buf[i % 2])
    inputs = backward_slice(fill, body)
    check_order(op, fill, inputs, body, memory)
    return DoubleBuffer(op, fill, inputs)


def check_uses(uses: AllocationUses) -> None:
    """Raise Refusal unless all uses of an allocation are accesses to its elements or copies."""
    if uses.escape:
        raise Refusal(uses.escape)
    others = [*uses.views, *uses.shape_queries]
    others += [op for op in uses.accesses if not isinstance(op, Access | memref.CopyOp)]
    if others:
        raise Refusal(f"it is used by '{others[0].name}'")
    if not uses.accesses:
        raise Refusal("it is not used")


def is_written_by(op: Operation, buffer: SSAValue) -> bool:
    """Return whether `op`, an access to `buffer` or a copy, writes it."""
    if isinstance(op, memref.CopyOp):
        return op.destination is buffer
    return not isinstance(op, memref.LoadOp | vector.LoadOp | vector.MaskedLoadOp)


def backward_slice(op: Operation, body: Block) -> list[Operation]:
    """Return the operations of `body` that compute the operands of `op`, in order.

    Raises Refusal for an operation with an effect, since the slice is copied.
    """
    found: set[Operation] = set()
    pending = [op]
    while pending:
        for inner in walk(pending.pop()):
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner.parent is body and owner not in found:
                    # `check_order` judges what the fill does with a buffer.
                    if isinstance(owner, Allocation):
                        continue
                    if all_effects(owner) and not isinstance(owner, memref.LoadOp):
                        raise Refusal(
                            f"the statement that fills it needs the result of '{owner.name}'"
                        )
                    found.add(owner)
                    pending.append(owner)
    found.discard(op)
    return [op for op in body.ops if op in found]


def check_order(
    op: Allocation, fill: Operation, inputs: Sequence[Operation], body: Block, memory: Memory
) -> None:
    """Raise Refusal unless `fill` may run before the rest of the body of the last iteration."""
    for inner in walk(fill):
        if not has_known_effects(inner):
            raise Refusal(f"'{inner.name}' fills it")
    reads, writes = find_effects([*inputs, fill], memory)
    # The fill moves up across all of the body but itself, in which nothing may write what it reads.
    _, written = find_effects((other for other in body.ops if other is not fill), memory)
    local = {inner.memref for inner in walk(fill) if isinstance(inner, Allocation)}
    if None in reads or (reads and None in written) or reads & written:
        raise Refusal("the statement that fills it reads a buffer that the loop writes")
    if writes - {op.memref} - local:
        raise Refusal("the statement that fills it writes another buffer")


def has_known_effects(op: Operation) -> bool:
    """Return whether `op` is pure, or only accesses its operands and runs its regions."""
    known = isinstance(
        op, Access | Allocation | View | memref.CopyOp | ForOp | scf.ForOp | scf.IfOp
    )
    return known or op.has_trait(IsTerminator, value_if_unregistered=False) or not all_effects(op)


def find_effects(
    ops: Iterable[Operation], memory: Memory
) -> tuple[set[Root | None], set[Root | None]]:
    """Return the memory that `ops` read and write through their operands; None if unknown.

    An unknown operation reads and writes its operands. In contrast to `Memory.of`, it has no effect
    on memory that it is not given: the mark on the allocation asserts this.
    """
    read, written = set[Root | None](), set[Root | None]()
    for root in ops:
        for op in walk(root):
            if isinstance(op, View | memref.DimOp | memref.RankOp):
                continue
            for buffer in op.operands:
                if not isinstance(buffer.type, MemRefType):
                    continue
                known = isinstance(op, Access | memref.CopyOp)
                writes = not known or is_written_by(op, buffer)
                if writes:
                    written.add(memory.root(buffer))
                if not writes or not known or isinstance(op, memref.AtomicRMWOp):
                    read.add(memory.root(buffer))
    return read, written
