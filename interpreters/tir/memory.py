"""Buffers as numpy arrays: the operations of memref."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    MemRefType,
    NoneAttr,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ..arrays import array_of
from .table import Array, Semantics, buffer_dtype

__all__ = ["MEMORY", "allocate", "at", "mixed"]


def allocate(type: MemRefType[Attribute], sizes: Sequence[int] = ()) -> Array:
    """A buffer of zeros, `sizes` for the dimensions that the type leaves open."""
    left = iter(sizes)
    shape = [next(left) if size == DYNAMIC_INDEX else size for size in type.get_shape()]
    element = type.element_type
    lanes = element.get_shape() if isinstance(element, VectorType) else ()
    return np.zeros((*shape, *lanes), buffer_dtype(type))


def at(buffer: Array, indices: Sequence[int]) -> tuple[int, ...]:
    """The indices, which numpy would count from the end if they were negative;
    InterpretationError if one is out of bounds."""
    for index, size in zip(indices, buffer.shape):
        if not 0 <= index < size:
            raise InterpretationError(
                f"index [{', '.join(map(str, indices))}] is out of the bounds of a buffer of "
                f"{'x'.join(map(str, buffer.shape))}"
            )
    return tuple(indices)


def alloc(op: memref.AllocOp | memref.AllocaOp, *sizes: int) -> Array:
    type = op.memref.type
    assert isinstance(type, MemRefType)
    return allocate(type, sizes[: len(op.dynamic_sizes)])


def load(_: memref.LoadOp, buffer: Array, *indices: int) -> object:
    value: Array = np.asarray(buffer[at(buffer, indices)])
    return value.copy()  # what is stored later does not change it


def store(_: memref.StoreOp, value: object, buffer: Array, *indices: int) -> None:
    buffer[at(buffer, indices)] = value


def copy(_: memref.CopyOp, source: Array, target: Array) -> None:
    target[...] = source


def global_of(op: memref.GetGlobalOp) -> Array:
    """The value of a global: a view of its bytes, which nothing may change."""
    target = SymbolTable.lookup_symbol(op, op.name_)
    if not isinstance(target, memref.GlobalOp):
        raise InterpretationError(f"{op.name_} is no global of the module")
    if not isinstance(target.initial_value, DenseIntOrFPElementsAttr):
        raise InterpretationError(f"global {op.name_} has no value that numpy can hold")
    return array_of(target.initial_value)


def dim(_: memref.DimOp, buffer: Array, axis: int) -> int:
    return buffer.shape[axis]


def mixed(static: Sequence[int], dynamic: Sequence[int]) -> list[int]:
    """Static numbers, those left open from `dynamic`."""
    left = iter(dynamic)
    return [next(left) if number == DYNAMIC_INDEX else number for number in static]


def split(
    op: memref.SubviewOp | memref.ReinterpretCastOp, numbers: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides, out of the operands after the buffer."""
    offsets, sizes = len(op.offsets), len(op.offsets) + len(op.sizes)
    return (
        mixed(op.static_offsets.get_values(), numbers[:offsets]),
        mixed(op.static_sizes.get_values(), numbers[offsets:sizes]),
        mixed(op.static_strides.get_values(), numbers[sizes:]),
    )


def subview(op: memref.SubviewOp, buffer: Array, *numbers: int) -> Array:
    slices: list[slice] = []
    for offset, size, stride, extent in zip(*split(op, numbers), buffer.shape, strict=True):
        if size and not (0 <= offset and offset + (size - 1) * stride < extent):
            raise InterpretationError(f"a view of {size} from {offset} on is not within {extent}")
        slices.append(slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride))
    view = buffer[tuple(slices)]
    type = op.result.type
    assert isinstance(type, MemRefType)
    kept = iter(type.get_shape())  # dimensions of one may be dropped
    wanted, axes = next(kept, None), list[int]()
    for axis, size in enumerate(view.shape):
        if wanted is not None and wanted in (size, DYNAMIC_INDEX):
            wanted = next(kept, None)
        else:
            axes.append(axis)
    return view.squeeze(tuple(axes)) if len(axes) + type.get_num_dims() == view.ndim else view


def whole(buffer: Array) -> Array:
    """The elements of the allocation that a buffer is part of, in order."""
    base = buffer
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.reshape(-1).view(buffer.dtype)


def reinterpret(op: memref.ReinterpretCastOp, buffer: Array, *numbers: int) -> Array:
    """The elements at an offset from where the buffer begins, before its own offset, as MLIR
    says."""
    (offset,), sizes, strides = split(op, numbers)
    type = op.source.type
    assert isinstance(type, MemRefType)
    flat = buffer.reshape(-1) if isinstance(type.layout, NoneAttr) else whole(buffer)
    last = offset + sum((n - 1) * stride for n, stride in zip(sizes, strides, strict=True))
    if all(sizes) and not (0 <= offset and last < flat.size):
        raise InterpretationError(f"a view up to element {last} of a buffer of {flat.size}")
    steps = [stride * buffer.itemsize for stride in strides]
    return as_strided(flat[offset:], sizes, steps)


def reshaped(op: memref.CollapseShapeOp | memref.ExpandShapeOp, buffer: Array) -> Array:
    """The same elements in another shape."""
    type = op.result.type
    assert isinstance(type, MemRefType)
    shape = list(type.get_shape())
    if shape.count(DYNAMIC_INDEX) > 1:
        if isinstance(op, memref.ExpandShapeOp):
            raise InterpretationError("the sizes of the result are not known")
        groups = [[i.value.data for i in group] for group in op.reassociation]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        shape = [int(np.prod([buffer.shape[i] for i in group])) for group in groups]  # pyright: ignore[reportUnknownVariableType]
    sizes = tuple(-1 if size == DYNAMIC_INDEX else size for size in shape)
    return buffer.reshape(sizes, copy=False)


def view(op: memref.ViewOp, buffer: Array, shift: int, *sizes: int) -> Array:
    """Bytes of a buffer as elements of another type."""
    type = op.result.type
    assert isinstance(type, MemRefType)
    left = iter(sizes)
    shape = [next(left) if size == DYNAMIC_INDEX else size for size in type.get_shape()]
    dtype = buffer_dtype(type)
    length = int(np.prod(shape)) * dtype.itemsize
    if not 0 <= shift <= shift + length <= buffer.size:
        raise InterpretationError(f"a view of {length} bytes from {shift} on of {buffer.size}")
    return buffer[shift : shift + length].view(dtype).reshape(shape)


def cast(_: memref.CastOp | memref.MemorySpaceCastOp, buffer: Array) -> Array:
    return buffer


def nothing(_: memref.DeallocOp, buffer: Array) -> None:
    pass


def aligned(_: memref.AssumeAlignmentOp, buffer: Array) -> Array:
    return buffer


MEMORY: Semantics = {
    memref.AllocOp: alloc,
    memref.AllocaOp: alloc,
    memref.AssumeAlignmentOp: aligned,
    memref.CastOp: cast,
    memref.CollapseShapeOp: reshaped,
    memref.CopyOp: copy,
    memref.DeallocOp: nothing,
    memref.DimOp: dim,
    memref.ExpandShapeOp: reshaped,
    memref.GetGlobalOp: global_of,
    memref.LoadOp: load,
    memref.MemorySpaceCastOp: cast,
    memref.ReinterpretCastOp: reinterpret,
    memref.StoreOp: store,
    memref.SubviewOp: subview,
    memref.ViewOp: view,
}
