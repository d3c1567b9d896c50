"""Dimensions that several rules compute, from what is known of the values before an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import zip_longest
from math import frexp, isfinite
from typing import Any, Protocol, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, f64, i64
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.constant import constant_integers
from ...dialects.relax.shapes import MAX_SIZE
from ...dialects.relax.types import static_shape
from ...dialects.sizes import Size
from .numbers import (
    ONE,
    ZERO,
    Computed,
    Condition,
    Element,
    Insert,
    Number,
    at_least,
    ceildiv,
    either,
    equal,
    less,
    maximum,
    minimum,
    minus,
    plus,
    positive,
    product,
    quotient,
    select,
    times,
)

__all__ = [
    "MINUS_ONE",
    "Dimensions",
    "Facts",
    "Rule",
    "Rules",
    "broadcast_dimensions",
    "is_axis",
    "number_of",
    "numbers_of",
    "replaced",
    "reshaped",
    "scaled",
    "slice_length",
]

Dimensions: TypeAlias = "Sequence[Number | None] | None"

Rule: TypeAlias = "Callable[[Any, Facts], Sequence[Dimensions] | None]"
"""A function that returns the dimensions of each result of an operation, None for what is not
known."""

Rules: TypeAlias = Sequence[tuple[type[Operation] | tuple[type[Operation], ...], Rule]]
"""The rules of classes of operations."""

MINUS_ONE = Size.of(-1)


class Facts(Protocol):
    """The shapes and elements that are known of the values before an operation."""

    def of(self, value: SSAValue) -> Sequence[Number] | None:
        """Return the shape of a tensor; None for an unknown rank."""
        ...

    def elements_of(self, value: SSAValue) -> Sequence[Size | None] | None:
        """Return the elements of a small integer vector or scalar."""
        ...


def replaced(shape: Sequence[Number], axis: int, *sizes: Number | None) -> Dimensions:
    """Return `shape` with other sizes in the place of a dimension."""
    return [*shape[:axis], *sizes, *shape[axis + 1 :]]


def numbers_of(
    facts: Facts, parameter: SSAValue | Sequence[int] | int, count: int | None = None
) -> list[Number] | None:
    """Return the integers of a parameter, a property or an operand: a vector, or a scalar. None if
    their number is not known; other operands may say that there are `count`."""
    if not isinstance(parameter, SSAValue):
        return [*map(Size.of, [parameter] if isinstance(parameter, int) else parameter)]
    if (shape := static_shape(parameter.type)) is not None:
        count = shape[0] if shape else 1
    found = facts.elements_of(parameter)
    if found is None and (known := constant_integers(parameter)) is not None:
        found = [*map(Size.of, known)]
    if found is None and count is None:
        return None
    found = found or [None] * (count or 0)
    return [Element(parameter, i) if size is None else size for i, size in enumerate(found)]


def number_of(facts: Facts, parameter: SSAValue | int) -> Number:
    """Return the number in a scalar parameter, or in a vector of one element."""
    if isinstance(parameter, int):
        return Size.of(parameter)
    return (numbers_of(facts, parameter) or [Element(parameter, 0)])[0]


def is_axis(number: Number, axis: int, rank: int) -> Condition:
    """Return whether an element of a list of axes, which may be negative, is `axis`."""
    return either(equal(number, Size.of(axis)), equal(number, Size.of(axis - rank)))


# Element-wise


def broadcast_dimensions(*shapes: Dimensions) -> Dimensions:
    """Return the dimensions to which shapes broadcast by numpy's rule."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    columns = zip_longest(*(reversed(shape) for shape in known), fillvalue=ONE)
    return [_broadcast(column) for column in columns][::-1]


def _broadcast(sizes: Sequence[Number | None]) -> Number | None:
    """Return the size to which sizes broadcast: one that is not 1."""
    # Equal symbolic sizes are one: `n` with `n` and 1 is `n`.
    left = dict.fromkeys(size for size in sizes if size != ONE)
    known = [size for size in left if size is not None]
    if len(left) < 2:
        return next(iter(left), ONE)
    # Different sizes: a valid program broadcasts to the one that is not 1 in any run. Of `n` and
    # `4` that is 4, whether n is 1 or 4; of `n` and `m` a run knows.
    for size in known:
        if size.known == 0 or (size.low or 0) > 1:
            return size
    if len(known) < len(left):
        return None
    return reduce(lambda a, b: select(equal(a, ONE), b, a), known)


# Views


def reshaped(
    shape: Sequence[Number] | None, target: Sequence[Number], allowzero: bool
) -> Dimensions:
    """Return the dimensions of a reshape: sizes that are given, copied from the data, or what the
    other sizes leave of it."""
    sure = _surely_reshaped(shape, target, allowzero)
    if shape is None:
        return sure
    row = [
        size if allowzero or i >= len(shape) else select(equal(size, ZERO), shape[i], size)
        for i, size in enumerate(target)
    ]
    beside = product(select(equal(size, MINUS_ONE), ONE, size) for size in row)

    def computed_size(size: Number) -> Number:
        rest = quotient(product(shape), maximum(beside, ONE))
        return positive(select(equal(size, MINUS_ONE), rest, size))

    return [
        computed_size(size) if known is None else known
        for size, known in zip(row, sure, strict=True)
    ]


