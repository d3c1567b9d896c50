"""Tile programs of convolutions: products of the weight and the windows of the data.

The windows are a matrix that is not in memory: a tile of it is gathered from the data, for a tile
of output positions and a tile of terms, which are the elements of the weight for one output
channel. Windows of one element are the data itself, which is loaded by views.

A transposed convolution has the same terms: the data elements that a tap of the weight brings to an
output position. Its stride leaves some taps without one, whose products are those of zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.cuda_tile.attributes import ComparisonPredicate
from ....dialects.relax.contraction.convolution import (
    Conv1dOp,
    Conv1dTransposeOp,
    Conv2dOp,
    Conv2dTransposeOp,
    Conv3dOp,
    Conv3dTransposeOp,
    ConvolutionOp,
    TransposedConvolutionOp,
)
from ....dialects.relax.layout import Layout
from ....dialects.relax.types import tensor_type
from ....dialects.relax.windows import Window
from ....dialects.tir.functions import Extent, Shape, volume
from ..choices import NoKernel
from ..contraction.convolution import windows_of
from ..windows.phases import require_windows
from .product_frame import Axis, ProductBlock, ProductFrame, Reader
from .product_program import (
    Source,
    Terms,
    TileProduct,
    converted,
    operand,
    product_kernel,
    terms_of,
)
from .tile_builder import Family, TileGroup, TileLaunches
from .tile_writer import ALIGNMENT, TileWriter, device_element, factor_of, tile_of

__all__ = ["CONVOLUTIONS"]

INDEXED = 1 << 31
"""The elements of the largest data: offsets are i32."""


def convolution(group: TileGroup) -> TileLaunches | None:
    """Return the tile program of the first convolution of a group; NoKernel for a depthwise one,
    and for layouts in blocks."""
    op = next(op for op in group.ops if isinstance(op, ConvolutionOp))
    data, weight, out = op.layouts()
    if data.factors or weight.factors or out.factors:
        raise NoKernel("a layout in blocks")
    windows = Windows(
        op, windows_of(op), data, weight, group.sizes[op.data], group.sizes[op.weight]
    )
    if 1 in (windows.terms["I"], windows.channels) and op.groups > 1:
        raise NoKernel("a depthwise convolution")
    if not isinstance(op.data, BlockArgument):
        raise NoKernel("data that is computed")
    if not windows.is_transposed:
        for window in windows.windows:
            require_windows(op, group.host, window, windows.data_sizes[window.axis])
    elif not is_finite(group, op.weight):
        raise NoKernel("a weight that may be infinite, whose products with zeros are NaN")
    return product_kernel(group, product_of(group, windows, out))


def is_finite(group: TileGroup, weight: SSAValue) -> bool:
    """Return whether a weight is a parameter for which all callers pass finite constants."""
    from numpy import isfinite

    known = group.host.elements_of(weight) if isinstance(weight, BlockArgument) else ()
    return bool(known) and all(bool(isfinite(array).all()) for array in known)


def named(layout: Layout, shape: Shape) -> dict[str, Extent]:
    """Return the sizes of the axes of a layout without blocks."""
    return dict(zip(layout.axes, shape, strict=True))


def strides_of(shape: Shape) -> Shape:
    """Return the elements between two neighbors along each dimension."""
    return tuple(volume(shape[axis + 1 :]) for axis in range(len(shape)))


@dataclass(frozen=True)
class Windows:
    """The windows of a convolution."""

    op: ConvolutionOp
    windows: Sequence[Window]
    data: Layout
    weight: Layout
    shape: Shape
    weight_shape: Shape

    @property
    def is_transposed(self) -> bool:
        return isinstance(self.op, TransposedConvolutionOp)

    @property
    def data_sizes(self) -> dict[str, Extent]:
        return named(self.data, self.shape)

    @property
    def strides(self) -> dict[str, Extent]:
        """The elements between two neighbors along each axis of the data."""
        return named(self.data, strides_of(self.shape))

    @property
    def weight_strides(self) -> dict[str, Extent]:
        return named(self.weight, strides_of(self.weight_shape))

    @property
    def terms(self) -> dict[str, Extent]:
        """The sizes of the axes of the terms, in the order of the weight."""
        sizes = named(self.weight, self.weight_shape)
        if self.is_transposed:
            sizes["I"] //= self.op.groups
        return {axis: size for axis, size in sizes.items() if axis != "O"}

    @property
    def is_trivial(self) -> bool:
        """Whether a window is one element, and each element is in one window."""
        return not self.is_transposed and all(
            (w.size, w.stride, w.before, w.after) == (1, 1, 0, 0) for w in self.windows
        )

    @property
    def channels(self) -> Extent:
        """The output channels of a group."""
        channels = named(self.weight, self.weight_shape)["O"]
        return channels if self.is_transposed else channels // self.op.groups


def product_of(group: TileGroup, windows: Windows, out: Layout) -> TileProduct:
    """Return a convolution as products, one for each group, and for each image if channels come
    before positions in the result."""
    op = windows.op
    shape, k = group.sizes[op.results[0]], volume(windows.terms.values())
    sizes, terms = named(out, shape), terms_of(group, op, k)
    positions = [sizes[axis] for axis in op.SPATIAL]
    if out.axes == "NC" + op.SPATIAL:
        batch, rows = (sizes["N"], op.groups), False
        frame = result_frame(shape, op.groups, rows)
        m, n = windows.channels, volume(positions)
    elif out.axes == "N" + op.SPATIAL + "C":
        batch, rows = (op.groups,), True
        frame = result_frame(shape, op.groups, rows)
        positions = [sizes["N"], *positions]
        m, n = volume(positions), windows.channels
    else:
        raise NoKernel(f"the layout {out.text}")
    image = image_source(windows, terms, positions, rows, k)
    weight = weight_source(windows, terms, rows, k)
    lhs, rhs = (image, weight) if rows else (weight, image)
    gathered = "" if image_frame(windows, rows) else "m" if rows else "n"
    return TileProduct(op, batch, m, n, k, terms, lhs, rhs, frame, gathered)


def result_frame(shape: Shape, groups: int, rows: bool) -> ProductFrame:
    """Return the frame of the result; `rows` says that positions are the rows."""
    rank = len(shape)
    if rows:  # N, positions, channels of a group
        merged = [(*range(rank - 1),), (rank - 1,), (rank,)]
        return ProductFrame(shape, ("m", 0, "n"), merged, (rank - 1, groups))
    merged = [(0,), (1,), (2,), (*range(3, rank + 1),)]
    return ProductFrame(shape, (0, 1, "m", "n"), merged, (1, groups))


def weight_source(windows: Windows, terms: Terms, rows: bool, k: Extent) -> Source:
    """Return the weight as an operand: rows are output channels, or columns if `rows`."""
    if windows.is_transposed:
        return lambda block: GatheredWeight(windows, block, terms, not rows, k).reader()
    frame = weight_frame(windows, rows)
    return operand(windows.op.weight, frame, terms, k, is_lhs=not rows)


def weight_frame(windows: Windows, rows: bool) -> ProductFrame:
    """Return the frame of the weight: its output channels are the first axis, or the last."""
    op, shape, rank = windows.op, windows.weight_shape, len(windows.weight_shape)
    channels: Axis = "n" if rows else "m"
    number = 0 if rows else 1
    if windows.weight.axes[0] == "O":
        groups = [(0,), (1,), (*range(2, rank + 1),)]
        return ProductFrame(shape, (number, channels, "k"), groups, (0, op.groups))
    if windows.weight.axes[-1] == "O":
        groups = [(*range(rank - 1),), (rank - 1,), (rank,)]
        return ProductFrame(shape, ("k", number, channels), groups, (rank - 1, op.groups))
    raise NoKernel(f"the layout {windows.weight.text}")


def image_source(
    windows: Windows, terms: Terms, positions: Sequence[Extent], rows: bool, k: Extent
) -> Source:
    """Return the windows of the data as an operand; `rows` says that positions are the rows."""
    op = windows.op
    if (frame := image_frame(windows, rows)) is not None:
        return operand(op.data, frame, terms, k, is_lhs=rows)
    elements = volume(windows.shape)
    if isinstance(elements, int) and elements >= INDEXED:
        raise NoKernel("data of 2^31 elements or more")

    return lambda block: GatheredWindows(windows, block, terms, rows, k, positions).reader()


def image_frame(windows: Windows, rows: bool) -> ProductFrame | None:
    """Return the frame of data that is multiplied as it is; None if windows have several elements,
    or its layout is not that of the result."""
    op, shape = windows.op, windows.shape
    if windows.is_trivial and windows.data.axes == (
        "N" + op.SPATIAL + "C" if rows else "NC" + op.SPATIAL
    ):
        frame = result_frame(shape, op.groups, rows)
        axes = ("m", 0, "k") if rows else (0, 1, "k", "n")
        return ProductFrame(shape, axes, frame.groups, frame.split)
    return None


@dataclass
class GatheredTiles:
    """Tiles of an operand whose elements are at computed offsets."""

    windows: Windows
    block: ProductBlock
    terms: Terms
    rows: bool
    """Whether terms are the columns, or else the rows."""
    k: Extent

    @property
    def side(self) -> str:
        return "m" if self.rows else "n"

    def line(self, axis: str, number: SSAValue) -> SSAValue:
        """Return the positions along an axis as the rows or columns of a matrix."""
        positions = self.block.starts(axis, number)
        (size,) = tile_of(positions).get_shape()
        is_row = (axis == "k") is self.rows
        return self.block.writer.reshape(positions, (1, size) if is_row else (size, 1))

    def parts(self, number: SSAValue) -> tuple[dict[str, SSAValue], SSAValue]:
        """Return the indices in the weight of a tile of terms, and which terms there are."""
        w, sizes = self.block.writer, self.windows.terms
        term = self.line("k", number)
        indices = w.decomposed(term, [*sizes.values()])
        return dict(zip(sizes, indices, strict=True)), w.less(term, w.size(self.k))

    def scaled(self, index: SSAValue, strides: Mapping[str, Extent], axis: str) -> SSAValue:
        """Return the offset of an index along an axis."""
        return self.block.writer.multiply(index, self.block.writer.size(strides[axis]))

    def gathered(self, value: SSAValue, offset: SSAValue, mask: SSAValue) -> SSAValue:
        """Load the elements of a tensor at offsets, zeros where there is none."""
        w, tile = self.block.writer, self.block.tile
        shape = (tile[self.side], tile["k"]) if self.rows else (tile["k"], tile[self.side])
        offset, mask = w.broadcast(offset, shape), w.broadcast(mask, shape)
        element = tensor_type(value).element_type
        loaded = w.gather(self.block.pointers[value], offset, mask, 0, element)
        return converted(w, loaded, value, self.terms)


@dataclass
class GatheredWeight(GatheredTiles):
    """Tiles of the weight of a transposed convolution, whose output channels are between terms."""

    def reader(self) -> Reader:
        """Return the function that gathers the tile for a tile of terms."""
        w, strides = self.block.writer, self.windows.weight_strides
        channel = self.line(self.side, self.block.index[self.side])
        seen = w.less(channel, w.size(self.windows.channels))
        base = self.scaled(channel, strides, "O")
        if self.windows.op.groups > 1:
            group = self.block.index[1 if self.rows else 0]
            first = w.multiply(group, w.size(self.windows.terms["I"]))
            base = w.add(base, self.scaled(first, strides, "I"))

        def read(number: SSAValue | None) -> SSAValue:
            assert number is not None
            (parts, mask), offset = self.parts(number), base
            for axis, part in parts.items():
                offset = w.add(offset, self.scaled(part, strides, axis))
            return self.gathered(self.windows.op.weight, offset, w.both(mask, seen))

        return read


@dataclass
class GatheredWindows(GatheredTiles):
    """Tiles of windows: their offsets in the data, and which of them are in it."""

    positions: Sequence[Extent]

    def reader(self) -> Reader:
        """Return the function that gathers the tile for a tile of terms; what does not depend on
        terms is computed at once."""
        w, op = self.block.writer, self.windows.op
        position = self.line(self.side, self.block.index[self.side])
        seen = w.less(position, w.size(volume(self.positions)))
        place = w.decomposed(position, self.positions)
        image = place.pop(0) if self.rows else self.block.index[0]
        base = self.scaled(image, self.windows.strides, "N")
        if op.groups > 1:
            group = self.block.index[0 if self.rows else 1]
            first = w.multiply(group, w.size(self.windows.terms["I"]))
            base = w.add(base, self.scaled(first, self.windows.strides, "C"))
        starts = [self.start(*pair) for pair in zip(self.windows.windows, place, strict=True)]

        def read(number: SSAValue | None) -> SSAValue:
            assert number is not None
            return self.tile(number, base, starts, seen)

        return read

    def start(self, window: Window, place: SSAValue) -> SSAValue:
        """Return the first position in the data of the window of an output position; of a
        transposed convolution, that of the first tap, times the stride."""
        w = self.block.writer
        if self.windows.is_transposed:
            return w.add(place, w.size(window.before)) if window.before else place
        start = w.scaled(place, window.stride) if window.stride != 1 else place
        return w.subtract(start, w.size(window.before)) if window.before else start

    def tile(
        self, number: SSAValue, base: SSAValue, starts: Sequence[SSAValue], seen: SSAValue
    ) -> SSAValue:
        """Gather the tile of a tile of terms; zeros are beyond the edges."""
        w, strides = self.block.writer, self.windows.strides
        parts, mask = self.parts(number)
        mask = w.both(mask, seen)
        offset = w.add(base, self.scaled(parts["I"], strides, "C"))
        for window, start in zip(self.windows.windows, starts, strict=True):
            tap = parts[window.axis]
            step = w.scaled(tap, window.dilation) if window.dilation != 1 else tap
            at, inside = self.element(window, start, step)
            mask = mask if inside is None else w.both(mask, inside)
            offset = w.add(offset, self.scaled(at, strides, window.axis))
        if (count := self.adjacent) > 1:
            offset, mask = w.in_lines(offset, mask, count, 1 if self.rows else 0)
        return self.gathered(self.windows.op.data, offset, mask)

    @property
    def adjacent(self) -> int:
        """The number of consecutive terms, from any multiple of it on, that are adjacent in memory:
        at most as many as are loaded at once."""
        terms, strides = self.windows.terms, self.windows.strides
        if strides["C"] != 1 or [*terms][-1] != "I" or self.windows.is_transposed:
            return 1
        others = [factor_of(n) for axis, n in strides.items() if axis != "C"]
        device = device_element(tensor_type(self.windows.op.data).element_type)
        assert isinstance(device, FixedBitwidthType)
        return gcd(ALIGNMENT * 8 // device.bitwidth, factor_of(terms["I"]), *others)

    def element(
        self, window: Window, start: SSAValue, step: SSAValue
    ) -> tuple[SSAValue, SSAValue | None]:
        """Return the positions in the data of a tap of windows, and which of them exist; None if
        all do."""
        w, size = self.block.writer, self.windows.data_sizes[window.axis]
        if not self.windows.is_transposed:
            at = w.add(start, step)
            return at, within(w, at, size) if window.before or window.after else None
        at, rest = w.divided(w.subtract(start, step), w.size(window.stride))
        is_there = w.compare(ComparisonPredicate.EQUAL, rest, w.size(0))
        return at, w.both(is_there, within(w, at, size))


def within(w: TileWriter, position: SSAValue, size: Extent) -> SSAValue:
    """Return whether positions are in a dimension; one before the first is a large number without a
    sign."""
    return w.compare(ComparisonPredicate.LESS_THAN, position, w.size(size), unsigned=True)


CONVOLUTIONS: dict[type[Operation], Family] = dict.fromkeys(
    (Conv1dOp, Conv1dTransposeOp, Conv2dOp, Conv2dTransposeOp, Conv3dOp, Conv3dTransposeOp),
    convolution,
)
