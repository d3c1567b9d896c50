"""The sizes of unknown dimensions for which functions are checked.

A transformation is wrong for some sizes and right for others where it tiles, vectorizes or splits:
at the ends of the tiles, which are constants in the IR, and most often powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, ShapedType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from ....passmanager.ir.walk import walk

__all__ = ["MAX_CONSTANT", "MAX_SIZES", "POWERS", "sizes_around_constants", "sizes_for"]

POWERS = (0, 1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65)
"""The sizes around powers of two."""
MAX_CONSTANT = 4096
"""The maximum of the constants around which sizes are chosen."""
MAX_SIZES = 24
"""The most sizes for the constants of one function, in ascending order."""


def sizes_for(func: Operation) -> Sequence[int]:
    """Return the sizes for a function: around powers of two, and around its constants."""
    return [*dict.fromkeys((*POWERS, *sizes_around_constants(func)))]


def sizes_around_constants(func: Operation) -> Sequence[int]:
    """Return each constant of a function with its neighbours: of integers, in attributes such as
    the sizes of tiles, and of dimensions."""
    constants: set[int] = set()
    for op in walk(func):
        for attribute in (*op.properties.values(), *op.attributes.values()):
            constants.update(_integers(attribute))
        for result in op.results:
            if isinstance(type := result.type, ShapedType):
                constants.update(type.get_shape())
    near = {n for c in constants if 1 < c <= MAX_CONSTANT for n in (c - 1, c, c + 1)}
    return sorted(near - {*POWERS})[:MAX_SIZES]


def _integers(attribute: Attribute) -> Iterator[int]:
    if isinstance(attribute, IntegerAttr):
        yield attribute.value.data
    elif isa(attribute, DenseArrayBase[IntegerType]):
        yield from attribute.get_values()
