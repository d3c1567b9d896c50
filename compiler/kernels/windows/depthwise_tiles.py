"""The tiles of depthwise convolutions, and the blocks of rows in which there are tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.windows import Window
from ....dialects.target import Target
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ..builder import KernelBuilder, Scheduled, Tensor
from ..choices import Form, Space
from ..contraction.contraction import of_total
from ..scalars import convert, multiply_add
from ..tensors import known
from ..tiles.cost_model import LINE, LOADS, MULTIPLY_ADDS, TILE_OVERHEAD
from ..tiles.schedule import NOMINAL_IMAGE
from ..tiles.schedules import nominal
from .phases import count_of, fits

SHARES = 1, 2, 4
"""The divisors of the nominal extents for which tiles are chosen: whole extents, halves and
quarters."""


@dataclass(frozen=True)
class DepthwiseTile:
    """The rows, and the vectors of columns, that are computed together."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes

    def parts(self) -> list[tuple[int, int]]:
        """Return the row and the first column of each vector."""
        return [(i, j * self.lanes) for i in range(self.rows) for j in range(self.vectors)]


@dataclass(frozen=True)
class Problem:
    """A depthwise convolution, for the cost model."""

    channels: int
    """The output channels of all images."""
    out: tuple[int, ...]
    """The spatial extents of the result; nominal ones for those that are not known."""
    windows: Sequence[Window]
    bits: int
    """The bits of a sum in memory."""
    is_known: bool
    """False if one of the extents is nominal."""

    @staticmethod
    def of(channels: int, shape: Shape, windows: Sequence[Window], bits: int) -> Problem:
        """Return the problem for a result whose spatial extents are `shape`."""
        out = tuple(nominal(n, NOMINAL_IMAGE) for n in shape)
        return Problem(channels, out, windows, bits, out == shape)


