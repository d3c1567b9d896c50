"""Semantics of element-wise selection, clipping and conversion."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, IntegerType

from .....dialects.relax.elementwise import elementwise as ops
from .....dialects.relax.types import Element, SmallFloat, tensor_type
from ...arrays import (
    Array,
    bounds,
    dtype_of,
    element_of,
    is_bool,
    round_bf16,
    stored_dtype,
    widen_bf16,
)
from ...small_floats import codes_of, numbers_of
from ..table import Semantics, as_numbers, on_arrays

__all__ = ["ELEMENTWISE", "with_bits"]


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
