"""The source coordinates of resized elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, f64, i64
from xdsl.ir import Operation, SSAValue

from ...dialects.tir.builder import Index
from ...dialects.tir.extents import Extent, UnknownExtent
from ..builder import KernelBuilder
from ..scalars import add, convert, divide, multiply

__all__ = ["Coordinate", "clipped", "nearest_integer", "rounded"]


NOMINAL = 64
"""The extent of a dimension from which it is concluded how others are resized by the same scale."""


@dataclass(frozen=True)
class Coordinate:
    """The coordinates, in a dimension of `extent`, of the elements of its resized form of `size`.

    With a scale, the exact new size is scale * extent, of which `size` is the integer part (ONNX).
    """

    mode: str
    extent: Extent
    size: Extent
    scale: float | None
    start: float
    end: float

    def steps(self) -> list[tuple[str, float]]:
        """Return the operations, in order, that map the index of an element to its coordinate."""
        extent, size = self.extent, self.size
        assert isinstance(extent, int) and isinstance(size, int)
        length = size if self.scale is None else self.scale * extent
        # The product first: a coordinate that is an integer is then exact.
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
        """Return whether the coordinates are the indices."""
        if self.size != self.extent:
            return False
        if not isinstance(self.size, int):
            return self.scale in (None, 1.0) and self.mode != "tf_crop_and_resize"
        return all(self.at(i) == i for i in range(self.size))

    def is_multiple(self) -> bool:
        """Return whether there are as many new elements for each old one in an unknown extent, and
        coordinates depend on the scale alone."""
        scale = int(self.scale or 0)
        by_scale = self.mode in ("asymmetric", "half_pixel", "tf_half_pixel_for_nn")
        return by_scale and scale == self.scale and self.size == self.extent * scale

    def nominal(self) -> Coordinate:
        """Return the coordinates of a dimension of some extent with the same scale."""
        assert self.scale is not None
        return replace(self, extent=NOMINAL, size=int(NOMINAL * self.scale))

    def known_scale(self) -> float:
        """Return the quotient of size and extent; UnknownExtent if it is not known."""
        if self.scale is not None:
            return self.scale
        if isinstance(self.size, int) and isinstance(self.extent, int):
            return self.size / self.extent
        raise UnknownExtent("the scale of an image")

    def at(self, place: int) -> float:
        """Return the coordinate of element `place`."""
        x = float(place)
        for kind, number in self.steps():
            x = x + number if kind == "+" else x * number if kind == "*" else x / number
        return x

    def write(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Return the coordinate of the element at `index`, in f64."""
        x = convert(b, b.index(index[0]), f64)
        if not isinstance(self.extent, int) or not isinstance(self.size, int):
            return self.write_unknown(b, x)
        for kind, number in self.steps():
            x = STEPS[kind](b, x, b.number(number, f64))
        return x

    def write_unknown(self, b: KernelBuilder, x: SSAValue) -> SSAValue:
        """Return the coordinate of element `x` of a dimension of unknown extent or size."""
        extent, size, half = b.count(self.extent, f64), b.count(self.size, f64), b.number(0.5, f64)
        one, zero = b.number(1.0, f64), b.number(0.0, f64)
        scale = None if self.scale is None else b.number(self.scale, f64)

        def back(x: SSAValue) -> SSAValue:
            return divide(b, multiply(b, x, extent), size) if scale is None else divide(b, x, scale)

        def less(x: SSAValue, y: SSAValue) -> SSAValue:
            return b.pure(arith.SubfOp, x, y)

        match self.mode:
            case "half_pixel" | "pytorch_half_pixel":
                at = less(back(add(b, x, half)), half)
                if self.mode == "half_pixel":
                    return at
                return b.pure(arith.SelectOp, b.less(1, self.size), at, x)
            case "tf_half_pixel_for_nn":
                return back(add(b, x, half))
            case "align_corners":
                length = size if scale is None else multiply(b, scale, extent)
                at = divide(b, multiply(b, x, less(extent, one)), less(length, one))
                return b.pure(arith.SelectOp, b.less(1, self.size), at, zero)
            case "asymmetric":
                return back(x)
            case "half_pixel_symmetric":
                at = less(back(add(b, x, half)), half)
                if scale is None:
                    return at
                share = less(one, divide(b, size, multiply(b, scale, extent)))
                return add(b, multiply(b, multiply(b, extent, half), share), at)
            case _:
                return self.write_part(b, x, extent, size)

    def write_part(
        self, b: KernelBuilder, x: SSAValue, extent: SSAValue, size: SSAValue
    ) -> SSAValue:
        """Return the coordinate of element `x` of the part of a dimension from `start` to `end`,
        shares of it."""
        one = b.number(1.0, f64)
        last = b.pure(arith.SubfOp, extent, one)
        length = size if self.scale is None else multiply(b, b.number(self.scale, f64), extent)
        part = multiply(b, multiply(b, x, b.number(self.end - self.start, f64)), last)
        part = divide(b, part, b.pure(arith.SubfOp, length, one))
        at = add(b, part, multiply(b, b.number(self.start, f64), last))
        middle = multiply(b, b.number((self.start + self.end) / 2, f64), last)
        return b.pure(arith.SelectOp, b.equal(self.size, 1), middle, at)


STEPS = {"+": add, "*": multiply, "/": divide}


def rounded(b: KernelBuilder, x: SSAValue, rounding: str) -> SSAValue:
    """Return the integer nearest to a coordinate, by one of ONNX's ways of rounding."""

    def shifted(cls: Callable[..., Operation], by: float) -> SSAValue:
        return b.pure(cls, add(b, x, b.number(by, f64)))

    match rounding:
        case "round":
            return b.pure(math.RoundEvenOp, x)
        # As in TVM, a coordinate that rounding put slightly off an integer is that integer.
        case "floor":
            return shifted(math.FloorOp, 1e-5)
        case "ceil":
            return shifted(math.CeilOp, -1e-5)
        case "round_prefer_floor":
            return shifted(math.CeilOp, -0.5)
        case _:
            return shifted(math.FloorOp, 0.5)


def nearest_integer(x: float, rounding: str) -> int:
    """Return the integer that `rounded` computes for a coordinate that is known."""
    match rounding:
        case "round":
            return round(x)
        case "floor":
            return floor(x + 1e-5)
        case "ceil":
            return ceil(x - 1e-5)
        case "round_prefer_floor":
            return ceil(x - 0.5)
        case _:
            return floor(x + 0.5)


def clipped(b: KernelBuilder, x: SSAValue, extent: Extent) -> SSAValue:
    """Return the index in a dimension that is nearest to the integer `x`."""
    number = b.pure(arith.FPToSIOp, x, target_type=i64)
    at = b.pure(arith.IndexCastOp, number, target_type=IndexType())
    return b.index(b.max(0, b.min(at, b.sub(extent, 1))))
