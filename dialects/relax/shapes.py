"""Shape inference rules. A shape is a tuple of sizes; DYNAMIC_INDEX stands for an unknown size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

__all__ = [
    "MAX_RANK",
    "MAX_SIZE",
    "Shape",
    "broadcast",
    "broadcast_dimension",
    "check_rank",
    "is_static",
    "matmul",
    "merge",
    "normalize_axes",
    "normalize_axis",
    "num_elements",
    "reduce",
    "replace_dimension",
    "shape_text",
    "times",
    "widen",
]

Shape: TypeAlias = tuple[int, ...]

MAX_RANK = 1 << 16
"""The most dimensions of a tensor whose rank is computed."""

MAX_SIZE = (1 << 63) - 1
"""The largest dimension, and the largest number of elements that is computed with."""


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


def times(*factors: int) -> int:
    """Return the product of sizes: unknown if one is unknown, even if another is 0."""
    return DYNAMIC_INDEX if DYNAMIC_INDEX in factors else prod(factors)


def num_elements(shape: Iterable[int]) -> int:
    """Return the number of elements, which is 0 if one dimension is; DYNAMIC_INDEX if unknown."""
    dimensions = (*shape,)
    if 0 in dimensions:
        return 0
    return prod(dimensions) if is_static(dimensions) else DYNAMIC_INDEX


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
    if a == b or b == 1:
        return a
    if a == 1 or a == DYNAMIC_INDEX:
        return b
    return a if b == DYNAMIC_INDEX else None


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
