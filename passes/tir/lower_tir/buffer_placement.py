"""Placement of buffers on the stack or the heap, and removal of storage scopes."""

from __future__ import annotations

from math import prod

from typing_extensions import TypeIs
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from ....compiler.analysis.memory.storage_plan import ALIGNMENT
from ....dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ....dialects.vector_types import is_vector
from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.fast.edit import erase, insert_before
from ....passmanager.ir.types import convert_types
from ....passmanager.ir.walk import ancestors, walk
from ...generic.analysis.buffers import Allocation

__all__ = ["drop_storage_scopes", "place_buffers"]


# Storage scopes


def drop_storage_scopes(module: ModuleOp) -> None:
    """Remove storage scopes, which are strings, from the types of all values and symbols."""
    convert_types(module, _without_scope)
    for op in [op for op in walk(module) if isinstance(op, memref.MemorySpaceCastOp)]:
        if op.source.type == op.dest.type:
            op.dest.replace_all_uses_with(op.source)
            erase(op)


def _without_scope(type: Attribute) -> Attribute:
    """Return a buffer type without its storage scope, and any other type as it is."""
    if not _is_buffer(type) or _named_scope(type) is None:
        return type
    return MemRefType(type.element_type, type.shape, type.layout)


def _named_scope(type: MemRefType[Attribute]) -> str | None:
    """Return the storage scope of `type`; None for other memory spaces, and without one."""
    space = type.memory_space
    return space.data if isinstance(space, StringAttr) else None


def _is_buffer(type: Attribute) -> TypeIs[MemRefType[Attribute]]:
    return isinstance(type, MemRefType)


# Stack and heap


def place_buffers(func: PrimFuncOp, stack_bytes: int, *, actions: Actions = SILENT) -> None:
    """Put the buffers that `func` allocates on the stack or the heap.

    Buffers in scope "global" or without one are on the heap, and freed at the end of their block.
    All others go on the stack, as long as their size is known and all fit in `stack_bytes`.
    """
    for op in [op for op in walk(func) if isinstance(op, Allocation)]:
        type = op.memref.type
        assert _is_buffer(type)
        size = _stack_size(type)
        # An `alloca` without a scope was put on the stack by its author.
        if isinstance(op, memref.AllocOp) and _named_scope(type) in (None, "global"):
            _put_on_heap(op)
        elif size is None or size > stack_bytes:
            message = "on the heap: its size is not known, or too big for the stack"
            actions.missed(op, "OnHeap", message)
            _put_on_heap(op)
        else:
            # First come, first served: a knapsack would rarely do better, and be harder to foresee.
            stack_bytes -= size
            actions.count("stack-buffers")
            _put_on_stack(op)


def _stack_size(type: MemRefType[Attribute]) -> int | None:
    """Return the bytes of a buffer of `type` without padding of vectors; None if unknown."""
    element, shape = type.element_type, type.get_shape()
    if is_vector(element):
        element, shape = element.element_type, (*shape, *element.get_shape())
    if DYNAMIC_INDEX in shape:
        return None
    match element:
        case IndexType():
            return 8 * prod(shape)
        case FixedBitwidthType():
            return -(-element.bitwidth // 8) * prod(shape)
        case _:
            return None


def _put_on_stack(op: Allocation) -> None:
    """Allocate on the stack, once at the start of the function or of the parallel loop around.

    In the body of a serial loop the stack would grow with each iteration. Iterations of a parallel
    loop run in functions of their own.
    """
    scope = next(filter(_has_own_stack, ancestors(op.parent_op())))
    op = _convert(op, memref.AllocaOp)
    op.detach()
    Rewriter.insert_op(op, InsertPoint.at_start(scope.regions[0].block))


def _has_own_stack(op: Operation) -> bool:
    """Return whether the body of `op` has a new stack frame each time it runs."""
    if isinstance(op, ForOp):
        return op.for_kind is ForKind.PARALLEL
    return isinstance(op, scf.ParallelOp | PrimFuncOp)


def _put_on_heap(op: Allocation) -> None:
    """Allocate on the heap, and free the buffer at the end of the block."""
    op = _convert(op, memref.AllocOp)
    # No analysis of lifetimes: `can_lower` refused the function if it frees buffers itself.
    assert op.parent is not None and op.parent.last_op is not None
    dealloc = memref.DeallocOp.get(op.memref)
    dealloc.location = op.location
    insert_before(op.parent.last_op, dealloc)


def _convert(op: Allocation, kind: type[Allocation]) -> Allocation:
    """Return the allocation `op` as one of `kind`, in its place, aligned."""
    # An alignment that is given counts more than the default.
    properties = {"alignment": IntegerAttr(ALIGNMENT, i64)} | op.properties
    if isinstance(op, kind):
        op.properties = properties
        return op
    new = kind.create(
        operands=op.operands,
        result_types=op.result_types,
        properties=properties,
        attributes=op.attributes,
        location=op.location,
    )
    Rewriter.replace_op(op, new)
    return new
