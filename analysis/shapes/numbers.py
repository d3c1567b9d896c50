"""Integers that operations compute from sizes: expressions of these where they are sure, or else
what is to be computed at run time.

    maximum(n, ZERO)    # n, which is at least 0
    maximum(n, m)       # Computed: the greater of two values
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...dialects.sizes import Size, TooComplex

__all__ = [
    "ONE",
    "ZERO",
    "Computed",
    "Condition",
    "Dimension",
    "Element",
    "Insert",
    "Number",
    "Scalar",
    "at_least",
    "ceildiv",
    "computed",
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
    "times",
]

ZERO, ONE = Size.of(0), Size.of(1)

Insert: TypeAlias = Callable[[Operation], SSAValue]
"""A function that inserts an operation and returns its result."""


class Unsure:
    """A number of which nothing is known before it is computed."""

    known = low = None

    def is_positive(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Element(Unsure):
    """An element of a vector of integers, or of a scalar, as a size."""

    value: SSAValue
    index: int


@dataclass(frozen=True, eq=False)
class Dimension(Unsure):
    """A dimension that is read from a tensor, whatever is known of it."""

    value: SSAValue
    axis: int


@dataclass(frozen=True, eq=False)
class Scalar(Unsure):
    """The number in a scalar, in its type."""

    value: SSAValue


@dataclass(frozen=True, eq=False)
class Computed(Unsure):
    """The result of operations on other numbers."""

    compute: Callable[..., SSAValue]
    """Insert the operations, by a function of the type `Insert`, given the operands."""
    operands: tuple[Number, ...]


Number: TypeAlias = Size | Computed | Dimension | Element | Scalar
Condition: TypeAlias = bool | Computed


def at_least(a: Number, b: Number) -> bool:
    """Return whether `a >= b` for sure."""
    try:
        low = (a - b).low if isinstance(a, Size) and isinstance(b, Size) else None
    except TooComplex:
        return False
    return low is not None and low >= 0


def computed(cls: Callable[..., Operation], *operands: Number) -> Computed:
    """Return the result of one operation."""

    def compute(insert: Insert, *values: SSAValue) -> SSAValue:
        return insert(cls(*values))

    return Computed(compute, operands)


def _compared(a: Number, predicate: str, b: Number) -> Computed:
    def compare(lhs: SSAValue, rhs: SSAValue) -> Operation:
        return arith.CmpiOp(lhs, rhs, predicate)

    return computed(compare, a, b)


def _arithmetic(
    function: Callable[[Size, Size], Size], cls: Callable[..., Operation], a: Number, b: Number
) -> Number:
    """Return the function of two sizes, or the operation on other numbers."""
    if isinstance(a, Size) and isinstance(b, Size):
        try:
            return function(a, b)
        except TooComplex:
            pass
    return computed(cls, a, b)


def plus(a: Number, b: Number) -> Number:
    return b if a == ZERO else a if b == ZERO else _arithmetic(Size.__add__, arith.AddiOp, a, b)


def minus(a: Number, b: Number) -> Number:
    return a if b == ZERO else _arithmetic(Size.__sub__, arith.SubiOp, a, b)


def times(a: Number, b: Number) -> Number:
    return b if a == ONE else a if b == ONE else _arithmetic(Size.__mul__, arith.MuliOp, a, b)


def product(numbers: Iterable[Number]) -> Number:
    """Return the product of numbers."""
    return reduce(times, numbers, ONE)


def quotient(a: Number, b: Number) -> Number:
    """Return the quotient by a positive number, rounded down; of a negative number that is no
    expression of sizes, toward zero."""
    if isinstance(a, Size) and b.known is not None:
        return a // b.known
    return a if b == ONE else computed(arith.DivSIOp, a, b)


def ceildiv(a: Number, b: int) -> Number:
    """Return the quotient by a positive integer, rounded up; for numbers of at least 0."""
    return quotient(plus(a, Size.of(b - 1)), Size.of(b))


def maximum(a: Number, b: Number) -> Number:
    if at_least(a, b) or at_least(b, a):
        return a if at_least(a, b) else b
    return computed(arith.MaxSIOp, a, b)


def minimum(a: Number, b: Number) -> Number:
    if at_least(a, b) or at_least(b, a):
        return b if at_least(a, b) else a
    return computed(arith.MinSIOp, a, b)


def positive(a: Number) -> Number:
    """Return a size for which the kernel asserts that it is not negative: 0 if it is, where it is
    computed before the kernel runs."""
    return a if isinstance(a, Size) else computed(arith.MaxSIOp, a, ZERO)


def less(a: Number, b: Number) -> Condition:
    """Return whether `a < b`."""
    if at_least(b, plus(a, ONE)) or at_least(a, b):
        return not at_least(a, b)
    return _compared(a, "slt", b)


def equal(a: Number, b: Number) -> Condition:
    """Return whether `a == b`."""
    if a == b:
        return True
    if less(a, b) is True or less(b, a) is True:
        return False
    return _compared(a, "eq", b)


def either(a: Condition, b: Condition) -> Condition:
    """Return the disjunction of conditions."""
    if isinstance(a, bool):
        return a or b
    return b or a if isinstance(b, bool) else computed(arith.OrIOp, a, b)


def select(condition: Condition, then: Number, otherwise: Number) -> Number:
    """Return one of two numbers."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return then if then == otherwise else computed(arith.SelectOp, condition, then, otherwise)
