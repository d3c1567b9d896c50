"""Legalizations of sorting, which is stable; NaN comes last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.data import sorting as ops
from ...dialects.relax.dynamic.computation import DynamicTopkOp
from ...dialects.tir.builder import Index
from ...dialects.tir.extents import Extent, is_at_most
from ..builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from ..scalars import compare_integers, convert, is_float, select, widen
from ..sizes.parameters import parameters, require_sizes

__all__ = ["SORTING", "order", "topk_of"]


def comes_before(b: KernelBuilder, x: SSAValue, y: SSAValue, descending: bool) -> SSAValue:
    """Return whether `x` has to come before `y`; false if they are equal."""
    if descending:
        x, y = y, x
    if not is_float(x.type):
        return compare_integers(b, "slt", x, y)
    # "Less or unordered" holds if either is a NaN; that x is a number leaves the case that y is
    # one. So a number comes before a NaN, and of two NaNs none comes first, which keeps their
    # order.
    less = b.pure(arith.CmpfOp, x, y, arg="ult")
    return b.pure(arith.AndIOp, less, b.pure(arith.CmpfOp, x, x, arg="ord"))


def order(b: KernelBuilder, data: Buffer, axis: int, descending: bool) -> Tensor:
    """Return the indices that sort `data` along an axis, by a bottom-up merge sort.

    Each level merges pairs of sorted runs from one row of a buffer into the other. The log2(size)
    levels are unrolled if the size is known.
    """
    # Of 4 2 3 1, the rows hold the indices
    #
    #     0 1 2 3    runs of one element
    #     1 0 3 2    runs of two: 2 4, 1 3
    #     3 1 2 0    one run: 1 2 3 4
    #
    # and take turns as source and target. A merge sort is stable, needs no recursion, and takes the
    # same number of steps whatever the data are.
    size = data.shape[axis]
    outer_shape = (*data.shape[:axis], *data.shape[axis + 1 :])
    result = b.alloc((*outer_shape, size), i64)
    count = levels(b, size)
    with b.loops(outer_shape) as outer:
        rows = b.alloc((2, size), IndexType())
        with b.loop(size) as i:
            b.store(b.index(i), rows, [0, i])

        def level(number: Index, run: Index) -> None:
            """Merge the sorted runs of `run` elements each."""
            here = b.mod(number, 2)
            with b.loop(b.ceildiv(size, b.mul(2, run))) as pair:
                start = b.mul(pair, b.mul(2, run))
                middle = b.min(b.add(start, run), size)
                end = b.min(b.add(start, b.mul(2, run)), size)
                runs = Runs(rows, here, start, middle, end)
                merge(b, data, axis, outer, descending, runs)

        if isinstance(count, int):
            for number in range(count):
                level(number, 1 << number)
        else:
            with b.loop(count) as number:
                level(number, b.pure(arith.ShLIOp, b.index(1), b.index(number)))
        with b.loop(size) as i:
            b.store(convert(b, b.load(rows, [b.mod(count, 2), i]), i64), result, [*outer, i])
    return Elements(
        data.shape,
        i64,
        lambda b, index: b.load(result, [*index[:axis], *index[axis + 1 :], index[axis]]),
    )


def levels(b: KernelBuilder, size: Extent) -> Index:
    """Return how often runs have to be merged, from one element to `size`."""
    if isinstance(size, int):
        return max(0, size - 1).bit_length()

    # Runs of 2^62 elements are longer than any dimension.
    def counted(number: SSAValue, index: list[Index]) -> SSAValue:
        run = b.pure(arith.ShLIOp, b.index(1), b.index(index[0]))
        return b.index(b.add(number, select(b, b.less(run, size), 1, 0)))

    return b.accumulate((62,), b.index(0), counted)


@dataclass(frozen=True)
class Runs:
    """Two sorted runs of indices, `start` to `middle` and `middle` to `end` of row `here` of a
    buffer, which are merged into the other of its two rows."""

    rows: SSAValue
    here: Index
    start: Index
    middle: Index
    end: Index


def merge(
    b: KernelBuilder,
    data: Buffer,
    axis: int,
    outer: Sequence[Index],
    descending: bool,
    runs: Runs,
) -> None:
    """Write a loop that merges two sorted runs."""
    left, right = (b.alloc((1,), IndexType(), "local") for _ in range(2))
    b.store(b.index(runs.start), left, [0])
    b.store(b.index(runs.middle), right, [0])
    end = runs.end

    def element(place: SSAValue) -> SSAValue:
        return widen(b, b.read(data, [*outer[:axis], place, *outer[axis:]]))

    with b.loop(b.sub(end, runs.start), min=runs.start) as place:
        i, j = b.load(left, [0]), b.load(right, [0])
        # The indices are clamped: of a run that is used up an element is read, but not taken.
        last = b.sub(end, 1)
        first, second = (b.load(runs.rows, [runs.here, b.min(k, last)]) for k in (i, j))
        before = comes_before(b, element(second), element(first), descending)
        right_left, left_done = (
            b.less(j, end),
            b.pure(arith.CmpiOp, i, b.index(runs.middle), arg="sge"),
        )
        take_second = b.all([right_left, b.pure(arith.OrIOp, left_done, before)])
        taken = b.pure(arith.SelectOp, take_second, second, first)
        b.store(taken, runs.rows, [b.sub(1, runs.here), place])
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
    if op.k >= 1 and not is_at_most(op.k, size := data.shape[axis]):
        b.require(b.less(op.k - 1, size), f"{op.name}: k exceeds dimension {axis}", op)
    return first_in_order(op, b, data, op.largest, axis)


def topk_of(op: DynamicTopkOp, b: KernelBuilder, data: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    axis, (number,) = op.axis % len(data.shape), parameters(b, k)
    size = data.shape[axis]
    b.require(b.less(number, b.add(size, 1)), f"{op.name}: k exceeds dimension {axis}", op)
    selected = select(b, b.less(number, 1), size, number)
    for result in op.results:
        shape = (*data.shape[:axis], selected, *data.shape[axis + 1 :])
        require_sizes(op, b, b.shape_of(result), shape)
    return first_in_order(op, b, data, op.largest, axis)


def first_in_order(
    op: ops.TopkOp | DynamicTopkOp, b: KernelBuilder, data: Tensor, largest: bool, axis: int
) -> tuple[Tensor, Tensor]:
    """Return as many elements as the results have along an axis, in order, and their indices."""
    data = b.buffered(data)
    indices = order(b, data, axis, largest)
    first = Elements(b.shape_of(op.indices), i64, indices.read)
    return at_indices(data, first, axis), first


SORTING: dict[type[Operation], Legalization] = {
    ops.ArgsortOp: argsort,
    ops.SortOp: sort,
    ops.TopkOp: topk,
}
