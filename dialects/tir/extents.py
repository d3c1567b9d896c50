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

from ..numbers import PYTHON, Function, Term, product
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
class SymbolicExtent(Term["Extent", "Extent"]):
    """An extent that is known at run time only: an expression of the sizes of parameters."""

    size: Size

    def apply(self, function: Function, a: Extent, b: Extent) -> Extent:
        """Return a function of two extents. The divisor is a positive integer, or a factor of the
        dividend."""
        if function == "mod":
            return a - a // b * b
        if function != "floordiv":
            return extent_of(PYTHON[function](size_of(a), size_of(b)))
        if isinstance(b, int):
            return extent_of(size_of(a) // b)
        if (quotient := size_of(a).divided_exactly(b.size)) is None:
            raise UnknownExtent(f"{a} divided by {b}")
        return extent_of(quotient)

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
SymbolicExtent.partners = (int, SymbolicExtent)


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
    return product(extents)


def _at_least(a: Extent, b: Extent) -> bool:
    """Return whether a >= b for all sizes."""
    low = (size_of(a) - size_of(b)).low
    return low is not None and low >= 0
