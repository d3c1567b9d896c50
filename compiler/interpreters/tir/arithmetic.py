"""The semantics of arith, math and tir.dp4a, on scalars and vectors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, isfinite
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    ContainerType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    i1,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError
from xdsl.utils.type import get_element_type_or_self

from ....dialects.tir.ops import Dp4aOp, LanewiseOp
from ..arrays import array_of, dtype_of
from ..relax.elementwise import erf, power, with_bits
from .table import Array, Compute, Semantics, element_type


@dataclass(frozen=True)
class ElementwiseSemantics:
    """The semantics that applies `function` to the operands, with i1 as 0 and 1."""

    function: Callable[..., object]

    def __call__(self, _: Operation, *args: Array) -> object:
        return self.function(*map(as_number, args))


def bind(compute: Compute, op: Operation) -> Callable[..., object]:
    """Return the semantics `compute` of `op` as a function of the operands alone."""
    if all(get_element_type_or_self(type) != i1 for type in op.operand_types):
        if isinstance(compute, ElementwiseSemantics):
            return compute.function
        if isinstance(op, arith.CmpiOp) and compute is compare_integers:
            if (predicate := op.predicate.value.data) < len(COMPARE):
                return COMPARE[predicate]
    return partial(compute, op)


def as_number(value: Array | float) -> Array | float:
    """Return `value`, with i1 as 0 and 1 instead of booleans."""
    if isinstance(value, int | float) or value.dtype != np.bool_:
        return value
    return value.view(np.uint8)


def as_signed(value: Array | int) -> Array | int:
    """Return `value`, with i1 as the signed numbers 0 and -1 instead of booleans."""
    if isinstance(value, int) or value.dtype != np.bool_:
        return value
    return -value.view(np.int8)


def signed(function: Callable[..., object]) -> Compute:
    """Return the semantics that applies `function` to the operands read as signed integers."""

    def compute(_: Operation, *args: Array) -> object:
        return function(*map(as_signed, args))

    return compute


def unsigned(function: Callable[..., object]) -> Compute:
    """Return the semantics that applies `function` to the operands read as unsigned integers."""

    def compute(op: Operation, *args: Array) -> object:
        types = zip(args, op.operand_types, strict=True)
        result = function(*(as_unsigned(arg, _width(type)) for arg, type in types))
        return wrapped(result, _width(op.results[0].type))

    return compute


def wrapped(value: object, width: int) -> Array:
    """Return integers as signed ones of `width` bits, which wrap around."""
    half = 1 << (width - 1)
    exact = np.asarray(value).astype(object)  # numbers of Python
    return ((exact + half) & ((1 << width) - 1)) - half


def as_unsigned(value: Array | int, width: int) -> Array:
    """Return `value` modulo `2^width`, as an array of Python integers."""
    return np.asarray(np.asarray(value).astype(object) & ((1 << width) - 1), dtype=object)


def _width(type: Attribute) -> int:
    """Return the bits of an element of `type`; an index has 64."""
    element = element_type(type)
    return 64 if element is None else element.bitwidth


def constant(op: arith.ConstantOp) -> object:
    """Return the value of a constant; InterpretationError for one that numpy cannot hold."""
    match op.value:
        case IntegerAttr() | FloatAttr():
            return op.value.value.data
        case DenseIntOrFPElementsAttr() as value:
            if isinstance(value.get_element_type(), IndexType):
                return np.array(value.get_values(), np.int64).reshape(value.get_shape())
            return array_of(value)
        case value:
            raise InterpretationError(f"constant {value} has no numpy semantics")


# Integers


def division(function: Callable[..., object]) -> Callable[..., object]:
    """Return `function` of a dividend and a divisor; it raises InterpretationError for 0."""

    def compute(lhs: Array | int, rhs: Array | int) -> object:
        if not (rhs.all() if isinstance(rhs, np.ndarray) else rhs):  # np.all of a number is slow
            raise InterpretationError("division by zero")
        return function(lhs, rhs)

    return compute


@division
def divide(lhs: Array, rhs: Array) -> object:
    """Return the quotient, rounded towards zero."""
    quotient = np.floor_divide(lhs, rhs)
    return quotient + ((np.remainder(lhs, rhs) != 0) & ((np.less(lhs, 0)) != (np.less(rhs, 0))))


@division
def divide_down(lhs: Array, rhs: Array) -> object:
    """Return the quotient, rounded down."""
    return lhs // rhs


@division
def divide_up(lhs: Array, rhs: Array) -> object:
    """Return the quotient, rounded up."""
    return np.floor_divide(lhs, rhs) + (np.remainder(lhs, rhs) != 0)


def compare_integers(op: arith.CmpiOp, lhs: Array | int, rhs: Array | int) -> object:
    """Compare by the predicate of `op`: 0 to 5 are equality and signed, 6 to 9 unsigned."""
    predicate = op.predicate.value.data
    if predicate >= 6:
        width = _width(op.lhs.type)
        lhs, rhs = as_unsigned(lhs, width), as_unsigned(rhs, width)
        predicate -= 4
    elif not isinstance(lhs, int) and np.asarray(lhs).dtype == np.bool_:
        lhs, rhs = as_signed(lhs), as_signed(rhs)
    return COMPARE[predicate](lhs, rhs)


# Of scalars, Python's operators take a third of the time of numpy's functions.
COMPARE: tuple[Callable[[Any, Any], object], ...] = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
"""The comparisons of `arith.cmpi`, by predicate."""

ORDERED: tuple[Callable[[Array, Array], Array], ...] = (
    operator.eq,
    operator.gt,
    operator.ge,
    operator.lt,
    operator.le,
    operator.ne,
)
"""The comparisons of `arith.cmpf`: predicates 1 to 6 ordered, 8 to 13 unordered."""


def compare_floats(op: arith.CmpfOp, lhs: Array, rhs: Array) -> object:
    """Compare by the predicate of `op`.

    The 16 predicates are false, 6 ordered ones, ord, 6 unordered ones, uno, true. A comparison
    with a NaN is false if ordered, true if unordered.
    """
    predicate = op.predicate.value.data
    if 1 <= predicate < 6:  # false with a NaN
        return ORDERED[predicate - 1](lhs, rhs)
    unordered = np.isnan(lhs) | np.isnan(rhs)
    match predicate:
        case 0 | 15:
            return np.full(np.shape(lhs), predicate == 15)
        case 7:
            return ~unordered
        case 14:
            return unordered
        case 6:
            return (lhs != rhs) & ~unordered
        case _:
            return ORDERED[predicate - 8](lhs, rhs) | unordered


def select(op: arith.SelectOp, cond: Array | np.bool, lhs: Array, rhs: Array) -> object:
    """Select an operand by a scalar condition, or each element by a vector of conditions."""
    if not isinstance(cond, np.bool) and isinstance(op.cond.type, ContainerType):
        return np.where(cond, lhs, rhs)
    return lhs if cond else rhs


def add_extended(op: Operation, lhs: Array, rhs: Array) -> tuple[object, object]:
    """Return the sum of unsigned integers, and whether it overflows."""
    width = _width(op.operands[0].type)
    total = as_unsigned(lhs, width) + as_unsigned(rhs, width)
    return wrapped(total, width), np.asarray(total >> width).astype(np.bool_)


def multiply_extended(op: Operation, lhs: Array, rhs: Array) -> tuple[object, object]:
    """Return the lower and the upper half of the product."""
    width = _width(op.operands[0].type)
    read = wrapped if isinstance(op, arith.MulSIExtendedOp) else as_unsigned
    product = read(lhs, width) * read(rhs, width)
    return wrapped(product, width), wrapped(product >> width, width)


# Conversions


def to_integer(op: Operation, value: Array) -> object:
    """Convert a float to an integer: round towards zero, and clamp to the range of the type, which
    of `arith.fptoui` is the unsigned one. NaN becomes 0."""
    width, is_unsigned = _width(op.results[0].type), isinstance(op, arith.FPToUIOp)
    low, high = (0, (1 << width) - 1) if is_unsigned else (-1 << width - 1, (1 << width - 1) - 1)
    if isinstance(value, np.generic):
        return wrapped(_clamped(float(value), low, high), width)
    clamped = [_clamped(number, low, high) for number in value.ravel().tolist()]
    return wrapped(np.array(clamped, object), width).reshape(value.shape)


def _clamped(value: float, low: int, high: int) -> int:
    if isfinite(value):
        return min(max(int(value), low), high)
    return 0 if value != value else high if value > 0 else low


def extend_signed(_: Operation, value: Array) -> object:
    """Return a signed integer as it is; an i1 becomes 0 or -1."""
    array = np.asarray(value)
    return -array.view(np.int8) if array.dtype == np.bool_ else value


def extend_unsigned(op: Operation, value: Array) -> object:
    """Return the operand read as an unsigned integer."""
    return np.asarray(as_unsigned(value, _width(op.operands[0].type))).astype(np.int64)


def from_unsigned(op: Operation, value: Array) -> object:
    """Convert the operand, read as an unsigned integer, to a float."""
    return np.asarray(as_unsigned(value, _width(op.operands[0].type))).astype(np.uint64)


def bitcast(op: Operation, value: Array) -> object:
    """Return the bits of `value` as the element type of the result."""
    source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
    if source is None or target is None:
        raise InterpretationError("bits of an index have no numpy semantics")
    return with_bits(np.asarray(value, dtype_of(source)), source, target)


def identity(_: Operation, value: Array) -> object:
    """Return `value`, which is then rounded to the result type."""
    return value


def float_power(base: Array, exponent: Array) -> object:
    """Raise a float to an integer power."""
    return power(base, np.asarray(exponent, np.asarray(base).dtype))


def integer_power(base: Array, exponent: Array) -> object:
    """Raise an integer to an integer power."""
    return power(np.asarray(base), np.asarray(exponent))


def bitwise(function: Callable[[int, int], int]) -> Compute:
    """Return the semantics that applies `function` to the bits of each integer and the width."""

    def compute(op: Operation, value: Array) -> object:
        width = _width(op.operands[0].type)
        array = np.asarray(as_unsigned(value, width))
        counts = [function(int(bits), width) for bits in array.flat]
        return np.array(counts, np.int64).reshape(array.shape)

    return compute


def error_function(value: Array) -> object:
    """Return the error function of `value`."""
    return erf(np.asarray(value))


def fma(lhs: Array, rhs: Array, acc: Array) -> Array:
    """Return `lhs * rhs + acc`, which is then rounded once: of types narrower than f64 in f64, in
    which their product is exact, with the sum rounded to odd."""
    if np.asarray(lhs).dtype == np.float64:
        return np.vectorize(exact_fma, otypes=[np.float64])(lhs, rhs, acc)
    product = np.multiply(lhs, rhs, dtype=np.float64)
    return odd_sum(product, np.asarray(acc, np.float64))


def odd_sum(lhs: Array, rhs: Array) -> Array:
    """Return the sum of f64; one that is not exact is the neighbor whose last bit is 1, which
    rounds to narrower types as the exact sum does."""
    total = np.asarray(lhs + rhs)
    part = total - lhs
    lost = (lhs - (total - part)) + (rhs - part)
    even = np.isfinite(lost) & (lost != 0) & (total.view(np.int64) & 1 == 0)
    return np.where(even, np.nextafter(total, np.copysign(np.inf, lost)), total)


def exact_fma(lhs: float, rhs: float, acc: float) -> float:
    """Return `lhs * rhs + acc`, rounded once."""
    inexact = lhs * rhs + acc
    if not all(map(isfinite, (lhs, rhs, acc))):
        return inexact
    exact = Fraction(float(lhs)) * Fraction(float(rhs)) + Fraction(float(acc))
    try:
        return float(exact) if exact else inexact  # a sum of 0 has a sign
    except OverflowError:
        return inf if exact > 0 else -inf


def ordered_zeros(function: np.ufunc) -> Compute:
    """Return the semantics of a maximum or minimum of floats in which -0.0 is less than 0.0; of
    two zeros, numpy's `function` returns one by position."""
    is_maximum = function in (np.maximum, np.fmax)

    def compute(_: Operation, lhs: Array, rhs: Array) -> object:
        if isinstance(lhs, np.generic) and (lhs != 0 or rhs != 0):
            return function(lhs, rhs)
        zero = (
            np.signbit(lhs) & np.signbit(rhs) if is_maximum else np.signbit(lhs) | np.signbit(rhs)
        )
        both = (np.asarray(lhs) == 0) & (np.asarray(rhs) == 0)
        return np.where(both, np.where(zero, -0.0, 0.0), function(lhs, rhs))

    return compute


