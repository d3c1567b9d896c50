"""Semantics of quantization. Scales and zero points broadcast to the data."""

from __future__ import annotations

import numpy as np

from .....dialects.relax.elementwise import quantization as ops
from .....dialects.relax.types import tensor_type
from ...arrays import Array, bounds, element_of
from ..table import Semantics, at_least_f32

__all__ = ["QUANTIZATION", "saturated"]


def quantize(op: ops.QuantizeOp, data: Array, scale: Array, zero_point: Array) -> Array:
    return saturated(op, at_least_f32(data) / at_least_f32(scale), zero_point)


def dequantize(op: ops.DequantizeOp, data: Array, scale: Array, zero_point: Array) -> Array:
    wide = at_least_f32(scale)
    difference = data.astype(np.int64) - zero_point.astype(np.int64)
    return difference.astype(wide.dtype) * wide


def requantize(op: ops.RequantizeOp, data: Array, scale: Array, zero_point: Array) -> Array:
    wide = at_least_f32(scale)
    return saturated(op, data.astype(wide.dtype) * wide, zero_point)


def saturated(op: ops.QuantizationOp, quotient: Array, zero_point: Array) -> Array:
    """Return round(quotient) + zero point, saturated to the type of the result."""
    low, high = bounds(element_of(tensor_type(op.result)))
    value = np.rint(quotient) + zero_point.astype(quotient.dtype)
    return np.where(value > low, np.minimum(value, high), low).astype(np.int64)


QUANTIZATION: Semantics = {
    ops.QuantizeOp: quantize,
    ops.DequantizeOp: dequantize,
    ops.RequantizeOp: requantize,
}
