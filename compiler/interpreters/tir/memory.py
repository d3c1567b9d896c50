"""The semantics of memref: buffers are numpy arrays, and views of buffers numpy views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    NoneAttr,
    UnitAttr,
    VectorType,
)
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ....dialects.extensions.lists import REDUCTIONS
from ....dialects.tir.ops import PrefetchOp
from ....passmanager.releases.memref import AssumeAlignmentOp
from ..arrays import array_of, bounds, check_size
from .arithmetic import ARITHMETIC, bind
from .table import Array, Semantics, buffer_dtype, converter, element_type, number

# The kinds of combining of `memref.atomic_rmw` and of reductions of affine loops, as operations of
# arith.


KINDS: dict[str, type[Operation] | None] = {
    "addf": arith.AddfOp,
    "addi": arith.AddiOp,
    "assign": None,
    "maximumf": arith.MaximumfOp,
    "maxs": arith.MaxSIOp,
    "maxu": arith.MaxUIOp,
    "minimumf": arith.MinimumfOp,
    "mins": arith.MinSIOp,
    "minu": arith.MinUIOp,
    "mulf": arith.MulfOp,
    "muli": arith.MuliOp,
    "ori": arith.OrIOp,
    "andi": arith.AndIOp,
    "maxnumf": arith.MaxnumfOp,
    "minnumf": arith.MinnumfOp,
    "xori": arith.XOrIOp,
}
"""The operation of each kind; `assign` takes the new value."""

IDENTITIES: dict[str, float] = {
    **dict.fromkeys(("addf", "addi", "ori", "xori", "maxu"), 0),
    **dict.fromkeys(("mulf", "muli"), 1),
    **dict.fromkeys(("andi", "minu"), -1),
    **dict.fromkeys(("maximumf", "maxnumf"), -np.inf),
    **dict.fromkeys(("minimumf", "minnumf"), np.inf),
}
"""The value of each kind that does not change another one; those of `maxs` and `mins` are the
limits of the type."""


def combine(kind: str, type: Attribute, old: object, new: object) -> object:
    """Return the value of `type` that the operation of a kind makes of two."""
    return _combination(kind, type)(old, new)


@cache
def _combination(kind: str, type: Attribute) -> Callable[[object, object], object]:
    if (cls := _operation(kind)) is None:
        return lambda _, new: new
    op = cls.create(operands=Block(arg_types=(type, type)).args, result_types=(type,))
    compute, convert = bind(ARITHMETIC[cls], op), converter(type)
    return lambda old, new: convert(compute(old, new))


def _operation(kind: str) -> type[Operation] | None:
    if kind not in KINDS:
        raise InterpretationError(f"there is no combining kind {kind}: they are {', '.join(KINDS)}")
    return KINDS[kind]


def identity_of(kind: str, type: Attribute) -> object:
    """Return the value of `type` with which a reduction of a kind begins."""
    _operation(kind)
    if kind in ("maxs", "mins"):
        element = element_type(type)
        low, high = (-(1 << 63), (1 << 63) - 1) if element is None else bounds(element)
        return number(low if kind == "maxs" else high, type)
    if kind not in IDENTITIES:
        raise InterpretationError(f"a reduction of kind {kind} has no first value")
    return number(np.array(IDENTITIES[kind]), type)


Slice: TypeAlias = memref.SubviewOp | tensor.ExtractSliceOp | tensor.InsertSliceOp
"""The operations on a part of an array."""


def allocate(type: MemRefType[Attribute], sizes: Sequence[int] = ()) -> Array:
    """Return a buffer of zeros; `sizes` are those of the dynamic dimensions of `type`."""
    shape, element = merge_dynamic(type.get_shape(), sizes), type.element_type
    lanes = element.get_shape() if isinstance(element, VectorType) else ()
    check_size((*shape, *lanes))
    return np.zeros((*shape, *lanes), buffer_dtype(type))


def check_indices(buffer: Array, indices: Sequence[int], kind: str = "a buffer") -> tuple[int, ...]:
    """Return `indices`; raise InterpretationError if one is out of bounds.

    Numpy would count negative indices from the end.
    """
    for index, size in zip(indices, buffer.shape):
        if not 0 <= index < size:
            raise InterpretationError(
                f"index [{', '.join(map(str, indices))}] is out of the bounds of {kind} of "
                f"{'x'.join(map(str, buffer.shape))}"
            )
    return tuple(indices)


def alloc(op: memref.AllocOp | memref.AllocaOp, *sizes: int) -> Array:
    """Allocate a buffer; it is zeroed, so that results do not depend on old memory."""
    type = op.memref.type
    assert isinstance(type, MemRefType)
    return allocate(type, sizes[: len(op.dynamic_sizes)])


def load(_: memref.LoadOp, buffer: Array, *indices: int) -> object:
    """Return a copy of an element, which later stores do not change."""
    value: Array | np.generic = buffer[check_indices(buffer, indices)]
    return value.copy() if isinstance(value, np.ndarray) else value


def store(_: memref.StoreOp, value: object, buffer: Array, *indices: int) -> None:
    """Store an element."""
    buffer[check_indices(buffer, indices)] = value


def prefetch(_: PrefetchOp, buffer: Array, *indices: int) -> None:
    """Check that the element exists."""
    check_indices(buffer, indices)


def copy(_: memref.CopyOp, source: Array, target: Array) -> None:
    """Copy all elements."""
    target[...] = source


def rank(_: memref.RankOp, buffer: Array) -> int:
    """Return the number of dimensions."""
    return buffer.ndim


def atomic_rmw(op: memref.AtomicRMWOp, value: object, buffer: Array, *indices: int) -> object:
    """Combine an element with `value` in place, and return what it was."""
    place = check_indices(buffer, indices)
    kind = REDUCTIONS[op.kind.value.data]
    old = buffer[place]
    buffer[place] = combine(kind, op.value.type, old, value)
    return old


def dma_start(op: memref.DmaStartOp, source: Array, *args: Any) -> None:
    """Copy neighboring elements, at once."""
    at, count = len(op.src_indices), len(op.dest_indices)
    target, rest = args[at], args[at + 1 :]
    size = rest[count]
    target_flat = target.reshape(-1, copy=False)
    target_flat[run_of(target, rest[:count], size)] = source.ravel()[
        run_of(source, args[:at], size)
    ]


def run_of(buffer: Array, indices: Sequence[int], size: int) -> slice:
    """Return `size` neighboring elements of a flat buffer, from `indices` on."""
    start = int(np.ravel_multi_index(check_indices(buffer, indices), buffer.shape))
    if not 0 <= size <= buffer.size - start:
        raise InterpretationError(
            f"{size} elements from {start} exceed a buffer of {buffer.size} elements"
        )
    return slice(start, start + size)


def strided_metadata(op: memref.ExtractStridedMetaDataOp, buffer: Array) -> tuple[object, ...]:
    """Return the first element of the allocation, and the offset, sizes and strides in it."""
    base = allocation_of(buffer)
    start = buffer.ctypes.data - base.ctypes.data
    strides = (stride // buffer.itemsize for stride in buffer.strides)
    return (base[:1].reshape(()), start // buffer.itemsize, *buffer.shape, *strides)


def dim(_: memref.DimOp, buffer: Array, axis: int) -> int:
    """Return the size of one dimension."""
    return buffer.shape[axis]


def merge_dynamic(static: Sequence[int], dynamic: Sequence[int]) -> list[int]:
    """Return `static` with the dynamic numbers taken from `dynamic` in order."""
    values = iter(dynamic)
    return [next(values) if number == DYNAMIC_INDEX else number for number in static]


def view_parameters(
    op: Slice | memref.ReinterpretCastOp, numbers: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """Return the offsets, sizes and strides of `op`, given its operands after the array."""
    offsets, sizes = len(op.offsets), len(op.offsets) + len(op.sizes)
    return (
        merge_dynamic(op.static_offsets.get_values(), numbers[:offsets]),
        merge_dynamic(op.static_sizes.get_values(), numbers[offsets:sizes]),
        merge_dynamic(op.static_strides.get_values(), numbers[sizes:]),
    )


def slices_of(op: Slice, array: Array, numbers: Sequence[int]) -> tuple[slice, ...]:
    """Return the part of an array that `op` selects; InterpretationError if it exceeds that."""
    parameters = zip(*view_parameters(op, numbers), array.shape, strict=True)
    return tuple(_slice(*row) for row in parameters)


def _slice(offset: int, size: int, stride: int, extent: int) -> slice:
    last = offset + (size - 1) * stride
    if size < 0 or (size and not (0 <= offset < extent and 0 <= last < extent)):
        raise InterpretationError(
            f"a view of {size} elements from {offset} exceeds a dimension of {extent}"
        )
    if not size:
        return slice(0, 0)
    if not stride:
        raise InterpretationError("a view whose stride is 0 has no numpy semantics")
    end = last + (1 if stride > 0 else -1)
    return slice(offset, end if end >= 0 else None, stride)


def drop_unit_dims(array: Array, shape: Sequence[int]) -> Array:
    """Return a view without the dimensions of size 1 that are not in `shape`."""
    kept = iter(shape)
    wanted, axes = next(kept, None), list[int]()
    for axis, size in enumerate(array.shape):
        if wanted is not None and wanted in (size, DYNAMIC_INDEX):
            wanted = next(kept, None)
        else:
            axes.append(axis)
    return array.squeeze(tuple(axes)) if len(axes) + len(shape) == array.ndim else array


def subview(op: memref.SubviewOp, buffer: Array, *numbers: int) -> Array:
    """Return a part of a buffer; dimensions of size 1 that the result type drops are removed."""
    type = op.result.type
    assert isinstance(type, MemRefType)
    return drop_unit_dims(buffer[slices_of(op, buffer, numbers)], type.get_shape())


def allocation_of(buffer: Array) -> Array:
    """Return all elements of the allocation that `buffer` is a part of, as one dimension."""
    base = buffer
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.reshape(-1).view(buffer.dtype)


def reinterpret(op: memref.ReinterpretCastOp, buffer: Array, *numbers: int) -> Array:
    """Return a view with any offset, sizes and strides.

    As in MLIR, the offset counts from the start of the allocation, not from that of `buffer`.
    """
    (offset,), sizes, strides = view_parameters(op, numbers)
    type = op.source.type
    assert isinstance(type, MemRefType)
    from_start = buffer.ndim and isinstance(type.layout, NoneAttr)
    flat = buffer.reshape(-1) if from_start else allocation_of(buffer)
    last = offset + sum((n - 1) * stride for n, stride in zip(sizes, strides, strict=True))
    if all(sizes) and not (offset >= 0 and last < flat.size):
        raise InterpretationError(
            f"a view up to element {last} exceeds a buffer of {flat.size} elements"
        )
    steps = [stride * buffer.itemsize for stride in strides]
    return as_strided(flat[offset:], sizes, steps)


def reshaped(op: memref.CollapseShapeOp | memref.ExpandShapeOp, buffer: Array) -> Array:
    """Return the same elements in another shape, as a view."""
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


def view(
    op: memref.ViewOp, buffer: Array, shift: int, *sizes: int, dtype: np.dtype[Any] | None = None
) -> Array:
    """Return bytes of a buffer, from `shift` on, as elements of another type, or dtype."""
    type = op.result.type
    assert isinstance(type, MemRefType)
    shape, dtype = merge_dynamic(type.get_shape(), sizes), dtype or buffer_dtype(type)
    length = int(np.prod(shape)) * dtype.itemsize
    if not 0 <= shift <= shift + length <= buffer.size:
        raise InterpretationError(
            f"a view of {length} bytes from {shift} exceeds a buffer of {buffer.size} bytes"
        )
    return buffer[shift : shift + length].view(dtype).reshape(shape)


def same(_: Operation, buffer: Array) -> Array:
    """Return the buffer: types, memory spaces and alignment do not matter to numpy."""
    return buffer


def ignore(_: Operation, *args: Any) -> None:
    """Do nothing: Python frees buffers, and copies are done when they start."""


MEMORY: Semantics = {
    memref.AllocOp: alloc,
    memref.AllocaOp: alloc,
    AssumeAlignmentOp: same,
    memref.AtomicRMWOp: atomic_rmw,
    memref.CastOp: same,
    memref.CollapseShapeOp: reshaped,
    memref.CopyOp: copy,
    memref.DeallocOp: ignore,
    memref.DimOp: dim,
    memref.DmaStartOp: dma_start,
    memref.DmaWaitOp: ignore,
    memref.ExpandShapeOp: reshaped,
    memref.ExtractStridedMetaDataOp: strided_metadata,
    memref.LoadOp: load,
    memref.MemorySpaceCastOp: same,
    memref.RankOp: rank,
    memref.ReinterpretCastOp: reinterpret,
    memref.StoreOp: store,
    memref.SubviewOp: subview,
    memref.ViewOp: view,
    PrefetchOp: prefetch,
}
"""The semantics of the operations without regions, and without a state."""


@register_impls
class MemoryFunctions(InterpreterFunctions):
    """The functions of globals, which a run may change, and of `memref.alloca_scope`."""

    @impl(memref.GetGlobalOp)
    def run_get_global(
        self, interpreter: Interpreter, op: memref.GetGlobalOp, args: PythonValues
    ) -> PythonValues:
        target = SymbolTable.lookup_symbol(op, op.name_)
        if not isinstance(target, memref.GlobalOp):
            raise InterpretationError(f"{op.name_} is not a global of the module")
        if target.constant is not None:
            return (initial_value(target),)
        name = target.sym_name.data
        return (interpreter.get_data(MemoryFunctions, name, lambda: initial_value(target).copy()),)

    @impl(memref.AllocaScopeOp)
    def run_alloca_scope(
        self, interpreter: Interpreter, op: memref.AllocaScopeOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.run_ssacfg_region(op.scope, (), "alloca_scope")


def initial_value(target: memref.GlobalOp) -> Array:
    """Return the value of a global: a read-only view of its bytes, or zeros if it has none."""
    value = target.initial_value
    if isinstance(value, UnitAttr):
        return allocate(target.type)
    if isinstance(value.get_element_type(), IndexType):
        return np.array(value.get_values(), np.int64).reshape(value.get_shape())
    return array_of(value)
