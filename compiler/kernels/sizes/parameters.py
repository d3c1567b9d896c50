"""Parameters that kernels read at run time: elements of operands as indices, and checks of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent, volume
from ..builder import KernelBuilder, Tensor
from ..data.bounds import require_size
from ..no_kernel import NoKernel
from ..scalars import as_index

__all__ = [
    "any_of",
    "constant_parameter",
    "is_axis",
    "parameters",
    "require_axes",
    "require_sizes",
]


def parameters(b: KernelBuilder, values: Tensor) -> list[Index]:
    """Return the elements of a parameter, an integer vector or a scalar, as indices; NoKernel if
    their number is not known."""
    if not isinstance(count := volume(values.shape), int):
        raise NoKernel("the number of its parameters is not known")
    rank = len(values.shape)
    return [as_index(b, b.read(values, [i] * rank)) for i in range(count)]


def constant_parameter(op: Operation, b: KernelBuilder, value: SSAValue) -> list[int] | None:
    """Return the integers of a parameter of `op`; None if it is not the same constant in each
    call."""
    rows = {tuple(array.ravel().tolist()) for array in b.elements_of(value)}
    return [*rows.pop()] if len(rows) == 1 else None


def any_of(b: KernelBuilder, conditions: Sequence[SSAValue]) -> SSAValue:
    """Return the disjunction of one or more `conditions`."""
    value, *rest = conditions
    for condition in rest:
        value = b.pure(arith.OrIOp, value, condition)
    return value


def is_axis(b: KernelBuilder, element: Index, axis: int, rank: int) -> SSAValue:
    """Return whether an element of a list of axes, which may be negative, is `axis`."""
    return any_of(b, [b.equal(element, axis), b.equal(element, axis - rank)])


def require_axes(op: Operation, b: KernelBuilder, axes: Sequence[Index], rank: int) -> None:
    """Assert that `axes` are dimensions of a tensor of that rank, each at most once."""
    for i, axis in enumerate(axes):
        inside = b.all(b.inside_bounds(axis, -rank, rank))
        b.require(inside, f"{op.name}: an axis is out of bounds for rank {rank}", op)
        for other in axes[:i]:
            # For rank 3, -1 and 2 are the same axis: their distance is the rank.
            distance = axis - other
            same = any_of(b, [b.equal(distance, n) for n in (-rank, 0, rank)])
            b.require(b.negation(same), f"{op.name}: an axis is given twice", op)


def require_sizes(
    op: Operation, b: KernelBuilder, sizes: Sequence[Extent], given: Sequence[Index]
) -> None:
    """Assert that the result has the sizes that parameters give."""
    for axis, pair in enumerate(zip(sizes, given, strict=True)):
        require_size(op, b, *pair, axis)
