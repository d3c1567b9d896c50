"""Convolutions and matrix products: sums of products, computed in tiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from ...tir.building import Index
from .. import convolution, linear_algebra
from ..shapes import broadcast
from ..types import tensor_type
from ..windows import Window
from .tensors import Buffer, Contraction, Definition, Tensor, Writer

__all__ = ["CONTRACTION", "convolve", "is_trivial"]


def conv(op: convolution.ForwardConvolutionOp, w: Writer, data: Tensor, weight: Tensor) -> Tensor:
    windows = op.windows(weight.shape[2:])
    return convolve(
        w, data, weight, windows, op.groups.value.data, tensor_type(op.result).element_type
    )


def convolve(
    w: Writer,
    data: Tensor,
    weight: Tensor,
    windows: Sequence[Window],
    groups: int,
    element: Attribute,
) -> Tensor:
    """The convolution of data (NC...) and a weight (OI...)."""
    images, channels, *extents = data.shape
    outputs, inputs, *sizes = weight.shape
    out = [window.count(n) for window, n in zip(windows, extents, strict=True)]
    per_group = outputs // groups
    kernel = w.reshaped(weight, (outputs, inputs * prod(sizes)))
    flat = w.groups is not None
    if flat:
        data = w.reshaped(data, (images, channels, prod(out)))
        rows, columns = (), prod(out)
    else:
        data = split(w, data, windows)
        (*rows, columns) = out
    pitch = data.shape[-1] if not flat and len(rows) == 1 else None
    as_rows = data
    if pitch is not None:  # two dimensions as one
        as_rows = w.reshaped(data, (*data.shape[:-2], data.shape[-2] * pitch))

    def lhs(w: Writer, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        return w.read(kernel, [w.add(w.mul(batch[1], per_group), m), k])

    def rhs(
        w: Writer,
        batch: Sequence[Index],
        terms: Sequence[Index],
        row: Sequence[Index],
        column: Index,
    ) -> SSAValue:
        image, group = batch
        channel = w.add(w.mul(group, inputs), terms[0])
        if flat:
            return w.read(data, [image, channel, column])
        offsets = [w.mul(tap, x.dilation) for tap, x in zip(terms[1:], windows, strict=True)]
        phases = [w.mod(o, x.stride) for o, x in zip(offsets, windows, strict=True)]
        shifts = [w.floordiv(o, x.stride) for o, x in zip(offsets, windows, strict=True)]
        if pitch is not None and not row:
            place = w.add(column, w.add(w.mul(shifts[0], pitch), shifts[1]))
            return w.read(as_rows, [image, channel, *phases, place])
        places = [w.add(i, shift) for i, shift in zip([*row, column], shifts, strict=True)]
        return w.read(data, [image, channel, *phases, *places])

    def place(
        w: Writer, batch: Sequence[Index], m: Index, row: Sequence[Index], column: Index
    ) -> list[Index]:
        return [batch[0], w.add(w.mul(batch[1], per_group), m), *row, column]

    def batch_of(
        w: Writer, index: Sequence[Index]
    ) -> tuple[list[Index], Index, list[Index], Index]:
        image, channel, *row, column = index
        group = w.floordiv(channel, per_group)
        return [image, group], w.mod(channel, per_group), row, column

    return Contraction(
        (images, outputs, *rows, columns),
        element,
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


def is_trivial(window: Window) -> bool:
    """Whether each window is one element, and each element one window."""
    return window.size == window.stride == 1 and window.before == window.after == 0


def split(w: Writer, data: Tensor, windows: Sequence[Window]) -> Tensor:
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
    w: Writer,
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
    w: Writer,
    lhs: Tensor,
    rhs: Tensor,
    element: Attribute,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Tensor:
    """The products of matrices, the dimensions before being broadcast."""
    lhs, rhs = w.buffered(lhs), w.buffered(rhs)
    (m, k) = lhs.shape[-2:][::-1] if transpose_a else lhs.shape[-2:]
    n = rhs.shape[-2] if transpose_b else rhs.shape[-1]
    batch = broadcast(lhs.shape[:-2], rhs.shape[:-2])

    def at(tensor: Tensor, batch: Sequence[Index]) -> list[Index]:
        sizes = tensor.shape[:-2]
        last = batch[len(batch) - len(sizes) :]
        return [0 if size == 1 else i for i, size in zip(last, sizes, strict=True)]

    def read_lhs(w: Writer, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        return w.read(lhs, [*at(lhs, batch), *((k, m) if transpose_a else (m, k))])

    def read_rhs(
        w: Writer,
        batch: Sequence[Index],
        terms: Sequence[Index],
        row: Sequence[Index],
        column: Index,
    ) -> SSAValue:
        (k,) = terms
        return w.read(rhs, [*at(rhs, batch), *((column, k) if transpose_b else (k, column))])

    return Contraction(
        (*batch, m, n),
        element,
        batch,
        m,
        (),
        n,
        (k,),
        read_lhs,
        read_rhs,
        lambda w, batch, m, row, column: [*batch, m, column],
        lambda w, index: ([*index[:-2]], index[-2], [], index[-1]),
        rhs_along_terms=transpose_b,
    )


def dense(op: linear_algebra.DenseOp, w: Writer, data: Tensor, weight: Tensor) -> Tensor:
    return matrix_product(w, data, weight, tensor_type(op.result).element_type, transpose_b=True)


def matmul(op: linear_algebra.MatmulOp, w: Writer, lhs: Tensor, rhs: Tensor) -> Tensor:
    return matrix_product(w, lhs, rhs, tensor_type(op.result).element_type)


def batch_matmul(op: linear_algebra.BatchMatmulOp, w: Writer, lhs: Tensor, rhs: Tensor) -> Tensor:
    return matrix_product(
        w,
        lhs,
        rhs,
        tensor_type(op.result).element_type,
        transpose_a=bool(op.transpose_a.value.data),
        transpose_b=bool(op.transpose_b.value.data),
    )


CONTRACTION: dict[type[Operation], Definition] = {
    convolution.Conv1dOp: conv,
    convolution.Conv2dOp: conv,
    convolution.Conv3dOp: conv,
    linear_algebra.BatchMatmulOp: batch_matmul,
    linear_algebra.DenseOp: dense,
    linear_algebra.MatmulOp: matmul,
}
