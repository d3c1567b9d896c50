"""Tensors that have the elements of others several times: numpy's `tile` and `repeat`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, VectorType, i64
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from ....dialects.tir.builder import Index
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder, Scheduled, Store, Tensor
from ..scalars import fills_bytes

__all__ = ["Repeated", "Tiled"]

MIN_LANES = 4
"""The shortest vectors of data whose lanes are repeated by shuffles."""


@dataclass(eq=False)
class Tiled(Scheduled):
    """The elements of `data` over and over along each dimension: a b c a b c.

    Rows that fill vectors are copied as a whole.
    """

    data: Tensor

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        rank = len(self.data.shape)
        # Leading dimensions that the data lacks have copies of all of it.
        last, sizes = index[len(index) - rank :], self.shape[len(index) - rank :]
        places = zip(last, self.data.shape, sizes, strict=True)
        # An unknown extent may be 0, by which nothing can be divided.
        return b.read(
            self.data, [i if n == size else b.mod(i, b.max(n, 1)) for i, n, size in places]
        )

    def write(self, b: KernelBuilder, store: Store) -> None:
        width = self.data.shape[-1] if self.data.shape else 1
        if self.shape[-1:] == (width,) or not isinstance(width, int) or width < b.lanes:
            with b.elements(self.shape, b.element_lanes) as index:
                store(index, self.read(b, index))
            return
        *outer, last = self.shape
        # No modulo in the inner loop: a copy is a contiguous row. `last` is a multiple of `width`.
        with b.loops([*outer, last // width]) as (*index, copy):
            row = Tiled((*outer, width), self.element, self.data)
            with b.elements([width], b.element_lanes) as (i,):
                place = copy * width + i
                store([*index, place], row.read(b, [*index, i]))


@dataclass(eq=False)
class Repeated(Scheduled):
    """Each element of `data` `repeats` times in a row along the last dimension: a a b b c c."""

    data: Tensor
    repeats: int

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.read(self.data, [*index[:-1], index[-1] // self.repeats])

    def write(self, b: KernelBuilder, store: Store) -> None:
        extent = self.data.shape[-1]
        lanes = min(b.lanes, extent) if isinstance(extent, int) else b.lanes
        # The stores of `repeats` vectors are unrolled: no more than there are lanes.
        if lanes < MIN_LANES or self.repeats > lanes or not fills_bytes(self.element):
            with b.loops(self.shape) as index:
                store(index, self.read(b, index))
            return
        self.write_vectors(b, store, 1 << lanes.bit_length() - 1)

    def write_vectors(self, b: KernelBuilder, store: Store, lanes: int) -> None:
        """Write loops over vectors of `lanes` elements of the data.

        If the extent is not known, also loops over vectors of half as many lanes, and so on down to
        single elements, for an extent that is less than `lanes` at run time.
        """
        extent = self.data.shape[-1]
        if isinstance(extent, int):
            self.write_rows(b, store, lanes)
            return
        fits = b.less(lanes - 1, extent)
        with b.when([fits]):
            self.write_rows(b, store, lanes)
        with b.when([b.negation(fits)]):
            if lanes // 2 >= max(MIN_LANES, self.repeats):
                self.write_vectors(b, store, lanes // 2)
            else:
                with b.loops(self.shape) as index:
                    store(index, self.read(b, index))

    def write_rows(self, b: KernelBuilder, store: Store, lanes: int) -> None:
        """Write loops over vectors of `lanes` elements of the data, whose rows have at least as
        many."""
        *outer, extent = self.data.shape
        row = b.alloc((lanes,), self.element, "local")
        rows = b.alloc((self.repeats, lanes), self.element, "local")
        with b.loops([*outer, b.ceildiv(extent, lanes)]) as (*index, chunk):
            # The last vector may overlap the one before it. Its copies, which begin at
            # `start * repeats`, then overlap those of that vector.
            start = b.chunk_start(chunk, lanes, extent)
            with b.loop(lanes, ForKind.VECTORIZED) as lane:
                b.store(b.read(self.data, [*index, start + lane]), row, [lane])
            repeat_lanes(b, row, rows, lanes, self.repeats)
            first = start * self.repeats
            with b.loop(self.repeats, ForKind.UNROLLED) as i:
                with b.loop(lanes, ForKind.VECTORIZED) as lane:
                    place = first + i * lanes + lane
                    store([*index, place], b.load(rows, [i, lane]))


def repeat_lanes(
    b: KernelBuilder, source: SSAValue, target: SSAValue, lanes: int, repeats: int
) -> None:
    """Store each of the `lanes` elements of `source` `repeats` times in a row into the rows of
    `target`."""
    zero = b.index(0)
    assert isa(source.type, MemRefType)
    type = VectorType(source.type.element_type, [lanes])
    row = b.insert(vector.LoadOp(source, [zero], type)).results[0]
    for i in range(repeats):
        # Of a b c d twice, the masks are 0 0 1 1 and 2 2 3 3.
        mask = [(i * lanes + lane) // repeats for lane in range(lanes)]
        numbers = DenseArrayBase.from_list(i64, mask)
        new = b.insert(vector.ShuffleOp(row, row, numbers, result_type=type)).results[0]
        b.insert(vector.StoreOp(new, target, [b.index(i), zero]))
