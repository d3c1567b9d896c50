"""The tiles and blocks of convolutions by Winograd's algorithm, chosen by the cost model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import prod

from ....dialects.relax.shapes import Shape
from ....dialects.relax.windows.windows import Window
from ....dialects.target import Target
from ..tiles.cost_model import bandwidth, cycles
from ..tiles.schedule import ContractionOperand, Extents
from ..tiles.tile_sizes import schedule_of
from .transforms import POINTS

__all__ = ["Convolution", "WinogradPlan", "best_plan", "lanes_of"]

# What the algorithm costs beside the matrix products, in cycles.

TRANSFORM = 2.5
"""The cycles of transforming a vector of elements, with its load and store."""
MOVE = 1.5
"""The cycles of copying an element from a row to the phases of its columns, or back."""
EXPOSED = 0.25
"""The part of reading the weight that products do not hide: blocks of few tiles read it often."""

MAX_TILES = 256
"""The most tiles of a block of several rows: products of more columns are not faster."""


@dataclass(frozen=True)
class Convolution:
    """A convolution of 3x3 windows of stride and dilation 1, in one group, of elements of f32."""

    windows: tuple[Window, Window]
    data: Shape
    """Images, channels, rows, columns."""
    outputs: int
    merged: bool
    """True if a block of the direct kernel may consist of several rows of the result."""

    @property
    def image(self) -> tuple[int, int]:
        """The rows and columns of the result."""
        (row, column), (*_, height, width) = self.windows, self.data
        return row.count(height), column.count(width)


@dataclass(frozen=True)
class WinogradPlan:
    """The extents of tiles and blocks. The tiles of a block are transformed and multiplied
    together: in few blocks, the weight is read rarely; small blocks stay in the caches."""

    convolution: Convolution
    m: int
    """The outputs of a tile, along each dimension."""
    rows: int
    columns: int
    """The tiles of a block."""
    gain: float = 0
    """The estimated time of the direct kernel, divided by that of this one."""

    @property
    def t(self) -> int:
        """The elements of the data that a tile reads, along each dimension."""
        return self.m + 2

    @property
    def tiles(self) -> int:
        """The tiles of a block."""
        return self.rows * self.columns

    @property
    def blocks(self) -> tuple[int, int]:
        """The blocks of an image, along its rows and its columns."""
        height, width = self.convolution.image
        return -(-height // (self.rows * self.m)), -(-width // (self.columns * self.m))

    @property
    def name(self) -> str:
        return f"F({self.m}x{self.m}, 3x3)"


@cache
def best_plan(convolution: Convolution, largest: int, target: Target) -> WinogradPlan:
    """Return the plan with the lowest estimate whose tiles have at most `largest` outputs along
    each dimension."""
    plans = {plan: estimate(plan, target) for plan in candidates(convolution, largest)}
    best = min(plans, key=plans.__getitem__)
    return replace(best, gain=direct_estimate(convolution, target) / plans[best])


def candidates(convolution: Convolution, largest: int) -> Iterator[WinogradPlan]:
    """Yield the plans that are worth an estimate: blocks of equal parts of a row of tiles, or of
    whole rows."""
    # A tile of 4x4 outputs takes 36 products for 144 (a quarter), one of 2x2 16 for 36; but of 7
    # columns, two tiles of 4 compute 8, and 4x4 has about 2.6 times the rounding error of 2x2.
    # Hence the user says which is allowed (`winograd`), and the estimate decides among those.
    for m in (m for m in POINTS if m <= largest):
        down, across = (-(-n // m) for n in convolution.image)
        for columns in {-(-across // n) for n in (1, 2, 3, 4, 6, 8)}:
            yield WinogradPlan(convolution, m, 1, columns)
        for rows in {-(-down // n) for n in range(1, down)}:
            if rows * across <= MAX_TILES:
                yield WinogradPlan(convolution, m, rows, across)


def direct_estimate(convolution: Convolution, target: Target) -> float:
    """Return an estimate of the cycles that the direct kernel takes for an image on one core."""
    target = replace(target, cores=1)
    _, channels, *extents = convolution.data
    outputs, merged = convolution.outputs, convolution.merged
    e = Extents(outputs, *convolution.image, channels, 9, 32, merged, ContractionOperand.LHS, 3)
    copy = channels * prod(extents) / target.lanes(32)
    return cycles(schedule_of(e, target), e, target) + copy


def estimate(plan: WinogradPlan, target: Target) -> float:
    """Return an estimate of the cycles that an image takes on one core. Blocks that cores cannot
    share evenly count as more."""
    # The products are t * t small matrix products, whose time the cost model of the direct kernel
    # knows; the transforms read and write t * t matrices of the data and of the sums; the data are
    # copied into phases, and the sums back.
    blocks = -(-prod(plan.blocks) // target.cores) * target.cores
    target = replace(target, cores=1)
    convolution = plan.convolution
    outputs, image = convolution.outputs, convolution.image
    _, channels, *extents = convolution.data
    matrices = plan.t**2
    e = Extents(
        m=outputs,
        rows=1,
        columns=plan.tiles,
        inputs=channels,
        taps=1,
        bits=32,
        merged=False,
        constant=ContractionOperand.LHS,
    )
    products = matrices * cycles(schedule_of(e, target), e, target)
    weight = 4 * matrices * outputs * channels  # bytes; each block reads all of them
    reading = weight / bandwidth(weight, target)
    products = max(products, reading) + EXPOSED * reading
    elements = matrices * (channels + outputs)  # of each tile
    vectors = plan.rows * -(-plan.columns // lanes_of(plan, target.lanes(32)))
    size = 4 * elements * plan.tiles  # bytes, which are written and read
    transforms = elements * vectors * TRANSFORM + 2 * size / bandwidth(size, target)
    moves = MOVE * (channels * prod(extents) + outputs * prod(image))
    return blocks * (products + transforms) + moves


def lanes_of(plan: WinogradPlan, lanes: int) -> int:
    """Return the lanes of vectors of tiles: a power of two, at most the tiles of a row."""
    return min(lanes, 1 << plan.columns.bit_length() - 1)
