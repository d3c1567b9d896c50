"""Legalization of convolutions: products of the weight and the windows of the data (contractions),
depthwise ones directly, and transposed ones as products that are added to the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.contraction import convolution as ops
from ....dialects.relax.layout import Layout
from ....dialects.relax.types import static_shape, tensor_type
from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ..builder import Buffer, KernelBuilder, Legalization, Tensor
from ..choices import NoKernel
from ..scalars import convert
from ..tensors import known, moved_index, relayout, shape_in
from ..windows.depthwise import Depthwise, blocked_depthwise, is_blocked_depthwise
from ..windows.phases import WithMargin, count_of, fits, padded, require_windows, split_phases
from .blocked_convolution import blocked_convolution, is_blocked
from .byte_products import (
    BYTES,
    ByteProducts,
    ByteWords,
    by_channels,
    byte_products,
    words_of_constant,
)
from .contraction import Contraction, Coordinates, PackedWeights, total_type
from .conv_transpose import TransposedConvolution, products_of
from .winograd import TiledData, WinogradConvolution, plan_of, split_tiles

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


FEW_OUTPUTS = 8
"""Up to this many outputs of one input channel are computed without packing its columns."""

# The cost model takes no tile that is longer than the margin (`candidates`). The longest tile has
# 12 vectors, which are 192 elements for AVX-512 and f32.
MARGIN = 256
"""The elements after an image of unknown width: the last tile of a row may read as many."""


def conv(op: ops.ForwardConvolutionOp, b: KernelBuilder, data: Tensor, weight: Tensor) -> Tensor:
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, usual = usual_layouts(op)
    weight = relayout(weight, kernel_layout, usual)
    constants = b.elements_of(op.weight) if kernel_layout == usual else ()
    element = tensor_type(op.result).element_type
    if is_blocked(op):
        block = out_layout.factors.get("c")
        windows = windows_of(op)
        return blocked_convolution(
            b=b,
            data=data,
            weight=weight,
            windows=windows,
            groups=op.groups,
            block=block,
            element=element,
            constants=constants,
        )
    if is_blocked_depthwise(op) and not b.target.is_cuda:
        return blocked_depthwise(b, data, weight, windows_of(op), element, constants)
    if b.groups is None:
        data = relayout(data, data_layout, plain)
    geometry = Geometry(windows_of(op), op.groups, out_layout)
    if len(data.shape) == len(plain.axes):  # else merged: windows of one element
        for window, extent in zip(geometry.windows, data.shape[2:], strict=True):
            require_windows(op, b, window, extent)
    return convolve(b, data, weight, geometry, element, constants)


def conv_transpose(
    op: ops.TransposedConvolutionOp, b: KernelBuilder, data: Tensor, weight: Tensor
) -> Tensor:
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, usual = usual_layouts(op)
    data = relayout(data, data_layout, plain)
    weight = relayout(weight, kernel_layout, usual)
    windows, element = windows_of(op), tensor_type(op.result).element_type
    total = total_type(element, data, weight)
    data, weight = b.as_elements(data, total), b.as_elements(weight, total)
    axes = [out_layout.axes.index(axis) for axis in op.SPATIAL]
    out = tuple(b.shape_of(op.result)[axis] for axis in axes)
    if out_layout.factors:
        extents = zip(windows, data.shape[2:], strict=True)
        out = tuple(op.extent(window, known(n)) for window, n in extents)
    products = products_of(b, data, weight, op.groups, total)
    sizes = dict(zip(plain.axes, (*products.shape[:2], *out), strict=True))
    return TransposedConvolution(
        shape_in(out_layout, sizes),
        element,
        products,
        windows,
        out,
        lambda b, index: moved_index(b, index, plain, out_layout),
        lambda b, index: moved_index(b, index, out_layout, plain),
    )


def usual_layouts(op: ops.ConvolutionOp) -> tuple[Layout, Layout]:
    """Return the layouts of data and weight in which convolutions are computed: NCHW, OIHW."""
    return Layout.parse("NC" + op.SPATIAL), Layout.parse(op.CHANNELS + op.SPATIAL)


def is_plain(op: ops.ConvolutionOp) -> bool:
    """Return whether data, weight and result of `op` are in the usual layouts."""
    plain, usual = usual_layouts(op)
    return op.layouts() == (plain, usual, plain)


def windows_of(op: ops.ConvolutionOp) -> list[Window]:
    """Return the windows of a convolution whose weight has a static shape."""
    if (shape := static_shape(op.weight.type)) is None:
        raise NoKernel(f"the weight is {op.weight.type}: all of its dimensions have to be known")
    extents = op.layouts()[1].extents(shape)
    return op.windows([extents[axis] for axis in op.SPATIAL])


@dataclass(frozen=True)
class Geometry:
    """The windows, groups and result layout of a convolution."""

    windows: Sequence[Window]
    groups: int
    out_layout: Layout


def convolve(
    b: KernelBuilder,
    data: Tensor,
    weight: Tensor,
    geometry: Geometry,
    element: Attribute,
    constants: Sequence[Array] = (),
) -> Tensor:
    """Return the convolution of data (NC...) and a weight (OI...), which is one of `constants`."""
    # A convolution is a matrix product. The weight is a matrix of outputs and terms; a term is an
    # input channel and a tap of the window. The data is a matrix of terms and points that is not
    # stored as such: its element (c, dy, dx), (y, x) is data[c, y * stride + dy, x * stride + dx].
    # How the product is computed depends on how many points or terms share an element that is read.
    outputs, inputs, *sizes = (known(extent) for extent in weight.shape)
    terms = inputs * volume(sizes)
    rows = [array.reshape(outputs, terms) for array in constants]
    total = total_type(element, data, weight, terms, rows)
    exact_pairs = None
    # Products of bytes take four terms at once. Adjacent terms are channels of the same tap, so
    # groups must not share a word, and the single channel of a depthwise convolution has no
    # neighbors.
    if inputs > 1 and (geometry.groups == 1 or inputs % BYTES == 0):
        exact_pairs = byte_products(b, data, weight, element, by_channels(constants))
    if exact_pairs is not None:
        words = words_of_constant(b, b.buffered(weight), 1)
        data, weight, inputs, total = ByteWords.of(data, 1), words, known(words.shape[1]), i32
        terms = inputs * volume(sizes)
    else:  # converted once for each element, not for each product
        data, weight = b.as_elements(data, total), b.as_elements(weight, total)
    kernel = b.constant(weight) or b.reshaped(weight, (outputs, terms))
    is_depthwise = inputs == 1 and outputs // geometry.groups <= FEW_OUTPUTS
    merged = b.groups is not None
    if merged and all(map(is_trivial, geometry.windows)):
        # Windows of one element: each point is a column of the data as it is in memory.
        points = volume(data.shape[2:])
        data = b.reshaped(data, (*data.shape[:2], points))
        if points == geometry.groups == 1:
            # One point for each image is a dense layer: its images are the columns.
            shape = (data.shape[0], outputs, points)
            of_one = of_points(b, data, kernel, shape, element, total)
            return of_one if exact_pairs is None else ByteProducts.of(of_one, exact_pairs, True)
        image = ConvolutionImage(data, (), points, (), place_of_point)
    elif is_depthwise and exact_pairs is None and not b.target.is_cuda:
        # A matrix product would read each element once for so few outputs: nothing is gained by
        # packing, and the sums of neighboring points are computed in the lanes of vectors instead.
        taps = b.reshaped(weight, (outputs, volume(sizes)))
        return depthwise(b, data, taps, geometry, element, total)
    else:
        image = image_of_windows(b, data, weight, geometry, element)
    product = ImageProduct(image, kernel, geometry, outputs, inputs, total, merged)
    contraction = product.contraction(b, element)
    return contraction if exact_pairs is None else ByteProducts.of(contraction, exact_pairs)


@dataclass(frozen=True)
class ConvolutionImage:
    """The data of a convolution as the image of a contraction: one row of all points if windows
    have one element and the kernel merges the spatial dimensions, or else the output rows."""

    data: Tensor
    rows: Shape
    columns: Extent
    taps: Sequence[int]
    place: Callable[[KernelBuilder, Sequence[Index], Sequence[Index]], Sequence[Index]]
    """Return the place in the data, after the indices of image and channel, of the element at some
    offsets in the window at rows and column."""


def image_of_windows(
    b: KernelBuilder, data: Tensor, weight: Tensor, geometry: Geometry, element: Attribute
) -> ConvolutionImage:
    """Return the data of a convolution, padded and copied as its windows need it."""
    windows, extents = geometry.windows, data.shape[2:]
    sizes = [window.size for window in windows]
    *rows, columns = (count_of(b, window, n) for window, n in zip(windows, extents, strict=True))
    # Padded data are copied, so that no tap needs a test whether it is inside. Data of windows with
    # a stride are copied phase by phase: with stride 2, columns 0 2 4 are neighbors in the first
    # phase and 1 3 5 in the second, so that vectors read neighbors. Windows that read each element
    # once, without padding, need no copy: it would move more than they read. Lanes of tiles have
    # masks for the tests.
    in_place = b.target.is_cuda or all(
        reads_once(b, window, n) for window, n in zip(windows, extents, strict=True)
    )
    is_known = all(isinstance(extent, int) for extent in data.shape)
    margin = 0 if isinstance(columns, int) else MARGIN
    plan = plan_of(b, data, weight, windows, geometry.groups, element) if is_known else None
    if plan is not None:
        data = split_tiles(b, data, plan)
    elif in_place:
        data = data if b.target.is_cuda else b.buffered(data)
        data = padded(b, data, dict(enumerate(windows, 2)))
    else:
        data = split_phases(b, data, windows, margin)
    strides = [window.stride for window in windows]
    place = partial(place_in_data if in_place else place_in_phases, strides)
    return ConvolutionImage(data, tuple(rows), columns, sizes, place)


def place_of_point(
    b: KernelBuilder, offsets: Sequence[Index], place: Sequence[Index]
) -> Sequence[Index]:
    """Return the place in data whose spatial dimensions are merged into one."""
    return place


def place_in_data(
    strides: Sequence[int], b: KernelBuilder, offsets: Sequence[Index], place: Sequence[Index]
) -> Sequence[Index]:
    """Return the place of the element at `offsets` in the window at `place`."""
    firsts = [i * stride for i, stride in zip(place, strides, strict=True)]
    return [i + offset for i, offset in zip(firsts, offsets, strict=True)]


def place_in_phases(
    strides: Sequence[int], b: KernelBuilder, offsets: Sequence[Index], place: Sequence[Index]
) -> Sequence[Index]:
    """Return the place of the same element in data that `split_phases` or `split_tiles`
    returned."""
    phases = [o % stride for o, stride in zip(offsets, strides, strict=True)]
    shifts = [o // stride for o, stride in zip(offsets, strides, strict=True)]
    return [*phases, *(i + shift for i, shift in zip(place, shifts, strict=True))]


@dataclass(frozen=True)
class ImageProduct:
    """The products of a weight, as a matrix of outputs and terms, and the columns of an image."""

    image: ConvolutionImage
    kernel: Buffer
    geometry: Geometry
    outputs: int
    inputs: int
    """The input channels of a group."""
    total: Attribute
    merged: bool

    @property
    def per_group(self) -> int:
        """The output channels of a group."""
        return self.outputs // self.geometry.groups

    @property
    def terms(self) -> int:
        """The terms of a sum."""
        return self.inputs * volume(self.image.taps)

    @property
    def out(self) -> Shape:
        """The spatial extents of the result."""
        return (*self.image.rows, self.image.columns)

    @property
    def plain(self) -> Layout:
        """The layout of the data: NC..."""
        return Layout.parse("NC" + "".join(window.axis for window in self.geometry.windows))

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        sizes = (self.image.data.shape[0], self.outputs, *self.out)
        if self.merged:
            return (*sizes[:2], volume(self.out))
        return shape_in(self.geometry.out_layout, dict(zip(self.plain.axes, sizes, strict=True)))

    @property
    def rows_together(self) -> int:
        """The outputs that are next to each other in the result."""
        layout = self.geometry.out_layout
        return layout.factors["c"] if layout.axes == f"{self.plain.axes}c" else 1

    def lhs(self, b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        matrix = b.reshaped(self.kernel, (self.outputs, self.terms))
        output = batch[1] * self.per_group + m
        return convert(b, b.read(matrix, [output, k]), self.total)

    def rhs(self, b: KernelBuilder, terms: Sequence[Index], at: Coordinates) -> SSAValue:
        image, (channel, *taps) = self.image, terms
        channel = at.batch[1] * self.inputs + channel
        offsets = [tap * x.dilation for tap, x in zip(taps, self.geometry.windows)]
        place = image.place(b, offsets, [*at.rows, at.column])
        value = b.read(image.data, [at.batch[0], channel, *place])
        return convert(b, value, self.total)

    def index_of(self, b: KernelBuilder, at: Coordinates) -> list[Index]:
        (image, group), m, row, column = at
        index = [image, group * self.per_group + m, *row, column]
        return index if self.merged else moved_index(b, index, self.plain, self.geometry.out_layout)

    def coordinates_of(self, b: KernelBuilder, index: Sequence[Index]) -> Coordinates:
        if not self.merged:
            index = moved_index(b, index, self.geometry.out_layout, self.plain)
        number, channel, *row, column = index
        if self.merged and self.image.rows:
            *row, column = b.unflat(column, self.out)
        group = channel // self.per_group
        return Coordinates([number, group], channel % self.per_group, row, column)

    def weights(self, b: KernelBuilder) -> PackedWeights | None:
        """Return the matrices of the groups, if the weight is a constant."""
        if (constant := b.constant(self.kernel)) is None:
            return None
        shape = (self.geometry.groups, self.per_group, self.terms)
        return PackedWeights(
            constant, True, lambda array: array.reshape(shape), shape[0], lambda batch: batch[1]
        )

    def contraction(self, b: KernelBuilder, element: Attribute) -> Contraction:
        """Return the products as a contraction."""
        image = self.image
        contraction = Contraction(
            shape=self.shape,
            element=element,
            total=self.total,
            batch=(image.data.shape[0], self.geometry.groups),
            m=self.per_group,
            rows=image.rows,
            columns=image.columns,
            terms=(self.inputs, *image.taps),
            read_lhs=self.lhs,
            rhs=self.rhs,
            index_of=self.index_of,
            coordinates_of=self.coordinates_of,
            weights=self.weights(b),
            merged=self.merged,
            rows_together=self.rows_together,
            margin=image.data.margin if isinstance(image.data, WithMargin) else 0,
        )
        if isinstance(image.data, TiledData):
            return WinogradConvolution(**vars(contraction), data=image.data)
        return contraction


def of_points(
    b: KernelBuilder,
    data: Tensor,
    kernel: Tensor,
    shape: Shape,
    element: Attribute,
    total: Attribute,
) -> Contraction:
    """Return the convolution of images of one element: the product of the matrix of their channels
    and the transposed weight, whose terms are contiguous."""
    images, outputs, terms = shape[0], known(shape[1]), known(data.shape[1])
    weights = None
    if (constant := b.constant(kernel)) is not None:
        weights = PackedWeights(constant, False, lambda array: array.reshape(1, outputs, terms))
    return Contraction(
        shape=shape,
        element=element,
        total=total,
        batch=(images,),
        m=1,
        rows=(),
        columns=outputs,
        terms=(terms,),
        read_lhs=lambda b, batch, m, k: convert(b, b.read(data, [batch[0], k, m]), total),
        rhs=lambda b, ks, at: convert(
            b, b.read(b.reshaped(kernel, (outputs, terms)), [at.column, *ks]), total
        ),
        index_of=lambda b, at: [at.batch[0], at.column, at.m],
        coordinates_of=lambda b, index: Coordinates([index[0]], index[2], [], index[1]),
        weights=weights,
        rhs_along_terms=True,
    )


def depthwise(
    b: KernelBuilder,
    data: Tensor,
    kernel: Tensor,
    geometry: Geometry,
    element: Attribute,
    total: Attribute,
) -> Tensor:
    """Return the depthwise convolution of data (NC...), in which each output channel has one input
    channel. `kernel` is the matrix of the taps of the output channels."""
    windows, out_layout = [*geometry.windows], geometry.out_layout
    plain = Layout.parse("NC" + "".join(window.axis for window in windows))
    merged = b.groups is not None
    images, channels, *extents = data.shape
    out = [count_of(b, window, n) for window, n in zip(windows, extents, strict=True)]
    sizes = (images, kernel.shape[0], *out)
    merged_shape = (*sizes[:2], volume(out))
    shape = merged_shape if merged else shape_in(out_layout, dict(zip(plain.axes, sizes)))
    rank = len(out)
    if rank == 1:
        data = b.reshaped(data, (images, channels, 1, *extents))
        windows.insert(0, Window("", 1, 1, 1, 0, 0))

    def index_of(
        b: KernelBuilder, image: Index, output: Index, place: Sequence[Index]
    ) -> list[Index]:
        index = [image, output, *place[-rank:]]
        return index if merged else moved_index(b, index, plain, out_layout)

    def place_of(b: KernelBuilder, index: Sequence[Index]) -> tuple[Index, Index, list[Index]]:
        index = index if merged else moved_index(b, index, out_layout, plain)
        image, output, *place = index
        if merged:
            place = b.unflat(place[0], out)
        return image, output, [*[0] * (len(windows) - rank), *place]

    return Depthwise(
        shape, element, total, data, kernel, windows, index_of, place_of, merged=merged
    )


def reads_once(b: KernelBuilder, window: Window, extent: Extent) -> bool:
    """Return whether the windows do not overlap, and do not reach into padding."""
    return fits(b, window, extent) and window.span <= window.stride


def is_trivial(window: Window) -> bool:
    """Return whether the windows are the single elements of the data."""
    return window.size == window.stride == 1 and window.before == window.after == 0


CONVOLUTION: dict[type[Operation], Legalization] = {
    ops.Conv1dOp: conv,
    ops.Conv1dTransposeOp: conv_transpose,
    ops.Conv2dOp: conv,
    ops.Conv2dTransposeOp: conv_transpose,
    ops.Conv3dOp: conv,
    ops.Conv3dTransposeOp: conv_transpose,
}
