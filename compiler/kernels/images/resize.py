"""Resizing of images.

A kernel first computes tables, one or two for each dimension: the source coordinates of the new
elements, and the weights with which these are interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IndexType, f32, f64, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import images as ops
from ....dialects.relax.layout import Layout
from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, is_at_most
from ..builder import Buffer, Elements, KernelBuilder, Legalization, Scheduled, Store, Tensor
from ..data.manipulation import Repeated
from ..elementwise.elementwise import to_explicit
from ..scalars import (
    add,
    as_index,
    computable,
    convert,
    divide,
    is_unsigned,
    maximum,
    maximum_of,
    minimum,
    minimum_of,
    multiply,
    select,
)
from ..tensors import relayout
from .coordinates import F64, Coordinate, clipped, nearest_integer, rounded, value_of


def resize(op: ops.ResizeOp, b: KernelBuilder, data: Tensor) -> Tensor:
    return resize_to(op, b, data, Layout.parse(op.layout), op.SPATIAL, op.scales, op.roi)


def upsampling(op: ops.UpsamplingOp, b: KernelBuilder, data: Tensor) -> Tensor:
    return resize_to(op, b, data, op.data_layout(), "HW")


def resize_to(
    op: ops.ResampleOp | ops.UpsamplingOp,
    b: KernelBuilder,
    data: Tensor,
    layout: Layout,
    spatial: str,
    scales: Sequence[float] | None = None,
    roi: Sequence[float] | None = None,
) -> Tensor:
    """Return the `spatial` dimensions of `data` in the sizes of the result."""
    plain = Layout.parse("NC" + spatial)
    data = relayout(data, layout, plain)
    for extent in data.shape[2:]:
        if not is_at_most(1, extent):
            b.require(b.less(0, extent), f"{op.name}: the data has no elements", op)
    shape = b.shape_of(op.result)
    sizes = [shape[layout.axes.index(axis)] for axis in spatial]
    return relayout(resample(b, data, sizes, op.sampling(), scales, roi), plain, layout)


def resample(
    b: KernelBuilder,
    data: Tensor,
    sizes: Sequence[Extent],
    sampling: ops.Sampling,
    scales: Sequence[float] | None = None,
    roi: Sequence[float] | None = None,
) -> Tensor:
    """Resize the spatial dimensions of `data` (NC...) to `sizes`, one after the other.

    Integers are interpolated in f64, and clipped to the range of their type.
    """
    element, result = data.element, data
    outside: list[tuple[int, Tensor]] = []
    for i, size in enumerate(sizes):
        axis = i + 2
        scale = None if scales is None else scales[i]
        start, end = (0.0, 1.0) if roi is None else (roi[i], roi[i + len(sizes)])
        coordinate = Coordinate(sampling.mode, data.shape[axis], size, scale, start, end)
        if sampling.mode == "tf_crop_and_resize":
            outside.append((axis, b.buffered(Elements((size,), f64, coordinate.write))))
        # Interpolation is separable: the weights are tables of one axis each, and a cubic image
        # takes 4 + 4 products for an element whose rows are interpolated first, not 16.
        elif coordinate.is_identity():
            continue
        if sampling.method == "nearest_neighbor":
            result = nearest(b, result, axis, coordinate, sampling.rounding)
        else:
            result = interpolated(b, result, axis, coordinate, sampling)
    if outside:
        result = extrapolated(result, outside, data.shape, sampling.extrapolation)
    if result.element == element:
        return result
    return Elements(
        result.shape, element, lambda b, index: as_element(b, b.read(result, index), element)
    )


def as_element(b: KernelBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """Convert an interpolated value to `element`; for integers, clip it to their range and truncate
    it."""
    if not is_integer(element):
        return convert(b, value, element)
    # 2^63 - 1 is 2^63 as f64, and fptosi of that is poison: the bound is 2^63 - 1024, and of ui64
    # 2^64 - 2048. Types of up to 53 bits have their own bounds.
    low, high = int(minimum_of(element)), int(maximum_of(element))
    excess = max(0, high.bit_length() - 53)  # the maximum f64 that is not above it
    high -= (1 << excess) - 1
    value = minimum(b, maximum(b, value, b.number(low, f64)), b.number(high, f64))
    if is_unsigned(element):
        return to_explicit(b, value, element)
    return convert(b, b.pure(arith.FPToSIOp, value, target_type=i64), element)


def nearest(
    b: KernelBuilder, data: Tensor, axis: int, coordinate: Coordinate, rounding: str
) -> Tensor:
    """Return the elements nearest to the coordinates along `axis`."""

    # A gather by a table of indices is scalar on most processors; an integral scale is a shuffle.
    if axis == len(data.shape) - 1 and (times := repeats(coordinate, rounding)):
        shape = (*data.shape[:axis], coordinate.size)
        return Repeated(shape, data.element, data, times)

    def place(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        x = rounded(b, coordinate.write(b, index), rounding)
        return b.index(clipped(b, x, coordinate.extent))

    table = b.buffered(Elements((coordinate.size,), IndexType(), place))
    return along(data, axis, coordinate.size, lambda b, i: b.index_of(b.read(table, [i])))


def repeats(coordinate: Coordinate, rounding: str) -> int | None:
    """Return the number of new elements for each old one, if it is the same for all of them."""
    if not isinstance(coordinate.size, int) or not isinstance(coordinate.extent, int):
        return repeats(coordinate.nominal(), rounding) if coordinate.is_multiple() else None
    times, rest = divmod(coordinate.size, coordinate.extent)
    if rest or coordinate.mode == "tf_crop_and_resize":
        return None
    nearest = (nearest_integer(coordinate.at(i), rounding) for i in range(coordinate.size))
    places = (max(0, min(place, coordinate.extent - 1)) for place in nearest)
    return times if all(place == i // times for i, place in enumerate(places)) else None


def along(
    data: Tensor, axis: int, size: Extent, place: Callable[[KernelBuilder, Index], Index]
) -> Tensor:
    """Return a tensor of `size` elements along `axis`, those of `data` at `place`."""

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.read(data, [*index[:axis], place(b, index[axis]), *index[axis + 1 :]])

    shape = (*data.shape[:axis], size, *data.shape[axis + 1 :])
    return Elements(shape, data.element, read)


def interpolated(
    b: KernelBuilder, data: Tensor, axis: int, coordinate: Coordinate, sampling: ops.Sampling
) -> Tensor:
    """Return the sums of the elements around the coordinates along `axis`, weighted by distance.

    Each new element has `taps` terms. With antialiasing, the weights of a smaller result are spread
    out by the scale, so that every old element has a weight.
    """
    # Taps from `first` to 1 - `first`: 0 1 for linear, -1 0 1 2 for cubic. With antialiasing and
    # half of the size they are -1 to 2, and -3 to 4. The weights of some of them may be 0.
    shrink = min(coordinate.known_scale(), 1.0) if sampling.antialias else 1.0
    first = floor(-(2 if sampling.method == "cubic" else 1) / shrink) + 1
    taps = 2 - 2 * first
    if is_integer(computable(data.element)):
        element: Attribute = f64
    else:
        element = f32 if isinstance(data.element, Float16Type | BFloat16Type) else data.element
    places, weights = taps_of(b, coordinate, sampling, first, shrink)

    def weighted(b: KernelBuilder, i: Index, source: Callable[[Index], SSAValue]) -> SSAValue:
        """Return new element `i` along `axis`; `source` returns the old element at a position."""

        def term(tap: Index) -> SSAValue:
            value = as_float(b, source(b.load_index(places, [tap, i])), element)
            return multiply(b, value, convert(b, b.load(weights, [tap, i]), element))

        if taps == 2:
            return add(b, term(0), term(1))
        # -0.0 is what changes no number: -0.0 + -0.0 is -0.0, but 0.0 + -0.0 is 0.0.
        return b.accumulate(
            (taps,), b.number(-0.0, element), lambda total, tap: add(b, total, term(tap[0]))
        )

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return weighted(
            b, index[axis], lambda i: b.read(data, [*index[:axis], i, *index[axis + 1 :]])
        )

    shape = (*data.shape[:axis], coordinate.size, *data.shape[axis + 1 :])
    # If this were computed lazily, the reads of the axes would multiply: a cubic resize of an image
    # would read 4 * 4 elements for each new one, and one along three axes 64. With two taps it is
    # worth it: the kernel has one loop, without a buffer.
    if taps > 2:
        return b.buffered(Elements(shape, element, read))
    if axis == len(shape) - 1 and not isinstance(data, Buffer):
        return FromRows(shape, element, data, weighted)
    return Elements(shape, element, read)


def taps_of(
    b: KernelBuilder, coordinate: Coordinate, sampling: ops.Sampling, first: int, shrink: float
) -> tuple[SSAValue, SSAValue]:
    """Write the positions and the weights of the terms of each new element, from `first` on, to
    buffers of taps x elements."""
    extent, size, taps = coordinate.extent, coordinate.size, 2 - 2 * first
    places, weights = b.alloc((taps, size), IndexType()), b.alloc((taps, size), f64)
    with b.loop(size) as i:
        x = coordinate.write(b, [i])
        base = b.pure(math.FloorOp, x)
        start = as_index(b, b.pure(arith.FPToSIOp, base, target_type=i64))
        total = b.variable(b.number(0, f64))
        with b.loop(taps) as tap:
            offset = tap + first
            old = F64(b, convert(b, b.index(offset), f64))
            distance = value_of(b, (old - (F64(b, x) - F64(b, base))) * shrink)
            if sampling.method == "cubic":
                weight = cubic_weight(b, distance, sampling.alpha)
            else:
                weight = hat(b, distance)
            at = start + offset
            if sampling.exclude:
                there = b.all(b.inside_bounds(at, 0, extent))
                weight = select(b, there, weight, b.number(0, f64))
            b.store(b.max(0, b.min(at, extent - 1)), places, [tap, i])
            b.store(weight, weights, [tap, i])
            b.store(add(b, b.load(total, [0]), weight), total, [0])
        if sampling.exclude or sampling.antialias:
            with b.loop(taps) as tap:
                weight = divide(b, b.load(weights, [tap, i]), b.load(total, [0]))
                b.store(weight, weights, [tap, i])
    return places, weights


@dataclass(eq=False)
class FromRows(Scheduled):
    """A tensor whose rows are computed from the rows of `data`: a row of `data` is computed first.

    `compute` returns an element, given its position in the row and a function that returns the
    element of the row of `data` at a position.
    """

    data: Tensor
    compute: Callable[[KernelBuilder, Index, Callable[[Index], SSAValue]], SSAValue]

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        *outer, place = index
        return self.compute(b, place, lambda i: b.read(self.data, [*outer, i]))

    def write(self, b: KernelBuilder, store: Store) -> None:
        *outer, width = self.data.shape
        # Without this row, its elements would be read about 2 * scale times, and the other axes be
        # interpolated each time.
        scope = "local" if isinstance(width, int) else None
        row = b.alloc((width,), self.data.element, scope)
        with b.loops(outer) as index:
            with b.chunks(width, b.lanes) as i:
                b.store(b.read(self.data, [*index, i]), row, [i])
            with b.loop(self.shape[-1]) as i:
                store([*index, i], self.compute(b, i, lambda at: b.load(row, [at])))


def as_float(b: KernelBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """Convert an element to the float type in which weighted sums are computed."""
    if not is_integer(value.type):
        return convert(b, value, element)
    if is_unsigned(value.type):
        return convert(b, value, element)
    return b.pure(arith.SIToFPOp, convert(b, value, i64), target_type=element)


def absolute(b: KernelBuilder, x: SSAValue) -> F64:
    return F64(b, b.pure(math.AbsFOp, x))


def hat(b: KernelBuilder, distance: SSAValue) -> SSAValue:
    """Return the weight at `distance` in linear interpolation: 1 - |distance|, at least 0."""
    return maximum(b, value_of(b, 1.0 - absolute(b, distance)), b.number(0, f64))


def cubic_weight(b: KernelBuilder, distance: SSAValue, alpha: float) -> SSAValue:
    """Return the weight at `distance` in cubic interpolation; `alpha` is -0.75 in ONNX and PyTorch.

    Source: R. Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981.
    """
    x = absolute(b, distance)
    near = value_of(b, ((alpha + 2) * x - (alpha + 3)) * x * x + 1.0)
    far = value_of(b, ((x - 5.0) * x + 8.0) * x * alpha - 4 * alpha)
    is_near, is_far = (
        b.pure(arith.CmpfOp, x.value, b.number(bound, f64), arg=predicate)
        for bound, predicate in ((1, "ole"), (2, "olt"))
    )
    return select(b, is_near, near, select(b, is_far, far, b.number(0, f64)))


def extrapolated(
    data: Tensor, outside: Sequence[tuple[int, Tensor]], shape: Shape, value: float
) -> Tensor:
    """Return `data` with `value` in place of each element that has a coordinate outside of the
    original shape. `outside` has pairs of an axis and its coordinates. The result is f64 if the
    elements are integers."""
    element = f64 if is_integer(data.element) else data.element

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        result = as_float(b, b.read(data, index), element)
        for axis, coordinates in outside:
            x = b.read(coordinates, [index[axis]])
            for predicate, bound in (
                ("olt", b.number(0.0, f64)),
                ("ogt", b.count(shape[axis] - 1, f64)),
            ):
                beyond = b.pure(arith.CmpfOp, x, bound, arg=predicate)
                result = select(b, beyond, b.number(value, element), result)
        return result

    return Elements(data.shape, element, read)


RESIZE: dict[type[Operation], Legalization] = {
    ops.Resize1dOp: resize,
    ops.Resize2dOp: resize,
    ops.Resize3dOp: resize,
    ops.UpsamplingOp: upsampling,
}


# Moves of elements between channels and pixels.


def space_to_depth(op: ops.SpaceToDepthOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, height, width = data.shape
    for size in (height, width):
        b.require_equal(size % block, 0, f"a size is no multiple of {block}", op)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, channel, y, x = index
        at = channel // c  # the position in the block
        row, column = at // block, at % block
        place = [image, channel % c, y * block + row]
        return b.read(data, [*place, x * block + column])

    shape = (n, c * block * block, height // block, width // block)
    return relayout(Elements(shape, data.element, read), plain, layout)


def depth_to_space(op: ops.DepthToSpaceOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, height, width = data.shape
    channels = c // (block * block)
    b.require_equal(c, channels * block * block, f"a size is no multiple of {block * block}", op)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, channel, y, x = index
        at = y % block * block + x % block  # the position in the block
        # As in ONNX. With blocks of 2 and 2 channels a b, the 8 channels of the data are, by rows
        # of a block,
        #
        #     DCR: a b  a b  a b  a b        CRD: a a a a  b b b b
        #
        # CRD is the pixel shuffle of PyTorch. `space_to_depth` writes the order of DCR.
        source = at * channels + channel if op.mode == "DCR" else channel * (block * block) + at
        return b.read(data, [image, source, y // block, x // block])

    shape = (n, channels, height * block, width * block)
    return relayout(Elements(shape, data.element, read), plain, layout)


IMAGE: dict[type[Operation], Legalization] = {
    ops.DepthToSpaceOp: depth_to_space,
    ops.SpaceToDepthOp: space_to_depth,
}
