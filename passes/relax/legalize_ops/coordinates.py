"""The source coordinates of resized elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.tir.builder import Index
from .kernel_builder import KernelBuilder
from .scalars import add, convert, divide, multiply

__all__ = ["Coordinate", "clipped", "nearest_integer", "rounded"]


@dataclass(frozen=True)
class Coordinate:
    """The coordinates, in a dimension of `extent`, of the elements of its resized form of `size`.

    With a scale, the exact new size is scale * extent, of which `size` is the integer part (ONNX).
    """

    mode: str
    extent: int
    size: int
    scale: float | None
    start: float
    end: float

    def steps(self) -> list[tuple[str, float]]:
        """Return the operations, in order, that map the index of an element to its coordinate."""
        extent, size = self.extent, self.size
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
        return self.size == self.extent and all(self.at(i) == i for i in range(self.size))

    def at(self, place: int) -> float:
        """Return the coordinate of element `place`."""
        x = float(place)
        for kind, number in self.steps():
            x = x + number if kind == "+" else x * number if kind == "*" else x / number
        return x

    def write(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Return the coordinate of the element at `index`, in f64."""
        x = convert(b, b.index(index[0]), f64)
        for kind, number in self.steps():
            x = STEPS[kind](b, x, b.number(number, f64))
        return x


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


def clipped(b: KernelBuilder, x: SSAValue, extent: int) -> SSAValue:
    """Return the index in a dimension that is nearest to the integer `x`."""
    number = b.pure(arith.FPToSIOp, x, target_type=i64)
    at = b.pure(arith.IndexCastOp, number, target_type=IndexType())
    return b.index(b.max(0, b.min(at, extent - 1)))
