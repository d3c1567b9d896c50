"""Semantics of softmax, dropout, bias_add, pad and batch_flatten; f16 is computed in f32."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np

from .....dialects.relax.reduction import nn as ops
from .....dialects.relax.types import tensor_type
from ...arrays import Array, element_of, fit, widen
from ..table import Semantics

__all__ = ["NN", "pad"]

_NUMPY_MODES: dict[str, Literal["reflect", "edge", "wrap"]] = {
    "reflect": "reflect",
    "edge": "edge",
    "circular": "wrap",
}


def softmax(op: ops.SoftmaxOp, data: Array) -> Array:
    """Return softmax with each step rounded to the element type, as in ONNX and TVM.

    Only the sum of f16 is accumulated in f32.
    """
    element = element_of(tensor_type(op.data))
    powers = fit(np.exp(fit(_less_maximum(op, data), element)), element)
    total = fit(widen(powers).sum(axis=op.axis, keepdims=True), element)
    powers /= total
    return powers


def log_softmax(op: ops.LogSoftmaxOp, data: Array) -> Array:
    shifted = _less_maximum(op, data)
    return shifted - np.log(np.exp(shifted).sum(axis=op.axis, keepdims=True))


def _less_maximum(op: ops.SoftmaxBaseOp, data: Array) -> Array:
    """Return the elements minus the maximum along the axis, so that their exp cannot overflow."""
    data = widen(data)
    return data - data.max(axis=op.axis, keepdims=True, initial=-np.inf)


def dropout(_: ops.DropoutOp, data: Array) -> Array:
    return data


def bias_add(op: ops.BiasAddOp, data: Array, bias: Array) -> Array:
    axis = op.axis % data.ndim
    if len(bias) != data.shape[axis]:
        raise ValueError(f"a bias of {len(bias)} elements for a dimension of {data.shape[axis]}")
    after = data.ndim - 1 - axis
    bias = bias.reshape(-1, *(1,) * after)
    # The sum of i1 is exclusive or; numpy's `+` of bools is or.
    return data ^ bias if data.dtype == np.bool_ else data + bias


def padded(op: ops.PadOp, data: Array) -> Array:
    widths = [*zip(op.pad_width[::2], op.pad_width[1::2], strict=True)]
    for axis, (size, pair) in enumerate(zip(data.shape, widths, strict=True)):
        ops.padded_size(axis, size, *pair, op.pad_mode)
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


def batch_flatten(_: ops.BatchFlattenOp, data: Array) -> Array:
    return data.reshape(len(data), prod(data.shape[1:]))


NN: Semantics = {
    ops.SoftmaxOp: softmax,
    ops.LogSoftmaxOp: log_softmax,
    ops.DropoutOp: dropout,
    ops.BiasAddOp: bias_add,
    ops.PadOp: padded,
    ops.BatchFlattenOp: batch_flatten,
}
