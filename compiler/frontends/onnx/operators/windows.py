"""Sliding windows: their parameters, and converters of operators on their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import Shape, is_static
from .....dialects.relax.types import with_shape
from ....interpreters.arrays import bounds
from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, constant, indices, size_along

# The parameters of sliding windows: steps, sizes and padding, of known and of unknown sizes.


AUTO_PAD = {mode: mode for mode in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")}


@dataclass(frozen=True)
class OnnxWindow:
    """A sliding window: along each axis its size, its steps, and the steps within it."""

    size: Sequence[int]
    strides: Sequence[int]
    dilation: Sequence[int]

    @classmethod
    def of(cls, node: Node, size: Sequence[int]) -> Self:
        """Return the window of this size with the steps of a node."""
        return cls(size, *(steps(node, name, len(size)) for name in ("strides", "dilations")))

    @classmethod
    def of_pooling(cls, node: Node, x: SSAValue) -> Self:
        """Return the window of a node that pools `x`."""
        return cls.of(node, node.per_axis("kernel_shape", node.rank(x) - 2, 1))

    def axes(self, begins: Sequence[int], ends: Sequence[int]) -> list[int]:
        """Return the axes along which windows with this padding are not single elements."""
        alone = 1, 1, 0, 0
        axes = zip(self.size, self.strides, begins, ends, strict=True)
        return [i for i, axis in enumerate(axes) if axis != alone]


def steps(node: Node, name: str, rank: int) -> list[int]:
    """Return the steps of a window, or within it, along each axis: positive numbers, by default
    1."""
    numbers = node.per_axis(name, rank, 1)
    if min(numbers) < 1:
        raise Unsupported(f"{name} = {numbers}, expected positive numbers")
    return numbers


def kernel_shape(node: Node, weight: SSAValue, rank: int) -> Shape:
    """Return the size of the window of `rank` dimensions, by default that of the weight."""
    sizes = node.shape(weight)[2:]
    if len(sizes) != rank:
        raise Unsupported(f"the weight has {node.rank(weight)} dimensions, expected {rank + 2}")
    if node.given("kernel_shape"):
        sizes = tuple(node.per_axis("kernel_shape", len(sizes), 1))
    if DYNAMIC_INDEX in sizes and node.string("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise Unsupported("the size of the window is not known")
    return sizes


def windowed_axes(window: OnnxWindow, padding: Sequence[int]) -> list[int]:
    """Return up to three spatial axes along which a window slides: all, or of more than three those
    along which it is no single element; Unsupported if these are more."""
    rank = len(window.size)
    axes = [*range(rank)] if rank <= 3 else window.axes(padding[:rank], padding[rank:]) or [0]
    if not 0 < len(axes) <= 3:
        raise Unsupported(f"windows along {len(axes)} axes, expected 1, 2 or 3")
    return axes


# Padding that is known


def window_padding(node: Node, x: SSAValue, window: OnnxWindow) -> list[int | None]:
    """Return the padding of a sliding window over the spatial dimensions: all begins, then all
    ends; None where it depends on a size that is not known."""
    rank, mode = len(window.size), node.choice("auto_pad", AUTO_PAD, "NOTSET")
    if mode == "NOTSET":
        return [*node.per_axis("pads", 2 * rank, 0)]
    if mode == "VALID":
        return [0] * (2 * rank)
    totals = map(same_total, node.shape(x)[2:], window.size, window.strides, window.dilation)
    return split_padding([*totals], mode)


def same_total(size: int, extent: int, stride: int, dilation: int) -> int | None:
    """Return the total padding by which a window has size / stride places, rounded up; None if it
    depends on a size that is not known."""
    reach = (extent - 1) * dilation
    if size == DYNAMIC_INDEX and stride > 1 and reach > 0:
        return None
    over = 0 if size == DYNAMIC_INDEX else (size - 1) % stride
    return max(reach - over, 0)


def split_padding(totals: Sequence[int | None], mode: str) -> list[int | None]:
    """Split the total padding into both sides; SAME_UPPER puts the odd element at the end."""
    smaller = [None if t is None else t // 2 for t in totals]
    greater = [None if t is None else t - t // 2 for t in totals]
    return [*smaller, *greater] if mode == "SAME_UPPER" else [*greater, *smaller]


def symmetric(padding: list[int]) -> list[int]:
    """Return the padding in relax's form: given once if it is the same on both sides."""
    half = len(padding) // 2
    return padding[:half] if padding[:half] == padding[half:] else padding


# Padding that is computed


def padded(
    node: Node, x: SSAValue, window: OnnxWindow, value: float = 0
) -> tuple[SSAValue, list[int]]:
    """Return the data of a sliding window and its padding.

    Along axes where the padding depends on a size that is not known, the data is padded with
    `value`: SAME_UPPER and SAME_LOWER of unknown size.
    """
    padding = window_padding(node, x, window)
    computed = [i for i in range(len(window.size)) if padding[i] is None]
    if computed:
        widths = same_widths(node, x, computed, window)
        axes = node.array([i + 2 for i in computed], i64)
        x = node.op("dyn.pad", x, widths, node.like(value, x), axes)
    return x, [width or 0 for width in padding]


def window_begins(node: Node, x: SSAValue, window: OnnxWindow) -> list[int | Expression]:
    """Return the padding before each spatial dimension; a scalar i64 where it depends on a size
    that is not known."""
    begins = window_padding(node, x, window)[: len(window.size)]
    computed = [i for i, width in enumerate(begins) if width is None]
    widths = iter(
        [
            Expression(node, same_widths(node, x, computed, window)).at(0, i)
            for i in range(len(computed))
        ]
    )
    return [next(widths) if width is None else width for width in begins]