def rsqrt(value: Array) -> object:
    """Return the reciprocal of the square root."""
    return 1 / np.sqrt(value)


def round_away(value: Array) -> object:
    """Round to the nearest integer, ties away from zero."""
    whole = np.trunc(value)
    return np.copysign(whole + np.copysign(np.abs(value - whole) >= 0.5, value), value)


def add_byte_products(_: Operation, data: Array, weights: Array, total: Array) -> Array:
    """Add the products of the unsigned bytes of words and the signed bytes of others."""
    wide = np.int64
    unsigned_bytes = np.asarray(data, "<i4")[..., None].view("u1").astype(wide)
    signed_bytes = np.asarray(weights, "<i4")[..., None].view("i1").astype(wide)
    return np.asarray(total, wide) + (unsigned_bytes * signed_bytes).sum(-1)


def lanewise(op: LanewiseOp, *args: Array) -> object:
    """Do an operation on each lane."""
    on_vectors = op.on(op.arguments, op.res.type)
    try:
        return ARITHMETIC[type(on_vectors)](on_vectors, *args)
    finally:
        on_vectors.drop_all_references()


def like_numpy(*classes: type[Operation]) -> Semantics:
    """Return the semantics of operations of math that have the names of numpy's functions."""
    return {
        cls: ElementwiseSemantics(getattr(np, cls.name.removeprefix("math."))) for cls in classes
    }


