"""Folds of `math` on constants, also of vectors and tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, TypeAlias

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation

from .constants import (
    Constant,
    constant_of,
    dense_of_numbers,
    numbers_of,
    uniform_attribute,
    uniform_number,
)
from .scalar_folds import MAX_ELEMENTS
from .scalar_values import Float, Number, element_of, is_computed, width_of

Function: TypeAlias = Callable[..., Number | None]


def _fold(op: Operation) -> Constant | None:
    """Compute an operation on constants; None if it is undefined, or not the same everywhere."""
    type, constants = op.results[0].type, [constant_of(operand) for operand in op.operands]
    element = element_of(type)
    if not constants or None in constants or not is_computed(element):
        return None
    # As in MLIR: functions of narrow floats are left.
    if op.name not in _OF_ANY_WIDTH and isinstance(element, Float):
        if not isinstance(element, Float32Type | Float64Type):
            return None
    function = _FUNCTIONS[op.name]
    width = width_of(type)

    def compute(*row: Number) -> Number | None:
        try:
            return function(width, *row) if op.name in _OF_WIDTH else function(*row)
        except OverflowError:
            return math.inf
        except ValueError:  # outside of the domain
            return None

    columns: list[Sequence[Number] | repeat[Number]] = []
    is_uniform = True
    for constant in constants:
        if (number := uniform_number(constant)) is not None:
            columns.append(repeat(number))
            continue
        is_uniform = False
        if constant is None or (numbers := numbers_of(constant)) is None:
            return None
        if len(numbers) > MAX_ELEMENTS:
            return None
        columns.append(numbers)
    if is_uniform:
        number = compute(*(next(iter(column)) for column in columns))
        return None if number is None else uniform_attribute(number, type)
    results = [compute(*row) for row in zip(*columns)]
    known = [result for result in results if result is not None]
    return dense_of_numbers(known, type) if len(known) == len(results) else None


def _not_negative(function: Callable[[float], float]) -> Function:
    """Return a function that has no result for numbers with a sign."""

    def compute(number: float) -> float | None:
        if math.copysign(1.0, number) < 0:
            return None
        return function(number)

    return compute


def _log_or_infinity(function: Callable[[float], float]) -> Callable[[float], float]:
    def compute(number: float) -> float:
        return function(number) if number else -math.inf

    return compute


def _log1p(number: float) -> float | None:
    return math.log1p(number) if number > -1 else None


def _absolute(number: Number) -> Number:
    return abs(number)


def _whole(function: Callable[[float], int]) -> Function:
    """Return a function that rounds to a whole number, and keeps the sign of 0."""

    def compute(number: float) -> float:
        if not math.isfinite(number):
            return number
        return math.copysign(float(function(number)), number)

    return compute


def _half_away(number: float) -> int:
    """Round to the nearest whole number, halves away from zero."""
    whole = math.trunc(number)
    return whole + (1 if number > 0 else -1) * (abs(number - whole) >= 0.5)


def _tan2(y: float, x: float) -> float:
    return math.atan2(y, x) if x or y else math.nan


def _power(base: float, exponent: float) -> float | None:
    if not base and exponent < 0:
        odd = exponent == int(exponent) and int(exponent) % 2
        return math.copysign(math.inf, base) if odd else math.inf
    if base < 0 and math.isfinite(exponent) and exponent != math.trunc(exponent):
        return math.nan
    return math.pow(base, exponent)


def _integer_power(width: int, base: int, exponent: int) -> int | None:
    if exponent >= 0:
        return pow(base, exponent, 1 << width)
    if base == 0:
        return None
    if base == 1 or width == 1:
        return base
    if base == -1:
        return -1 if exponent & 1 else 1
    return 0


def _leading_zeros(width: int, number: int) -> int:
    return width - (number & ((1 << width) - 1)).bit_length()


def _trailing_zeros(width: int, number: int) -> int:
    return (number & -number).bit_length() - 1 if number else width


def _bits_set(width: int, number: int) -> int:
    return (number & ((1 << width) - 1)).bit_count()


_FUNCTIONS: Final[Mapping[str, Function]] = {
    "math.absf": _absolute,
    "math.absi": _absolute,
    "math.acos": math.acos,
    "math.acosh": math.acosh,
    "math.asin": math.asin,
    "math.asinh": math.asinh,
    "math.atan": math.atan,
    "math.atan2": _tan2,
    "math.atanh": math.atanh,
    "math.ceil": _whole(math.ceil),
    "math.copysign": math.copysign,
    "math.cos": math.cos,
    "math.cosh": math.cosh,
    "math.ctlz": _leading_zeros,
    "math.ctpop": _bits_set,
    "math.cttz": _trailing_zeros,
    "math.erf": math.erf,
    "math.erfc": math.erfc,
    "math.exp": math.exp,
    "math.exp2": math.exp2,
    "math.expm1": math.expm1,
    "math.floor": _whole(math.floor),
    "math.ipowi": _integer_power,
    "math.isfinite": math.isfinite,
    "math.isinf": math.isinf,
    "math.isnan": math.isnan,
    "math.log": _not_negative(_log_or_infinity(math.log)),
    "math.log10": _not_negative(_log_or_infinity(math.log10)),
    "math.log1p": _log1p,
    "math.log2": _not_negative(_log_or_infinity(math.log2)),
    "math.powf": _power,
    "math.round": _whole(_half_away),
    "math.roundeven": _whole(round),
    "math.sin": math.sin,
    "math.sinh": math.sinh,
    "math.sqrt": _not_negative(math.sqrt),
    "math.tan": math.tan,
    "math.tanh": math.tanh,
    "math.trunc": _whole(math.trunc),
}
_OF_WIDTH: Final = frozenset(("math.ctlz", "math.ctpop", "math.cttz", "math.ipowi"))
"""The functions that get the number of bits first."""
_OF_ANY_WIDTH: Final = frozenset(
    ("math.absf", "math.ceil", "math.copysign", "math.floor", "math.roundeven")
)
"""The functions whose result is exact in each float type."""

FOLDS: Final[Mapping[str, Callable[[Operation], Any]]] = dict.fromkeys(_FUNCTIONS, _fold)
