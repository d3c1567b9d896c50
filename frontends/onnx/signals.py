"""Converters of Fourier transforms, as products with constant matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from ...interpreters.arrays import Array
from .errors import Unsupported
from .node import Converters, Node

__all__ = ["SIGNALS"]

MAX_ELEMENTS = 1 << 24


def transform(
    size: int, parts: int, length: int, *, inverse: bool = False, onesided: bool = False
) -> Array:
    """Return the matrix of the discrete Fourier transform of `size` numbers, cut off or zero-
    padded to `length`: an array of input, input part, output, output part, where the parts are
    real and imaginary."""
    if size * length * parts * 2 > MAX_ELEMENTS:
        raise Unsupported(f"a transform of {length} elements")
    basis = np.eye(size)
    columns = [_transformed(basis * unit, length, inverse, onesided) for unit in (1, 1j)[:parts]]
    return np.stack(columns, axis=1)


def _transformed(basis: Array, length: int, inverse: bool, onesided: bool) -> Array:
    if inverse:
        return np.fft.irfft(basis, length)[..., None]
    result = np.fft.fft(basis, length)
    if onesided:
        result = result[:, : length // 2 + 1]
    return np.stack([result.real, result.imag], axis=-1)


def applied(node: Node, x: SSAValue, axis: int, matrix: Array) -> SSAValue:
    """Multiply by a matrix along an axis and the last dimension, the parts of a number; in f64,
    as cancellation would leave noise in f32."""
    letters = "abcdefghij"[: node.rank(x) - 1]
    n = letters[axis]
    subscripts = f"{letters}z,{n}zyx->{letters.replace(n, 'y')}x"
    wide = node.op("einsum", node.cast(x, f64), node.array(matrix, f64), subscripts=subscripts)
    return node.cast(wide, node.element(x))


def dft(node: Node) -> Sequence[SSAValue]:
    """Convert DFT: the axis is an input since opset 20."""
    x = node.input(0)
    axis: int | None = node.int("axis", 1)
    if node.opset >= 20:
        axis = node.int_of(2) if node.has(2) else -2
    if axis is None:
        raise Unsupported("the axis is not known")
    shape = node.static_shape(x)
    axis = node.axis(axis, x)
    if shape[-1] not in (1, 2) or axis == len(shape) - 1:
        raise Unsupported(f"input of shape {shape} along axis {axis}")
    inverse, onesided = node.bool("inverse"), node.bool("onesided")
    if inverse and not onesided:
        raise Unsupported("inverse = 1 without onesided = 1")
    length = 2 * (shape[axis] - 1) if inverse else shape[axis]
    if node.has(1):
        if (given := node.int_of(1)) is None:
            raise Unsupported("the length of the transform is not known")
        length = given
    matrix = transform(shape[axis], shape[-1], length, inverse=inverse, onesided=onesided)
    return [applied(node, x, axis, matrix)]


def stft(node: Node) -> Sequence[SSAValue]:
    """Convert STFT: the transforms of overlapping frames, weighted by a window."""
    x = node.input(0)
    _, count, parts = node.sizes(x, 3)
    step = node.int_of(1)
    length = node.int_of(3) if node.has(3) else None
    if length is None and node.has(2):
        (length,) = node.sizes(2, 1)
    if step is None or length is None or not 1 <= length <= count or step < 1:
        raise Unsupported("the step and the length of the frames are not known")
    node.check_size(((count - length) // step + 1) * length)
    starts = np.arange(0, count - length + 1, step)
    places = node.array(starts[:, None] + np.arange(length), i64)
    frames = node.op("take", x, places, axis=1, mode="wrap")
    if node.has(2):
        window = node.op("expand_dims", node.input(2), axis=[1])
        frames = node.op("multiply", frames, window)
    onesided = bool(node.int("onesided", 1)) and parts == 1
    return [applied(node, frames, 2, transform(length, parts, length, onesided=onesided))]


SIGNALS: Converters = {"DFT": dft, "STFT": stft}
