"""Conditions under which rearranged sums and products stay in the range of floats.

A rearranged expression that is finite wherever the old one is, up to rounding: a result may become
infinite only if it is within a few units in the last place of the maximum number. The config
option `relax.fastmath=reassoc` lifts these conditions.
"""

from __future__ import annotations

from math import inf

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...compiler.interpreters.arrays import Array, bounds, float_limits
from ...dialects.fast_math import FastMath
from ...dialects.relax.data.permutation import TransposeOp
from ...dialects.relax.elementwise.activation import ReluOp
from ...dialects.relax.elementwise.elementwise import AstypeOp, ClipOp
from ...dialects.relax.elementwise.unary import CosOp, ErfOp, SigmoidOp, SinOp, TanhOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.reduction.nn import SoftmaxOp
from ...dialects.relax.types import Float, is_integer, is_tensor
from ...passmanager.context import PassContext

__all__ = ["magnitude", "product_keeps_range", "reassociates", "scale_keeps_range"]


def reassociates() -> bool:
    """Return whether the config option `relax.fastmath` allows to rearrange sums and products
    without regard to the range of floats."""
    return PassContext.current().get_config("relax.fastmath") is FastMath.reassoc


def product_keeps_range(x: SSAValue, a: Array, b: Array, element: Float) -> bool:
    """Return whether `x * b + a * b` is finite wherever `(x + a) * b` is, for constants `a` and `b`
    that broadcast.

    Each element meets one of these conditions.

    * `|b| <= 1`: no product is greater than its factor.
    * `a * b` is at most a quarter of a unit in the last place of the maximum number. Then `x + a`
      is rounded to `x` for each `x` whose product with `b` overflows: so does the old expression.
    * `x` is known to be so small that neither product is greater than a quarter of the maximum
      number.
    """
    limits = float_limits(element)
    # In f64 the products of two f32 are exact; those of two f64 may overflow, to infinity, which no
    # condition accepts.
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        product = np.abs(wide_a * wide_b)
        small = np.abs(wide_b) <= 1
        # The unit in the last place is `greatest * epsilon / 2`, as the maximum number lies just
        # below a power of 2; a quarter of that is an eighth.
        absorbed = product <= limits.maximum * limits.epsilon / 8
        reached = np.maximum(magnitude(x) * np.abs(wide_b), product)
    return bool((small | absorbed | (reached <= limits.maximum / 4)).all())


def scale_keeps_range(scale: Array, shift: Array, element: Float) -> bool:
    """Return whether `x * scale + shift`, rounded after each step to `element`, is finite wherever
    it is finite if only the result is rounded to that type."""
    limits = float_limits(element)
    with np.errstate(all="ignore"):
        finite = (np.abs(scale) <= limits.maximum) & (np.abs(shift) <= limits.maximum)
        # `x * scale` overflows only with a scale above 1, and then a small shift could not bring it
        # back.
        kept = (np.abs(scale) <= 1) | (np.abs(shift) <= limits.maximum * limits.epsilon / 4)
    return bool((finite & kept).all())


_UNIT = (CosOp, ErfOp, SigmoidOp, SinOp, SoftmaxOp, TanhOp)
"""The functions whose results are between -1 and 1."""
_MOVES = (View, TransposeOp, ReluOp)
"""The operations whose result elements are elements of the operand, or 0."""


def magnitude(value: SSAValue) -> float:
    """Return a number that no finite element of `value` exceeds in magnitude; infinity if none is
    known."""
    # Only through operations of one operand: the bound of a sum would need those of both operands,
    # and one of these is usually infinite.
    while isinstance(owner := value.owner, Operation):
        if isinstance(owner, _UNIT):
            return 1.0
        if isinstance(owner, ClipOp):
            return max(abs(owner.min), abs(owner.max))
        if isinstance(owner, AstypeOp):
            return _magnitude_of_type(owner)
        if not isinstance(owner, _MOVES):
            break
        value = owner.operands[0]
    return inf


def _magnitude_of_type(op: AstypeOp) -> float:
    """Return the maximum magnitude of a number that is converted from an integer type."""
    type = op.input.type
    if not is_tensor(type) or not is_integer(type.element_type):
        return inf
    low, high = bounds(type.element_type)
    return float(max(-low, high))
