"""Windows that slide over the spatial dimensions of a tensor: convolutions and pooling."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from .attributes import ints_prop
from .base import TensorOp
from .interfaces import Anchor
from .layout import Layout

__all__ = ["Window", "WindowOp", "per_dimension"]


@dataclass(frozen=True)
class Window:
    """How a window slides along one dimension; its size may be unknown."""

    axis: str
    size: int
    stride: int
    dilation: int
    before: int
    """How many elements of padding precede the dimension."""
    after: int
    ceil: bool = False
    """Whether a last window may begin in the tensor and end beyond the padding."""

    @property
    def span(self) -> int:
        """How many elements lie from its first to its last one, these included."""
        return (self.size - 1) * self.dilation + 1

    def count(self, extent: int) -> int:
        """How many windows fit into a dimension; VerifyException if none does."""
        if DYNAMIC_INDEX in (extent, self.size):
            return DYNAMIC_INDEX
        room = self.before + extent + self.after - self.span
        if room < 0:
            raise VerifyException(
                f"dimension {self.axis} is {extent}, padded {self.before} before and {self.after} "
                f"after, which is less than a window of {self.span}"
            )
        if not self.ceil:
            return room // self.stride + 1
        first_beyond = -(-(self.before + extent) // self.stride)
        return min(-(-room // self.stride) + 1, first_beyond)

    def covered(self, count: int) -> int:
        """How many elements so many windows cover, from the first of the padding on."""
        return (count - 1) * self.stride + self.span


class WindowOp(Anchor, TensorOp, ABC):
    """An operation on windows over the spatial dimensions of a tensor."""

    SPATIAL: ClassVar[str]
    """The spatial axes as in a layout, the outermost first."""

    strides = ints_prop()
    padding = ints_prop()
    """As many widths as spatial dimensions, or twice as many: all before, then all after."""
    dilation = ints_prop()

    def windows(self, sizes: Sequence[int], ceil: bool = False) -> list[Window]:
        """The windows of these sizes, one for each spatial dimension."""
        axes = self.SPATIAL
        strides = per_dimension("strides", self.strides, axes)
        dilation = per_dimension("dilation", self.dilation, axes)
        widths = [*self.padding]
        if len(widths) not in (len(axes), 2 * len(axes)) or any(width < 0 for width in widths):
            raise VerifyException(
                f"padding {widths} is not {len(axes)} or {2 * len(axes)} widths of at least 0"
            )
        padding = zip(widths[: len(axes)], widths[-len(axes) :], strict=True)
        columns = zip(axes, sizes, strides, dilation, padding, strict=True)
        return [Window(axis, n, s, d, *pad, ceil) for axis, n, s, d, pad in columns]

    def out_layout_of(self, out_layout: str, layout: str) -> Layout:
        """The layout of the result: as that of the data unless it is given."""
        return Layout.of(out_layout or layout, "NC" + self.SPATIAL)


def per_dimension(name: str, values: Sequence[int], axes: str, least: int = 1) -> list[int]:
    """Return the values of the property `name`, which has one for each axis."""
    numbers = [*values]
    if len(numbers) != len(axes) or any(number < least for number in numbers):
        raise VerifyException(
            f"{name} {numbers} is not {len(axes)} numbers of at least {least}, "
            f"for {', '.join(axes)}"
        )
    return numbers
