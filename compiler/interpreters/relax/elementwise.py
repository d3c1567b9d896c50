"""Semantics of element-wise operations."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, IntegerType
from xdsl.utils.exceptions import InterpretationError

from ....dialects.relax.elementwise import activation as activation_ops
from ....dialects.relax.elementwise import binary as binary_ops
from ....dialects.relax.elementwise import elementwise as ops
from ....dialects.relax.elementwise import quantization as quantization_ops
from ....dialects.relax.elementwise import unary as unary_ops
from ....dialects.relax.types import Element, SmallFloat, tensor_type
from ..arrays import (
    Array,
    bounds,
    codes_of,
    dtype_of,
    element_of,
    is_bool,
    numbers_of,
    round_bf16,
    stored_dtype,
    widen_bf16,
)
from .array_functions import Semantics, as_numbers, at_least_f32, like_numpy, on_arrays

# Semantics of element-wise selection, clipping and conversion.


def clip(op: ops.ClipOp, x: Array) -> Array:
    element = element_of(op.result.type)
    limits = np.array([op.min, op.max])
    if isinstance(element, IntegerType):
        limits = saturate(limits, element)
    low, high = as_numbers(limits.astype(dtype_of(element)))
    return np.minimum(np.maximum(as_numbers(x), low), high)


def astype(op: ops.AstypeOp, x: Array) -> Array:
    return convert(x, element_of(op.result.type))


def convert(x: Array, element: Element) -> Array:
    """Return the elements converted to type `element`, but for the rounding and wrapping, which
    `fit` does to all results."""
    if is_bool(element):
        return x != 0
    if isinstance(element, IntegerType) and np.issubdtype(x.dtype, np.floating):
        return saturate(x.astype(np.float64, copy=False), element)
    return x


def saturate(x: Array, element: IntegerType) -> Array:
    """Return the elements truncated toward zero and clamped to an integer type; 0 for NaN."""
    (low, high), dtype = bounds(element), dtype_of(element)
    # f64 does not hold all `high` exactly, but `low` and `high + 1`, which are powers of 2, or 0.
    below, above = x < low, x >= high + 1
    whole = np.trunc(np.where(below | above | np.isnan(x), 0, x)).astype(dtype)
    whole = np.where(above, np.asarray(high, dtype), whole)
    return np.where(below, np.asarray(low, dtype), whole)


def reinterpret(op: ops.ReinterpretOp, x: Array) -> Array:
    source, target = element_of(tensor_type(op.input)), element_of(op.result.type)
    return with_bits(x, source, target)


def with_bits(x: Array, source: Element, target: Element) -> Array:
    """Return the elements of type `target` with the bits of the elements of type `source`."""
    if isinstance(source, IntegerType) and isinstance(target, IntegerType):
        return as_numbers(x)  # `fit` changes the signedness
    bits = x
    if isinstance(source, BFloat16Type):
        bits = round_bf16(x)
    elif isinstance(source, SmallFloat):
        bits = codes_of(x, source)
    if isinstance(target, SmallFloat):
        return numbers_of(bits.astype(np.uint8), target)
    if isinstance(target, BFloat16Type):
        return widen_bf16(bits.view(np.uint16))
    return bits.view(stored_dtype(target))


ELEMENTWISE: Semantics = {
    ops.WhereOp: on_arrays(np.where),
    ops.ClipOp: clip,
    ops.AstypeOp: astype,
    ops.ReinterpretOp: reinterpret,
}


# Semantics of element-wise functions of one tensor. Nothing warns.


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
    **like_numpy(
        unary_ops.AbsOp,
        unary_ops.NegativeOp,
        unary_ops.SignOp,
        unary_ops.SquareOp,
        unary_ops.SqrtOp,
    ),
    **like_numpy(
        unary_ops.IsNanOp, unary_ops.IsInfOp, unary_ops.IsFiniteOp, unary_ops.LogicalNotOp
    ),
    **like_numpy(
        unary_ops.ExpOp, unary_ops.Expm1Op, unary_ops.LogOp, unary_ops.Log2Op, unary_ops.Log1pOp
    ),
    **like_numpy(
        unary_ops.SinOp,
        unary_ops.CosOp,
        unary_ops.TanOp,
        unary_ops.SinhOp,
        unary_ops.CoshOp,
        unary_ops.TanhOp,
    ),
    unary_ops.CeilOp: on_arrays(keep_integers(np.ceil)),
    unary_ops.FloorOp: on_arrays(keep_integers(np.floor)),
    unary_ops.RoundOp: on_arrays(keep_integers(np.rint)),
    unary_ops.TruncOp: on_arrays(keep_integers(np.trunc)),
    unary_ops.RsqrtOp: on_arrays(rsqrt),
    unary_ops.AsinOp: on_arrays(np.arcsin),
    unary_ops.AcosOp: on_arrays(np.arccos),
    unary_ops.AtanOp: on_arrays(np.arctan),
    unary_ops.AsinhOp: on_arrays(np.arcsinh),
    unary_ops.AcoshOp: on_arrays(np.arccosh),
    unary_ops.AtanhOp: on_arrays(np.arctanh),
    unary_ops.ErfOp: on_arrays(erf),
    unary_ops.SigmoidOp: on_arrays(sigmoid),
    unary_ops.BitwiseNotOp: on_arrays(np.invert),
}


# Semantics of element-wise functions of two tensors.
#
# Integer division truncates toward zero, as in C and TVM; n / 0 and n mod 0 are 0. A shift by at
# least the width, or by a negative number, shifts all bits out. Nothing warns.


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
    **like_numpy(
        binary_ops.AddOp, binary_ops.SubtractOp, binary_ops.MultiplyOp, binary_ops.FloorDivideOp
    ),
    **like_numpy(
        binary_ops.MaximumOp, binary_ops.MinimumOp, binary_ops.EqualOp, binary_ops.NotEqualOp
    ),
    **like_numpy(
        binary_ops.LessOp, binary_ops.LessEqualOp, binary_ops.GreaterOp, binary_ops.GreaterEqualOp
    ),
    **like_numpy(binary_ops.LogicalAndOp, binary_ops.LogicalOrOp, binary_ops.LogicalXorOp),
    **like_numpy(binary_ops.BitwiseAndOp, binary_ops.BitwiseOrOp, binary_ops.BitwiseXorOp),
    **like_numpy(binary_ops.LeftShiftOp, binary_ops.RightShiftOp),
    binary_ops.DivideOp: on_arrays(divide),
    binary_ops.ModOp: on_arrays(np.fmod),
    binary_ops.FloorModOp: on_arrays(np.remainder),
    binary_ops.PowerOp: on_arrays(power),
    binary_ops.Atan2Op: on_arrays(np.arctan2),
    binary_ops.LogAddExpOp: on_arrays(np.logaddexp),
}


# Semantics of activation functions; f16 is computed in f32 and rounded once.


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def leaky_relu(op: activation_ops.LeakyReluOp, x: Array) -> Array:
    x = at_least_f32(x)
    return np.where(x > 0, x, x * op.alpha)


def prelu(op: activation_ops.PReluOp, x: Array, alpha: Array) -> Array:
    if x.shape[op.axis] != alpha.size:
        raise InterpretationError("a parameter and the data differ in size")
    shape = [1] * x.ndim
    shape[op.axis] = alpha.size
    return np.where(x > 0, x, x * alpha.reshape(shape))


def gelu(x: Array) -> Array:
    exact = x.astype(np.float64)
    return exact / 2 * (1 + erf(exact * math.sqrt(0.5)))


def gelu_tanh(x: Array) -> Array:
    x = at_least_f32(x)
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def silu(x: Array) -> Array:
    return at_least_f32(x) * sigmoid(x)


def softplus(op: activation_ops.SoftplusOp, x: Array) -> Array:
    scaled = at_least_f32(x) * op.beta
    return np.where(scaled > op.threshold, x, np.log1p(np.exp(scaled)) / op.beta)


ACTIVATION: Semantics = {
    activation_ops.ReluOp: on_arrays(relu),
    activation_ops.LeakyReluOp: leaky_relu,
    activation_ops.PReluOp: prelu,
    activation_ops.GeluOp: on_arrays(gelu),
    activation_ops.GeluTanhOp: on_arrays(gelu_tanh),
    activation_ops.SiluOp: on_arrays(silu),
    activation_ops.SoftplusOp: softplus,
}


# Semantics of quantization. Scales and zero points broadcast to the data.


def quantize(
    op: quantization_ops.QuantizeOp, data: Array, scale: Array, zero_point: Array
) -> Array:
    return saturated(op, at_least_f32(data) / at_least_f32(scale), zero_point)


def dequantize(
    op: quantization_ops.DequantizeOp, data: Array, scale: Array, zero_point: Array
) -> Array:
    wide = at_least_f32(scale)
    difference = data.astype(np.int64) - zero_point.astype(np.int64)
    return difference.astype(wide.dtype) * wide


def requantize(
    op: quantization_ops.RequantizeOp, data: Array, scale: Array, zero_point: Array
) -> Array:
    wide = at_least_f32(scale)
    return saturated(op, data.astype(wide.dtype) * wide, zero_point)


def saturated(op: quantization_ops.QuantizationOp, quotient: Array, zero_point: Array) -> Array:
    """Return round(quotient) + zero point, saturated to the type of the result."""
    low, high = bounds(element_of(tensor_type(op.result)))
    value = np.rint(quotient) + zero_point.astype(quotient.dtype)
    return np.where(value > low, np.minimum(value, high), low).astype(np.int64)


QUANTIZATION: Semantics = {
    quantization_ops.QuantizeOp: quantize,
    quantization_ops.DequantizeOp: dequantize,
    quantization_ops.RequantizeOp: requantize,
}
