"""Integers that operations compute from sizes: expressions of these where they are sure, or else
what is to be computed at run time.

    maximum(n, 0)    # n, which is at least 0
    maximum(n, m)    # Computed: the greater of two values

Known numbers are plain integers, on which the functions compute as Python does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from .sizes import Size, TooComplex

__all__ = [
    "Computed",
    "Condition",
    "Dimension",
    "Element",
    "Insert",
    "Number",
    "Scalar",
    "as_number",
    "as_size",
    "at_least",
    "ceildiv",
    "either",
    "equal",
    "less",
    "maximum",
    "minimum",
    "minus",
    "plus",
    "positive",
    "product",
    "quotient",
    "select",
    "sum_of",
    "times",
]

Insert: TypeAlias = Callable[[Operation], SSAValue]
"""A function that inserts an operation and returns its result."""


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a vector of integers, or of a scalar, as a size."""

    value: SSAValue
    index: int


@dataclass(frozen=True, eq=False)
class Dimension:
    """A dimension that is read from a tensor, whatever is known of it."""

    value: SSAValue
    axis: int


@dataclass(frozen=True, eq=False)
class Scalar:
    """The number in a scalar, in its type."""

    value: SSAValue


@dataclass(frozen=True, eq=False)
class Computed:
    """The result of a function of other numbers, or of floats."""

    function: str | Callable[..., SSAValue]
    """The name of an operation, as in `arith` (`addi`), or a predicate (`slt`); or a function that
    inserts operations by a function of the type `Insert`, given the operands."""
    operands: tuple[Number | float, ...]


Number: TypeAlias = int | Size | Computed | Dimension | Element | Scalar
"""A size is an expression of unknown ones, never a known one."""
Condition: TypeAlias = bool | Computed


def as_number(number: Number) -> Number:
    """Return a number, or a size that may be known, as a number."""
    if isinstance(number, Size) and number.known is not None:
        return number.known
    return number


def as_size(number: Number | None) -> Size | None:
    """Return a number as a size; None if it cannot be written as an expression of sizes."""
    if isinstance(number, int):
        return Size.of(int(number))
    return number if isinstance(number, Size) else None


def at_least(a: Number, b: Number, margin: int = 0) -> bool:
    """Return whether `a >= b + margin` for sure."""
    match a:
        case Computed("maxsi" | "minsi" as kind, operands):
            bounds = [not isinstance(n, float) and at_least(n, b, margin) for n in operands]
            return any(bounds) if kind == "maxsi" else all(bounds)
        case _:
            pass
    if not isinstance(a, int | Size) or not isinstance(b, int | Size):
        return False
    difference = minus(a, b)
    low = difference.low if isinstance(difference, Size) else difference
    return isinstance(low, int) and low >= margin


def _arithmetic(function: Callable[..., Number], name: str, a: Number, b: Number) -> Number:
    """Return the function of two integers or sizes, or the operation on other numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return function(a, b)
    x, y = as_size(a), as_size(b)
    if x is not None and y is not None:
        try:
            return as_number(function(x, y))
        except TooComplex:
            pass
    return Computed(name, (a, b))


def plus(a: Number, b: Number) -> Number:
    return b if a == 0 else a if b == 0 else _arithmetic(operator.add, "addi", a, b)


def minus(a: Number, b: Number) -> Number:
    return a if b == 0 else _arithmetic(operator.sub, "subi", a, b)


def times(a: Number, b: Number) -> Number:
    return b if a == 1 else a if b == 1 else _arithmetic(operator.mul, "muli", a, b)


def sum_of(numbers: Iterable[Number]) -> Number:
    """Return the sum of numbers."""
    return reduce(plus, numbers, 0)


def product(numbers: Iterable[Number]) -> Number:
    """Return the product of numbers."""
    return reduce(times, numbers, 1)


def quotient(a: Number, b: Number) -> Number:
    """Return the quotient by a positive number, rounded down. A computed number (`Computed`) is
    divided at run time by `divsi`, which rounds a negative one toward zero."""
    if b == 1:
        return a
    if isinstance(b, int) and isinstance(a, int | Size):
        return as_number(a // b)
    return Computed("divsi", (a, b))


def ceildiv(a: Number, b: int) -> Number:
    """Return the quotient by a positive integer, rounded up; for numbers of at least 0."""
    return quotient(plus(a, b - 1), b)


def maximum(a: Number, b: Number) -> Number:
    if at_least(a, b) or at_least(b, a):
        return a if at_least(a, b) else b
    return Computed("maxsi", (a, b))


def minimum(a: Number, b: Number) -> Number:
    if at_least(a, b) or at_least(b, a):
        return b if at_least(a, b) else a
    return Computed("minsi", (a, b))


def positive(a: Number) -> Number:
    """Return a size for which the kernel asserts that it is not negative: 0 if it is, where it is
    computed before the kernel runs."""
    return a if isinstance(a, int | Size) else Computed("maxsi", (a, 0))


def less(a: Number, b: Number) -> Condition:
    """Return whether `a < b`."""
    if at_least(a, b):
        return False
    return at_least(b, a, 1) or Computed("slt", (a, b))


def equal(a: Number, b: Number) -> Condition:
    """Return whether `a == b`."""
    if a == b:
        return True
    if at_least(a, b, 1) or at_least(b, a, 1):
        return False
    return Computed("eq", (a, b))


def either(a: Condition, b: Condition) -> Condition:
    """Return the disjunction of conditions."""
    if isinstance(a, bool):
        return a or b
    return b or a if isinstance(b, bool) else Computed("ori", (a, b))


def select(condition: Condition, then: Number, otherwise: Number) -> Number:
    """Return one of two numbers."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return then if then == otherwise else Computed("select", (condition, then, otherwise))
