"""The loops of depthwise convolutions over blocks of rows, and over the tiles of a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ....dialects.tir.ops import ForKind
from ..builder import Buffer, KernelBuilder, Store
from ..contraction.contraction import of_total
from ..scalars import convert, multiply_add
from ..tensors import known
from ..tiles.blocks import padded, part
from .depthwise_tiles import DepthwiseSums, DepthwiseTile, row_bytes, sources_of, space_of
from .phases import element_range, shape_of_phases


@dataclass(frozen=True)
class RowBlocks:
    """The blocks of rows in which a channel is computed, each in tiles."""

    tile: DepthwiseTile
    out: Shape
    """The spatial extents of the result."""
    rows: Extent
    """The rows of a block. The last one may have fewer if the extents are not known; `rows` is then
    a multiple of those of a tile."""

    @property
    def is_known(self) -> bool:
        """Return whether all extents are known."""
        return all(isinstance(extent, int) for extent in (*self.out, self.rows))

    @property
    def shape(self) -> Shape:
        """The extents of a block."""
        *outer, _, width = self.out
        return (*outer, self.rows, width)

    @property
    def margin(self) -> int:
        """The sums that tiles may store beyond the end of a block: the lanes of a last vector if
        tiles have no more columns than the result."""
        return self.tile.lanes if self.is_known else self.tile.columns


def unknown_blocks(
    b: KernelBuilder, t: DepthwiseSums, tile: DepthwiseTile, out: Shape
) -> RowBlocks:
    """Return the blocks of a result of unknown extents: of as many rows as stay in the first cache
    when the kernel runs, evenly distributed."""
    height = out[-2]
    # If 30 of 56 rows fit: two blocks of 28, not 30 and 26. At least the span of a window,
    # even if that exceeds the cache: with fewer rows, most would be copied for two blocks.
    fitting = b.quotient(space_of(b.target), b.larger(1, row_bytes(out, t.windows, t.bits)))
    most = b.larger(t.windows[-2].span, fitting)
    count = b.larger(1, b.quotient(height + most - 1, most))
    return RowBlocks(tile, out, padded(b.quotient(height + count - 1, count), tile.rows))


def write_blocks(b: KernelBuilder, t: DepthwiseSums, blocks: RowBlocks, store: Store) -> None:
    """Write loops over the channels of all images, and over the blocks of each."""
    height, rows = blocks.out[-2], blocks.rows
    with b.channels(t.data.shape[0], known(t.data.shape[1])) as (image, channels):
        # One image for the channels of a group: its padding is filled once, and the elements of
        # each channel are copied to the same places.
        source = None if reads_in_place(t, blocks) else empty_image(b, t, blocks)
        # The lanes of a last vector may reach beyond the end.
        sums = b.alloc((volume(blocks.shape) + blocks.margin,), t.total)
        with channels as channel, b.loop(b.ceildiv(height, rows)) as block:
            first_row = block * rows
            if source is None:
                there = image_in_place(b, t, image, channel, first_row)
            else:
                there = source
                copy_rows(b, t, source, (image, channel), first_row)
            here = part(b, first_row, rows, height)
            with b.loop(t.per_channel) as m:
                output = channel * t.per_channel + m
                write_tiles(b, t, there, blocks, here, output, sums)
                finish_rows(b, t, blocks, (image, output), first_row, here, sums, store)


@dataclass(frozen=True)
class ChannelRows:
    """The part of a channel that a block of rows reads."""

    shape: Shape
    """The phases, then the quotients, of each dimension, as `phases` splits them."""
    buffer: SSAValue
    """The elements in row-major order."""
    start: Index
    """The position of the first element in the buffer."""


def reads_in_place(t: DepthwiseSums, blocks: RowBlocks) -> bool:
    """Return whether the windows, without stride and padding, can read the data where it is."""
    if not blocks.is_known or blocks.out[-1] < blocks.tile.lanes:
        return False
    if not isinstance(t.data, Buffer) or t.data.element != t.total:
        return False
    return all(v.stride == 1 and v.before == v.after == 0 for v in t.windows)


def image_in_place(
    b: KernelBuilder, t: DepthwiseSums, image: Index, channel: Index, first_row: Index
) -> ChannelRows:
    """Return a channel in the buffer of the data, from a row on."""
    extents = t.data.shape[2:]
    *outer, _, _ = extents
    sizes = [known(extent) for extent in extents]
    start = b.flat([image, channel, *[0] * len(outer), first_row, 0], t.data.shape)
    buffer = b.view(b.buffered(t.data).buffer, (volume(t.data.shape),))
    return ChannelRows((*[1] * len(extents), *sizes), buffer, start)


def empty_image(b: KernelBuilder, t: DepthwiseSums, blocks: RowBlocks) -> ChannelRows:
    """Return a buffer of zeros for the rows that a block reads, and their padding."""
    *outer, width = blocks.shape
    if not blocks.is_known:  # tiles may have more columns
        width = b.larger(width, blocks.tile.columns)
    shape = shape_of_phases(t.windows, (*outer, width))
    size = volume(shape) + blocks.tile.lanes
    buffer = b.alloc((size,), t.total)
    b.fill(buffer, (size,), t.total)
    return ChannelRows(shape, buffer, 0)


def copy_rows(
    b: KernelBuilder, t: DepthwiseSums, image: ChannelRows, outer: Sequence[Index], first_row: Index
) -> None:
    """Write loops that copy the rows of a channel that a block reads. Rows outside of the data,
    which the block before may have had, are set to zero."""
    rank = len(t.windows)
    phases, sizes, extents = image.shape[:rank], image.shape[rank:], t.data.shape[2:]
    *above, last = t.windows
    starts = [*[0] * (rank - 2), first_row]
    with b.loops((*phases[:-1], *sizes[:-1])) as index:
        phase, quotient = index[: rank - 1], index[rank - 1 :]
        source = [
            (i + start) * v.stride + p - v.before
            for i, start, p, v in zip(quotient, starts, phase, above, strict=True)
        ]

        def write_row(value: Callable[[Index], SSAValue]) -> None:
            for p in range(known(phases[-1])):
                low, high = element_range(b, last, p, extents[-1], sizes[-1])
                with b.covering(high - low, t.lanes(b)) as i:
                    column = i + low
                    place = b.flat([*phase, p, *quotient, column], image.shape)
                    b.store(
                        value(column * last.stride + (p - last.before)),
                        image.buffer,
                        [place],
                    )

        with b.when(inside := t.inside(b, source, above)):
            write_row(lambda i: convert(b, b.read(t.data, [*outer, *source, i]), t.total))
        # With one block, the rows outside have never been written: they are zeros since
        # `empty_image`.
        if inside and not isinstance(first_row, int):
            with b.when([b.negation(b.all(inside))]):
                write_row(lambda _: b.number(0, t.total))


def write_tiles(
    b: KernelBuilder,
    t: DepthwiseSums,
    image: ChannelRows,
    blocks: RowBlocks,
    rows: Index,
    output: Index,
    sums: SSAValue,
) -> None:
    """Write loops over the tiles of a block that has `rows` rows. The last tiles overlap those
    before. A vector that is longer than a row ends in the next one, whose sums are stored later."""
    *outer, _, width = blocks.shape
    tile = blocks.tile
    parts = tile.parts()
    with (
        b.loops(outer) as above,
        b.loop(b.ceildiv(rows, tile.rows)) as row_tile,
        b.loop(b.ceildiv(width, tile.columns)) as column_tile,
    ):
        # Vectors that are longer than a row occur only if there is one column of tiles: otherwise
        # the last column of tiles begins earlier, and ends with the row. Rows are stored in
        # ascending order:
        #
        #     rows of 3, vectors of 4:    0 1 2 x    3 4 5 x    6 7 8 x
        #
        # and each x, which is no sum, is overwritten by the first sum of the next row. After the
        # last one comes the margin.
        row = b.min(row_tile * tile.rows, b.max(0, rows - tile.rows))
        column = b.min(column_tile * tile.columns, b.max(0, width - tile.columns))
        place = b.flat([*above, row, column], blocks.shape)
        acc = b.alloc((len(parts), tile.lanes), t.total, "local")
        for number in range(len(parts)):
            with b.loop(tile.lanes, ForKind.VECTORIZED) as lane:
                b.store(b.number(0, t.total), acc, [number, lane])
        add_products(b, t, image, tile, output, [*above, row, column], acc)
        for number, (i, j) in enumerate(parts):
            with b.loop(tile.lanes, ForKind.VECTORIZED) as lane:
                at = place + (i * width + j) + lane
                b.store(b.load(acc, [number, lane]), sums, [at])


def add_products(
    b: KernelBuilder,
    t: DepthwiseSums,
    image: ChannelRows,
    tile: DepthwiseTile,
    output: Index,
    place: Sequence[Index],
    acc: SSAValue,
) -> None:
    """Write a loop over the columns of taps, which adds their products to the sums of the tile at
    `place`. A vector of data is loaded once, and used for all rows that have it as a term."""
    *outer, window, last = t.windows
    rest = [*outer, last]
    row = len(outer)
    pitch, row_phase = image.shape[-1], volume(image.shape[row + 1 :])
    with b.loops([v.size for v in rest]) as taps:
        *above, tap = taps
        # A column of taps in registers, one broadcast for each, serves all rows of the tile. A row
        # of taps would need one load of data for each of its taps, as neighbors are unaligned
        # vectors.
        weights = [t.weight(b, output, [*above, i, tap]) for i in range(window.size)]
        offsets = [i * v.dilation for i, v in zip(taps, rest, strict=True)]
        phase = [i % v.stride for i, v in zip(offsets, rest, strict=True)]
        shift = [i // v.stride for i, v in zip(offsets, rest, strict=True)]
        phase.insert(row, 0)
        shift.insert(row, 0)
        moved = [i + j for i, j in zip(place, shift, strict=True)]
        start = image.start + b.flat([*phase, *moved], image.shape)
        with b.loop(tile.lanes, ForKind.VECTORIZED) as lane:
            first = start + lane
            totals = [b.load(acc, [i, lane]) for i in range(tile.rows * tile.vectors)]
            # Row i and tap j read row i + j of the image (stride 1): 2 rows and 3 taps take 4 loads
            # for 6 products, 10 rows take 12 loads for 30. With dilation or stride, less is in
            # common, see `sources_of`.
            loaded: dict[Extent, SSAValue] = {}
            for i, down, (p, quotient) in sources_of(window, tile.rows):
                for j in range(tile.vectors):
                    at = p * row_phase + quotient * pitch + j * tile.lanes
                    if at not in loaded:
                        loaded[at] = b.load(image.buffer, [first + at])
                    number = i * tile.vectors + j
                    totals[number] = multiply_add(b, totals[number], weights[down], loaded[at])
            for i, total in enumerate(totals):
                b.store(total, acc, [i, lane])


def finish_rows(
    b: KernelBuilder,
    t: DepthwiseSums,
    blocks: RowBlocks,
    channel: tuple[Index, Index],
    first_row: Index,
    rows: Index,
    sums: SSAValue,
    store: Store,
) -> None:
    """Write loops that finish the elements of a block that has `rows` rows."""
    *outer, height, width = blocks.out
    with b.loops(outer) as above:
        number = b.flat(above, outer)
        first = number * volume(blocks.shape[-2:])  # of the sums
        with b.elements([rows * width] if t.merged else [rows, width], t.lanes(b)) as index:
            if t.merged:
                start = (number * height + first_row) * width
                place, position = [index[0] + start], index[0]
            else:
                row, column = index
                place = [*above, first_row + row, column]
                position = b.flat(index, (blocks.rows, width))
            value = of_total(b, b.load(sums, [first + position]), t.element)
            store(t.index_of(b, *channel, place), value)
