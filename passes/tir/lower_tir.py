"""LowerTIR: functions on buffers, and their loops, become func and scf."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from typing_extensions import TypeIs
from xdsl.dialects import arith, func, llvm, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.constant_evaluator import integer_constant
from ...compiler.analysis.memory.buffers import buffer_type, element_bytes, is_static
from ...compiler.analysis.memory.storage_plan import ALIGNMENT
from ...dialects.arith_types import is_vector
from ...dialects.target import DEFAULT, Target, target_of
from ...dialects.tir.ops import (
    AssumeOp,
    CallOp,
    Dp4aOp,
    ForKind,
    ForOp,
    LanewiseOp,
    LikelyOp,
    PrefetchOp,
    PrimFuncOp,
)
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.conditions import no_op_of
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.types import convert_types
from ...passmanager.ir.walk import ancestors, walk
from ..generic.purity import Allocation
from .byte_dot_products import lower_dp4a, repeat_for_lanes
from .loop_conditions import on_a_processor

# Placement of buffers on the stack or the heap, and removal of storage scopes.


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


def lower_functions(
    module: ModuleOp,
    stack_bytes: int,
    *,
    scalarize: bool = True,
    actions: Actions = SILENT,
) -> None:
    """Lower all functions on buffers of `module`, and the calls of them.

    The buffers of one function take at most `stack_bytes` of the stack. With `scalarize`, a
    `tir.lanewise` is repeated for each lane; else it stays. Nothing changes if one of
    the functions has an error: a loop that is bound to a thread, or a `memref.dealloc`.
    """
    target = target_of(module)
    functions = [op for op in module.ops if isinstance(op, PrimFuncOp)]
    # A list, so that the errors of all functions are reported.
    if not all([can_lower(op, actions) for op in functions]):
        return
    for op in functions:
        place_buffers(op, stack_bytes, actions=actions)
    drop_storage_scopes(module)
    for op in functions:
        lower_prim_func(op, target, scalarize=scalarize)
        actions.count("lowered-functions")
    for op in [op for op in walk(module) if isinstance(op, CallOp)]:
        lower_call(op)


def can_lower(func: PrimFuncOp, actions: Actions) -> bool:
    """Report errors, and loops that become serial; return whether `func` can be lowered."""
    for op in walk(func):
        # A remark, no error: the result is right, only slow.
        if isinstance(op, ForOp) and op.for_kind in (ForKind.UNROLLED, ForKind.VECTORIZED):
            message = f"runs as a serial loop: no pass has {op.for_kind} it"
            actions.missed(op, "Serial", message, kind=str(op.for_kind))
    violations = on_a_processor(func)
    for op, how in violations:
        error = actions.error(op, how)
        if isinstance(op, ForOp):
            error.help("a parallel loop runs on any target")
    return not violations


# Loops


def lower_loop(op: ForOp, one: SSAValue) -> None:
    """Replace `op` by an `scf.for` or `scf.parallel` from `min` up to `min + extent`.

    `one` is the constant 1, which is the step.
    """
    end = _sum(op.min, op.extent)
    if isinstance(end, Operation):
        end.location = op.location
        insert_before(op, end)
    body = op.detach_region(op.body)
    bounds = (op.min, SSAValue.get(end), one)
    # `scf.parallel` is for MLIR's passes; Passline's threads are made by `tir-outline-parallel`,
    # which runs before.
    if op.for_kind is ForKind.PARALLEL:
        start, end, step = ([bound] for bound in bounds)
        new: Operation = scf.ParallelOp(start, end, step, body)
        _replace_terminator(body.block, scf.ReduceOp())
    else:
        new = scf.ForOp(*bounds, [], body)
        _replace_terminator(body.block, scf.YieldOp())
    new.location = op.location
    Rewriter.replace_op(op, new, [])


def _sum(min: SSAValue, extent: SSAValue) -> SSAValue | Operation:
    """Return `min + extent`, folded if possible; a new operation is not inserted yet."""
    start, count = integer_constant(min), integer_constant(extent)
    if start == 0:
        return extent
    if start is not None and count is not None:
        return arith.ConstantOp(IntegerAttr(start + count, IndexType()))
    return arith.AddiOp(min, extent)


def _replace_terminator(block: Block, terminator: Operation) -> None:
    assert block.last_op is not None
    terminator.location = block.last_op.location
    Rewriter.replace_op(block.last_op, terminator)


# Functions


def lower_prim_func(op: PrimFuncOp, target: Target = DEFAULT, *, scalarize: bool = True) -> None:
    """Replace `op` by a `func.func` with its discardable attributes, and its loops by scf; dot
    products of bytes become instructions of `target`.

    Its buffers do not overlap unless it has `tir.alias`: the arguments get `llvm.noalias`.
    """
    attributes = op.arg_attrs if op.is_declaration else parameter_attributes(op)
    if not op.is_declaration:
        _lower_body(op, target, scalarize)
    # MLIR has no public declarations.
    visibility = StringAttr("private") if op.is_declaration else op.sym_visibility
    new = func.FuncOp(
        op.sym_name.data,
        op.function_type,
        op.detach_region(op.body),
        visibility,
        arg_attrs=attributes,
    )
    new.attributes = op.attributes
    new.location = op.location
    Rewriter.replace_op(op, new)


def parameter_attributes(op: PrimFuncOp) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of the parameters, with `llvm.noalias` for buffers that do not overlap;
    None if there are none."""
    if "tir.alias" in op.attributes:
        return op.arg_attrs
    types = op.function_type.inputs.data
    given = op.arg_attrs or [DictionaryAttr({})] * len(types)
    attributes = [
        DictionaryAttr(
            {**old.data, "llvm.noalias": UnitAttr()} if isinstance(type, MemRefType) else old.data
        )
        for old, type in zip(given, types, strict=True)
    ]
    return ArrayAttr(attributes) if any(each.data for each in attributes) else None


