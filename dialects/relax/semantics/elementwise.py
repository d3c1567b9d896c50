"""What element-wise operations compute.

Division of integers truncates toward zero, as in C and TVM, and n / 0 is 0; no operation warns.
"""

from __future__ import annotations

import numpy as np

from .. import elementwise as ops
from .arrays import Array
from .table import Semantics, on_arrays

__all__ = ["ELEMENTWISE"]


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), computed in at least 32 bits: exp(12.0) overflows f16."""
    x = x.astype(np.promote_types(x.dtype, np.float32))
    return 1 / (1 + np.exp(-x))


def divide(lhs: Array, rhs: Array) -> Array:
    """The quotient; of integers, truncated toward zero, where numpy's `//` goes down."""
    if np.issubdtype(lhs.dtype, np.floating):
        return lhs / rhs
    return (lhs - np.fmod(lhs, rhs)) // rhs


def power(lhs: Array, rhs: Array) -> Array:
    """The power; of integers with a negative exponent, the inverse truncated toward zero."""
    if np.issubdtype(lhs.dtype, np.floating):
        return lhs**rhs
    inverse = np.where(np.abs(lhs) == 1, lhs ** (rhs & 1), 0)
    return np.where(rhs < 0, inverse, lhs ** np.maximum(rhs, 0))


ELEMENTWISE: Semantics = {
    ops.AbsOp: on_arrays(np.abs),
    ops.NegativeOp: on_arrays(np.negative),
    ops.ReluOp: on_arrays(relu),
    ops.ExpOp: on_arrays(np.exp),
    ops.LogOp: on_arrays(np.log),
    ops.SqrtOp: on_arrays(np.sqrt),
    ops.TanhOp: on_arrays(np.tanh),
    ops.SigmoidOp: on_arrays(sigmoid),
    ops.AddOp: on_arrays(np.add),
    ops.SubtractOp: on_arrays(np.subtract),
    ops.MultiplyOp: on_arrays(np.multiply),
    ops.DivideOp: on_arrays(divide),
    ops.MaximumOp: on_arrays(np.maximum),
    ops.MinimumOp: on_arrays(np.minimum),
    ops.PowerOp: on_arrays(power),
}
