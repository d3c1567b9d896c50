"""Operations that order elements: NaN last, equal elements in their order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import sorting as ops
from ....dialects.relax.types import static_shape
from ....dialects.tir.builder import Index
from .kernel_builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from .scalars import convert, is_float, widen

__all__ = ["SORTING"]


def comes_before(w: KernelBuilder, x: SSAValue, y: SSAValue, descending: bool) -> SSAValue:
    """Whether an element has to come before another: false of equal ones."""
    if descending:
        x, y = y, x
    if not is_float(x.type):
        return w.pure(arith.CmpiOp, x, y, arg="slt")
    less = w.pure(arith.CmpfOp, x, y, arg="ult")
    return w.pure(arith.AndIOp, less, w.pure(arith.CmpfOp, x, x, arg="ord"))


def order(w: KernelBuilder, data: Buffer, axis: int, descending: bool) -> Tensor:
    """The indices of the elements along an axis in order, by merging: at each level runs of sorted
    indices, two at a time, go from one buffer to the other."""
    size = data.shape[axis]
    outer_shape = (*data.shape[:axis], *data.shape[axis + 1 :])
    result = w.alloc((*outer_shape, size), i64)
    with w.loops(outer_shape) as outer:
        here, there = w.alloc((size,), IndexType()), w.alloc((size,), IndexType())
        with w.loop(size) as i:
            w.store(w.index(i), here, [i])
        run = 1
        while run < size:
            with w.loop(-(-size // (2 * run))) as pair:
                start = w.mul(pair, 2 * run)
                middle = w.min(w.add(start, run), size)
                end = w.min(w.add(start, 2 * run), size)
                merge(w, data, axis, outer, descending, here, there, (start, middle, end))
            here, there = there, here
            run *= 2
        with w.loop(size) as i:
            w.store(convert(w, w.load(here, [i]), i64), result, [*outer, i])
    return Elements(
        data.shape,
        i64,
        lambda w, index: w.load(result, [*index[:axis], *index[axis + 1 :], index[axis]]),
    )


def merge(
    w: KernelBuilder,
    data: Buffer,
    axis: int,
    outer: Sequence[Index],
    descending: bool,
    source: SSAValue,
    target: SSAValue,
    bounds: tuple[Index, Index, Index],
) -> None:
    """Write a loop that merges two runs of sorted indices: which of the first elements that are
    left comes before the other, that one is next."""
    start, middle, end = bounds
    left, right = (w.alloc((1,), IndexType(), "local") for _ in range(2))
    w.store(w.index(start), left, [0])
    w.store(w.index(middle), right, [0])

    def element(place: SSAValue) -> SSAValue:
        return widen(w, w.read(data, [*outer[:axis], place, *outer[axis:]]))

    with w.loop(w.sub(end, start), min=start) as place:
        i, j = w.load(left, [0]), w.load(right, [0])
        # Of a run that is at its end, an element is read that is there, and not taken.
        last = w.sub(end, 1)
        first, second = (w.load(source, [w.min(k, last)]) for k in (i, j))
        before = comes_before(w, element(second), element(first), descending)
        some, none = w.less(j, end), w.pure(arith.CmpiOp, i, w.index(middle), arg="sge")
        take_second = w.all([some, w.pure(arith.OrIOp, none, before)])
        w.store(w.pure(arith.SelectOp, take_second, second, first), target, [place])
        step = w.pure(arith.SelectOp, take_second, w.index(1), w.index(0))
        w.store(w.index(w.add(j, step)), right, [0])
        w.store(w.index(w.add(i, w.sub(1, step))), left, [0])


def at_indices(data: Tensor, indices: Tensor, axis: int) -> Elements:
    """The elements at indices along an axis."""

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = w.pure(arith.IndexCastOp, w.read(indices, index), target_type=IndexType())
        return w.read(data, [*index[:axis], place, *index[axis + 1 :]])

    return Elements(indices.shape, data.element, compute)


def argsort(op: ops.ArgsortOp, w: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    return order(w, w.buffered(data), axis, op.descending)


def sort(op: ops.SortOp, w: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    data = w.buffered(data)
    return at_indices(data, order(w, data, axis, op.descending), axis)


def topk(op: ops.TopkOp, w: KernelBuilder, data: Tensor) -> tuple[Tensor, Tensor]:
    axis = op.axis % len(data.shape)
    data = w.buffered(data)
    indices = order(w, data, axis, op.largest)
    shape = static_shape(op.indices.type)
    assert shape is not None
    first = Elements(shape, i64, indices.read)
    return at_indices(data, first, axis), first


SORTING: dict[type[Operation], Legalization] = {
    ops.ArgsortOp: argsort,
    ops.SortOp: sort,
    ops.TopkOp: topk,
}
