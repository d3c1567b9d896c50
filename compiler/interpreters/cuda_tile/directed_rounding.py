"""Results that are rounded to zero, down or up: exact numbers, then the neighbor of the nearest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Attribute, Operation

from ....dialects.cuda_tile import elementwise_ops as ops
from ....dialects.cuda_tile.attributes import RoundingMode
from .tile_values import Array, Compute, tile_dtype

__all__ = ["DIRECTED", "flushed", "rounded_to"]

DIRECTED = frozenset({RoundingMode.ZERO, RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF})
"""The modes that do not round to nearest."""

Error: TypeAlias = Callable[[Fraction, Fraction, Fraction, Fraction], Fraction]
"""A function of the result and the operands, of which missing ones are 0."""

# Numbers of the sign of `exact result - result`: a square root has no exact number.
ERRORS: Mapping[type[Operation], Error] = {
    ops.AddFOp: lambda result, lhs, rhs, _: lhs + rhs - result,
    ops.SubFOp: lambda result, lhs, rhs, _: lhs - rhs - result,
    ops.MulFOp: lambda result, lhs, rhs, _: lhs * rhs - result,
    ops.DivFOp: lambda result, lhs, rhs, _: lhs / rhs - result,
    ops.FmaOp: lambda result, lhs, rhs, acc: lhs * rhs + acc - result,
    ops.SqrtOp: lambda result, source, _, __: source - result * result,
}


def rounded_to(mode: RoundingMode, cls: type[Operation], element: Attribute) -> Compute:
    """Return the function of the nearest result and the operands that returns the result rounded
    by `mode`."""
    error, dtype = ERRORS[cls], tile_dtype(element)

    def sign(*numbers: float) -> int:
        if not all(map(isfinite, numbers)):
            return 0
        result, *operands = (Fraction(float(number)) for number in numbers)
        missing = [Fraction(0)] * (3 - len(operands))
        difference = error(result, *operands, *missing)
        return (difference > 0) - (difference < 0)

    signs = np.vectorize(sign, otypes=[np.int8])

    def compute(nearest: Array, *operands: Array) -> Array:
        nearest = np.asarray(nearest, dtype)
        off = signs(nearest, *operands)
        overflowed = np.isinf(nearest) & np.all(np.isfinite(np.stack(operands)), axis=0)
        off = np.where(overflowed, -np.sign(nearest).astype(np.int8), off)
        target = {
            RoundingMode.ZERO: np.where(off == -np.sign(nearest), 0.0, nearest),
            RoundingMode.NEGATIVE_INF: np.where(off < 0, -np.inf, nearest),
            RoundingMode.POSITIVE_INF: np.where(off > 0, np.inf, nearest),
        }[mode]
        return neighbor(nearest, target.astype(dtype), element)

    return compute


def neighbor(array: Array, target: Array, element: Attribute) -> Array:
    """Return the next number of a type toward `target`, or the number if it is that."""
    if not isinstance(element, BFloat16Type):
        return np.nextafter(array, target)
    # The last bit of bf16 is bit 16 of the f32 that holds it.
    grows = (target > array) == (array > 0)
    step = np.where(grows, 0x10000, -0x10000)
    moved = (array.view(np.uint32) + step).astype(np.uint32).view(np.float32)
    moved = np.where(array == 0, np.copysign(np.float32(2.0**-133), target - array), moved)
    return np.where(array == target, array, moved)


def flushed(compute: Compute) -> Compute:
    """Return a function of f32 with subnormal operands and results as zeros of their signs."""

    def run(*operands: Array) -> Array:
        return flush(compute(*map(flush, operands)))

    return run


def flush(array: Array) -> Array:
    """Return f32 with zeros for subnormal numbers, which keep their signs."""
    tiny = np.abs(array) < float(np.finfo(np.float32).tiny)
    return np.where(tiny, np.copysign(np.float32(0), array), array)
