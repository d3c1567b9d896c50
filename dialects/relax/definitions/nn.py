"""Operations of neural networks that are no family of their own."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ...tir.building import Index
from .. import nn
from .numbers import add, convert, signless, step_type, widen
from .tensors import Definition, Elements, Tensor, Writer, broadcast_index

__all__ = ["NN"]


def softmax(op: nn.SoftmaxOp, w: Writer, data: Tensor) -> Tensor:
    """The powers and their sums are in buffers, rounded as each step is."""
    data, shape, element = w.buffered(data), data.shape, data.element
    axis = op.axis.value.data % len(shape)
    outer = shape[:axis] + shape[axis + 1 :]
    powers, totals = w.alloc(shape, element), w.alloc(outer, element)
    with w.loops(outer) as place:
        greatest = greatest_along(w, data, axis, place)

        def add(total: SSAValue, index: Sequence[Index]) -> SSAValue:
            at = [*place[:axis], *index, *place[axis:]]
            less = w.pure(arith.SubfOp, widen(w, w.read(data, at)), greatest)
            exponent = widen(w, convert(w, less, element))
            result = convert(w, w.pure(math.ExpOp, exponent), element)
            w.store(result, powers, at)
            return w.pure(arith.AddfOp, total, widen(w, result))

        total = w.accumulate(shape[axis : axis + 1], w.number(0, greatest.type), add)
        w.store(convert(w, total, element), totals, place)

    def compute(w: Writer, index: Sequence[Index]) -> SSAValue:
        total = w.load(totals, [*index[:axis], *index[axis + 1 :]])
        quotient = w.pure(arith.DivfOp, widen(w, w.load(powers, index)), widen(w, total))
        return convert(w, quotient, element)

    return Elements(shape, element, compute)


def log_softmax(op: nn.LogSoftmaxOp, w: Writer, data: Tensor) -> Tensor:
    """What is subtracted from the elements is in buffers."""
    data, shape, wide = w.buffered(data), data.shape, step_type(data.element)
    axis = op.axis.value.data % len(shape)
    outer = shape[:axis] + shape[axis + 1 :]
    maxima, logarithms = w.alloc(outer, wide), w.alloc(outer, wide)
    with w.loops(outer) as place:
        greatest = greatest_along(w, data, axis, place)

        def add(total: SSAValue, index: Sequence[Index]) -> SSAValue:
            at = [*place[:axis], *index, *place[axis:]]
            less = w.pure(arith.SubfOp, widen(w, w.read(data, at)), greatest)
            return w.pure(arith.AddfOp, total, w.pure(math.ExpOp, less))

        total = w.accumulate(shape[axis : axis + 1], w.number(0, wide), add)
        w.store(greatest, maxima, place)
        w.store(w.pure(math.LogOp, total), logarithms, place)

    def compute(w: Writer, index: Sequence[Index]) -> SSAValue:
        place = [*index[:axis], *index[axis + 1 :]]
        less = w.pure(arith.SubfOp, widen(w, w.read(data, index)), w.load(maxima, place))
        return convert(w, w.pure(arith.SubfOp, less, w.load(logarithms, place)), data.element)

    return Elements(shape, data.element, compute)


def greatest_along(w: Writer, data: Tensor, axis: int, place: Sequence[Index]) -> SSAValue:
    """The greatest element along an axis, NaN if one is; `place` is the index without it."""

    def greater(value: SSAValue, index: Sequence[Index]) -> SSAValue:
        element = w.read(data, [*place[:axis], *index, *place[axis:]])
        return w.pure(arith.MaximumfOp, value, widen(w, element))

    start = w.number(-inf, step_type(data.element))
    return w.accumulate(data.shape[axis : axis + 1], start, greater)


def dropout(_: nn.DropoutOp, __: Writer, data: Tensor) -> Tensor:
    return data


def bias_add(op: nn.BiasAddOp, _: Writer, data: Tensor, bias: Tensor) -> Tensor:
    axis = op.axis.value.data % len(data.shape)

    def compute(w: Writer, index: Sequence[Index]) -> SSAValue:
        summand = w.read(bias, broadcast_index(w, [index[axis]], bias.shape))
        total = add(w, widen(w, w.read(data, index)), widen(w, summand))
        return convert(w, total, data.element)

    return Elements(data.shape, signless(data.element), compute)


NN: dict[type[Operation], Definition] = {
    nn.BiasAddOp: bias_add,
    nn.DropoutOp: dropout,
    nn.LogSoftmaxOp: log_softmax,
    nn.SoftmaxOp: softmax,
}
