"""Legalizations of normalizations.

f16 is computed in f32, and rounded once; statistics of many elements are in buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.reduction import normalization as ops
from ....dialects.relax.shapes import normalize_axes
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ..builder import Buffer, Elements, KernelBuilder, Legalization, Store, Tensor, broadcast_index
from ..elementwise.binary import power_of
from ..merged_dimensions import RowNorm, first_of_row
from ..scalars import add, convert, divide, maximum, multiply, step_type, widen
from ..tensors import scheduled
from .reduction import Reduced


def wide_elements(
    data: Tensor, compute: Callable[[KernelBuilder, Sequence[Index]], SSAValue]
) -> Tensor:
    """Return a tensor like `data` whose elements are `compute`, rounded from the wide type."""
    return Elements(
        data.shape, data.element, lambda b, index: convert(b, compute(b, index), data.element)
    )


def along(
    parameter: Tensor, axes: Sequence[int], rank: int
) -> Callable[[KernelBuilder, Sequence[Index]], SSAValue]:
    """Return a function that reads the element of a parameter at an index of the data, in the wide
    type. The dimensions of the parameter are `axes` of the data."""
    places = normalize_axes(axes, rank)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        at = broadcast_index(b, [index[axis] for axis in places], parameter.shape)
        return widen(b, b.read(parameter, at))

    return read


def batch_norm(
    op: ops.BatchNormOp,
    b: KernelBuilder,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    variance: Tensor,
) -> Tensor:
    """Compute a factor and a shift for each channel, then one product and sum for each element."""
    wide = step_type(data.element)
    # (x - mean) / sqrt(variance + epsilon) * gamma + beta is x * factor + shift: what does not
    # depend on the element is computed once for each channel, and the rest is a fused multiply-add.
    factors, shifts = b.alloc(variance.shape, wide), b.alloc(variance.shape, wide)
    with b.loops(variance.shape) as index:
        epsilon = b.number(op.epsilon, wide)
        root = b.pure(math.SqrtOp, add(b, widen(b, b.read(variance, index)), epsilon))
        factor = divide(b, b.number(1.0, wide), root)
        if op.scale:
            factor = multiply(b, factor, widen(b, b.read(gamma, index)))
        shift = multiply(b, b.pure(arith.NegfOp, widen(b, b.read(mean, index))), factor)
        if op.center:
            shift = add(b, shift, widen(b, b.read(beta, index)))
        b.store(factor, factors, index)
        b.store(shift, shifts, index)
    rank, axes = len(data.shape), [op.axis]
    factor_at, shift_at = (
        along(Buffer(variance.shape, wide, buffer), axes, rank) for buffer in (factors, shifts)
    )

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        product = multiply(b, widen(b, b.read(data, index)), factor_at(b, index))
        return add(b, product, shift_at(b, index))

    return wide_elements(data, compute)


def normalized(
    b: KernelBuilder, data: Buffer, axes: Sequence[int], epsilon: float
) -> Callable[[KernelBuilder, Sequence[Index]], SSAValue]:
    """Write loops that compute means and reciprocal standard deviations over `axes`; return a
    function that computes a normalized element, in the wide type."""
    wide, whole = step_type(data.element), Reduced.of(data.shape, axes)
    merged, reduced = Reduced.merged(b, data, data.shape, whole.axes)
    means, inverses = b.alloc(reduced.outer, wide), b.alloc(reduced.outer, wide)
    zero, one = b.number(0.0, wide), b.number(1.0, wide)
    count = b.count(volume(reduced.inner), wide)

    # The mean comes first, and then the squares of what is left without it. The mean of the squares
    # less the square of the mean would need one pass over the data only, but it cancels: for 10000
    # and 10001 both are about 1e8, where numbers of f32 are 8 apart, and their difference 0.25 is
    # lost.
    def statistics(outer: list[Index]) -> None:
        def element(inner: Sequence[Index]) -> SSAValue:
            return widen(b, b.read(merged, reduced.index(outer, inner)))

        def square(inner: Sequence[Index]) -> SSAValue:
            centered = b.pure(arith.SubfOp, element(inner), mean)
            return multiply(b, centered, centered)

        mean = divide(b, reduced.fold(b, zero, add, element), count)
        variance = divide(b, reduced.fold(b, zero, add, square), count)
        b.store(mean, means, outer)
        root = b.pure(math.SqrtOp, add(b, variance, b.number(epsilon, wide)))
        # One division for all elements, which are multiplied by the reciprocal.
        b.store(divide(b, one, root), inverses, outer)

    reduced.for_each(b, statistics)
    means, inverses = b.view(means, whole.outer), b.view(inverses, whole.outer)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = whole.place(index)
        centered = b.pure(arith.SubfOp, widen(b, b.read(data, index)), b.load(means, place))
        return multiply(b, centered, b.load(inverses, place))

    return compute


def affine(
    op: ops.AffineNormOp,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    axes: Sequence[int],
    value: Callable[[KernelBuilder, Sequence[Index]], SSAValue],
) -> Tensor:
    """Return the tensor of `value * gamma + beta`, the parameters along `axes`."""
    rank = len(data.shape)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        result = value(b, index)
        if op.scale:
            result = multiply(b, result, along(gamma, axes, rank)(b, index))
        if op.center:
            result = add(b, result, along(beta, axes, rank)(b, index))
        return result

    return wide_elements(data, compute)


@dataclass(frozen=True)
class NormalizedRows:
    """A normalization over the last dimensions, row by row, each while it is in the first cache."""

    op: RowNorm
    b: KernelBuilder
    data: Buffer
    """The data, as rows."""
    outer: Shape
    """The dimensions that are not normalized."""
    inner: Shape
    """The dimensions of a row."""
    factor: Buffer | None
    """The last factor of the elements of a row; None if there is none."""
    shift: Buffer | None

    @staticmethod
    def of(
        op: RowNorm,
        b: KernelBuilder,
        data: Tensor,
        factor: Tensor | None,
        shift: Tensor | None,
    ) -> NormalizedRows | None:
        """Return the normalization of `op`; None if its axes are not the last ones in order."""
        rank, count = len(b.shape_of(op.result)), len(op.axes)
        if first_of_row(op, rank) is None:
            return None
        if b.groups is not None:
            count = sum(group[0] >= -count for group in b.groups)
        outer, inner = data.shape[:-count], data.shape[-count:]
        width = volume(inner)
        parts = (None if part is None else b.reshaped(part, (width,)) for part in (factor, shift))
        rows = b.reshaped(data, (volume(outer), width))
        if op.result not in b.in_place:  # then the shape is free
            outer, inner = rows.shape[:1], rows.shape[1:]
        return NormalizedRows(op, b, rows, outer, inner, *parts)

    def result(self) -> Tensor:
        shape = (*self.outer, *self.inner)
        return scheduled(self.op, self.b, shape, self.data.element, self.write)

    def write(self, store: Store) -> None:
        """Write loops that compute the statistics of a row, then its elements."""
        b, element = self.b, self.data.element
        # A row is read two or three times, by its statistics and by the loop below, but only once
        # from memory: it is still in the cache.
        with b.loops(self.outer) as outer:
            center, inverse = self.statistics(b.flat(outer, self.outer))
            with b.elements(self.inner, b.lanes) as inner:
                i = b.flat(inner, self.inner)
                value = multiply(b, center(i), inverse)
                if self.factor is not None:
                    value = multiply(b, value, widen(b, b.read(self.factor, [i])))
                if self.shift is not None:
                    value = add(b, value, widen(b, b.read(self.shift, [i])))
                store([*outer, *inner], convert(b, value, element))

    def statistics(self, row: Index) -> tuple[Callable[[Index], SSAValue], SSAValue]:
        """Write loops over a row. Return a function that computes an element, minus the mean for a
        layer normalization, and the reciprocal of the root mean square of these elements."""
        b, wide = self.b, step_type(self.data.element)
        _, width = self.data.shape
        zero, one, count = b.number(0.0, wide), b.number(1.0, wide), b.count(width, wide)

        def at(i: Index) -> SSAValue:
            return widen(b, b.read(self.data, [row, i]))

        def mean(element: Callable[[Index], SSAValue]) -> SSAValue:
            total = b.fold((width,), zero, add, lambda i: element(i[0]), contiguous=True)
            return divide(b, total, count)

        center = at
        if isinstance(self.op, ops.LayerNormOp):
            average = mean(at)

            def center(i: Index) -> SSAValue:
                return b.pure(arith.SubfOp, at(i), average)

        def square(i: Index) -> SSAValue:
            return multiply(b, centered := center(i), centered)

        # One division for a row; its elements are multiplied by the reciprocal.
        squares = add(b, mean(square), b.number(self.op.epsilon, wide))
        return center, divide(b, one, b.pure(math.SqrtOp, squares))


def layer_norm(
    op: ops.LayerNormOp, b: KernelBuilder, data: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    rows = NormalizedRows.of(op, b, data, gamma if op.scale else None, beta if op.center else None)
    if rows is not None:
        return rows.result()
    value = normalized(b, b.buffered(data), op.axes, op.epsilon)
    return affine(op, data, gamma, beta, op.axes, value)


def instance_norm(
    op: ops.InstanceNormOp, b: KernelBuilder, data: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    channels = op.axis % len(data.shape)
    axes = [axis for axis in range(1, len(data.shape)) if axis != channels]
    value = normalized(b, b.buffered(data), axes, op.epsilon)
    return affine(op, data, gamma, beta, [channels], value)


def group_norm(
    op: ops.GroupNormOp, b: KernelBuilder, data: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    """Normalize with the channels split into two dimensions: groups, and channels of a group."""
    shape = data.shape
    channels, *axes = normalize_axes([op.channel_axis, *op.axes], len(shape))
    groups = op.num_groups
    size = shape[channels] // groups
    # With 2 groups of 3 channels, channel 4 is channel 1 of group 1: (N, 6, H, W) becomes
    # (N, 2, 3, H, W), whose statistics are those of the dimensions behind the groups.
    split = b.reshaped(data, (*shape[:channels], groups, size, *shape[channels + 1 :]))
    inner = [channels + 1, *(axis + (axis > channels) for axis in axes)]
    value = normalized(b, split, inner, op.epsilon)

    def of_channel(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        channel = index[channels]
        places = [channel // size, channel % size] if size else [0, 0]
        return value(b, [*index[:channels], *places, *index[channels + 1 :]])

    return affine(op, data, gamma, beta, [channels], of_channel)


def over_root(
    b: KernelBuilder,
    data: Tensor,
    axes: Sequence[int],
    finish: Callable[[SSAValue, Extent], SSAValue],
) -> Callable[[KernelBuilder, Sequence[Index]], SSAValue]:
    """Write loops that compute the roots of `finish(sum of squares, count)` along `axes`; return a
    function that computes an element divided by its root, in the wide type."""
    data, wide = b.buffered(data), step_type(data.element)
    whole = Reduced.of(data.shape, axes)
    merged, reduced = Reduced.merged(b, data, data.shape, whole.axes)
    roots = b.alloc(reduced.outer, wide)

    def root(outer: list[Index]) -> None:
        def square(inner: Sequence[Index]) -> SSAValue:
            x = widen(b, b.read(merged, reduced.index(outer, inner)))
            return multiply(b, x, x)

        total = reduced.fold(b, b.number(0.0, wide), add, square)
        b.store(b.pure(math.SqrtOp, finish(total, volume(reduced.inner))), roots, outer)

    reduced.for_each(b, root)
    roots = b.view(roots, whole.outer)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return divide(b, widen(b, b.read(data, index)), b.load(roots, whole.place(index)))

    return compute


def rms_norm(op: ops.RMSNormOp, b: KernelBuilder, data: Tensor, weight: Tensor) -> Tensor:
    if (rows := NormalizedRows.of(op, b, data, weight, None)) is not None:
        return rows.result()
    wide, axes = step_type(data.element), op.axes

    def mean(total: SSAValue, count: Extent) -> SSAValue:
        squares = divide(b, total, b.count(count, wide))
        return add(b, squares, b.number(op.epsilon, wide))

    value, factor = over_root(b, data, axes, mean), along(weight, axes, len(data.shape))
    return wide_elements(data, lambda b, index: multiply(b, value(b, index), factor(b, index)))


def l2_normalize(op: ops.L2NormalizeOp, b: KernelBuilder, data: Tensor) -> Tensor:
    eps = b.number(op.eps, step_type(data.element))
    value = over_root(b, data, op.axis, lambda total, _: maximum(b, total, eps))
    return wide_elements(data, value)


def lrn(op: ops.LRNOp, b: KernelBuilder, data: Tensor) -> Tensor:
    """Sum up the squares of adjacent channels, with the dimensions behind the axis innermost: they
    are contiguous, so these loops are vectorized."""
    data, shape, wide = b.buffered(data), data.shape, step_type(data.element)
    axis, size = op.axis % len(shape), op.size
    before = (size - 1) // 2
    inner = shape[axis + 1 :]

    def range_at(center: Index) -> tuple[Index, Index]:
        """Return the first channel of the sum of a channel, and how many there are."""
        low = b.max(center - before, 0)
        return low, b.min(center + (size - before), shape[axis]) - low

    def square(b: KernelBuilder, outer: Sequence[Index], near: Index, inner: Sequence[Index]):
        x = widen(b, b.read(data, [*outer, near, *inner]))
        return multiply(b, x, x)

    def sum_at(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        low, count = range_at(index[axis])
        outer, rest = index[:axis], index[axis + 1 :]
        return b.accumulate(
            (count,),
            b.number(0.0, wide),
            lambda total, at: add(b, total, square(b, outer, low + at[0], rest)),
        )

    # Each sum has its own loop over its channels. One that moves along, adding a channel in front
    # and subtracting one behind, would do less, but carry its rounding errors from channel to
    # channel.
    sums: Tensor = Elements(shape, wide, sum_at)
    if not b.target.is_cuda:
        sums = Buffer(shape, wide, b.alloc(shape, wide))
        with b.loops(shape[: axis + 1]) as (*outer, center):
            with b.elements(inner, b.lanes) as index:
                b.store(b.number(0.0, wide), sums.buffer, [*outer, center, *index])
            low, count = range_at(center)
            with b.loop(count, min=low) as near, b.elements(inner, b.lanes) as index:
                at = [*outer, center, *index]
                total = add(b, b.load(sums.buffer, at), square(b, outer, near, index))
                b.store(total, sums.buffer, at)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        scaled = multiply(b, b.read(sums, index), b.number(op.alpha / size, wide))
        base = add(b, scaled, b.number(op.bias, wide))
        root = positive_power(b, base, op.beta)
        return divide(b, widen(b, b.read(data, index)), root)

    return wide_elements(data, compute)


def positive_power(b: KernelBuilder, base: SSAValue, exponent: float) -> SSAValue:
    """Return a power of a positive number; the usual exponents of LRN are computed by roots."""
    if exponent not in (0.5, 0.75):
        return power_of(b, base, exponent)
    # AlexNet and GoogLeNet have the exponent 0.75: x^(3/4) is the root of x times the root of that.
    root = b.pure(math.SqrtOp, base)
    return root if exponent == 0.5 else multiply(b, root, b.pure(math.SqrtOp, root))


NORMALIZATION: dict[type[Operation], Legalization] = {
    ops.BatchNormOp: batch_norm,
    ops.GroupNormOp: group_norm,
    ops.InstanceNormOp: instance_norm,
    ops.L2NormalizeOp: l2_normalize,
    ops.LRNOp: lrn,
    ops.LayerNormOp: layer_norm,
    ops.RMSNormOp: rms_norm,
}
