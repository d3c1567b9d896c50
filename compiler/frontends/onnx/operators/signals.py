"""Converters of Fourier transforms, as products with matrices, and of mel filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, f64, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import is_static, shape_text
from ....interpreters.arrays import Array
from ..errors import Unsupported
from ..node import Converters, Node
from ..types import element_type
from .control import selected
from .expression import Expression, extent_along, indices, size_along
from .linear_algebra import summation

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


def computed_transform(
    size: Expression, parts: int, length: Expression, *, inverse: bool, onesided: bool
) -> Expression:
    """Return the result of `transform` for sizes that are known at run time only."""
    node, half = size.node, length // 2
    halved = onesided and inverse
    row, wide = indices(size, node).expand(1), length.cast(f64)
    out = indices(half + 1 if onesided and not inverse else length, node)
    angle = (row * out % length).cast(f64) / wide * (2 * np.pi if inverse else -2 * np.pi)
    weight = (row <= half if halved else row < length).cast(f64)
    if inverse:
        weight = weight / wide
    if halved:  # the other numbers stand for their conjugates, too
        weight = (row.equals(0) | (row * 2).equals(length)).where(weight, weight * 2)
    real, imaginary = angle.op("cos") * weight, angle.op("sin") * weight
    columns = [(real, imaginary), (-imaginary, real)][:parts]
    return stacked([stacked(column[:1] if halved else column, 2) for column in columns], 1)


def stacked(parts: Sequence[Expression], axis: int) -> Expression:
    return parts[0].op("stack", *parts[1:], axis=axis)


def transform_of(
    node: Node,
    size: int | Expression,
    parts: int,
    length: int | Expression,
    *,
    inverse: bool = False,
    onesided: bool = False,
) -> SSAValue:
    """Return the matrix of a transform, a constant if its sizes are known."""
    if isinstance(size, int) and isinstance(length, int):
        matrix = transform(size, parts, length, inverse=inverse, onesided=onesided)
        return node.array(matrix, f64)
    sizes = [
        Expression(node, node.full(number, i64)) if isinstance(number, int) else number
        for number in (size, length)
    ]
    return computed_transform(sizes[0], parts, sizes[1], inverse=inverse, onesided=onesided).value


def applied(node: Node, x: SSAValue, axis: int, matrix: SSAValue) -> SSAValue:
    """Multiply by a matrix along an axis and the last dimension, the parts of a number; in f64,
    as cancellation would leave noise in f32."""
    letters = "abcdefghij"[: node.rank(x) - 1]
    n = letters[axis]
    subscripts = f"{letters}z,{n}zyx->{letters.replace(n, 'y')}x"
    wide = summation(node, subscripts, node.cast(x, f64), matrix)
    return node.cast(wide, node.element(x))


def dft(node: Node) -> SSAValue:
    """Convert DFT: the axis is an input since opset 20."""
    x = node.input(0)
    axis: int | None = node.int("axis", 1)
    if node.opset >= 20:
        axis = node.int_of(2) if node.has(2) else -2
    length = None
    if node.has(1) and (length := node.int_of(1)) is None:
        length = scalar_input(node, 1)
    if axis is not None:
        return transformed(node, x, node.axis(axis, x), length)
    *sizes, _ = node.shape(x)
    place = node.cast(node.input(2), i64)
    if node.rank(place):
        place = node.op("reshape", place, newshape=[])
    place = node.op("floor_mod", place, node.full(len(sizes) + 1, i64))
    possible = [axis for axis, size in enumerate(sizes) if size != 1 or not node.bool("onesided")]
    return among(node, place, possible, lambda axis: transformed(node, x, axis, length))


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


def transformed(node: Node, x: SSAValue, axis: int, length: int | Expression | None) -> SSAValue:
    """Return the discrete Fourier transform along an axis."""
    parts = parts_of(node, x)
    if axis == node.rank(x) - 1:
        raise Unsupported(f"input of shape {shape_text(node.shape(x))} along axis {axis}")
    inverse, onesided = node.bool("inverse"), node.bool("onesided")
    size = extent_along(Expression(node, x), axis, i64)
    if length is None:
        length = (size - 1) * 2 if inverse and onesided else size
    matrix = transform_of(node, size, parts, length, inverse=inverse, onesided=onesided)
    return applied(node, x, axis, matrix)


def parts_of(node: Node, x: SSAValue) -> int:
    """Return the size of the last dimension: 1 for real numbers, 2 for complex ones."""
    if (parts := node.shape(x)[-1]) not in (1, 2):
        raise Unsupported(
            f"input of shape {shape_text(node.shape(x))}, expected 1 or 2 elements in the last "
            "dimension"
        )
    return parts


def stft(node: Node) -> SSAValue:
    """Convert STFT: the transforms of overlapping frames, weighted by a window."""
    x = node.with_rank(node.input(0), 3)
    count, parts = node.shape(x)[1], parts_of(node, x)
    step = node.int_of(1)
    length = node.int_of(3) if node.has(3) else None
    if length is None and node.has(2) and is_static(node.shape(2)):
        (length,) = node.sizes(2, 1)
    onesided = bool(node.int("onesided", 1)) and parts == 1
    size = scalar_input(node, 3) if length is None else length
    frames = Expression(node, x).take(frame_places(node, x, count, step, size), 1)
    if node.has(2):
        frames = frames * Expression(node, node.input(2)).expand(1)
    matrix = transform_of(node, size, parts, size, onesided=onesided)
    return applied(node, frames.value, 2, matrix)


def frame_places(
    node: Node, x: SSAValue, count: int, step: int | None, length: int | Expression
) -> Expression:
    """Return the place of each element of each frame, constants if the sizes are known."""
    if count == DYNAMIC_INDEX or step is None or isinstance(length, Expression):
        steps = scalar_input(node, 1)
        last = size_along(Expression(node, x), 1) - length + 1
        starts = steps.scalar(0).op("arange", last, steps)
        return starts.expand(1) + indices(length, node)
    if not 1 <= length <= count or step < 1:
        raise Unsupported(f"frames of {length} elements at a distance of {step}")
    node.check_size(((count - length) // step + 1) * length)
    starts = np.arange(0, count - length + 1, step)
    return Expression(node, node.array(starts[:, None] + np.arange(length), i64))


def scalar_input(node: Node, index: int) -> Expression:
    """Return an input of one integer as a scalar i64."""
    value = Expression(node, node.input(index)).cast(i64)
    return value.reshape() if value.rank else value


def mel_weight_matrix(node: Node) -> Expression:
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
    return y.cast(element_type(node.int("output_datatype", 1)))


def mel(hertz: Expression) -> Expression:
    """Convert a frequency to mel."""
    return (hertz / 700.0 + 1.0).op("log") * (2595.0 / np.log(10.0))


SIGNALS: Converters = {"DFT": dft, "MelWeightMatrix": mel_weight_matrix, "STFT": stft}
