"""LowerMemref: buffers become pointers, and their accesses loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import cast

from xdsl.dialects import llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    UnitAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.numbers import product
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import insert_before
from ...passmanager.releases.memref import AssumeAlignmentOp
from .conversion import Lowering, Patterns, contiguous, convert
from .types import POINTER, LLVMBuffer, Number, Word, lowered_type

ALIGNMENT = 16
"""The bytes to which memory of the heap is aligned that asks for nothing else."""
NOT_ATOMIC = IntegerAttr(0, i64)
EQUAL = IntegerAttr(0, i64)


def bytes_of(type: Attribute) -> int:
    """Return the bytes that an element of a type of the dialect llvm takes in an array."""
    if isinstance(type, VectorType):
        vector = cast("VectorType[Attribute]", type)
        element = vector.element_type
        bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 64
        size = -(-prod(vector.get_shape()) * bits // 8)
        # LLVM pads a vector to its alignment, a power of 2: `<3 x float>` takes 16 bytes.
        return 1 << (size - 1).bit_length()
    bits = type.bitwidth if isinstance(type, FixedBitwidthType) else 64
    return 1 << (-(-bits // 8) - 1).bit_length()


def type_of(value: SSAValue) -> MemRefType[Attribute]:
    return cast("MemRefType[Attribute]", value.type)


# Accesses


def load(op: memref.LoadOp, build: Lowering) -> SSAValue:
    base, *indices = op.operands
    buffer = build.buffer(base)
    place = build.element(buffer, indices)
    return build.add(llvm.LoadOp, (place,), buffer.element, ordering=NOT_ATOMIC)


def store(op: memref.StoreOp, build: Lowering) -> None:
    stored, base, *indices = op.operands
    value, buffer = build.value(stored), build.buffer(base)
    place = build.element(buffer, indices)
    properties: dict[str, Attribute] = {"ordering": NOT_ATOMIC}
    if is_nontemporal(op):
        properties["nontemporal"] = UnitAttr()
    build.add(llvm.StoreOp, (value, place), **properties)


def is_nontemporal(op: Operation) -> bool:
    """Return whether what an operation writes is not to be kept in caches."""
    flag = op.properties.get("nontemporal")
    return isinstance(flag, IntegerAttr) and bool(flag.value.data)


def copy(op: memref.CopyOp, build: Lowering) -> None:
    source, target = build.buffer(op.source), build.buffer(op.destination)
    if not (is_contiguous(op.source) and is_contiguous(op.destination)):
        raise build.error("copies from or to a buffer with a layout: expected a loop")
    size = product([bytes_of(source.element), *source.sizes])
    # Not `memmove`, as in MLIR: source and target must not overlap.
    operands = (target.pointer, source.pointer, build.number(size), build.integer(0, i1))
    build.intrinsic("llvm.memcpy.p0.p0.i64", operands)


def is_contiguous(value: SSAValue) -> bool:
    return isinstance(type_of(value).layout, NoneAttr)


# Memory


def alloc(op: memref.AllocOp, build: Lowering) -> None:
    """The memory is of the C library's `aligned_alloc`, and one unit of the alignment at least, so
    that a null pointer says that there is none."""
    type = type_of(op.memref)
    element = lowered_type(type.element_type)
    sizes = build.numbers(type.get_shape(), op.dynamic_sizes)
    size = product([bytes_of(element), *sizes])
    alignment = max(ALIGNMENT, 0 if op.alignment is None else op.alignment.value.data)
    # Rounded up as `aligned_alloc` wants it: size + alignment, rounded down. One unit too many if
    # it is a multiple already, which spares the case of 0 bytes.
    size = size + alignment
    if isinstance(size, int):
        size = size // alignment * alignment
    else:
        size = Word(build, build.add(llvm.AndOp, (size.value, build.integer(-alignment)), i64))
    pointer = build.call("aligned_alloc", [build.integer(alignment), build.number(size)], POINTER)
    set_contiguous(op.memref, pointer, sizes, build)


def alloca(op: memref.AllocaOp, build: Lowering) -> None:
    type = type_of(op.memref)
    element = lowered_type(type.element_type)
    sizes = build.numbers(type.get_shape(), op.dynamic_sizes)
    properties: dict[str, Attribute] = {"elem_type": element}
    if op.alignment is not None:
        properties["alignment"] = IntegerAttr(op.alignment.value.data, i64)
    pointer = build.add(llvm.AllocaOp, (build.number(product(sizes)),), POINTER, **properties)
    set_contiguous(op.memref, pointer, sizes, build)


def set_contiguous(
    old: SSAValue, pointer: SSAValue, sizes: tuple[Number, ...], build: Lowering
) -> None:
    """Let a buffer in row-major order stand for a memref."""
    type = type_of(old)
    if not isinstance(type.layout, NoneAttr):
        raise build.error(f"is {type}: expected no layout")
    element = lowered_type(type.element_type)
    build.set_buffer(old, LLVMBuffer(pointer, sizes, contiguous(sizes), element))


def dealloc(op: memref.DeallocOp, build: Lowering) -> None:
    build.call("free", [build.buffer(op.memref).pointer])


# Globals


def global_(op: memref.GlobalOp, build: Lowering) -> None:
    """A global is an array; without a value and not private it is defined elsewhere."""
    type = op.type
    element = lowered_type(type.element_type)
    array = llvm.LLVMArrayType(prod(type.get_shape()), element)
    value = op.properties.get("initial_value")
    is_private = op.properties.get("sym_visibility")
    linkage = "internal" if value is not None and str(is_private) == '"private"' else "external"
    alignment = None if op.alignment is None else op.alignment.value.data
    elements: Attribute | None = None
    if isinstance(value, DenseIntOrFPElementsAttr):
        flat = VectorType(element, [prod(type.get_shape())])
        elements = DenseIntOrFPElementsAttr(flat, value.data)  # pyright: ignore
    new = llvm.GlobalOp(
        array,
        op.sym_name,
        linkage,
        constant=op.constant is not None,
        value=elements,
        alignment=alignment,
    )
    if isinstance(value, UnitAttr):
        new.attributes[UNINITIALIZED] = UnitAttr()
    new.location = op.location
    insert_before(op, new)


UNINITIALIZED = "llvm.uninitialized"
"""The attribute of a global that is defined here, with no value."""


def get_global(op: memref.GetGlobalOp, build: Lowering) -> None:
    pointer = build.add(llvm.AddressOfOp, (), POINTER, global_name=op.name_)
    set_contiguous(op.memref, pointer, type_of(op.memref).get_shape(), build)


# Views


def view(op: memref.ViewOp, build: Lowering) -> None:
    source, type = build.buffer(op.source), type_of(op.result)
    # The source is a buffer of bytes, so the shift is an index of elements.
    pointer = build.offset(source.pointer, build.index(op.byte_shift), source.element)
    set_contiguous(op.result, pointer, build.numbers(type.get_shape(), op.sizes), build)


def reinterpret_cast(op: memref.ReinterpretCastOp, build: Lowering) -> None:
    """The offset counts from the start of the source: a buffer has no offset of its own."""
    source = build.buffer(op.source)
    (offset,) = build.numbers(op.static_offsets.get_values(), op.offsets)
    new = LLVMBuffer(
        build.offset(source.pointer, offset, source.element),
        build.numbers(op.static_sizes.get_values(), op.sizes),
        build.numbers(op.static_strides.get_values(), op.strides),
        source.element,
    )
    build.set_buffer(op.result, new)


def subview(op: memref.SubviewOp, build: Lowering) -> None:
    source = build.buffer(op.source)
    offsets = build.numbers(op.static_offsets.get_values(), op.offsets)
    sizes = build.numbers(op.static_sizes.get_values(), op.sizes)
    steps = build.numbers(op.static_strides.get_values(), op.strides)
    place: Number = 0
    for offset, stride in zip(offsets, source.strides, strict=True):
        # Strides are those of the source: a view of a view needs no chain.
        place = place + offset * stride
    strides = [a * b for a, b in zip(steps, source.strides, strict=True)]
    kept = kept_axes(op.static_sizes.get_values(), type_of(op.result).get_shape())
    new = LLVMBuffer(
        build.offset(source.pointer, place, source.element),
        tuple(sizes[axis] for axis in kept),
        tuple(strides[axis] for axis in kept),
        source.element,
    )
    build.set_buffer(op.result, new)


def kept_axes(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """Return the axes of a view that its type has; others are of size 1."""
    kept: list[int] = []
    dropped = len(sizes) - len(shape)
    for axis, size in enumerate(sizes):
        if dropped and size == 1 and (len(kept) == len(shape) or shape[len(kept)] != 1):
            dropped -= 1
        else:
            kept.append(axis)
    return kept


def same(op: Operation, build: Lowering) -> None:
    """Return a buffer with another type; sizes and strides that this leaves open are those of the
    old one."""
    old, result = build.buffer(op.operands[0]), op.results[0]
    if not isinstance(result.type, MemRefType):
        raise build.error(f"returns {result.type}: expected a buffer of known rank")
    build.set_buffer(result, old)


def reshape(op: memref.ExpandShapeOp | memref.CollapseShapeOp, build: Lowering) -> None:
    source, type = build.buffer(op.src), type_of(op.results[0])
    # With strides a group may be collapsed only if they are those of its sizes;
    # `tir-flatten-buffer` deals with that case.
    if not is_contiguous(op.src):
        raise build.error(f"is on {op.src.type}: expected no layout")
    if isinstance(op, memref.ExpandShapeOp):
        sizes = build.numbers(op.static_output_shape.get_values(), op.output_shape)
    else:
        groups = [[axis.value.data for axis in group] for group in op.reassociation]
        sizes = tuple(product(source.sizes[axis] for axis in group) for group in groups)
    known = zip(type.get_shape(), sizes, strict=True)
    # A size of the type where it is known, so that strides fold to constants.
    sizes = tuple(size if size != DYNAMIC_INDEX else other for size, other in known)
    set_contiguous(op.results[0], source.pointer, sizes, build)


# Facts about buffers


def dim(op: memref.DimOp, build: Lowering) -> SSAValue:
    sizes, axis = build.buffer(op.source).sizes, build.index(op.index)
    if isinstance(axis, int):
        return build.number(sizes[axis])
    *others, found = map(build.number, sizes)
    # The axis is not known: a chain of selections, which LLVM makes a table of.
    for number, size in enumerate(others):
        operands = (axis.value, build.integer(number))
        holds = build.add(llvm.ICmpOp, operands, i1, predicate=EQUAL)
        found = build.select(holds, size, found)
    return found


def rank(op: memref.RankOp, build: Lowering) -> SSAValue:
    return build.integer(type_of(op.source).get_num_dims())


def address(op: memref.ExtractAlignedPointerAsIndexOp, build: Lowering) -> SSAValue:
    return build.add(llvm.PtrToIntOp, (build.buffer(op.source).pointer,), i64)


def metadata(op: memref.ExtractStridedMetaDataOp, build: Lowering) -> None:
    """The offset is 0, as it is in the pointer."""
    buffer = build.buffer(op.source)
    build.set_buffer(op.base_buffer, replace(buffer, sizes=(), strides=()))
    build.set(op.offset, build.integer(0))
    for results, numbers in ((op.sizes, buffer.sizes), (op.strides, buffer.strides)):
        for result, number in zip(results, numbers, strict=True):
            build.set(result, build.number(number))


MEMREF: Patterns = {
    memref.LoadOp: load,
    memref.StoreOp: store,
    memref.CopyOp: copy,
    memref.AllocOp: alloc,
    memref.AllocaOp: alloca,
    memref.DeallocOp: dealloc,
    memref.GlobalOp: global_,
    memref.GetGlobalOp: get_global,
    memref.ViewOp: view,
    memref.ReinterpretCastOp: reinterpret_cast,
    memref.SubviewOp: subview,
    memref.CastOp: same,
    memref.MemorySpaceCastOp: same,
    AssumeAlignmentOp: same,
    memref.ExpandShapeOp: reshape,
    memref.CollapseShapeOp: reshape,
    memref.DimOp: dim,
    memref.RankOp: rank,
    memref.ExtractAlignedPointerAsIndexOp: address,
    memref.ExtractStridedMetaDataOp: metadata,
}


@dataclass(frozen=True)
class LowerMemref(ModulePass):
    """Turn buffers (`memref`) into pointers to their first elements, and i64 for sizes and strides
    that their types leave open; accesses are in bounds. Memory on the heap is that of
    `aligned_alloc`; source: MLIR's finalize-memref-to-llvm and expand-strided-metadata.

    Before:

        func.func @f(%x: memref<4x8xf32>, %i: index) -> f32 {
          %c2 = arith.constant 2 : index
          %0 = memref.load %x[%c2, %i] : memref<4x8xf32>
          func.return %0 : f32
        }

    After:

        func.func @f(%x: memref<4x8xf32>, %i: index) -> f32 {
          %0 = llvm.mlir.constant(16) : i64
          %1 = builtin.unrealized_conversion_cast %i : index to i64
          %2 = builtin.unrealized_conversion_cast %x : memref<4x8xf32> to !llvm.ptr
          %c2 = arith.constant 2 : index
          %3 = llvm.add %0, %1 overflow<nsw,nuw> : i64
          %4 = llvm.getelementptr inbounds %2[%3] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %5 = llvm.load %4 : !llvm.ptr -> f32
          func.return %5 : f32
        }
    """

    name = "lower-memref"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        convert(module, MEMREF)
