"""Convolutions and transposed convolutions, as contractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import convolution as ops
from ....dialects.relax.layout import Layout
from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import static_shape, tensor_type
from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from .contraction import Contraction, Coordinates, Weights, total_type
from .conv_transpose import TransposedConvolution, products_of
from .depthwise import Depthwise
from .kernel_builder import KernelBuilder, Legalization, Tensor
from .layouts import moved_index, relayout
from .phases import split_phases
from .scalars import convert
from .winograd import TiledData, WinogradConvolution, plan_of, split_tiles

__all__ = ["CONVOLUTION", "is_plain", "is_trivial", "windows_of"]

FEW_OUTPUTS = 8
"""Up to this many outputs of one input channel are computed without packing its columns."""


def conv(op: ops.ForwardConvolutionOp, b: KernelBuilder, data: Tensor, weight: Tensor) -> Tensor:
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, usual = usual_layouts(op)
    weight = relayout(weight, kernel_layout, usual)
    if b.groups is None:
        data = relayout(data, data_layout, plain)
    geometry = Geometry(windows_of(op), op.groups, out_layout)
    return convolve(b, data, weight, geometry, tensor_type(op.result).element_type)


def conv_transpose(
    op: ops.TransposedConvolutionOp, b: KernelBuilder, data: Tensor, weight: Tensor
) -> Tensor:
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, usual = usual_layouts(op)
    data = relayout(data, data_layout, plain)
    weight = relayout(weight, kernel_layout, usual)
    windows, element = windows_of(op), tensor_type(op.result).element_type
    total = total_type(element, data, weight)
    out = tuple(op.extent(window, n) for window, n in zip(windows, data.shape[2:], strict=True))
    products = products_of(b, data, weight, op.groups, total)
    sizes = dict(zip(plain.axes, (*products.shape[:2], *out), strict=True))
    return TransposedConvolution(
        out_layout.shape(sizes),
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
    extents = op.layouts()[1].extents(static_shape(op.weight.type))
    return op.windows([extents[axis] for axis in op.SPATIAL])


@dataclass(frozen=True)
class Geometry:
    """The windows, groups and result layout of a convolution."""

    windows: Sequence[Window]
    groups: int
    out_layout: Layout


def convolve(
    b: KernelBuilder, data: Tensor, weight: Tensor, geometry: Geometry, element: Attribute
) -> Tensor:
    """Return the convolution of data (NC...) and a weight (OI...).

    The image of the contraction has the output rows, or is one row if windows have one element and
    the kernel merges the spatial dimensions.
    """
    windows, groups, out_layout = geometry.windows, geometry.groups, geometry.out_layout
    plain = Layout.parse("NC" + "".join(window.axis for window in windows))
    images, channels, *extents = data.shape
    outputs, inputs, *sizes = weight.shape
    per_group = outputs // groups
    terms = inputs * prod(sizes)
    constant = b.constant(weight)
    kernel = constant or b.reshaped(weight, (outputs, terms))
    total = total_type(element, data, weight)
    merged = b.groups is not None
    flat = merged and all(map(is_trivial, windows))
    in_place = flat or all(map(reads_once, windows, extents))
    if flat:
        rows, columns = (), prod(extents)
        data = b.reshaped(data, (images, channels, columns))
        shape = (images, outputs, columns)
        if columns == groups == 1:
            return of_points(b, data, kernel, shape, element, total)
    else:
        if inputs == 1 and per_group <= FEW_OUTPUTS:
            taps = b.reshaped(weight, (outputs, prod(sizes)))
            return depthwise(b, data, taps, geometry, element, total)
        out = [window.count(n) for window, n in zip(windows, extents, strict=True)]
        if (plan := plan_of(b, data, weight, windows, groups)) is not None:
            data = split_tiles(b, data, plan)
        else:
            data = b.buffered(data) if in_place else split_phases(b, data, windows)
        (*rows, columns) = out
        sizes_of_axes = dict(zip(plain.axes, (images, outputs, *out), strict=True))
        shape = (images, outputs, prod(out)) if merged else out_layout.shape(sizes_of_axes)

    def lhs(b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        matrix = b.reshaped(kernel, (outputs, terms))
        return convert(b, b.read(matrix, [b.add(b.mul(batch[1], per_group), m), k]), total)

    def rhs(
        b: KernelBuilder,
        batch: Sequence[Index],
        terms: Sequence[Index],
        row: Sequence[Index],
        column: Index,
    ) -> SSAValue:
        image, group = batch
        channel = b.add(b.mul(group, inputs), terms[0])
        if flat:
            return convert(b, b.read(data, [image, channel, column]), total)
        offsets = [b.mul(tap, x.dilation) for tap, x in zip(terms[1:], windows, strict=True)]
        if in_place:
            firsts = [b.mul(i, x.stride) for i, x in zip([*row, column], windows, strict=True)]
            source = [b.add(i, offset) for i, offset in zip(firsts, offsets, strict=True)]
            return convert(b, b.read(data, [image, channel, *source]), total)
        phases = [b.mod(o, x.stride) for o, x in zip(offsets, windows, strict=True)]
        shifts = [b.floordiv(o, x.stride) for o, x in zip(offsets, windows, strict=True)]
        places = [b.add(i, shift) for i, shift in zip([*row, column], shifts, strict=True)]
        return convert(b, b.read(data, [image, channel, *phases, *places]), total)

    def place(
        b: KernelBuilder, batch: Sequence[Index], m: Index, row: Sequence[Index], column: Index
    ) -> list[Index]:
        index = [batch[0], b.add(b.mul(batch[1], per_group), m), *row, column]
        return index if merged else moved_index(b, index, plain, out_layout)

    def coordinates_of(b: KernelBuilder, index: Sequence[Index]) -> Coordinates:
        if not merged:
            index = moved_index(b, index, out_layout, plain)
        image, channel, *row, column = index
        if merged and not flat:
            *row, column = b.unflat(column, (*rows, columns))
        group = b.floordiv(channel, per_group)
        return [image, group], b.mod(channel, per_group), row, column

    contraction = Contraction(
        shape,
        element,
        total,
        (images, groups),
        per_group,
        tuple(rows),
        columns,
        (inputs,) if flat else (inputs, *sizes),
        lhs,
        rhs,
        place,
        coordinates_of,
        weights=Weights.of(
            constant,
            True,
            groups,
            per_group,
            terms,
            lambda array: array.reshape(groups, per_group, terms),
            lambda batch: batch[1],
        ),
        merged=merged,
    )
    if isinstance(data, TiledData):
        return WinogradConvolution(**vars(contraction), data=data)
    return contraction


def of_points(
    b: KernelBuilder,
    data: Tensor,
    kernel: Tensor,
    shape: Shape,
    element: Attribute,
    total: Attribute,
) -> Tensor:
    """Return the convolution of images of one element: the product of the matrix of their channels
    and the transposed weight, whose terms are contiguous."""
    images, outputs, _ = shape
    terms = data.shape[1]
    constant = b.constant(kernel)
    return Contraction(
        shape,
        element,
        total,
        (images,),
        1,
        (),
        outputs,
        data.shape[1:2],
        lambda b, batch, m, k: convert(b, b.read(data, [batch[0], k, m]), total),
        lambda b, batch, ks, row, column: convert(
            b, b.read(b.reshaped(kernel, (outputs, terms)), [column, *ks]), total
        ),
        lambda b, batch, m, row, column: [batch[0], column, m],
        lambda b, index: ([index[0]], index[2], [], index[1]),
        weights=Weights.of(
            constant,
            False,
            1,
            outputs,
            terms,
            lambda array: array.reshape(1, outputs, terms),
        ),
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
    """Return the convolution of data (NC...) whose output channels have one input channel each,
    and the matrix `kernel` of the taps of output channels."""
    windows, out_layout = [*geometry.windows], geometry.out_layout
    plain = Layout.parse("NC" + "".join(window.axis for window in windows))
    merged = b.groups is not None
    images, channels, *extents = data.shape
    out = [window.count(n) for window, n in zip(windows, extents, strict=True)]
    sizes = (images, kernel.shape[0], *out)
    shape = (*sizes[:2], prod(out)) if merged else out_layout.shape(dict(zip(plain.axes, sizes)))
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


def reads_once(window: Window, extent: int) -> bool:
    """Return whether the windows do not overlap, and do not reach into padding."""
    inside = window.before == 0 and window.covered(window.count(extent)) <= extent
    return inside and window.span <= window.stride


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