@dataclass(frozen=True)
class DepthwiseTiles(Space[DepthwiseTile]):
    """The tiles of a depthwise convolution in blocks of `rows` rows."""

    convolution: Problem
    rows: int
    target: Target

    kind = "depthwise tile"

    def problem(self) -> Form:
        t = self.convolution
        windows = " ".join(f"{v.size}:{v.stride}:{v.dilation}" for v in t.windows)
        out = "x".join(map(str, t.out)) if t.is_known else "?"
        return {"channels": t.channels, "out": out, "windows": windows, "bits": t.bits}

    def candidates(self) -> Iterator[DepthwiseTile]:
        return tiles(self.convolution, self.rows, self.target)

    def estimate(self, candidate: DepthwiseTile) -> float:
        t = self.convolution
        blocks = t.channels * prod(t.out[:-2]) * (t.out[-2] // self.rows)
        return blocks * cycles(candidate, t, self.rows, self.target)


def tiles(t: Problem, rows: int, target: Target) -> Iterator[DepthwiseTile]:
    """Yield the tiles whose sums fit into registers beside a vector of data, a product and a column
    of weights. If a column of weights is long, some weights are loaded again. Some lanes may be
    computed in vain beyond the columns, but less than half."""
    # 56 columns of 3x3 windows on x86-64-v3 get 10 rows of one vector: 10 sums, 3 weights, a vector
    # of data and a product are 15 of 16 registers. 7 columns take vectors of 8.
    columns, down = t.out[-1], t.windows[-2].size
    lanes = min(target.lanes(t.bits), 1 << (columns - 1).bit_length())
    registers = target.vector_registers
    sums = max(registers // 2 - 1, registers - 2 - down)
    for vectors in range(1, max(1, min(sums, columns // lanes)) + 1):
        for count in range(1, min(rows, sums // vectors) + 1):
            yield DepthwiseTile(count, vectors, lanes)


def cycles(tile: DepthwiseTile, t: Problem, rows: int, target: Target) -> float:
    """Return an estimate of the cycles that a block of `rows` rows takes."""
    window = t.windows[-2]
    sources = len({source for _, _, source in sources_of(window, tile.rows)})
    # A load that crosses two cache lines counts twice.
    # A vector of 32 bytes at any element of 4 crosses a line of 64 bytes half of the time, about.
    crossing = 1 + tile.lanes * t.bits / 8 / LINE
    loads = sources * tile.vectors * crossing + window.size
    sums = tile.rows * tile.vectors
    rate = MULTIPLY_ADDS if target.has("fma") else MULTIPLY_ADDS / 2
    columns_of_taps = volume(v.size for v in t.windows) // window.size
    step = columns_of_taps * max(sums * window.size / rate, loads / LOADS)
    columns = t.out[-1]
    if t.is_known:
        count = -(-rows // tile.rows) * -(-columns // tile.columns)
    else:
        count = average_count(tile, rows, columns)
    return count * (step + sums + TILE_OVERHEAD)


def average_count(tile: DepthwiseTile, rows: int, columns: int) -> float:
    """Return the average number of tiles that cover as many elements as a block of `rows` rows:
    over images with rows and columns of that size, and smaller ones. Along each dimension, half of
    a tile exceeds the image on average."""
    counts = [
        (rows / n / tile.rows + 0.5) * (columns / n / tile.columns + 0.5) * n * n for n in SHARES
    ]
    return sum(counts) / len(counts)


def sources_of(window: Window, rows: int) -> list[tuple[int, int, tuple[int, int]]]:
    """Return each row and tap of a tile with the phase and the quotient of the image row that they
    read, sorted by phase and quotient."""
    found = [
        (row, tap, (offset % window.stride, row + offset // window.stride))
        for row, tap in product(range(rows), range(window.size))
        for offset in [tap * window.dilation]
    ]
    return sorted(found, key=lambda source: source[2])


def rows_of(t: Problem, target: Target) -> int:
    """Return the rows of a block. Their number divides the number of all rows. The image and sums
    of a block stay in the first cache, unless most rows would then be copied twice."""
    height, window = t.out[-2], t.windows[-2]
    row = row_bytes(t.out, t.windows, t.bits)
    fitting = [
        n for n in range(window.span, height + 1) if height % n == 0 and row * n <= space_of(target)
    ]
    return max(fitting, default=height)


def row_bytes(out: Sequence[Extent], windows: Sequence[Window], bits: int) -> Extent:
    """Return the bytes of the elements of the image, and of the sums, that belong to a row of the
    result."""
    # With stride 2, an output row has two rows of the image and each of its columns two: 4
    # elements.
    reads = volume(min(v.stride, v.span) for v in windows)  # the phases of an element
    return volume(out[:-2]) * out[-1] * bits // 8 * (1 + reads)


def space_of(target: Target) -> int:
    """Return the bytes that a block may have to stay in the first cache."""
    return target.l1_cache * 3 // 4


# The sums of depthwise convolutions: products of the taps of each window.


@dataclass(eq=False)
class DepthwiseSums(Scheduled):
    """A convolution of data (NC...) whose output channels have one input channel each."""

    total: Attribute
    """The type of products and sums."""
    data: Tensor
    kernel: Tensor
    """The taps of each output channel, in row-major order."""
    windows: Sequence[Window]
    """The windows of the rows and columns, at least two."""
    index_of: Callable[[KernelBuilder, Index, Index, Sequence[Index]], list[Index]]
    """Return the index of the element at an image, an output channel and a position, which is the
    row-major one if the kernel merges the spatial dimensions."""
    place_of: Callable[[KernelBuilder, Sequence[Index]], tuple[Index, Index, list[Index]]]
    """The inverse of `index_of`; the position has all dimensions."""
    merged: bool
    """True if the kernel merges the spatial dimensions."""

    @property
    def bits(self) -> int:
        """The bits of a sum in memory."""
        assert isinstance(self.total, FixedBitwidthType)
        return max(8, self.total.bitwidth)

    def lanes(self, b: KernelBuilder) -> int:
        """Return the sums that a vector has."""
        return b.target.lanes(self.bits)

    def out(self, b: KernelBuilder) -> Shape:
        """Return the spatial extents of the result."""
        pairs = zip(self.windows, self.data.shape[2:], strict=True)
        return tuple(count_of(b, v, n) for v, n in pairs)

    @property
    def per_channel(self) -> int:
        """The output channels of an input channel."""
        return known(self.kernel.shape[0]) // known(self.data.shape[1])

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, output, place = self.place_of(b, index)
        channel = output // self.per_channel
        zero = b.number(0, self.total)

        def step(acc: SSAValue, taps: Sequence[Index]) -> SSAValue:
            source = [
                i * v.stride + tap * v.dilation - v.before
                for i, tap, v in zip(place, taps, self.windows, strict=True)
            ]
            inside = self.inside(b, source, self.windows)

            def value() -> SSAValue:
                return convert(b, b.read(self.data, [image, channel, *source]), self.total)

            element = b.choose(inside, value, lambda: zero)
            return multiply_add(b, acc, self.weight(b, output, taps), element)

        sizes = [v.size for v in self.windows]
        return of_total(b, b.accumulate(sizes, zero, step), self.element)

    def inside(
        self, b: KernelBuilder, source: Sequence[Index], windows: Sequence[Window]
    ) -> list[SSAValue]:
        """Return the conditions under which the first indices of an element, along `windows`, are
        in the data. The element may be in the padding, or with strides in a phase that ends before
        others."""
        # `zip` may end early: `copy_rows` gives the indices of all dimensions but the last.
        extents = zip(source, self.data.shape[2:], windows)
        return [
            condition
            for i, extent, window in extents
            if window.stride > 1 or not fits(b, window, extent)
            for condition in b.inside_bounds(i, 0, extent)
        ]

    def weight(self, b: KernelBuilder, output: Index, taps: Sequence[Index]) -> SSAValue:
        """Return the weight of an output channel at a tap."""
        position = b.flat(taps, [v.size for v in self.windows])
        return convert(b, b.read(self.kernel, [output, position]), self.total)
