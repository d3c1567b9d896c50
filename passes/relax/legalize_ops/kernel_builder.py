"""Tensors given by how their elements are computed, for kernels that compute them.

A definition of an operation makes its results of its operands; nothing is computed before an
element is read. A tensor that is read several times is to be put into a buffer first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.shapes import Shape
from ....dialects.tir.builder import Index, TirBuilder
from ....dialects.tir.ops import ForKind, PrimFuncOp
from .scalars import convert

__all__ = [
    "At",
    "Buffer",
    "Concatenated",
    "Contraction",
    "Legalization",
    "Elements",
    "Element",
    "Shifted",
    "Tensor",
    "KernelBuilder",
    "broadcast_index",
]


class KernelBuilder(TirBuilder):
    """Writes a kernel: knows of tensors that are there already."""

    def __init__(
        self, func: PrimFuncOp, *, lanes: int = 16, groups: Sequence[Sequence[int]] | None = None
    ):
        super().__init__(func)
        self.lanes = lanes
        """How many elements a vector has."""
        self.groups = groups
        """Dimensions, counted from the last one, -1, that are one dimension here; None if each is
        one. The operands of element-wise operations and of concatenations come so; a convolution
        of windows of one element has to give its result so."""
        self.bound: dict[Tensor, Tensor] = {}
        """Tensors, and what has their elements where the kernel is being written."""

    def read(self, tensor: Tensor, index: Sequence[Index]) -> SSAValue:
        """Write what computes an element."""
        return self.bound.get(tensor, tensor).read(self, index)

    def fold(
        self,
        extents: Sequence[int],
        start: SSAValue,
        function: Callable[[TirBuilder, SSAValue, SSAValue], SSAValue],
        element: Callable[[Sequence[Index]], SSAValue],
        *,
        neighbours: bool,
    ) -> SSAValue:
        """Write loops that make one number of many: `function`, which is associative and for which
        `start` is neutral, of those so far and the next one.

        If those along the last dimension are neighbours in memory, each lane of a vector has a
        number of its own before.
        """
        if not neighbours or not extents or extents[-1] < 2 * self.lanes:
            return self.accumulate(extents, start, lambda x, i: function(self, x, element(i)))
        *outer, last = extents
        rest = last % self.lanes
        numbers = self.alloc((self.lanes,), start.type, "local")

        def step(lane: Index, index: Sequence[Index]) -> None:
            number = function(self, self.load(numbers, [lane]), element(index))
            self.store(number, numbers, [lane])

        with self.loop(self.lanes, ForKind.VECTORIZED) as lane:
            self.store(start, numbers, [lane])
        with self.loops(outer) as index:
            with (
                self.loop(last // self.lanes) as chunk,
                self.loop(self.lanes, ForKind.VECTORIZED) as lane,
            ):
                step(lane, [*index, self.add(self.mul(chunk, self.lanes), lane)])
            if rest:
                with self.loop(rest, ForKind.VECTORIZED) as lane:
                    step(lane, [*index, self.add(last - rest, lane)])
        return self.accumulate(
            (self.lanes,), start, lambda x, lane: function(self, x, self.load(numbers, lane))
        )

    def store_all(self, tensor: Tensor, buffer: SSAValue) -> None:
        """Write loops that compute all elements, into a buffer of that shape."""
        with self.loops(tensor.shape) as index:
            self.store(self.read(tensor, index), buffer, index)

    def fill(self, buffer: SSAValue, shape: Shape, element: Attribute) -> None:
        """Write a loop that sets all elements of a buffer to 0."""
        flat = self.view(buffer, (prod(shape),))
        with self.elements([prod(shape)], self.lanes) as index:
            self.store(self.number(0, element), flat, index)

    def reshaped(self, tensor: Tensor, shape: Shape) -> Buffer:
        """The tensor in a buffer of another shape."""
        buffer = self.view(self.buffered(tensor).buffer, shape)
        return Buffer(shape, tensor.element, buffer)

    def buffered(self, tensor: Tensor) -> Buffer:
        """The tensor in a buffer: itself if it is in one."""
        tensor = self.bound.get(tensor, tensor)
        if isinstance(tensor, Buffer):
            return tensor
        buffer = self.alloc(tensor.shape, tensor.element)
        self.store_all(tensor, buffer)
        self.bound[tensor] = result = Buffer(tensor.shape, tensor.element, buffer)
        return result


@dataclass(eq=False)
class Tensor(ABC):
    """A tensor of known shape."""

    shape: Shape
    element: Attribute
    """The type of the elements."""

    @abstractmethod
    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Write what computes an element."""


@dataclass(eq=False)
class Buffer(Tensor):
    """A tensor in memory, in row-major order."""

    buffer: SSAValue

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.load(self.buffer, index)


Element: TypeAlias = Callable[[KernelBuilder, Sequence[Index]], SSAValue]
"""What writes the computation of the element at an index."""


