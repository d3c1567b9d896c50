"""The semantics of vector: vectors are numpy arrays that are never changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from .arithmetic import Elementwise, fma
from .memory import check_indices, merge_dynamic
from .table import Array, Semantics, buffer_dtype, number

__all__ = ["VECTOR"]


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


COMBINE: dict[str, Callable[..., object]] = {
    "add": np.add,
    "mul": np.multiply,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""The operation of each kind of reduction."""


def reduction(op: vector.ReductionOp, value: Array, *acc: object) -> object:
    """Reduce the lanes in order, from the accumulator on if there is one; each step is rounded."""
    kind = op.kind.data.value
    if kind not in COMBINE:
        raise InterpretationError(f"reduction {kind} has no numpy semantics")
    combine = COMBINE[kind]
    return reduce(lambda a, b: number(combine(a, b), op.dest.type), [*acc, *value])


VECTOR: Semantics = {
    vector.BitcastOp: bitcast,
    vector.BroadcastOp: broadcast,
    vector.CreateMaskOp: create_mask,
    vector.ExtractOp: extract,
    vector.FMAOp: Elementwise(fma),
    vector.InsertOp: insert,
    vector.LoadOp: load,
    vector.MaskedLoadOp: masked_load,
    vector.MaskedStoreOp: masked_store,
    vector.ReductionOp: reduction,
    vector.ShuffleOp: shuffle,
    vector.StoreOp: store,
}
"""The semantics of each operation."""
