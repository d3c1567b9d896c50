"""The memory to free when an assertion fails.

A function that returns buffers, and a branch or loop that yields them, allocates them, and leaves
them to its caller or to the block around it. All other memory is freed at the end of its block.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import place_of
from ....passmanager.ir.walk import ops_of

__all__ = [
    "Live",
    "add_empty_buffer",
    "allocation_of",
    "allocations_before",
    "assert_allocated",
    "check_returned",
    "live_after",
]

ZERO = IntegerAttr(0, IndexType())
FIRST_PAGE = 4096
"""No memory is below this address: an aligned null pointer is."""

VIEWS = (memref.CastOp, memref.ReinterpretCastOp, memref.ViewOp)
"""The operations that return a view of the allocation of their first operand."""


SOURCES = frozenset({func.CallOp, scf.ForOp, scf.IfOp, scf.WhileOp})
"""The operations that return buffers for the block around to free."""


def allocation_of(value: SSAValue, sources: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """Return the allocation that `value` is a view of. `sources` maps values to what they stand
    for."""
    while True:
        if value in sources:
            value = sources[value]
        elif isinstance(value.owner, VIEWS):
            value = value.owner.operands[0]
        else:
            return value


def allocations_before(op: Operation) -> list[OpResult]:
    """Return the buffers that operations before `op` in its block allocate at run time, or get from
    a function, a branch or a loop that does."""
    found: list[OpResult] = []
    other = op.prev_op
    while other is not None:
        found += allocated(other)
        other = other.prev_op
    return found


def allocated(op: Operation) -> Sequence[OpResult]:
    """Return the buffers that `op` allocates at run time, or gets from a function, a branch or a
    loop that does."""
    kind = type(op)
    if kind in SOURCES or (kind is memref.AllocOp and op.operands):
        return [result for result in op.results if isinstance(result.type, MemRefType)]
    return ()


@dataclass(frozen=True, eq=False)
class Live:
    """A buffer to free after a failure, and the others, which were allocated before it."""

    buffer: SSAValue
    others: Live | None


def live_after(
    points: Collection[Operation], block: Block, returned: Collection[SSAValue]
) -> dict[Operation, Live | None]:
    """Return the buffers that are live after each of the operations `points` that is in `block`:
    those that it, or a block after it, would have freed, or the function `returned`."""
    found: dict[Operation, Live | None] = {}
    live: Live | None = None
    for op in block.ops:
        if isinstance(op, memref.DeallocOp):
            live = without(live, op.memref)
        for value in allocated(op):
            if value in returned or is_freed(value, block.parent_region()):
                live = Live(value, live)
        if op in points:
            found[op] = live
    return found


def without(live: Live | None, buffer: SSAValue) -> Live | None:
    """Return the live buffers except `buffer`."""
    later: list[SSAValue] = []
    rest = live
    while rest is not None and rest.buffer is not buffer:
        later.append(rest.buffer)
        rest = rest.others
    if rest is None:
        return live
    return reduce(lambda others, value: Live(value, others), reversed(later), rest.others)


def is_freed(value: SSAValue, region: Region | None) -> bool:
    """Return whether `value` is freed in a block of `region`."""
    frees = [use.operation for use in value.uses if isinstance(use.operation, memref.DeallocOp)]
    return any(free.parent_region() is region for free in frees)


def check_returned(module: ModuleOp) -> None:
    """Raise PasslineError if a function returns a buffer that its caller cannot free: one that it
    does not allocate, a part of one, or one twice."""
    for end in ops_of(module, func.ReturnOp):
        buffers = [value for value in end.operands if isinstance(value.type, MemRefType)]
        allocations = [allocation_of(value, {}) for value in buffers]
        is_twice = len({*allocations}) < len(allocations)
        if is_twice or any(map(is_kept, allocations)) or any(map(is_part, buffers)):
            raise PasslineError(
                f"'{end.name}'{place_of(end)} returns a buffer that the function does not "
                "allocate, a part of one, or one twice: the caller frees each of them"
            )


def is_kept(value: SSAValue) -> bool:
    """Return whether a buffer is not allocated by its function, or freed at the end of it."""
    owner = value.owner
    if isinstance(owner, Block):
        return isinstance(owner.parent_op(), func.FuncOp) and owner.prev_block is None
    return isinstance(owner, memref.GetGlobalOp | memref.AllocaOp)


def is_part(value: SSAValue) -> bool:
    """Return whether a buffer does not start, or may not start, where its allocation does. Other
    views than `memref.view` have an offset in their types, which are then not returned."""
    while isinstance(value.owner, VIEWS):
        view = value.owner
        value = view.operands[0]
        if isinstance(view, memref.ViewOp):
            shift = view.byte_shift.owner
            if not (isinstance(shift, arith.ConstantOp) and shift.value == ZERO):
                return True
    return False


def assert_allocated(module: ModuleOp) -> None:
    """Insert an assertion after each allocation of unknown size that there was enough memory."""
    for op in [op for op in ops_of(module, memref.AllocOp) if op.operands]:
        pointer = memref.ExtractAlignedPointerAsIndexOp.get(op.memref)
        limit = arith.ConstantOp(IntegerAttr(FIRST_PAGE, IndexType()))
        is_there = arith.CmpiOp(pointer.aligned_pointer, limit, "uge")
        assertion = cf.AssertOp(is_there, "there is not enough memory")
        ops = [pointer, limit, is_there, assertion]
        for new in ops:
            new.location = op.location
        Rewriter.insert_op(ops, InsertPoint.after(op))


def add_empty_buffer(type: MemRefType[Attribute], block: Block) -> SSAValue:
    """Allocate, at the end of `block`, a buffer that stands for a result after a failure; its
    unknown dimensions are 0."""
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    shape, unknown = type.get_shape(), type.get_shape().count(DYNAMIC_INDEX)
    new = memref.AllocOp.get(
        type.element_type, None, shape, [zero] * unknown, type.layout, type.memory_space
    )
    block.add_ops([zero, new])
    return new.memref
