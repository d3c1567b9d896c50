"""The results of `arith` on scalars, in numbers of Python: what folding computes.

An integer is the signed number with its bits, an index has 64 of them. A float is the number of
its type, of at most 64 bits. An operation on vectors or tensors is computed for one element.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from ....passmanager.ir.per_class import PerClass
from ....passmanager.releases.floats import pack, unpack

Number: TypeAlias = int | float
Float = BFloat16Type | Float16Type | Float32Type | Float64Type
MAX_WIDTH = 64
"""The bits of the widest integer that is computed."""
MIN_NORMAL: Mapping[type[Attribute], float] = {
    Float16Type: 2.0**-14,
    BFloat16Type: 2.0**-126,
    Float32Type: 2.0**-126,
    Float64Type: 2.0**-1022,
}
"""The least positive number of a type with all its digits."""


def is_shaped(type: Attribute) -> TypeIs[VectorType[Attribute] | TensorType[Attribute]]:
    """Return whether a type is a vector or a ranked tensor."""
    return isinstance(type, VectorType | TensorType)


def element_of(type: Attribute) -> Attribute:
    """Return the type of the elements of a vector or tensor; any other type as it is."""
    if is_shaped(type):
        return type.element_type
    if isinstance(type, UnrankedTensorType):
        return cast("UnrankedTensorType[Attribute]", type).element_type
    return type


def is_computed(type: Attribute) -> bool:
    """Return whether numbers of a type are computed."""
    if isinstance(type, IntegerType):
        return 1 <= type.bitwidth <= MAX_WIDTH
    return isinstance(type, Float | IndexType)


def width_of(type: Attribute) -> int:
    """Return the number of bits of an integer or index, or of an element of a vector or tensor."""
    if not isinstance(type, IntegerType):
        type = element_of(type)
    return type.bitwidth if isinstance(type, IntegerType) else 64


def wrap(number: int, width: int) -> int:
    """Return the signed number with the low `width` bits of a number."""
    half = 1 << (width - 1)
    return ((number + half) & ((1 << width) - 1)) - half


def round_to(value: float, type: Float) -> float:
    """Return the number of a type that is nearest to `value`."""
    try:
        return unpack(type, pack(type, (value,)), 1)[0]
    except OverflowError:  # of a finite number that `struct` cannot pack
        return math.copysign(math.inf, value)


def compute(op: Operation, *numbers: Number) -> Number | None:
    """Return the result of an operation on these numbers, wrapped or rounded to its type; None if
    it is not known. The result is defined: no divisor is 0, no shift is too wide.
    """
    function, type = _functions[op.__class__], element_of(op.results[0].type)
    if function is None or not is_computed(type):
        return None
    result = function(op, *numbers)
    return (
        round_to(float(result), type) if isinstance(type, Float) else wrap(result, width_of(type))
    )


# Functions of the operation and the numbers

Function: TypeAlias = Callable[..., Any]


def _plain(function: Callable[..., Number]) -> Function:
    """Return a function of the numbers alone."""

    def compute(_: Operation, *numbers: Number) -> Number:
        return function(*numbers)

    return compute


def _unsigned(function: Callable[..., Number]) -> Function:
    """Return a function of the numbers that are read as unsigned integers."""

    def compute(op: Operation, *numbers: int) -> Number:
        masks = ((1 << width_of(operand.type)) - 1 for operand in op.operands)
        return function(*(number & mask for number, mask in zip(numbers, masks)))

    return compute


def _quotient(lhs: int, rhs: int) -> int:
    """Return the quotient, rounded towards zero."""
    quotient = abs(lhs) // abs(rhs)
    return quotient if (lhs < 0) == (rhs < 0) else -quotient


def _quotient_up(lhs: int, rhs: int) -> int:
    """Return the quotient, rounded up."""
    return -(-lhs // rhs)


def _remainder(lhs: int, rhs: int) -> int:
    """Return the remainder, which has the sign of the dividend."""
    return lhs - rhs * _quotient(lhs, rhs)


def _same(number: Number) -> Number:
    return number


def _select(condition: int, lhs: Number, rhs: Number) -> Number:
    return lhs if condition else rhs


def predicate_of(op: Operation) -> int:
    """Return the number of the predicate of a comparison."""
    return cast("IntegerAttr", op.properties["predicate"]).value.data


def _compare_integers(op: Operation, lhs: int, rhs: int) -> int:
    """Compare by the predicate: 0 to 5 are equality and signed, 6 to 9 unsigned."""
    predicate = predicate_of(op)
    if predicate < 6:
        return _COMPARE[predicate](lhs, rhs)
    return _unsigned(_COMPARE[predicate - 4])(op, lhs, rhs)


_COMPARE = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_ORDERED = (operator.eq, operator.gt, operator.ge, operator.lt, operator.le, operator.ne)


def _compare_floats(op: Operation, lhs: float, rhs: float) -> bool:
    """Compare by the predicate: false, 6 ordered ones, ord, 6 unordered ones, uno, true."""
    predicate, unordered = predicate_of(op), math.isnan(lhs) or math.isnan(rhs)
    if predicate in (0, 15):
        return predicate == 15
    if predicate in (7, 14):
        return unordered == (predicate == 14)
    if unordered:
        return predicate > 7
    return _ORDERED[(predicate - 1) % 7](lhs, rhs)


def _divide_floats(lhs: float, rhs: float) -> float:
    if rhs:
        return lhs / rhs
    if not lhs or math.isnan(lhs):
        return math.nan
    return math.copysign(math.inf, lhs) * math.copysign(1.0, rhs)


def _remainder_of_floats(lhs: float, rhs: float) -> float:
    """Return the remainder, which has the sign of the dividend, as `fmod` of C."""
    return math.nan if not rhs or math.isinf(lhs) else math.fmod(lhs, rhs)


def _extreme(is_maximum: bool, ignores_nan: bool) -> Callable[[float, float], float]:
    """Return a maximum or minimum of floats, in which -0.0 is less than 0.0."""

    def compute(lhs: float, rhs: float) -> float:
        if math.isnan(lhs) or math.isnan(rhs):
            return (rhs if math.isnan(lhs) else lhs) if ignores_nan else math.nan
        if lhs == rhs == 0:
            is_left = (math.copysign(1.0, lhs) > 0) == is_maximum
        else:
            is_left = (lhs > rhs) == is_maximum
        return lhs if is_left else rhs

    return compute


def _to_float(number: int) -> float:
    """Return a float that rounds to narrower ones as an integer does: if it is not exact, the
    neighbor whose last bit is 1."""
    lost = max(0, abs(number).bit_length() - 53)
    kept = abs(number) >> lost
    if kept << lost != abs(number):
        kept |= 1
    return math.copysign(float(kept << lost), number)


def _from_integer(op: Operation, number: int) -> float:
    is_exact = isinstance(element_of(op.results[0].type), Float64Type)
    return float(number) if is_exact else _to_float(number)


def _from_unsigned(op: Operation, number: int) -> float:
    return _from_integer(op, number & ((1 << width_of(op.operands[0].type)) - 1))


def _bits(op: Operation, number: Number) -> Number | None:
    """Return the bits of a number as a number of the result type."""
    source, target = element_of(op.operands[0].type), element_of(op.results[0].type)
    if isinstance(source, Float):
        data = pack(source, (number,))
    else:
        width = width_of(source)
        data = (int(number) & ((1 << width) - 1)).to_bytes(-(-width // 8), "little")
    return (
        unpack(target, data, 1)[0] if isinstance(target, Float) else int.from_bytes(data, "little")
    )


_FUNCTIONS: Mapping[type[Operation], Function] = {
    arith.AddiOp: _plain(int.__add__),
    arith.SubiOp: _plain(int.__sub__),
    arith.MuliOp: _plain(int.__mul__),
    arith.DivSIOp: _plain(_quotient),
    arith.DivUIOp: _unsigned(int.__floordiv__),
    arith.FloorDivSIOp: _plain(int.__floordiv__),
    arith.CeilDivSIOp: _plain(_quotient_up),
    arith.CeilDivUIOp: _unsigned(_quotient_up),
    arith.RemSIOp: _plain(_remainder),
    arith.RemUIOp: _unsigned(int.__mod__),
    arith.MinSIOp: _plain(min),
    arith.MaxSIOp: _plain(max),
    arith.MinUIOp: _unsigned(min),
    arith.MaxUIOp: _unsigned(max),
    arith.AndIOp: _plain(int.__and__),
    arith.OrIOp: _plain(int.__or__),
    arith.XOrIOp: _plain(int.__xor__),
    arith.ShLIOp: _unsigned(int.__lshift__),
    arith.ShRSIOp: _plain(int.__rshift__),
    arith.ShRUIOp: _unsigned(int.__rshift__),
    arith.CmpiOp: _compare_integers,
    arith.CmpfOp: _compare_floats,
    arith.SelectOp: _plain(_select),
    arith.AddfOp: _plain(float.__add__),
    arith.SubfOp: _plain(float.__sub__),
    arith.MulfOp: _plain(float.__mul__),
    arith.DivfOp: _plain(_divide_floats),
    arith.NegfOp: _plain(float.__neg__),
    arith.MaximumfOp: _plain(_extreme(is_maximum=True, ignores_nan=False)),
    arith.MinimumfOp: _plain(_extreme(is_maximum=False, ignores_nan=False)),
    arith.MaxnumfOp: _plain(_extreme(is_maximum=True, ignores_nan=True)),
    arith.MinnumfOp: _plain(_extreme(is_maximum=False, ignores_nan=True)),
    arith.IndexCastOp: _plain(_same),
    arith.FPToSIOp: _plain(int),
    arith.FPToUIOp: _plain(int),
    arith.SIToFPOp: _from_integer,
    arith.UIToFPOp: _from_unsigned,
    arith.ExtFOp: _plain(_same),
    arith.TruncFOp: _plain(_same),
    arith.TruncIOp: _plain(_same),
    arith.ExtSIOp: _plain(_same),
    arith.ExtUIOp: _unsigned(_same),
    arith.BitcastOp: _bits,
}
_LACKING: Mapping[str, Function] = {
    "arith.index_castui": _unsigned(_same),
    "arith.remf": _plain(_remainder_of_floats),
}
"""Functions of operations that xDSL 0.75 lacks, by name: a project may have them."""
_BY_NAME = {**{cls.name: function for cls, function in _FUNCTIONS.items()}, **_LACKING}


def _function_of(cls: type[Operation]) -> Function | None:
    return _BY_NAME.get(cls.name)


_functions = PerClass(_function_of)
