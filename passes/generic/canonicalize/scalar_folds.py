"""Folds of `arith`: the constant, or the operand, that an operation is equal to.

A constant vector or tensor whose elements are all equal is treated as the number that they are;
constants of different elements are computed element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ....passmanager.fast.edit import read_step
from ....passmanager.ir.per_class import PerClass
from ....passmanager.ir.text.printer import is_dense
from ....passmanager.releases.floats import key_of
from ..arith_families import COMMUTATIVE, DIVISIONS, definition, kind_of
from .constants import (
    Constant,
    constant_float,
    constant_integer,
    constant_of,
    dense_of_bytes,
    dense_of_numbers,
    numbers_of,
    ones,
    scalar_constant,
    uniform_attribute,
    uniform_number,
)
from .scalar_values import (
    MIN_NORMAL,
    Number,
    compute,
    element_of,
    is_computed,
    is_shaped,
    predicate_of,
    width_of,
)

__all__ = ["fold_scalar", "is_foldable_scalar", "merge_floats"]

Folded: TypeAlias = SSAValue | Constant | None
"""A value that exists, the value of a constant, or None for an operation that is not folded."""


def fold_scalar(op: Operation) -> Folded:
    """Return what the result of an `arith` operation is equal to, bit for bit but for the payload
    of a NaN.

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
    fold = _folds[type(op)]
    return None if fold is None else fold(op, *operands)


# Evaluation


MAX_ELEMENTS = 1 << 16
"""The greatest number of different elements that are computed: larger constants are for
`fold-constant`, which computes them with numpy."""


def _evaluate(op: Operation) -> Constant | None:
    """Compute an operation on constants by its semantics; None if it is undefined or unknown."""
    constants = [constant_of(operand) for operand in op.operands]
    if not constants or not all(is_computed(element_of(v.type)) for v in op.operands):
        return None
    type = op.results[0].type
    numbers = [uniform_number(constant) for constant in constants]
    if None not in numbers:
        number = _compute(op, cast("Sequence[Number]", numbers))
        return None if number is None else uniform_attribute(number, type)
    if kind_of(op) is arith.BitcastOp:
        return _reinterpreted(constants[0], type)
    # Uniform constants are repeated.
    each = [
        repeat(number) if number is not None else numbers_of(cast(Attribute, constant))
        for constant, number in zip(constants, numbers, strict=True)
    ]
    if None in each or not is_shaped(type) or not type.has_static_shape():
        return None
    if not 0 < math.prod(type.get_shape()) <= MAX_ELEMENTS:
        return None
    results: list[Number] = []
    for row in zip(*cast("list[Iterable[Number]]", each)):
        if (number := _compute(op, row)) is None:
            return None
        results.append(number)
    return dense_of_numbers(results, type)


def _compute(op: Operation, numbers: Sequence[Number]) -> Number | None:
    """Return the result of `op` for numbers of the types of its operands; None if it is undefined
    or unknown. Integers wrap, and floats are rounded, to the type of the result."""
    if not _is_defined(op, *numbers) or (result := compute(op, *numbers)) is None:
        return None
    # Processors differ in the sign of a NaN that they compute: as xDSL, none.
    if math.isnan(result) and kind_of(op) not in (arith.NegfOp, arith.BitcastOp):
        return math.nan
    return result


def _reinterpreted(constant: Attribute | None, type: Attribute) -> Constant | None:
    """Return the elements of a dense constant as those of another type of the same size."""
    if constant is None or not is_dense(constant) or not is_shaped(type):
        return None
    return dense_of_bytes(constant.data.data, type)


