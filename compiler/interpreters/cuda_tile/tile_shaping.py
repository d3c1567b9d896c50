"""The semantics of constants, and of operations that move elements of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation

from ....dialects.cuda_tile import shape_ops as ops
from ....passmanager.releases.floats import Float4E2M1FNType
from .block_axis import aligned, by_block, leading
from .tile_values import (
    Array,
    Binary,
    Compute,
    Maker,
    Unary,
    constant_array,
    element_of_value,
    from_bits,
    result_element,
    tile_dtype,
    tile_shape,
    to_bits,
)

__all__ = ["SHAPING"]


def constant(op: ops.ConstantOp) -> Compute:
    """Return the constant."""
    array = np.broadcast_to(constant_array(op.value), tile_shape(op.result))[()]
    return lambda: array


def iota(op: ops.IotaOp) -> Compute:
    """Return the numbers from 0."""
    array = np.arange(tile_shape(op.result)[0]).astype(tile_dtype(result_element(op)))
    return lambda: array


def broadcast(op: ops.BroadcastOp) -> Unary:
    """Return the repeated tile."""
    rank, shape = len(tile_shape(op.source)), tile_shape(op.result)
    return lambda source: np.broadcast_to(source, leading(source, rank) + shape)


def reshape(op: ops.ReshapeOp) -> Unary:
    """Return the tile in another shape."""
    rank, shape = len(tile_shape(op.source)), tile_shape(op.result)
    return lambda source: source.reshape(leading(source, rank) + shape)


def permute(op: ops.PermuteOp) -> Unary:
    """Return the tile with permuted dimensions."""
    axes = op.permutation.get_values()
    axes_after_blocks = (0, *(axis + 1 for axis in axes))
    return lambda source: source.transpose(axes if source.ndim == len(axes) else axes_after_blocks)


def concatenate(op: ops.CatOp) -> Binary:
    """Return two tiles beside each other."""
    rank = len(tile_shape(op.result))
    axis = op.dim.value.data - rank
    return lambda lhs, rhs: np.concatenate(aligned((lhs, rhs), rank), axis)


def extract(op: ops.ExtractOp) -> Compute:
    """Return a part of a tile."""
    place = places(tile_shape(op.source), tile_shape(op.result))

    def compute(source: Array, indices: tuple[Any, ...]) -> Array:
        return source[place(indices)]

    return compute


def insert(op: ops.InsertOp) -> Compute:
    """Return a tile with another part."""
    place = places(tile_shape(op.destination), tile_shape(op.source))

    def compute(source: Array, destination: Array, indices: tuple[Any, ...]) -> Array:
        result = np.array(destination)
        result[place(indices)] = source
        return result[()]

    return compute


def places(whole: Sequence[int], part: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return the function from the indices of a part of a tile to its elements."""
    counts = [n // m for n, m in zip(whole, part, strict=True)]

    def slices(indices: Sequence[Any]) -> tuple[Any, ...]:
        starts = [int(index) * size for index, size in zip(indices, part, strict=True)]
        if any(not 0 <= int(i) < n for i, n in zip(indices, counts, strict=True)):
            raise IndexError(f"part {[*map(int, indices)]} of {counts} does not exist")
        return tuple(slice(start, start + n) for start, n in zip(starts, part))

    return slices


def is_nibble(element: Attribute) -> bool:
    """Return whether two elements fit into a byte."""
    return isinstance(element, Float4E2M1FNType) or element == IntegerType(4)


def pack(op: ops.PackOp) -> Compute:
    """Return the bytes of a tile; of the elements in a byte the first is in the lowest bits."""
    element = element_of_value(op.source)

    def compute(source: Array) -> Array:
        if element == IntegerType(1):
            return np.packbits(source, bitorder="little").view(np.int8)
        bits = to_bits(source, element)
        if is_nibble(element):
            bits = (bits[::2] | bits[1::2] << 4).astype(np.uint8)
        return bits.view(np.int8)

    return compute


def unpack(op: ops.UnpackOp) -> Compute:
    """Return the elements with the bits of bytes."""
    element, size = result_element(op), tile_shape(op.result)[0]

    def compute(source: Array) -> Array:
        data = np.ascontiguousarray(source).view(np.uint8)
        if element == IntegerType(1):
            return from_bits(np.unpackbits(data, bitorder="little"), element)
        if is_nibble(element):
            return from_bits(np.stack((data & 15, data >> 4), -1).reshape(size), element)
        return from_bits(data.view(f"u{len(data) // size}"), element)

    return compute


SHAPING: Mapping[type[Operation], Maker] = {
    ops.BroadcastOp: broadcast,
    ops.CatOp: concatenate,
    ops.ConstantOp: constant,
    ops.ExtractOp: by_block(extract),
    ops.InsertOp: by_block(insert),
    ops.IotaOp: iota,
    ops.PackOp: by_block(pack),
    ops.PermuteOp: permute,
    ops.ReshapeOp: reshape,
    ops.UnpackOp: by_block(unpack),
}
"""The semantics by class."""
