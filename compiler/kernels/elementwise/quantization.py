"""Legalization of quantization, in f32 at least."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.elementwise import quantization as ops
from ....dialects.relax.types import is_integer, tensor_type
from ..builder import KernelBuilder, Legalization
from ..scalars import convert, is_unsigned, less, maximum_of, minimum_of, step_type
from .elementwise import of_any_sign


def quantize(
    op: ops.QuantizeOp, b: KernelBuilder, x: SSAValue, scale: SSAValue, zero_point: SSAValue
) -> SSAValue:
    wide = step_type(x.type)
    quotient = b.pure(arith.DivfOp, convert(b, x, wide), convert(b, scale, wide))
    return saturated(b, quotient, zero_point)


def requantize(
    op: ops.RequantizeOp, b: KernelBuilder, x: SSAValue, scale: SSAValue, zero_point: SSAValue
) -> SSAValue:
    wide = step_type(scale.type)
    product = b.pure(arith.MulfOp, as_float(b, x, wide), convert(b, scale, wide))
    return saturated(b, product, zero_point)


def dequantize(
    op: ops.DequantizeOp, b: KernelBuilder, x: SSAValue, scale: SSAValue, zero_point: SSAValue
) -> SSAValue:
    wide = step_type(scale.type)
    assert is_integer(x.type)
    if x.type.bitwidth <= 16:  # the numbers and their difference are exact as floats
        difference = b.pure(arith.SubfOp, as_float(b, x, wide), as_float(b, zero_point, wide))
    else:
        lhs, rhs = (convert(b, value, i64) for value in (x, zero_point))
        difference = convert(b, b.pure(arith.SubiOp, lhs, rhs), wide)
    product = b.pure(arith.MulfOp, difference, convert(b, scale, wide))
    return convert(b, product, tensor_type(op.result).element_type)


def as_float(b: KernelBuilder, x: SSAValue, wide: Attribute) -> SSAValue:
    """Convert a number to a float. Integers that i32 holds are converted through i32, as processors
    have vectors of these."""
    if is_integer(x.type) and x.type.bitwidth <= (31 if is_unsigned(x.type) else 32):
        x = convert(b, x, i32)
        return b.pure(arith.SIToFPOp, x, target_type=wide)
    return convert(b, x, wide)


def saturated(b: KernelBuilder, quotient: SSAValue, zero_point: SSAValue) -> SSAValue:
    """Return round(quotient) + zero point, saturated; NaN gives the minimum integer.

    The bounds are integers, so that saturation may come first. What is left is small, and its sum
    with 1.5 * 2^23 has no bits for fractions in f32: the addition rounds, ties to even, and the
    lowest bits of the sum are those of the integer. That takes two instructions less than rounding
    and converting.
    """
    type, wide = zero_point.type, quotient.type
    assert is_integer(type) and type.bitwidth <= ops.MAX_BITS
    # 2.5 + 12582912 is 12582914.0, 0x4b400002, whose low bits are 2; for -2.5 they are those of -2,
    # as 1.5 leaves a one to borrow from. This holds up to 2^22 - 1 (2^51 - 1 in f64); MAX_BITS
    # keeps numbers below 2^17. Flags such as `reassoc` on the addition would break it.
    big, bits = (1.5 * 2.0**23, i32) if wide == f32 else (1.5 * 2.0**52, i64)
    # round(q) saturated to low - z ... high - z, then + z: the same as round(q) + z saturated, as z
    # is an integer. MLAS of onnxruntime clips before it rounds, too.
    zero = as_float(b, zero_point, wide)
    low, high = (
        b.pure(arith.SubfOp, b.number(float(bound(type)), wide), zero)
        for bound in (minimum_of, maximum_of)
    )
    value = b.pure(arith.SelectOp, less(b, low, quotient), quotient, low)
    value = b.pure(arith.SelectOp, less(b, value, high), value, high)
    whole = b.pure(arith.AddfOp, value, b.number(big, wide))
    whole = b.pure(arith.BitcastOp, whole, target_type=bits)
    return convert(b, b.sum(whole, convert(b, zero_point, bits)), type)


QUANTIZATION: dict[type[Operation], Legalization] = {
    ops.DequantizeOp: of_any_sign(dequantize),
    ops.QuantizeOp: of_any_sign(quantize),
    ops.RequantizeOp: of_any_sign(requantize),
}
