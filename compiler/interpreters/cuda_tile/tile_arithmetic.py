"""The semantics of operations on each element of tiles: arithmetic, comparisons, conversions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile import elementwise_ops as ops
from ....dialects.cuda_tile.attributes import ComparisonOrdering as Ordering
from ....dialects.cuda_tile.attributes import ComparisonPredicate as Predicate
from ....dialects.cuda_tile.attributes import RoundingMode, RoundingModeAttr, Signedness
from ....dialects.cuda_tile.types import PointerType
from ....passmanager.releases.floats import Float8E8M0FNUType
from ..tir.arithmetic import float_power, fma, ordered_zeros, rsqrt
from .directed_rounding import DIRECTED, flushed, rounded_to
from .tile_values import (
    Array,
    Binary,
    Compute,
    Maker,
    Unary,
    device_size,
    element_of_value,
    fitting,
    from_bits,
    result_element,
    tile_dtype,
    to_bits,
)

__all__ = ["ELEMENTWISE", "unsigned_bits"]


# Floats


def on_floats(function: Callable[..., Any]) -> Maker:
    """Return the semantics of floats that rounds the results of `function`, as the attributes of
    the operation ask."""

    def bind(op: Operation) -> Compute:
        element = result_element(op)
        fit = fitting(element)
        mode = op.properties.get("rounding_mode")

        def compute(*operands: Array) -> Array:
            return fit(function(*operands))

        result = function if type(element) is Float32Type and function is not fma else compute
        if isinstance(mode, RoundingModeAttr) and mode.data in DIRECTED:
            result = then(result, rounded_to(mode.data, type(op), element))
        return flushed(result) if "flush_to_zero" in op.properties else result

    return bind


def then(nearest: Compute, rounded: Compute) -> Compute:
    """Return the function that rounds the nearest result in a direction."""
    return lambda *operands: rounded(nearest(*operands), *operands)


def extremum(number: np.ufunc, with_nan: np.ufunc) -> Maker:
    """Return the semantics of a minimum or maximum."""

    def bind(op: ops.MaxFOp | ops.MinFOp) -> Compute:
        function = number if op.propagate_nan is None else with_nan
        exact = cast(Compute, partial(ordered_zeros(function), op))

        def compute(lhs: Array, rhs: Array) -> Array:
            result = np.asarray(function(lhs, rhs))
            if result.all():
                return result
            return np.asarray(exact(lhs, rhs)).astype(result.dtype)  # zeros have signs

        return flushed(compute) if op.flush_to_zero is not None else compute

    return bind


# Integers


UNSIGNED = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def unsigned_bits(array: Array) -> Array:
    """Return integers as unsigned ones, booleans as 0 and 1."""
    return array.view(np.uint8 if array.dtype == np.bool_ else UNSIGNED[array.dtype])


def signed_bits(array: Array) -> Array:
    """Return integers as they are, booleans as 0 and -1."""
    return -array.view(np.int8) if array.dtype == np.bool_ else array


def on_integers(function: Callable[..., Any], signedness: Signedness | None = None) -> Maker:
    """Return the semantics of integers that applies `function` to them as they are signed, and
    wraps the results."""

    def bind(op: Any) -> Compute:
        element = result_element(op)
        is_unsigned = (signedness or op.signedness.data) is Signedness.UNSIGNED
        if tile_dtype(element) == np.bool_:
            read = unsigned_bits if is_unsigned else signed_bits
            return lambda *operands: (function(*map(read, operands)) & 1).astype(np.bool_)
        if not is_unsigned:
            return function
        dtype = tile_dtype(element)
        return lambda *operands: function(*map(unsigned_bits, operands)).view(dtype)

    return bind


def divided(lhs: Array, rhs: Array) -> Array:
    """Return the quotient, rounded to zero."""
    quotient = np.floor_divide(lhs, check_divisor(rhs))
    return quotient + ((quotient < 0) & (quotient * rhs != lhs))


def divided_up(lhs: Array, rhs: Array) -> Array:
    """Return the quotient, rounded up."""
    quotient = np.floor_divide(lhs, check_divisor(rhs))
    return quotient + (quotient * rhs != lhs)


def divided_down(lhs: Array, rhs: Array) -> Array:
    """Return the quotient, rounded down."""
    return np.floor_divide(lhs, check_divisor(rhs))


def check_divisor(divisor: Array) -> Array:
    """Return a divisor; InterpretationError if an element is 0."""
    if not np.all(divisor):
        raise InterpretationError("division by zero")
    return divisor


def quotient(op: ops.DivIOp) -> Compute:
    """Return the function of the rounding mode."""
    functions = {RoundingMode.ZERO: divided, RoundingMode.POSITIVE_INF: divided_up}
    return on_integers(functions.get(op.rounding.data, divided_down))(op)


def remainder(lhs: Array, rhs: Array) -> Array:
    """Return the remainder, with the sign of `lhs`."""
    return np.fmod(lhs, check_divisor(rhs))


def high_product(lhs: Array, rhs: Array) -> Array:
    """Return the upper half of the bits of the product of unsigned integers."""
    bits = 8 * lhs.dtype.itemsize
    wide = np.dtype(np.uint64) if bits < 64 else np.dtype(object)
    product = np.multiply(np.asarray(lhs).astype(wide), np.asarray(rhs).astype(wide))
    return np.asarray(product >> bits).astype(lhs.dtype)


def high_bits(op: ops.MulhiIOp) -> Binary:
    """Return the upper half of the product; of one bit, it is 0."""
    if tile_dtype(result_element(op)) == np.bool_:
        return lambda x, y: np.zeros_like(x)
    return on_integers(high_product, Signedness.UNSIGNED)(op)


# Comparisons


RELATIONS: Mapping[Predicate, Callable[[Any, Any], Any]] = {
    Predicate.EQUAL: operator.eq,
    Predicate.NOT_EQUAL: operator.ne,
    Predicate.LESS_THAN: operator.lt,
    Predicate.LESS_THAN_OR_EQUAL: operator.le,
    Predicate.GREATER_THAN: operator.gt,
    Predicate.GREATER_THAN_OR_EQUAL: operator.ge,
}


def compared_integers(op: ops.CmpIOp) -> Binary:
    """Return the comparison of integers."""
    relation = RELATIONS[op.comparison_predicate.data]
    is_unsigned = op.signedness.data is Signedness.UNSIGNED
    if not is_unsigned and tile_dtype(element_of_value(op.lhs)) != np.bool_:
        return relation
    read = unsigned_bits if is_unsigned else signed_bits
    return lambda lhs, rhs: relation(read(lhs), read(rhs))


def compared_floats(op: ops.CmpFOp) -> Binary:
    """Return the comparison of floats: with a NaN, one that is ordered is false, another true."""
    relation = RELATIONS[op.comparison_predicate.data]
    unordered = op.comparison_ordering.data is Ordering.UNORDERED
    if unordered == (op.comparison_predicate.data is Predicate.NOT_EQUAL):
        return relation  # as IEEE 754 compares
    if unordered:
        return lambda lhs, rhs: relation(lhs, rhs) | np.isnan(lhs) | np.isnan(rhs)
    return lambda lhs, rhs: (lhs < rhs) | (lhs > rhs)


# Conversions


def extended(op: ops.ExtIOp) -> Unary:
    """Return the extension of integers."""
    source, dtype = element_of_value(op.from_), tile_dtype(result_element(op))
    if op.signedness.data is Signedness.SIGNED:
        return lambda array: signed_bits(array).astype(dtype)
    return lambda array: to_bits(array, source).astype(dtype)


def fitted(op: Operation) -> Unary:
    """Return the conversion to the type of the result, rounded to nearest, or wrapped."""
    return fitting(result_element(op))


def float_to_float(op: ops.FToFOp) -> Unary:
    """Return the conversion of floats; to powers of two, it rounds to zero or up."""
    fit = fitting(element := result_element(op))
    if not isinstance(element, Float8E8M0FNUType):
        return fit
    up = op.rounding_mode.data is RoundingMode.POSITIVE_INF

    def to_power(array: Array) -> Array:
        mantissa, exponent = np.frexp(np.asarray(array, np.float64))
        exact = up & (mantissa != 0.5) & np.isfinite(array)
        return fit(np.where(np.isfinite(array), np.ldexp(0.5, exponent + exact), array))

    return to_power


def float_to_integer(op: ops.FToIOp) -> Unary:
    """Return the conversion without the fraction."""
    dtype, fit = tile_dtype(result_element(op)), fitting(result_element(op))
    if dtype.itemsize == 8 and op.signedness.data is Signedness.UNSIGNED:
        return lambda array: np.trunc(array).astype(np.uint64).view(np.int64)
    if dtype == np.bool_:
        return lambda array: np.trunc(array) != 0
    return lambda array: fit(np.trunc(array).astype(np.int64))


def integer_to_float(op: ops.IToFOp) -> Unary:
    """Return the conversion of integers."""
    fit = fitting(result_element(op))
    read = unsigned_bits if op.signedness.data is Signedness.UNSIGNED else signed_bits
    return lambda array: fit(read(array))


def recast(op: ops.BitcastOp) -> Unary:
    """Return the bits as another type."""
    source, target = element_of_value(op.source), result_element(op)
    return lambda array: from_bits(to_bits(array, source), target)


def same_address(_: Operation) -> Unary:
    """Return pointers and addresses as they are."""
    return lambda address: address


def moved(op: ops.OffsetOp) -> Binary:
    """Return pointers, moved by elements."""
    size = pointee_size(element_of_value(op.ptr))
    return lambda pointer, offset: pointer + np.multiply(offset, size, dtype=np.int64)


def pointee_size(pointer: Attribute) -> int:
    """Return the bytes of an element that pointers of a type point to."""
    assert isinstance(pointer, PointerType)
    return device_size(pointer.pointee_type)


def always(function: Compute) -> Maker:
    """Return the semantics that is the same for all types and attributes."""
    return lambda _: function


SIGNED = Signedness.SIGNED

ELEMENTWISE: Mapping[type[Operation], Maker] = {
    ops.AbsFOp: always(np.abs),
    ops.AbsIOp: on_integers(np.abs, SIGNED),
    ops.AddFOp: on_floats(operator.add),
    ops.AddIOp: on_integers(operator.add, SIGNED),
    ops.AndIOp: always(np.bitwise_and),
    ops.Atan2Op: on_floats(np.arctan2),
    ops.BitcastOp: recast,
    ops.CeilOp: on_floats(np.ceil),
    ops.CmpFOp: compared_floats,
    ops.CmpIOp: compared_integers,
    ops.CosHOp: on_floats(np.cosh),
    ops.CosOp: on_floats(np.cos),
    ops.DivFOp: on_floats(np.divide),
    ops.DivIOp: quotient,
    ops.Exp2Op: on_floats(np.exp2),
    ops.ExpOp: on_floats(np.exp),
    ops.ExtIOp: extended,
    ops.FToFOp: float_to_float,
    ops.FToIOp: float_to_integer,
    ops.FloorOp: on_floats(np.floor),
    ops.FmaOp: on_floats(fma),
    ops.IToFOp: integer_to_float,
    ops.IntToPtrOp: same_address,
    ops.Log2Op: on_floats(np.log2),
    ops.LogOp: on_floats(np.log),
    ops.MaxFOp: extremum(np.fmax, np.maximum),
    ops.MaxIOp: on_integers(np.maximum),
    ops.MinFOp: extremum(np.fmin, np.minimum),
    ops.MinIOp: on_integers(np.minimum),
    ops.MulFOp: on_floats(operator.mul),
    ops.MulIOp: on_integers(operator.mul, SIGNED),
    ops.MulhiIOp: high_bits,
    ops.NegFOp: always(np.negative),
    ops.NegIOp: on_integers(np.negative, SIGNED),
    ops.OffsetOp: moved,
    ops.OrIOp: always(np.bitwise_or),
    ops.PowOp: on_floats(float_power),
    ops.PtrToIntOp: same_address,
    ops.PtrToPtrOp: same_address,
    ops.RemFOp: on_floats(np.fmod),
    ops.RemIOp: on_integers(remainder),
    ops.RsqrtOp: on_floats(rsqrt),
    ops.SelectOp: always(np.where),
    ops.ShLIOp: on_integers(np.left_shift, Signedness.UNSIGNED),
    ops.ShRIOp: on_integers(np.right_shift),
    ops.SinHOp: on_floats(np.sinh),
    ops.SinOp: on_floats(np.sin),
    ops.SqrtOp: on_floats(np.sqrt),
    ops.SubFOp: on_floats(operator.sub),
    ops.SubIOp: on_integers(operator.sub, SIGNED),
    ops.TanHOp: on_floats(np.tanh),
    ops.TanOp: on_floats(np.tan),
    ops.TruncIOp: fitted,
    ops.XOrIOp: always(np.bitwise_xor),
}
"""The semantics by class. Each works on tiles of any shape."""
