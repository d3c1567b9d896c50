"""Legalizations of reductions: f16 is computed in f32, and rounded once; integers wrap around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import reduction as ops
from ....dialects.relax.shapes import Shape, normalize_axes, reduce
from ....dialects.tir.builder import Index, TirBuilder
from .binary import quotient
from .kernel_builder import INDEPENDENT, KernelBuilder, Legalization, Store, Tensor
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
)
from .tensors import scheduled, shape_of

__all__ = ["REDUCTION", "Bound", "Function", "Reduced"]

Function = Callable[[TirBuilder, SSAValue, SSAValue], SSAValue]
Bound = Callable[[Attribute], float | int]


@dataclass(frozen=True)
class Reduced:
    """A shape and the axes over which it is reduced."""

    shape: Shape
    axes: Sequence[int]
    keepdims: bool = False

    @staticmethod
    def of(shape: Shape, axes: Sequence[int] | None, keepdims: bool = False) -> Reduced:
        """Build from axes that may be negative, None for all; `keepdims` keeps them with size 1."""
        over = range(len(shape)) if axes is None else sorted(normalize_axes(axes, len(shape)))
        return Reduced(shape, over, keepdims)

    @staticmethod
    def merged(
        b: KernelBuilder, shape: Shape, axes: Sequence[int] | None, keepdims: bool = False
    ) -> Reduced:
        """Build from the axes of a tensor of `shape`, in the merged dimensions of the kernel if it
        merges some; these have no reduced dimension in the result."""
        if b.groups is None:
            return Reduced.of(shape, axes, keepdims)
        over = Reduced.of(shape, axes).axes
        sizes = [[(axis, shape[axis]) for axis in group] for group in b.groups]
        rank = len(shape)
        reduced = [
            any(size != 1 and axis + rank in over for axis, size in group) for group in sizes
        ]
        merged = tuple(prod(size for _, size in group) for group in sizes)
        return Reduced(merged, [number for number, is_over in enumerate(reduced) if is_over])

    @property
    def outer(self) -> Shape:
        """The shape of the result."""
        return reduce(self.shape, self.axes, self.keepdims)

    @property
    def inner(self) -> Shape:
        """The extents of the axes."""
        return tuple(self.shape[axis] for axis in self.axes)

    def index(self, outer: Sequence[Index], inner: Sequence[Index]) -> list[Index]:
        """Return the index of the element at `outer` in the result and `inner` along the axes."""
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

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements that are reduced to one are next to each other in memory."""
        return len(self.shape) - 1 in self.axes

    def fold(
        self,
        b: KernelBuilder,
        start: SSAValue,
        function: Function,
        element: Callable[[Sequence[Index]], SSAValue],
        vectors: int = INDEPENDENT,
    ) -> SSAValue:
        """Write loops over the axes; see `KernelBuilder.fold`."""
        contiguous = self.is_contiguous
        return b.fold(self.inner, start, function, element, contiguous=contiguous, vectors=vectors)

    def for_each(
        self,
        b: KernelBuilder,
        body: Callable[[list[Index]], None],
        *,
        vectorize: bool,
        vectors: int = INDEPENDENT,
    ) -> None:
        """Write loops over the elements of the result, and write `body` for each.

        Where adjacent results are computed from adjacent elements, they are the lanes of vectors,
        if the operations of `body` can be done on vectors (`vectorize`)."""
        if vectorize and self.shape and not self.is_contiguous:
            b.columns(self.outer, body, vectors)
            return
        with b.loops(self.outer) as index:
            body(index)

    def along(self, b: KernelBuilder, vectorize: bool) -> AbstractContextManager[list[Index]]:
        """Build the body of loops over the axes; in vectors where the elements are contiguous, if
        the operations of the body can be done on vectors."""
        return b.elements(self.inner, b.lanes if vectorize and self.is_contiguous else 1)

    def place(self, index: Sequence[Index]) -> list[Index]:
        """Return the index in the result of the element at `index`."""
        ones = [0] if self.keepdims else []
        places = [ones if axis in self.axes else [i] for axis, i in enumerate(index)]
        return [i for place in places for i in place]


def reduction(
    op: ops.ReductionOp,
    b: KernelBuilder,
    data: Tensor,
    type: Attribute,
    start: float | int,
    combine: Function,
    finish: Callable[[KernelBuilder, SSAValue], SSAValue] = lambda b, value: value,
) -> Tensor:
    """Return the reduction of `data` by `combine` from `start`, computed in `type`.

    `finish` maps a result before it is rounded.
    """
    shape = shape_of(op.input)
    reduced = Reduced.merged(b, shape, op.axis, op.keepdims)
    vectorize = data.element == type

    def loops(store: Store) -> None:
        def compute(index: list[Index]) -> None:
            def element(inner: Sequence[Index]) -> SSAValue:
                return convert(b, b.read(data, reduced.index(index, inner)), type)

            value = reduced.fold(b, b.number(start, type), combine, element)
            store(index, convert(b, finish(b, value), data.element))

        reduced.for_each(b, compute, vectorize=vectorize)

    return scheduled(op, b, reduced.outer, data.element, loops)


def total(op: ops.SumOp, b: KernelBuilder, data: Tensor) -> Tensor:
    return reduction(op, b, data, step_type(signless(data.element)), 0, add)


def product(op: ops.ProdOp, b: KernelBuilder, data: Tensor) -> Tensor:
    return reduction(op, b, data, step_type(signless(data.element)), 1, multiply)


def mean(op: ops.MeanOp, b: KernelBuilder, data: Tensor) -> Tensor:
    count = prod(Reduced.of(shape_of(op.input), op.axis).inner)

    def over_count(b: KernelBuilder, value: SSAValue) -> SSAValue:
        number = b.number(count, value.type)
        return divide(b, value, number) if is_float(value.type) else quotient(b, value, number)

    return reduction(op, b, data, wide_type(data.element), 0, add, over_count)


def extremum(function: Function, of_empty: Bound) -> Legalization:
    """Legalize a reduction to the maximum or minimum; `of_empty` gives the result for an empty
    range."""

    def legalize(op: ops.ReductionOp, b: KernelBuilder, data: Tensor) -> Tensor:
        start = of_empty(signless(data.element))
        return reduction(op, b, data, step_type(data.element), start, function)

    return legalize


REDUCTION: dict[type[Operation], Legalization] = {
    ops.AllOp: extremum(minimum, greatest),
    ops.AnyOp: extremum(maximum, least),
    ops.MaxOp: extremum(maximum, least),
    ops.MeanOp: mean,
    ops.MinOp: extremum(minimum, greatest),
    ops.ProdOp: product,
    ops.SumOp: total,
}
