"""The source coordinates of resized elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.numbers import Function, Term
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, UnknownExtent
from ..builder import KernelBuilder
from ..scalars import add, convert, divide, multiply, select

NOMINAL = 64
"""A dimension of this extent shows how dimensions of unknown extent are resized by the same
scale."""


class F64(Term["Number", "Number"]):
    """A number of type f64 that a kernel computes."""

    def __init__(self, b: KernelBuilder, value: SSAValue) -> None:
        self.b = b
        self.value = value

    def apply(self, function: Function, a: Number, b: Number) -> Number:
        return F64(self.b, FUNCTIONS[function](self.b, value_of(self.b, a), value_of(self.b, b)))


Number: TypeAlias = F64 | float
"""A number of type f64, known or computed."""

F64.partners = (F64, float)
FUNCTIONS: Mapping[Function, Callable[[KernelBuilder, SSAValue, SSAValue], SSAValue]] = {
    "add": add,
    "sub": lambda b, x, y: b.pure(arith.SubfOp, x, y),
    "mul": multiply,
    "div": divide,
}


def value_of(b: KernelBuilder, x: Number) -> SSAValue:
    """Return a number as a value."""
    return x.value if isinstance(x, F64) else b.number(x, f64)


@dataclass(frozen=True)
class Coordinate:
    """The coordinates, in a dimension of `extent`, of the elements of its resized form of `size`.

    With a scale, the exact new size is scale * extent; `size` is its integer part (ONNX).
    """

    mode: str
    extent: Extent
    size: Extent
    scale: float | None
    start: float
    end: float

    def map(self, b: KernelBuilder | None, x: Number) -> Number:
        """Return the coordinate of element `x`: a number if all inputs are known, otherwise a value
        computed by operations that `b` writes."""
        extent, size = number_of(b, self.extent), number_of(b, self.size)
        length = size if self.scale is None else self.scale * extent

        def back(x: Number) -> Number:
            # The product first: a coordinate that is an integer is then exact.
            return x * extent / size if self.scale is None else x / self.scale

        def along(x: Number) -> Number:
            return x * (extent - 1.0) / (length - 1.0)

        # ONNX's `coordinate_transformation_mode`; TVM has all but half_pixel_symmetric. From 3 to 6
        # elements, half_pixel gives -0.25 0.25 0.75 1.25 1.75 2.25, asymmetric 0 0.5 1 1.5 2 2.5,
        # and align_corners 0 0.4 0.8 1.2 1.6 2: only the last one keeps both ends.
        match self.mode:
            case "half_pixel":
                return back(x + 0.5) - 0.5
            case "half_pixel_symmetric":
                # `length` is scale * extent before it is cut to `size`. Half of the part that is
                # cut off is at each side.
                shift = extent / 2.0 * (1.0 - size / length)
                return back(x + 0.5) + shift - 0.5
            case "pytorch_half_pixel":
                return if_many(b, self.size, lambda: back(x + 0.5) - 0.5, lambda: x)
            case "tf_half_pixel_for_nn":
                return back(x + 0.5)
            case "align_corners":
                return if_many(b, self.size, lambda: along(x), lambda: x)
            case "asymmetric":
                return back(x)
            case _:
                last = extent - 1.0
                first, share = self.start * last, self.end - self.start
                middle = (self.start + self.end) * last / 2.0
                return if_many(b, self.size, lambda: along(x * share) + first, lambda: x + middle)

    def is_identity(self) -> bool:
        """Return whether the coordinates are the indices."""
        if self.size != self.extent:
            return False
        if not isinstance(self.size, int):
            return self.scale in (None, 1.0) and self.mode != "tf_crop_and_resize"
        return all(self.at(i) == i for i in range(self.size))

    def is_multiple(self) -> bool:
        """Return whether each old element has the same number of new elements for any unknown
        extent, and coordinates depend on the scale alone."""
        scale = int(self.scale or 0)
        # In the other modes, coordinates depend on the sizes, too, not on the scale alone.
        by_scale = self.mode in ("asymmetric", "half_pixel", "tf_half_pixel_for_nn")
        return by_scale and scale == self.scale and self.size == self.extent * scale

    def nominal(self) -> Coordinate:
        """Return the coordinates of a dimension of extent NOMINAL with the same scale."""
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
        x = self.map(None, float(place))
        assert isinstance(x, float)
        return x

    def write(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Return the coordinate of the element at `index`, in f64."""
        return value_of(b, self.map(b, F64(b, convert(b, b.index(index[0]), f64))))


def number_of(b: KernelBuilder | None, extent: Extent) -> Number:
    """Return an extent as a float."""
    if isinstance(extent, int):
        return float(extent)
    assert b is not None
    return F64(b, b.count(extent, f64))


def if_many(
    b: KernelBuilder | None, size: Extent, many: Callable[[], Number], one: Callable[[], Number]
) -> Number:
    """Return a number that depends on whether a size is more than 1."""
    if isinstance(size, int):
        return many() if size > 1 else one()
    assert b is not None
    return F64(b, select(b, b.less(1, size), value_of(b, many()), value_of(b, one())))


ROUNDINGS: Mapping[str, tuple[float, type[Operation], Callable[[float], int]]] = {
    "round": (0.0, math.RoundEvenOp, round),
    # As in TVM, a coordinate that rounding put slightly off an integer is that integer.
    "floor": (1e-5, math.FloorOp, floor),
    "ceil": (-1e-5, math.CeilOp, ceil),
    "round_prefer_floor": (-0.5, math.CeilOp, ceil),
    "round_prefer_ceil": (0.5, math.FloorOp, floor),
}
"""ONNX's ways of rounding: the number that is added first, the operation on values, and the
function on known numbers."""


def rounded(b: KernelBuilder, x: SSAValue, rounding: str) -> SSAValue:
    """Return the integer nearest to a coordinate."""
    shift, function, _ = ROUNDINGS[rounding]
    return b.pure(function, add(b, x, b.number(shift, f64)) if shift else x)


def nearest_integer(x: float, rounding: str) -> int:
    """Return the integer that `rounded` computes for a coordinate that is known."""
    shift, _, function = ROUNDINGS[rounding]
    return function(x + shift)


def clipped(b: KernelBuilder, x: SSAValue, extent: Extent) -> Index:
    """Return the index in a dimension that is nearest to the integer `x`."""
    number = b.pure(arith.FPToSIOp, x, target_type=i64)
    at = b.pure(arith.IndexCastOp, number, target_type=IndexType())
    return b.max(0, b.min(b.index_of(at), extent - 1))
