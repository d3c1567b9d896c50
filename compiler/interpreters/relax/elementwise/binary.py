"""Semantics of element-wise functions of two tensors.

Integer division truncates toward zero, as in C and TVM; n / 0 and n mod 0 are 0. A shift by at
least the width, or by a negative number, shifts all bits out. Nothing warns.
"""

from __future__ import annotations

import numpy as np

from .....dialects.relax.elementwise import binary as ops
from ...arrays import Array
from ..table import Semantics, like_numpy, on_arrays

__all__ = ["BINARY", "divide", "power"]


def divide(lhs: Array, rhs: Array) -> Array:
    """Return the quotient; for integers truncated toward zero, where numpy's `//` rounds down."""
    if np.issubdtype(lhs.dtype, np.floating):
        return lhs / rhs
    return (lhs - np.fmod(lhs, rhs)) // rhs


def power(lhs: Array, rhs: Array) -> Array:
    """Return the power, of floats as IEEE 754 defines `pow`; for integers and a negative exponent,
    truncated toward zero.

    That is 0 unless the base is 1 or -1.
    """
    if np.issubdtype(lhs.dtype, np.floating):
        # For an exponent of 0.5 numpy may take the square root: that of -0 is -0, of -inf NaN.
        differs = (rhs == 0.5) & ((lhs == 0) | np.isinf(lhs))
        return np.where(differs, np.abs(lhs), lhs) ** rhs
    inverse = np.where(np.abs(lhs) == 1, lhs ** (rhs & 1), 0)
    return np.where(rhs < 0, inverse, lhs ** np.maximum(rhs, 0))


BINARY: Semantics = {
    **like_numpy(ops.AddOp, ops.SubtractOp, ops.MultiplyOp, ops.FloorDivideOp),
    **like_numpy(ops.MaximumOp, ops.MinimumOp, ops.EqualOp, ops.NotEqualOp),
    **like_numpy(ops.LessOp, ops.LessEqualOp, ops.GreaterOp, ops.GreaterEqualOp),
    **like_numpy(ops.LogicalAndOp, ops.LogicalOrOp, ops.LogicalXorOp),
    **like_numpy(ops.BitwiseAndOp, ops.BitwiseOrOp, ops.BitwiseXorOp),
    **like_numpy(ops.LeftShiftOp, ops.RightShiftOp),
    ops.DivideOp: on_arrays(divide),
    ops.ModOp: on_arrays(np.fmod),
    ops.FloorModOp: on_arrays(np.remainder),
    ops.PowerOp: on_arrays(power),
    ops.Atan2Op: on_arrays(np.arctan2),
    ops.LogAddExpOp: on_arrays(np.logaddexp),
}
