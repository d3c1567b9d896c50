"""Extents of dimensions and loops: integers, and sizes that are known at run time only.

    n = extent_of(Size.symbol("n"))
    (n * 4 + 3) % 4     # 3
    n < n + 1           # True: sizes are at least 0
    n < 8               # raises UnknownExtent

Arithmetic is exact, and equal expressions are equal extents. A decision at compile time that
depends on the size raises UnknownExtent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, overload

from ..sizes import Size

__all__ = [
    "Extent",
    "Shape",
    "SymbolicExtent",
    "UnknownExtent",
    "extent_of",
    "is_at_most",
    "size_of",
    "volume",
]


class UnknownExtent(Exception):
    """Raised where code that is generated depends on a size that is known at run time only."""


@dataclass(frozen=True)
class SymbolicExtent:
    """An extent that is known at run time only: an expression of the sizes of parameters."""

    size: Size

    # Arithmetic

    def __add__(self, other: Extent) -> Extent:
        return extent_of(self.size + size_of(other))

    __radd__ = __add__

    def __neg__(self) -> Extent:
        return SymbolicExtent(-self.size)

    def __sub__(self, other: Extent) -> Extent:
        return extent_of(self.size - size_of(other))

    def __rsub__(self, other: int) -> Extent:
        return extent_of(size_of(other) - self.size)

    def __mul__(self, other: Extent) -> Extent:
        return extent_of(self.size * size_of(other))

    __rmul__ = __mul__

    def __floordiv__(self, divisor: Extent) -> Extent:
        """Return the quotient, rounded down, by a positive integer, or by a factor of the size."""
        if isinstance(divisor, int):
            return extent_of(self.size // divisor)
        if (quotient := self.size.divided_exactly(divisor.size)) is None:
            raise UnknownExtent(f"{self} divided by {divisor}")
        return extent_of(quotient)

    def __rfloordiv__(self, other: int) -> Extent:
        raise UnknownExtent(f"{other} divided by {self}")

    def __mod__(self, divisor: Extent) -> Extent:
        return self - self // divisor * divisor

    def __rmod__(self, other: int) -> Extent:
        raise UnknownExtent(f"{other} modulo {self}")

    # Decisions

    def __lt__(self, other: Extent) -> bool:
        if _at_least(other, self + 1):
            return True
        if _at_least(self, other):
            return False
        raise UnknownExtent(f"whether {self} < {other}")

    def __le__(self, other: Extent) -> bool:
        return self < other + 1

    def __gt__(self, other: Extent) -> bool:
        return not self <= other

    def __ge__(self, other: Extent) -> bool:
        return not self < other

    def __bool__(self) -> bool:
        return self > 0

    def __index__(self) -> int:
        raise UnknownExtent(f"the size {self} as a number")

    def __str__(self) -> str:
        return str(self.size)


Extent: TypeAlias = int | SymbolicExtent
Shape: TypeAlias = tuple[Extent, ...]


def extent_of(size: Size) -> Extent:
    """Return `size` as an extent: an integer if it is known."""
    return SymbolicExtent(size) if size.known is None else size.known


def is_at_most(lhs: Extent, rhs: Extent) -> bool:
    """Return whether `lhs <= rhs` is known."""
    return _at_least(rhs, lhs)


def size_of(extent: Extent) -> Size:
    """Return an extent as a size, known or not."""
    return Size.of(extent) if isinstance(extent, int) else extent.size


@overload
def volume(extents: Iterable[int]) -> int: ...


@overload
def volume(extents: Iterable[Extent]) -> Extent: ...


def volume(extents: Iterable[Extent]) -> Extent:
    """Return the product of extents: the elements of a tensor of this shape."""
    result: Extent = 1
    for extent in extents:
        result = result * extent
    return result


def _at_least(a: Extent, b: Extent) -> bool:
    """Return whether a >= b for all sizes."""
    low = (size_of(a) - size_of(b)).low
    return low is not None and low >= 0
