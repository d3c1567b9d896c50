"""Ranges of rounded logarithms of integers, as in sizes of reduction trees."""

from __future__ import annotations

from math import ceil, floor, log2

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import SSAValue

from .bounds.ranges import Range

__all__ = ["range_of_rounded_log2", "rounded_log2_argument"]

MAX_ARGUMENT = 1 << 11
"""The largest integer whose rounded logarithm is predicted: for larger neighbors of a power of 2,
the computed logarithm may be rounded to an integer."""

FLOATS = (Float32Type(), Float64Type())


def rounded_log2_argument(value: SSAValue) -> SSAValue | None:
    """Return the integer `n` if `value` is `ceil(log2(n))` or `floor(log2(n))` in floats."""
    match value.owner:
        case math.CeilOp() | math.FloorOp() as rounded:
            log = rounded.operand.owner
        case _:
            return None
    if not isinstance(log, math.Log2Op) or value.type not in FLOATS:
        return None
    conversion = log.operand.owner
    if not isinstance(conversion, arith.SIToFPOp | arith.UIToFPOp):
        return None
    return conversion.input


def range_of_rounded_log2(value: SSAValue, argument: Range) -> Range:
    """Return the range of `value`, a rounded logarithm of an integer with the range `argument`."""
    # Monotonic, so the ends of the argument give the ends; 0 has no logarithm.
    low, high, _ = argument
    if low is None or high is None or not 0 < low <= high <= MAX_ARGUMENT:
        return Range()
    # Python computes in f64, the program perhaps in f32: equal up to MAX_ARGUMENT after rounding.
    rounded = ceil if isinstance(value.owner, math.CeilOp) else floor
    return Range(rounded(log2(low)), rounded(log2(high)))
