"""Legalizations of reductions: f16 is computed in f32, and rounded once; integers wrap around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.reduction import reduction as ops
from ....dialects.relax.shapes import normalize_axes
from ....dialects.relax.windows import AdaptivePoolOp
from ....dialects.tir.builder import Index, TirBuilder
from ....dialects.tir.functions import Shape, volume
from ..builder import INDEPENDENT, Buffer, KernelBuilder, Legalization, Store, Tensor
from ..elementwise.binary import quotient
from ..merged_dimensions import merge, reduced_axes, reduced_groups
from ..scalars import (
    add,
    convert,
    divide,
    is_float,
    is_unsigned,
    maximum,
    maximum_of,
    minimum,
    minimum_of,
    multiply,
    step_type,
    wide_type,
)
from ..tensors import scheduled

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
        b: KernelBuilder,
        data: Tensor,
        shape: Shape,
        axes: Sequence[int],
        keepdims: bool = False,
    ) -> tuple[Tensor, Reduced]:
        """Return `data`, whose type has `shape`, and its reduction over `axes`: with merged
        dimensions if the kernel merges some, or if the data is in a buffer. The result then has
        only the kept dimensions."""
        groups = b.groups
        if groups is None:
            # A lazy tensor has its indices in the dimensions of its operation; only memory can be
            # viewed in others. (2, 3, 4, 5) over the last two axes is (6, 20) over the last one.
            if not isinstance(b.bound.get(data, data), Buffer):
                return data, Reduced.of(shape, axes, keepdims)
            groups = reduced_groups(shape, axes)
            data = merge(b, data, groups)
        inside = [
            any(shape[axis] != 1 and axis % len(shape) in axes for axis in group)
            for group in groups
        ]
        return data, Reduced(data.shape, [axis for axis, is_in in enumerate(inside) if is_in])

    @property
    def outer(self) -> Shape:
        """The shape of the result."""
        ones = (1,) if self.keepdims else ()
        parts = (ones if axis in self.axes else (n,) for axis, n in enumerate(self.shape))
        return tuple(n for part in parts for n in part)

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
        return len(self.shape) - 1 in self.axes or not self.shape

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
        vectorize: bool = True,
        vectors: int = INDEPENDENT,
    ) -> None:
        """Write loops over the elements of the result, and write `body` for each.

        Where adjacent results are computed from adjacent elements, they are the lanes of vectors,
        unless `body` needs memory that lanes would share (`vectorize` is false)."""
        # For (8, 100) over axis 0, lane i sums up column i: no lanes are combined at the end, and
        # the sum has the order of the rows. Over axis 1, a row is in lanes (`fold`), and sums are
        # reordered.
        if vectorize and not self.is_contiguous:
            b.columns(self.outer, body, vectors)
            return
        with b.loops(self.outer) as index:
            body(index)

    def along(self, b: KernelBuilder) -> AbstractContextManager[list[Index]]:
        """Build the body of loops over the axes; in vectors where the elements are contiguous."""
        return b.elements(self.inner, b.lanes if self.is_contiguous else 1)

    def place(self, index: Sequence[Index]) -> list[Index]:
        """Return the index in the result of the element at `index`."""
        ones = [0] if self.keepdims else []
        places = [ones if axis in self.axes else [i] for axis, i in enumerate(index)]
        return [i for place in places for i in place]


def reduction(
    op: ops.ReductionOp | AdaptivePoolOp,
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
    shape = b.shape_of(op.operands[0])
    keepdims = isinstance(op, AdaptivePoolOp) or op.keepdims
    data, reduced = Reduced.merged(b, data, shape, reduced_axes(op, len(shape)), keepdims)
    identity = b.number(start, type)

    def element(outer: Sequence[Index], inner: Sequence[Index]) -> SSAValue:
        return convert(b, b.read(data, reduced.index(outer, inner)), type)

    def loops(store: Store) -> None:
        def compute(index: list[Index]) -> None:
            value = reduced.fold(b, identity, combine, lambda inner: element(index, inner))
            store(index, convert(b, finish(b, value), data.element))

        reduced.for_each(b, compute)

    return scheduled(op, b, reduced.outer, data.element, loops)


def mean(op: ops.MeanOp | AdaptivePoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    shape = b.shape_of(op.operands[0])
    count = volume(shape[axis] for axis in reduced_axes(op, len(shape)))
    type = wide_type(data.element)
    return reduction(op, b, data, type, 0, add, lambda b, value: over_count(b, value, count))


def over_count(b: KernelBuilder, total: SSAValue, count: Index) -> SSAValue:
    """Return the mean of `count` elements, given their sum; 0 for an empty range of integers."""
    # For an empty range of floats, 0 / 0 is NaN, as in numpy. For integers, the division would
    # trap.
    if not is_float(total.type):
        count = b.max(count, 1)
    number = b.number(count, total.type)
    if is_float(total.type) or is_unsigned(total.type):
        return divide(b, total, number)
    return quotient(b, total, number)


FUNCTIONS: dict[str, tuple[Function, Bound]] = {
    "sum": (add, lambda _: 0),
    "mean": (add, lambda _: 0),
    "max": (maximum, minimum_of),
    "min": (minimum, maximum_of),
    "prod": (multiply, lambda _: 1),
}
"""Functions of two elements, and their identities: the results for an empty range."""


def whole(name: str) -> Callable[..., Tensor]:
    """Legalize a reduction by a function of `FUNCTIONS`."""
    function, identity = FUNCTIONS[name]

    def legalize(op: ops.ReductionOp | AdaptivePoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
        start = identity(data.element)
        return reduction(op, b, data, step_type(data.element), start, function)

    return legalize


whole_maximum = whole("max")

REDUCTION: dict[type[Operation], Legalization] = {
    ops.AllOp: whole("min"),
    ops.AnyOp: whole_maximum,
    ops.MaxOp: whole_maximum,
    ops.MeanOp: mean,
    ops.MinOp: whole("min"),
    ops.ProdOp: whole("prod"),
    ops.SumOp: whole("sum"),
}
