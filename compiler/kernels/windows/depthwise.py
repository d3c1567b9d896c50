"""Depthwise convolutions: an element of the result sums up the taps of one input channel.

That is too few terms, for too few output channels, to pack data for a matrix product. A channel is
computed directly, in tiles of output rows times vectors of columns, whose sums stay in registers:

    for input channel:
      for block of rows:
        copy the rows that its windows read, with padding, split into phases (phases.py)
        for output channel of the input channel:
          for tile:
            for column of taps:
              load each vector of data once, and add its products to all rows of the tile
          store the elements of the block
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.contraction import convolution as ops
from ....dialects.relax.types import static_shape
from ....dialects.relax.windows import Window
from ....dialects.target import Target
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, volume
from ....dialects.tir.ops import ForKind
from ..builder import Elements, KernelBuilder, Scheduled, Store, Tensor
from ..choices import Form, Space
from ..contraction.contraction import of_total, total_type
from ..scalars import convert, multiply_add
from ..tensors import known
from ..tiles.blocks import part
from ..tiles.cost_model import LOADS, MULTIPLY_ADDS, TILE_OVERHEAD
from ..tiles.schedule import NOMINAL_IMAGE, WIDTHS
from ..tiles.schedules import nominal
from .depthwise_blocks import RowBlocks, unknown_blocks, write_blocks
from .depthwise_tiles import DepthwiseSums, DepthwiseTiles, Problem, rows_of, space_of
from .phases import count_of, covered

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


@dataclass(eq=False)
class Depthwise(DepthwiseSums):
    """A depthwise convolution, computed in tiles."""

    def write(self, b: KernelBuilder, store: Store) -> None:
        if 0 in self.shape:
            return
        out, outputs = self.out(b), known(self.kernel.shape[0])
        channels = nominal(self.data.shape[0], 1) * outputs
        problem = Problem.of(channels, out, self.windows, self.bits)
        rows = rows_of(problem, b.target)
        tile = b.decide(DepthwiseTiles(problem, rows, b.target))
        known_blocks = RowBlocks(tile, out, rows)
        blocks = known_blocks if problem.is_known else unknown_blocks(b, self, tile, out)
        write_blocks(b, self, blocks, store)


# Depthwise convolutions in blocked layouts: the channels of a block, such as the 16 of NCHW16c,
# are the lanes of a vector, so that images of any width fill vectors.
#
#     for image, block of channels:
#       for block of rows:                copy the rows that its windows read, converted and padded
#         for row, tile of columns:       for tap: sums of the tile += vector of data * of weights
#           store the sums


def is_blocked_depthwise(op: ops.ForwardConvolutionOp) -> bool:
    """Return whether `op` is a convolution of images with one output for each channel, and data and
    result have the same blocks of channels as their last dimension."""
    data, weight, out = op.layouts()
    if (shape := static_shape(op.weight.type)) is None or not isinstance(op, ops.Conv2dOp):
        return False
    if data.axes != f"NC{op.SPATIAL}c" or data != out or weight.factors:
        return False
    extents = weight.extents(shape)
    return extents["I"] == 1 and extents["O"] == op.groups


def blocked_depthwise(
    b: KernelBuilder,
    data: Tensor,
    weight: Tensor,
    windows: Sequence[Window],
    element: Attribute,
    constants: Sequence[Array],
) -> Tensor:
    """Return the depthwise convolution of data (N, C / lanes, H, W, lanes) and a weight (OIHW),
    which is one of `constants`."""
    images, blocks, *extents, lanes = data.shape
    blocks, lanes = known(blocks), known(lanes)
    taps = volume(known(extent) for extent in weight.shape[1:])
    rows = [array.reshape(-1, taps) for array in constants]
    total = total_type(element, data, weight, taps, rows)
    weight = b.as_elements(weight, total)
    shape = (blocks, taps, lanes)
    if (constant := b.constant(weight)) is not None:
        weight = b.converted(constant, shape, total, lambda array: in_lanes(array, shape))
    else:
        matrix = b.reshaped(weight, (blocks, lanes, taps))
        weight = Elements(shape, total, lambda b, i: b.read(matrix, [i[0], i[2], i[1]]))
    out = tuple(count_of(b, window, n) for window, n in zip(windows, extents, strict=True))
    result = (images, blocks, *out, lanes)
    return BlockedDepthwise(result, element, total, data, weight, windows)


def in_lanes(weights: Array, shape: tuple[int, int, int]) -> Array:
    """Return weights of outputs and taps as blocks, taps and lanes."""
    import numpy as np

    blocks, taps, lanes = shape
    return np.ascontiguousarray(weights.reshape(blocks, lanes, taps).swapaxes(1, 2))


@dataclass(eq=False)
class BlockedDepthwise(Scheduled):
    """A depthwise convolution of data in blocks of channels."""

    total: Attribute
    """The type of products and sums."""
    data: Tensor
    kernel: Tensor
    """The weights: blocks, taps in row-major order, and lanes."""
    windows: Sequence[Window]
    """The windows of the rows and of the columns."""

    @property
    def out(self) -> tuple[Extent, Extent]:
        """The rows and columns of the result."""
        height, width = self.shape[2:4]
        return height, width

    @property
    def lanes(self) -> int:
        """The channels of a block."""
        return known(self.shape[-1])

    def columns_of_copy(self, b: KernelBuilder, tile: int) -> Extent:
        """Return the number of columns of a copied row, with padding: at least as many as a tile
        reads."""
        # A row of unknown length may be shorter than a tile, which then reads zeros after it.
        width = self.out[1]
        return covered(self.windows[1], width if isinstance(width, int) else b.larger(width, tile))

    def weight(
        self, b: KernelBuilder, block: Index, taps: Sequence[Index], lane: Index
    ) -> SSAValue:
        position = b.flat(taps, [window.size for window in self.windows])
        return b.read(self.kernel, [block, position, lane])

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, block, *place, lane = index
        zero = b.number(0, self.total)

        def step(acc: SSAValue, taps: Sequence[Index]) -> SSAValue:
            source = [
                i * v.stride + tap * v.dilation - v.before
                for i, tap, v in zip(place, taps, self.windows, strict=True)
            ]
            pairs = zip(source, self.data.shape[2:4], strict=True)
            inside = [c for i, extent in pairs for c in b.inside_bounds(i, 0, extent)]

            def value() -> SSAValue:
                return convert(b, b.read(self.data, [image, block, *source, lane]), self.total)

            element = b.choose(inside, value, lambda: zero)
            return multiply_add(b, acc, self.weight(b, block, taps, lane), element)

        sizes = [window.size for window in self.windows]
        return of_total(b, b.accumulate(sizes, zero, step), self.element)

    def write(self, b: KernelBuilder, store: Store) -> None:
        if 0 in self.shape:
            return
        images, blocks = self.shape[0], known(self.shape[1])
        height, width = self.out
        # Rows without padding are copied, too: the copy converts bytes once. Without it, they would
        # be converted at least once for each row of taps.
        tile = b.decide(self.tiles(b.target))
        columns = self.columns_of_copy(b, tile)
        rows = self.rows_of_block(b, columns)
        size = (covered(self.windows[0], rows), columns, self.lanes)
        with b.channels(images, blocks) as (image, each_block):
            copied = b.alloc(size, self.total)
            # The copy below never writes these columns, so one fill serves all channels of the
            # group. Rows above and below the data are cleared for each block: the block before had
            # data there.
            b.fill(copied, size, self.total)  # the padding on the left and right stays
            with each_block as block, b.loop(b.ceildiv(height, rows)) as row_block:
                first_row = row_block * rows
                self.copy_rows(b, copied, (image, block), first_row, size)
                with (
                    b.loop(part(b, first_row, rows, height)) as row,
                    b.loop(b.ceildiv(width, tile)) as column_tile,
                ):
                    # The last tile overlaps the one before it: all tiles are unrolled to the same
                    # code.
                    column = b.chunk_start(column_tile, tile, width)
                    if not isinstance(width, int):
                        column = b.max(column, 0)
                    sums = self.sums_of_tile(b, copied, block, (row, column), tile)
                    with (
                        b.loop(tile, ForKind.UNROLLED) as i,
                        b.when([] if isinstance(width, int) else [b.less(i, width)]),
                        self.vector(b) as lane,
                    ):
                        value = of_total(b, b.load(sums, [i, lane]), self.element)
                        place = [first_row + row, column + i]
                        store([image, block, *place, lane], value)

    def vector(self, b: KernelBuilder) -> AbstractContextManager[Index]:
        """Build the body of a loop over the channels of a block."""
        return b.loop(self.lanes, ForKind.VECTORIZED)

    @property
    def bits(self) -> int:
        """The bits of a sum in memory."""
        assert isinstance(self.total, FixedBitwidthType)
        return max(8, self.total.bitwidth)

    def tiles(self, target: Target) -> TileWidths:
        """Return the tiles from which one is chosen."""
        channels = nominal(self.shape[0], 1) * known(self.shape[1]) * self.lanes
        height, width = (nominal(n, NOMINAL_IMAGE) for n in self.out)
        out, is_known = (height, width), self.out == (height, width)
        return TileWidths(channels, out, self.lanes, self.windows, self.bits, target, is_known)

    def rows_of_block(self, b: KernelBuilder, columns: Extent) -> Extent:
        """Return the rows of a block of the result: as many as there is room for their copied rows
        in the first cache, evenly distributed. There are at least as many as a window has, so that
        most rows are copied once."""
        down, height = self.windows[0], self.out[0]
        row = b.larger(1, columns * self.lanes * self.bits // 8)
        # n rows of the result read (n - 1) * stride + span rows of the data.
        room = b.quotient(space_of(b.target), row)
        fitting = b.quotient(b.larger(0, room - down.span), down.stride) + 1
        most = b.larger(down.span, fitting)
        blocks = b.larger(1, b.quotient(height + most - 1, most))
        return b.quotient(height + blocks - 1, blocks)

    def copy_rows(
        self,
        b: KernelBuilder,
        copied: SSAValue,
        outer: tuple[Index, Index],
        first_row: Index,
        size: tuple[Extent, Extent, int],
    ) -> None:
        """Write loops that copy the rows which a block of rows reads, and set those outside of the
        data to zero."""
        down, across = self.windows
        height, width = self.data.shape[2:4]
        count, columns, _ = size
        # Only columns that some window reaches: with stride 2 and one tap, the last of 4 columns is
        # not.
        width = b.smaller(width, columns - across.before)
        start = first_row * down.stride - down.before
        with b.loop(count) as row:
            source = start + row
            inside = b.inside_bounds(source, 0, height)
            with b.when(inside), b.loop(width) as column, self.vector(b) as lane:
                value = b.read(self.data, [*outer, source, column, lane])
                place = [row, column + across.before, lane]
                b.store(convert(b, value, self.total), copied, place)
            if inside:
                with (
                    b.when([b.negation(b.all(inside))]),
                    b.loop(columns) as column,
                    self.vector(b) as lane,
                ):
                    b.store(b.number(0, self.total), copied, [row, column, lane])

    def sums_of_tile(
        self,
        b: KernelBuilder,
        copied: SSAValue,
        block: Index,
        place: tuple[Index, Index],
        tile: int,
    ) -> SSAValue:
        """Write loops that compute the sums of a tile at a row and column of the block of rows;
        return their buffer."""
        down, across = self.windows
        row, column = (i * v.stride for i, v in zip(place, self.windows, strict=True))
        shape = (tile, self.lanes)
        # `acc` has constant indices only and becomes registers; callers may index `sums` as they
        # like.
        acc, sums = (b.alloc(shape, self.total, "local") for _ in range(2))
        with b.loop(tile, ForKind.UNROLLED) as i, self.vector(b) as lane:
            b.store(b.number(0, self.total), acc, [i, lane])
        # The taps of a row are unrolled: the columns that they have in common are loaded once.
        with b.loop(down.size) as y, b.loop(across.size, ForKind.UNROLLED) as x:
            source = row + y * down.dilation
            first = column + x * across.dilation
            with b.loop(tile, ForKind.UNROLLED) as i, self.vector(b) as lane:
                value = b.load(copied, [source, first + i * across.stride, lane])
                weight = self.weight(b, block, [y, x], lane)
                b.store(multiply_add(b, b.load(acc, [i, lane]), weight, value), acc, [i, lane])
        with b.loop(tile, ForKind.UNROLLED) as i, self.vector(b) as lane:
            b.store(b.load(acc, [i, lane]), sums, [i, lane])
        return sums


@dataclass(frozen=True)
class TileWidths(Space[int]):
    """The numbers of columns that are computed together."""

    channels: int
    """The channels of all images."""
    out: tuple[int, int]
    """The rows and columns of the result; nominal ones for those that are not known."""
    lanes: int
    """The channels of a block."""
    windows: Sequence[Window]
    bits: int
    """The bits of a sum."""
    target: Target
    is_known: bool = True
    """False if one of the extents is nominal."""

    kind = "blocked depthwise tile"

    def problem(self) -> Form:
        windows = " ".join(f"{v.size}:{v.stride}:{v.dilation}" for v in self.windows)
        out = "x".join(map(str, self.out)) if self.is_known else "?"
        form = {"channels": self.channels, "out": out}
        return {**form, "windows": windows, "bits": self.bits, "lanes": self.lanes}

    def candidates(self) -> Iterator[int]:
        """Yield the tiles whose sums take at most half of the registers."""
        vectors = -(-self.lanes // self.target.lanes(self.bits))
        # The other half is for the columns of data that the taps of a row have in common.
        most = self.target.vector_registers // 2 // vectors
        return iter(range(1, max(1, min(self.out[1], most)) + 1))

    def estimate(self, candidate: int) -> float:
        """Return the cycles of the multiply-adds and loads; the last tile of a row overlaps the
        one before."""
        (down, across), (height, width) = self.windows, self.out
        widths = (width,) if self.is_known else WIDTHS
        vectors = -(-self.lanes // self.target.lanes(self.bits))
        columns = {
            i * across.stride + j * across.dilation
            for i in range(candidate)
            for j in range(across.size)
        }
        # With 3 taps and stride 1, 4 windows read 6 columns (0 to 5), not 12; with dilation 4 they
        # read 12.
        loads = down.size * (len(columns) + across.size) * vectors
        products = volume(v.size for v in self.windows) * candidate * vectors
        tile = max(products / MULTIPLY_ADDS, loads / LOADS) + candidate * vectors + TILE_OVERHEAD
        tiles = sum(-(-n // candidate) / n for n in widths) / len(widths) * width
        return self.channels // self.lanes * height * tiles * tile

    def form(self, candidate: int) -> Form:
        return {"columns": candidate}
