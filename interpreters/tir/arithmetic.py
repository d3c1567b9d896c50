"""Numbers and vectors of them: the operations of arith and math."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ..arrays import array_of, bounds, dtype_of
from ..relax.elementwise import with_bits
from ..relax.unary import erf
from .table import Array, Compute, Semantics, element_type

__all__ = ["ARITHMETIC", "fma"]


def plain(function: Callable[..., object]) -> Compute:
    """A function of the operands alone; it sees i1 as 0 and 1."""

    def compute(_: Operation, *args: Array) -> object:
        return function(*map(as_number, args))

    return compute


def as_number(value: Array) -> Array:
    """The value, i1 as 0 and 1."""
    array = np.asarray(value)
    return array.view(np.uint8)[()] if array.dtype == np.bool_ else value


def unsigned(function: Callable[..., object]) -> Compute:
    """A function of the operands read as unsigned integers."""

    def compute(op: Operation, *args: Array) -> object:
        types = zip(args, op.operand_types, strict=True)
        result = function(*(as_unsigned(arg, _width(type)) for arg, type in types))
        half = 1 << (_width(op.results[0].type) - 1)
        return (np.asarray(result, dtype=object) ^ half) - half  # with a sign again

    return compute


def as_unsigned(value: Array, width: int) -> Array:
    """The integer modulo 2 to the width, as an array of Python integers."""
    return np.asarray(np.asarray(value).astype(object) & ((1 << width) - 1), dtype=object)


def _width(type: Attribute) -> int:
    element = element_type(type)
    return 64 if element is None else element.bitwidth


def constant(op: arith.ConstantOp) -> object:
    match op.value:
        case IntegerAttr() | FloatAttr():
            return op.value.value.data
        case DenseIntOrFPElementsAttr() as value:
            if isinstance(value.get_element_type(), IndexType):
                return np.array(value.get_values(), np.int64).reshape(value.get_shape())
            return array_of(value)
        case value:
            raise InterpretationError(f"constant {value} has no numpy semantics")


# Integers. Division by zero has no meaning; here it gives what numpy gives.


def divide(lhs: Array, rhs: Array) -> object:
    """The quotient rounded towards zero."""
    quotient = np.floor_divide(lhs, rhs)
    return quotient + ((np.remainder(lhs, rhs) != 0) & ((np.less(lhs, 0)) != (np.less(rhs, 0))))


def divide_up(lhs: Array, rhs: Array) -> object:
    return -np.floor_divide(np.negative(lhs), rhs)


def compare_integers(op: arith.CmpiOp, lhs: Array, rhs: Array) -> object:
    predicate = op.predicate.value.data
    if predicate >= 6:
        width = _width(op.lhs.type)
        lhs, rhs = as_unsigned(lhs, width), as_unsigned(rhs, width)
        predicate -= 4
    elif element_type(op.lhs.type) is not None and np.asarray(lhs).dtype == np.bool_:
        # As signed numbers of one bit, 1 is -1.
        lhs, rhs = -np.asarray(lhs).astype(np.int8), -np.asarray(rhs).astype(np.int8)
    return COMPARE[predicate](lhs, rhs)


COMPARE = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


ORDERED: tuple[Callable[[Array, Array], Array], ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.not_equal,
)


def compare_floats(op: arith.CmpfOp, lhs: Array, rhs: Array) -> object:
    """The 16 predicates: false, 6 ordered ones, ord, 6 unordered ones, uno, true."""
    predicate = op.predicate.value.data
    unordered = np.isnan(lhs) | np.isnan(rhs)
    match predicate:
        case 0 | 15:
            return np.full(np.shape(lhs), predicate == 15)
        case 7:
            return ~unordered
        case 14:
            return unordered
        case _ if predicate < 7:
            return ORDERED[predicate - 1](lhs, rhs) & ~unordered
        case _:
            return ORDERED[predicate - 8](lhs, rhs) | unordered


def select(op: arith.SelectOp, cond: Array, lhs: Array, rhs: Array) -> object:
    if isinstance(op.cond.type, VectorType):
        return np.where(cond, lhs, rhs)
    return lhs if cond else rhs


# Conversions


def to_integer(op: Operation, value: Array) -> object:
    """Towards zero; what does not fit is the nearest that does."""
    element = element_type(op.results[0].type)
    assert element is not None
    low, high = bounds(element)
    return np.clip(np.nan_to_num(np.trunc(np.asarray(value, np.float64))), low, high)


def extend_signed(_: Operation, value: Array) -> object:
    array = np.asarray(value)
    return -array.view(np.int8) if array.dtype == np.bool_ else value


def extend_unsigned(op: Operation, value: Array) -> object:
    return np.asarray(as_unsigned(value, _width(op.operands[0].type))).astype(np.int64)


def from_unsigned(op: Operation, value: Array) -> object:
    return np.asarray(as_unsigned(value, _width(op.operands[0].type))).astype(np.float64)


def bitcast(op: Operation, value: Array) -> object:
    source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
    if source is None or target is None:
        raise InterpretationError("bits of an index have no numpy semantics")
    return with_bits(np.asarray(value, dtype_of(source)), source, target)


def keep(_: Operation, value: Array) -> object:
    return value


def float_power(base: Array, exponent: Array) -> object:
    return np.power(base, np.asarray(exponent, np.asarray(base).dtype))


def of_bits(function: Callable[[int, int], int]) -> Compute:
    """A function of the bits of each integer, as one that is not negative, and of the width."""

    def compute(op: Operation, value: Array) -> object:
        width = _width(op.operands[0].type)
        array = np.asarray(as_unsigned(value, width))
        counts = [function(int(bits), width) for bits in array.flat]
        return np.array(counts, np.int64).reshape(array.shape)

    return compute


def error_function(value: Array) -> object:
    return erf(np.asarray(value))


def fma(lhs: Array, rhs: Array, acc: Array) -> Array:
    """Rounded once."""
    return np.add(np.multiply(lhs, rhs, dtype=np.float64), acc)


def rsqrt(value: Array) -> object:
    return 1 / np.sqrt(value)


def round_away(value: Array) -> object:
    """To the nearest integer, ties away from zero."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


