"""Transposed tensors, computed by square tiles that are transposed in vector registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, FixedBitwidthType, MemRefType, VectorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from ....dialects.tir.builder import Index
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder, Scheduled, Store, Tensor
from ..scalars import fills_bytes

SEGMENT_BITS = 128
"""One instruction interleaves the lanes of two vectors within segments of this size."""

LINE_BYTES = 64
"""The size of a cache line."""

MIN_SIDE = 4
"""Smaller tiles are copied element by element."""


@dataclass(eq=False)
class Transposed(Scheduled):
    """A tensor whose dimension `i` is dimension `axes[i]` of `data`.

    If its last dimension is another than that of the data, vectors either read or write elements
    that are far apart. So squares of these two dimensions are read row by row, transposed in
    registers, and written row by row.
    """

    data: Tensor
    axes: Sequence[int]

    @classmethod
    def of(cls, data: Tensor, axes: Sequence[int]) -> Self:
        """Return `data` with its dimensions in the order `axes`."""
        return cls(tuple(data.shape[axis] for axis in axes), data.element, data, axes)

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = dict(zip(self.axes, index, strict=True))
        return b.read(self.data, [place[axis] for axis in range(len(index))])

    def write(self, b: KernelBuilder, store: Store) -> None:
        if not self.shape or 0 in self.shape or not fills_bytes(self.element):
            with b.loops(self.shape) as index:
                store(index, self.read(b, index))
            return
        *outer, last = self.shape
        inner = self.axes.index(len(outer))  # the last dimension of the data
        sides = [n for n in (last, self.shape[inner]) if isinstance(n, int)]
        # A square of i8 on AVX2 could have 32 lanes, but 32 vectors do not fit into 16 registers.
        side = min(b.lanes, b.target.vector_registers, *sides)
        if inner == len(outer):
            with b.loops(outer) as index, b.chunks(last, b.lanes) as i:
                store([*index, i], self.read(b, [*index, i]))
        elif side >= MIN_SIDE and len(sides) < 2:
            self.write_whole_tiles(b, inner, 1 << side.bit_length() - 1, store)
        elif side >= MIN_SIDE:
            self.write_tiles(b, inner, 1 << side.bit_length() - 1, store)
        else:
            with b.loops(self.shape) as index:
                store(index, self.read(b, index))

    def write_whole_tiles(self, b: KernelBuilder, inner: int, side: int, store: Store) -> None:
        """Write loops over the squares of `side` elements that fit into dimensions `inner` and the
        last one, of unknown extent, then over the other elements one by one."""
        last = len(self.shape) - 1
        whole = {axis: self.shape[axis] // side * side for axis in (inner, last)}
        tile, result = (b.alloc((side, side), self.element, "local") for _ in range(2))
        counts = [whole[axis] // side if axis in whole else n for axis, n in enumerate(self.shape)]
        with b.loops(counts) as index:
            starts = [i * side if axis in whole else i for axis, i in enumerate(index)]
            self.write_tile(b, inner, side, starts, (tile, result), store)
        # The two strips that are left: the one next to the squares along the last axis, then the
        # whole rest along the inner axis. The corner is in one of them only.
        for axis, other in ((last, {inner: whole[inner]}), (inner, {})):
            extents = [other.get(i, n) for i, n in enumerate(self.shape)]
            extents[axis] = self.shape[axis] - whole[axis]
            with b.loops(extents) as index:
                place = [i + whole[axis] if n == axis else i for n, i in enumerate(index)]
                store(place, self.read(b, place))

    def write_tiles(self, b: KernelBuilder, inner: int, side: int, store: Store) -> None:
        """Write loops over squares of `side` elements along dimension `inner` and the last one; at
        the end of a dimension, a square overlaps the one before it."""
        last = len(self.shape) - 1
        sizes = [1] * len(self.shape)
        # For f32 and squares of 8, a line has two squares: tiles are 16 x 16, so that both squares
        # of a line are written right after each other.
        line = max(side, LINE_BYTES // bytes_of(self.element))
        for axis in (inner, last):
            sizes[axis] = line if line <= self.shape[axis] else side
        counts = [-(-extent // n) for extent, n in zip(self.shape, sizes, strict=True)]
        # The inner loops read and write whole cache lines: these stay in the first cache.
        parts = [sizes[axis] // side for axis in (inner, last)]
        # Overlapping squares store the same elements, whichever thread is first.
        kind = ForKind.PARALLEL if b.target.cores > 1 else ForKind.SERIAL
        with b.loops(counts, kind) as index, b.loops(parts) as (row, column):
            tile, result = (b.alloc((side, side), self.element, "local") for _ in range(2))
            starts = [
                b.chunk_start(i, n, extent)
                for i, n, extent in zip(index, sizes, self.shape, strict=True)
            ]
            starts[inner] = starts[inner] + row * side
            starts[last] = starts[last] + column * side

            self.write_tile(b, inner, side, starts, (tile, result), store)

    def write_tile(
        self,
        b: KernelBuilder,
        inner: int,
        side: int,
        starts: Sequence[Index],
        buffers: tuple[SSAValue, SSAValue],
        store: Store,
    ) -> None:
        """Write loops that read a square at `starts`, transpose it, and store it; `buffers` are for
        the square before and after that."""
        last = len(self.shape) - 1
        tile, result = buffers

        def place(row: int, i: Index, column: int, lane: Index) -> list[Index]:
            offsets = {row: i, column: lane}
            return [start + offsets.get(axis, 0) for axis, start in enumerate(starts)]

        with b.loop(side, ForKind.UNROLLED) as i, b.loop(side, ForKind.VECTORIZED) as lane:
            b.store(self.read(b, place(last, i, inner, lane)), tile, [i, lane])
        transpose_square(b, tile, result, side)
        with b.loop(side, ForKind.UNROLLED) as i, b.loop(side, ForKind.VECTORIZED) as lane:
            store(place(inner, i, last, lane), b.load(result, [i, lane]))


def bytes_of(element: Attribute) -> int:
    """Return the bytes of an element in memory."""
    return -(-element.bitwidth // 8) if isinstance(element, FixedBitwidthType) else 8


def segment_of(element: Attribute) -> int:
    """Return the number of elements of a segment."""
    return SEGMENT_BITS // (8 * bytes_of(element))


def transpose_square(b: KernelBuilder, source: SSAValue, target: SSAValue, side: int) -> None:
    """Store the transpose of the `side` rows in buffer `source` into `target`."""
    zero, places = b.index(0), [b.index(i) for i in range(side)]
    assert isa(source.type, MemRefType)
    element = source.type.element_type
    type = VectorType(element, [side])
    rows = [b.insert(vector.LoadOp(source, [i, zero], type)).results[0] for i in places]
    for i, row in zip(places, transpose_lanes(b, rows, segment_of(element)), strict=True):
        b.insert(vector.StoreOp(row, target, [i, zero]))


def transpose_lanes(b: KernelBuilder, rows: Sequence[SSAValue], segment: int) -> list[SSAValue]:
    """Return vectors of lane 0, 1, ... of `rows`, which are as many vectors as they have lanes.

    First squares of `segment` lanes are transposed, then the squares as units: with segments of 2
    lanes,

        a0 a1 a2 a3         a0 b0 a2 b2         a0 b0 c0 d0
        b0 b1 b2 b3    ->   a1 b1 a3 b3    ->   a1 b1 c1 d1
        c0 c1 c2 c3         c0 d0 c2 d2         a2 b2 c2 d2
        d0 d1 d2 d3         c1 d1 c3 d3         a3 b3 c3 d3
    """
    side = len(rows)
    # log2(side) rounds of `side` shuffles: 24 for 8 x 8 of f32, as with unpcklps, unpcklpd and
    # vperm2f128 by hand. First within segments, as a shuffle across the 128-bit halves of AVX takes
    # three cycles, not one. MLIR's `vector.transpose` has the same as its lowering `shuffle_16x16`.
    segment = min(segment, side)
    squares = [
        interleave(b, rows[start : start + segment], 1, segment)
        for start in range(0, side, segment)
    ]
    columns = [interleave(b, column, segment, side) for column in zip(*squares, strict=True)]
    return [row for square in zip(*columns, strict=True) for row in square]


def interleave(b: KernelBuilder, rows: Sequence[SSAValue], unit: int, span: int) -> list[SSAValue]:
    """Transpose the square that `rows` have in each `span` lanes; `unit` adjacent lanes count as
    one.

    The first half of the rows is interleaved with the second half, log2(rows) times.
    """
    # Perfect shuffles: rows 0 1 2 3 are paired 0 2 and 1 3, interleaved, and so on. Each round
    # makes the highest bit of the row number of an element the lowest bit of its lane: after
    # log2(rows) rounds, rows are lanes.
    rows = [*rows]
    half = len(rows) // 2
    for _ in range(len(rows).bit_length() - 1):
        pairs = [*zip(rows[:half], rows[half:], strict=True)]
        rows = [zipped(b, pair, unit, span, start) for pair in pairs for start in (0, span // 2)]
    return rows


def zipped(
    b: KernelBuilder, pair: tuple[SSAValue, SSAValue], unit: int, span: int, start: int
) -> SSAValue:
    """Return the half from `start` on of each `span` lanes of two vectors, interleaved by units."""
    type = pair[0].type
    assert isa(type, VectorType)
    (lanes,) = type.get_shape()
    mask = [
        base + start + offset + lane + vector_lanes
        for base in range(0, lanes, span)
        for offset in range(0, span // 2, unit)
        for vector_lanes in (0, lanes)
        for lane in range(unit)
    ]
    numbers = DenseArrayBase.from_list(i64, mask)
    return b.insert(vector.ShuffleOp(*pair, numbers, result_type=type)).results[0]
