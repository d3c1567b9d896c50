"""Legalizations of argmax and argmin; NaN is selected before any number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.reduction import reduction as ops
from ....dialects.relax.types import tensor_type
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import is_at_most, volume
from ..builder import KernelBuilder, Legalization, Store, Tensor
from ..merged_dimensions import reduced_axes
from ..scalars import (
    compare_integers,
    convert,
    is_float,
    maximum,
    maximum_of,
    minimum,
    minimum_of,
    select,
    step_type,
    widen,
)
from ..tensors import scheduled
from .reduction import Bound, Function, Reduced


@dataclass(frozen=True)
class Order:
    """The order in which a reduction searches for the best element."""

    floats: tuple[str, str]
    """The predicates by which a later element replaces the best one so far: one that selects the
    first of equal elements, and one that selects the last."""
    integers: tuple[str, str]
    extremum: Function
    of_empty: Bound
    """The extremum of an empty range."""


@dataclass(frozen=True)
class ArgSearch:
    """The search for the index of the best element along the axes of `reduced`."""

    b: KernelBuilder
    data: Tensor
    reduced: Reduced
    order: Order
    last: bool
    """Whether the last of equal elements is selected."""

    @property
    def type(self) -> Attribute:
        """The type in which elements are compared."""
        return step_type(self.data.element)

    @property
    def number(self) -> IntegerType:
        """The type of indices: as wide as the elements if possible, so that vectors of both have
        the same number of lanes."""
        assert isinstance(self.type, FixedBitwidthType)
        is_small = is_at_most(volume(self.reduced.inner), (1 << 31) - 1)
        return i32 if self.type.bitwidth <= 32 and is_small else i64

    def element(self, outer: Sequence[Index], inner: Sequence[Index]) -> SSAValue:
        return widen(self.b, self.b.read(self.data, self.reduced.index(outer, inner)))

    def place(self, inner: Sequence[Index]) -> SSAValue:
        """Return the index along the axes as a number."""
        return convert(self.b, self.b.index(self.b.flat(inner, self.reduced.inner)), self.number)

    def worst(self) -> SSAValue:
        return self.b.number(self.order.of_empty(self.data.element), self.type)

    def is_better(self, x: SSAValue, best: SSAValue) -> SSAValue:
        """Return whether `x` replaces `best`, the extremum of the elements before it: if it is more
        extreme, or equal and the last index is wanted. NaN is the most extreme."""
        b = self.b
        if not is_float(self.type):
            return compare_integers(b, self.order.integers[self.last], x, best)
        # A predicate that is "unordered" (ugt) lets a NaN replace any number. For the first index,
        # nothing replaces a NaN: `best` has to be ordered. For the last one, every NaN replaces.
        better = b.pure(arith.CmpfOp, x, best, arg=self.order.floats[self.last])
        if self.last:
            return b.pure(arith.OrIOp, better, b.pure(arith.CmpfOp, x, x, arg="uno"))
        return b.pure(arith.AndIOp, better, b.pure(arith.CmpfOp, best, best, arg="ord"))

    def is_best(self, x: SSAValue, best: SSAValue) -> SSAValue:
        """Return whether the element `x` is equal to the extremum `best`. Two NaNs are equal, and
        `best` is NaN if an element is."""
        b = self.b
        if not is_float(self.type):
            return compare_integers(b, "eq", x, best)
        equal = b.pure(arith.CmpfOp, x, best, arg="oeq")
        return b.pure(arith.OrIOp, equal, b.pure(arith.CmpfOp, x, x, arg="uno"))

    def write(self, store: Store) -> None:
        """Write loops that find all indices."""
        assert isinstance(self.type, FixedBitwidthType)
        # Long axes are read twice: the extremum, then the indices that have it. Both loops combine
        # lanes by one instruction; to keep a pair of element and index takes a comparison and two
        # selects for each, and each waits for the one before it. An axis of unknown extent counts
        # as long.
        vectors = 2 * self.b.target.lanes(self.type.bitwidth)
        is_short = is_at_most(volume(self.reduced.inner), vectors - 1)
        find = self.compare_all if is_short else self.find_extremum
        self.reduced.for_each(self.b, lambda outer: store(outer, find(outer)))

    def extremum(self, outer: Sequence[Index]) -> SSAValue:
        """Write loops that compute the extremum along the axes."""
        return self.reduced.fold(
            self.b, self.worst(), self.order.extremum, lambda inner: self.element(outer, inner)
        )

    @property
    def nowhere(self) -> SSAValue:
        """The initial index: greater than all others to find the first, less to find the last."""
        return self.b.number(-1 if self.last else volume(self.reduced.inner), self.number)

    def found(
        self, before: SSAValue, best: SSAValue, outer: Sequence[Index], inner: Sequence[Index]
    ) -> SSAValue:
        """Return the first, or the last, of the indices `before` and `inner`. `inner` counts only
        if its element is equal to the extremum `best`."""
        # For 3 7 7 and the first index: 3 (nowhere), 1, 2, whose minimum is 1; for the last one -1,
        # 1, 2.
        is_best = self.is_best(self.element(outer, inner), best)
        here = select(self.b, is_best, self.place(inner), self.nowhere)
        return (maximum if self.last else minimum)(self.b, before, here)

    def find_extremum(self, outer: Sequence[Index]) -> SSAValue:
        """Write loops that compute the extremum along the axes, then loops that compute the first
        or last index of an element equal to it."""
        best = self.extremum(outer)
        return self.b.accumulate(
            self.reduced.inner, self.nowhere, lambda i, inner: self.found(i, best, outer, inner)
        )

    def compare_all(self, outer: Sequence[Index]) -> SSAValue:
        """Write loops that keep the most extreme element and its index, element by element."""
        b = self.b
        best = b.variable(self.worst())

        def step(value: SSAValue, inner: Sequence[Index]) -> SSAValue:
            x, old = self.element(outer, inner), b.load(best, [0])
            better = self.is_better(x, old)
            b.store(select(b, better, x, old), best, [0])
            return select(b, better, self.place(inner), value)

        return b.accumulate(self.reduced.inner, b.number(0, self.number), step)


def index_of(order: Order) -> Legalization:
    """Legalize a search for the best element by `order`."""

    def legalize(op: ops.ArgReductionOp, b: KernelBuilder, data: Tensor) -> Tensor:
        shape = b.shape_of(op.input)
        data, reduced = Reduced.merged(b, data, shape, reduced_axes(op, len(shape)), op.keepdims)
        element = tensor_type(op.result).element_type
        search = ArgSearch(b, data, reduced, order, op.select_last_index)
        if not is_at_most(1, count := volume(reduced.inner)):
            b.require(b.less(0, count), f"{op.name} needs at least one element", op)

        def loops(store: Store) -> None:
            search.write(lambda index, value: store(index, convert(b, value, element)))

        return scheduled(op, b, reduced.outer, element, loops)

    return legalize


ARG_REDUCTION: dict[type[Operation], Legalization] = {
    ops.ArgmaxOp: index_of(Order(("ugt", "oge"), ("sgt", "sge"), maximum, minimum_of)),
    ops.ArgminOp: index_of(Order(("ult", "ole"), ("slt", "sle"), minimum, maximum_of)),
}
