"""Legalizations of softmax, bias and dropout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import nn
from ....dialects.tir.builder import Index
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from .reduction import Reduced, shape_of_operand
from .scalars import add, convert, divide, maximum, signless, step_type, widen

__all__ = ["NN"]


def softmax(op: nn.SoftmaxOp, b: KernelBuilder, data: Tensor) -> Tensor:
    """Compute the exponentials and their sums into buffers, each rounded to the element type."""
    data, shape, element = b.buffered(data), data.shape, data.element
    row = Reduced.merged(b, shape_of_operand(op.data), [op.axis])
    powers, totals = b.alloc(shape, element), b.alloc(row.outer, element)
    with b.loops(row.outer) as outer:
        wide = step_type(element)
        less = less_maximum(b, data, row, outer)

        def power(inner: Sequence[Index]) -> SSAValue:
            exponent = widen(b, convert(b, less(inner), element))
            result = convert(b, b.pure(math.ExpOp, exponent), element)
            b.store(result, powers, row.index(outer, inner))
            return widen(b, result)

        total = row.fold(b, b.number(0, wide), add, power)
        b.store(convert(b, total, element), totals, outer)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        total = widen(b, b.load(totals, row.place(index)))
        return convert(b, divide(b, widen(b, b.load(powers, index)), total), element)

    return Elements(shape, element, compute)


def log_softmax(op: nn.LogSoftmaxOp, b: KernelBuilder, data: Tensor) -> Tensor:
    """Compute the maxima, and the logarithms of the sums, into buffers first."""
    data, shape, wide = b.buffered(data), data.shape, step_type(data.element)
    row = Reduced.merged(b, shape_of_operand(op.data), [op.axis])
    maxima, logarithms = b.alloc(row.outer, wide), b.alloc(row.outer, wide)
    with b.loops(row.outer) as outer:
        less = less_maximum(b, data, row, outer, maxima)
        total = row.fold(b, b.number(0, wide), add, lambda i: b.pure(math.ExpOp, less(i)))
        b.store(b.pure(math.LogOp, total), logarithms, outer)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = row.place(index)
        less = b.pure(arith.SubfOp, widen(b, b.read(data, index)), b.load(maxima, place))
        return convert(b, b.pure(arith.SubfOp, less, b.load(logarithms, place)), data.element)

    return Elements(shape, data.element, compute)


def less_maximum(
    b: KernelBuilder,
    data: Tensor,
    row: Reduced,
    outer: Sequence[Index],
    maxima: SSAValue | None = None,
) -> Callable[[Sequence[Index]], SSAValue]:
    """Write loops that compute the maximum of a row, and store it in `maxima`; return a function
    that computes an element less the maximum, in the wide type."""

    def element(inner: Sequence[Index]) -> SSAValue:
        return widen(b, b.read(data, row.index(outer, inner)))

    greatest = row.fold(b, b.number(-inf, step_type(data.element)), maximum, element)
    if maxima is not None:
        b.store(greatest, maxima, outer)
    return lambda inner: b.pure(arith.SubfOp, element(inner), greatest)


def dropout(_: nn.DropoutOp, __: KernelBuilder, data: Tensor) -> Tensor:
    return data


def bias_add(op: nn.BiasAddOp, _: KernelBuilder, data: Tensor, bias: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        summand = b.read(bias, broadcast_index(b, [index[axis]], bias.shape))
        total = add(b, widen(b, b.read(data, index)), widen(b, summand))
        return convert(b, total, data.element)

    return Elements(data.shape, signless(data.element), compute)


NN: dict[type[Operation], Legalization] = {
    nn.BiasAddOp: bias_add,
    nn.DropoutOp: dropout,
    nn.LogSoftmaxOp: log_softmax,
    nn.SoftmaxOp: softmax,
}
