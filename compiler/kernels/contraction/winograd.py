"""Convolutions by Winograd's algorithm: where it is applied, and the loops that compute them.

    for block of tiles:
      transform the tiles of the data                          t * t matrices of channels, tiles
      multiply the matrices of the weight by those             t * t matrices of outputs, tiles
      transform the sums back, and finish rows of outputs

The lanes of vectors are adjacent tiles. The weight is transformed when it is compiled.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import Float32Type, f32
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.windows import Window
from ....dialects.target import Target
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder, Store, Tensor
from ..choices import Form, Space
from ..tensors import known, known_shape
from ..tiles.blocks import below, padded, part
from ..tiles.cost_model import LINE
from ..tiles.loop_nest import write_contraction
from ..tiles.schedules import nominal
from ..windows.phases import split_phases
from .contraction import Contraction, Coordinates, PackedWeights
from .winograd_plan import (
    Convolution,
    Tile,
    WinogradPlan,
    best_plan,
    candidates,
    direct_estimate,
    estimate,
    transform,
    transform_of_data,
    transform_of_sums,
    weights_of,
)


def plan_of(
    b: KernelBuilder,
    data: Tensor,
    weight: Tensor,
    windows: Sequence[Window],
    groups: int,
    element: Attribute,
) -> WinogradPlan | None:
    """Return a plan to compute the convolution of data (NC...) and a weight (OI...) by the
    algorithm, with results of type `element`; None if it is not applicable, or slower than the
    direct kernel."""
    if b.winograd == "none" or b.constant(weight) is None or groups != 1:
        return None
    # Data of f16 are in f32 here, but the range of their results is that of f16.
    types = data.element, weight.element, element
    if not all(isinstance(type, Float32Type) for type in types):
        return None
    # Other windows are not handled: with strides they have fewer elements in common, and larger
    # ones need more points, which cost precision.
    if len(windows) != 2 or any((w.size, w.stride, w.dilation) != (3, 1, 1) for w in windows):
        return None
    if not all(isinstance(extent, int) for extent in (*data.shape, *weight.shape)):
        return None
    if 0 in (*data.shape, *weight.shape):
        return None
    row, column = windows
    merged = b.groups is not None
    convolution = Convolution(
        (row, column), known_shape(data.shape), known(weight.shape[0]), merged
    )
    plans = Plans(convolution, 4 if b.winograd == "f4" else 2, b.target)
    chosen, best = b.decide(plans), plans.estimated()
    text = f"{best.name} is estimated to be {best.gain:.2f} times as fast as the direct kernel"
    b.remark("missed" if chosen is None else "passed", "Winograd", text)
    return chosen


@dataclass(frozen=True)
class Plans(Space[WinogradPlan | None]):
    """The plans of a convolution, and the direct kernel."""

    convolution: Convolution
    largest: int
    """The most outputs of a tile along each dimension."""
    target: Target

    kind = "Winograd"

    def problem(self) -> Form:
        images, channels = map(nominal, self.convolution.data[:2])
        height, width = self.convolution.image
        outputs, largest = self.convolution.outputs, self.largest
        return {
            "images": images,
            "channels": channels,
            "rows": height,
            "columns": width,
            "outputs": outputs,
            "largest": largest,
        }

    def candidates(self) -> Iterator[WinogradPlan | None]:
        yield None
        yield from candidates(self.convolution, self.largest)

    def estimate(self, candidate: WinogradPlan | None) -> float:
        images = nominal(self.convolution.data[0])
        if candidate is None:
            return images * direct_estimate(self.convolution, self.target)
        return images * estimate(candidate, self.target)

    def estimated(self) -> WinogradPlan:
        """Return the plan with the lowest estimate."""
        return best_plan(self.convolution, self.largest, self.target)

    def best(self) -> WinogradPlan | None:
        plan = self.estimated()
        return plan if plan.gain > 1 else None

    def form(self, candidate: WinogradPlan | None) -> Form:
        if candidate is None:
            return {}
        return {"m": candidate.m, "rows": candidate.rows, "columns": candidate.columns}


@dataclass(eq=False)
class TiledData(Tensor):
    """The padded data of a convolution in the shape that `split_phases` returns for stride 1. In
    `phases`, column x is in phase x % m at x // m, so that the elements that adjacent tiles read at
    one place are contiguous."""

    plan: WinogradPlan
    phases: Tensor

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, channel, _, _, row, column = index
        m = self.plan.m
        return b.read(self.phases, [image, channel, 0, column % m, row, column // m])


def split_tiles(b: KernelBuilder, data: Tensor, plan: WinogradPlan) -> TiledData:
    """Return the data (NCHW) of a convolution, padded to whole blocks of tiles."""
    row, column = plan.convolution.windows
    images, channels, height, width = known_shape(data.shape)
    # Along a row, tile j reads t elements from j * m on: a window of t taps and stride m. So
    # `split_phases` copies, with m = 2 and t = 4,
    #
    #     phase 0: 0 2 4 6 8    phase 1: 1 3 5 7 9
    #
    # and element 2 of tiles 0 1 2 is 2 4 6, a vector. Rows stay as they are. `after` is what fills
    # the last block of tiles, so that no tile asks whether it is in the image.
    m, (down, across) = plan.m, plan.blocks
    rows, columns = down * plan.rows * m + 2, across * plan.columns * m + 2
    windows = [
        Window(row.axis, 3, 1, 1, row.before, rows - row.before - known(height)),
        Window(column.axis, plan.t, m, 1, column.before, columns - column.before - known(width)),
    ]
    phases = split_phases(b, data, windows)
    return TiledData((images, channels, 1, 1, rows, columns), data.element, plan, phases)


@dataclass(eq=False, kw_only=True)
class WinogradConvolution(Contraction):
    """A convolution whose elements are computed by the algorithm if all are needed."""

    data: TiledData


def write_winograd(b: KernelBuilder, t: WinogradConvolution, finish: Store) -> None:
    """Write loops that compute all elements of `t`, and call `finish` for each."""
    plan, (channels, *_) = t.data.plan, t.terms
    weights = transformed_weights(t)
    with (
        b.loop(t.shape[0], ForKind.PARALLEL) as image,
        b.loop(plan.blocks[0], ForKind.PARALLEL) as down,
        b.loop(plan.blocks[1], ForKind.PARALLEL) as across,
    ):
        block = TileBlock(image, down * plan.rows, across * plan.columns)
        # The buffers are of a block and a thread. Their sizes, t * t * tiles * (channels + outputs)
        # numbers, decide how large a block is (`estimate`): the three steps pass them through the
        # caches.
        counts = known(channels), known(t.m)
        data, sums = (Matrices.alloc(b, plan, count) for count in counts)
        transform_data(b, t, block, data)
        product = products(plan, known(t.m), channels, weights, data)
        write_contraction(b, product, sums.store)
        transform_sums(b, t, block, sums, finish)


@dataclass(frozen=True)
class TileBlock:
    """A block of tiles of an image, given by its first row and its first column of tiles."""

    image: Index
    row: Index
    column: Index


@dataclass(frozen=True)
class Matrices:
    """A buffer of t * t matrices of channels and tiles of a block.

    The matrices are an odd number of cache lines apart: at a power of two, the elements of a tile,
    which are accessed together, would compete for few sets of a cache.
    """

    b: KernelBuilder
    buffer: SSAValue
    tiles: int

    @staticmethod
    def alloc(b: KernelBuilder, plan: WinogradPlan, channels: int) -> Matrices:
        line = LINE // 4
        lines = padded(channels * plan.tiles, line) // line
        return Matrices(b, b.alloc((plan.t**2, (lines | 1) * line), f32), plan.tiles)

    def load(self, index: Sequence[Index]) -> SSAValue:
        """Return the element of a matrix, a channel and a tile."""
        return self.b.load(self.buffer, self._place(*index))

    def store(self, index: Sequence[Index], value: SSAValue) -> None:
        """Store the element of a matrix, a channel and a tile."""
        self.b.store(value, self.buffer, self._place(*index))

    def _place(self, matrix: Index, channel: Index, tile: Index) -> list[Index]:
        return [matrix, channel * self.tiles + tile]


def transformed_weights(t: WinogradConvolution) -> PackedWeights:
    """Return the constant weight as t * t matrices, which callers pass."""
    assert t.weights is not None
    plan, buffer = t.data.plan, t.weights.buffer
    return PackedWeights(
        buffer, True, lambda array: weights_of(array, plan.m), plan.t**2, lambda batch: batch[0]
    )


def products(
    plan: WinogradPlan, rows: int, terms: Extent, weights: PackedWeights, data: Matrices
) -> Contraction:
    """Return the products of the matrices of the weight, which exist only packed, and of the
    data."""
    return Contraction(
        shape=(weights.groups, rows, plan.tiles),
        element=f32,
        total=f32,
        batch=(weights.groups,),
        m=rows,
        rows=(),
        columns=plan.tiles,
        terms=(terms,),
        read_lhs=None,
        rhs=lambda b, ks, at: data.load([*at.batch, *ks, at.column]),
        index_of=lambda b, at: [*at.batch, at.m, at.column],
        coordinates_of=lambda b, index: Coordinates([index[0]], index[1], [], index[2]),
        weights=weights,
    )


def transform_data(
    b: KernelBuilder, t: WinogradConvolution, block: TileBlock, data: Matrices
) -> None:
    """Write loops that transform the data of a block."""
    plan, phases = t.data.plan, t.data.phases
    m, places = plan.m, range(plan.t)
    with b.loop(t.terms[0]) as channel, vectors_of_tiles(b, plan) as (row, column, number):
        # Unrolled: the t * t elements of a tile, each a vector of adjacent tiles, are values. 36 of
        # them for m = 4 exceed any register file, so LLVM spills some between columns and rows.
        first_row, first = (block.row + row) * m, block.column + column
        tile: Tile = [[] for _ in places]
        for i in places:
            for j in places:
                at = [block.image, channel, 0, j % m, first_row + i, first + j // m]
                tile[i].append(b.read(phases, at))
        for i, values in enumerate(transform(b, tile, m, transform_of_data)):
            for j, value in enumerate(values):
                data.store([i * plan.t + j, channel, number], value)


def transform_sums(
    b: KernelBuilder, t: WinogradConvolution, block: TileBlock, sums: Matrices, finish: Store
) -> None:
    """Write loops that transform the sums of a block back, and that call `finish` for its outputs
    row by row."""
    plan = t.data.plan
    m, places = plan.m, range(plan.t)
    # The lanes of sums are adjacent tiles, those of the result adjacent columns: column j of tile i
    # is column i * m + j. The elements are moved one by one from `phases` to `lines` (MOVE).
    phases = b.alloc((plan.rows, m, m, plan.columns), f32)
    lines = b.alloc((plan.rows * m, padded(plan.columns * m, b.lanes)), f32)
    with b.loop(t.m) as channel:
        with vectors_of_tiles(b, plan) as (row, column, number):
            tile = [[sums.load([i * plan.t + j, channel, number]) for j in places] for i in places]
            for i, values in enumerate(transform(b, tile, m, transform_of_sums)):
                for j, value in enumerate(values):
                    b.store(value, phases, [row, i, j, column])
        with b.loops((plan.rows, m, plan.columns)) as (row, i, column):
            with b.loop(m, ForKind.UNROLLED) as j:
                value = b.load(phases, [row, i, j, column])
                place = [row * m + i, column * m + j]
                b.store(value, lines, place)
        finish_rows(b, t, block, channel, lines, finish)


def finish_rows(
    b: KernelBuilder,
    t: WinogradConvolution,
    block: TileBlock,
    channel: Index,
    lines: SSAValue,
    finish: Store,
) -> None:
    """Write loops that call `finish` for the outputs of a block that are in the image, row by
    row."""
    plan = t.data.plan
    m, (height, width) = plan.m, plan.convolution.image
    first_row, first_column = block.row * m, block.column * m
    rows = part(b, first_row, plan.rows * m, height)
    columns = part(b, first_column, plan.columns * m, width)
    with (
        b.loop(rows) as row,
        b.loop(b.ceildiv(columns, b.lanes)) as chunk,
        b.loop(b.lanes, ForKind.VECTORIZED) as lane,
    ):
        # The tiles at the right and the bottom may reach beyond the image. The outputs beyond it
        # are left out here.
        column = chunk * b.lanes + lane
        with b.when(below(b, column, columns, b.lanes)):
            y, x = first_row + row, first_column + column
            outer, last = ([], b.flat([y, x], [height, width])) if t.merged else ([y], x)
            index = t.index_of(b, Coordinates([block.image, 0], channel, outer, last))
            finish(index, t.element_of(b, b.load(lines, [row, column])))


@contextmanager
def vectors_of_tiles(b: KernelBuilder, plan: WinogradPlan) -> Generator[tuple[Index, Index, Index]]:
    """Write vectorized loops over the tiles of a block; yield the row, the column and the number of
    a tile. The vectors at the end of a row overlap, so that none needs a mask."""
    with b.loop(plan.rows) as row, b.covering(plan.columns, b.lanes) as column:
        yield row, column, row * plan.columns + column
