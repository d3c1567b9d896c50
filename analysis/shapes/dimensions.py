"""Dimensions that several rules compute, from what is known of the values before an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.numbers import (
    Condition,
    Dimension,
    Element,
    Number,
    as_number,
    as_size,
    at_least,
    either,
    equal,
    maximum,
    positive,
    product,
    quotient,
    select,
)
from ...dialects.relax.constant import constant_integers
from ...dialects.relax.shapes import SymbolicSize
from ...dialects.relax.types import is_tensor, make_tensor_type, shape_of, static_shape
from ...dialects.sizes import Size

__all__ = [
    "Dimensions",
    "Facts",
    "Rule",
    "Rules",
    "dimensions_in",
    "dimensions_of",
    "is_axis",
    "number_of",
    "numbers_of",
    "replaced",
    "reshaped",
    "symbolic_type",
]

Dimensions: TypeAlias = "Sequence[Number | None] | None"

Rule: TypeAlias = "Callable[[Any, Facts], Sequence[Dimensions] | None]"
"""A function that returns the dimensions of each result of an operation, None for what is not
known."""

Rules: TypeAlias = Sequence[tuple[type[Operation] | tuple[type[Operation], ...], Rule]]
"""The rules of classes of operations."""


class Facts(Protocol):
    """The shapes and elements that are known of the values before an operation."""

    def of(self, value: SSAValue) -> Sequence[Size | Dimension] | None:
        """Return the shape of a tensor; None for an unknown rank."""
        ...

    def type_of(self, value: SSAValue) -> Attribute:
        """Return the type of a value; unknown sizes of a tensor have expressions in it."""
        ...

    def elements_of(self, value: SSAValue) -> Sequence[Size | None] | None:
        """Return the elements of a small integer vector or scalar."""
        ...


def symbolic_type(type: Attribute, shape: Dimensions) -> Attribute:
    """Return the tensor type with these dimensions, other types as they are."""
    if not is_tensor(type) or shape is None:
        return type
    return make_tensor_type(type.element_type, tuple([_symbolic_size(n) for n in shape]))


def _symbolic_size(number: Number | None) -> int:
    if number is None:
        return DYNAMIC_INDEX
    number = as_number(number)
    return number if isinstance(number, int) and number >= 0 else SymbolicSize(number)


def dimensions_in(type: Attribute | None) -> Dimensions:
    """Return the dimensions of a tensor type; None for an unknown rank and for other types."""
    if type is None or not is_tensor(type) or (shape := shape_of(type)) is None:
        return None
    return [
        size.number if isinstance(size, SymbolicSize) else None if size == DYNAMIC_INDEX else size
        for size in shape
    ]


def dimensions_of(facts: Facts, value: SSAValue) -> list[Number] | None:
    """Return the shape of a tensor as numbers; None for an unknown rank."""
    shape = facts.of(value)
    return None if shape is None else [*map(as_number, shape)]


def replaced(shape: Sequence[Number], axis: int, *sizes: Number | None) -> Dimensions:
    """Return `shape` with other sizes in the place of a dimension."""
    return [*shape[:axis], *sizes, *shape[axis + 1 :]]


def numbers_of(facts: Facts, parameter: SSAValue, count: int | None = None) -> list[Number] | None:
    """Return the integers of a parameter, a vector or a scalar. None if their number is not known;
    other operands may say that there are `count`."""
    if (shape := static_shape(parameter.type)) is not None:
        count = shape[0] if shape else 1
    found = facts.elements_of(parameter)
    if found is None and (known := constant_integers(parameter)) is not None:
        found = [*map(Size.of, known)]
    if found is None and count is None:
        return None
    found = found or [None] * (count or 0)
    return [
        Element(parameter, i) if size is None else as_number(size) for i, size in enumerate(found)
    ]


def number_of(facts: Facts, parameter: SSAValue) -> Number:
    """Return the number in a scalar parameter, or in a vector of one element."""
    return (numbers_of(facts, parameter) or [Element(parameter, 0)])[0]


def is_axis(number: Number, axis: int, rank: int) -> Condition:
    """Return whether an element of a list of axes, which may be negative, is `axis`."""
    return either(equal(number, axis), equal(number, axis - rank))


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
        size if allowzero or i >= len(shape) else select(equal(size, 0), shape[i], size)
        for i, size in enumerate(target)
    ]
    beside = product(select(equal(size, -1), 1, size) for size in row)

    def computed_size(size: Number) -> Number:
        rest = quotient(product(shape), maximum(beside, 1))
        return positive(select(equal(size, -1), rest, size))

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
        if not isinstance(size, int | Size) or size == -1:
            result.append(None)
            sure = sure and size == -1
        elif size == 0 and not allowzero:
            result.append(old)
            copied.add(i)
            sure = sure and old is not None
        elif not at_least(size, 1) and not allowzero and old is not None:
            # `size` may be 0 in a run, and means `old` then: the same only if `old` is 0 in that
            # run too.
            never_negative = old == size or at_least(size, 0)
            left, right = as_size(old), as_size(size)
            vanishes = left is not None and right is not None and left.vanishes_with(right)
            result.append(size if never_negative and vanishes else None)
            sure = sure and old == size
            copied.add(i)
        elif at_least(size, 1) or (allowzero and at_least(size, 0)):
            result.append(size)
        else:
            result.append(None)
            sure = False
    minus = [i for i, size in enumerate(target) if size == -1]
    if len(minus) == 1 and sure and shape is not None:
        total = product(d for i, d in enumerate(shape) if i not in copied)
        given = [d for i, d in enumerate(result) if i not in copied and i not in minus]
        beside = product(d for d in given if d is not None)
        whole, part = as_size(total), as_size(beside)
        # Without terms it is 0, by which nothing is divided.
        if whole is not None and part is not None and part.terms:
            rest = whole.divided_exactly(part)
            result[minus[0]] = None if rest is None else as_number(rest)
    return result
