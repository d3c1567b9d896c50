"""Operations of neural networks that are no family of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import nn
from ....dialects.tir.builder import Index
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from .reduction import Reduced
from .scalars import add, convert, divide, maximum, signless, step_type, widen

__all__ = ["NN"]


def softmax(op: nn.SoftmaxOp, w: KernelBuilder, data: Tensor) -> Tensor:
    """The powers and their sums are in buffers, rounded as each step is."""
    data, shape, element = w.buffered(data), data.shape, data.element
    row = Reduced.of(shape, [op.axis])
    powers, totals = w.alloc(shape, element), w.alloc(row.outer, element)
    with w.loops(row.outer) as outer:
        wide = step_type(element)
        less = less_greatest(w, data, row, outer)

        def power(inner: Sequence[Index]) -> SSAValue:
            exponent = widen(w, convert(w, less(inner), element))
            result = convert(w, w.pure(math.ExpOp, exponent), element)
            w.store(result, powers, row.index(outer, inner))
            return widen(w, result)

        total = row.fold(w, w.number(0, wide), add, power)
        w.store(convert(w, total, element), totals, outer)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        total = widen(w, w.load(totals, row.place(index)))
        return convert(w, divide(w, widen(w, w.load(powers, index)), total), element)

    return Elements(shape, element, compute)


def log_softmax(op: nn.LogSoftmaxOp, w: KernelBuilder, data: Tensor) -> Tensor:
    """What is subtracted from the elements is in buffers."""
    data, shape, wide = w.buffered(data), data.shape, step_type(data.element)
    row = Reduced.of(shape, [op.axis])
    maxima, logarithms = w.alloc(row.outer, wide), w.alloc(row.outer, wide)
    with w.loops(row.outer) as outer:
        less = less_greatest(w, data, row, outer, maxima)
        total = row.fold(w, w.number(0, wide), add, lambda i: w.pure(math.ExpOp, less(i)))
        w.store(w.pure(math.LogOp, total), logarithms, outer)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = row.place(index)
        less = w.pure(arith.SubfOp, widen(w, w.read(data, index)), w.load(maxima, place))
        return convert(w, w.pure(arith.SubfOp, less, w.load(logarithms, place)), data.element)

    return Elements(shape, data.element, compute)


def less_greatest(
    w: KernelBuilder,
    data: Tensor,
    row: Reduced,
    outer: Sequence[Index],
    maxima: SSAValue | None = None,
) -> Callable[[Sequence[Index]], SSAValue]:
    """What computes, wide, an element of a row less the greatest, NaN if one is; the greatest is
    computed at once, and stored among the maxima."""

    def element(inner: Sequence[Index]) -> SSAValue:
        return widen(w, w.read(data, row.index(outer, inner)))

    greatest = row.fold(w, w.number(-inf, step_type(data.element)), maximum, element)
    if maxima is not None:
        w.store(greatest, maxima, outer)
    return lambda inner: w.pure(arith.SubfOp, element(inner), greatest)


def dropout(_: nn.DropoutOp, __: KernelBuilder, data: Tensor) -> Tensor:
    return data


def bias_add(op: nn.BiasAddOp, _: KernelBuilder, data: Tensor, bias: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        summand = w.read(bias, broadcast_index(w, [index[axis]], bias.shape))
        total = add(w, widen(w, w.read(data, index)), widen(w, summand))
        return convert(w, total, data.element)

    return Elements(data.shape, signless(data.element), compute)


NN: dict[type[Operation], Legalization] = {
    nn.BiasAddOp: bias_add,
    nn.DropoutOp: dropout,
    nn.LogSoftmaxOp: log_softmax,
    nn.SoftmaxOp: softmax,
}
