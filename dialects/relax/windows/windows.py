"""Sliding windows over the spatial dimensions of a tensor, as in convolutions and pooling."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from ...numbers import Number, ceildiv, minimum, positive
from ..attributes import TypedProperty, ints_prop, string_prop
from ..base import OneResultOp, TensorOp
from ..interfaces import Anchor
from ..layout import Layout
from ..shapes import computed_size, shape_text

__all__ = ["Window", "WindowOp", "per_dimension", "spatial_op_definition"]


@dataclass(frozen=True)
class Window:
    """A sliding window along one dimension; its size may be unknown (DYNAMIC_INDEX)."""

    axis: str
    size: int
    stride: int
    dilation: int
    before: int
    """The number of padding elements before the first element."""
    after: int
    """The number of padding elements after the last element."""
    ceil: bool = False
    """True if the last window may extend past the padding at the end; it must start before it."""

    @property
    def span(self) -> int:
        """Return the number of positions from the first to the last element of a window."""
        return (self.size - 1) * self.dilation + 1

    def count(self, extent: int) -> int:
        """Return the number of windows over a dimension of size `extent`.

        VerifyException if not even one window fits into the padded dimension.
        """
        if self.size == DYNAMIC_INDEX:
            return DYNAMIC_INDEX
        if DYNAMIC_INDEX != extent < self.span - self.before - self.after:
            raise VerifyException(
                f"dimension {self.axis} is {extent}, padded {self.before} before and {self.after} "
                f"after, which is smaller than a window of {self.span}"
            )
        return computed_size(self._count, extent)

    def _count(self, extent: Number) -> Number:
        # `room // stride + 1`, where the last window may start at `room`.
        reach = extent + (self.before + self.after - self.span + self.stride)
        if not self.ceil:
            return positive(reach // self.stride)
        # The last window may have to start before the padding at the end.
        first_beyond = ceildiv(extent + self.before, self.stride)
        return positive(minimum(ceildiv(reach, self.stride), first_beyond))

    def covered(self, count: int) -> int:
        """Return the number of positions that `count` windows cover, counted from the first
        padding element."""
        return (count - 1) * self.stride + self.span


class WindowOp(Anchor, OneResultOp, ABC):
    """An operation on windows over the spatial dimensions of a tensor."""

    SPATIAL: ClassVar[str]
    """The spatial axes as letters of a layout, the outermost first: "HW"."""

    strides = ints_prop()
    padding = ints_prop()
    """One width for each spatial dimension, or two: first all before, then all after."""
    dilation = ints_prop()

    def windows(self, sizes: Sequence[int], ceil: bool = False) -> list[Window]:
        """Return the window of each spatial dimension, given the window sizes."""
        axes = self.SPATIAL
        if 0 in sizes:
            raise VerifyException(f"windows of shape {shape_text(tuple(sizes))} have no elements")
        strides = per_dimension("strides", self.strides, axes)
        dilation = per_dimension("dilation", self.dilation, axes)
        widths = [*self.padding]
        if len(widths) not in (len(axes), 2 * len(axes)) or any(width < 0 for width in widths):
            raise VerifyException(
                f"padding {widths}: expected {len(axes)} or {2 * len(axes)} widths of at least 0"
            )
        padding = zip(widths[: len(axes)], widths[-len(axes) :], strict=True)
        columns = zip(axes, sizes, strides, dilation, padding, strict=True)
        return [Window(axis, n, s, d, *pad, ceil) for axis, n, s, d, pad in columns]

    def out_layout_of(self, out_layout: str, layout: str) -> Layout:
        """Return the layout of the result: `out_layout`, or that of the data if it is empty."""
        return Layout.of(out_layout or layout, "NC" + self.SPATIAL)


def per_dimension(name: str, values: Sequence[int], axes: str, minimum: int = 1) -> list[int]:
    """Return the values of the property `name`, one for each of the spatial `axes`.

    VerifyException for another number of values, or a value below `minimum`.
    """
    numbers = [*values]
    if len(numbers) != len(axes) or any(number < minimum for number in numbers):
        raise VerifyException(
            f"{name} {numbers}: expected {len(axes)} numbers of at least {minimum}, "
            f"for {', '.join(axes)}"
        )
    return numbers


OpT = TypeVar("OpT", bound=TensorOp)


def spatial_op_definition(cls: type[OpT]) -> type[OpT]:
    """Define an operation over the axes SPATIAL.

    The properties of its base that have a value for each axis, or are layouts, get their defaults.
    """
    axes, order = vars(cls)["SPATIAL"], getattr(cls, "CHANNELS", "")
    ones = (1,) * len(axes)
    defaults = {
        "pool_size": ints_prop(ones),
        "strides": ints_prop(ones),
        "padding": ints_prop([0 for _ in axes]),
        "output_padding": ints_prop([0 for _ in axes]),
        "dilation": ints_prop(ones),
        "layout": string_prop(f"NC{axes}"),
        "data_layout": string_prop(f"NC{axes}"),
        "kernel_layout": string_prop(f"{order}{axes}"),
    }
    for name, default in defaults.items():
        if isinstance(getattr(cls, name, None), TypedProperty):
            setattr(cls, name, default)
            cast(TypedProperty, default).__set_name__(cls, name)
    return irdl_op_definition(cls)
