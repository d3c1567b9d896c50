"""Folds of `arith` on scalars: the constant, or the operand, that an operation is equal to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeGuard, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ....passmanager.fast.edit import read_step
from ....passmanager.releases.floats import key_of
from ..arith_families import COMMUTATIVE, DIVISIONS
from .scalar_values import MIN_NORMAL, Float, Number, compute, is_computed, round_to, width_of, wrap

__all__ = [
    "constant_integer",
    "fold_scalar",
    "is_foldable_scalar",
    "is_scalar_constant",
    "merge_floats",
    "scalar_constant",
    "truncated_integer",
    "width_of",
]

Scalar: TypeAlias = IntegerAttr | FloatAttr
Folded: TypeAlias = SSAValue | Scalar | None
"""A value that exists, the value of a constant, or None for an operation that is not folded."""


def fold_scalar(op: Operation) -> Folded:
    """Return what the result of an `arith` operation on scalars is equal to, bit for bit but for
    the payload of a NaN.

    The folds are those of MLIR; division by zero, overflow of a division and shifts by more bits
    than the type has stay.
    """
    operands, results, *_ = read_step(op)
    if len(results) != 1:
        return None
    constants = [value for value in operands if type(value.owner) is arith.ConstantOp]
    if len(constants) == len(operands):
        if (constant := _evaluate(op)) is not None:
            return constant
    elif not constants and type(op) in _OF_CONSTANTS and operands[0] is not operands[1]:
        return None  # as nearly all operations
    fold = _FOLDS.get(type(op))
    return None if fold is None else fold(op, *operands)


# Constants


def is_scalar_constant(value: SSAValue) -> bool:
    """Return whether a value is an `arith.constant` of a number or an index."""
    return scalar_constant(value) is not None


def scalar_constant(value: SSAValue) -> Scalar | None:
    """Return the number that an `arith.constant` defines as `value`, or None."""
    owner = value.owner
    if type(owner) is not arith.ConstantOp:
        return None
    # Not `owner.value`, which takes ten times as long; this is asked of each operand.
    number = owner.properties["value"]
    return cast(Scalar, number) if isinstance(number, IntegerAttr | FloatAttr) else None


def constant_integer(value: SSAValue) -> int | None:
    """Return the integer that a constant defines as `value`, as an unsigned number, or None."""
    number = scalar_constant(value)
    if not isinstance(number, IntegerAttr):
        return None
    return number.value.data & _ones(value)


def is_integer(type: Attribute) -> TypeGuard[IntegerType | IndexType]:
    """Return whether a type is that of an integer or an index."""
    return isinstance(type, IntegerType | IndexType)


def _ones(value: SSAValue) -> int:
    """Return the unsigned number of the type of `value` whose bits are all ones."""
    return (1 << width_of(value.type)) - 1


def _constant_float(value: SSAValue) -> float | None:
    number = scalar_constant(value)
    return number.value.data if isinstance(number, FloatAttr) else None


def truncated_integer(number: int, type: IntegerType | IndexType) -> IntegerAttr:
    """Return the number with the low bits of `number` that a type has; an index is signed."""
    if isinstance(type, IndexType):  # xDSL takes any number for one
        number = (number + (1 << 63)) % (1 << 64) - (1 << 63)
    return IntegerAttr(number, type, truncate_bits=True)


def _integer(number: int, type: Attribute) -> IntegerAttr | None:
    return truncated_integer(number, type) if is_integer(type) else None


# Evaluation


def _evaluate(op: Operation) -> Scalar | None:
    """Compute an operation on constants by its semantics; None if it is undefined or unknown."""
    constants = [scalar_constant(operand) for operand in op.operands]
    numbers = [constant for constant in constants if constant is not None]
    if not numbers or len(numbers) < len(constants) or not _is_defined(op):
        return None
    return _compute(op, numbers)


def _compute(op: Operation, constants: Sequence[Scalar]) -> Scalar | None:
    """Return the result of `op` for operands with the values `constants`; None if it is unknown.

    Integers wrap, and floats are rounded, to the type of the result.
    """
    if not all(is_computed(constant.type) for constant in constants):
        return None
    if (result := compute(op, *map(_number, constants))) is None:
        return None
    type = op.results[0].type
    if isinstance(type, AnyFloat):
        # Processors differ in the sign of a NaN that they compute: as xDSL, none.
        moves_bits = isinstance(op, arith.NegfOp | arith.BitcastOp)
        return FloatAttr(math.nan if math.isnan(result) and not moves_bits else result, type)
    return _integer(int(result), type)


def _number(constant: Scalar) -> Number:
    """Return the value of a constant, which older releases of xDSL do not round or wrap."""
    value, type = constant.value.data, constant.type
    if isinstance(type, Float):
        return round_to(value, type)
    return wrap(int(value), width_of(type))


def merge_floats(op: Operation, lhs: SSAValue, rhs: SSAValue) -> FloatAttr | None:
    """Return the sum or product of two constants of which `op` computes one after the other; None
    if it is not finite, or if a product is so small that it has lost bits."""
    constants = (scalar_constant(lhs), scalar_constant(rhs))
    if not all(isinstance(constant, FloatAttr) for constant in constants):
        return None
    merged = _compute(op, cast("tuple[FloatAttr, FloatAttr]", constants))
    if not isinstance(merged, FloatAttr) or not math.isfinite(merged.value.data):
        return None
    if isinstance(op, arith.MulfOp) and abs(merged.value.data) < MIN_NORMAL[type(merged.type)]:
        return None
    return merged


def _is_defined(op: Operation) -> bool:
    """Return whether an operation on constants has a defined result."""
    if type(op) in DIVISIONS:
        lhs, rhs = (constant_integer(operand) for operand in op.operands)
        if not rhs:
            return False
        # The least integer by -1 is the one quotient that overflows.
        is_least = lhs == 1 << (width_of(op.operands[0].type) - 1)
        return isinstance(op, _UNSIGNED) or not is_least or rhs != _ones(op.operands[1])
    if isinstance(op, arith.ShLIOp | arith.ShRSIOp | arith.ShRUIOp):
        by = constant_integer(op.rhs)
        return by is not None and by < width_of(op.rhs.type)
    if isinstance(op, arith.FPToSIOp | arith.FPToUIOp):
        value, width = _constant_float(op.operands[0]), width_of(op.results[0].type)
        is_signed = isinstance(op, arith.FPToSIOp)
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
        # Out of range the conversion is poison in LLVM; numpy would give some number.
        return value is not None and math.isfinite(value) and low <= math.trunc(value) < high
    return True


_UNSIGNED = (arith.DivUIOp, arith.RemUIOp, arith.CeilDivUIOp)


# Identities


def _definition(value: SSAValue, *classes: type[Operation]) -> Operation | None:
    """Return the operation that defines `value`, if it has one of these classes."""
    if isinstance(value, OpResult) and isinstance(value.op, classes):
        return value.op
    return None


def _is_negation(value: SSAValue, of: SSAValue) -> bool:
    """Return whether `value` is `xori of, -1`."""
    op = _definition(value, arith.XOrIOp)
    return op is not None and op.operands[0] is of and constant_integer(op.operands[1]) == _ones(of)


_NEUTRAL: dict[type[Operation], int] = {
    arith.AddiOp: 0,
    arith.SubiOp: 0,
    arith.MuliOp: 1,
    arith.ShLIOp: 0,
    arith.ShRSIOp: 0,
    arith.ShRUIOp: 0,
    arith.AndIOp: -1,
    arith.OrIOp: 0,
    arith.XOrIOp: 0,
}
"""The right operand for which an operation returns the left one."""
_ABSORBING: dict[type[Operation], int] = {arith.MuliOp: 0, arith.AndIOp: 0, arith.OrIOp: -1}
"""The operand that is the result, whatever the other one is."""


def _fold_integers(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    kind = type(op)
    if (constant := constant_integer(rhs)) is not None:
        ones = _ones(lhs)
        if kind in _ABSORBING and constant == _ABSORBING[kind] & ones:
            return _integer(constant, lhs.type)
        if constant == _NEUTRAL[kind] & ones:
            return lhs
    if lhs is rhs and kind in (arith.SubiOp, arith.XOrIOp):
        return _integer(0, lhs.type)
    if lhs is rhs and kind in _BITWISE:
        return lhs
    if kind in _BITWISE and (_is_negation(lhs, rhs) or _is_negation(rhs, lhs)):
        return _integer(_ABSORBING[kind], lhs.type)
    return _fold_undone(kind, lhs, rhs) if kind in _PARTNERS else None


_BITWISE = (arith.AndIOp, arith.OrIOp)
_PARTNERS: dict[type[Operation], type[Operation]] = {
    arith.AddiOp: arith.SubiOp,
    arith.SubiOp: arith.AddiOp,
    **{kind: kind for kind in (*_BITWISE, arith.XOrIOp)},
}
"""The operation after which another one, with the same operand again, gives an operand back."""


def _fold_undone(kind: type[Operation], lhs: SSAValue, rhs: SSAValue) -> Folded:
    """Fold `(x - y) + y` to `x`, also if the sum wrapped, and `(x & y) & y` to `x & y`."""
    partner = _PARTNERS[kind]
    for a, b in ((lhs, rhs), (rhs, lhs)) if kind in COMMUTATIVE else ((lhs, rhs),):
        inner = a.owner
        if type(inner) is partner and isinstance(inner, Operation) and b in inner.operands:
            x, y = inner.operands
            if kind in _BITWISE:
                return a
            if b is y:
                return x
            if kind is not arith.AddiOp:
                return y
    return None


def _fold_division(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    # A signed i1 has no 1: its one bit set is -1.
    by = constant_integer(rhs)
    if by == 1 and (isinstance(op, _UNSIGNED) or width_of(lhs.type) > 1):
        return _integer(0, lhs.type) if isinstance(op, arith.RemSIOp | arith.RemUIOp) else lhs
    if by and isinstance(op, arith.DivSIOp | arith.DivUIOp | arith.RemSIOp | arith.RemUIOp):
        if constant_integer(lhs) == 0:
            return _integer(0, lhs.type)
    return None


def _fold_integer_bound(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    if lhs is rhs:
        return lhs
    if (constant := constant_integer(rhs)) is None:
        return None
    top, least = _ones(lhs), 1 << (width_of(lhs.type) - 1)
    low, high = (0, top) if isinstance(op, arith.MinUIOp | arith.MaxUIOp) else (least, top ^ least)
    # `low` is neutral and `high` absorbs: of a minimum these are the greatest and the least number.
    if isinstance(op, arith.MinSIOp | arith.MinUIOp):
        low, high = high, low
    return lhs if constant == low else rhs if constant == high else None


_TRUE_OF_EQUALS = {0, 3, 5, 7, 9}
"""The predicates eq, sle, sge, ule and uge of `arith.cmpi`."""


def _fold_cmpi(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    assert isinstance(op, arith.CmpiOp)
    predicate = op.predicate.value.data
    if lhs is rhs:
        return _integer(predicate in _TRUE_OF_EQUALS, op.result.type)
    constant = constant_integer(rhs)
    if constant is None or predicate > 1:
        return None
    is_equal = predicate == 0
    if lhs.type == op.result.type:  # an i1
        return lhs if constant == is_equal else None
    # `extui %b == 1` and `extui %b != 0` are `%b`; so is `extsi %b == -1`.
    if (cast := _definition(lhs, arith.ExtUIOp, arith.ExtSIOp)) is not None:
        inner = cast.operands[0]
        if inner.type == op.result.type:
            extended = 1 if isinstance(cast, arith.ExtUIOp) else _ones(lhs)
            if constant == (extended if is_equal else 0):
                return inner
    return None


def _fold_cmpf(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    assert isinstance(op, arith.CmpfOp)
    predicate = op.predicate.value.data
    if predicate in (0, 15):
        return _integer(predicate == 15, op.result.type)
    for value in (lhs, rhs):
        if (constant := _constant_float(value)) is not None and math.isnan(constant):
            # From 8 on the predicates are the unordered ones, which hold for NaN; 0 never holds, 15
            # always.
            return _integer(predicate >= 8, op.result.type)
    return None


def _fold_select(op: Operation, cond: SSAValue, lhs: SSAValue, rhs: SSAValue) -> Folded:
    if lhs is rhs or (
        (known := scalar_constant(lhs)) is not None
        and (other := scalar_constant(rhs)) is not None
        and key_of(known) == key_of(other)
    ):
        return lhs
    if (condition := constant_integer(cond)) is not None:
        return lhs if condition else rhs
    if cond.type == lhs.type and (constant_integer(lhs), constant_integer(rhs)) == (1, 0):
        return cond
    compare = _definition(cond, arith.CmpiOp)
    if isinstance(compare, arith.CmpiOp) and compare.predicate.value.data < 2:
        if set(compare.operands) == {lhs, rhs}:
            return rhs if compare.predicate.value.data == 0 else lhs
    return None


_NEUTRAL_FLOATS: dict[type[Operation], float] = {
    # `x + -0.0` is `x` for each x, but `-0.0 + 0.0` is 0.0.
    arith.AddfOp: -0.0,
    arith.SubfOp: 0.0,
    arith.MulfOp: 1.0,
    arith.DivfOp: 1.0,
}
"""The right operand for which an operation returns the left one."""


def _fold_floats(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    neutral = _NEUTRAL_FLOATS[type(op)]
    if _is_float(rhs, neutral):
        return lhs
    return rhs if type(op) in COMMUTATIVE and _is_float(lhs, neutral) else None


def _fold_negf(op: Operation, value: SSAValue) -> Folded:
    inner = _definition(value, arith.NegfOp)
    return None if inner is None else inner.operands[0]


def _fold_float_bound(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    if lhs is rhs:
        return lhs
    is_maximum = isinstance(op, arith.MaximumfOp | arith.MaxnumfOp)
    ignores_nan = isinstance(op, arith.MaxnumfOp | arith.MinnumfOp)
    # `maxnumf(x, -inf)` is -inf if x is NaN, and so no identity.
    neutral = math.nan if ignores_nan else -math.inf if is_maximum else math.inf
    for a, b in ((lhs, rhs), (rhs, lhs)):
        if _is_float(b, neutral):
            return a
    return None


def _is_float(value: SSAValue, number: float) -> bool:
    """Return whether a value is a constant with the bits of `number`; all NaNs are alike."""
    constant = _constant_float(value)
    if constant is None or constant != number:
        return constant is not None and math.isnan(constant) and math.isnan(number)
    return math.copysign(1, constant) == math.copysign(1, number)


def _fold_cast_back(op: Operation, value: SSAValue) -> Folded:
    """Return the value that was cast to a wider type, of which `op` is the cast back."""
    inner = _definition(value, *_CAST_BACK[type(op)])
    if inner is None or inner.operands[0].type != op.results[0].type:
        return None
    if isinstance(op, arith.IndexCastOp) and not isinstance(inner.results[0].type, IndexType):
        return None  # an index that was truncated
    return inner.operands[0]


_CAST_BACK: dict[type[Operation], tuple[type[Operation], ...]] = {
    arith.TruncIOp: (arith.ExtSIOp, arith.ExtUIOp),
    arith.TruncFOp: (arith.ExtFOp,),
    arith.BitcastOp: (arith.BitcastOp,),
    arith.IndexCastOp: (arith.IndexCastOp,),
}

_FOLDS: dict[type[Operation], Callable[..., Folded]] = {
    **dict.fromkeys(_NEUTRAL, _fold_integers),
    **dict.fromkeys(DIVISIONS, _fold_division),
    arith.MinSIOp: _fold_integer_bound,
    arith.MaxSIOp: _fold_integer_bound,
    arith.MinUIOp: _fold_integer_bound,
    arith.MaxUIOp: _fold_integer_bound,
    arith.CmpiOp: _fold_cmpi,
    arith.CmpfOp: _fold_cmpf,
    arith.SelectOp: _fold_select,
    **dict.fromkeys(_NEUTRAL_FLOATS, _fold_floats),
    arith.NegfOp: _fold_negf,
    arith.MaximumfOp: _fold_float_bound,
    arith.MinimumfOp: _fold_float_bound,
    arith.MaxnumfOp: _fold_float_bound,
    arith.MinnumfOp: _fold_float_bound,
    **dict.fromkeys(_CAST_BACK, _fold_cast_back),
}

_OF_CONSTANTS = _FOLDS.keys() - {
    *(arith.CmpiOp, arith.CmpfOp, arith.SelectOp, arith.NegfOp),
    *_PARTNERS,
    *_CAST_BACK,
}
"""Operations on two operands that are folded if one is a constant or both are the same value."""

_CASTS = (
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.ExtFOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
)
_FOLDABLE = frozenset((*_FOLDS, *_CASTS))


def is_foldable_scalar(op: type[Operation]) -> bool:
    """Return whether `fold_scalar` knows operations of a class."""
    return op in _FOLDABLE
