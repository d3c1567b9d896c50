"""Legalization of quantization, in f32 at least."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relax.elementwise import quantization as ops
from ...dialects.relax.types import is_integer, tensor_type
from ..builder import KernelBuilder, Legalization
from ..scalars import convert, exact_integer, greatest, least, less, step_type
from .elementwise import of_any_sign

__all__ = ["QUANTIZATION"]


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
    """Convert a number to a float; short integers through i32, of which processors have vectors."""
    if is_integer(x.type) and x.type.bitwidth <= 32:
        x = convert(b, x, i32)
        return b.pure(arith.SIToFPOp, x, target_type=wide)
    return convert(b, x, wide)


def saturated(b: KernelBuilder, quotient: SSAValue, zero_point: SSAValue) -> SSAValue:
    """Return round(quotient) + zero point, saturated; NaN gives the least integer."""
    type, wide = zero_point.type, quotient.type
    low, high = b.number(float(least(type)), wide), b.number(float(greatest(type)), wide)
    whole = b.pure(math.RoundEvenOp, quotient)
    value = b.pure(arith.AddfOp, whole, as_float(b, zero_point, wide))
    value = b.pure(arith.SelectOp, less(b, low, value), value, low)
    value = b.pure(arith.SelectOp, less(b, value, high), value, high)
    return convert(b, exact_integer(b, value, i32), type)


QUANTIZATION: dict[type[Operation], Legalization] = {
    ops.DequantizeOp: of_any_sign(dequantize),
    ops.QuantizeOp: of_any_sign(quantize),
    ops.RequantizeOp: of_any_sign(requantize),
}
