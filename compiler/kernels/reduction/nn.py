"""Legalizations of softmax, bias and dropout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects import arith, math
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.reduction import nn
from ....dialects.tir.builder import Index, TirBuilder
from ..builder import Elements, KernelBuilder, Legalization, Store, Tensor, broadcast_index
from ..merged_dimensions import reduced_axes
from ..scalars import add, computable, convert, divide, exponential, multiply, step_type, widen
from ..tensors import scheduled
from .reduction import Reduced

HEAVY = 2
"""The vectors of exponentials that are computed together: each of them is enough work to hide
latencies, and more vectors would leave no registers for intermediate results."""


def softmax(op: nn.SoftmaxOp, b: KernelBuilder, data: Tensor) -> Tensor:
    """Compute the exponentials of a row, each rounded to the element type, into a buffer; then
    multiply them by the reciprocal of their sum, which is at least 1: no reciprocal overflows."""
    element, wide = data.element, step_type(data.element)
    shape = b.shape_of(op.data)
    data, row = Reduced.merged(b, b.buffered(data), shape, reduced_axes(op, len(shape)))

    def loops(store: Store) -> None:
        is_known = all(isinstance(extent, int) for extent in row.inner)
        less = less_maximum(b, data, row)
        # Rows of unknown extent share a buffer, as each allocation calls a function.
        shared = None if is_known else b.alloc(row.inner, element)

        def compute(outer: list[Index]) -> None:
            # Each exponential is computed once: it is stored while it is added, and multiplied from
            # there. A second exponential for each element would be more than the memory of a row
            # costs.
            exponentials = b.alloc(row.inner, element) if shared is None else shared

            def exp_at(inner: Sequence[Index]) -> SSAValue:
                exponent = widen(b, convert(b, less(outer, inner), element))
                result = convert(b, exponential(b, exponent), element)
                b.store(result, exponentials, inner)
                return widen(b, result)

            total = row.fold(b, b.number(0, wide), add, exp_at, HEAVY)
            factor = divide(b, b.number(1, wide), widen(b, convert(b, total, element)))
            with row.along(b) as inner:
                value = multiply(b, widen(b, b.load(exponentials, inner)), factor)
                store(row.index(outer, inner), convert(b, value, element))

        row.for_each(b, compute, vectorize=is_known, vectors=HEAVY)

    return scheduled(op, b, row.shape, element, loops)


def log_softmax(op: nn.LogSoftmaxOp, b: KernelBuilder, data: Tensor) -> Tensor:
    """Compute the maxima and the sums of exponentials of all rows, then the logarithms of the sums
    in vectors, then subtract both."""
    element, wide = data.element, step_type(data.element)
    shape = b.shape_of(op.data)
    data, row = Reduced.merged(b, b.buffered(data), shape, reduced_axes(op, len(shape)))

    def loops(store: Store) -> None:
        less = less_maximum(b, data, row)
        sums, logarithms = b.alloc(row.outer, wide), b.alloc(row.outer, wide)

        def compute(outer: list[Index]) -> None:
            def exp_at(inner: Sequence[Index]) -> SSAValue:
                return exponential(b, less(outer, inner))

            total = row.fold(b, b.number(0, wide), add, exp_at, HEAVY)
            b.store(total, sums, outer)

        row.for_each(b, compute, vectors=HEAVY)
        # Each row has one logarithm. In a separate loop, the logarithms of adjacent rows are the
        # lanes of vectors.
        with b.elements(row.outer, b.lanes) as outer:
            b.store(b.pure(math.LogOp, b.load(sums, outer)), logarithms, outer)
        with b.elements(row.shape, b.lanes) as index:
            outer, inner = row.place(index), [index[axis] for axis in row.axes]
            value = b.pure(arith.SubfOp, less(outer, inner), b.load(logarithms, outer))
            store(index, convert(b, value, element))

    return scheduled(op, b, row.shape, element, loops)


def less_maximum(
    b: KernelBuilder, data: Tensor, row: Reduced
) -> Callable[[Sequence[Index], Sequence[Index]], SSAValue]:
    """Write loops that compute the maxima of all rows; return a function that computes the element
    at `outer` and `inner` minus the maximum of its row, in the wide type.

    The maxima have loops of their own, so that processors overlap the reduction trees of several
    rows.
    """
    wide = step_type(data.element)
    maxima = b.alloc(row.outer, wide)

    def element(outer: Sequence[Index], inner: Sequence[Index]) -> SSAValue:
        return widen(b, b.read(data, row.index(outer, inner)))

    def compute(outer: list[Index]) -> None:
        row_max = row.fold(b, b.number(-inf, wide), greater, lambda inner: element(outer, inner))
        b.store(row_max, maxima, outer)

    row.for_each(b, compute)
    return lambda outer, inner: b.pure(arith.SubfOp, element(outer, inner), b.load(maxima, outer))


def greater(b: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the maximum, or one of the numbers if one is NaN. No NaN is lost: a NaN element minus
    the maximum is NaN."""
    return b.pure(arith.MaximumfOp, lhs, rhs, flags=NO_NANS)


def dropout(_: nn.DropoutOp, __: KernelBuilder, data: Tensor) -> Tensor:
    return data


def bias_add(op: nn.BiasAddOp, _: KernelBuilder, data: Tensor, bias: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        summand = b.read(
            bias, broadcast_index(b, [index[axis]], bias.shape, data.shape[axis : axis + 1])
        )
        total = add(b, widen(b, b.read(data, index)), widen(b, summand))
        return convert(b, total, data.element)

    return Elements(data.shape, computable(data.element), compute)


NO_NANS = arith.FastMathFlagsAttr([FastMathFlag.NO_NANS])

NN: dict[type[Operation], Legalization] = {
    nn.BiasAddOp: bias_add,
    nn.DropoutOp: dropout,
    nn.LogSoftmaxOp: log_softmax,
    nn.SoftmaxOp: softmax,
}
