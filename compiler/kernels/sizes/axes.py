"""Legalizations of reductions and scans along axes that are operands.

The loops are over all dimensions: an axis that is reduced has one iteration in the outer nest, and
the other dimensions have one in the inner nest.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation

from ....dialects.numbers import product
from ....dialects.relax.dynamic.computation import (
    DynamicCumprodOp,
    DynamicCumsumOp,
    DynamicReduceOp,
)
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import volume
from ..builder import KernelBuilder, Legalization, Store, Tensor
from ..reduction.reduction import FUNCTIONS, over_count
from ..reduction.scan import PRODUCTS, SUMS, Scan
from ..scalars import (
    computable,
    convert,
    step_type,
    wide_type,
)
from ..tensors import scheduled
from .parameters import any_of, is_axis, parameters, require_axes, require_sizes

__all__ = ["DYNAMIC_AXES"]


def reduce_along(op: DynamicReduceOp, b: KernelBuilder, data: Tensor, axes: Tensor) -> Tensor:
    rank, places, result = len(data.shape), parameters(b, axes), b.shape_of(op.result)
    require_axes(op, b, places, rank)
    inner: list[Index] = []
    outer: list[Index] = []
    for axis, size in enumerate(data.shape):
        if not places:
            inner.append(1 if op.noop_with_empty_axes else size)
            outer.append(size if op.noop_with_empty_axes else 1)
            continue
        # Of shape (2, 3) over axis 1, outer is (2, 1) and inner (1, 3); place = outer + inner. No
        # loop of this nest has an extent that is known, so none is vectorized: models have constant
        # axes.
        gone = any_of(b, [is_axis(b, place, axis, rank) for place in places])
        inner.append(b.select(gone, size, 1))
        outer.append(b.select(gone, 1, size))
    if op.keepdims:
        require_sizes(op, b, result, outer)
    else:
        whole = b.equal(volume(result), product(outer))
        b.require(whole, f"{op.name}: the result has another size than the axes give", op)
    element, is_mean = computable(data.element), op.reduction == "mean"
    type = wide_type(element) if is_mean else step_type(element)
    combine, identity = FUNCTIONS[op.reduction]

    def loops(store: Store) -> None:
        with b.loops(outer) as index:
            total = b.variable(b.number(identity(element), type))
            with b.loops(inner) as along:
                place = [i + j for i, j in zip(index, along, strict=True)]
                x = convert(b, b.read(data, place), type)
                b.store(combine(b, b.load(total, [0]), x), total, [0])
            value = b.load(total, [0])
            if is_mean:
                value = over_count(b, value, product(inner))
            store([b.flat(index, outer)], convert(b, value, element))

    return scheduled(op, b, (volume(result),), element, loops)


def scan_along(scan: Scan) -> Legalization:
    """Legalize a scan along an axis that is an operand: loops over the rows before and the columns
    after the axis."""

    def legalize(
        op: DynamicCumsumOp | DynamicCumprodOp, b: KernelBuilder, data: Tensor, axis: Tensor
    ) -> Tensor:
        rank, (place,) = len(data.shape), parameters(b, axis)
        require_axes(op, b, [place], rank)
        require_sizes(op, b, b.shape_of(op.result), data.shape)
        place = b.select(b.less(place, 0), place + rank, place)
        element: Attribute = computable(data.element)
        rows: Index = 1
        size: Index = 1
        columns: Index = 1
        for number, extent in enumerate(data.shape):
            rows = rows * b.select(b.less(number, place), extent, 1)
            size = size * b.select(b.equal(place, number), extent, 1)
            columns = columns * b.select(b.less(place, number), extent, 1)
        # Of shape (2, 3, 4) along axis 1: rows 2, size 3, columns 4, computed at run time. The
        # buffer is one dimension, as views of it in these sizes have the same row-major positions.
        count = volume(data.shape)
        source = b.reshaped(data, (count,))

        def loops(store: Store) -> None:
            with b.loops([rows, columns]) as (row, column):

                def position(place: Index) -> list[Index]:
                    return [b.flat([row, place, column], [rows, size, columns])]

                scan.write(
                    op,
                    b,
                    size,
                    element,
                    lambda place: b.read(source, position(place)),
                    lambda place, value: store(position(place), value),
                )

        return scheduled(op, b, (count,), element, loops)

    return legalize


DYNAMIC_AXES: dict[type[Operation], Legalization] = {
    DynamicCumprodOp: scan_along(PRODUCTS),
    DynamicCumsumOp: scan_along(SUMS),
    DynamicReduceOp: reduce_along,
}