def merge_floats(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Constant | None:
    """Return the sum or product of two constants of which `op` computes one after the other; None
    if it is not finite, or if a product is so small that it has lost bits."""
    numbers = (constant_float(lhs), constant_float(rhs))
    if None in numbers:
        return None
    merged = _compute(op, cast("tuple[float, float]", numbers))
    if merged is None or not math.isfinite(merged):
        return None
    element = element_of(lhs.type)
    if kind_of(op) is arith.MulfOp and abs(merged) < MIN_NORMAL[type(element)]:
        return None
    return uniform_attribute(merged, lhs.type)


def _is_defined(op: Operation, *numbers: Number) -> bool:
    """Return whether an operation on these numbers has a defined result."""
    kind = kind_of(op)
    if kind in DIVISIONS:
        lhs, rhs = numbers
        if not rhs:
            return False
        # The least integer by -1 is the one quotient that overflows.
        is_least = lhs == -1 << (width_of(op.operands[0].type) - 1)
        return kind in _UNSIGNED or not is_least or rhs != -1
    if kind in _SHIFTS:
        width = width_of(op.operands[1].type)
        return int(numbers[1]) & ((1 << width) - 1) < width
    if kind_of(op) in (arith.FPToSIOp, arith.FPToUIOp):
        value, width = numbers[0], width_of(op.results[0].type)
        is_signed = kind_of(op) is arith.FPToSIOp
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
        # Out of range the conversion is poison in LLVM; numpy would give some number.
        return math.isfinite(value) and low <= math.trunc(value) < high
    return True


_SHIFTS = frozenset((arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp))
_UNSIGNED = frozenset((arith.DivUIOp, arith.RemUIOp, arith.CeilDivUIOp))


# Identities


def _is_negation(value: SSAValue, of: SSAValue) -> bool:
    """Return whether `value` is `xori of, -1`."""
    op = definition(value, arith.XOrIOp)
    return op is not None and op.operands[0] is of and constant_integer(op.operands[1]) == ones(of)


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
    kind = kind_of(op)
    if (constant := constant_integer(rhs)) is not None:
        every = ones(lhs)
        if kind in _ABSORBING and constant == _ABSORBING[kind] & every:
            return rhs
        if constant == _NEUTRAL[kind] & every:
            return lhs
    if lhs is rhs and kind in (arith.SubiOp, arith.XOrIOp):
        return uniform_attribute(0, lhs.type)
    if lhs is rhs and kind in _BITWISE:
        return lhs
    if kind in _BITWISE and (_is_negation(lhs, rhs) or _is_negation(rhs, lhs)):
        return uniform_attribute(_ABSORBING[kind], lhs.type)
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
    if by == 1 and (kind_of(op) in _UNSIGNED or width_of(lhs.type) > 1):
        return (
            uniform_attribute(0, lhs.type) if kind_of(op) in (arith.RemSIOp, arith.RemUIOp) else lhs
        )
    if (factor := _exact_quotient(op, lhs, rhs)) is not None:
        return factor
    if by and kind_of(op) in (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp):
        if constant_integer(lhs) == 0:
            return uniform_attribute(0, lhs.type)
    return None


_EXACT: dict[type[Operation], str] = {arith.DivUIOp: "nuw", arith.DivSIOp: "nsw"}
"""The flag of a product that is divided by one of its factors without a remainder."""


def _exact_quotient(op: Operation, lhs: SSAValue, rhs: SSAValue) -> SSAValue | None:
    """Return the other factor of a product that does not wrap and is divided by one of them."""
    product = lhs.owner
    if not isinstance(product, arith.MuliOp) or (flag := _EXACT.get(kind_of(op))) is None:
        return None
    if rhs not in product.operands or flag not in overflow_flags(product):
        return None
    a, b = product.operands
    return b if a is rhs else a


def overflow_flags(op: Operation) -> frozenset[str]:
    """Return the flags `nsw` and `nuw` of an operation: what makes its result poison."""
    flags = op.properties.get("overflowFlags")
    data: Iterable[str] = getattr(flags, "data", ())
    return frozenset(data)


def _fold_integer_bound(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    if lhs is rhs:
        return lhs
    if (constant := constant_integer(rhs)) is None:
        return None
    top, least = ones(lhs), 1 << (width_of(lhs.type) - 1)
    low, high = (0, top) if kind_of(op) in (arith.MinUIOp, arith.MaxUIOp) else (least, top ^ least)
    # `low` is neutral and `high` absorbs: of a minimum these are the greatest and the least number.
    if kind_of(op) in (arith.MinSIOp, arith.MinUIOp):
        low, high = high, low
    return lhs if constant == low else rhs if constant == high else None


_TRUE_OF_EQUALS = {0, 3, 5, 7, 9}
"""The predicates eq, sle, sge, ule and uge of `arith.cmpi`."""


def _fold_cmpi(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    predicate, type = predicate_of(op), op.results[0].type
    if lhs is rhs:
        return uniform_attribute(predicate in _TRUE_OF_EQUALS, type)
    constant = constant_integer(rhs)
    if constant is None or predicate > 1:
        return None
    is_equal = predicate == 0
    if lhs.type == type:  # an i1
        return lhs if constant == is_equal else None
    # `extui %b == 1` and `extui %b != 0` are `%b`; so is `extsi %b == -1`.
    if (cast := definition(lhs, arith.ExtUIOp, arith.ExtSIOp)) is not None:
        inner = cast.operands[0]
        if inner.type == type:
            extended = 1 if kind_of(cast) is arith.ExtUIOp else ones(lhs)
            if constant == (extended if is_equal else 0):
                return inner
    return None


def _fold_cmpf(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    predicate, type = predicate_of(op), op.results[0].type
    if predicate in (0, 15):
        return uniform_attribute(predicate == 15, type)
    for value in (lhs, rhs):
        if (constant := constant_float(value)) is not None and math.isnan(constant):
            # From 8 on the predicates are the unordered ones, which hold for NaN; 0 never holds, 15
            # always.
            return uniform_attribute(predicate >= 8, type)
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
    compare = definition(cond, arith.CmpiOp)
    if compare is not None and (predicate := predicate_of(compare)) < 2:
        if set(compare.operands) == {lhs, rhs}:
            return rhs if predicate == 0 else lhs
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
    neutral = _NEUTRAL_FLOATS[kind_of(op)]
    if _is_float(rhs, neutral):
        return lhs
    if kind_of(op) is arith.MulfOp and constant_float(rhs) == 0 and _ignores_signs_and_nan(op):
        return rhs
    return rhs if kind_of(op) in COMMUTATIVE and _is_float(lhs, neutral) else None


def _fastmath(op: Operation) -> set[FastMathFlag]:
    flags = op.properties.get("fastmath")
    data: Iterable[FastMathFlag] = getattr(flags, "data", ())
    return {*data}


def _ignores_signs_and_nan(op: Operation) -> bool:
    return {FastMathFlag.NO_NANS, FastMathFlag.NO_SIGNED_ZEROS} <= _fastmath(op)


def _fold_extf(op: Operation, value: SSAValue) -> Folded:
    """Fold an extension of a truncation, where both may be contracted."""
    inner = definition(value, arith.TruncFOp)
    if inner is None or inner.operands[0].type != op.results[0].type:
        return None
    contracts = FastMathFlag.ALLOW_CONTRACT in _fastmath(op) & _fastmath(inner)
    return inner.operands[0] if contracts else None


def _fold_negf(op: Operation, value: SSAValue) -> Folded:
    inner = definition(value, arith.NegfOp)
    return None if inner is None else inner.operands[0]


def _fold_float_bound(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Folded:
    if lhs is rhs:
        return lhs
    is_maximum = kind_of(op) in (arith.MaximumfOp, arith.MaxnumfOp)
    ignores_nan = kind_of(op) in (arith.MaxnumfOp, arith.MinnumfOp)
    # `maxnumf(x, -inf)` is -inf if x is NaN, and so no identity.
    neutral = math.nan if ignores_nan else -math.inf if is_maximum else math.inf
    for a, b in ((lhs, rhs), (rhs, lhs)):
        if _is_float(b, neutral):
            return a
    return None


def _is_float(value: SSAValue, number: float) -> bool:
    """Return whether a value is a constant with the bits of `number`; all NaNs are alike."""
    constant = constant_float(value)
    if constant is None or constant != number:
        return constant is not None and math.isnan(constant) and math.isnan(number)
    return math.copysign(1, constant) == math.copysign(1, number)


def _fold_cast_back(op: Operation, value: SSAValue) -> Folded:
    """Return the value that was cast to a wider type, of which `op` is the cast back."""
    if value.type == op.results[0].type:
        return value  # as a `bitcast` to the same type
    inner = definition(value, *_CAST_BACK[kind_of(op)])
    if inner is None or inner.operands[0].type != op.results[0].type:
        return None
    if kind_of(op) is arith.IndexCastOp and not _is_index(inner.results[0]):
        return None  # an index that was truncated
    return inner.operands[0]


def _is_index(value: SSAValue) -> bool:
    return isinstance(element_of(value.type), IndexType)


def _fold_index_castui(op: Operation, value: SSAValue) -> Folded:
    inner = value.owner
    if not isinstance(inner, Operation) or inner.name != op.name or not _is_index(value):
        return None
    return inner.operands[0] if inner.operands[0].type == op.results[0].type else None


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
    arith.ExtFOp: _fold_extf,
    arith.NegfOp: _fold_negf,
    arith.MaximumfOp: _fold_float_bound,
    arith.MinimumfOp: _fold_float_bound,
    arith.MaxnumfOp: _fold_float_bound,
    arith.MinnumfOp: _fold_float_bound,
    **dict.fromkeys(_CAST_BACK, _fold_cast_back),
}

_LACKING: dict[str, Callable[..., Folded]] = {
    "arith.index_castui": _fold_index_castui,
    "arith.remf": lambda *_: None,
}
"""Folds of operations that xDSL 0.75 lacks, by name."""
_BY_NAME = {**{cls.name: fold for cls, fold in _FOLDS.items()}, **_LACKING}


def _fold_of(cls: type[Operation]) -> Callable[..., Folded] | None:
    return _BY_NAME.get(cls.name)


_folds = PerClass(_fold_of)

_OF_CONSTANTS = _FOLDS.keys() - {
    *(arith.CmpiOp, arith.CmpfOp, arith.SelectOp, arith.NegfOp, arith.ExtFOp),
    *_EXACT,
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
_FOLDABLE = frozenset((*_BY_NAME, *(cast.name for cast in _CASTS)))


def is_foldable_scalar(op: type[Operation]) -> bool:
    """Return whether `fold_scalar` knows operations of a class."""
    return op.name in _FOLDABLE
