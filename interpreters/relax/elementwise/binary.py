"""Semantics of element-wise functions of two tensors.

Integer division truncates toward zero, as in C and TVM; n / 0 and n mod 0 are 0. A shift by at
least the width, or by a negative number, shifts all bits out. Nothing warns.
"""

from __future__ import annotations

import numpy as np

from ....dialects.relax.elementwise import binary as ops
from ....dialects.relax.elementwise.comparison import (
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    NotEqualOp,
)
from ....dialects.relax.elementwise.logical import (
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    LeftShiftOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalXorOp,
    RightShiftOp,
)
from ...arrays import Array
from ..table import Semantics, on_arrays

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
    ops.AddOp: on_arrays(np.add),
    ops.SubtractOp: on_arrays(np.subtract),
    ops.MultiplyOp: on_arrays(np.multiply),
    ops.DivideOp: on_arrays(divide),
    ops.FloorDivideOp: on_arrays(np.floor_divide),
    ops.ModOp: on_arrays(np.fmod),
    ops.FloorModOp: on_arrays(np.remainder),
    ops.PowerOp: on_arrays(power),
    ops.MaximumOp: on_arrays(np.maximum),
    ops.MinimumOp: on_arrays(np.minimum),
    ops.Atan2Op: on_arrays(np.arctan2),
    ops.LogAddExpOp: on_arrays(np.logaddexp),
    EqualOp: on_arrays(np.equal),
    NotEqualOp: on_arrays(np.not_equal),
    LessOp: on_arrays(np.less),
    LessEqualOp: on_arrays(np.less_equal),
    GreaterOp: on_arrays(np.greater),
    GreaterEqualOp: on_arrays(np.greater_equal),
    LogicalAndOp: on_arrays(np.logical_and),
    LogicalOrOp: on_arrays(np.logical_or),
    LogicalXorOp: on_arrays(np.logical_xor),
    BitwiseAndOp: on_arrays(np.bitwise_and),
    BitwiseOrOp: on_arrays(np.bitwise_or),
    BitwiseXorOp: on_arrays(np.bitwise_xor),
    LeftShiftOp: on_arrays(np.left_shift),
    RightShiftOp: on_arrays(np.right_shift),
}
