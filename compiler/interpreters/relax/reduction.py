"""Semantics of reductions, scans and normalizations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Literal

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ....dialects.relax.reduction import nn as nn_ops
from ....dialects.relax.reduction import normalization as normalization_ops
from ....dialects.relax.reduction import reduction as ops
from ....dialects.relax.reduction import scan as scan_ops
from ....dialects.relax.shapes import normalize_axes, normalize_axis
from ....dialects.relax.types import tensor_type
from ..arrays import Array, bounds, element_of, fit, mean_of, widen
from .array_functions import Compute, Semantics, as_numbers, at_least_f32
from .elementwise import divide

# Semantics of reductions; f16 is computed in f32 and rounded once, integers wrap around.


def accumulate(function: np.ufunc) -> Compute:
    """Return the semantics of a reduction by `function`, which has an identity element."""

    def compute(op: ops.ReductionOp, x: Array) -> Array:
        x = at_least_f32(x)
        return function.reduce(x, axis=op.axis, dtype=x.dtype, keepdims=op.keepdims)

    return compute


def extremum(function: np.ufunc, identity: int) -> Compute:
    """Return the semantics of a reduction by maximum or minimum.

    `identity` is the index in `bounds` of the identity element: 0, the minimum of the type, for
    a maximum; 1, the maximum of the type, for a minimum.
    """

    def compute(op: ops.ReductionOp, x: Array) -> Array:
        initial = bounds(element_of(op.result.type))[identity]
        return function.reduce(as_numbers(x), axis=op.axis, keepdims=op.keepdims, initial=initial)

    return compute


def mean(op: ops.MeanOp, x: Array) -> Array:
    x = at_least_f32(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
    total = np.asarray(accumulate(np.add)(op, x))
    count = x.size // total.size if total.size else 0
    return divide(total, np.asarray(count, x.dtype))


def index(function: Callable[..., Array]) -> Compute:
    """Return the semantics of a reduction to the index of an extremum; `function` is `np.argmax` or
    `np.argmin`.

    numpy returns the first of equal elements: for the last one, the array is flipped.
    """

    def compute(op: ops.ArgReductionOp, x: Array) -> Array:
        axis = op.axis
        size = x.size if axis is None else x.shape[axis]
        if not size:
            raise InterpretationError(
                f"{op.name} needs at least one element: shape {x.shape}, axis {axis}"
            )
        last = op.select_last_index
        x = np.flip(as_numbers(x), axis) if last else as_numbers(x)
        first = function(x, axis=axis, keepdims=op.keepdims)
        return size - 1 - first if last else first

    return compute


REDUCTION: Semantics = {
    ops.SumOp: accumulate(np.add),
    ops.MeanOp: mean,
    ops.MaxOp: extremum(np.maximum, identity=0),
    ops.MinOp: extremum(np.minimum, identity=1),
    ops.ProdOp: accumulate(np.multiply),
    ops.AnyOp: extremum(np.maximum, identity=0),
    ops.AllOp: extremum(np.minimum, identity=1),
    ops.ArgmaxOp: index(np.argmax),
    ops.ArgminOp: index(np.argmin),
}


# Semantics of scans; f16 is computed in f32 and rounded once, integers wrap around.


def scan(function: np.ufunc) -> Compute:
    """Return the semantics of a scan by `function`, which has an identity element."""

    def compute(op: scan_ops.CumulativeOp, x: Array) -> Array:
        x = at_least_f32(x) if op.axis is not None else at_least_f32(x).reshape(-1)
        axis = 0 if op.axis is None else op.axis
        # A view in which the scan runs forwards along the first axis.
        source = np.moveaxis(np.flip(x, axis) if op.reverse else x, axis, 0)
        total: Array = function.accumulate(source, axis=0, dtype=x.dtype)
        if op.exclusive:
            total = np.concatenate([np.full_like(total[:1], function.identity), total[:-1]])
        total = np.moveaxis(total, 0, axis)
        return np.flip(total, axis) if op.reverse else total

    return compute


SCAN: Semantics = {
    scan_ops.CumsumOp: scan(np.add),
    scan_ops.CumprodOp: scan(np.multiply),
}


# Semantics of softmax, dropout, bias_add, pad and batch_flatten; f16 is computed in f32.


_NUMPY_MODES: dict[str, Literal["reflect", "edge", "wrap"]] = {
    "reflect": "reflect",
    "edge": "edge",
    "circular": "wrap",
}


def softmax(op: nn_ops.SoftmaxOp, data: Array) -> Array:
    """Return softmax with each step rounded to the element type, as in ONNX and TVM.

    Only the sum of f16 is accumulated in f32.
    """
    element = element_of(tensor_type(op.data))
    powers = fit(np.exp(fit(_less_maximum(op, data), element)), element)
    total = fit(widen(powers).sum(axis=op.axis, keepdims=True), element)
    powers /= total
    return powers


def log_softmax(op: nn_ops.LogSoftmaxOp, data: Array) -> Array:
    shifted = _less_maximum(op, data)
    return shifted - np.log(np.exp(shifted).sum(axis=op.axis, keepdims=True))


def _less_maximum(op: nn_ops.SoftmaxBaseOp, data: Array) -> Array:
    """Return the elements minus the maximum along the axis, so that their exp cannot overflow."""
    data = widen(data)
    return data - data.max(axis=op.axis, keepdims=True, initial=-np.inf)


def dropout(_: nn_ops.DropoutOp, data: Array) -> Array:
    return data


def bias_add(op: nn_ops.BiasAddOp, data: Array, bias: Array) -> Array:
    axis = op.axis % data.ndim
    if len(bias) != data.shape[axis]:
        raise ValueError(f"a bias of {len(bias)} elements for a dimension of {data.shape[axis]}")
    after = data.ndim - 1 - axis
    bias = bias.reshape(-1, *(1,) * after)
    # The sum of i1 is exclusive or; numpy's `+` of bools is or.
    return data ^ bias if data.dtype == np.bool_ else data + bias


def padded(op: nn_ops.PadOp, data: Array) -> Array:
    widths = [*zip(op.pad_width[::2], op.pad_width[1::2], strict=True)]
    for axis, (size, pair) in enumerate(zip(data.shape, widths, strict=True)):
        nn_ops.padded_size(axis, size, *pair, op.pad_mode)
    return pad(data, widths, op.pad_value, op.pad_mode)


def pad(data: Array, widths: Sequence[tuple[int, int]], value: float, mode: str) -> Array:
    """Return the array padded by (before, after) along each dimension.

    A negative width removes elements, before others are added.
    """
    if not widths:
        return data
    kept = (
        slice(max(0, -before), n - max(0, -after))
        for n, (before, after) in zip(data.shape, widths, strict=True)
    )
    data = data[*kept]
    added = [(max(0, before), max(0, after)) for before, after in widths]
    if mode != "constant":
        return np.pad(data, added, _NUMPY_MODES[mode])
    # Wrap an integer around to the element type: numpy refuses one that is out of range.
    number = value if data.dtype.kind == "f" else np.uint64(int(value) % 2**64)
    return np.pad(data, added, constant_values=np.asarray(number).astype(data.dtype))


def batch_flatten(_: nn_ops.BatchFlattenOp, data: Array) -> Array:
    return data.reshape(len(data), prod(data.shape[1:]))


NN: Semantics = {
    nn_ops.SoftmaxOp: softmax,
    nn_ops.LogSoftmaxOp: log_softmax,
    nn_ops.DropoutOp: dropout,
    nn_ops.BiasAddOp: bias_add,
    nn_ops.PadOp: padded,
    nn_ops.BatchFlattenOp: batch_flatten,
}


# Semantics of normalizations; f16 is computed in f32.


def batch_norm(
    op: normalization_ops.BatchNormOp,
    data: Array,
    gamma: Array,
    beta: Array,
    mean: Array,
    variance: Array,
) -> Array:
    """Return the batch normalization as one product and one sum for each element.

    The factor gamma / sqrt(variance + epsilon) and the shift are computed once for each channel.
    """
    factor = 1 / np.sqrt(widen(variance) + op.epsilon)
    if op.scale:
        factor = factor * gamma
    shift = -widen(mean) * factor
    if op.center:
        shift = shift + beta
    axes = [op.axis]
    data = widen(data)
    result = data * _along(factor, data, axes).astype(data.dtype)
    result += _along(shift, data, axes).astype(data.dtype)
    return result


def layer_norm(op: normalization_ops.LayerNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    result = _normalize(widen(data), op.axes, op.epsilon)
    return _affine(op, result, gamma, beta, op.axes)


def instance_norm(
    op: normalization_ops.InstanceNormOp, data: Array, gamma: Array, beta: Array
) -> Array:
    channels = normalize_axis(op.axis, data.ndim)
    axes = tuple(axis for axis in range(1, data.ndim) if axis != channels)
    result = _normalize(widen(data), axes, op.epsilon)
    return _affine(op, result, gamma, beta, [channels])


def group_norm(op: normalization_ops.GroupNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    channels, *axes = normalize_axes([op.channel_axis, *op.axes], data.ndim)
    groups = op.num_groups
    split = groups, data.shape[channels] // groups
    grouped = widen(data).reshape(*data.shape[:channels], *split, *data.shape[channels + 1 :])
    inner = (channels + 1, *(axis + (axis > channels) for axis in axes))
    result = _normalize(grouped, inner, op.epsilon).reshape(data.shape)
    return _affine(op, result, gamma, beta, [channels])


def rms_norm(op: normalization_ops.RMSNormOp, data: Array, weight: Array) -> Array:
    data = widen(data)
    squares = mean_of(data * data, op.axes)
    return data / np.sqrt(squares + op.epsilon) * _along(weight, data, op.axes)


def l2_normalize(op: normalization_ops.L2NormalizeOp, data: Array) -> Array:
    data = widen(data)
    squares = np.sum(data * data, axis=op.axis, keepdims=True)
    return data / np.sqrt(np.maximum(squares, op.eps))


def lrn(op: normalization_ops.LRNOp, data: Array) -> Array:
    """Divide by `(bias + alpha / size * sum(data ** 2)) ** beta`, with the sum over a window of
    `size` elements along the axis; an even size has the longer half after the element (ONNX)."""
    size = op.size
    data = widen(data)
    squares = np.moveaxis(data * data, op.axis, 0)
    before = (size - 1) // 2
    sums = np.zeros_like(squares)
    # Add the squares shifted by each offset in the window: sums[i] += squares[i + offset].
    for offset in range(-before, size - before):
        source, target = slice(max(0, offset), None), slice(max(0, -offset), None)
        count = max(0, len(squares) - abs(offset))
        sums[target][:count] += squares[source][:count]
    base = op.bias + op.alpha / size * sums
    return data / np.moveaxis(base**op.beta, 0, op.axis)


def _normalize(data: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Return (data - mean) / sqrt(variance + epsilon), mean and variance over `axes`."""
    centered = data - mean_of(data, axes)
    variance = mean_of(centered * centered, axes)
    return centered / np.sqrt(variance + epsilon)


