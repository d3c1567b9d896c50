"""What operations of neural networks compute that are no family of their own; of f16, in f32."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np

from ...dialects.relax import nn as ops
from ...dialects.relax.types import tensor_type
from ..arrays import Array, element_of, fit, wide
from .table import Semantics

__all__ = ["NN", "pad"]

_NUMPY_MODES: dict[str, Literal["reflect", "edge", "wrap"]] = {
    "reflect": "reflect",
    "edge": "edge",
    "circular": "wrap",
}


def softmax(op: ops.SoftmaxOp, data: Array) -> Array:
    """Each step in the element type, as ONNX and TVM define it; sums of f16 in f32."""
    element = element_of(tensor_type(op.data))
    powers = fit(np.exp(fit(_less_maximum(op, data), element)), element)
    total = fit(wide(powers).sum(axis=op.axis, keepdims=True), element)
    powers /= total
    return powers


def log_softmax(op: ops.LogSoftmaxOp, data: Array) -> Array:
    shifted = _less_maximum(op, data)
    return shifted - np.log(np.exp(shifted).sum(axis=op.axis, keepdims=True))


def _less_maximum(op: ops.SoftmaxBaseOp, data: Array) -> Array:
    """The elements less the greatest along the axis: exp of none of them overflows."""
    data = wide(data)
    return data - data.max(axis=op.axis, keepdims=True, initial=-np.inf)


def dropout(_: ops.DropoutOp, data: Array) -> Array:
    return data


def bias_add(op: ops.BiasAddOp, data: Array, bias: Array) -> Array:
    after = data.ndim - 1 - op.axis % data.ndim
    bias = bias.reshape(-1, *(1,) * after)
    # A sum of bools is no exclusive or
    return data ^ bias if data.dtype == np.bool_ else data + bias


def padded(op: ops.PadOp, data: Array) -> Array:
    widths = [*op.pad_width]
    value = op.pad_value
    return pad(data, [*zip(widths[::2], widths[1::2], strict=True)], value, op.pad_mode)


def pad(data: Array, widths: Sequence[tuple[int, int]], value: float, mode: str) -> Array:
    """The array with elements added before and after each dimension, or cut off it."""
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
    # An integer of any size, which wraps around
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
