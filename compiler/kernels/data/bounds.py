"""Checks that indices from data are in bounds, before a kernel reads or writes at them.

A kernel first reads all indices, combines the results of the comparisons, and asserts once that all
hold. The loops that follow access memory without checks, and nothing is accessed after a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, UnknownExtent, is_at_most, volume
from ..builder import KernelBuilder, Tensor
from ..scalars import as_index


def check_indices(
    op: Operation, b: KernelBuilder, value: SSAValue, indices: Tensor, axis: int, size: Extent
) -> None:
    """Assert that `indices`, the operand `value` of `op`, are in a dimension of `size` elements,
    -size to size - 1: negative ones count from the end."""
    known = f" with size {size}" if isinstance(size, int) else ""
    message = f"an index is out of bounds for axis {axis}{known}"
    if is_known(op, b, value, (-size, size - 1), message):
        return
    check(op, b, indices.shape, lambda at: is_index(b, b.read(indices, at), size), message)


def check_coordinates(
    op: Operation, b: KernelBuilder, value: SSAValue, indices: Tensor, sizes: Shape
) -> None:
    """Assert that coordinates are inside dimensions of `sizes`. The last dimension of `indices` has
    the coordinates of one element."""
    if all(within(b.range_of(value), (-size, size - 1)) for size in sizes):
        return
    shape = "x".join(str(size) if isinstance(size, int) else "?" for size in sizes)
    message = f"a coordinate is out of bounds for dimensions {shape}"

    def holds(at: Sequence[Index]) -> SSAValue:
        return b.all([is_index(b, b.read(indices, [*at, i]), n) for i, n in enumerate(sizes)])

    check(op, b, indices.shape[:-1], holds, message)


def check_lengths(
    op: Operation, b: KernelBuilder, value: SSAValue, lengths: Tensor, size: Extent
) -> None:
    """Assert that `lengths`, the operand `value` of `op`, are at most `size`."""
    known = f" of {size} elements" if isinstance(size, int) else ""
    message = f"a length exceeds the sequence{known}"
    if is_known(op, b, value, (None, size), message):
        return
    check(
        op, b, lengths.shape, lambda at: b.less(as_index(b, b.read(lengths, at)), size + 1), message
    )


Range: TypeAlias = tuple[Extent | None, Extent]
"""The minimum number, if there is one, and the maximum."""


def is_known(op: Operation, b: KernelBuilder, value: SSAValue, bounds: Range, message: str) -> bool:
    """Return whether all elements of a constant operand are known to be in bounds. Warn of
    `message` if there is one call only, and its constant is out of the bounds of a dimension of
    known size."""
    known = b.range_of(value)
    wrong = known is not None and isinstance(bounds[1], int) and not within(known, bounds)
    if wrong and len(b.constants_of[value]) == 1:
        b.warnings.append((op, message))
    return within(known, bounds)


def within(known: tuple[int, int] | None, bounds: Range) -> bool:
    """Return whether a range is known to be in bounds."""
    low, high = bounds
    try:
        return known is not None and (low is None or low <= known[0]) and known[1] <= high
    except UnknownExtent:
        return False


def is_index(b: KernelBuilder, value: SSAValue, size: Extent) -> SSAValue:
    """Return the condition that an index is -size, ..., size - 1."""
    # One unsigned comparison instead of two. With size 3, the indices -3 ... 2 become 0 ... 5. The
    # index -4 becomes the largest unsigned number, and the largest i64 wraps around to a number far
    # above 6.
    shifted = as_index(b, value) + size
    return b.pure(arith.CmpiOp, b.index(shifted), b.index(2 * size), arg="ult")


def check(
    op: Operation,
    b: KernelBuilder,
    shape: Shape,
    holds: Callable[[Sequence[Index]], SSAValue],
    message: str,
) -> None:
    """Assert that a condition holds at all indices of a tensor of `shape`."""
    message = f"{op.name}: {message}"
    if volume(shape) == 1:
        b.require(holds([0] * len(shape)), message, op)
    elif b.target.is_cuda:
        with b.loops(shape) as at:  # each lane of a tile asserts for itself
            b.require(holds(at), message, op)
    elif volume(shape) != 0:
        # A loop without a branch, and one assertion after it. It does not say which index failed.
        # The indices are read twice, which costs little compared to the elements that they select.
        every = b.accumulate(shape, b.number(True, i1), lambda x, at: b.all([x, holds(at)]))
        b.require(every, message, op)


def require_elements(op: Operation, b: KernelBuilder, what: str, size: Extent) -> None:
    """Assert that `what`, a dimension of `size`, has elements, unless the result of `op` has none.
    An index cannot be clipped into an empty dimension, or wrapped around in it."""
    count = volume(b.shape_of(op.results[0]))
    if count == 0 or is_at_most(1, size):
        return
    holds = b.pure(arith.OrIOp, b.less(0, size), b.equal(count, 0))
    b.require(holds, f"{op.name}: {what} has no elements", op)


def require_size(op: Operation, b: KernelBuilder, size: Extent, given: Index, axis: int) -> None:
    """Assert that dimension `axis` of the result, of `size`, has the size that the parameters
    give."""
    if size != given:
        b.require(
            b.equal(size, given),
            f"{op.name}: dimension {axis} of the result has another size than the parameters give",
            op,
        )
