"""The numbers of which tiles and tensors consist, and the sizes of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ...passmanager.releases.floats import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatTF32Type,
)

MAX_ELEMENTS = 1 << 24
"""The most elements of a tile."""

INTEGERS = (i1, i8, i16, i32, i64)
I4 = IntegerType(4)
"""The type of elements that `exti`, `trunci`, `pack` and `unpack` convert."""
FLOATS = (Float16Type(), BFloat16Type(), Float32Type(), Float64Type())
"""The types of floats with arithmetic."""
NARROW_FLOATS = (
    FloatTF32Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float4E2M1FNType,
)
"""The types of floats that are converted, and multiplied by `mmaf`. Older releases of xDSL have
none of them."""


def is_float(type: Attribute) -> bool:
    """Return whether a type is one of the floats of tiles."""
    return type in FLOATS or isinstance(type, NARROW_FLOATS)


def is_number(type: Attribute) -> bool:
    """Return whether a type is one of the numbers of tensors."""
    return type in INTEGERS or is_float(type)


def check_number(type: Attribute) -> None:
    """Raise VerifyException unless a type is one of the numbers of tensors."""
    if not is_number(type):
        raise VerifyException(f"{type} is no number of CUDA Tile IR: expected i1, i8, ... or f64")


def check_tile_shape(shape: Sequence[int], element_type: Attribute) -> None:
    """Raise VerifyException unless tiles can have this shape."""
    if any(size <= 0 or size & (size - 1) for size in shape):
        raise VerifyException(f"sizes of tiles are powers of two, got {[*shape]}")
    if (count := prod(shape)) > MAX_ELEMENTS:
        raise VerifyException(f"a tile has at most {MAX_ELEMENTS} elements, got {count}")
    if isinstance(element_type, Float4E2M1FNType) and count == 1:
        raise VerifyException("a tile of f4E2M1FN has an even number of elements, got 1")
