"""Depthwise convolutions: each output channel has the taps of one input channel as its terms.

There are too few terms and outputs to pack columns. A channel is computed directly, in tiles of
output rows times vectors of columns, whose sums stay in registers:

    for channel:
      for block of rows:                copy the rows that its windows read, padded, by phases
        for tile:                       for column of taps: load each vector once, for all rows
        store the elements of the block
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.windows import Window
from ....dialects.target import Target
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import volume
from ....dialects.tir.ops import ForKind
from .choices import Form, Space
from .contraction import of_total
from .cost_model import LINE, LOADS, MULTIPLY_ADDS, TILE_OVERHEAD
from .kernel_builder import Buffer, Elements, KernelBuilder, Scheduled, Store, Tensor
from .layouts import known
from .phases import element_range, shape_of_phases, split_phases
from .scalars import convert, multiply_add
from .tiles import nominal
from .window_counts import count_of, fits

__all__ = ["Depthwise"]


@dataclass(eq=False)
class Depthwise(Scheduled):
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

    @cached_property
    def out(self) -> tuple[int, ...]:
        """The spatial extents of the result, which are known."""
        pairs = zip(self.windows, self.data.shape[2:], strict=True)
        return tuple(v.count(known(n)) for v, n in pairs)

    @property
    def per_channel(self) -> int:
        """The output channels of an input channel."""
        return known(self.kernel.shape[0]) // known(self.data.shape[1])

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, output, place = self.place_of(b, index)
        channel = b.floordiv(output, self.per_channel)
        zero = b.number(0, self.total)

        def step(acc: SSAValue, taps: Sequence[Index]) -> SSAValue:
            source = [
                b.sub(b.add(b.mul(i, v.stride), b.mul(tap, v.dilation)), v.before)
                for i, tap, v in zip(place, taps, self.windows, strict=True)
            ]
            inside = self.inside(b, source, self.windows)

            def value() -> SSAValue:
                return convert(b, b.read(self.data, [image, channel, *source]), self.total)

            element = b.choose(inside, value, lambda: zero)
            return multiply_add(b, acc, self.weight(b, output, taps), element)

        sizes = [v.size for v in self.windows]
        return of_total(b, b.accumulate(sizes, zero, step), self.element)

    def write(self, b: KernelBuilder, store: Store) -> None:
        if 0 in self.shape:
            return
        if not all(isinstance(extent, int) for extent in self.data.shape[2:]):
            write_unknown(b, self, store)
            return
        *outer, height, width = self.out
        rows = rows_of(self, b.target)
        tile = b.decide(Tiles(self, rows, b.target))
        with b.channels(self.data.shape[0], known(self.data.shape[1])) as (image, channels):
            part = None if reads_in_place(self, tile) else empty_image(b, self, rows, tile)
            # The lanes of a last vector may reach beyond the end.
            sums = b.alloc((volume(outer) * rows * width + tile.lanes,), self.total)
            with channels as channel, b.loop(height // rows) as block:
                first_row = b.mul(block, rows)
                if part is None:
                    source = image_in_place(b, self, image, channel, first_row)
                else:
                    source = part
                    copy_rows(b, self, part, (image, channel), first_row)
                with b.loop(self.per_channel) as m:
                    output = b.add(b.mul(channel, self.per_channel), m)
                    write_tiles(b, self, source, tile, rows, output, sums)
                    finish_rows(b, self, (image, output), first_row, rows, sums, store)

    def inside(
        self, b: KernelBuilder, source: Sequence[Index], windows: Sequence[Window]
    ) -> list[SSAValue]:
        """Return the conditions for the first indices of an element, along `windows`, to be in the
        data. They may be in the padding, or with strides in a phase that ends before others."""
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


@dataclass(frozen=True)
class Tile:
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
class Tiles(Space[Tile]):
    """The tiles of a depthwise convolution in blocks of `rows` rows."""

    convolution: Depthwise
    rows: int
    target: Target

    kind = "depthwise tile"

    def problem(self) -> Form:
        t = self.convolution
        windows = " ".join(f"{v.size}:{v.stride}:{v.dilation}" for v in t.windows)
        out = "x".join(map(str, t.out))
        return {"channels": self.channels(), "out": out, "windows": windows, "bits": t.bits}

    def channels(self) -> int:
        """Return the number of output channels of all images."""
        return nominal(self.convolution.data.shape[0], 1) * known(self.convolution.kernel.shape[0])

    def candidates(self) -> Iterator[Tile]:
        return tiles(self.convolution, self.rows, self.target)

    def estimate(self, candidate: Tile) -> float:
        t = self.convolution
        blocks = self.channels() * prod(t.out[:-2]) * (t.out[-2] // self.rows)
        return blocks * cycles(candidate, t, self.rows, self.target)


def tiles(t: Depthwise, rows: int, target: Target) -> Iterator[Tile]:
    """Yield the tiles whose sums fit into registers, beside a vector of data, a product and a
    column of weights; of a long column, some weights are loaded again. Lanes beyond the columns
    are computed in vain, but less than half of them."""
    columns, down = t.out[-1], t.windows[-2].size
    lanes = min(target.lanes(t.bits), 1 << (columns - 1).bit_length())
    registers = target.vector_registers
    sums = max(registers // 2 - 1, registers - 2 - down)
    for vectors in range(1, max(1, min(sums, columns // lanes)) + 1):
        for count in range(1, min(rows, sums // vectors) + 1):
            yield Tile(count, vectors, lanes)


def cycles(tile: Tile, t: Depthwise, rows: int, target: Target) -> float:
    """Return an estimate of the cycles that a block of `rows` rows takes."""
    window = t.windows[-2]
    sources = len({source for _, _, source in sources_of(window, tile.rows)})
    # A load that crosses two cache lines counts twice.
    crossing = 1 + tile.lanes * t.bits / 8 / LINE
    loads = sources * tile.vectors * crossing + window.size
    sums = tile.rows * tile.vectors
    rate = MULTIPLY_ADDS if target.has("fma") else MULTIPLY_ADDS / 2
    columns_of_taps = volume(v.size for v in t.windows) // window.size
    step = columns_of_taps * max(sums * window.size / rate, loads / LOADS)
    count = -(-rows // tile.rows) * -(-t.out[-1] // tile.columns)
    return count * (step + sums + TILE_OVERHEAD)


def sources_of(window: Window, rows: int) -> list[tuple[int, int, tuple[int, int]]]:
    """Return each row and tap of a tile with the phase and the quotient of the row of the image
    that they read, sorted by the latter."""
    found = [
        (row, tap, (offset % window.stride, row + offset // window.stride))
        for row, tap in product(range(rows), range(window.size))
        for offset in [tap * window.dilation]
    ]
    return sorted(found, key=lambda source: source[2])


# The loops


def write_unknown(b: KernelBuilder, t: Depthwise, store: Store) -> None:
    """Write loops for images of unknown extents: a channel is padded, and split into phases, as a
    whole; then each vector of a row is summed up in registers."""
    images, channels, *extents = t.data.shape
    out = [count_of(b, v, n) for v, n in zip(t.windows, extents, strict=True)]
    with b.channels(images, known(channels)) as (image, group), group as channel:
        whole = Elements(
            (1, 1, *extents),
            t.total,
            lambda b, i: convert(b, b.read(t.data, [image, channel, *i[2:]]), t.total),
        )
        part = split_phases(b, whole, t.windows)
        with b.loop(t.per_channel) as m:
            output = b.add(b.mul(channel, t.per_channel), m)
            with b.elements(out, t.lanes(b)) as place:

                def read(b: KernelBuilder, taps: Sequence[Index]) -> SSAValue:
                    offsets = [b.mul(i, v.dilation) for i, v in zip(taps, t.windows, strict=True)]
                    phases = [b.mod(o, v.stride) for o, v in zip(offsets, t.windows, strict=True)]
                    shifts = [
                        b.floordiv(o, v.stride) for o, v in zip(offsets, t.windows, strict=True)
                    ]
                    source = [b.add(i, o) for i, o in zip(place, shifts, strict=True)]
                    return b.read(part, [0, 0, *phases, *source])

                total = b.number(0, t.total)
                for taps in product(*(range(v.size) for v in t.windows)):
                    total = multiply_add(b, total, t.weight(b, output, taps), read(b, taps))
                at = [b.flat(place, out)] if t.merged else place
                store(t.index_of(b, image, output, at), of_total(b, total, t.element))


@dataclass(frozen=True)
class Image:
    """The part of a channel that a block of rows reads."""

    shape: tuple[int, ...]
    """The phases, then the quotients, of each dimension, as `phases` splits them."""
    buffer: SSAValue
    """The elements in row-major order."""
    start: Index
    """The position of the first element in the buffer."""


def rows_of(t: Depthwise, target: Target) -> int:
    """Return the rows of a block: as many as divide all rows, and of which the image and the sums
    stay in the first cache, unless these are so few that most rows are copied twice."""
    height, window = t.out[-2], t.windows[-2]
    row = volume(t.out[:-2]) * t.out[-1] * t.bits // 8
    reads = volume(min(v.stride, v.span) for v in t.windows)  # the phases of an element
    fitting = [
        n
        for n in range(window.span, height + 1)
        if height % n == 0 and row * n * (1 + reads) <= target.l1_cache * 3 // 4
    ]
    return max(fitting, default=height)


def reads_in_place(t: Depthwise, tile: Tile) -> bool:
    """Return whether the windows, without stride and padding, can read the data where it is."""
    if not isinstance(t.data, Buffer) or t.data.element != t.total or t.out[-1] < tile.lanes:
        return False
    return all(v.stride == 1 and v.before == v.after == 0 for v in t.windows)


def image_in_place(
    b: KernelBuilder, t: Depthwise, image: Index, channel: Index, first_row: Index
) -> Image:
    """Return a channel in the buffer of the data, from a row on."""
    extents = t.data.shape[2:]
    *outer, _, _ = extents
    sizes = [known(extent) for extent in extents]
    start = b.flat([image, channel, *[0] * len(outer), first_row, 0], t.data.shape)
    buffer = b.view(b.buffered(t.data).buffer, (volume(t.data.shape),))
    return Image((*[1] * len(extents), *sizes), buffer, start)


def empty_image(b: KernelBuilder, t: Depthwise, rows: int, tile: Tile) -> Image:
    """Return a buffer of zeros for the rows that a block reads, and their padding."""
    counts = [*t.out[:-2], rows, t.out[-1]]
    shape = tuple(map(known, shape_of_phases(t.windows, counts)))
    size = volume(shape) + tile.lanes
    buffer = b.alloc((size,), t.total)
    b.fill(buffer, (size,), t.total)
    return Image(shape, buffer, 0)


def copy_rows(
    b: KernelBuilder, t: Depthwise, part: Image, outer: Sequence[Index], first_row: Index
) -> None:
    """Write loops that copy the rows of a channel that a block reads. Rows outside of the data,
    which the block before may have had, are set to zero."""
    rank = len(t.windows)
    phases, sizes, extents = part.shape[:rank], part.shape[rank:], t.data.shape[2:]
    *above, last = t.windows
    starts = [*[0] * (rank - 2), first_row]
    with b.loops((*phases[:-1], *sizes[:-1])) as index:
        phase, quotient = index[: rank - 1], index[rank - 1 :]
        source = [
            b.sub(b.add(b.mul(b.add(i, start), v.stride), p), v.before)
            for i, start, p, v in zip(quotient, starts, phase, above, strict=True)
        ]

        def write_row(value: Callable[[Index], SSAValue]) -> None:
            for p in range(phases[-1]):
                low, high = element_range(b, last, p, extents[-1], sizes[-1])
                with b.covering(b.sub(high, low), t.lanes(b)) as i:
                    column = b.add(i, low)
                    place = b.flat([*phase, p, *quotient, column], part.shape)
                    b.store(
                        value(b.add(b.mul(column, last.stride), p - last.before)),
                        part.buffer,
                        [place],
                    )

        with b.when(inside := t.inside(b, source, above)):
            write_row(lambda i: convert(b, b.read(t.data, [*outer, *source, i]), t.total))
        if inside and not isinstance(b.known(first_row), int):
            with b.when([b.negation(b.all(inside))]):
                write_row(lambda _: b.number(0, t.total))


def write_tiles(
    b: KernelBuilder,
    t: Depthwise,
    image: Image,
    tile: Tile,
    rows: int,
    output: Index,
    sums: SSAValue,
) -> None:
    """Write loops over the tiles of a block. The last tiles overlap those before. A vector that is
    longer than a row ends in the next one, whose sums are stored later."""
    *outer, _, width = t.out
    parts = tile.parts()
    with (
        b.loops(outer) as above,
        b.loop(-(-rows // tile.rows)) as row_tile,
        b.loop(-(-width // tile.columns)) as column_tile,
    ):
        row = b.min(b.mul(row_tile, tile.rows), rows - tile.rows)
        column = b.min(b.mul(column_tile, tile.columns), max(0, width - tile.columns))
        place = b.flat([*above, row, column], (*outer, rows, width))
        acc = b.alloc((len(parts), tile.lanes), t.total, "local")
        for number in range(len(parts)):
            with b.loop(tile.lanes, ForKind.VECTORIZED) as lane:
                b.store(b.number(0, t.total), acc, [number, lane])
        add_products(b, t, image, tile, output, [*above, row, column], acc)
        for number, (i, j) in enumerate(parts):
            with b.loop(tile.lanes, ForKind.VECTORIZED) as lane:
                at = b.add(b.add(place, i * width + j), lane)
                b.store(b.load(acc, [number, lane]), sums, [at])


def add_products(
    b: KernelBuilder,
    t: Depthwise,
    image: Image,
    tile: Tile,
    output: Index,
    place: Sequence[Index],
    acc: SSAValue,
) -> None:
    """Write a loop over the columns of taps that adds their products to the sums of the tile at
    `place`; each vector of data is loaded once for all rows that it is a term of."""
    *outer, window, last = t.windows
    rest = [*outer, last]
    row = len(outer)
    pitch, row_phase = image.shape[-1], volume(image.shape[row + 1 :])
    with b.loops([v.size for v in rest]) as taps:
        *above, tap = taps
        weights = [t.weight(b, output, [*above, i, tap]) for i in range(window.size)]
        offsets = [b.mul(i, v.dilation) for i, v in zip(taps, rest, strict=True)]
        phase = [b.mod(i, v.stride) for i, v in zip(offsets, rest, strict=True)]
        shift = [b.floordiv(i, v.stride) for i, v in zip(offsets, rest, strict=True)]
        phase.insert(row, 0)
        shift.insert(row, 0)
        moved = [b.add(i, j) for i, j in zip(place, shift, strict=True)]
        start = b.add(image.start, b.flat([*phase, *moved], image.shape))
        with b.loop(tile.lanes, ForKind.VECTORIZED) as lane:
            first = b.add(start, lane)
            totals = [b.load(acc, [i, lane]) for i in range(tile.rows * tile.vectors)]
            loaded: dict[int, SSAValue] = {}
            for i, down, (p, quotient) in sources_of(window, tile.rows):
                for j in range(tile.vectors):
                    at = p * row_phase + quotient * pitch + j * tile.lanes
                    if at not in loaded:
                        loaded[at] = b.load(image.buffer, [b.add(first, at)])
                    number = i * tile.vectors + j
                    totals[number] = multiply_add(b, totals[number], weights[down], loaded[at])
            for i, total in enumerate(totals):
                b.store(total, acc, [i, lane])


def finish_rows(
    b: KernelBuilder,
    t: Depthwise,
    channel: tuple[Index, Index],
    first_row: Index,
    rows: int,
    sums: SSAValue,
    store: Store,
) -> None:
    """Write a loop that finishes the elements of a block."""
    *outer, _, width = t.out
    shape = (*outer, rows, width)
    with b.elements([volume(shape)] if t.merged else shape, t.lanes(b)) as index:
        if t.merged:
            place = [b.add(index[0], b.mul(first_row, width))]
            position = index[0]
        else:
            *above, row, column = index
            place = [*above, b.add(first_row, row), column]
            position = b.flat(index, shape)
        store(t.index_of(b, *channel, place), of_total(b, b.load(sums, [position]), t.element))
