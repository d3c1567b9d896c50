"""Legalizations of reductions and scans along axes that are operands.

Both loop nests run over all dimensions: a reduced axis has one iteration in the outer nest, any
other dimension has one iteration in the inner nest.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from ...dialects.numbers import product
from ...dialects.relax.dynamic.computation import DynamicCumprodOp, DynamicCumsumOp, DynamicReduceOp
from ...dialects.relax.dynamic.data_movement import DynamicStridedSliceOp
from ...dialects.relax.shapes import normalize_axes
from ...dialects.tir.builder import Index
from ...dialects.tir.functions import Shape, volume
from .builder import KernelBuilder, Legalization, Store, Tensor
from .data.indexing import first_of
from .data.manipulation import Part, sliced
from .reduction.reduction import FUNCTIONS, over_count
from .reduction.scan import PRODUCTS, SUMS, Scan
from .scalars import computable, convert, select, step_type, wide_type
from .tensors import (
    any_of,
    constant_parameter,
    is_axis,
    parameters,
    require_axes,
    require_sizes,
    scheduled,
)


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
        # For the shape (2, 3) and axis 1, outer is (2, 1) and inner (1, 3); place = outer + inner.
        # No loop of this nest has a known extent, so none is vectorized. The case is rare: models
        # have constant axes.
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
        # For the shape (2, 3, 4) and axis 1: rows 2, size 3, columns 4, computed at run time. The
        # buffer has one dimension, as views of it in these sizes have the same row-major positions.
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


# Legalization of slices whose bounds are operands. Axes and strides may be operands, too.


def strided_slice(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    data: Tensor,
    begin: Tensor,
    end: Tensor,
    axes: Tensor,
    strides: Tensor,
) -> Tensor:
    known, steps = constant_parameter(op, b, op.axes), constant_parameter(op, b, op.strides)
    begins = parameters(b, begin)
    if known is not None and steps is not None:
        rows = zip(normalize_axes(known, len(data.shape)), begins, steps, strict=True)
        parts: dict[int, Part] = {
            axis: (first_of(b, start, step, data.shape[axis]), step) for axis, start, step in rows
        }
    else:
        parts = parts_along(op, b, data.shape, parameters(b, axes), begins, parameters(b, strides))
    require_inside(op, b, data.shape, parts)
    return sliced(op, b, data, parts)


def parts_along(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    shape: Shape,
    axes: Sequence[Index],
    begins: Sequence[Index],
    steps: Sequence[Index],
) -> dict[int, Part]:
    """Return the slice of each dimension, its first position and its step, for axes and steps that
    may be known at run time only."""
    rank = len(shape)
    require_axes(op, b, axes, rank)
    for step in steps:
        b.require(b.negation(b.equal(step, 0)), f"{op.name}: a stride is 0", op)
    parts: dict[int, Part] = {}
    for axis, size in enumerate(shape):
        first: Index = 0
        by: Index = 1
        for place, begin, step in zip(axes, begins, steps, strict=True):
            along = is_axis(b, place, axis, rank)
            # `axes` has each dimension once at most, so at most one of these selects changes it.
            first = b.select(along, first_of(b, begin, step, size), first)
            by = b.select(along, step, by)
        parts[axis] = first, by
    return parts


def require_inside(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    shape: Shape,
    parts: dict[int, Part],
) -> None:
    """Assert that a slice with as many elements as the buffer of the result is inside of the
    data."""
    result = b.shape_of(op.result)
    for axis, (first, step) in parts.items():
        # Callers compute the size from `end`, by a shape rule; `end` is not read here. Whatever
        # size the rule gave, memory is safe if the last element is inside.
        last = first + (result[axis] - 1) * step
        inside = b.all(b.inside_bounds(last, 0, shape[axis]))
        empty = b.equal(result[axis], 0)
        b.require(
            select(b, empty, empty, inside), f"{op.name}: the slice exceeds dimension {axis}", op
        )
