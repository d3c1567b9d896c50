"""The memory to free when an assertion fails.

A function that returns buffers, and a branch or loop that yields them, allocates them, and leaves
them to its caller or to the block around it. All other memory is freed at the end of its block.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....passmanager.ir.walk import ops_of

__all__ = [
    "add_empty_buffer",
    "allocation_of",
    "allocations_before",
    "assert_allocated",
    "is_freed_after",
]

FIRST_PAGE = 4096
"""No memory is below this address: an aligned null pointer is."""

VIEWS = (memref.CastOp, memref.ReinterpretCastOp, memref.ViewOp)
"""The operations that return a view of the allocation of their first operand."""


SOURCES = frozenset({func.CallOp, scf.ForOp, scf.IfOp, scf.WhileOp})
"""The operations that return buffers for the block around to free."""


def allocation_of(value: SSAValue, sources: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """Return the allocation of which `value` is a view; a value in `sources` is that which it has
    there."""
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
        # By class: this looks at each operation before each assertion of a function.
        kind = type(other)
        if kind in SOURCES or (kind is memref.AllocOp and other.operands):
            found += [result for result in other.results if isinstance(result.type, MemRefType)]
        other = other.prev_op
    return found


def is_freed_after(value: SSAValue, op: Operation) -> bool:
    """Return whether `value` is freed after `op` in its block, or in another block of its region,
    which is after it."""
    frees = [use.operation for use in value.uses if isinstance(use.operation, memref.DeallocOp)]
    return any(
        op.is_before_in_block(free)
        if free.parent is op.parent
        else free.parent_region() is op.parent_region()
        for free in frees
    )


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
