"""Tiles as numpy arrays: their element types, rounding, and bits.

A tile is an array that is never changed, of rank 0 possibly a numpy scalar. Elements are as in
`arrays`: floats that numpy lacks, tf32 too, are f32 and rounded after each operation. A pointer is
an address, an i64 (`device_memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, Float32Type, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile.types import PointerType, TileType
from ....dialects.relax.types import Element, is_element
from ....passmanager.releases.floats import FloatTF32Type
from ..arrays import (
    Array,
    NarrowFloat,
    array_of,
    codes_of,
    dtype_of,
    fit,
    is_bool,
    numbers_of,
    stored_dtype,
)

__all__ = [
    "Array",
    "Binary",
    "Compute",
    "Maker",
    "Unary",
    "constant_array",
    "device_size",
    "element_of_value",
    "fitting",
    "from_bits",
    "is_exact_element",
    "tile_dtype",
    "tile_shape",
    "to_bits",
]

Compute: TypeAlias = Callable[..., Any]
"""A function from the operands of an operation, as its definition lists them, to its result, or a
tuple of results."""

Unary: TypeAlias = Callable[[Array], Any]
Binary: TypeAlias = Callable[[Array, Array], Any]

Maker: TypeAlias = Callable[[Any], Compute]
"""A function that prepares the semantics of an operation."""


def element_of_value(value: SSAValue) -> Attribute:
    """Return the element type of a tile."""
    return cast(TileType, value.type).element_type


def tile_shape(value: SSAValue) -> tuple[int, ...]:
    """Return the shape of a tile."""
    return cast(TileType, value.type).get_shape()


def _numpy_element(element: Attribute) -> Element:
    """Return the type that numpy's semantics take for an element type."""
    if isinstance(element, PointerType):
        return IntegerType(64)
    if isinstance(element, FloatTF32Type):
        return Float32Type()
    if not is_element(element):
        raise InterpretationError(f"element type {element} has no numpy semantics")
    return element


@cache
def tile_dtype(element: Attribute) -> np.dtype[Any]:
    """Return the dtype of tiles of an element type."""
    return dtype_of(_numpy_element(element))


@cache
def device_size(element: Attribute) -> int:
    """Return the bytes of an element in memory."""
    return stored_dtype(_numpy_element(element)).itemsize


@cache
def is_exact_element(element: Attribute) -> bool:
    """Return whether numpy holds elements of the type as the device does, bit for bit."""
    return not isinstance(element, NarrowFloat) and not is_bool(_numpy_element(element))


@cache
def fitting(element: Attribute) -> Unary:
    """Return the function that rounds or wraps an array to an element type."""
    if isinstance(element, FloatTF32Type):
        return round_tf32
    type = _numpy_element(element)
    return lambda array: fit(np.asarray(array), type)


def round_tf32(array: Array) -> Array:
    """Round f32 to 10 bits after the point, to nearest, ties to even."""
    near = np.asarray(array, np.float32)
    bits = near.view(np.uint32)
    rounded = (bits + 0xFFF + (bits >> 13 & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(near), rounded, bits).astype(np.uint32).view(np.float32)


SMALL_INTEGERS: Mapping[Attribute, int] = {i1: 1, IntegerType(4): 4}
"""The bits of integers that do not fill a byte."""


def to_bits(array: Array, element: Attribute) -> Array:
    """Return the bits of elements, as unsigned integers."""
    if isinstance(element, NarrowFloat):
        return codes_of(np.asarray(array), element)
    bits = np.ascontiguousarray(array).view(f"u{tile_dtype(element).itemsize}")
    if (width := SMALL_INTEGERS.get(element)) is not None:
        bits = bits & ((1 << width) - 1)
    return bits.reshape(np.shape(array))


def from_bits(bits: Array, element: Attribute) -> Array:
    """Return the elements of a type that have these bits."""
    if isinstance(element, NarrowFloat):
        return numbers_of(bits, element)
    if element in SMALL_INTEGERS:
        return fitting(element)(bits.view(np.int8))
    return bits.view(tile_dtype(element))


def constant_array(value: DenseIntOrFPElementsAttr) -> Array:
    """Return the elements of a constant."""
    if isinstance(element := value.get_element_type(), FloatTF32Type):
        numbers = np.array(value.get_values(), np.float32)
        return fitting(element)(np.broadcast_to(numbers.reshape(-1), value.get_shape()))
    return array_of(value)


def result_element(op: Operation) -> Attribute:
    """Return the element type of the first result."""
    return element_of_value(op.results[0])
