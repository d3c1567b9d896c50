"""Broadcasting of sizes. Some of them are known at run time only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from xdsl.dialects import arith
from xdsl.ir import Operation

from ....dialects.tir.extents import Extent, Shape, SymbolicExtent
from ..builder import KernelBuilder

__all__ = ["broadcast_shape", "require_broadcast"]


def broadcast_shape(op: Operation, b: KernelBuilder, shapes: Sequence[Shape]) -> Shape:
    """Return the shape to which `shapes` broadcast by numpy's rule. Write assertions that they do,
    unless that is known."""
    columns = zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
    return tuple(broadcast_size(op, b, column) for column in columns)[::-1]


def broadcast_size(op: Operation, b: KernelBuilder, sizes: Sequence[Extent]) -> Extent:
    """Return the size to which dimensions of `sizes` broadcast: that of one that is not 1, chosen
    at run time if it is not known of any."""
    left = [*dict.fromkeys(size for size in sizes if size != 1)]
    if not left:
        return 1
    # A known size that is not 1 is the result, whatever the others are: they have to be it, or 1.
    result = next((size for size in left if isinstance(size, int)), left[0])
    if not isinstance(result, int):
        for size in left[1:]:
            result = chosen(b, result, size)
    for size in left:
        require_broadcast(op, b, (size,), (result,))
    return result


def require_broadcast(op: Operation, b: KernelBuilder, shape: Shape, to: Shape) -> None:
    """Write assertions that a tensor of `shape` broadcasts to a shape, unless that is known."""
    for size, result in zip(shape[::-1], to[::-1], strict=False):
        if size not in (1, result):
            fits = b.pure(arith.OrIOp, b.equal(size, result), b.equal(size, 1))
            b.require(fits, f"{op.name}: the operands do not broadcast", op)


def chosen(b: KernelBuilder, lhs: Extent, rhs: Extent) -> SymbolicExtent:
    """Return the one of two sizes that is not 1."""
    # At the start of the function: the size is a new symbol, which all shapes after it may use.
    is_one = b.at_start(arith.CmpiOp(b.index(lhs), b.index(1), "eq"))
    return b.symbol(b.at_start(arith.SelectOp(is_one, b.index(rhs), b.index(lhs))))
