"""Dimensions of tensors as numbers. They are computed from facts about the values before an
operation: from types, or from symbolic shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..numbers import (
    Condition,
    Dimension,
    Element,
    Number,
    Symbolic,
    as_number,
    as_size,
    at_least,
    either,
    equal,
    maximum,
    non_negative,
    product,
    select,
)
from ..sizes import Size
from .constant import constant_integers
from .shapes import Shape, SymbolicSize, check_rank, normalize_axes
from .types import is_tensor, make_tensor_type, shape_of, static_shape

__all__ = [
    "Dimensions",
    "Facts",
    "TypeFacts",
    "along_axes",
    "axes_of",
    "dimensions_in",
    "dimensions_of",
    "is_axis",
    "kept",
    "known_shape",
    "number_in",
    "number_of",
    "numbers_of",
    "reshaped",
    "sizes_of",
    "symbolic_type",
]

Dimensions: TypeAlias = "Sequence[Number | None] | None"
"""The dimensions of a tensor, None for an unknown one; None for an unknown rank."""


class Facts(Protocol):
    """The types and elements that are known of the values before an operation."""

    def type_of(self, value: SSAValue) -> Attribute:
        """Return the type of a value; unknown sizes of a tensor have expressions in it."""
        ...

    def elements_of(self, value: SSAValue) -> Sequence[Size | None] | None:
        """Return the elements of a small integer vector or scalar, other than a constant."""
        ...


class TypeFacts:
    """The facts that types state."""

    def type_of(self, value: SSAValue) -> Attribute:
        return value.type

    def elements_of(self, value: SSAValue) -> None:
        return None


# Types


def sizes_of(numbers: Sequence[Number | Size | None]) -> Shape:
    """Return numbers as a shape, in which unknown sizes have expressions."""
    return tuple([_size(number) for number in numbers])


def _size(number: Number | Size | None) -> int:
    if number is None:
        return DYNAMIC_INDEX
    if isinstance(number, Size):
        number = as_number(number)
    return number if isinstance(number, int) and number >= 0 else SymbolicSize(number)


def symbolic_type(type: Attribute, shape: Sequence[Number | Size | None] | None) -> Attribute:
    """Return the tensor type with these dimensions, other types as they are."""
    if not is_tensor(type) or shape is None:
        return type
    return make_tensor_type(type.element_type, sizes_of(shape))


def dimensions_in(type: Attribute) -> Dimensions:
    """Return the dimensions of a tensor type; None for an unknown rank and for other types."""
    if not is_tensor(type) or (shape := shape_of(type)) is None:
        return None
    return [*map(number_in, shape)]


def number_in(size: int) -> Number | None:
    """Return the number that a size in a shape is; None for an unknown size."""
    if isinstance(size, SymbolicSize):
        return size.number
    return None if size == DYNAMIC_INDEX else size


def known_shape(dimensions: Dimensions) -> Shape | None:
    """Return the dimensions as a shape with the known sizes only."""
    if dimensions is None:
        return None
    return tuple([n if isinstance(n, int) and n >= 0 else DYNAMIC_INDEX for n in dimensions])


# Operands


def dimensions_of(facts: Facts, value: SSAValue) -> list[Number] | None:
    """Return the shape of a tensor as numbers; None for an unknown rank."""
    if (shape := dimensions_in(facts.type_of(value))) is None:
        return None
    return [Dimension(value, i) if size is None else size for i, size in enumerate(shape)]


def numbers_of(facts: Facts, parameter: SSAValue, count: int | None = None) -> list[Number] | None:
    """Return the integers of a parameter, a vector or a scalar. None if their number is not known;
    other operands may say that there are `count`. VerifyException for a number that is no rank."""
    if (shape := static_shape(parameter.type)) is not None:
        count = shape[0] if shape else 1
        check_rank(count)
    found = facts.elements_of(parameter)
    if found is None and (known := constant_integers(parameter)) is not None:
        return [*known]
    if found is None and count is None:
        return None
    found = found or [None] * (count or 0)
    return [Element(parameter, i) if n is None else as_number(n) for i, n in enumerate(found)]


def number_of(facts: Facts, parameter: SSAValue) -> Number:
    """Return the number in a scalar parameter, or in a vector of one element."""
    return (numbers_of(facts, parameter) or [Element(parameter, 0)])[0]


def axes_of(facts: Facts, parameter: SSAValue, rank: int) -> list[Number] | None:
    """Return the integers of a parameter that are axes; VerifyException if known ones are not."""
    numbers = numbers_of(facts, parameter)
    known = [number for number in numbers or () if isinstance(number, int)]
    normalize_axes(known, rank)
    return numbers


# Axes


def is_axis(number: Number, axis: int, rank: int) -> Condition:
    """Return whether an element of a list of axes, which may be negative, is `axis`."""
    return either(equal(number, axis), equal(number, axis - rank))


def along_axes(axes: Sequence[Number], rank: int) -> list[Condition]:
    """Return for each of `rank` dimensions whether it is one of `axes`."""
    rows: list[Condition] = []
    for axis in range(rank):
        found: Condition = False
        for number in axes:
            found = either(found, is_axis(number, axis, rank))
        rows.append(found)
    return rows


def kept(shape: Sequence[Number], gone: Sequence[Condition], removed: int) -> Dimensions:
    """Return the dimensions of a shape that are not `gone`; `removed` of them are."""
    if (rank := len(shape) - removed) < 0:
        raise VerifyException(f"cannot remove {removed} of {len(shape)} dimensions")
    if all(isinstance(is_gone, bool) for is_gone in gone):
        return [size for size, is_gone in zip(shape, gone, strict=True) if is_gone is False]
    sizes: list[Number] = [1] * rank
    place: Number = 0
    for size, is_gone in zip(shape, gone, strict=True):
        here = select(is_gone, -1, place)
        for axis in range(len(sizes)):
            sizes[axis] = select(equal(here, axis), size, sizes[axis])
        place = place + select(is_gone, 0, 1)
    return sizes


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

    rest = product(shape) // maximum(beside, 1)
    return [
        non_negative(select(equal(size, -1), rest, size)) if known is None else known
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
        if not isinstance(size, int | Symbolic) or size == -1:
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