ARITHMETIC: Semantics = {
    arith.ConstantOp: constant,
    arith.AddUIExtendedOp: add_extended,
    arith.AddiOp: ElementwiseSemantics(operator.add),
    arith.SubiOp: ElementwiseSemantics(operator.sub),
    arith.MuliOp: ElementwiseSemantics(operator.mul),
    arith.MulSIExtendedOp: multiply_extended,
    arith.MulUIExtendedOp: multiply_extended,
    arith.DivSIOp: ElementwiseSemantics(divide),
    arith.DivUIOp: unsigned(division(np.floor_divide)),
    arith.FloorDivSIOp: ElementwiseSemantics(divide_down),
    arith.CeilDivSIOp: ElementwiseSemantics(divide_up),
    arith.CeilDivUIOp: unsigned(divide_up),
    arith.RemSIOp: ElementwiseSemantics(division(np.fmod)),
    arith.RemUIOp: unsigned(division(np.remainder)),
    arith.MinSIOp: signed(np.minimum),
    arith.MaxSIOp: signed(np.maximum),
    arith.MinUIOp: unsigned(np.minimum),
    arith.MaxUIOp: unsigned(np.maximum),
    arith.AndIOp: ElementwiseSemantics(np.bitwise_and),
    arith.OrIOp: ElementwiseSemantics(np.bitwise_or),
    arith.XOrIOp: ElementwiseSemantics(np.bitwise_xor),
    arith.ShLIOp: ElementwiseSemantics(np.left_shift),
    arith.ShRSIOp: ElementwiseSemantics(np.right_shift),
    arith.ShRUIOp: unsigned(np.right_shift),
    arith.CmpiOp: compare_integers,
    arith.CmpfOp: compare_floats,
    arith.SelectOp: select,
    Dp4aOp: add_byte_products,
    LanewiseOp: lanewise,
    arith.AddfOp: ElementwiseSemantics(operator.add),
    arith.SubfOp: ElementwiseSemantics(operator.sub),
    arith.MulfOp: ElementwiseSemantics(operator.mul),
    arith.DivfOp: ElementwiseSemantics(np.divide),
    arith.NegfOp: ElementwiseSemantics(operator.neg),
    arith.MaximumfOp: ordered_zeros(np.maximum),
    arith.MinimumfOp: ordered_zeros(np.minimum),
    arith.MaxnumfOp: ordered_zeros(np.fmax),
    arith.MinnumfOp: ordered_zeros(np.fmin),
    arith.IndexCastOp: extend_signed,
    arith.FPToSIOp: to_integer,
    arith.FPToUIOp: to_integer,
    arith.SIToFPOp: extend_signed,
    arith.UIToFPOp: from_unsigned,
    arith.ExtFOp: identity,
    arith.TruncFOp: identity,
    arith.TruncIOp: ElementwiseSemantics(as_number),
    arith.ExtSIOp: extend_signed,
    arith.ExtUIOp: extend_unsigned,
    arith.BitcastOp: bitcast,
    **like_numpy(
        math.CbrtOp, math.CeilOp, math.CopySignOp, math.FloorOp, math.SqrtOp, math.TruncOp
    ),
    **like_numpy(math.CosOp, math.CoshOp, math.SinOp, math.SinhOp, math.TanOp, math.TanhOp),
    **like_numpy(
        math.ExpOp, math.Exp2Op, math.ExpM1Op, math.LogOp, math.Log10Op, math.Log1pOp, math.Log2Op
    ),
    math.AbsFOp: ElementwiseSemantics(np.abs),
    math.AbsIOp: ElementwiseSemantics(np.abs),
    math.AcosOp: ElementwiseSemantics(np.arccos),
    math.AcoshOp: ElementwiseSemantics(np.arccosh),
    math.AsinOp: ElementwiseSemantics(np.arcsin),
    math.AsinhOp: ElementwiseSemantics(np.arcsinh),
    math.AtanOp: ElementwiseSemantics(np.arctan),
    math.AtanhOp: ElementwiseSemantics(np.arctanh),
    math.Atan2Op: ElementwiseSemantics(np.arctan2),
    math.CountLeadingZerosOp: bitwise(lambda bits, width: width - bits.bit_length()),
    math.CountTrailingZerosOp: bitwise(
        lambda bits, width: (bits & -bits).bit_length() - 1 if bits else width
    ),
    math.CtPopOp: bitwise(lambda bits, _: bits.bit_count()),
    math.ErfOp: ElementwiseSemantics(error_function),
    math.FmaOp: ElementwiseSemantics(fma),
    math.FPowIOp: ElementwiseSemantics(float_power),
    math.IPowIOp: ElementwiseSemantics(integer_power),
    math.PowFOp: ElementwiseSemantics(power),
    math.RoundOp: ElementwiseSemantics(round_away),
    math.RoundEvenOp: ElementwiseSemantics(np.rint),
    math.RsqrtOp: ElementwiseSemantics(rsqrt),
}
"""The semantics of each operation."""
