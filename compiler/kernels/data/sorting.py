"""Legalizations of sorting, which is stable; NaN comes last."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.data import sorting as ops
from ....dialects.relax.dynamic.computation import DynamicTopkOp
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent, is_at_most
from ..builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from ..scalars import as_index, convert
from ..sizes.parameters import parameters, require_sizes
from .merge_sort import RUN, allocate_rows, key_of, key_type, select_first, sort_rows

__all__ = ["SORTING", "order", "topk_of"]


def order(b: KernelBuilder, data: Tensor, axis: int, descending: bool, count: Extent) -> Tensor:
    """Return the indices of the elements of `data` that are first along an axis in sorted order, as
    many as `count`."""
    data = b.buffered(data)
    size = data.shape[axis]
    shape = (*data.shape[:axis], count, *data.shape[axis + 1 :])
    result = b.alloc(shape, i64)
    with b.loops((*shape[:axis], *shape[axis + 1 :])) as outer:
        rows = allocate_rows(b, size, key_type(data.element))
        with b.loop(size) as i:
            element = b.read(data, [*outer[:axis], i, *outer[axis:]])
            rows.store(b, 0, i, key_of(b, element, descending), i)
        selects = worth_selecting(size, count)
        if selects:
            select_first(b, rows, size, count)
        row = sort_rows(b, rows, count if selects else size)
        with b.loop(count) as i:
            place = convert(b, b.index(rows.place(b, row, i)), i64)
            b.store(place, result, [*outer[:axis], i, *outer[axis:]])
    return Buffer(shape, i64, result)


def worth_selecting(size: Extent, count: Extent) -> bool:
    """Return whether to select `count` of `size` elements before they are sorted."""
    if isinstance(size, int) and isinstance(count, int):
        return size > 2 * RUN and count <= size // 2
    return size != count


def at_indices(data: Tensor, indices: Tensor, axis: int) -> Elements:
    """Return the elements of `data` at `indices` along `axis`."""

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = as_index(b, b.read(indices, index))
        return b.read(data, [*index[:axis], place, *index[axis + 1 :]])

    return Elements(indices.shape, data.element, compute)


def argsort(op: ops.ArgsortOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    return order(b, data, axis, op.descending, data.shape[axis])


def sort(op: ops.SortOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    return at_indices(data, order(b, data, axis, op.descending, data.shape[axis]), axis)


def topk(op: ops.TopkOp, b: KernelBuilder, data: Tensor) -> tuple[Tensor, Tensor]:
    axis = op.axis % len(data.shape)
    if op.k >= 1 and not is_at_most(op.k, size := data.shape[axis]):
        b.require(b.less(op.k - 1, size), f"{op.name}: k exceeds dimension {axis}", op)
    return first_in_order(op, b, data, op.largest, axis)


def topk_of(op: DynamicTopkOp, b: KernelBuilder, data: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    axis, (number,) = op.axis % len(data.shape), parameters(b, k)
    size = data.shape[axis]
    b.require(b.less(number, size + 1), f"{op.name}: k exceeds dimension {axis}", op)
    selected = b.select(b.less(number, 1), size, number)
    for result in op.results:
        shape = (*data.shape[:axis], selected, *data.shape[axis + 1 :])
        require_sizes(op, b, b.shape_of(result), shape)
    return first_in_order(op, b, data, op.largest, axis)


def first_in_order(
    op: ops.TopkOp | DynamicTopkOp, b: KernelBuilder, data: Tensor, largest: bool, axis: int
) -> tuple[Tensor, Tensor]:
    """Return as many elements as the results have along an axis, in order, and their indices."""
    first = order(b, data, axis, largest, b.shape_of(op.indices)[axis])
    return at_indices(data, first, axis), first


SORTING: dict[type[Operation], Legalization] = {
    ops.ArgsortOp: argsort,
    ops.SortOp: sort,
    ops.TopkOp: topk,
}
