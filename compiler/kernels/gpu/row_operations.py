"""Operations along rows on tiles: reductions, softmax, normalizations.

Each function writes the folds over the rows that its operation needs, and returns a function that
computes the tile of the result at a place. f16 is computed in f32, and rounded once, but for the
steps of softmax; integers wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.cuda_tile.attributes import ComparisonPredicate
from ....dialects.relax.reduction import normalization as norms
from ....dialects.relax.reduction import reduction as ops
from ....dialects.relax.reduction.nn import LogSoftmaxOp, SoftmaxOp
from ....dialects.relax.types import bounds, is_integer, is_unsigned
from ....dialects.relax.windows import (
    AdaptiveAvgPool1dOp,
    AdaptiveAvgPool2dOp,
    AdaptiveAvgPool3dOp,
    AdaptiveMaxPool1dOp,
    AdaptiveMaxPool2dOp,
    AdaptiveMaxPool3dOp,
)
from ..scalars import step_type, wide_type
from .row_program import RowProgram, Tile, TilePlace, cached
from .tile_writer import TileReduction, TileWriter

__all__ = ["ROW_OPERATIONS", "RowTiles"]

SUM = TileReduction("add", 0)


@dataclass(frozen=True)
class RowTiles:
    """The operands of an operation along rows."""

    program: RowProgram
    raw: Tile
    """The data."""
    element: Attribute
    """The element type of the data."""
    parameters: Sequence[Tile] = ()

    @property
    def writer(self) -> TileWriter:
        return self.program.writer

    @property
    def wide(self) -> Attribute:
        """The type in which elements are computed."""
        return step_type(self.element)

    def data(self, place: TilePlace, kind: Attribute | None = None) -> SSAValue:
        """Return the tile of the data in a type, by default the wide one."""
        return self.writer.convert(self.raw(place), self.element, kind or self.wide)

    def parameter(self, number: int) -> Tile:
        """Return the widened tiles of a parameter, which has the element type of the data."""
        tile = self.parameters[number]
        return lambda place: self.writer.convert(tile(place), self.element, self.wide)

    def fold(self, element: Tile, reduction: TileReduction) -> SSAValue:
        return self.program.fold(element, reduction, self.wide)

    def rounded(self, tile: SSAValue) -> SSAValue:
        """Return a wide tile in the element type."""
        return self.writer.convert(tile, self.wide, self.element)

    def step(self, tile: SSAValue) -> SSAValue:
        """Return a wide tile rounded to the element type, wide again."""
        return self.writer.convert(self.rounded(tile), self.element, self.wide)

    def count(self, kind: Attribute) -> SSAValue:
        """Return the number of elements of a row."""
        if isinstance(count := self.program.count, int):
            return self.writer.number(count, kind)
        return self.writer.convert(self.writer.size(count), i32, kind)

    def mean(self, element: Tile) -> SSAValue:
        return self.writer.divide(self.fold(element, SUM), self.count(self.wide))

    def inverse_root(self, squares: SSAValue) -> SSAValue:
        """Return the reciprocal of the root of a mean square, one for each row."""
        one = self.writer.number(1, self.wide)
        return self.writer.divide(one, self.writer.root(squares))


# Softmax


def less_maximum(tiles: RowTiles) -> Tile:
    """Write the fold for the maxima of the rows, and return the data minus these."""
    top = tiles.fold(tiles.data, TileReduction("maximum", -inf))
    return cached(lambda place: tiles.writer.subtract(tiles.data(place), top))


def softmax(op: SoftmaxOp, tiles: RowTiles) -> Tile:
    """Round each step to the element type, as the interpreter does."""
    w, less = tiles.writer, less_maximum(tiles)
    powers = cached(lambda place: tiles.step(w.exponential(tiles.step(less(place)))))
    total = tiles.step(tiles.fold(powers, SUM))
    factor = w.divide(w.number(1, tiles.wide), total)
    return lambda place: tiles.rounded(w.multiply(powers(place), factor))


def log_softmax(op: LogSoftmaxOp, tiles: RowTiles) -> Tile:
    w, less = tiles.writer, less_maximum(tiles)
    total = w.logarithm(tiles.fold(lambda place: w.exponential(less(place)), SUM))
    return lambda place: tiles.rounded(w.subtract(less(place), total))


# Normalizations


def affine(
    op: norms.AffineNormOp | norms.BatchNormOp, tiles: RowTiles, tile: Tile, scale: bool
) -> Tile:
    """Multiply by the first parameter if `scale`, then add the second if the operation centers."""
    w = tiles.writer

    def result(place: TilePlace) -> SSAValue:
        value = tile(place)
        if scale:
            value = w.multiply(value, tiles.parameter(0)(place))
        if op.center:
            value = w.add(value, tiles.parameter(1)(place))
        return tiles.rounded(value)

    return result


def normalized(op: norms.AffineNormOp, tiles: RowTiles) -> Tile:
    """Normalize to mean 0 and variance 1: the mean first, then the squares of what is left, which
    do not cancel."""
    w = tiles.writer
    mean = tiles.mean(tiles.data)
    centered = cached(lambda place: w.subtract(tiles.data(place), mean))
    variance = tiles.mean(lambda place: w.multiply(centered(place), centered(place)))
    inverse = tiles.inverse_root(w.add(variance, w.number(op.epsilon, tiles.wide)))
    return affine(op, tiles, lambda place: w.multiply(centered(place), inverse), op.scale)


def batch_norm(op: norms.BatchNormOp, tiles: RowTiles) -> Tile:
    """Compute a factor and a shift for each channel of a tile, and with these its elements."""
    w = tiles.writer
    gamma, _, mean, variance = map(tiles.parameter, range(4))

    def factor(place: TilePlace) -> SSAValue:
        epsilon = w.number(op.epsilon, tiles.wide)
        inverse = tiles.inverse_root(w.add(variance(place), epsilon))
        return w.multiply(inverse, gamma(place)) if op.scale else inverse

    def value(place: TilePlace) -> SSAValue:
        by = factor(place)
        return w.subtract(w.multiply(tiles.data(place), by), w.multiply(mean(place), by))

    return affine(op, tiles, value, scale=False)


def squared(tiles: RowTiles) -> Tile:
    return lambda place: tiles.writer.multiply(tiles.data(place), tiles.data(place))


def rms_norm(op: norms.RMSNormOp, tiles: RowTiles) -> Tile:
    w, weight = tiles.writer, tiles.parameter(0)
    squares = tiles.mean(squared(tiles))
    inverse = tiles.inverse_root(w.add(squares, w.number(op.epsilon, tiles.wide)))

    def result(place: TilePlace) -> SSAValue:
        return tiles.rounded(w.multiply(w.multiply(tiles.data(place), inverse), weight(place)))

    return result


def l2_normalize(op: norms.L2NormalizeOp, tiles: RowTiles) -> Tile:
    w = tiles.writer
    squares = tiles.fold(squared(tiles), SUM)
    inverse = tiles.inverse_root(w.apply("maximum", squares, w.number(op.eps, tiles.wide)))
    return lambda place: tiles.rounded(w.multiply(tiles.data(place), inverse))


# Reductions


def extremum(name: str, element: Attribute) -> TileReduction:
    """Return a minimum or maximum, whose identity is the other bound of the type."""
    return TileReduction(
        name, bounds(element)[name == "minimum"], is_unsigned(element) or element == i1
    )


def reduction(op: Operation, tiles: RowTiles) -> Tile:
    """Compute one element for each row; a mean of integers is truncated toward zero."""
    w, name = tiles.writer, REDUCTIONS[type(op)]
    kind = (wide_type if isinstance(op, MEANS) else step_type)(tiles.element)
    if name in ("maximum", "minimum"):
        function = extremum(name, tiles.element)
    else:
        function = TileReduction(name, name == "multiply")
    total = tiles.program.fold(lambda place: tiles.data(place, kind), function, kind)
    if isinstance(op, MEANS):
        count = tiles.count(kind)
        if is_integer(kind):
            count = w.apply("maximum", count, w.number(1, kind))
        total = w.apply("divide", total, count, unsigned=is_unsigned(kind))
    result = w.convert(total, kind, tiles.element)
    return lambda _: result


def arg_reduction(op: ops.ArgReductionOp, tiles: RowTiles) -> Tile:
    """Compute the extremum of each row, and then the first or last position of an element that is
    equal to it; all NaNs are equal."""
    w, program = tiles.writer, tiles.program
    name = "maximum" if op.name == ops.ArgmaxOp.name else "minimum"
    best = tiles.fold(tiles.data, extremum(name, tiles.element))
    nowhere = -1 if op.select_last_index else (1 << 31) - 1
    pick = TileReduction("maximum" if op.select_last_index else "minimum", nowhere)

    def position(place: TilePlace) -> SSAValue:
        data = tiles.data(place)
        is_best = w.compare(ComparisonPredicate.EQUAL, data, best)
        if not is_integer(tiles.wide):
            is_best = w.either(is_best, w.is_nan(data))
        return w.select(is_best, program.number_in_row(place), w.number(nowhere, i32))

    result = w.convert(program.fold(position, pick, i32), i32, i64)
    return lambda _: result


MEANS = ops.MeanOp | AdaptiveAvgPool1dOp | AdaptiveAvgPool2dOp | AdaptiveAvgPool3dOp
REDUCTIONS: dict[type[Operation], str] = {
    ops.AllOp: "minimum",
    ops.AnyOp: "maximum",
    ops.MaxOp: "maximum",
    ops.MeanOp: "add",
    ops.MinOp: "minimum",
    ops.ProdOp: "multiply",
    ops.SumOp: "add",
    AdaptiveAvgPool1dOp: "add",
    AdaptiveAvgPool2dOp: "add",
    AdaptiveAvgPool3dOp: "add",
    AdaptiveMaxPool1dOp: "maximum",
    AdaptiveMaxPool2dOp: "maximum",
    AdaptiveMaxPool3dOp: "maximum",
}
"""The functions of reductions."""
ROW_OPERATIONS: dict[type[Operation], Callable[..., Tile]] = {
    **dict.fromkeys(REDUCTIONS, reduction),
    SoftmaxOp: softmax,
    LogSoftmaxOp: log_softmax,
    norms.BatchNormOp: batch_norm,
    norms.GroupNormOp: normalized,
    norms.InstanceNormOp: normalized,
    norms.L2NormalizeOp: l2_normalize,
    norms.LayerNormOp: normalized,
    norms.RMSNormOp: rms_norm,
    ops.ArgmaxOp: arg_reduction,
    ops.ArgminOp: arg_reduction,
}
"""The functions that compute operations along rows on tiles."""
