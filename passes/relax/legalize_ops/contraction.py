"""Convolutions and matrix products: sums of products, computed in tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import convolution, linear_algebra
from ....dialects.relax.layout import Layout
from ....dialects.relax.shapes import Shape, broadcast
from ....dialects.relax.types import is_integer, static_shape, tensor_type
from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from .kernel_builder import (
    Buffer,
    Contraction,
    Elements,
    KernelBuilder,
    Legalization,
    Tensor,
    broadcast_index,
)
from .layouts import moved_index, relayout
from .scalars import convert, signless, wide_type

__all__ = ["CONTRACTION", "is_plain", "is_trivial", "windows_of"]


def conv(
    op: convolution.ForwardConvolutionOp, w: KernelBuilder, data: Tensor, weight: Tensor
) -> Tensor:
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, usual = usual_layouts(op)
    weight = relayout(weight, kernel_layout, usual)
    if w.groups is None:
        data = relayout(data, data_layout, plain)
    relation = Relation(windows_of(op), op.groups, out_layout)
    return convolve(w, data, weight, relation, tensor_type(op.result).element_type)


def conv_transpose(
    op: convolution.TransposedConvolutionOp, w: KernelBuilder, data: Tensor, weight: Tensor
) -> Tensor:
    """The convolution of what lies `stride` apart, zeros in between, and the reversed weight."""
    data_layout, kernel_layout, out_layout = op.layouts()
    plain, usual = usual_layouts(op)
    data = relayout(data, data_layout, plain)
    weight = relayout(weight, kernel_layout, usual)
    windows, groups = windows_of(op), op.groups
    out = [op.extent(window, n) for window, n in zip(windows, data.shape[2:], strict=True)]
    spread = spread_out(w, data, windows, out)
    inputs, outputs, *sizes = weight.shape

    def reversed_weight(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        output, channel, *taps = index
        group = w.floordiv(output, outputs)
        source = w.add(w.mul(group, inputs // groups), channel)
        back = [w.sub(size - 1, tap) for size, tap in zip(sizes, taps, strict=True)]
        return w.read(weight, [source, w.mod(output, outputs), *back])

    kernel = Elements((outputs * groups, inputs // groups, *sizes), weight.element, reversed_weight)
    steps = [Window(v.axis, v.size, 1, v.dilation, 0, 0) for v in windows]
    relation = Relation(steps, groups, out_layout)
    return convolve(w, spread, kernel, relation, tensor_type(op.result).element_type)


def spread_out(
    w: KernelBuilder, data: Tensor, windows: Sequence[Window], out: Sequence[int]
) -> Tensor:
    """The data with zeros between its elements, and around them so many that windows at all places
    of the result of a transposed convolution find them."""
    shape = (*data.shape[:2], *(n + v.span - 1 for n, v in zip(out, windows, strict=True)))
    result = w.alloc(shape, data.element)
    w.fill(result, shape, data.element)
    starts = [v.span - 1 - v.before for v in windows]
    columns = zip(data.shape[2:], windows, starts, shape[2:], strict=True)
    ranges = [
        (max(0, -(start // v.stride)), min(extent, -(-(size - start) // v.stride)))
        for extent, v, start, size in columns
    ]
    with w.loops([*data.shape[:2], *(max(0, high - low) for low, high in ranges)]) as index:
        image, channel, *inner_index = index
        source = [w.add(i, low) for i, (low, _) in zip(inner_index, ranges, strict=True)]
        place = [
            w.add(w.mul(i, v.stride), start)
            for i, v, start in zip(source, windows, starts, strict=True)
        ]
        w.store(w.read(data, [image, channel, *source]), result, [image, channel, *place])
    return Buffer(shape, data.element, result)


def usual_layouts(op: convolution.ConvolutionOp) -> tuple[Layout, Layout]:
    """Those of data and weight that are computed in."""
    return Layout.parse("NC" + op.SPATIAL), Layout.parse(op.CHANNELS + op.SPATIAL)


def is_plain(op: convolution.ConvolutionOp) -> bool:
    """Whether data, weight and result are in the usual layouts."""
    plain, usual = usual_layouts(op)
    return op.layouts() == (plain, usual, plain)


def windows_of(op: convolution.ConvolutionOp) -> list[Window]:
    """The windows of a convolution, whose weight has a known shape."""
    extents = op.layouts()[1].extents(static_shape(op.weight.type))
    return op.windows([extents[axis] for axis in op.SPATIAL])


@dataclass(frozen=True)
class Relation:
    """What a convolution relates, and where it puts it."""

    windows: Sequence[Window]
    groups: int
    out_layout: Layout


def total_type(element: Attribute, lhs: Tensor, rhs: Tensor) -> Attribute:
    """The type of sums of products: f32 for shorter floats; of integers, which wrap around, that of
    the result."""
    for type in (element, lhs.element, rhs.element):
        signless(type)
    if is_integer(lhs.element):
        return element if is_integer(element) else i64
    return wide_type(lhs.element)


def convolve(
    w: KernelBuilder, data: Tensor, weight: Tensor, relation: Relation, element: Attribute
) -> Tensor:
    """The convolution of data (NC...) and a weight (OI...)."""
    windows, groups, out_layout = relation.windows, relation.groups, relation.out_layout
    plain = Layout.parse("NC" + "".join(window.axis for window in windows))
    images, channels, *extents = data.shape
    outputs, inputs, *sizes = weight.shape
    per_group = outputs // groups
    kernel = w.reshaped(weight, (outputs, inputs * prod(sizes)))
    total = total_type(element, data, weight)
    flat = w.groups is not None
    if flat:
        rows, columns = (), prod(extents)
        data = w.reshaped(data, (images, channels, columns))
        shape = (images, outputs, columns)
        if columns == groups == 1:
            return of_points(data, kernel, shape, element, total)
    else:
        out = [window.count(n) for window, n in zip(windows, extents, strict=True)]
        data = split(w, data, windows)
        (*rows, columns) = out
        sizes_of_axes = dict(zip(plain.axes, (images, outputs, *out), strict=True))
        shape = out_layout.shape(sizes_of_axes)
    pitch = data.shape[-1] if not flat and len(rows) == 1 else None
    as_rows = data
    if pitch is not None:  # two dimensions as one
        as_rows = w.reshaped(data, (*data.shape[:-2], data.shape[-2] * pitch))

    def lhs(w: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        value = w.read(kernel, [w.add(w.mul(batch[1], per_group), m), k])
        return convert(w, value, total)

    def rhs(
        w: KernelBuilder,
        batch: Sequence[Index],
        terms: Sequence[Index],
        row: Sequence[Index],
        column: Index,
    ) -> SSAValue:
        image, group = batch
        channel = w.add(w.mul(group, inputs), terms[0])
        if flat:
            return convert(w, w.read(data, [image, channel, column]), total)
        offsets = [w.mul(tap, x.dilation) for tap, x in zip(terms[1:], windows, strict=True)]
        phases = [w.mod(o, x.stride) for o, x in zip(offsets, windows, strict=True)]
        shifts = [w.floordiv(o, x.stride) for o, x in zip(offsets, windows, strict=True)]
        if pitch is not None and not row:
            place = w.add(column, w.add(w.mul(shifts[0], pitch), shifts[1]))
            return convert(w, w.read(as_rows, [image, channel, *phases, place]), total)
        places = [w.add(i, shift) for i, shift in zip([*row, column], shifts, strict=True)]
        return convert(w, w.read(data, [image, channel, *phases, *places]), total)

    def place(
        w: KernelBuilder, batch: Sequence[Index], m: Index, row: Sequence[Index], column: Index
    ) -> list[Index]:
        index = [batch[0], w.add(w.mul(batch[1], per_group), m), *row, column]
        return index if flat else moved_index(w, index, plain, out_layout)

    def batch_of(
        w: KernelBuilder, index: Sequence[Index]
    ) -> tuple[list[Index], Index, list[Index], Index]:
        if not flat:
            index = moved_index(w, index, out_layout, plain)
        image, channel, *row, column = index
        group = w.floordiv(channel, per_group)
        return [image, group], w.mod(channel, per_group), row, column

    return Contraction(
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
        batch_of,
        pitch=pitch,
    )


def of_points(
    data: Tensor, kernel: Tensor, shape: Shape, element: Attribute, total: Attribute
) -> Tensor:
    """The convolution of images of one element: the product of a matrix of their channels and the
    transposed weight."""
    images, outputs, _ = shape
    return Contraction(
        shape,
        element,
        total,
        (images,),
        1,
        (),
        outputs,
        data.shape[1:2],
        lambda w, batch, m, k: convert(w, w.read(data, [batch[0], k, m]), total),
        lambda w, batch, ks, row, column: convert(w, w.read(kernel, [column, *ks]), total),
        lambda w, batch, m, row, column: [batch[0], column, m],
        lambda w, index: ([index[0]], index[2], [], index[1]),
        rhs_along_terms=True,
    )


def is_trivial(window: Window) -> bool:
    """Whether each window is one element, and each element one window."""
    return window.size == window.stride == 1 and window.before == window.after == 0


def split(w: KernelBuilder, data: Tensor, windows: Sequence[Window]) -> Tensor:
    """The data with its padding, spatial dimensions of stride s split into s: what all windows have
    at one place is then next to each other.

    The dimensions are batch, channels, the place of an element among s, and the quotient.
    """
    images, channels, *extents = data.shape
    phases = [min(window.stride, window.span) for window in windows]
    counts = [window.count(n) for window, n in zip(windows, extents, strict=True)]
    sizes = [
        count + (window.span - 1) // window.stride
        for window, count in zip(windows, counts, strict=True)
    ]
    shape = (images, channels, *phases, *sizes)
    if all(window.before == 0 and window.stride == 1 for window in windows) and sizes == [*extents]:
        return w.reshaped(data, shape)
    result = w.alloc(shape, data.element)
    ranges = [
        [inner(window, phase, n, size) for phase in range(count)]
        for window, n, size, count in zip(windows, extents, sizes, phases, strict=True)
    ]
    if any(r != (0, size) for rs, size in zip(ranges, sizes, strict=True) for r in rs):
        w.fill(result, shape, data.element)
    with w.loops((images, channels)) as outer:
        for phase in product(*(range(count) for count in phases)):
            copy_phase(
                w, data, result, windows, outer, phase, [r[p] for r, p in zip(ranges, phase)]
            )
    return Buffer(shape, data.element, result)


def inner(window: Window, phase: int, extent: int, size: int) -> tuple[int, int]:
    """Which quotients of a phase are of elements, and not of padding."""
    low = -((phase - window.before) // window.stride)
    high = -((phase - window.before - extent) // window.stride)
    return max(0, low), min(size, high)


def copy_phase(
    w: KernelBuilder,
    data: Tensor,
    result: SSAValue,
    windows: Sequence[Window],
    outer: Sequence[Index],
    phase: Sequence[int],
    ranges: Sequence[tuple[int, int]],
) -> None:
    """Write loops that copy the elements of one phase."""
    if any(low >= high for low, high in ranges):
        return
    lanes = w.lanes if windows[-1].stride == 1 else 1
    with w.elements([high - low for low, high in ranges], lanes) as index:
        places = [w.add(i, low) for i, (low, _) in zip(index, ranges, strict=True)]
        source = [
            w.add(w.mul(place, window.stride), p - window.before)
            for place, window, p in zip(places, windows, phase, strict=True)
        ]
        w.store(w.read(data, [*outer, *source]), result, [*outer, *phase, *places])


def matrix_product(
    w: KernelBuilder,
    lhs: Tensor,
    rhs: Tensor,
    element: Attribute,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Tensor:
    """The products of matrices, the dimensions before being broadcast; a vector is one row on the
    left, one column on the right, and the result has no dimension for it."""
    if len(rhs.shape) == 1 < len(lhs.shape):  # the terms are next to each other
        return matrix_product(w, rhs, lhs, element, transpose_b=True)
    total = total_type(element, lhs, rhs)
    vectors = len(lhs.shape) == 1, len(rhs.shape) == 1
    lhs = w.reshaped(lhs, (1, *lhs.shape)) if vectors[0] else w.buffered(lhs)
    if vectors[1]:
        rhs, transpose_b = w.reshaped(rhs, (1, *rhs.shape)), True
    rhs = w.buffered(rhs)
    (m, k) = lhs.shape[-2:][::-1] if transpose_a else lhs.shape[-2:]
    n = rhs.shape[-2] if transpose_b else rhs.shape[-1]
    batch = broadcast(lhs.shape[:-2], rhs.shape[:-2])

    def read_lhs(w: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        place = broadcast_index(w, batch, lhs.shape[:-2])
        place += (k, m) if transpose_a else (m, k)
        return convert(w, w.read(lhs, place), total)

    def read_rhs(
        w: KernelBuilder,
        batch: Sequence[Index],
        terms: Sequence[Index],
        row: Sequence[Index],
        column: Index,
    ) -> SSAValue:
        place = broadcast_index(w, batch, rhs.shape[:-2])
        place += (column, *terms) if transpose_b else (*terms, column)
        return convert(w, w.read(rhs, place), total)

    def kept(matrix: Sequence[Index]) -> list[Index]:
        """The indices of dimensions that the result has."""
        return [i for i, gone in zip(matrix, vectors, strict=True) if not gone]

    def batch_of(
        w: KernelBuilder, index: Sequence[Index]
    ) -> tuple[list[Index], Index, list[Index], Index]:
        rest = [*index[len(batch) :]]
        row = 0 if vectors[0] else rest.pop(0)
        return [*index[: len(batch)]], row, [], 0 if vectors[1] else rest.pop()

    return Contraction(
        (*batch, *(() if vectors[0] else (m,)), *(() if vectors[1] else (n,))),
        element,
        total,
        batch,
        m,
        (),
        n,
        (k,),
        read_lhs,
        read_rhs,
        lambda w, batch, m, row, column: [*batch, *kept([m, column])],
        batch_of,
        rhs_along_terms=transpose_b,
    )


def dense(op: linear_algebra.DenseOp, w: KernelBuilder, data: Tensor, weight: Tensor) -> Tensor:
    return matrix_product(w, data, weight, tensor_type(op.result).element_type, transpose_b=True)


def matmul(op: linear_algebra.MatmulOp, w: KernelBuilder, lhs: Tensor, rhs: Tensor) -> Tensor:
    return matrix_product(w, lhs, rhs, tensor_type(op.result).element_type)


def batch_matmul(
    op: linear_algebra.BatchMatmulOp, w: KernelBuilder, lhs: Tensor, rhs: Tensor
) -> Tensor:
    return matrix_product(
        w,
        lhs,
        rhs,
        tensor_type(op.result).element_type,
        transpose_a=bool(op.transpose_a),
        transpose_b=bool(op.transpose_b),
    )


CONTRACTION: dict[type[Operation], Legalization] = {
    convolution.Conv1dOp: conv,
    convolution.Conv1dTransposeOp: conv_transpose,
    convolution.Conv2dOp: conv,
    convolution.Conv2dTransposeOp: conv_transpose,
    convolution.Conv3dOp: conv,
    convolution.Conv3dTransposeOp: conv_transpose,
    linear_algebra.BatchMatmulOp: batch_matmul,
    linear_algebra.DenseOp: dense,
    linear_algebra.MatmulOp: matmul,
}
