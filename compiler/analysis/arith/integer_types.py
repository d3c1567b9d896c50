"""Types of integers: widths and ranges."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from .bounds.ranges import Range

__all__ = ["BOOLEAN", "INDEX", "INDEX_WIDTH", "bit_width", "is_integer", "range_of_type"]

BOOLEAN = IntegerType(1)
INDEX = IndexType()

INDEX_WIDTH = -1
"""The `bit_width` of an index, which is not known and does not overflow."""


def is_integer(type: Attribute) -> bool:
    """Return whether a value of `type` is a scalar integer or an index."""
    return isinstance(type, IndexType | IntegerType)


def bit_width(type: Attribute) -> int:
    """Return the bits of an integer type, INDEX_WIDTH for an index, 0 for any other type."""
    if isinstance(type, IndexType):
        return INDEX_WIDTH
    return type.bitwidth if isinstance(type, IntegerType) else 0


def range_of_type(type: Attribute) -> Range:
    """Return the values of an integer type, taken as signed unless it is i1; all for any other."""
    return Range() if isinstance(type, IndexType) else _range_of_width(bit_width(type))


@cache
def _range_of_width(width: int) -> Range:
    if width == 0:
        return Range()
    # True counts as 1. For signed predicates it is -1: `Linearizer.comparison` leaves out those on
    # i1.
    if width == 1:
        return Range(0, 1)
    return Range(-(1 << (width - 1)), (1 << (width - 1)) - 1)