ARITHMETIC: Semantics = {
    arith.ConstantOp: constant,
    arith.AddiOp: plain(np.add),
    arith.SubiOp: plain(np.subtract),
    arith.MuliOp: plain(np.multiply),
    arith.DivSIOp: plain(divide),
    arith.DivUIOp: unsigned(np.floor_divide),
    arith.FloorDivSIOp: plain(np.floor_divide),
    arith.CeilDivSIOp: plain(divide_up),
    arith.CeilDivUIOp: unsigned(divide_up),
    arith.RemSIOp: plain(np.fmod),
    arith.RemUIOp: unsigned(np.remainder),
    arith.MinSIOp: plain(np.minimum),
    arith.MaxSIOp: plain(np.maximum),
    arith.MinUIOp: unsigned(np.minimum),
    arith.MaxUIOp: unsigned(np.maximum),
    arith.AndIOp: plain(np.bitwise_and),
    arith.OrIOp: plain(np.bitwise_or),
    arith.XOrIOp: plain(np.bitwise_xor),
    arith.ShLIOp: plain(np.left_shift),
    arith.ShRSIOp: plain(np.right_shift),
    arith.ShRUIOp: unsigned(np.right_shift),
    arith.CmpiOp: compare_integers,
    arith.CmpfOp: compare_floats,
    arith.SelectOp: select,
    arith.AddfOp: plain(np.add),
    arith.SubfOp: plain(np.subtract),
    arith.MulfOp: plain(np.multiply),
    arith.DivfOp: plain(np.divide),
    arith.NegfOp: plain(np.negative),
    arith.MaximumfOp: plain(np.maximum),
    arith.MinimumfOp: plain(np.minimum),
    arith.MaxnumfOp: plain(np.fmax),
    arith.MinnumfOp: plain(np.fmin),
    arith.IndexCastOp: extend_signed,
    arith.FPToSIOp: to_integer,
    arith.FPToUIOp: to_integer,
    arith.SIToFPOp: extend_signed,
    arith.UIToFPOp: from_unsigned,
    arith.ExtFOp: keep,
    arith.TruncFOp: keep,
    arith.TruncIOp: plain(as_number),
    arith.ExtSIOp: extend_signed,
    arith.ExtUIOp: extend_unsigned,
    arith.BitcastOp: bitcast,
    math.AbsFOp: plain(np.abs),
    math.AbsIOp: plain(np.abs),
    math.AcosOp: plain(np.arccos),
    math.AcoshOp: plain(np.arccosh),
    math.AsinOp: plain(np.arcsin),
    math.AsinhOp: plain(np.arcsinh),
    math.AtanOp: plain(np.arctan),
    math.AtanhOp: plain(np.arctanh),
    math.Atan2Op: plain(np.arctan2),
    math.CbrtOp: plain(np.cbrt),
    math.CeilOp: plain(np.ceil),
    math.CopySignOp: plain(np.copysign),
    math.CosOp: plain(np.cos),
    math.CoshOp: plain(np.cosh),
    math.CountLeadingZerosOp: of_bits(lambda bits, width: width - bits.bit_length()),
    math.CountTrailingZerosOp: of_bits(
        lambda bits, width: (bits & -bits).bit_length() - 1 if bits else width
    ),
    math.CtPopOp: of_bits(lambda bits, _: bits.bit_count()),
    math.ErfOp: plain(error_function),
    math.ExpOp: plain(np.exp),
    math.Exp2Op: plain(np.exp2),
    math.ExpM1Op: plain(np.expm1),
    math.FloorOp: plain(np.floor),
    math.FmaOp: plain(fma),
    math.FPowIOp: plain(float_power),
    math.IPowIOp: plain(np.power),
    math.LogOp: plain(np.log),
    math.Log10Op: plain(np.log10),
    math.Log1pOp: plain(np.log1p),
    math.Log2Op: plain(np.log2),
    math.PowFOp: plain(np.power),
    math.RoundOp: plain(round_away),
    math.RoundEvenOp: plain(np.rint),
    math.RsqrtOp: plain(rsqrt),
    math.SinOp: plain(np.sin),
    math.SinhOp: plain(np.sinh),
    math.SqrtOp: plain(np.sqrt),
    math.TanOp: plain(np.tan),
    math.TanhOp: plain(np.tanh),
    math.TruncOp: plain(np.trunc),
}
