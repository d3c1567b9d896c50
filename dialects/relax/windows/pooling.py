"""Pooling: maximum and mean of windows over one, two and three spatial dimensions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def

from ..attributes import bool_prop, ints_prop, string_prop
from ..base import OneResultOp
from ..interfaces import Anchor, Axes, Conversion, InLayout, ScaleAxisRule, Scaling, choose_layouts
from ..layout import Layout, Relayout
from ..types import TENSOR, number_type, shape_of, with_shape
from .windows import Window, WindowOp, per_dimension, spatial_op_definition

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
]


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
