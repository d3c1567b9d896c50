"""Reductions: f16 in f32, and rounded once; integers wrap around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import reduction as ops
from ....dialects.relax.shapes import Shape, normalize_axes, reduce
from ....dialects.relax.types import tensor_type
from ....dialects.tir.builder import Index, TirBuilder
from .binary import quotient
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor
from .scalars import (
    add,
    convert,
    divide,
    greatest,
    is_float,
    least,
    maximum,
    minimum,
    multiply,
    signless,
    step_type,
    wide_type,
    widen,
)

__all__ = ["REDUCTION", "Reduced"]

Function = Callable[[TirBuilder, SSAValue, SSAValue], SSAValue]
Bound = Callable[[Attribute], float | int]


@dataclass(frozen=True)
class Reduced:
    """A shape without some axes."""

    shape: Shape
    axes: Sequence[int]
    keepdims: bool = False

    @staticmethod
    def of(shape: Shape, axes: Sequence[int] | None, keepdims: bool = False) -> Reduced:
        """Without these axes, all if None; with `keepdims` they are there with size 1."""
        over = range(len(shape)) if axes is None else sorted(normalize_axes(axes, len(shape)))
        return Reduced(shape, over, keepdims)

    @property
    def outer(self) -> Shape:
        """What is left of the shape."""
        return reduce(self.shape, self.axes, self.keepdims)

    @property
    def inner(self) -> Shape:
        """The sizes of the axes."""
        return tuple(self.shape[axis] for axis in self.axes)

    def index(self, outer: Sequence[Index], inner: Sequence[Index]) -> list[Index]:
        """The index of what is at one place of what is left, and at one along the axes."""
        left, along = iter(outer), iter(inner)
        index: list[Index] = []
        for axis in range(len(self.shape)):
            if axis not in self.axes:
                index.append(next(left))
                continue
            if self.keepdims:
                next(left)
            index.append(next(along))
        return index

    def fold(
        self,
        b: KernelBuilder,
        start: SSAValue,
        function: Function,
        element: Callable[[Sequence[Index]], SSAValue],
    ) -> SSAValue:
        """Write loops over what is along the axes; see `KernelBuilder.fold`."""
        contiguous = len(self.shape) - 1 in self.axes
        return b.fold(self.inner, start, function, element, contiguous=contiguous)

    def place(self, index: Sequence[Index]) -> list[Index]:
        """The place, among what is left, of an element."""
        ones = [0] if self.keepdims else []
        places = [ones if axis in self.axes else [i] for axis, i in enumerate(index)]
        return [i for place in places for i in place]


def reduction(
    op: ops.ReductionOp,
    data: Tensor,
    type: Attribute,
    start: float | int,
    combine: Function,
    finish: Callable[[KernelBuilder, SSAValue], SSAValue] = lambda b, value: value,
) -> Tensor:
    """What `combine` makes of a number and each element, in a type."""
    axes = None if op.axis is None else op.axis
    reduced = Reduced.of(data.shape, axes, op.keepdims)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        def element(inner: Sequence[Index]) -> SSAValue:
            return convert(b, b.read(data, reduced.index(index, inner)), type)

        value = reduced.fold(b, b.number(start, type), combine, element)
        return convert(b, finish(b, value), data.element)

    return Elements(reduced.outer, data.element, compute)


def total(op: ops.SumOp, _: KernelBuilder, data: Tensor) -> Tensor:
    return reduction(op, data, step_type(signless(data.element)), 0, add)


def product(op: ops.ProdOp, _: KernelBuilder, data: Tensor) -> Tensor:
    return reduction(op, data, step_type(signless(data.element)), 1, multiply)


def mean(op: ops.MeanOp, _: KernelBuilder, data: Tensor) -> Tensor:
    axes = None if op.axis is None else op.axis
    count = prod(Reduced.of(data.shape, axes).inner)

    def over_count(b: KernelBuilder, value: SSAValue) -> SSAValue:
        number = b.number(count, value.type)
        return divide(b, value, number) if is_float(value.type) else quotient(b, value, number)

    return reduction(op, data, wide_type(data.element), 0, add, over_count)


def extremum(function: Function, of_none: Bound) -> Legalization:
    """A reduction to the greatest or the least."""

    def define(op: ops.ReductionOp, _: KernelBuilder, data: Tensor) -> Tensor:
        start = of_none(signless(data.element))
        return reduction(op, data, step_type(data.element), start, function)

    return define


def index_of(floats: tuple[str, str], integers: tuple[str, str], of_none: Bound) -> Legalization:
    """The index of the greatest or least element, NaN if there is one: the first one, or the
    last one. The predicates are those by which a later one takes the place."""

    def define(op: ops.ArgReductionOp, _: KernelBuilder, data: Tensor) -> Tensor:
        axes = None if op.axis is None else [op.axis]
        reduced = Reduced.of(data.shape, axes, op.keepdims)
        last = op.select_last_index
        type = step_type(signless(data.element))

        def is_better(b: KernelBuilder, x: SSAValue, best: SSAValue) -> SSAValue:
            if not is_float(type):
                return b.pure(arith.CmpiOp, x, best, arg=integers[last])
            better = b.pure(arith.CmpfOp, x, best, arg=floats[last])
            if last:
                return b.pure(arith.OrIOp, better, b.pure(arith.CmpfOp, x, x, arg="uno"))
            return b.pure(arith.AndIOp, better, b.pure(arith.CmpfOp, best, best, arg="ord"))

        def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            best = b.alloc((1,), type, "local")
            b.store(b.number(of_none(data.element), type), best, [0])

            def step(value: SSAValue, inner: Sequence[Index]) -> SSAValue:
                x = widen(b, b.read(data, reduced.index(index, inner)))
                old = b.load(best, [0])
                better = is_better(b, x, old)
                b.store(b.pure(arith.SelectOp, better, x, old), best, [0])
                here = convert(b, b.index(b.flat(inner, reduced.inner)), i64)
                return b.pure(arith.SelectOp, better, here, value)

            return b.accumulate(reduced.inner, b.number(0, i64), step)

        return Elements(reduced.outer, tensor_type(op.result).element_type, compute)

    return define


REDUCTION: dict[type[Operation], Legalization] = {
    ops.AllOp: extremum(minimum, greatest),
    ops.AnyOp: extremum(maximum, least),
    ops.ArgmaxOp: index_of(("ugt", "oge"), ("sgt", "sge"), least),
    ops.ArgminOp: index_of(("ult", "ole"), ("slt", "sle"), greatest),
    ops.MaxOp: extremum(maximum, least),
    ops.MeanOp: mean,
    ops.MinOp: extremum(minimum, greatest),
    ops.ProdOp: product,
    ops.SumOp: total,
}
