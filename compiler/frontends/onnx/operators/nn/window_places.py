"""Converters of operators on the elements of sliding windows: the places of maxima, and sums of
overlapping blocks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ......dialects.relax.shapes import is_static
from .....interpreters.arrays import bounds
from ...errors import Unsupported
from ...node import Converters, Node
from ..expression import Expression, constant, indices, size_along
from .windows import OnnxWindow

__all__ = ["WINDOW_PLACES", "places_of_maxima"]

MAX_ELEMENTS = 1 << 24

Places = NDArray[np.int64]


def window_places(
    sizes: Sequence[int], out: Sequence[int], window: OnnxWindow, begins: Sequence[int]
) -> Places:
    """Return the flat index of each element of each window, in an array of windows and elements;
    the number of elements, prod(sizes), for one in the padding."""
    if prod(out) * prod(window.size) > MAX_ELEMENTS:
        raise Unsupported(f"{prod(out)} windows of {prod(window.size)} elements")
    flat: Places = np.zeros((1, 1), np.int64)
    outside: NDArray[np.bool_] = np.zeros((1, 1), np.bool_)
    for i, size in enumerate(sizes):
        count = out[i]
        starts = np.arange(count)[:, None] * window.strides[i] - begins[i]
        places: Places = starts + np.arange(window.size[i]) * window.dilation[i]
        beyond: NDArray[np.bool_] = (places < 0) | (places >= size)
        flat = (flat[:, None, :, None] * size + places[:, None, :]).reshape(len(flat) * count, -1)
        outside = (outside[:, None, :, None] | beyond[:, None, :]).reshape(flat.shape)
    return np.where(outside, prod(sizes), flat)


# The places of maxima


def places_of_maxima(
    node: Node, x: SSAValue, y: SSAValue, window: OnnxWindow, padding: Sequence[int | Expression]
) -> SSAValue:
    """Return the index in the flattened input of the maximum of each window (MaxPool's output
    Indices); `y` holds the maxima, `padding` the widths before each spatial dimension."""
    begins = [width for width in padding if isinstance(width, int)]
    if not (is_static(node.shape(x)) and is_static(node.shape(y))):
        return computed_places_of_maxima(node, x, y, window, padding)
    (batch, channels, *sizes), (_, _, *out) = node.shape(x), node.shape(y)
    node.check_size(batch, channels)
    places = window_places(sizes, out, window, begins)
    value = Expression(node, x)
    low = bounds(value.element)[0]
    flat = value.reshape(batch, channels, prod(sizes))
    lowest = Expression(node, node.full(low, value.element, (batch, channels, 1)))
    taken = flat.concat(lowest, axis=-1).take(constant(node, places, i64), -1)
    choice = taken.op("argmax", axis=-1)
    if node.int("storage_order"):
        grid = np.arange(prod(sizes)).reshape(sizes[::-1]).transpose().reshape(-1)
        places = np.append(grid, 0)[places]
    table = constant(node, places.reshape(-1), i64)
    starts = constant(node, np.arange(len(places)) * places.shape[1], i64)
    index = table.take(choice + starts, 0)
    planes = np.arange(batch * channels).reshape(batch, channels, 1) * prod(sizes)
    return (index + constant(node, planes, i64)).reshape(batch, channels, *out).value


def computed_places_of_maxima(
    node: Node, x: SSAValue, y: SSAValue, window: OnnxWindow, begins: Sequence[int | Expression]
) -> SSAValue:
    """Return the places of maxima for sizes that are known at run time only."""
    value, maxima = Expression(node, x), Expression(node, y)
    (batch, channels, *sizes), (_, _, *out) = (
        [size_along(of, axis) for axis in range(of.rank)] for of in (value, maxima)
    )
    block = [Expression(node, node.full(size, i64)) for size in window.size]
    places = computed_places(sizes, out, block, window.strides, window.dilation, begins).transpose(
        1, 0
    )
    pixels, count = product(sizes), prod(window.size)
    flat = value.op("dyn.reshape", shape_vector(batch, channels, pixels))
    flat = flat.op("nn.pad", pad_width=[0, 0, 0, 0, 0, 1], pad_value=bounds(value.element)[0])
    choice = flat.take(places, -1).op("argmax", axis=-1)
    index = places.reshape(-1).take(choice + indices(product(out), node) * count, 0)
    if node.int("storage_order"):
        index = column_major(index, sizes)
    planes = indices(batch * channels, node).op(
        "dyn.reshape", shape_vector(batch, channels, batch.scalar(1))
    )
    return (index + planes * pixels).op("dyn.reshape", maxima.op("shape_of")).value


def column_major(index: Expression, sizes: Sequence[Expression]) -> Expression:
    """Return the column-major index of the element with a row-major index."""
    places: list[Expression] = []
    for size in reversed(sizes):
        index, place = index // size, index % size
        places.append(place)
    first, *others = places
    # c0 + s0 * (c1 + s1 * c2)
    for place, size in zip(others, reversed(sizes[:-1]), strict=True):
        first = first * size + place
    return first


def max_unpool(node: Node) -> SSAValue:
    """Convert MaxUnpool: the elements at their indices in a tensor of zeros; with `output_shape`
    a larger one, which holds the tensor at its start."""
    x = Expression(node, node.input(0))
    batch, channels, *sizes = node.static_shape(x.value)
    rank = len(sizes)
    window = node.per_axis("kernel_shape", rank, 1)
    strides = node.per_axis("strides", rank, 1)
    pads = node.per_axis("pads", 2 * rank, 0)
    out = [(sizes[i] - 1) * strides[i] + window[i] - pads[i] - pads[i + rank] for i in range(rank)]
    shape = [batch, channels, *out]
    node.check_size(*shape)
    zeros = node.full(0, x.element, (prod(shape),))
    places = Expression(node, node.input(1)).reshape(prod(x.shape))
    y = Expression(
        node, node.op("scatter_elements", zeros, places.value, x.reshape(prod(x.shape)).value)
    ).reshape(*shape)
    if not node.has(2):
        return y.value
    if (wanted := node.ints_of(2)) is None:
        after = Expression(node, node.input(2)) - constant(node, np.array(shape), i64)
        width = constant(node, np.zeros(len(shape)), i64).concat(after, axis=0)
        axes = node.array(np.arange(len(shape)), i64)
        return node.op("dyn.pad", y.value, width.value, node.full(0, x.element), axes)
    after = [size - old for size, old in zip(wanted, shape, strict=True)]
    if min(after) < 0:
        raise Unsupported(f"output_shape = {wanted} is smaller than {shape}")
    return y.op("nn.pad", pad_width=[w for size in after for w in (0, size)]).value


# Sums of overlapping blocks


def col2im(node: Node) -> Expression:
    """Convert Col2Im: sum the elements of blocks, the columns, at their places in an image."""
    x = Expression(node, node.input(0))
    image, block = node.ints_of(1), node.ints_of(2)
    rank = node.sizes(1, 1)[0]
    strides, dilation = node.per_axis("strides", rank, 1), node.per_axis("dilations", rank, 1)
    pads = node.per_axis("pads", 2 * rank, 0)
    if node.sizes(2, 1)[0] != rank:
        raise Unsupported(f"a block of {node.sizes(2, 1)[0]} dimensions in an image of {rank}")
    if image is None or block is None or not is_static(x.shape):
        return computed_col2im(node, x, strides, dilation, pads)
    batch, rows, columns = node.sizes(x.value, 3)
    out = [
        (image[i] + pads[i] + pads[i + rank] - dilation[i] * (block[i] - 1) - 1) // strides[i] + 1
        for i in range(rank)
    ]
    count = prod(block)
    if prod(out) != columns or rows % count:
        raise Unsupported(f"columns of shape {[*x.shape]}, expected blocks {block} at {out}")
    places = window_places(image, out, OnnxWindow(block, strides, dilation), pads[:rank])
    flat = constant(node, places.transpose().reshape(-1, 1), i64)
    channels = rows // count
    node.check_size(batch, channels, prod(image))
    updates = x.reshape(batch, channels, count * columns).transpose(2, 0, 1)
    zeros = Expression(node, node.full(0, x.element, (prod(image) + 1, batch, channels)))
    y = zeros.op("scatter_nd", flat, updates, reduction="add")
    y = y.slice(0, 0, prod(image)).transpose(1, 2, 0)
    return y.reshape(batch, channels, *image)


def computed_col2im(
    node: Node, x: Expression, strides: Sequence[int], dilation: Sequence[int], pads: Sequence[int]
) -> Expression:
    """Return Col2Im for an image and blocks whose sizes are known at run time only."""
    rank = len(strides)
    image, block = (
        [Expression(node, node.cast(node.input(i), i64)).at(0, k) for k in range(rank)]
        for i in (1, 2)
    )
    reach = [
        image[i] + (pads[i] + pads[i + rank] - 1) - (block[i] - 1) * dilation[i]
        for i in range(rank)
    ]
    counts = [reach[i] // strides[i] + 1 for i in range(rank)]
    flat = computed_places(image, counts, block, strides, dilation, pads[:rank]).reshape(-1, 1)
    batch, channels = size_along(x, 0), size_along(x, 1) // product(block)
    columns = x.op("dyn.reshape", shape_vector(batch, channels, batch.scalar(-1)))
    zero = Expression(node, node.full(0, x.element))
    y = zero.op("dyn.full", shape_vector(product(image) + 1, batch, channels))
    y = y.op("scatter_nd", flat, columns.transpose(2, 0, 1), reduction="add")
    y = y.slice(0, 0, -1).transpose(1, 2, 0)
    return y.op("dyn.reshape", shape_vector(batch, channels, *image))


# Places among sizes that are known at run time only


def computed_places(
    sizes: Sequence[Expression],
    out: Sequence[Expression],
    block: Sequence[Expression],
    strides: Sequence[int],
    dilation: Sequence[int],
    begins: Sequence[int | Expression],
) -> Expression:
    """Return the result of `window_places`, transposed: an array of elements and windows."""
    node = sizes[0].node
    flat = Expression(node, node.full(0, i64, (1, 1)))
    outside = flat > 0
    for i, size in enumerate(sizes):
        elements = indices(block[i], node).expand(1) * dilation[i]
        places = elements + indices(out[i], node) * strides[i] - begins[i]
        beyond = (places < 0) | (places >= size)
        flat, outside = (
            joined(before.expand(1, 3), after.expand(0, 2), add)
            for before, after, add in ((flat * size, places, True), (outside, beyond, False))
        )
    return outside.where(product(sizes), flat)


def joined(before: Expression, after: Expression, add: bool) -> Expression:
    """Return an axis joined to the indices of the axes before it: elements and windows of both
    become the rows and the columns."""
    both = before + after if add else before | after
    rows, columns = size_along(both, 0) * size_along(both, 1), size_along(both, 2)
    columns = (columns * size_along(both, 3)).reshape(1)
    return both.op("dyn.reshape", rows.reshape(1).concat(columns, axis=0))


def product(sizes: Sequence[Expression]) -> Expression:
    """Return the number of elements of a tensor of these sizes."""
    return reduce(lambda a, b: a * b, sizes)


def shape_vector(*sizes: Expression) -> Expression:
    """Return a shape as a vector, given its sizes as scalars."""
    first, *others = (size.reshape(1) for size in sizes)
    return first.concat(*others, axis=0)


WINDOW_PLACES: Converters = {"Col2Im": col2im, "MaxUnpool": max_unpool}
