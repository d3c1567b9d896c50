"""The semantics of vector: vectors are numpy arrays that are never changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr

from ...releases import by_name
from .arithmetic import ElementwiseSemantics, fma
from .memory import check_indices, combine, merge_dynamic
from .table import Array, Semantics, buffer_dtype


def shape_of(type: Attribute) -> tuple[int, ...]:
    """Return the shape of a vector type."""
    assert isinstance(type, VectorType)
    return type.get_shape()


def window(buffer: Array, indices: Sequence[int], shape: Sequence[int]) -> Array:
    """Return a view of `shape`, in the last dimensions, of the elements from `indices` on.

    Raises InterpretationError if it exceeds the buffer.
    """
    check_indices(buffer, indices)
    leading = len(indices) - len(shape)
    if leading < 0:  # one element of a buffer of vectors
        return buffer[tuple(indices)]
    check_indices(
        buffer, [*indices[:leading], *(i + n - 1 for i, n in zip(indices[leading:], shape))]
    )
    slices = [slice(i, i + n) for i, n in zip(indices[leading:], shape, strict=True)]
    return buffer[(*indices[:leading], *slices)]


def load(op: vector.LoadOp, buffer: Array, *indices: int) -> Array:
    """Load neighboring elements."""
    return window(buffer, indices, shape_of(op.result.type)).copy()


def store(_: vector.StoreOp, value: Array, buffer: Array, *indices: int) -> None:
    """Store neighboring elements."""
    window(buffer, indices, value.shape)[...] = value


def active_lanes(buffer: Array, indices: Sequence[int], mask: Array) -> tuple[Array, Array]:
    """Return the lanes whose mask is on, and the last index of the element of each."""
    active = np.flatnonzero(mask)
    last = indices[-1] + active
    if active.size:
        check_indices(buffer, [*indices[:-1], int(last[0])])
        check_indices(buffer, [*indices[:-1], int(last[-1])])
    return active, last


def masked_load(op: vector.MaskedLoadOp, buffer: Array, *args: Any) -> Array:
    """Load the elements of active lanes; others get the pass-through value."""
    *indices, mask, default = args
    value = np.array(default)
    active, last = active_lanes(buffer, indices, mask)
    value[active] = buffer[(*indices[:-1], last)]
    return value


def masked_store(_: vector.MaskedStoreOp, buffer: Array, *args: Any) -> None:
    """Store the elements of active lanes."""
    *indices, mask, value = args
    active, last = active_lanes(buffer, indices, mask)
    buffer[(*indices[:-1], last)] = value[active]


def create_mask(op: vector.CreateMaskOp, *sizes: int) -> Array:
    """Return a mask that is on below `sizes` in all dimensions."""
    shape = shape_of(op.mask_vector.type)
    ranges = np.ogrid[tuple(slice(n) for n in shape)]
    return np.broadcast_to(
        reduce(np.logical_and, [r < n for r, n in zip(ranges, sizes, strict=True)]), shape
    )


def broadcast(op: vector.BroadcastOp, value: Array) -> Array:
    """Return `value` in all lanes."""
    return np.broadcast_to(value, shape_of(op.vector.type))


def position(op: vector.ExtractOp | vector.InsertOp, dynamic: Sequence[int]) -> tuple[int, ...]:
    """Return the position in a vector that `op` reads or writes."""
    return tuple(merge_dynamic(op.static_position.get_values(), dynamic))


def extract(op: vector.ExtractOp, value: Array, *dynamic: int) -> object:
    """Return an element or a part of a vector."""
    return value[check_indices(value, position(op, dynamic))]


def insert(op: vector.InsertOp, value: object, target: Array, *dynamic: int) -> Array:
    """Return a copy of `target` with an element or a part replaced."""
    result = np.array(target)
    result[check_indices(target, position(op, dynamic))] = value
    return result


def shuffle(op: vector.ShuffleOp, lhs: Array, rhs: Array) -> Array:
    """Return lanes of two vectors, selected by the mask."""
    return np.concatenate([lhs, rhs])[list(op.mask.get_values())]


def bitcast(op: vector.BitcastOp, value: Array) -> Array:
    """Return the bits of `value` as another element type."""
    return np.ascontiguousarray(value).view(buffer_dtype(op.result.type))


KINDS: dict[str, tuple[str, str]] = {
    "add": ("addi", "addf"),
    "mul": ("muli", "mulf"),
    "minsi": ("mins", "mins"),
    "minui": ("minu", "minu"),
    "maxsi": ("maxs", "maxs"),
    "maxui": ("maxu", "maxu"),
    "minnumf": ("minnumf", "minnumf"),
    "maxnumf": ("maxnumf", "maxnumf"),
    "minimumf": ("minimumf", "minimumf"),
    "maximumf": ("maximumf", "maximumf"),
    "and": ("andi", "andi"),
    "or": ("ori", "ori"),
    "xor": ("xori", "xori"),
}
"""The combining kind of each kind of reduction, of integers and of floats."""


def reduction(op: vector.ReductionOp, value: Array, *acc: object) -> object:
    """Reduce the lanes in order, from the accumulator on if there is one; each step is rounded."""
    type, is_float = op.dest.type, isinstance(op.dest.type, AnyFloat)
    kind = KINDS[op.kind.data.value][is_float]
    return reduce(lambda a, b: combine(kind, type, a, b), [*acc, *value])


def extract_element(_: Operation, value: Array, *position: int) -> object:
    """Return a lane, or the only element of a vector of rank 0."""
    return value[check_indices(value, [int(i) for i in position], "a vector")]


def insert_element(_: Operation, element: object, value: Array, *position: int) -> Array:
    """Return a copy with a lane replaced, or the only element of a vector of rank 0."""
    result = np.array(value)
    result[check_indices(value, [int(i) for i in position], "a vector")] = element
    return result


class Transfer(NamedTuple):
    """The elements that a transfer moves."""

    lanes: Array
    """Whether each element of the vector is in the bounds of the buffer or tensor, and not masked
    off."""
    indices: tuple[Array, ...]
    """The indices of these elements in the buffer or tensor."""


def transfer_of(
    op: vector.TransferReadOp | vector.TransferWriteOp,
    source: Array,
    shape: Sequence[int],
    indices: Sequence[int],
    mask: Array | None,
) -> Transfer:
    """Return the elements that `op` transfers between `source` and a vector of `shape`.

    InterpretationError if one is out of bounds in a dimension that is said to be in bounds.
    """
    exprs = op.permutation_map.data.results
    dims = [expr.position if isinstance(expr, AffineDimExpr) else None for expr in exprs]
    grid = np.indices(tuple(shape[: len(dims)]))
    lanes = np.ones(grid.shape[1:], np.bool_)
    if mask is not None:
        used = [dims.index(axis) for axis in sorted(d for d in dims if d is not None)]
        lanes &= mask[tuple(grid[k] for k in used)]
    guarded = {d for d, sure in zip(dims, op.in_bounds) if not sure.value.data}
    places = [
        index + (grid[dims.index(axis)] if axis in dims else np.zeros_like(lanes, np.int64))
        for axis, index in enumerate(indices)
    ]
    for axis, place in enumerate(places):
        outside = lanes & ((place < 0) | (place >= source.shape[axis]))
        if axis not in guarded and outside.any():
            check_indices(source, [int(p[outside][0]) for p in places])
        lanes &= ~outside
    return Transfer(lanes, tuple(place[lanes] for place in places))


def transfer_read(op: vector.TransferReadOp, source: Array, *args: Any) -> Array:
    """Read a vector; elements out of bounds or masked off get the padding value."""
    count = len(op.indices)
    padding, mask = args[count], args[count + 1] if op.mask is not None else None
    shape = shape_of(op.result.type)
    transfer = transfer_of(op, source, shape, args[:count], mask)
    result = np.empty(shape, source.dtype)
    result[...] = padding
    result[transfer.lanes] = source[transfer.indices]
    return result


def transfer_write(
    op: vector.TransferWriteOp, value: Array, target: Array, *args: Any
) -> Array | None:
    """Write the elements that are in bounds and not masked off, of a tensor into a copy."""
    count = len(op.indices)
    mask = args[count] if op.mask is not None else None
    transfer = transfer_of(op, target, value.shape, args[:count], mask)
    target = np.array(target) if op.results else target
    target[transfer.indices] = value[transfer.lanes]
    return target if op.results else None


VECTOR: Semantics = {
    vector.BitcastOp: bitcast,
    vector.BroadcastOp: broadcast,
    vector.CreateMaskOp: create_mask,
    vector.ExtractOp: extract,
    vector.FMAOp: ElementwiseSemantics(fma),
    vector.InsertOp: insert,
    vector.LoadOp: load,
    vector.MaskedLoadOp: masked_load,
    vector.MaskedStoreOp: masked_store,
    vector.ReductionOp: reduction,
    vector.ShuffleOp: shuffle,
    vector.StoreOp: store,
    vector.TransferReadOp: transfer_read,
    vector.TransferWriteOp: transfer_write,
    **by_name(
        vector.Vector,
        {"vector.extractelement": extract_element, "vector.insertelement": insert_element},
    ),
}
"""The semantics of each operation."""
