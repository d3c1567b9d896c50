"""Transposed convolutions: the products of each data element and its weights, added to a result.

The products are those of two matrices, whose sums over channels are a contraction. A loop then adds
each of them to the element of the result that its window has at its tap ("col2im"):

    products(output, tap, position) = sum over channels of weight(channel, output, tap)
                                                         * data(channel, position)
    result(output, position * stride + tap * dilation - padding) += products(output, tap, position)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ...dialects.relax.windows.windows import Window
from ...dialects.tir.builder import Index
from ...dialects.tir.extents import Extent, Shape, volume
from ..builder import Buffer, Elements, KernelBuilder, Scheduled, Store, Tensor
from ..layouts import known
from ..scalars import convert
from ..tiles.loop_nest import write_contraction
from .contraction import Contraction, Coordinates, Weights

__all__ = ["TransposedConvolution", "products_of"]


@dataclass(eq=False)
class TransposedConvolution(Scheduled):
    """A transposed convolution, given the products of data and weight."""

    products: Buffer
    """By batch, output channel, taps, and positions of the data."""
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

        def step(acc: SSAValue, taps: Sequence[Index]) -> SSAValue:
            conditions: list[SSAValue] = []
            source: list[Index] = []
            for i, tap, n, v in zip(place, taps, self.extents, self.windows, strict=True):
                moved = b.sub(b.add(i, v.before), b.mul(tap, v.dilation))
                conditions += b.inside_bounds(moved, 0, n * v.stride)
                if v.stride > 1:
                    conditions.append(b.equal(b.mod(moved, v.stride), 0))
                source.append(b.floordiv(moved, v.stride))
            place_of_product = [image, output, *taps, *source]
            product = b.choose(
                conditions, lambda: b.read(self.products, place_of_product), lambda: zero
            )
            return b.sum(acc, product)

        sizes = [v.size for v in self.windows]
        return convert(b, b.accumulate(sizes, zero, step), self.element)

    def write(self, b: KernelBuilder, store: Store) -> None:
        # In one dimension, of data a b, taps x y z and stride 2:
        #
        #     a*x  a*y  a*z+b*x  b*y  b*z
        #
        # This is col2im of Caffe, also in onnxruntime's ConvTranspose. TVM's conv2d_transpose puts
        # zeros between the data and convolves: with stride 2 in two dimensions, three of four of
        # its products are with zeros. The price here is a buffer of outputs * taps products for
        # each point.
        images, channels = self.products.shape[:2]
        total = self.products.element
        if 0 in self.shape:
            return
        shape = self.shape_of_sums(b)
        with b.channels(images, known(channels)) as (image, outputs):
            # An element gets its products from several taps. They are added in the wide type in
            # `sums`, and rounded once when all taps are done.
            sums = b.alloc(shape, total)
            with outputs as output:
                b.fill(sums, shape, total)
                self.add_products(b, sums, [image, output])
                with b.elements(self.out, b.lanes) as place:
                    at = [b.add(i, v.before) for i, v in zip(place, self.windows, strict=True)]
                    value = convert(b, b.load(sums, self.place_in_sums(b, at)), self.element)
                    store(self.index_of(b, [image, output, *place]), value)

    def shape_of_sums(self, b: KernelBuilder) -> Shape:
        """Return the extents of the result with the padding, as far as there are products or
        elements. The last dimension is divided by the stride: positions of the same remainder are
        side by side, so that products of a row of data are added in vectors."""
        # With stride 2, columns 0 1 2 3 4 5 are rows 0 2 4 and 1 3 5.
        *outer, last = (
            b.larger((n - 1) * v.stride + v.span, size + v.before)
            for n, size, v in zip(self.extents, self.out, self.windows, strict=True)
        )
        stride = self.windows[-1].stride
        return (*outer, stride, b.quotient(last + (stride - 1), stride))

    def place_in_sums(self, b: KernelBuilder, place: Sequence[Index]) -> list[Index]:
        """Return the index in the sums of an element of the result with the padding."""
        *outer, column = place
        stride = self.windows[-1].stride
        return [*outer, b.mod(column, stride), b.floordiv(column, stride)]

    def add_products(self, b: KernelBuilder, sums: SSAValue, outer: Sequence[Index]) -> None:
        """Write loops that add all products of an output channel."""
        *extents, n = self.extents
        sizes = [v.size for v in self.windows]
        lanes = min(b.lanes, n) if isinstance(n, int) else b.lanes
        with b.loops(extents) as source, b.loops(sizes) as taps:
            place = [
                b.add(b.mul(i, v.stride), b.mul(tap, v.dilation))
                for i, tap, v in zip([*source, 0], taps, self.windows, strict=True)
            ]
            *row, first = self.place_in_sums(b, place)
            with b.elements((n,), lanes) as (i,):
                product = b.read(self.products, [*outer, *taps, *source, i])
                at = [*row, b.add(first, i)]
                b.store(b.sum(b.load(sums, at), product), sums, at)


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
    """Whether the weight is `left`, which has no image then, or `right`."""

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
            weights = Weights(
                constant,
                True,
                lambda array: array.reshape(groups, inputs, taps).swapaxes(1, 2),
                groups,
                lambda batch: batch[1],
            )
        return Contraction(
            (images, groups, taps, points),
            self.total,
            self.total,
            (images, groups),
            m,
            (),
            columns,
            (inputs,),
            self.lhs,
            self.rhs,
            self.index_of,
            self.coordinates_of,
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
