"""Semantics of element-wise functions of one tensor. Nothing warns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .....dialects.relax.elementwise import unary as ops
from ...arrays import Array
from ..table import Semantics, at_least_f32, like_numpy, on_arrays

__all__ = ["UNARY", "erf", "sigmoid"]


def keep_integers(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the rounding function, restricted to floats: integers are unchanged."""
    return lambda x: function(x) if np.issubdtype(x.dtype, np.floating) else x


def rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(at_least_f32(x))


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)), computed in at least 32 bits: exp(12.0) overflows f16."""
    return 1 / (1 + np.exp(-at_least_f32(x)))


# Rational approximations from the Cephes library (S. L. Moshier, ndtr.c): erf(x) / x as a function
# of x * x for |x| <= 1, and erfc(x) * exp(x * x) as a function of x for 1 <= x <= 8.
_NEAR = (
    (
        9.60497373987051638749,
        9.00260197203842689217e1,
        2.23200534594684319226e3,
        7.00332514112805075473e3,
        5.55923013010394962768e4,
    ),
    (
        1.0,
        3.35617141647503099647e1,
        5.21357949780152679795e2,
        4.59432382970980127987e3,
        2.26290000613890934246e4,
        4.92673942608635921086e4,
    ),
)
_FAR = (
    (
        2.46196981473530512524e-10,
        5.64189564831068821977e-1,
        7.46321056442269912687,
        4.86371970985681366614e1,
        1.96520832956077098242e2,
        5.26445194995477358631e2,
        9.34528527171957607540e2,
        1.02755188689515710272e3,
        5.57535335369399327526e2,
    ),
    (
        1.0,
        1.32281951154744992508e1,
        8.67072140885989742329e1,
        3.54937778887819891062e2,
        9.75708501743205489753e2,
        1.82390916687909736289e3,
        2.24633760818710981792e3,
        1.65666309194161350182e3,
        5.57535340817727675546e2,
    ),
)


def erf(x: Array) -> Array:
    """Return the error function in f64, within 4 units in the last place."""
    x = x.astype(np.float64)
    near = np.clip(x, -1, 1)
    far = np.clip(np.abs(x), 1, 6)  # erf(x) rounds to 1 from 5.93 on
    inner = near * _ratio(_NEAR, near * near)
    outer = 1 - np.exp(-far * far) * _ratio(_FAR, far)
    return np.where(np.abs(x) <= 1, inner, np.copysign(outer, x))


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    """Return the ratio of two polynomials, given their coefficients from the highest power down."""
    numerator, denominator = (_polynomial(c, x) for c in coefficients)
    return numerator / denominator


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """Evaluate a polynomial by Horner's scheme."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value


UNARY: Semantics = {
    **like_numpy(ops.AbsOp, ops.NegativeOp, ops.SignOp, ops.SquareOp, ops.SqrtOp),
    **like_numpy(ops.IsNanOp, ops.IsInfOp, ops.IsFiniteOp, ops.LogicalNotOp),
    **like_numpy(ops.ExpOp, ops.Expm1Op, ops.LogOp, ops.Log2Op, ops.Log1pOp),
    **like_numpy(ops.SinOp, ops.CosOp, ops.TanOp, ops.SinhOp, ops.CoshOp, ops.TanhOp),
    ops.CeilOp: on_arrays(keep_integers(np.ceil)),
    ops.FloorOp: on_arrays(keep_integers(np.floor)),
    ops.RoundOp: on_arrays(keep_integers(np.rint)),
    ops.TruncOp: on_arrays(keep_integers(np.trunc)),
    ops.RsqrtOp: on_arrays(rsqrt),
    ops.AsinOp: on_arrays(np.arcsin),
    ops.AcosOp: on_arrays(np.arccos),
    ops.AtanOp: on_arrays(np.arctan),
    ops.AsinhOp: on_arrays(np.arcsinh),
    ops.AcoshOp: on_arrays(np.arccosh),
    ops.AtanhOp: on_arrays(np.arctanh),
    ops.ErfOp: on_arrays(erf),
    ops.SigmoidOp: on_arrays(sigmoid),
    ops.BitwiseNotOp: on_arrays(np.invert),
}
