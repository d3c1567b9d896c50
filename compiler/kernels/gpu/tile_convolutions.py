"""Tile programs of convolutions: products of the weight and the windows of the data.

The windows are a matrix that is not in memory: a tile of it is gathered from the data, for a tile
of output positions and a tile of terms, which are the elements of the weight for one output
channel. Windows of one element are the data itself, which is loaded by views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.cuda_tile.attributes import ComparisonPredicate
from ....dialects.cuda_tile.elementwise_ops import OffsetOp
from ....dialects.cuda_tile.memory_ops import LoadPtrTkoOp
from ....dialects.relax.contraction.convolution import (
    Conv1dOp,
    Conv2dOp,
    Conv3dOp,
    ForwardConvolutionOp,
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
from .tile_writer import WEAK, device_element, tile_of

__all__ = ["CONVOLUTIONS"]

INDEXED = 1 << 31
"""The elements of the largest data: offsets are i32."""


def convolution(group: TileGroup) -> TileLaunches | None:
    """Return the tile program of the first convolution of a group; NoKernel for a depthwise one,
    and for layouts in blocks."""
    op = next(op for op in group.ops if isinstance(op, ForwardConvolutionOp))
    data, weight, out = op.layouts()
    if data.factors or weight.factors or out.factors:
        raise NoKernel("a layout in blocks")
    sizes = named(weight, group.sizes[op.weight])
    if 1 in (sizes["I"], sizes["O"] // op.groups) and op.groups > 1:
        raise NoKernel("a depthwise convolution")
    if not isinstance(op.data, BlockArgument):
        raise NoKernel("data that is computed")
    windows = Windows(
        op, windows_of(op), data, weight, group.sizes[op.data], group.sizes[op.weight]
    )
    for window in windows.windows:
        require_windows(op, group.host, window, windows.data_sizes[window.axis])
    return product_kernel(group, product_of(group, windows, out))


def named(layout: Layout, shape: Shape) -> dict[str, Extent]:
    """Return the sizes of the axes of a layout without blocks."""
    return dict(zip(layout.axes, shape, strict=True))


@dataclass(frozen=True)
class Windows:
    """The windows of a convolution."""

    op: ForwardConvolutionOp
    windows: Sequence[Window]
    data: Layout
    weight: Layout
    shape: Shape
    weight_shape: Shape

    @property
    def data_sizes(self) -> dict[str, Extent]:
        return named(self.data, self.shape)

    @property
    def strides(self) -> dict[str, Extent]:
        """The elements between two neighbors along each axis of the data."""
        steps = [volume(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return named(self.data, tuple(steps))

    @property
    def terms(self) -> dict[str, Extent]:
        """The sizes of the axes of the terms, in the order of the weight."""
        sizes = named(self.weight, self.weight_shape)
        return {axis: size for axis, size in sizes.items() if axis != "O"}

    @property
    def is_trivial(self) -> bool:
        """Whether a window is one element, and each element is in one window."""
        return all((w.size, w.stride, w.before, w.after) == (1, 1, 0, 0) for w in self.windows)

    @property
    def channels(self) -> Extent:
        """The output channels of a group."""
        return named(self.weight, self.weight_shape)["O"] // self.op.groups


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
    weight = operand(op.weight, weight_frame(windows, rows), terms, k, is_lhs=not rows)
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

    def source(block: ProductBlock) -> Reader:
        return Gather(windows, block, terms, positions, rows, k).reader()

    return source


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
class Gather:
    """Tiles of windows: their offsets in the data, and which of them are in it."""

    windows: Windows
    block: ProductBlock
    terms: Terms
    positions: Sequence[Extent]
    rows: bool
    """Whether positions are the rows, and terms the columns."""
    k: Extent

    def along(self, tile: SSAValue, *, is_term: bool) -> SSAValue:
        """Return a line of numbers as the rows or columns of a matrix."""
        (size,) = tile_of(tile).get_shape()
        return self.block.writer.reshape(tile, (1, size) if is_term is self.rows else (size, 1))

    def line(self, axis: str, number: SSAValue, *, is_term: bool) -> SSAValue:
        return self.along(self.block.starts(axis, number), is_term=is_term)

    def reader(self) -> Reader:
        """Return the function that gathers the tile for a tile of terms; what does not depend on
        terms is computed at once."""
        w, op = self.block.writer, self.windows.op
        side = "m" if self.rows else "n"
        position = self.line(side, self.block.index[side], is_term=False)
        end = w.size(volume(self.positions))
        seen = w.less(position, end)
        place = w.decomposed(position, self.positions)
        image = place.pop(0) if self.rows else self.block.index[0]
        group = self.block.index[0 if self.rows else 1]
        base = self.scaled(image, "N")
        if op.groups > 1:
            channels = w.size(self.windows.terms["I"])
            base = w.add(base, self.scaled(w.multiply(group, channels), "C"))
        starts = [self.start(*pair) for pair in zip(self.windows.windows, place, strict=True)]

        def read(number: SSAValue | None) -> SSAValue:
            assert number is not None
            return self.tile(number, base, starts, seen)

        return read

    def scaled(self, index: SSAValue, axis: str) -> SSAValue:
        """Return the offset of an index along an axis of the data."""
        return self.block.writer.multiply(index, self.block.writer.size(self.windows.strides[axis]))

    def start(self, window: Window, place: SSAValue) -> SSAValue:
        """Return the first position in the data of the window of an output position."""
        w = self.block.writer
        start = w.scaled(place, window.stride) if window.stride != 1 else place
        return w.subtract(start, w.size(window.before)) if window.before else start

    def tile(
        self, number: SSAValue, base: SSAValue, starts: Sequence[SSAValue], seen: SSAValue
    ) -> SSAValue:
        """Gather the tile of a tile of terms; zeros are beyond the edges."""
        w = self.block.writer
        term = self.line("k", number, is_term=True)
        sizes = self.windows.terms
        mask = w.both(w.less(term, w.size(self.k)), seen)
        parts = dict(zip(sizes, w.decomposed(term, [*sizes.values()]), strict=True))
        offset = w.add(base, self.scaled(parts["I"], "C"))
        for window, start in zip(self.windows.windows, starts, strict=True):
            tap = parts[window.axis]
            step = w.scaled(tap, window.dilation) if window.dilation != 1 else tap
            at = w.add(start, step)
            if window.before or window.after:
                size = w.size(self.windows.data_sizes[window.axis])
                # A position before the first is a large number without a sign.
                within = w.compare(ComparisonPredicate.LESS_THAN, at, size, unsigned=True)
                mask = w.both(mask, within)
            offset = w.add(offset, self.scaled(at, window.axis))
        return converted(w, self.gathered(offset, mask), self.windows.op.data, self.terms)

    def gathered(self, offset: SSAValue, mask: SSAValue) -> SSAValue:
        w, data = self.block.writer, self.windows.op.data
        side = self.block.tile["m" if self.rows else "n"], self.block.tile["k"]
        shape = side if self.rows else side[::-1]
        element = tensor_type(data).element_type
        pointers = w.broadcast(self.block.pointers[data], shape)
        pointers = w.insert(OffsetOp(pointers, w.broadcast(offset, shape)))
        zero = w.number(0, device_element(element), shape)
        load = LoadPtrTkoOp(
            pointers, w.broadcast(mask, shape), zero, None, memory_ordering_semantics=WEAK
        )
        tile = w.insert(load)
        return w.convert(tile, device_element(element), i1) if element == i1 else tile


CONVOLUTIONS: dict[type[Operation], Family] = dict.fromkeys(
    (Conv1dOp, Conv2dOp, Conv3dOp), convolution
)
