"""LowerTIR: functions on buffers, and their loops, become those of MLIR's own dialects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

from typing_extensions import TypeIs
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import ConstantLike

from ...dialects.tir.ops import CallOp, ForKind, ForOp, LikelyOp, PrimFuncOp
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.types import convert_types
from ...passmanager.ir.walking import walk

__all__ = ["LowerTIR", "drop_scopes", "lower_loop", "lower_prim_func", "place_buffers"]

ALIGNMENT = IntegerAttr(64, i64)
"""Of buffers: a line of the cache, and the widest vector."""


# Storage scopes


def drop_scopes(module: ModuleOp) -> None:
    """Take the storage scopes, which are strings, out of the types of all values and symbols."""
    convert_types(module, _without_scope)
    for op in [op for op in walk(module) if isinstance(op, memref.MemorySpaceCastOp)]:
        if op.source.type == op.dest.type:
            op.dest.replace_all_uses_with(op.source)
            Rewriter.erase_op(op)


def _without_scope(type: Attribute) -> Attribute:
    if not _is_buffer(type) or _scope(type) is None:
        return type
    return MemRefType(type.element_type, type.shape, type.layout)


def _scope(type: MemRefType[Attribute]) -> str | None:
    space = type.memory_space
    return space.data if isinstance(space, StringAttr) else None


def _is_buffer(type: Attribute) -> TypeIs[MemRefType[Attribute]]:
    return isinstance(type, MemRefType)


# Allocations


def place_buffers(func: PrimFuncOp, stack_bytes: int, on_heap: Callable[[Operation], None]) -> int:
    """Put what the function allocates for itself alone on the stack, at the start of the function
    or of the parallel loop around it, and free the rest at the end of its block; how many are on
    the stack.

    `on_heap` is told of those that would be on the stack if their size were known and all fitted
    into `stack_bytes`.
    """
    placed = 0
    for op in [op for op in walk(func) if isinstance(op, memref.AllocOp | memref.AllocaOp)]:
        type = op.memref.type
        assert _is_buffer(type)
        size = _byte_size(type)
        if isinstance(op, memref.AllocOp) and _scope(type) in (None, "global"):
            _free_at_end(op)
        elif size is None or size > stack_bytes:
            on_heap(op)
            _free_at_end(op)
        else:
            stack_bytes -= size
            placed += 1
            _move_to_stack(op)
    return placed


def _byte_size(type: MemRefType[Attribute]) -> int | None:
    """The bytes of a buffer, None if they are not known."""
    element, shape = type.element_type, type.get_shape()
    if _is_vector(element):
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


def _is_vector(type: Attribute) -> TypeIs[VectorType[Attribute]]:
    return isinstance(type, VectorType)


def _move_to_stack(op: memref.AllocOp | memref.AllocaOp) -> None:
    """Allocate once at the start of the function, as the stack would grow with each iteration of a
    serial loop; iterations of a parallel one each have their own."""
    scope = op.parent_op()
    while scope is not None and not _allocates_anew(scope):
        scope = scope.parent_op()
    assert scope is not None
    op = _become(op, memref.AllocaOp)
    op.detach()
    Rewriter.insert_op(op, InsertPoint.at_start(scope.regions[0].block))


def _allocates_anew(op: Operation) -> bool:
    """Whether each run of the body of an op has a stack of its own."""
    if isinstance(op, ForOp):
        return op.for_kind is ForKind.PARALLEL
    return isinstance(op, scf.ParallelOp | PrimFuncOp)


def _free_at_end(op: memref.AllocOp | memref.AllocaOp) -> None:
    op = _become(op, memref.AllocOp)
    assert op.parent is not None and op.parent.last_op is not None
    dealloc = memref.DeallocOp.get(op.memref)
    dealloc.location = op.location
    Rewriter.insert_op(dealloc, InsertPoint.before(op.parent.last_op))


def _become(
    op: memref.AllocOp | memref.AllocaOp, kind: type[memref.AllocOp | memref.AllocaOp]
) -> memref.AllocOp | memref.AllocaOp:
    """The allocation as one of that kind, in its place."""
    properties = {"alignment": ALIGNMENT} | op.properties
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


# Loops


def lower_loop(op: ForOp, one: SSAValue) -> None:
    """Make it a loop of scf, from `min` up to `min + extent`; `one` is the step."""
    end = _sum(op.min, op.extent)
    if isinstance(end, Operation):
        end.location = op.location
        Rewriter.insert_op(end, InsertPoint.before(op))
    body = op.detach_region(op.body)
    bounds = (op.min, SSAValue.get(end), one)
    if op.for_kind is ForKind.PARALLEL:
        start, end, step = ([bound] for bound in bounds)
        new: Operation = scf.ParallelOp(start, end, step, body)
        _end_with(body.block, scf.ReduceOp())
    else:
        new = scf.ForOp(*bounds, [], body)
        _end_with(body.block, scf.YieldOp())
    new.location = op.location
    Rewriter.replace_op(op, new, [])


def _sum(min: SSAValue, extent: SSAValue) -> SSAValue | Operation:
    """`min + extent`, computed as far as it is known."""
    start, count = _known(min), _known(extent)
    if start == 0:
        return extent
    if start is not None and count is not None:
        return arith.ConstantOp(IntegerAttr(start + count, IndexType()))
    return arith.AddiOp(min, extent)


def _known(value: SSAValue) -> int | None:
    constant = ConstantLike.get_constant_value(value)
    return constant.value.data if isinstance(constant, IntegerAttr) else None


def _end_with(block: Block, end: Operation) -> None:
    assert block.last_op is not None
    end.location = block.last_op.location
    Rewriter.replace_op(block.last_op, end)


# Functions


def lower_prim_func(op: PrimFuncOp) -> None:
    """Make it a `func.func`, with its discardable attributes, and its body one of `scf` loops.

    Its buffers do not overlap, which LLVM is told, unless `tir.alias` says that they may.
    """
    if not op.is_declaration:
        _lower_body(op)
    # MLIR has no public declarations.
    visibility = StringAttr("private") if op.is_declaration else op.sym_visibility
    separate = "tir.alias" not in op.attributes
    marks = [
        DictionaryAttr({"llvm.noalias": UnitAttr()} if separate and _is_buffer(type) else {})
        for type in op.function_type.inputs
    ]
    new = func.FuncOp(
        op.sym_name.data,
        op.function_type,
        op.detach_region(op.body),
        visibility,
        arg_attrs=ArrayAttr(marks) if any(mark.data for mark in marks) else None,
    )
    new.attributes = op.attributes
    new.location = op.location
    Rewriter.replace_op(op, new)


def _lower_body(op: PrimFuncOp) -> None:
    ops = [*walk(op)]
    one = arith.ConstantOp(IntegerAttr(1, IndexType()))
    for inner in reversed(ops):
        match inner:
            case ForOp():
                lower_loop(inner, one.result)
            case LikelyOp():
                Rewriter.replace_op(inner, [], [inner.condition])
            case _:
                pass
    block = op.body.block
    if one.result.first_use is not None:
        one.location = op.location
        Rewriter.insert_op(one, InsertPoint.at_start(block))
    _end_with(block, func.ReturnOp())


def lower_call(op: CallOp) -> None:
    """Make it a `func.call`."""
    new = func.CallOp(op.callee, op.arguments, ())
    new.attributes = op.attributes
    new.location = op.location
    Rewriter.replace_op(op, new)


@dataclass(frozen=True)
class LowerTIR(ModulePass):
    """Turn functions on buffers into `func`, `scf`, `memref` and what else mlir-opt knows.

    Loops are serial, but for parallel ones. Storage scopes go: what was in one of them, but
    `"global"`, is on the stack. Errors: DiagnosticError for a loop that is bound to a thread, and
    for a `memref.dealloc`.
    """

    name = "lower-tir"

    stack_bytes: int = 1 << 18
    """What the buffers of one function may take on the stack; the others are on the heap."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        functions = [op for op in module.ops if isinstance(op, PrimFuncOp)]
        if not all([_check(op, ctx) for op in functions]):
            return
        for op in functions:
            ctx.count("stack-buffers", place_buffers(op, self.stack_bytes, partial(_say, ctx)))
        drop_scopes(module)
        for op in functions:
            lower_prim_func(op)
        for op in [op for op in walk(module) if isinstance(op, CallOp)]:
            lower_call(op)
        ctx.count("lowered-functions", len(functions))


def _say(ctx: PassContext, op: Operation) -> None:
    message = "on the heap: its size is not known, or too big for the stack"
    ctx.remarks.missed(op, "OnHeap", message)


def _check(func: PrimFuncOp, ctx: PassContext) -> bool:
    """Report what cannot be lowered, and which loops lose their kind; whether all can."""
    errors = 0
    for op in walk(func):
        match op:
            case ForOp() if op.for_kind is ForKind.THREAD_BINDING:
                assert op.thread_tag is not None
                tag = op.thread_tag.data
                message = f'is bound to "{tag}", but a CPU has no such threads'
                ctx.diagnostics.error(op, message).help("a parallel loop runs on any target")
                errors += 1
            case ForOp() if op.for_kind in (ForKind.UNROLLED, ForKind.VECTORIZED):
                message = f"runs as a serial loop: nothing has {op.for_kind} it"
                ctx.remarks.missed(op, "Serial", message, kind=str(op.for_kind))
            case memref.DeallocOp():
                ctx.diagnostics.error(op, "frees a buffer, which lives until the end of its block")
                errors += 1
            case _:
                pass
    return not errors
