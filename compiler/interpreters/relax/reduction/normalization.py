"""Semantics of normalizations; f16 is computed in f32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from .....dialects.relax.reduction import normalization as ops
from .....dialects.relax.shapes import normalize_axes, normalize_axis
from ...arrays import Array, mean_of, widen
from ..table import Semantics

__all__ = ["NORMALIZATION"]


def batch_norm(
    op: ops.BatchNormOp, data: Array, gamma: Array, beta: Array, mean: Array, variance: Array
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


def layer_norm(op: ops.LayerNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    result = _normalize(widen(data), op.axes, op.epsilon)
    return _affine(op, result, gamma, beta, op.axes)


def instance_norm(op: ops.InstanceNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    channels = normalize_axis(op.axis, data.ndim)
    axes = tuple(axis for axis in range(1, data.ndim) if axis != channels)
    result = _normalize(widen(data), axes, op.epsilon)
    return _affine(op, result, gamma, beta, [channels])


def group_norm(op: ops.GroupNormOp, data: Array, gamma: Array, beta: Array) -> Array:
    channels, *axes = normalize_axes([op.channel_axis, *op.axes], data.ndim)
    groups = op.num_groups
    split = groups, data.shape[channels] // groups
    grouped = widen(data).reshape(*data.shape[:channels], *split, *data.shape[channels + 1 :])
    inner = (channels + 1, *(axis + (axis > channels) for axis in axes))
    result = _normalize(grouped, inner, op.epsilon).reshape(data.shape)
    return _affine(op, result, gamma, beta, [channels])


def rms_norm(op: ops.RMSNormOp, data: Array, weight: Array) -> Array:
    data = widen(data)
    squares = mean_of(data * data, op.axes)
    return data / np.sqrt(squares + op.epsilon) * _along(weight, data, op.axes)


def l2_normalize(op: ops.L2NormalizeOp, data: Array) -> Array:
    data = widen(data)
    squares = np.sum(data * data, axis=op.axis, keepdims=True)
    return data / np.sqrt(np.maximum(squares, op.eps))


def lrn(op: ops.LRNOp, data: Array) -> Array:
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
    op: ops.AffineNormOp, data: Array, gamma: Array, beta: Array, axes: Sequence[int]
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
    ops.BatchNormOp: batch_norm,
    ops.LayerNormOp: layer_norm,
    ops.InstanceNormOp: instance_norm,
    ops.GroupNormOp: group_norm,
    ops.RMSNormOp: rms_norm,
    ops.L2NormalizeOp: l2_normalize,
    ops.LRNOp: lrn,
}