def _surely_reshaped(
    shape: Sequence[Number] | None, target: Sequence[Number], allowzero: bool
) -> list[Number | None]:
    """Return the dimensions of a reshape that are expressions of sizes.

    A size of the target that is 0 in some run is the copied dimension then, unless `allowzero`; a
    size is sure if that dimension is 0 too. The -1 is known if the sizes beside it are either
    positive, or equal to the dimensions that they would copy.
    """
    # Of `(n, 4, 6)` to `[0, -1]`: the 0 copies `n`, and the -1 is `4 * 6`; the copied size need not
    # be divided out, which a symbolic one that may be 0 could not be.
    copied: set[int] = set()
    result: list[Number | None] = []
    sure = True
    for i, size in enumerate(target):
        old = shape[i] if shape is not None and i < len(shape) else None
        # An unknown element may be 0 or -1 itself: nothing is sure beside it.
        if not isinstance(size, Size) or size.known == -1:
            result.append(None)
            sure = sure and isinstance(size, Size)
        elif size.known == 0 and not allowzero:
            result.append(old)
            copied.add(i)
            sure = sure and old is not None
        elif not size.is_positive() and not allowzero and old is not None:
            # `size` may be 0 in a run, and means `old` then: the same only if `old` is 0 in that
            # run too.
            never_negative = old == size or at_least(size, ZERO)
            vanishes = isinstance(old, Size) and old.vanishes_with(size)
            result.append(size if never_negative and vanishes else None)
            sure = sure and old == size
            copied.add(i)
        elif size.is_positive() or (allowzero and at_least(size, ZERO)):
            result.append(size)
        else:
            result.append(None)
            sure = False
    minus = [i for i, size in enumerate(target) if size.known == -1]
    if len(minus) == 1 and sure and shape is not None:
        total = product(d for i, d in enumerate(shape) if i not in copied)
        given = [d for i, d in enumerate(result) if i not in copied and i not in minus]
        beside = product(d for d in given if d is not None)
        # Without terms it is 0, by which nothing is divided.
        if isinstance(total, Size) and isinstance(beside, Size) and beside.terms:
            result[minus[0]] = total.divided_exactly(beside)
    return result


# Slices


def slice_length(size: Number, begin: Number, end: Number, step: Number) -> Number:
    """Return the number of elements of a Python slice of a dimension; for a step of 0, of one with
    a step of 1."""
    is_down = less(step, ZERO)
    low = select(is_down, MINUS_ONE, ZERO)
    high = plus(size, low)

    def bound(number: Number) -> Number:
        """Return a bound of the slice, counted from the first element and clamped."""
        if number.known is not None and abs(number.known) >= MAX_SIZE:
            return high if number.known > 0 else low
        if number == low == ZERO:
            return ZERO
        # Counted from the end: -1 of `n` is `n - 1`.
        number = select(less(number, ZERO), plus(number, size), number)
        return maximum(minimum(number, high), low)

    first, last = bound(begin), bound(end)
    distance = select(is_down, minus(first, last), minus(last, first))
    # A slice that ends before it starts is empty, not of negative length.
    if step.known is not None:
        return ceildiv(maximum(distance, ZERO), abs(step.known) or 1)
    step = select(is_down, minus(ZERO, step), step)
    step = select(equal(step, ZERO), ONE, step)
    # Not as in `ceildiv`: the step may be the greatest integer.
    whole = plus(quotient(minus(distance, ONE), step), ONE)
    return select(less(distance, ONE), ZERO, whole)


# Scales


def scaled(size: Number, scale: float) -> Number:
    """Return the product of a size and a scale, rounded down; that with an integer or a power of 2
    is an expression of the size."""
    if isfinite(scale) and scale > 0:
        if scale == int(scale):
            return times(size, Size.of(int(scale)))
        # `floor(n * scale)` is computed in floats: 161 * (1 / 161) is below 1. Powers of 2 are
        # exact.
        fraction, _ = frexp(scale)
        if fraction == 0.5:
            return quotient(size, Size.of(int(1 / scale)))

    def compute(insert: Insert, value: SSAValue) -> SSAValue:
        number = insert(arith.SIToFPOp(insert(arith.IndexCastOp(value, i64)), f64))
        factor = insert(arith.ConstantOp(FloatAttr(scale, f64)))
        number = insert(arith.FPToSIOp(insert(arith.MulfOp(number, factor)), i64))
        return insert(arith.IndexCastOp(number, IndexType()))

    return Computed(compute, (size,))
