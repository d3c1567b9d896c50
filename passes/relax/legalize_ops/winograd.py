"""Winograd's algorithm for convolutions of 3x3 windows, F(m x m, 3x3).

A tile of m x m outputs is computed of a tile of t x t elements of the data, t = m + 2. With Y the
outputs, D the data and G the windows of a channel:

    Y = A^T [ sum over channels of (K G K^T) * (B^T D B) ] A        * multiplies element by element

For each of the t * t elements of a transformed tile, the sum over channels is a matrix product of
the transformed weight and the transformed tiles: t * t products take the place of 9 * m * m.

B^T and A^T follow from m + 1 points, 0 and pairs p, -p; the last row of B^T is for infinity. Rows
of p and -p have the same even terms and opposite odd terms, so that both cost little more than one.
Sources: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016; for the points,
Barabasz et al., Error Analysis and Improving the Accuracy of Winograd Convolution, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, f32
from xdsl.ir import SSAValue

from ....dialects.relax.shapes import Shape
from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.ops import ForKind
from ....dialects.tir.target import Target
from .contraction import CONTRACT, Contraction, Weights
from .cost_model import LINE, Extents, Operand, bandwidth, cycles, schedule_of
from .kernel_builder import Elements, KernelBuilder, Remark, Tensor
from .phases import split_phases
from .tiles import Finish, below, ceildiv, padded, part, write_contraction

if TYPE_CHECKING:
    from ....interpreters.arrays import Array

__all__ = ["Plan", "WinogradConvolution", "plan_of", "write_winograd"]

Transform: TypeAlias = Callable[
    [KernelBuilder, Sequence[SSAValue], Sequence[float]], list[SSAValue]
]

POINTS: dict[int, tuple[float, ...]] = {2: (1.0,), 4: (0.625, 1.5)}
"""The points > 0 for m outputs. All coefficients are exact in f32; the points of F(4x4, 3x3) have
half the error of the usual ones, 1 and 2."""

# What the transforms cost, in cycles.

TRANSFORM = 2.5
"""The cycles of an element of a transformed tile, for all lanes."""
MOVE = 1.5
"""The cycles of an element that is copied between a row and the phases of its columns."""


@dataclass(frozen=True)
class Geometry:
    """A convolution of 3x3 windows of stride 1."""

    windows: Sequence[Window]
    extents: Shape
    """The extents of the data: images, channels, rows, columns."""
    outputs: int
    merged: bool

    @property
    def image(self) -> tuple[int, ...]:
        """The rows and columns of the result."""
        return tuple(w.count(n) for w, n in zip(self.windows, self.extents[2:], strict=True))


@dataclass(frozen=True)
class Plan:
    """The tiles and blocks of a convolution: a block of tiles is transformed and multiplied before
    the next one, so that it stays in the second cache."""

    geometry: Geometry
    m: int
    """The outputs of a tile, in a row."""
    rows: int
    columns: int
    """The tiles of a block."""
    gain: float = 0
    """The estimated cycles of the direct kernel, divided by those of this one."""

    @property
    def t(self) -> int:
        """The elements of the data of a tile, in a row."""
        return self.m + 2

    @property
    def name(self) -> str:
        return f"F({self.m}x{self.m}, 3x3)"

    @property
    def blocks(self) -> tuple[int, int]:
        """The blocks of an image, along its rows and its columns."""
        rows, columns = self.geometry.image
        return -(-rows // (self.rows * self.m)), -(-columns // (self.columns * self.m))

    def pitch(self, channels: int, target: Target) -> int:
        """Return the elements from one matrix of transformed tiles to the next. They are an odd
        number of cache lines apart, as t * t of them are written at the same time."""
        line = LINE // 4
        return (padded(channels * self.rows * self.columns, line) // line | 1) * line

    def split(self, b: KernelBuilder, data: Tensor) -> Tensor:
        """Return the data padded to whole blocks, with column x in the phase x % m at x // m: the
        elements that adjacent tiles read at one place are then contiguous."""
        (row, column), (*_, height, width) = self.geometry.windows, self.geometry.extents
        down, across = (n * self.m * k for n, k in zip(self.blocks, (self.rows, self.columns)))
        windows = [
            Window(row.axis, 3, 1, 1, row.before, down + 2 - row.before - height),
            Window(
                column.axis, self.t, self.m, 1, column.before, across + 2 - column.before - width
            ),
        ]
        return split_phases(b, data, windows)

    def joined(self, split: Tensor) -> Tensor:
        """Return the padded data of `split`, in the shape that `split_phases` has for stride 1."""
        images, channels, _, m, rows, columns = split.shape

        def element(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            *outer, _, _, row, column = index
            phase, place = b.mod(column, m), b.floordiv(column, m)
            return b.read(split, [*outer, 0, phase, row, place])

        return Elements((images, channels, 1, 1, rows, columns * m), split.element, element)


@dataclass(eq=False, kw_only=True)
class WinogradConvolution(Contraction):
    """A convolution whose elements, if all are needed, are computed by Winograd's algorithm."""

    plan: Plan
    source: Tensor
    """The data, as `Plan.split` returns it."""


