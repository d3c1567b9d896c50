"""Sliding windows, and pooling: maximum and mean of windows over one, two and three dimensions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..numbers import Number, ceildiv, minimum, non_negative
from .attributes import TypedProperty, bool_prop, ints_prop, string_prop
from .base import OneResultOp, TensorOp
from .interfaces import Anchor, Axes, Conversion, InLayout, ScaleAxisRule, Scaling, choose_layouts
from .layout import Layout, Relayout
from .shapes import computed_size, shape_text
from .types import TENSOR, number_type, shape_of, with_shape

__all__ = [
    "AdaptiveAvgPool1dOp",
    "AdaptiveAvgPool2dOp",
    "AdaptiveAvgPool3dOp",
    "AdaptiveMaxPool1dOp",
    "AdaptiveMaxPool2dOp",
    "AdaptiveMaxPool3dOp",
    "AdaptivePoolOp",
    "AvgPool1dOp",
    "AvgPool2dOp",
    "AvgPool3dOp",
    "AvgPoolOp",
    "GlobalAvgPool2dOp",
    "GlobalMaxPool2dOp",
    "GlobalPoolOp",
    "MaxPool1dOp",
    "MaxPool2dOp",
    "MaxPool3dOp",
    "MaxPoolOp",
    "PoolOp",
    "SizedPoolOp",
    "Window",
    "WindowOp",
    "per_dimension",
    "spatial_op_definition",
]


# Sliding windows over the spatial dimensions of a tensor, as in convolutions and pooling.


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
            return non_negative(reach // self.stride)
        # The last window may have to start before the padding at the end.
        first_beyond = ceildiv(extent + self.before, self.stride)
        return non_negative(minimum(ceildiv(reach, self.stride), first_beyond))

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


# Pooling: maximum and mean of windows over one, two and three spatial dimensions.


class ChannelwiseOp(ScaleAxisRule, ABC):
    """An operation `f` on each channel separately, with `f(s * x) = s * f(x)`."""

    POSITIVE: ClassVar[bool] = False
    """True if this holds for positive scales only, as for a maximum."""

    @abstractmethod
    def layouts(self) -> tuple[Layout, Layout]:
        """Return the layouts of data and result."""

    def scale_result(self, axes: Axes) -> Scaling | None:
        data, result = self.layouts()
        if (inner := _same_axis(axes, result, data)) is None:
            return None
        return Scaling({0: inner}, positive=self.POSITIVE)

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        if (outer := _same_axis(axes, *self.layouts())) is None:
            return None
        return Scaling(result=outer, positive=self.POSITIVE)


def _same_axis(axes: Axes, layout: Layout, other: Layout) -> Axes | None:
    """Return the dimensions in layout `other` of the axis that has dimensions `axes` in `layout`.

    None if `axes` are neither the batch nor the channels.
    """
    if not axes:
        return axes
    return next((other.dimensions(c) for c in "CN" if axes == layout.dimensions(c)), None)


class PoolOp(InLayout, ChannelwiseOp, WindowOp, ABC):
    """A reduction of each window to one element.

    With `ceil_mode` the last window may reach beyond the padding, but not begin in it (ONNX 19).
    """

    data = operand_def(TENSOR)
    pool_size = ints_prop()
    layout = string_prop()
    ceil_mode = bool_prop(False)
    out_layout = string_prop("")

    def layouts(self) -> tuple[Layout, Layout]:
        return (
            Layout.of(self.layout, "NC" + self.SPATIAL),
            self.out_layout_of(self.out_layout, self.layout),
        )

    def data_layout(self) -> Layout:
        return self.layouts()[0]

    def to_layouts(self, *desired: str) -> Conversion:
        """Compute in the same layout for data and result."""
        layout, out_layout = self.layouts()
        (new,) = choose_layouts(desired, layout)
        return Conversion(
            [Relayout.parse(layout.text, new.text)],
            [Relayout.parse(out_layout.text, new.text)],
            {"layout": new.text, "out_layout": ""},
        )

    def pool_windows(self) -> list[Window]:
        """Return the window of each spatial dimension."""
        sizes = per_dimension("pool_size", self.pool_size, self.SPATIAL)
        return self.windows(sizes, self.ceil_mode)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        layout, out_layout = self.layouts()
        extents = layout.extents(shape_of(type))
        for window in self.pool_windows():
            extents[window.axis] = window.count(extents[window.axis])
        return (with_shape(type, out_layout.shape(extents)),)


class MaxPoolOp(PoolOp, ABC):
    """The maximum of each window; padding is smaller than any element (ONNX MaxPool)."""

    POSITIVE: ClassVar = True


class AvgPoolOp(PoolOp, ABC):
    """The mean of each window (ONNX AveragePool); for integers, truncated toward zero.

    Padding is counted with `count_include_pad` only, positions beyond the padding never.
    """

    count_include_pad = bool_prop(False)


class AdaptivePoolOp(InLayout, ChannelwiseOp, Anchor, OneResultOp, ABC):
    """A reduction of n ranges that evenly cover a dimension, to a result of size n.

    Range i begins at floor(i * size / n) and ends before ceil((i + 1) * size / n).
    """

    SPATIAL: ClassVar[str]

    data = operand_def(TENSOR)
    layout = string_prop()

    @abstractmethod
    def output_sizes(self) -> list[int]:
        """Return the size of each spatial dimension of the result."""

    def data_layout(self) -> Layout:
        return Layout.of(self.layout, "NC" + self.SPATIAL)

    def layouts(self) -> tuple[Layout, Layout]:
        return self.data_layout(), self.data_layout()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        layout = self.data_layout()
        extents = layout.extents(shape_of(type))
        sizes = zip(self.SPATIAL, self.output_sizes(), strict=True)
        return (with_shape(type, layout.shape({**extents, **dict(sizes)})),)


class SizedPoolOp(AdaptivePoolOp, ABC):
    """Adaptive pooling to the size `output_size`."""

    output_size = ints_prop()

    def output_sizes(self) -> list[int]:
        return per_dimension("output_size", self.output_size, self.SPATIAL)


class GlobalPoolOp(AdaptivePoolOp, ABC):
    """Pooling of all elements of a channel to one."""

    def output_sizes(self) -> list[int]:
        return [1] * len(self.SPATIAL)


@spatial_op_definition
class MaxPool1dOp(MaxPoolOp):
    """The maxima of windows over one spatial dimension."""

    name = "relax.nn.max_pool1d"
    SPATIAL: ClassVar = "W"


@spatial_op_definition
class MaxPool2dOp(MaxPoolOp):
    """The maxima of windows over two spatial dimensions."""

    name = "relax.nn.max_pool2d"
    SPATIAL: ClassVar = "HW"


@spatial_op_definition
class MaxPool3dOp(MaxPoolOp):
    """The maxima of windows over three spatial dimensions."""

    name = "relax.nn.max_pool3d"
    SPATIAL: ClassVar = "DHW"


@spatial_op_definition
class AvgPool1dOp(AvgPoolOp):
    """The means of windows over one spatial dimension."""

    name = "relax.nn.avg_pool1d"
    SPATIAL: ClassVar = "W"


@spatial_op_definition
class AvgPool2dOp(AvgPoolOp):
    """The means of windows over two spatial dimensions."""

    name = "relax.nn.avg_pool2d"
    SPATIAL: ClassVar = "HW"


@spatial_op_definition
class AvgPool3dOp(AvgPoolOp):
    """The means of windows over three spatial dimensions."""

    name = "relax.nn.avg_pool3d"
    SPATIAL: ClassVar = "DHW"


@spatial_op_definition
class AdaptiveMaxPool1dOp(SizedPoolOp):
    """The maxima of ranges of one spatial dimension."""

    name = "relax.nn.adaptive_max_pool1d"
    SPATIAL: ClassVar = "W"
    POSITIVE: ClassVar = True


@spatial_op_definition
class AdaptiveMaxPool2dOp(SizedPoolOp):
    """The maxima of ranges of two spatial dimensions."""

    name = "relax.nn.adaptive_max_pool2d"
    SPATIAL: ClassVar = "HW"
    POSITIVE: ClassVar = True


@spatial_op_definition
class AdaptiveMaxPool3dOp(SizedPoolOp):
    """The maxima of ranges of three spatial dimensions."""

    name = "relax.nn.adaptive_max_pool3d"
    SPATIAL: ClassVar = "DHW"
    POSITIVE: ClassVar = True


@spatial_op_definition
class AdaptiveAvgPool1dOp(SizedPoolOp):
    """The means of ranges of one spatial dimension."""

    name = "relax.nn.adaptive_avg_pool1d"
    SPATIAL: ClassVar = "W"


@spatial_op_definition
class AdaptiveAvgPool2dOp(SizedPoolOp):
    """The means of ranges of two spatial dimensions."""

    name = "relax.nn.adaptive_avg_pool2d"
    SPATIAL: ClassVar = "HW"


@spatial_op_definition
class AdaptiveAvgPool3dOp(SizedPoolOp):
    """The means of ranges of three spatial dimensions."""

    name = "relax.nn.adaptive_avg_pool3d"
    SPATIAL: ClassVar = "DHW"


@spatial_op_definition
class GlobalMaxPool2dOp(GlobalPoolOp):
    """The maximum of each channel over two spatial dimensions (ONNX GlobalMaxPool)."""

    name = "relax.nn.global_max_pool2d"
    SPATIAL: ClassVar = "HW"
    POSITIVE: ClassVar = True


@spatial_op_definition
class GlobalAvgPool2dOp(GlobalPoolOp):
    """The mean of each channel over two spatial dimensions (ONNX GlobalAveragePool)."""

    name = "relax.nn.global_avg_pool2d"
    SPATIAL: ClassVar = "HW"