@dataclass(eq=False)
class Elements(Tensor):
    """A tensor each element of which is computed by itself."""

    compute: Element

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return self.compute(b, index)


@dataclass(eq=False)
class Concatenated(Tensor):
    """Tensors one after the other along an axis."""

    axis: int
    parts: Sequence[Tensor]

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return self.read_from(b, index, self.starts())

    def starts(self) -> list[tuple[int, Tensor]]:
        """Where each part begins."""
        starts: list[tuple[int, Tensor]] = []
        start = 0
        for part in self.parts:
            starts.append((start, part))
            start += part.shape[self.axis]
        return starts

    def read_from(
        self, b: KernelBuilder, index: Sequence[Index], parts: Sequence[tuple[int, Tensor]]
    ) -> SSAValue:
        (start, part), *rest = parts
        at = index[self.axis]

        def read_part() -> SSAValue:
            return b.read(Shifted(self.shape, self.element, part, self.axis, start), index)

        if not rest:
            return read_part()
        if isinstance(at, int):
            return read_part() if at < rest[0][0] else self.read_from(b, index, rest)
        return b.choose([b.less(at, rest[0][0])], read_part, lambda: self.read_from(b, index, rest))


@dataclass(eq=False)
class Shifted(Tensor):
    """A tensor that has another from `start` on along an axis; only that part of it is read."""

    source: Tensor
    axis: int
    start: int

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        index = [*index]
        index[self.axis] = b.sub(index[self.axis], self.start)
        return b.read(self.source, index)


@dataclass(eq=False)
class At(Tensor):
    """A tensor of which one element is there; others are computed."""

    index: Sequence[Index]
    value: SSAValue
    source: Tensor

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return self.value if [*index] == [*self.index] else self.source.read(b, index)


@dataclass(eq=False)
class Contraction(Tensor):
    """Sums of products: for each of a batch, the product of a matrix and columns of an image.

    The element for m, a row and a column is the sum over k of `lhs(batch, m, k)` and
    `rhs(batch, ks, row, column)`, `k` being the place of the indices `ks` among the `terms`, in
    row-major order. A plain matrix product has one row: `rows` is empty. Products and sums are of
    the type `total`.
    """

    total: Attribute
    batch: Shape
    m: int
    rows: Shape
    columns: int
    terms: Shape
    lhs: Callable[[KernelBuilder, Sequence[Index], Index, Index], SSAValue]
    rhs: Callable[
        [KernelBuilder, Sequence[Index], Sequence[Index], Sequence[Index], Index], SSAValue
    ]
    place: Callable[[KernelBuilder, Sequence[Index], Index, Sequence[Index], Index], list[Index]]
    """The index of the element for a batch, m, a row and a column."""
    batch_of: Callable[
        [KernelBuilder, Sequence[Index]], tuple[list[Index], Index, list[Index], Index]
    ]
    """The other way round."""
    rhs_along_terms: bool = False
    """Whether terms of `rhs` are next to each other in memory, and not columns."""
    pitch: int | None = None
    """How many columns are from one row to the next, if `rhs` takes all rows as one: it is called
    without a row then."""

    def multiply_add(
        self, b: KernelBuilder, acc: SSAValue, lhs: SSAValue, rhs: SSAValue
    ) -> SSAValue:
        """One term more; a product of floats may be rounded or not."""
        if isinstance(self.total, IntegerType):
            return b.pure(arith.AddiOp, acc, b.pure(arith.MuliOp, lhs, rhs))
        product = b.pure(arith.MulfOp, lhs, rhs, flags=CONTRACT)
        return b.pure(arith.AddfOp, acc, product, flags=CONTRACT)

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Write a loop for one element; a kernel of all of them is in tiles instead."""
        batch, m, rows, column = self.batch_of(b, index)
        acc = b.alloc((1,), self.total, "local")
        b.store(b.number(0, self.total), acc, [0])
        with b.loops(self.terms) as terms:
            lhs = self.lhs(b, batch, m, b.flat(terms, self.terms))
            rhs = self.rhs(b, batch, terms, rows, column)
            b.store(self.multiply_add(b, b.load(acc, [0]), lhs, rhs), acc, [0])
        return self.element_of(b, b.load(acc, [0]))

    def element_of(self, b: KernelBuilder, total: SSAValue) -> SSAValue:
        """The element that a sum is."""
        return convert(b, total, self.element)


CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])


Legalization: TypeAlias = Callable[..., Tensor | tuple[Tensor, ...]]
"""A function of an operation, a writer and the operands: the result, or the results."""


def broadcast_index(b: KernelBuilder, index: Sequence[Index], shape: Shape) -> list[Index]:
    """Where a tensor of that shape, broadcast, has the element at an index."""
    last = index[len(index) - len(shape) :]
    return [0 if size == 1 else i for i, size in zip(last, shape, strict=True)]