# The choice


def plan_of(
    b: KernelBuilder, data: Tensor, weight: Tensor, windows: Sequence[Window], groups: int
) -> Plan | None:
    """Return the best plan for a convolution of data (NC...) and weight (OI...), or None if the
    algorithm is not applicable, or estimated to be slower than the direct kernel."""
    if b.winograd == "none" or b.constant(weight) is None or groups != 1:
        return None
    kinds = (data.element, weight.element)
    if not all(isinstance(kind, Float32Type) for kind in kinds):
        return None
    if len(windows) != 2 or any((w.size, w.stride, w.dilation) != (3, 1, 1) for w in windows):
        return None
    geometry = Geometry(tuple(windows), data.shape, weight.shape[0], b.groups is not None)
    if 0 in (*geometry.extents, *geometry.image, geometry.outputs):
        return None
    plan = best_plan(geometry, 4 if b.winograd == "f4" else 2, b.target)
    pays = plan.gain > 1
    text = f"{plan.name} is estimated to be {plan.gain:.2f} times as fast as the direct kernel"
    b.remarks.append(Remark(pays, "Winograd", text))
    return plan if pays else None


@cache
def best_plan(g: Geometry, largest: int, target: Target) -> Plan:
    """Return the plan with the lowest estimate for tiles of at most `largest` outputs in a row."""
    time, plan = min(
        ((estimate(plan, target), plan) for plan in candidates(g, largest)),
        key=lambda pair: pair[0],
    )
    return Plan(g, plan.m, plan.rows, plan.columns, direct_estimate(g, target) / time)


