"""Operations on images: where new elements are in the old ones, and with which weights, is in
tables, one for each dimension, that a kernel makes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    IndexType,
    f32,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import image as ops
from ....dialects.relax.layout import Layout
from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor
from .layouts import relayout
from .scalars import add, convert, divide, maximum, minimum, multiply, select, signless

__all__ = ["IMAGE"]


def resize(op: ops.ResizeOp, w: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = Layout.parse(op.layout), Layout.parse("NC" + op.SPATIAL)
    sizes = [*op.size]
    data = relayout(data, layout, plain)
    result = resample(w, data, sizes, op.sampling(), op.scales, op.roi)
    return relayout(result, plain, layout)


def upsampling(op: ops.UpsamplingOp, w: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data = relayout(data, layout, plain)
    result = resample(w, data, op.sizes(data.shape[2:]), op.sampling())
    return relayout(result, plain, layout)


def resample(
    w: KernelBuilder,
    data: Tensor,
    sizes: Sequence[int],
    sampling: ops.Sampling,
    scales: Sequence[float] | None = None,
    roi: Sequence[float] | None = None,
) -> Tensor:
    """A tensor (NC...) with other sizes of spatial dimensions, one after the other; integers are
    f64 if they are interpolated, and cut off to their range then."""
    element, result = data.element, data
    outside: list[tuple[int, Tensor]] = []
    for i, size in enumerate(sizes):
        axis = i + 2
        scale = None if scales is None else scales[i]
        start, end = (0.0, 1.0) if roi is None else (roi[i], roi[i + len(sizes)])
        coordinate = Coordinate(sampling.mode, data.shape[axis], size, scale, start, end)
        if sampling.mode == "tf_crop_and_resize":
            outside.append((axis, w.buffered(Elements((size,), f64, coordinate.write))))
        elif coordinate.is_identity():
            continue
        if sampling.method == "nearest_neighbor":
            result = nearest(w, result, axis, coordinate, sampling.rounding)
        else:
            result = interpolated(w, result, axis, coordinate, sampling)
    if outside:
        result = extrapolated(result, outside, data.shape, sampling.extrapolation)
    if result.element == element:
        return result
    return Elements(
        result.shape, element, lambda w, index: as_element(w, w.read(result, index), element)
    )


def as_element(w: KernelBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """What interpolation gives, of integers cut off to their range and truncated."""
    if not is_integer(element):
        return convert(w, value, element)
    half = 1 << element.bitwidth - 1
    low, high = (0, 1) if element.bitwidth == 1 else (-half, half - 1)
    if element.bitwidth > 53:  # the greatest is no f64: less the one before it
        high -= (1 << element.bitwidth - 54) - 1
    value = minimum(w, maximum(w, value, w.number(low, f64)), w.number(high, f64))
    return convert(w, w.pure(arith.FPToSIOp, value, target_type=i64), element)


# Coordinates


@dataclass(frozen=True)
class Coordinate:
    """Where in a dimension of `extent` the elements of one of `size` are.

    With a scale, the new size is thought of as scale * extent, which `size` is cut off (ONNX).
    """

    mode: str
    extent: int
    size: int
    scale: float | None
    start: float
    end: float

    def steps(self) -> list[tuple[str, float]]:
        """What is done with the number of an element, one after the other."""
        extent, size = self.extent, self.size
        length = size if self.scale is None else self.scale * extent
        # Multiplied first, so that what is a whole number comes out as one
        if self.scale is None:
            back = [("*", float(extent)), ("/", float(size))]
        else:
            back = [("/", self.scale)]
        center = [("+", 0.5), *back]
        match self.mode:
            case "half_pixel":
                return [*center, ("+", -0.5)]
            case "half_pixel_symmetric":
                return [*center, ("+", extent / 2 * (1 - size / length)), ("+", -0.5)]
            case "pytorch_half_pixel":
                return [*center, ("+", -0.5)] if size > 1 else []
            case "tf_half_pixel_for_nn":
                return center
            case "align_corners":
                return [("*", extent - 1.0), ("/", length - 1.0)] if size > 1 else []
            case "asymmetric":
                return back
            case _ if size == 1:
                return [("+", (self.start + self.end) * (extent - 1) / 2)]
            case _:
                part = [("*", self.end - self.start), ("*", extent - 1.0), ("/", length - 1.0)]
                return [*part, ("+", self.start * (extent - 1))]

    def is_identity(self) -> bool:
        """Whether each element is where it was."""
        return self.size == self.extent and all(self.at(i) == i for i in range(self.size))

    def at(self, place: int) -> float:
        x = float(place)
        for kind, number in self.steps():
            x = x + number if kind == "+" else x * number if kind == "*" else x / number
        return x

    def write(self, w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """The coordinate of an element, in f64."""
        x = convert(w, w.index(index[0]), f64)
        for kind, number in self.steps():
            x = STEPS[kind](w, x, w.number(number, f64))
        return x


STEPS = {"+": add, "*": multiply, "/": divide}


def nearest(
    w: KernelBuilder, data: Tensor, axis: int, coordinate: Coordinate, rounding: str
) -> Tensor:
    """The elements that are nearest to coordinates along a dimension."""

    def place(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        x = rounded(w, coordinate.write(w, index), rounding)
        return clipped(w, x, coordinate.extent)

    table = w.buffered(Elements((coordinate.size,), IndexType(), place))
    return along(data, axis, coordinate.size, lambda w, i: w.read(table, [i]))


def along(
    data: Tensor, axis: int, size: int, place: Callable[[KernelBuilder, Index], Index]
) -> Tensor:
    """A tensor with elements of another along a dimension."""

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return w.read(data, [*index[:axis], place(w, index[axis]), *index[axis + 1 :]])

    shape = (*data.shape[:axis], size, *data.shape[axis + 1 :])
    return Elements(shape, data.element, read)


def rounded(w: KernelBuilder, x: SSAValue, rounding: str) -> SSAValue:
    """The whole number that is nearest to a coordinate."""

    def shifted(cls: Callable[..., Operation], by: float) -> SSAValue:
        return w.pure(cls, add(w, x, w.number(by, f64)))

    match rounding:
        case "round":
            return w.pure(math.RoundEvenOp, x)
        # As in TVM, what should be a whole number and is a bit off it is one
        case "floor":
            return shifted(math.FloorOp, 1e-5)
        case "ceil":
            return shifted(math.CeilOp, -1e-5)
        case "round_prefer_floor":
            return shifted(math.CeilOp, -0.5)
        case _:
            return shifted(math.FloorOp, 0.5)


def clipped(w: KernelBuilder, x: SSAValue, extent: int) -> SSAValue:
    """The place in a dimension that is nearest to a whole number."""
    number = w.pure(arith.FPToSIOp, x, target_type=i64)
    at = w.pure(arith.IndexCastOp, number, target_type=IndexType())
    return w.index(w.max(0, w.min(at, extent - 1)))


# Interpolation


def interpolated(
    w: KernelBuilder, data: Tensor, axis: int, coordinate: Coordinate, sampling: ops.Sampling
) -> Tensor:
    """The sums of the elements around coordinates along a dimension, weighted by their distance."""
    extent, size, cubic = coordinate.extent, coordinate.size, sampling.method == "cubic"
    scale = coordinate.scale or size / extent
    shrink = min(scale, 1.0) if sampling.antialias else 1.0
    first = floor(-(2 if cubic else 1) / shrink) + 1
    taps = 2 - 2 * first
    if is_integer(signless(data.element)):
        element: Attribute = f64
    else:
        element = f32 if isinstance(data.element, Float16Type | BFloat16Type) else data.element
    places, weights = w.alloc((taps, size), IndexType()), w.alloc((taps, size), f64)
    with w.loop(size) as i:
        x = coordinate.write(w, [i])
        base = w.pure(math.FloorOp, x)
        whole = w.pure(arith.FPToSIOp, base, target_type=i64)
        start = w.pure(arith.IndexCastOp, whole, target_type=IndexType())
        total = w.alloc((1,), f64, "local")
        w.store(w.number(0, f64), total, [0])
        with w.loop(taps) as tap:
            offset = w.add(tap, first)
            distance = w.pure(
                arith.SubfOp, convert(w, w.index(offset), f64), w.pure(arith.SubfOp, x, base)
            )
            distance = multiply(w, distance, w.number(shrink, f64))
            weight = cubic_weight(w, distance, sampling.alpha) if cubic else hat(w, distance)
            at = w.add(start, offset)
            if sampling.exclude:
                there = w.all(w.inside_bounds(at, 0, extent))
                weight = select(w, there, weight, w.number(0, f64))
            w.store(w.index(w.max(0, w.min(at, extent - 1))), places, [tap, i])
            w.store(weight, weights, [tap, i])
            w.store(add(w, w.load(total, [0]), weight), total, [0])
        if sampling.exclude or sampling.antialias:
            with w.loop(taps) as tap:
                weight = divide(w, w.load(weights, [tap, i]), w.load(total, [0]))
                w.store(weight, weights, [tap, i])

    def term(w: KernelBuilder, index: Sequence[Index], tap: Index) -> SSAValue:
        i = index[axis]
        value = w.read(data, [*index[:axis], w.load(places, [tap, i]), *index[axis + 1 :]])
        return multiply(
            w, as_float(w, value, element), convert(w, w.load(weights, [tap, i]), element)
        )

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        if taps == 2:
            return add(w, term(w, index, 0), term(w, index, 1))
        return w.accumulate(
            (taps,), w.number(-0.0, element), lambda total, i: add(w, total, term(w, index, i[0]))
        )

    shape = (*data.shape[:axis], size, *data.shape[axis + 1 :])
    result = Elements(shape, element, read)
    return result if taps == 2 else w.buffered(result)


def as_float(w: KernelBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """An element as a number in which sums of weighted ones are computed."""
    if not is_integer(value.type):
        return convert(w, value, element)
    return w.pure(arith.SIToFPOp, convert(w, value, i64), target_type=element)


def absolute(w: KernelBuilder, x: SSAValue) -> SSAValue:
    return w.pure(math.AbsFOp, x)


def hat(w: KernelBuilder, distance: SSAValue) -> SSAValue:
    """The weight in linear interpolation."""
    less = w.pure(arith.SubfOp, w.number(1, f64), absolute(w, distance))
    return maximum(w, less, w.number(0, f64))


def cubic_weight(w: KernelBuilder, distance: SSAValue, alpha: float) -> SSAValue:
    """Keys' cubic convolution kernel."""
    x = absolute(w, distance)

    def number(value: float) -> SSAValue:
        return w.number(float(value), f64)

    def times(*factors: SSAValue) -> SSAValue:
        value, *others = factors
        for other in others:
            value = multiply(w, value, other)
        return value

    def less(lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return w.pure(arith.SubfOp, lhs, rhs)

    near = times(less(times(number(alpha + 2), x), number(alpha + 3)), x, x)
    near = add(w, near, number(1))
    far = times(add(w, times(less(x, number(5)), x), number(8)), x, number(alpha))
    far = less(far, number(4 * alpha))
    inner = w.pure(arith.CmpfOp, x, number(1), arg="ole")
    outer = w.pure(arith.CmpfOp, x, number(2), arg="olt")
    return select(w, inner, near, select(w, outer, far, number(0)))


def extrapolated(
    data: Tensor, outside: Sequence[tuple[int, Tensor]], shape: Sequence[int], value: float
) -> Tensor:
    """A tensor that has a number where a coordinate is outside of one of a shape; f64 if it is of
    integers."""
    element = f64 if is_integer(data.element) else data.element

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        result = as_float(w, w.read(data, index), element)
        for axis, coordinates in outside:
            x = w.read(coordinates, [index[axis]])
            for predicate, bound in (("olt", 0.0), ("ogt", float(shape[axis] - 1))):
                beyond = w.pure(arith.CmpfOp, x, w.number(bound, f64), arg=predicate)
                result = select(w, beyond, w.number(value, element), result)
        return result

    return Elements(data.shape, element, read)


# Pixels and channels


def space_to_depth(op: ops.SpaceToDepthOp, _: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, height, width = data.shape

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, channel, y, x = index
        at = w.floordiv(channel, c)  # in the block
        row, column = w.floordiv(at, block), w.mod(at, block)
        place = [image, w.mod(channel, c), w.add(w.mul(y, block), row)]
        return w.read(data, [*place, w.add(w.mul(x, block), column)])

    shape = (n, c * block * block, height // block, width // block)
    return relayout(Elements(shape, data.element, read), plain, layout)


def depth_to_space(op: ops.DepthToSpaceOp, _: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, height, width = data.shape
    channels = c // (block * block)

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, channel, y, x = index
        at = w.add(w.mul(w.mod(y, block), block), w.mod(x, block))  # in the block
        if op.mode == "DCR":
            source = w.add(w.mul(at, channels), channel)
        else:
            source = w.add(w.mul(channel, block * block), at)
        return w.read(data, [image, source, w.floordiv(y, block), w.floordiv(x, block)])

    shape = (n, channels, height * block, width * block)
    return relayout(Elements(shape, data.element, read), plain, layout)


IMAGE: dict[type[Operation], Legalization] = {
    ops.DepthToSpaceOp: depth_to_space,
    ops.Resize1dOp: resize,
    ops.Resize2dOp: resize,
    ops.Resize3dOp: resize,
    ops.SpaceToDepthOp: space_to_depth,
    ops.UpsamplingOp: upsampling,
}
