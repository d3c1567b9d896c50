"""Shape inference rules. A shape is a tuple of sizes; DYNAMIC_INDEX stands for an unknown size.

The rules are for symbolic sizes too: an unknown size may have an expression (`SymbolicSize`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor, frexp, isfinite, prod
from typing import Self, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from ..numbers import (
    Computed,
    Number,
    Symbolic,
    at_least,
    ceildiv,
    equal,
    less,
    maximum,
    minimum,
    product,
    select,
)
from ..sizes import Size

__all__ = [
    "MAX_RANK",
    "MAX_SIZE",
    "Shape",
    "SymbolicSize",
    "broadcast",
    "broadcast_dimension",
    "broadcast_numbers",
    "broadcast_sizes",
    "check_rank",
    "combined_size",
    "computed_size",
    "is_static",
    "matmul",
    "merge",
    "normalize_axes",
    "normalize_axis",
    "num_elements",
    "reduce",
    "replace_dimension",
    "scaled",
    "shape_text",
    "slice_length",
    "widen",
]

Shape: TypeAlias = tuple[int, ...]

MAX_RANK = 1 << 16
"""The most dimensions of a tensor whose rank is computed."""

MAX_SIZE = (1 << 63) - 1
"""The largest dimension, and the largest number of elements that is computed with."""


class SymbolicSize(int):
    """An unknown size, equal to DYNAMIC_INDEX, with an expression of other sizes.

    The operand types of an operation have such sizes while `compiler/analysis/shapes` infers the
    shapes of its results. Two of them are equal if their expressions are.
    """

    number: Number

    def __new__(cls, number: Number) -> Self:
        size = super().__new__(cls, DYNAMIC_INDEX)
        size.number = number
        return size

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SymbolicSize):
            return self.number is other.number or self.number == other.number
        return other == DYNAMIC_INDEX

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        # Not that of DYNAMIC_INDEX, though equal to it: a cache by shapes that has seen one of
        # them must not answer for the other.
        return hash(self.number)


def computed_size(rule: Callable[[Number], Number], size: int) -> int:
    """Return the size that `rule` computes from one size, as `combined_size`."""
    if size != DYNAMIC_INDEX:
        return cast(int, rule(size))
    return _size(rule(size.number)) if isinstance(size, SymbolicSize) else DYNAMIC_INDEX


def combined_size(rule: Callable[[Sequence[Number]], Number], sizes: Sequence[int]) -> int:
    """Return the size that `rule` computes from `sizes`: DYNAMIC_INDEX if one is unknown, with an
    expression if all unknown ones have one."""
    if DYNAMIC_INDEX not in sizes:
        return cast(int, rule(sizes))
    numbers = [size.number if isinstance(size, SymbolicSize) else size for size in sizes]
    return DYNAMIC_INDEX if DYNAMIC_INDEX in numbers else _size(rule(numbers))


def _size(number: Number) -> int:
    return number if isinstance(number, int) else SymbolicSize(number)


def shape_text(shape: Shape) -> str:
    """Return the shape as in a tensor type (`4x?`), `scalar` for rank 0; for messages."""
    return "x".join("?" if d == DYNAMIC_INDEX else str(d) for d in shape) or "scalar"


def check_rank(rank: int) -> None:
    """Raise VerifyException for a rank that no tensor has."""
    if rank > MAX_RANK:
        raise VerifyException(f"a tensor of {rank} dimensions")


def is_static(shape: Shape) -> bool:
    """Return whether every dimension is known."""
    return DYNAMIC_INDEX not in shape


def num_elements(shape: Iterable[int]) -> int:
    """Return the number of elements, which is 0 if one dimension is; DYNAMIC_INDEX if unknown."""
    dimensions = (*shape,)
    if 0 in dimensions:
        return 0
    if is_static(dimensions):
        return prod(dimensions)
    return combined_size(product, dimensions)


def replace_dimension(shape: Shape, axis: int, *dimensions: int) -> Shape:
    """Return the shape with dimension `axis` replaced by `dimensions`, of any number."""
    return shape[:axis] + dimensions + shape[axis + 1 :]


def broadcast(lhs: Shape, rhs: Shape) -> Shape:
    """Return the shape to which two shapes broadcast by numpy's rule.

    An unknown dimension is assumed to be compatible: with 1 it stays unknown, with n > 1 it becomes
    n. VerifyException if two dimensions are incompatible.
    """
    if lhs == rhs:
        return lhs
    rank = max(len(lhs), len(rhs))
    result: list[int] = []
    for i, (a, b) in enumerate(zip(_pad(lhs, rank), _pad(rhs, rank), strict=True)):
        if (dimension := broadcast_dimension(a, b)) is None:
            raise VerifyException(
                f"shapes {shape_text(lhs)} and {shape_text(rhs)} do not broadcast: "
                f"dimension {i} is {a} and {b}"
            )
        result.append(dimension)
    return tuple(result)


def broadcast_dimension(a: int, b: int) -> int | None:
    """Return the size to which two sizes broadcast; None if they are incompatible."""
    if DYNAMIC_INDEX not in (a, b):
        return a if b in (a, 1) else b if a == 1 else None
    known = max(a, b)
    if known not in (DYNAMIC_INDEX, 1):
        return known
    return combined_size(lambda sizes: broadcast_numbers(*sizes), (a, b))


def broadcast_numbers(a: Number, b: Number) -> Number:
    """Return the size to which two sizes broadcast, at least one of them unknown."""
    # Equal symbolic sizes are one: `n` with `n` and 1 is `n`.
    if a == b or b == 1:
        return a
    # Different sizes: a valid program broadcasts to the one that is not 1 in any run. Of `n` and
    # `4` that is 4, whether n is 1 or 4; of `n` and `m` a run knows.
    for size in (a, b):
        if size == 0 or at_least(size, 2):
            return size
    return select(equal(a, 1), b, a)


def broadcast_sizes(number: Number) -> tuple[Size, Size] | None:
    """Return the two operands of `broadcast_numbers` if `number` is its result and depends on which
    of them is 1 at run time; None otherwise."""
    match number:
        case Computed("select", (Computed("eq", (Symbolic() as a, 1)), other, c)) if a is c:
            return (a.size, other.size) if isinstance(other, Symbolic) else None
        case _:
            return None


def matmul(lhs: Shape, rhs: Shape) -> Shape:
    """Return the shape of `numpy.matmul`.

    A vector is one row on the left and one column on the right; leading dimensions broadcast.
    VerifyException if the shapes are incompatible.
    """
    if not lhs or not rhs:
        raise VerifyException(
            f"shapes {shape_text(lhs)} and {shape_text(rhs)} do not multiply: "
            "each operand needs at least one dimension"
        )
    columns, rows = lhs[-1], rhs[-2:][0]
    if columns != rows and DYNAMIC_INDEX not in (columns, rows):
        raise VerifyException(
            f"shapes {shape_text(lhs)} and {shape_text(rhs)} do not multiply: "
            f"{columns} columns on the left, {rows} rows on the right"
        )
    batch = broadcast(lhs[:-2], rhs[:-2])
    return batch + lhs[-2:-1] + (rhs[-1:] if len(rhs) > 1 else ())


def normalize_axis(axis: int, rank: int) -> int:
    """Return `axis` counted from the first one; VerifyException if it is out of range."""
    if not -rank <= axis < rank:
        raise VerifyException(
            f"axis {axis} is out of range for a tensor of rank {rank}"
            + (f": expected {-rank} to {rank - 1}" if rank else "")
        )
    return axis % rank


def normalize_axes(axes: Sequence[int], rank: int) -> Sequence[int]:
    """Return `axes` counted from the first one; VerifyException if out of range or repeated."""
    normal = [normalize_axis(axis, rank) for axis in axes]
    for i, axis in enumerate(normal):
        if axis in normal[:i]:
            raise VerifyException(f"axes {list(axes)} name axis {axis} twice")
    return normal


def reduce(shape: Shape, axes: Sequence[int] | None, keepdims: bool) -> Shape:
    """Return the shape without `axes`, all of them if None; with `keepdims` they get size 1."""
    gone = range(len(shape)) if axes is None else normalize_axes(axes, len(shape))
    if keepdims:
        return tuple(1 if i in gone else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in gone)


def merge(lhs: Shape, rhs: Shape) -> Shape | None:
    """Return the more precise combination of two descriptions of one shape; None if they conflict.

    `merge((2, ?), (?, 3)) == (2, 3)`.
    """
    if lhs == rhs:
        return lhs
    if len(lhs) != len(rhs):
        return None
    if any(a != b and DYNAMIC_INDEX not in (a, b) for a, b in zip(lhs, rhs, strict=True)):
        return None
    # DYNAMIC_INDEX is negative: the maximum is the known size.
    return tuple(max(a, b) for a, b in zip(lhs, rhs, strict=True))


def widen(lhs: Shape, rhs: Shape) -> Shape | None:
    """Return the most precise shape that describes two different shapes; None if ranks differ.

    `widen((2, 3), (2, 4)) == (2, ?)`.
    """
    if len(lhs) != len(rhs):
        return None
    return tuple(a if a == b else DYNAMIC_INDEX for a, b in zip(lhs, rhs, strict=True))


def _pad(shape: Shape, rank: int) -> Shape:
    """Prepend dimensions of size 1."""
    return (1,) * (rank - len(shape)) + shape


def slice_length(size: Number, begin: Number, end: Number, step: Number) -> Number:
    """Return the number of elements of a Python slice of a dimension; for a step of 0, of one with
    a step of 1."""
    if isinstance(begin, int) and isinstance(end, int) and isinstance(step, int):
        if isinstance(size, int):
            return len(range(*slice(begin, end, step or 1).indices(size)))
    is_down = less(step, 0)
    low = select(is_down, -1, 0)
    high = size + low

    def bound(number: Number) -> Number:
        """Return a bound of the slice, counted from the first element and clamped."""
        if isinstance(number, int) and abs(number) >= MAX_SIZE:
            return high if number > 0 else low
        if number == low == 0:
            return 0
        # Counted from the end: -1 of `n` is `n - 1`.
        number = select(less(number, 0), number + size, number)
        return maximum(minimum(number, high), low)

    first, last = bound(begin), bound(end)
    distance = select(is_down, first - last, last - first)
    # A slice that ends before it starts is empty, not of negative length.
    if isinstance(step, int):
        return ceildiv(maximum(distance, 0), abs(step) or 1)
    step = select(is_down, -step, step)
    step = select(equal(step, 0), 1, step)
    # Not as in `ceildiv`: the step may be the maximum of an integer type.
    whole = (distance - 1) // step + 1
    return select(less(distance, 1), 0, whole)


def scaled(size: Number, scale: float) -> Number:
    """Return the product of a size and a scale, rounded down; that with an integer or a power of 2
    is an expression of the size."""
    if isinstance(size, int):
        return floor(size * scale)
    if isfinite(scale) and scale > 0:
        if scale == int(scale):
            return size * int(scale)
        # `floor(n * scale)` is computed in floats: 161 * (1 / 161) is below 1. Powers of 2 are
        # exact.
        fraction, _ = frexp(scale)
        if fraction == 0.5:
            return size // int(1 / scale)
    return Computed("scale", (size, scale))