def candidates(g: Geometry, largest: int) -> Iterator[Plan]:
    """Yield the plans that are worth an estimate: blocks of whole rows of tiles, or of equal parts
    of a row."""
    for m in (m for m in POINTS if m <= largest):
        down, across = (-(-n // m) for n in g.image)
        parts = {-(-across // n) for n in (1, 2, 3, 4, 6, 8)}
        yield from (Plan(g, m, 1, columns) for columns in parts)
        rows = {-(-down // n) for n in range(1, down)}
        yield from (Plan(g, m, n, across) for n in rows if n * across <= MOST_TILES)


MOST_TILES = 256
"""The most tiles of a block: from there on, the products gain nothing."""


def direct_estimate(g: Geometry, target: Target) -> float:
    """Return an estimate of the cycles that the direct kernel takes for an image."""
    _, channels, *extents = g.extents
    e = Extents(g.outputs, *g.image, channels, 9, 32, g.merged, Operand.LHS)
    copy = prod(extents) * channels / target.lanes(32)
    return cycles(schedule_of(e, target), e, target) + copy


def estimate(plan: Plan, target: Target) -> float:
    """Return an estimate of the cycles that an image takes."""
    g, tiles = plan.geometry, plan.rows * plan.columns
    _, channels, *extents = g.extents
    matrices = plan.t**2
    e = Extents(g.outputs, 1, tiles, channels, 1, 32, False, Operand.LHS)
    weights = matrices * channels * g.outputs * 4
    product = matrices * cycles(schedule_of(e, target), e, target)
    product = max(product, weights / bandwidth(weights, target))
    elements = matrices * (channels + g.outputs)  # of the transformed tiles, for each tile
    lanes = lanes_of(plan.columns, target.lanes(32))
    vectors = plan.rows * -(-plan.columns // lanes)
    transforms = elements * vectors * TRANSFORM
    # The elements are written and read again, in the cache that holds them.
    size = 4 * elements * tiles
    transforms += 2 * size / bandwidth(size, target)
    moves = MOVE * channels * prod(extents) + MOVE * g.outputs * prod(g.image)
    return prod(plan.blocks) * (product + transforms) + moves


def lanes_of(columns: int, lanes: int) -> int:
    """Return the lanes of vectors of tiles: a power of two, at most the tiles of a row."""
    return min(lanes, 1 << columns.bit_length() - 1)


# The loops


def write_winograd(b: KernelBuilder, t: WinogradConvolution, finish: Finish) -> None:
    """Write loops that compute all elements of `t`, and call `finish` for each."""
    p, outputs = t.plan, t.m
    channels, tiles = t.terms[0], p.rows * p.columns
    matrices = p.t**2
    weights = transformed_weights(t)
    shapes = [(matrices, p.pitch(count, b.target)) for count in (channels, outputs)]
    with (
        b.loop(t.shape[0], ForKind.PARALLEL) as image,
        b.loop(p.blocks[0], ForKind.PARALLEL) as down,
        b.loop(p.blocks[1], ForKind.PARALLEL) as across,
    ):
        first = b.mul(down, p.rows), b.mul(across, p.columns)
        data, sums = (b.alloc(shape, f32) for shape in shapes)
        transform_data(b, t, image, first, data)
        product = matrix_products(matrices, outputs, channels, tiles, weights, data)
        write_contraction(
            b, product, lambda index, value: b.store(value, sums, place(b, tiles, index))
        )
        transform_sums(b, t, image, first, sums, finish)


def place(b: KernelBuilder, tiles: int, index: Sequence[Index]) -> list[Index]:
    """Return the place of a matrix, a channel and a tile in a buffer of transformed tiles."""
    matrix, channel, tile = index
    return [matrix, b.add(b.mul(channel, tiles), tile)]


def transformed_weights(t: WinogradConvolution) -> Weights:
    """Return the weight of a convolution as t * t matrices, transformed when it is compiled."""
    assert t.weights is not None
    m, outputs, channels = t.plan.m, t.m, t.terms[0]

    def matrices(array: Array) -> Array:
        import numpy as np

        left = np.array(weight_transform(POINTS[m]))
        tiles = np.einsum("ai,ocij,bj->aboc", left, array.astype(np.float64), left)
        return tiles.reshape(-1, outputs, channels).astype(np.float32)

    return Weights(
        t.weights.buffer, True, t.plan.t**2, outputs, channels, matrices, lambda batch: batch[0]
    )


def matrix_products(
    matrices: int, m: int, terms: int, columns: int, weights: Weights, data: SSAValue
) -> Contraction:
    """Return the products of the transformed weight and the transformed tiles of a block."""

    def lhs(b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        raise NotImplementedError("callers pass the weight packed")

    return Contraction(
        (matrices, m, columns),
        f32,
        f32,
        (matrices,),
        m,
        (),
        columns,
        (terms,),
        lhs,
        lambda b, batch, ks, row, column: b.load(data, place(b, columns, [*batch, *ks, column])),
        lambda b, batch, m, row, column: [*batch, m, column],
        lambda b, index: ([index[0]], index[1], [], index[2]),
        weights=weights,
    )


def transform_data(
    b: KernelBuilder,
    t: WinogradConvolution,
    image: Index,
    first: tuple[Index, Index],
    data: SSAValue,
) -> None:
    """Write loops that transform the tiles of a block, from the tile `first` on."""
    p = t.plan
    with b.loop(t.terms[0]) as channel, vectors_of_tiles(b, p) as (row, column):
        source_row = b.mul(b.add(first[0], row), p.m)
        source_column = b.add(first[1], column)

        def read(i: int, j: int) -> SSAValue:
            phase, shift = j % p.m, j // p.m
            index = [image, channel, 0, phase, b.add(source_row, i), b.add(source_column, shift)]
            return b.read(t.source, index)

        tile = [[read(i, j) for j in range(p.t)] for i in range(p.t)]
        tile = of_both_sides(b, tile, POINTS[p.m], transform_of_data)
        tiles, number = p.rows * p.columns, b.add(b.mul(row, p.columns), column)
        for i, values in enumerate(tile):
            for j, value in enumerate(values):
                b.store(value, data, place(b, tiles, [i * p.t + j, channel, number]))


def transform_sums(
    b: KernelBuilder,
    t: WinogradConvolution,
    image: Index,
    first: tuple[Index, Index],
    sums: SSAValue,
    finish: Finish,
) -> None:
    """Write loops that transform the sums of a block back, and finish them row by row."""
    p = t.plan
    height, width = p.geometry.image
    tiles = p.rows * p.columns
    phases = b.alloc((p.rows, p.m, p.m, p.columns), f32)
    strip = b.alloc((p.columns * p.m,), f32)
    with b.loop(t.m) as channel:
        with vectors_of_tiles(b, p) as (row, column):
            number = b.add(b.mul(row, p.columns), column)
            tile = [
                [b.load(sums, place(b, tiles, [i * p.t + j, channel, number])) for j in range(p.t)]
                for i in range(p.t)
            ]
            tile = of_both_sides(b, tile, POINTS[p.m], transform_of_sums)
            for i, values in enumerate(tile):
                for j, value in enumerate(values):
                    b.store(value, phases, [row, i, j, column])
        first_row, first_column = b.mul(first[0], p.m), b.mul(first[1], p.m)
        rows = part(b, first_row, p.rows * p.m, height)
        columns = part(b, first_column, p.columns * p.m, width)
        with b.loop(p.rows) as row, b.loop(p.m) as i:
            place_of_row = b.add(b.mul(row, p.m), i)
            with b.when(below(b, place_of_row, rows, p.rows * p.m)):
                with b.loop(p.columns) as column, b.loop(p.m, ForKind.UNROLLED) as j:
                    value = b.load(phases, [row, i, j, column])
                    b.store(value, strip, [b.add(b.mul(column, p.m), j)])
                with (
                    b.loop(ceildiv(b, columns, b.lanes)) as chunk,
                    b.loop(b.lanes, ForKind.VECTORIZED) as lane,
                ):
                    x = b.add(b.mul(chunk, b.lanes), lane)
                    with b.when(below(b, x, columns, b.lanes)):
                        value = t.element_of(b, b.load(strip, [x]))
                        y, column = b.add(first_row, place_of_row), b.add(first_column, x)
                        inside = [b.add(b.mul(y, width), column)] if t.merged else [y, column]
                        *outer, last = inside
                        finish(t.index_of(b, [image, 0], channel, outer, last), value)


@contextmanager
def vectors_of_tiles(b: KernelBuilder, p: Plan) -> Generator[tuple[Index, Index]]:
    """Write vectorized loops over the tiles of a block, and yield the row and the column of one.

    The vectors at the end of a row overlap, so that none needs a mask.
    """
    lanes = lanes_of(p.columns, b.lanes)
    with b.loop(p.rows) as row, b.loop(-(-p.columns // lanes)) as chunk:
        start = b.mul(chunk, lanes)
        if p.columns % lanes:
            start = b.min(start, p.columns - lanes)
        with b.loop(lanes, ForKind.VECTORIZED) as lane:
            yield row, b.add(start, lane)


# The transforms


def of_both_sides(
    b: KernelBuilder, tile: list[list[SSAValue]], points: Sequence[float], transform: Transform
) -> list[list[SSAValue]]:
    """Return a tile whose columns, and then rows, are transformed."""
    columns = [transform(b, column, points) for column in zip(*tile, strict=True)]
    return [transform(b, row, points) for row in zip(*columns, strict=True)]


def transform_of_data(
    b: KernelBuilder, x: Sequence[SSAValue], points: Sequence[float]
) -> list[SSAValue]:
    """Return B^T x. The row of a point q has the coefficients of the product of z - r over the
    other points r; the last row has those of the product over all points."""
    whole = coefficients(points)
    result = [combine(b, whole, x[0::2])]
    for p in points:
        others = coefficients([q for q in points if q != p])
        even, odd = combine(b, others, x[2::2]), combine(b, others, x[1:-1:2])
        result += [multiply_add(b, p, odd, even), multiply_add(b, -p, odd, even)]
    return [*result, combine(b, whole, x[1::2])]


def transform_of_sums(
    b: KernelBuilder, x: Sequence[SSAValue], points: Sequence[float]
) -> list[SSAValue]:
    """Return A^T x: row k has the powers q^k of all points q, and the last row 1 for infinity."""
    zero, *pairs, infinity = x
    sums = [multiply_add(b, 1, v, u) for u, v in zip(pairs[0::2], pairs[1::2], strict=True)]
    differences = [multiply_add(b, -1, v, u) for u, v in zip(pairs[0::2], pairs[1::2], strict=True)]
    last = 2 * len(points) - 1
    result: list[SSAValue] = []
    for k in range(last + 1):
        start = zero if k == 0 else infinity if k == last else None
        parts = differences if k % 2 else sums
        result.append(combine(b, [p**k for p in points], parts, start))
    return result


def weight_transform(points: Sequence[float]) -> list[list[float]]:
    """Return K: the row of a point q is 1, q, q^2, divided by the product of q - r over the other
    points r."""
    rows = [[1 / coefficients(points)[0], 0, 0]]
    for p in points:
        others = coefficients([q for q in points if q != p])
        divisor = 2 * p**2 * sum(c * p ** (2 * k) for k, c in enumerate(others))
        rows += [[1 / divisor, q / divisor, q * q / divisor] for q in (p, -p)]
    return [*rows, [0, 0, 1]]


def coefficients(points: Sequence[float]) -> list[float]:
    """Return the coefficients of the product of z - p^2 over `points`, lowest first."""
    result = [1.0]
    for p in points:
        result = [a - p * p * c for a, c in zip([0.0, *result], [*result, 0.0], strict=True)]
    return result


def combine(
    b: KernelBuilder,
    factors: Sequence[float],
    x: Sequence[SSAValue],
    start: SSAValue | None = None,
) -> SSAValue:
    """Return `start` and the sum of the products of `factors` and `x`."""
    # A factor of 1 first: it needs no product.
    for factor, value in sorted(zip(factors, x, strict=True), key=lambda pair: pair[0] != 1):
        start = multiply_add(b, factor, value, start)
    assert start is not None
    return start


def multiply_add(b: KernelBuilder, factor: float, x: SSAValue, total: SSAValue | None) -> SSAValue:
    """Return `total + factor * x`."""
    if factor == -1 and total is not None:
        return b.pure(arith.SubfOp, total, x)
    if factor != 1:
        x = b.pure(arith.MulfOp, b.number(factor, x.type), x, flags=CONTRACT)
    return x if total is None else b.pure(arith.AddfOp, total, x, flags=CONTRACT)
