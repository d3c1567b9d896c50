"""Normalizations: f16 in f32, and rounded once; what belongs to many elements is in buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import normalization as ops
from ....dialects.relax.shapes import normalize_axes
from ....dialects.tir.builder import Index
from .binary import power_of
from .kernel_builder import Buffer, Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from .reduction import Reduced
from .scalars import add, convert, divide, maximum, multiply, step_type, widen

__all__ = ["NORMALIZATION"]


def wide_elements(
    data: Tensor, compute: Callable[[KernelBuilder, Sequence[Index]], SSAValue]
) -> Tensor:
    """The tensor of what is computed in the wide type of the elements of another."""
    return Elements(
        data.shape, data.element, lambda w, index: convert(w, compute(w, index), data.element)
    )


def along(
    parameter: Tensor, axes: Sequence[int], rank: int
) -> Callable[[KernelBuilder, Sequence[Index]], SSAValue]:
    """What reads, wide, the element of a parameter whose dimensions are axes of the data."""
    places = normalize_axes(axes, rank)

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        at = broadcast_index(w, [index[axis] for axis in places], parameter.shape)
        return widen(w, w.read(parameter, at))

    return read


def batch_norm(
    op: ops.BatchNormOp,
    w: KernelBuilder,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    variance: Tensor,
) -> Tensor:
    """One product and one sum for each element: the factors are computed for each channel."""
    wide = step_type(data.element)
    factors, shifts = w.alloc(variance.shape, wide), w.alloc(variance.shape, wide)
    with w.loops(variance.shape) as index:
        epsilon = w.number(op.epsilon, wide)
        root = w.pure(math.SqrtOp, add(w, widen(w, w.read(variance, index)), epsilon))
        factor = divide(w, w.number(1.0, wide), root)
        if op.scale:
            factor = multiply(w, factor, widen(w, w.read(gamma, index)))
        shift = multiply(w, w.pure(arith.NegfOp, widen(w, w.read(mean, index))), factor)
        if op.center:
            shift = add(w, shift, widen(w, w.read(beta, index)))
        w.store(factor, factors, index)
        w.store(shift, shifts, index)
    rank, axes = len(data.shape), [op.axis]
    factor_at, shift_at = (
        along(Buffer(variance.shape, wide, buffer), axes, rank) for buffer in (factors, shifts)
    )

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        product = multiply(w, widen(w, w.read(data, index)), factor_at(w, index))
        return add(w, product, shift_at(w, index))

    return wide_elements(data, compute)


def normalized(
    w: KernelBuilder, data: Buffer, axes: Sequence[int], epsilon: float
) -> Callable[[KernelBuilder, Sequence[Index]], SSAValue]:
    """What computes, wide, an element less the mean, over the root of the variance, both over
    `axes`; these are computed at once."""
    wide, reduced = step_type(data.element), Reduced.of(data.shape, axes)
    means, roots = w.alloc(reduced.outer, wide), w.alloc(reduced.outer, wide)
    zero, count = w.number(0.0, wide), w.number(float(prod(reduced.inner)), wide)
    with w.loops(reduced.outer) as outer:

        def element(inner: Sequence[Index]) -> SSAValue:
            return widen(w, w.read(data, reduced.index(outer, inner)))

        def square(inner: Sequence[Index]) -> SSAValue:
            centered = w.pure(arith.SubfOp, element(inner), mean)
            return multiply(w, centered, centered)

        mean = divide(w, reduced.fold(w, zero, add, element), count)
        variance = divide(w, reduced.fold(w, zero, add, square), count)
        w.store(mean, means, outer)
        w.store(w.pure(math.SqrtOp, add(w, variance, w.number(epsilon, wide))), roots, outer)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = reduced.place(index)
        centered = w.pure(arith.SubfOp, widen(w, w.read(data, index)), w.load(means, place))
        return divide(w, centered, w.load(roots, place))

    return compute


def affine(
    op: ops.AffineNormOp,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    axes: Sequence[int],
    value: Callable[[KernelBuilder, Sequence[Index]], SSAValue],
) -> Tensor:
    """What is computed, times `gamma`, and `beta` added to it."""
    rank = len(data.shape)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        result = value(w, index)
        if op.scale:
            result = multiply(w, result, along(gamma, axes, rank)(w, index))
        if op.center:
            result = add(w, result, along(beta, axes, rank)(w, index))
        return result

    return wide_elements(data, compute)


def layer_norm(
    op: ops.LayerNormOp, w: KernelBuilder, data: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    axes = [*op.axes]
    value = normalized(w, w.buffered(data), axes, op.epsilon)
    return affine(op, data, gamma, beta, axes, value)


def instance_norm(
    op: ops.InstanceNormOp, w: KernelBuilder, data: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    channels = op.axis % len(data.shape)
    axes = [axis for axis in range(1, len(data.shape)) if axis != channels]
    value = normalized(w, w.buffered(data), axes, op.epsilon)
    return affine(op, data, gamma, beta, [channels], value)


def group_norm(
    op: ops.GroupNormOp, w: KernelBuilder, data: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    """The channels seen as two dimensions: groups, and channels of one."""
    shape = data.shape
    channels, *axes = normalize_axes([op.channel_axis, *op.axes], len(shape))
    groups = op.num_groups
    size = shape[channels] // groups
    split = w.reshaped(data, (*shape[:channels], groups, size, *shape[channels + 1 :]))
    inner = [channels + 1, *(axis + (axis > channels) for axis in axes)]
    value = normalized(w, split, inner, op.epsilon)

    def of_channel(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        channel = index[channels]
        places = [w.floordiv(channel, size), w.mod(channel, size)] if size else [0, 0]
        return value(w, [*index[:channels], *places, *index[channels + 1 :]])

    return affine(op, data, gamma, beta, [channels], of_channel)


def over_root(
    w: KernelBuilder,
    data: Tensor,
    axes: Sequence[int],
    finish: Callable[[SSAValue, int], SSAValue],
) -> Callable[[KernelBuilder, Sequence[Index]], SSAValue]:
    """What computes, wide, an element over the root of what `finish` makes of the sum of the
    squares along `axes`, and of their number; these roots are computed at once."""
    data, wide = w.buffered(data), step_type(data.element)
    reduced = Reduced.of(data.shape, axes)
    roots = w.alloc(reduced.outer, wide)
    with w.loops(reduced.outer) as outer:

        def square(inner: Sequence[Index]) -> SSAValue:
            x = widen(w, w.read(data, reduced.index(outer, inner)))
            return multiply(w, x, x)

        total = reduced.fold(w, w.number(0.0, wide), add, square)
        w.store(w.pure(math.SqrtOp, finish(total, prod(reduced.inner))), roots, outer)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return divide(w, widen(w, w.read(data, index)), w.load(roots, reduced.place(index)))

    return compute


def rms_norm(op: ops.RMSNormOp, w: KernelBuilder, data: Tensor, weight: Tensor) -> Tensor:
    wide, axes = step_type(data.element), [*op.axes]

    def mean(total: SSAValue, count: int) -> SSAValue:
        squares = divide(w, total, w.number(float(count), wide))
        return add(w, squares, w.number(op.epsilon, wide))

    value, factor = over_root(w, data, axes, mean), along(weight, axes, len(data.shape))
    return wide_elements(data, lambda w, index: multiply(w, value(w, index), factor(w, index)))


def l2_normalize(op: ops.L2NormalizeOp, w: KernelBuilder, data: Tensor) -> Tensor:
    least = w.number(op.eps, step_type(data.element))
    axes = [*op.axis]
    return wide_elements(data, over_root(w, data, axes, lambda total, _: maximum(w, total, least)))


def lrn(op: ops.LRNOp, w: KernelBuilder, data: Tensor) -> Tensor:
    """The sums of squares are added to for all places behind the axis, which are next to each
    other, before the next term."""
    data, shape, wide = w.buffered(data), data.shape, step_type(data.element)
    axis, size = op.axis % len(shape), op.size
    before = (size - 1) // 2
    inner = shape[axis + 1 :]
    sums = w.alloc(shape, wide)
    with w.loops(shape[: axis + 1]) as (*outer, center):
        with w.elements(inner, w.lanes) as index:
            w.store(w.number(0.0, wide), sums, [*outer, center, *index])
        low = w.max(w.sub(center, before), 0)
        high = w.min(w.add(center, size - before), shape[axis])
        with (
            w.loop(w.sub(high, low), min=low) as near,
            w.elements(inner, w.lanes) as index,
        ):
            x = widen(w, w.read(data, [*outer, near, *index]))
            at = [*outer, center, *index]
            w.store(add(w, w.load(sums, at), multiply(w, x, x)), sums, at)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        scaled = multiply(w, w.load(sums, index), w.number(op.alpha / size, wide))
        base = add(w, scaled, w.number(op.bias, wide))
        root = positive_power(w, base, op.beta)
        return divide(w, widen(w, w.read(data, index)), root)

    return wide_elements(data, compute)


def positive_power(w: KernelBuilder, base: SSAValue, exponent: float) -> SSAValue:
    """The power of a number above zero: of what LRN has by default, by roots."""
    if exponent not in (0.5, 0.75):
        return power_of(w, base, exponent)
    root = w.pure(math.SqrtOp, base)
    return root if exponent == 0.5 else multiply(w, root, w.pure(math.SqrtOp, root))


NORMALIZATION: dict[type[Operation], Legalization] = {
    ops.BatchNormOp: batch_norm,
    ops.GroupNormOp: group_norm,
    ops.InstanceNormOp: instance_norm,
    ops.L2NormalizeOp: l2_normalize,
    ops.LRNOp: lrn,
    ops.LayerNormOp: layer_norm,
    ops.RMSNormOp: rms_norm,
}
