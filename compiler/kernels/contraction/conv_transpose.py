"""Transposed convolutions: the products of each data element and its weights, added to a result.

The products are those of two matrices, whose sums over channels are a contraction. A loop then adds
each of them to the element of the result that its window has at its tap ("col2im"):

    products(output, tap, position) = sum over channels of weight(channel, output, tap)
                                                         * data(channel, position)
    result(output, position * stride + tap * dilation - padding) += products(output, tap, position)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ..builder import Buffer, Elements, KernelBuilder, Scheduled, Store, Tensor, power_of_two_floor
from ..scalars import convert
from ..tensors import known
from ..tiles.loop_nest import write_contraction
from ..tiles.transposed import interleave
from .contraction import Contraction, Coordinates, PackedWeights


@dataclass(eq=False)
class TransposedConvolution(Scheduled):
    """A transposed convolution, given the products of data and weight."""

    products: Buffer
    """The products, indexed by batch, output channel, taps, and positions of the data."""
    windows: Sequence[Window]
    out: Shape
    """The spatial extents of the result."""
    index_of: Callable[[KernelBuilder, Sequence[Index]], list[Index]]
    """Return the index in the tensor of the element at an index in NC..."""
    place_of: Callable[[KernelBuilder, Sequence[Index]], list[Index]]
    """The inverse of `index_of`."""

    @property
    def extents(self) -> Shape:
        """The spatial extents of the data."""
        return self.products.shape[2 + len(self.windows) :]

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, output, *place = self.place_of(b, index)
        zero = b.number(0, self.products.element)

        def step(acc: SSAValue, numbers: Sequence[Index]) -> SSAValue:
            conditions, taps, source = self.sources(b, place, numbers)
            product = b.choose(
                conditions,
                lambda: b.read(self.products, [image, output, *taps, *source]),
                lambda: zero,
            )
            return b.sum(acc, product)

        counts = [taps_of_position(v) for v in self.windows]
        return convert(b, b.accumulate(counts, zero, step), self.element)

    def sources(
        self, b: KernelBuilder, place: Sequence[Index], numbers: Sequence[Index]
    ) -> tuple[list[SSAValue], list[Index], list[Index]]:
        """Return the conditions under which taps add to the element of the result at `place`, the
        taps, and the places of the data that they are multiplied with.

        `numbers` selects the taps among those that may add to the element. `place` and `numbers`
        may be of the first dimensions only.
        """
        conditions: list[SSAValue] = []
        taps: list[Index] = []
        places: list[Index] = []
        for i, number, n, v in zip(place, numbers, self.extents, self.windows, strict=False):
            at = i + v.before
            if v.dilation == 1:  # the taps are `at % stride`, and each `stride` after it
                tap = at % v.stride + number * v.stride
                source = at // v.stride - number
                conditions += b.inside_bounds(source, 0, n)
                if v.size % v.stride:
                    conditions.append(b.less(tap, v.size))
            else:
                tap, moved = number, at - number * v.dilation
                source = moved // v.stride
                conditions += b.inside_bounds(moved, 0, n * v.stride)
                if v.stride > 1:
                    conditions.append(b.equal(moved % v.stride, 0))
            taps.append(tap)
            places.append(source)
        return conditions, taps, places

    def write(self, b: KernelBuilder, store: Store) -> None:
        # In one dimension, for data a b, taps x y z and stride 2:
        #
        #     a*x  a*y  a*z+b*x  b*y  b*z
        #
        # This is col2im of Caffe, also in onnxruntime's ConvTranspose, but for one row of the
        # result at a time, whose sums stay in the first cache. TVM's conv2d_transpose puts zeros
        # between the data and convolves: with stride 2 in two dimensions, three of four of its
        # products are with zeros. The price here is a buffer of outputs * taps products for each
        # point.
        images, channels = self.products.shape[:2]
        if 0 in self.shape:
            return
        *outer, width = self.out
        with b.channels(images, known(channels)) as (image, outputs):
            row = SumsOfRow.of(b, self.windows[-1], self.extents[-1], width, self.products.element)
            with outputs as output, b.loops(outer) as place:
                row.clear(b)
                self.add_products(b, row, [image, output], place)
                # An element gets its products from several taps. They are added in the wide type,
                # and rounded once when all taps are done.
                with row.elements(b) as (column, total):
                    value = convert(b, total, self.element)
                    store(self.index_of(b, [image, output, *place, column]), value)

    def add_products(
        self, b: KernelBuilder, row: SumsOfRow, outer: Sequence[Index], place: Sequence[Index]
    ) -> None:
        """Write loops that add all products of an output channel to the row of the result at
        `place`."""
        *windows, last = self.windows
        # The taps of the other dimensions come one after the other, as their products are added to
        # the same vectors. The next tap of the last dimension adds to vectors that begin elsewhere:
        # a load that overlaps a store just before it, but begins elsewhere, waits for it.
        counts = [taps_of_position(v) for v in (last, *windows)]
        together = -(-last.size // counts[0])
        with b.loops(counts) as (first, *numbers):
            conditions, taps, source = self.sources(b, place, numbers)
            with b.when(conditions), b.loop(together) as i:
                tap = first * together + i
                whole = last.size % together == 0
                with b.when([] if whole else [b.less(tap, last.size)]):
                    index = [*outer, *taps, tap, *source]
                    row.add(b, tap, lambda i: b.read(self.products, [*index, i]))


def taps_of_position(window: Window) -> int:
    """Return how many taps of a window may add to an element of the result."""
    return -(-window.size // window.stride) if window.dilation == 1 else window.size


@dataclass(frozen=True)
class SumsOfRow:
    """The sums of products along the last dimension of a transposed convolution.

    Positions with the same remainder modulo the stride are side by side, so that the products of a
    row of data are added in vectors:

        stride 2, positions 0 1 2 3 4 5:    0 2 4 and 1 3 5
    """

    window: Window
    extent: Extent
    """The number of elements of the data."""
    width: Extent
    """The number of elements of the result; `window.before` positions are in front of them."""
    element: Attribute
    sums: SSAValue
    """The sums, indexed by remainder and quotient."""
    shape: Shape
    """The shape of `sums`, whose rows fill vectors."""
    flat: SSAValue | None
    """The sums in the order of the result; None if they cannot be brought into it by shuffles."""
    lanes: int
    """The elements of the vectors of sums."""

    @staticmethod
    def of(
        b: KernelBuilder, window: Window, extent: Extent, width: Extent, element: Attribute
    ) -> SumsOfRow:
        """Return a row in new buffers; the sums are not initialized."""
        count = b.larger((extent - 1) * window.stride + window.span, width + window.before)
        lanes = min(b.lanes, max(extent, 1)) if isinstance(extent, int) else b.lanes
        lanes = power_of_two_floor(lanes)
        vectors = b.quotient(count + (window.stride * lanes - 1), window.stride * lanes)
        shape = (window.stride, vectors * lanes)
        sums = b.alloc(shape, element)
        flat = None
        if window.stride == 1:
            flat = b.view(sums, (volume(shape),))
        elif window.stride == power_of_two_floor(window.stride) <= lanes:
            flat = b.alloc((volume(shape),), element)
        return SumsOfRow(window, extent, width, element, sums, shape, flat, lanes)

    def clear(self, b: KernelBuilder) -> None:
        """Write a loop that sets all sums to zero."""
        b.fill(self.sums, self.shape, self.element)

    def add(self, b: KernelBuilder, tap: Index, product: Callable[[Index], SSAValue]) -> None:
        """Write a loop that adds the products of the elements of the data and the weights at
        `tap`."""
        remainder, first = self.place_of(b, tap * self.window.dilation)
        with b.elements((self.extent,), self.lanes) as (i,):
            at = [remainder, first + i]
            b.store(b.sum(b.load(self.sums, at), product(i)), self.sums, at)

    @contextmanager
    def elements(self, b: KernelBuilder) -> Generator[tuple[Index, SSAValue]]:
        """Build the body of a loop over the elements of the result, given their columns and
        sums."""
        if self.flat is not None and self.window.stride > 1:
            self.interleave(b, self.flat)
        with b.elements((self.width,), b.lanes) as (column,):
            at = column + self.window.before
            if self.flat is not None:
                yield column, b.load(self.flat, [at])
            else:
                yield column, b.load(self.sums, self.place_of(b, at))

    def place_of(self, b: KernelBuilder, position: Index) -> list[Index]:
        """Return the place in `sums` of a position of the result; positions count from the padding
        in front."""
        stride = self.window.stride
        return [position % stride, position // stride]

    def interleave(self, b: KernelBuilder, flat: SSAValue) -> None:
        """Write a loop that copies the sums to `flat`, in the order of the result."""
        stride, columns = self.window.stride, self.shape[1]
        type = VectorType(self.element, [self.lanes])
        with b.loop(columns // self.lanes) as chunk:
            first = chunk * self.lanes
            places = [[b.index(i), b.index(first)] for i in range(stride)]
            rows = [b.insert(vector.LoadOp(self.sums, p, type)).results[0] for p in places]
            start = first * stride
            for i, row in enumerate(interleave(b, rows, 1, self.lanes)):
                place = [b.index(start + i * self.lanes)]
                b.insert(vector.StoreOp(row, flat, place))


def products_of(
    b: KernelBuilder, data: Tensor, weight: Tensor, groups: int, total: Attribute
) -> Buffer:
    """Write loops that compute the products of data (NC...) and a weight (IO...).

    The smaller of the two matrices is transposed, as lhs of the contraction; the other one is rhs,
    whose columns are contiguous.
    """
    images, channels, *extents = data.shape
    _, outputs, *sizes = weight.shape
    inputs, points = known(channels) // groups, volume(extents)
    taps = known(outputs * volume(sizes))
    constant = b.constant(weight)
    data = b.reshaped(data, (images, groups, inputs, points))
    result = b.alloc((images, groups, taps, points), total)
    columns = images * points
    # A constant weight is packed by callers, so its transposition takes no time in a call, whatever
    # its size.
    weight_first = constant is not None or not isinstance(columns, int) or taps <= columns
    if constant is None:
        weight = b.reshaped(weight, (groups, inputs, taps))
        lhs = transposed(b, weight if weight_first else data)
    else:
        lhs = constant
    products = Products(lhs, data if weight_first else weight, total, weight_first)
    sizes_of_products = images, groups, inputs, taps, points
    contraction = products.contraction(sizes_of_products, constant)
    write_contraction(b, contraction, lambda index, value: b.store(value, result, index))
    by_channel = (images, groups * outputs, *sizes, *extents)
    return Buffer(by_channel, total, b.view(result, by_channel))


@dataclass(frozen=True)
class Products:
    """The products of a weight and the data by image, group, tap and position."""

    left: Tensor
    right: Tensor
    total: Attribute
    weight_first: bool
    """True if the weight is `left`, which then has no image; False if it is `right`."""

    def lhs(self, b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        outer = batch[1:] if self.weight_first else batch
        return convert(b, b.read(self.left, [*outer, m, k]), self.total)

    def rhs(self, b: KernelBuilder, terms: Sequence[Index], at: Coordinates) -> SSAValue:
        outer = at.batch if self.weight_first else at.batch[1:]
        return convert(b, b.read(self.right, [*outer, *terms, at.column]), self.total)

    def index_of(self, b: KernelBuilder, at: Coordinates) -> list[Index]:
        ends = (at.m, at.column) if self.weight_first else (at.column, at.m)
        return [*at.batch, *ends]

    def coordinates_of(self, b: KernelBuilder, index: Sequence[Index]) -> Coordinates:
        *batch, tap, position = index
        ends = (tap, position) if self.weight_first else (position, tap)
        return Coordinates(batch, ends[0], [], ends[1])

    def contraction(
        self, sizes: tuple[Extent, int, int, int, Extent], constant: Buffer | None
    ) -> Contraction:
        """Return the products as a contraction. `sizes` are the numbers of images, groups, input
        channels of a group, taps and positions; `constant` is the weight if it is one."""
        images, groups, inputs, taps, points = sizes
        m, columns = (taps, points) if self.weight_first else (points, taps)
        weights = None
        if constant is not None:
            weights = PackedWeights(
                constant,
                True,
                lambda array: array.reshape(groups, inputs, taps).swapaxes(1, 2),
                groups,
                lambda batch: batch[1],
            )
        return Contraction(
            shape=(images, groups, taps, points),
            element=self.total,
            total=self.total,
            batch=(images, groups),
            m=m,
            rows=(),
            columns=columns,
            terms=(inputs,),
            read_lhs=self.lhs,
            rhs=self.rhs,
            index_of=self.index_of,
            coordinates_of=self.coordinates_of,
            weights=weights,
        )


def transposed(b: KernelBuilder, tensor: Tensor) -> Buffer:
    """Return `tensor` in a buffer with its last two dimensions swapped."""
    *outer, rows, columns = tensor.shape
    swapped = Elements(
        (*outer, columns, rows),
        tensor.element,
        lambda b, index: b.read(tensor, [*index[:-2], index[-1], index[-2]]),
    )
    return b.buffered(swapped)
