"""Legalizations of reductions and scans along axes that are operands.

The loops are over all dimensions: an axis that is reduced has one iteration in the outer nest, and
the other dimensions have one in the inner nest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relax.dynamic.computation import DynamicCumprodOp, DynamicCumsumOp, DynamicReduceOp
from ...dialects.tir.builder import Index
from ...dialects.tir.extents import volume
from ..builder import KernelBuilder, Legalization, Store, Tensor
from ..elementwise.binary import quotient
from ..reduction.reduction import Bound, Function
from ..scalars import (
    add,
    computable,
    convert,
    divide,
    greatest,
    is_float,
    is_unsigned,
    least,
    maximum,
    minimum,
    multiply,
    select,
    step_type,
    wide_type,
    widen,
)
from ..tensors import scheduled
from .parameters import any_of, is_axis, parameters, require_axes, require_sizes

__all__ = ["DYNAMIC_AXES"]

REDUCTIONS: dict[str, tuple[Function, Bound]] = {
    "sum": (add, lambda _: 0),
    "mean": (add, lambda _: 0),
    "max": (maximum, least),
    "min": (minimum, greatest),
    "prod": (multiply, lambda _: 1),
}
"""Functions of two elements, and their identities."""


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
        gone = any_of(b, [is_axis(b, place, axis, rank) for place in places])
        inner.append(select(b, gone, size, 1))
        outer.append(select(b, gone, 1, size))
    if op.keepdims:
        require_sizes(op, b, result, outer)
    else:
        whole = b.equal(volume(result), product(b, outer))
        b.require(whole, f"{op.name}: the result has another size than the axes give", op)
    element, is_mean = computable(data.element), op.reduction == "mean"
    type = wide_type(element) if is_mean else step_type(element)
    combine, identity = REDUCTIONS[op.reduction]

    def loops(store: Store) -> None:
        with b.loops(outer) as index:
            total = b.alloc((1,), type, "local")
            b.store(b.number(identity(element), type), total, [0])
            with b.loops(inner) as along:
                place = [b.add(*pair) for pair in zip(index, along, strict=True)]
                x = convert(b, b.read(data, place), type)
                b.store(combine(b, b.load(total, [0]), x), total, [0])
            value = b.load(total, [0])
            if is_mean:
                value = over(b, value, product(b, inner))
            store([flat(b, index, outer)], convert(b, value, element))

    return scheduled(op, b, (volume(result),), element, loops)


def over(b: KernelBuilder, total: SSAValue, count: Index) -> SSAValue:
    """Return the mean of elements that are `count`, from their sum."""
    if is_float(total.type):
        return divide(b, total, convert(b, b.index(count), total.type))
    number = convert(b, b.index(b.max(count, 1)), total.type)
    return divide(b, total, number) if is_unsigned(total.type) else quotient(b, total, number)


def product(b: KernelBuilder, extents: Sequence[Index]) -> Index:
    return reduce(b.mul, extents, 1)


def flat(b: KernelBuilder, index: Sequence[Index], extents: Sequence[Index]) -> Index:
    """Return the row-major position of an element of a tensor of these extents."""
    position: Index = 0
    for i, extent in zip(index, extents, strict=True):
        position = b.add(b.mul(position, extent), i)
    return position


def scan_along(function: Callable[..., SSAValue], identity: int) -> Legalization:
    """Legalize a scan by `function`, whose identity is `identity`, along an axis that is an
    operand: loops with a running total over the rows before and the columns after the axis."""

    def legalize(
        op: DynamicCumsumOp | DynamicCumprodOp, b: KernelBuilder, data: Tensor, axis: Tensor
    ) -> Tensor:
        rank, (place,) = len(data.shape), parameters(b, axis)
        require_axes(op, b, [place], rank)
        require_sizes(op, b, b.shape_of(op.result), data.shape)
        place = select(b, b.less(place, 0), b.index(b.add(place, rank)), place)
        element: Attribute = computable(data.element)
        rows: Index = 1
        size: Index = 1
        columns: Index = 1
        for number, extent in enumerate(data.shape):
            rows = b.mul(rows, select(b, b.less(number, place), extent, 1))
            size = b.mul(size, select(b, b.equal(place, number), extent, 1))
            columns = b.mul(columns, select(b, b.less(place, number), extent, 1))
        count = volume(data.shape)
        source = b.reshaped(data, (count,))

        def loops(store: Store) -> None:
            with b.loops([rows, columns]) as (row, column):
                total = b.alloc((1,), step_type(element), "local")
                b.store(b.number(identity, step_type(element)), total, [0])
                with b.loop(size) as j:
                    at = b.sub(b.sub(size, 1), j) if op.reverse else j
                    position = b.add(b.mul(b.add(b.mul(row, size), at), columns), column)
                    before = b.load(total, [0])
                    after = function(b, before, widen(b, b.read(source, [position])))
                    b.store(after, total, [0])
                    store([position], convert(b, before if op.exclusive else after, element))

        return scheduled(op, b, (count,), element, loops)

    return legalize


DYNAMIC_AXES: dict[type[Operation], Legalization] = {
    DynamicCumprodOp: scan_along(multiply, 1),
    DynamicCumsumOp: scan_along(add, 0),
    DynamicReduceOp: reduce_along,
}