def same_widths(node: Node, x: SSAValue, axes: Sequence[int], window: OnnxWindow) -> SSAValue:
    """Return the widths of SAME padding of some spatial axes: the begins, then the ends."""
    reaches = constant(node, [(window.size[i] - 1) * window.dilation[i] for i in axes])
    strides = constant(node, [window.strides[i] for i in axes])
    sizes = Expression(node, node.op("shape_of", x)).take(constant(node, [a + 2 for a in axes]), 0)
    total = (reaches - (sizes - 1) % strides).op("maximum", 0)
    smaller = total // 2
    sides = [smaller, total - smaller]
    if node.choice("auto_pad", AUTO_PAD, "NOTSET") == "SAME_LOWER":
        sides.reverse()
    return sides[0].concat(sides[1], axis=0).value


def with_whole_windows(node: Node, x: SSAValue, window: OnnxWindow) -> SSAValue:
    """Return the data of a pooling with zeros at its end, so that with `ceil_mode` no window
    reaches beyond the padding. With SAME padding none does."""
    padding = window_padding(node, x, window)
    if not node.bool("ceil_mode") or None in padding:
        return x
    rank, sides = len(window.size), known(padding)
    missing = [beyond_padding(Expression(node, x), window, sides, i) for i in range(rank)]
    first, *others = (width.reshape(1) for width in missing)
    ends = first.concat(*others, axis=0).value
    if (widths := node.importer.array(ends)) is None:
        axes, zeros = node.array(range(2, rank + 2), i64), node.array([0] * rank, i64)
        both = node.op("concatenate", zeros, ends, axis=0)
        return node.op("dyn.pad", x, both, node.like(0, x), axes)
    pairs = [width for end in (0, 0, *widths.tolist()) for width in (0, end)]
    return node.op("nn.pad", x, pad_width=pairs) if any(pairs) else x


def beyond_padding(x: Expression, window: OnnxWindow, padding: list[int], i: int) -> Expression:
    """Return the number of positions by which the last window along spatial axis `i` reaches beyond
    the padding. With `ceil_mode` it starts before the padding at the end."""
    stride, span = window.strides[i], (window.size[i] - 1) * window.dilation[i] + 1
    end = size_along(x, i + 2) + padding[i]
    padded = end + padding[i + len(window.size)]
    steps = ((padded - span + stride - 1) // stride).op("minimum", (end - 1) // stride)
    return (steps * stride + span - padded).op("maximum", 0)


# Transposed convolutions


def transposed_padding(
    node: Node, x: SSAValue, window: OnnxWindow, extra: list[int]
) -> tuple[list[int], list[int]] | None:
    """Return the padding and the output padding of a transposed convolution; an output shape or
    auto_pad determines the padding. None if it depends on sizes that are not known."""
    size, strides, rank = window.size, window.strides, len(window.size)
    wanted = output_shape(node, rank)
    mode = node.choice("auto_pad", AUTO_PAD, "NOTSET")
    if wanted is None and mode in ("NOTSET", "VALID"):
        return known(window_padding(node, x, window)), extra
    sizes = node.shape(x)[2:]
    if DYNAMIC_INDEX in size:
        raise Unsupported("the padding depends on the size of the window, which is not known")
    # The size without padding, less the wanted one: with auto_pad the input's size cancels out.
    reaches = [(size[i] - 1) * window.dilation[i] for i in range(rank)]
    beyond = [extra[i] + reaches[i] + 1 - strides[i] for i in range(rank)]
    if wanted is None:
        totals = beyond
    elif DYNAMIC_INDEX in sizes:
        return None
    else:
        totals = [beyond[i] + strides[i] * sizes[i] - wanted[i] for i in range(rank)]
    # A greater output is padded at its end.
    extra = [e + max(-total, 0) for e, total in zip(extra, totals, strict=True)]
    totals = [max(total, 0) for total in totals]
    return known(split_padding(totals, transposed_mode(mode))), extra


def known(padding: Sequence[int | None]) -> list[int]:
    return [width for width in padding if width is not None]


def output_shape(node: Node, rank: int) -> list[int] | None:
    """Return the spatial sizes that a transposed convolution is to have, if they are given."""
    return node.per_axis("output_shape", rank, 0) if node.given("output_shape") else None


def transposed_mode(mode: str) -> str:
    """Return the side of a transposed convolution that loses the odd element."""
    return "SAME_UPPER" if mode == "SAME_UPPER" else "SAME_LOWER"


def resized(node: Node, y: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """Cut a transposed convolution without padding to the spatial `sizes`, or pad its end."""
    rank = len(sizes)
    axes, wanted = node.array(range(2, rank + 2), i64), constant(node, sizes)
    zero = constant(node, [0] * rank)
    extents = Expression(node, node.op("shape_of", y)).slice(0, 2, rank + 2)
    missing = (wanted - extents).op("maximum", zero)
    y = node.op("dyn.pad", y, zero.concat(missing, axis=0).value, node.like(0, y), axes)
    total = (extents - wanted).op("maximum", zero)
    begin = total // 2
    if transposed_mode(node.choice("auto_pad", AUTO_PAD, "NOTSET")) == "SAME_LOWER":
        begin = total - begin
    ones = node.array([1] * rank, i64)
    y = node.op("dyn.strided_slice", y, begin.value, (begin + wanted).value, axes, ones)
    return node.retyped(y, with_shape(node.type(y), (*node.shape(y)[:2], *sizes)))


# Converters of operators on the elements of sliding windows: the places of maxima, and sums of
# overlapping blocks.


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