def _affine(
    op: normalization_ops.AffineNormOp, data: Array, gamma: Array, beta: Array, axes: Sequence[int]
) -> Array:
    """Multiply by `gamma` if `op.scale`, then add `beta` if `op.center`."""
    if op.scale:
        data = data * _along(gamma, data, axes)
    if op.center:
        data = data + _along(beta, data, axes)
    return data


def _along(parameter: Array, data: Array, axes: Sequence[int]) -> Array:
    """Return the parameter reshaped to broadcast along these axes of `data`."""
    axes = normalize_axes(axes, data.ndim)
    if any(data.shape[axis] != size for axis, size in zip(axes, parameter.shape, strict=True)):
        raise InterpretationError("a parameter and the data differ in size")
    parameter = parameter.transpose(np.argsort(axes))
    return np.expand_dims(parameter, tuple(a for a in range(data.ndim) if a not in axes))


NORMALIZATION: Semantics = {
    normalization_ops.BatchNormOp: batch_norm,
    normalization_ops.LayerNormOp: layer_norm,
    normalization_ops.InstanceNormOp: instance_norm,
    normalization_ops.GroupNormOp: group_norm,
    normalization_ops.RMSNormOp: rms_norm,
    normalization_ops.L2NormalizeOp: l2_normalize,
    normalization_ops.LRNOp: lrn,
}
