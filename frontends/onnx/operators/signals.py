"""Converters of Fourier transforms, as products with matrices, and of mel filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from ....interpreters.arrays import Array
from ..errors import Unsupported
from ..node import Converters, Node
from ..types import element_type
from .control import selected
from .expression import Expression, indices, size_along
from .nn.einsum import summation

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
    if inverse and onesided:
        return np.fft.irfft(basis, length)[..., None]
    result = (np.fft.ifft if inverse else np.fft.fft)(basis, length)
    if onesided:
        result = result[:, : length // 2 + 1]
    return np.stack([result.real, result.imag], axis=-1)


def applied(node: Node, x: SSAValue, axis: int, matrix: Array) -> SSAValue:
    """Multiply by a matrix along an axis and the last dimension, the parts of a number; in f64,
    as cancellation would leave noise in f32."""
    letters = "abcdefghij"[: node.rank(x) - 1]
    n = letters[axis]
    subscripts = f"{letters}z,{n}zyx->{letters.replace(n, 'y')}x"
    wide = summation(node, subscripts, node.cast(x, f64), node.array(matrix, f64))
    return node.cast(wide, node.element(x))


def dft(node: Node) -> Sequence[SSAValue]:
    """Convert DFT: the axis is an input since opset 20."""
    x = node.input(0)
    axis: int | None = node.int("axis", 1)
    if node.opset >= 20:
        axis = node.int_of(2) if node.has(2) else -2
    length = None
    if node.has(1) and (length := node.int_of(1)) is None:
        raise Unsupported("the length of the transform is not known")
    if axis is not None:
        return [transformed(node, x, node.axis(axis, x), length)]
    *sizes, _ = node.static_shape(x)
    place = node.cast(node.input(2), i64)
    if node.rank(place):
        place = node.op("reshape", place, newshape=[])
    place = node.op("floor_mod", place, node.full(len(sizes) + 1, i64))
    possible = [axis for axis, size in enumerate(sizes) if size > 1 or not node.bool("onesided")]
    return [among(node, place, possible, lambda axis: transformed(node, x, axis, length))]


def among(
    node: Node, index: SSAValue, numbers: Sequence[int], branch: Callable[[int], SSAValue]
) -> SSAValue:
    """Return the value of the branch with a computed number; the last one is not compared."""
    first, *others = numbers
    if not others:
        return branch(first)
    chosen = node.op("equal", index, node.full(first, i64))
    return selected(
        node, chosen, lambda: [branch(first)], lambda: [among(node, index, others, branch)]
    )[0]


def transformed(node: Node, x: SSAValue, axis: int, length: int | None) -> SSAValue:
    """Return the discrete Fourier transform along an axis."""
    shape = node.static_shape(x)
    if shape[-1] not in (1, 2) or axis == len(shape) - 1:
        raise Unsupported(f"input of shape {shape} along axis {axis}")
    inverse, onesided = node.bool("inverse"), node.bool("onesided")
    if length is None:
        length = 2 * (shape[axis] - 1) if inverse and onesided else shape[axis]
    matrix = transform(shape[axis], shape[-1], length, inverse=inverse, onesided=onesided)
    return applied(node, x, axis, matrix)


def stft(node: Node) -> Sequence[SSAValue]:
    """Convert STFT: the transforms of overlapping frames, weighted by a window."""
    x = node.input(0)
    _, count, parts = node.sizes(x, 3)
    step = node.int_of(1)
    length = node.int_of(3) if node.has(3) else None
    if length is None and node.has(2):
        (length,) = node.sizes(2, 1)
    onesided = bool(node.int("onesided", 1)) and parts == 1
    if step is None or length is None:
        return [computed_stft(node, length, onesided).value]
    if not 1 <= length <= count or step < 1:
        raise Unsupported(f"frames of {length} elements at a distance of {step}")
    node.check_size(((count - length) // step + 1) * length)
    starts = np.arange(0, count - length + 1, step)
    places = node.array(starts[:, None] + np.arange(length), i64)
    frames = node.op("take", x, places, axis=1, mode="wrap")
    if node.has(2):
        window = node.op("expand_dims", node.input(2), axis=[1])
        frames = node.op("multiply", frames, window)
    return [applied(node, frames, 2, transform(length, parts, length, onesided=onesided))]


def scalar_input(node: Node, index: int) -> Expression:
    """Return an input of one integer as a scalar i64."""
    value = Expression(node, node.input(index)).cast(i64)
    return value.reshape() if value.rank else value


def computed_stft(node: Node, length: int | None, onesided: bool) -> Expression:
    """Return STFT if the step or the length of the frames are known at run time only: the matrix
    of the transform is computed, in f64."""
    x = Expression(node, node.input(0))
    size = scalar_input(node, 3) if length is None else Expression(node, node.full(length, i64))
    step = scalar_input(node, 1)
    last = size_along(x, 1) - size + 1
    starts = Expression(node, node.full(0, i64)).op("arange", last, step)
    element = indices(size, node)
    frames = x.take(starts.expand(1) + element, 1).cast(f64)
    if node.has(2):
        frames = frames * Expression(node, node.input(2)).cast(f64).expand(1)
    out = indices(size // 2 + 1, node) if onesided else element
    turn = (element.expand(1) * out % size).cast(f64) / size.cast(f64)  # exact, below 1
    angle = turn * (-2 * np.pi)
    real, imaginary = angle.op("cos"), angle.op("sin")
    # The axes are batch, frame, element and part; of a number its parts are real and imaginary.
    first = frames.at(3, 0)
    re, im = first @ real, first @ imaginary
    if x.shape[2] == 2:
        second = frames.at(3, 1)
        re, im = re - second @ imaginary, im + second @ real
    return re.op("stack", im, axis=-1).cast(x.element)


def mel_weight_matrix(node: Node) -> Sequence[SSAValue]:
    """Convert MelWeightMatrix: triangles over the bins of a spectrum, whose corners are at equal
    distances in mel."""
    count, length, rate = (scalar_input(node, i) for i in range(3))
    low, high = (mel(Expression(node, node.input(i)).cast(f64)) for i in (3, 4))
    low, high = (x.reshape() if x.rank else x for x in (low, high))
    corners = indices(count + 2, node).cast(f64) * ((high - low) / (count + 2).cast(f64)) + low
    hertz = (corners.scalar(10).op("power", corners / 2595.0) - 1.0) * 700.0
    bins = ((length + 1).cast(f64) * hertz / rate.cast(f64)).op("floor").cast(i64)
    ends = -2, -1, 2**63 - 1
    start, centre, end = (
        bins.op("strided_slice", begin=[i], end=[end]) for i, end in enumerate(ends)
    )
    place = indices(length // 2 + 1, node).expand(1)
    rising = (place - start).cast(f64) / (centre - start).op("maximum", 1).cast(f64)
    falling = (end - place).cast(f64) / (end - centre).op("maximum", 1).cast(f64)
    up = (place >= start) & (place <= centre) & ~start.equals(centre)
    peak = start.equals(centre) & place.equals(centre)
    down = (place >= centre) & (place < end)
    y = down.where(falling, up.where(rising, peak.cast(f64)))
    return [y.cast(element_type(node.int("output_datatype", 1))).value]


def mel(hertz: Expression) -> Expression:
    """Convert a frequency to mel."""
    return (hertz / 700.0 + 1.0).op("log") * (2595.0 / np.log(10.0))


SIGNALS: Converters = {"DFT": dft, "MelWeightMatrix": mel_weight_matrix, "STFT": stft}
