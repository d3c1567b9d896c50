"""Legalizations of sorting, which is stable; NaN comes last."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import sorting as ops
from ....dialects.relax.types import static_shape
from ....dialects.tir.builder import Index
from .kernel_builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from .scalars import compare_integers, convert, is_float, widen

__all__ = ["SORTING"]


def comes_before(b: KernelBuilder, x: SSAValue, y: SSAValue, descending: bool) -> SSAValue:
    """Return whether `x` has to come before `y`; false if they are equal."""
    if descending:
        x, y = y, x
    if not is_float(x.type):
        return compare_integers(b, "slt", x, y)
    less = b.pure(arith.CmpfOp, x, y, arg="ult")
    return b.pure(arith.AndIOp, less, b.pure(arith.CmpfOp, x, x, arg="ord"))


def order(b: KernelBuilder, data: Buffer, axis: int, descending: bool) -> Tensor:
    """Return the indices that sort `data` along an axis, by a bottom-up merge sort.

    Each level merges pairs of sorted runs from one buffer into the other. The log2(size) levels are
    unrolled.
    """
    size = data.shape[axis]
    outer_shape = (*data.shape[:axis], *data.shape[axis + 1 :])
    result = b.alloc((*outer_shape, size), i64)
    with b.loops(outer_shape) as outer:
        here, there = b.alloc((size,), IndexType()), b.alloc((size,), IndexType())
        with b.loop(size) as i:
            b.store(b.index(i), here, [i])
        run = 1
        while run < size:
            with b.loop(-(-size // (2 * run))) as pair:
                start = b.mul(pair, 2 * run)
                middle = b.min(b.add(start, run), size)
                end = b.min(b.add(start, 2 * run), size)
                merge(b, data, axis, outer, descending, here, there, (start, middle, end))
            here, there = there, here
            run *= 2
        with b.loop(size) as i:
            b.store(convert(b, b.load(here, [i]), i64), result, [*outer, i])
    return Elements(
        data.shape,
        i64,
        lambda b, index: b.load(result, [*index[:axis], *index[axis + 1 :], index[axis]]),
    )


def merge(
    b: KernelBuilder,
    data: Buffer,
    axis: int,
    outer: Sequence[Index],
    descending: bool,
    source: SSAValue,
    target: SSAValue,
    bounds: tuple[Index, Index, Index],
) -> None:
    """Write a loop that merges the sorted runs `start` to `middle` and `middle` to `end` of the
    indices in `source` into `target`."""
    start, middle, end = bounds
    left, right = (b.alloc((1,), IndexType(), "local") for _ in range(2))
    b.store(b.index(start), left, [0])
    b.store(b.index(middle), right, [0])

    def element(place: SSAValue) -> SSAValue:
        return widen(b, b.read(data, [*outer[:axis], place, *outer[axis:]]))

    with b.loop(b.sub(end, start), min=start) as place:
        i, j = b.load(left, [0]), b.load(right, [0])
        # The indices are clamped: of a run that is used up an element is read, but not taken.
        last = b.sub(end, 1)
        first, second = (b.load(source, [b.min(k, last)]) for k in (i, j))
        before = comes_before(b, element(second), element(first), descending)
        right_left, left_done = b.less(j, end), b.pure(arith.CmpiOp, i, b.index(middle), arg="sge")
        take_second = b.all([right_left, b.pure(arith.OrIOp, left_done, before)])
        b.store(b.pure(arith.SelectOp, take_second, second, first), target, [place])
        step = b.pure(arith.SelectOp, take_second, b.index(1), b.index(0))
        b.store(b.index(b.add(j, step)), right, [0])
        b.store(b.index(b.add(i, b.sub(1, step))), left, [0])


def at_indices(data: Tensor, indices: Tensor, axis: int) -> Elements:
    """Return the elements of `data` at `indices` along `axis`."""

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = b.pure(arith.IndexCastOp, b.read(indices, index), target_type=IndexType())
        return b.read(data, [*index[:axis], place, *index[axis + 1 :]])

    return Elements(indices.shape, data.element, compute)


def argsort(op: ops.ArgsortOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    return order(b, b.buffered(data), axis, op.descending)


def sort(op: ops.SortOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    data = b.buffered(data)
    return at_indices(data, order(b, data, axis, op.descending), axis)


def topk(op: ops.TopkOp, b: KernelBuilder, data: Tensor) -> tuple[Tensor, Tensor]:
    axis = op.axis % len(data.shape)
    data = b.buffered(data)
    indices = order(b, data, axis, op.largest)
    shape = static_shape(op.indices.type)
    assert shape is not None
    first = Elements(shape, i64, indices.read)
    return at_indices(data, first, axis), first


SORTING: dict[type[Operation], Legalization] = {
    ops.ArgsortOp: argsort,
    ops.SortOp: sort,
    ops.TopkOp: topk,
}