def _lower_body(op: PrimFuncOp, target: Target, scalarize: bool) -> None:
    ops = [*walk(op)]
    one = arith.ConstantOp(IntegerAttr(1, IndexType()))
    # Inner loops first: the body of a loop moves as a whole into its successor.
    for inner in reversed(ops):
        match inner:
            case ForOp():
                lower_loop(inner, one.result)
            case AssumeOp():
                Rewriter.erase_op(inner)
            case LikelyOp():
                Rewriter.replace_op(inner, [], [inner.condition])
            case PrefetchOp():
                lower_prefetch(inner)
            case Dp4aOp():
                lower_dp4a(inner, target)
            case LanewiseOp() if scalarize:
                repeat_for_lanes(inner)
            case _:
                pass
    block = op.body.block
    # One step for all loops, at the start, where it dominates them.
    if one.result.first_use is not None:
        one.location = op.location
        Rewriter.insert_op(one, InsertPoint.at_start(block))
    _replace_terminator(block, func.ReturnOp())


READ, TO_SECOND_CACHE, DATA = 0, 2, 1
"""The arguments `rw`, `locality` and `cache type` of `llvm.prefetch`."""


def lower_prefetch(op: PrefetchOp) -> None:
    """Replace `op` by LLVM's intrinsic, which takes an address; MLIR's own operation is not in
    xDSL. A buffer whose strides or whose bytes are not known is not prefetched."""
    type = buffer_type(op.memref)
    width = element_bytes(type.element_type)
    if not is_static(type) or not isinstance(type.layout, NoneAttr) or width is None:
        Rewriter.erase_op(op)
        return
    location = op.location

    def add(new: Operation) -> SSAValue:
        new.location = location
        insert_before(op, new)
        return new.results[0]

    def index(number: int) -> SSAValue:
        return add(arith.ConstantOp(IntegerAttr(number, IndexType())))

    address = add(memref.ExtractAlignedPointerAsIndexOp.get(op.memref))
    step = width
    # Row-major, in bytes: `address + width * (j + sizes[1] * i)`.
    for at, size in zip(reversed(op.indices), reversed(type.get_shape()), strict=True):
        address = add(arith.AddiOp(address, add(arith.MuliOp(at, index(step)))))
        step *= size
    pointer = add(llvm.IntToPtrOp(add(arith.IndexCastOp(address, i64))))
    numbers = (READ, TO_SECOND_CACHE, DATA)
    flags = [add(arith.ConstantOp(IntegerAttr(number, i32))) for number in numbers]
    none = DenseArrayBase.from_list(i32, [])
    call = llvm.CallIntrinsicOp("llvm.prefetch.p0", [pointer, *flags], [], op_bundle_sizes=none)
    call.location = location
    Rewriter.replace_op(op, call, [])


def lower_call(op: CallOp) -> None:
    """Replace `op` by a `func.call`."""
    new = func.CallOp(op.callee, op.arguments, ())
    new.attributes = op.attributes
    new.location = op.location
    Rewriter.replace_op(op, new)


@dataclass(frozen=True)
class LowerTIR(ModulePass):
    """Turn functions on buffers into `func`, `scf`, `memref` and other dialects of MLIR.

    All loops but parallel ones become serial. Storage scopes are removed: buffers in scopes other
    than "global" are on the stack. Errors: a loop that is bound to a thread, and a
    `memref.dealloc`.

    Before:

        tir.prim_func @f(%x: memref<8xf32>, %y: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          tir.for %i = %c0 extent %c8 {
            memref.store %y, %x[%i] : memref<8xf32>
          }
        }

    After:

        func.func @f(%x: memref<8xf32> {llvm.noalias}, %y: f32) {
          %0 = arith.constant 1 : index
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          scf.for %i = %c0 to %c8 step %0 {
            memref.store %y, %x[%i] : memref<8xf32>
          }
          func.return
        }
    """

    name = "lower-tir"
    requires = (on_a_processor,)
    ensures = (no_op_of(PrimFuncOp),)

    stack_bytes: int = field(default=1 << 18, metadata={"minimum": 0})
    """The most bytes of the stack for the buffers of one function; others are on the heap."""
    scalarize: bool = True
    """Repeat `tir.lanewise` for each lane; without, it stays, for `passline.compile`."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        scalarize = self.scalarize
        lower_functions(module, self.stack_bytes, scalarize=scalarize, actions=ctx.actions)
