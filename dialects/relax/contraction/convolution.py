"""Convolutions and transposed convolutions over one, two and three spatial dimensions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import int_prop, ints_prop, opt_type_prop, string_prop
from ..interfaces import (
    Along,
    Axes,
    Conversion,
    ConvertsLayout,
    ScaleAxisRule,
    Scaling,
    choose_layouts,
)
from ..layout import Layout, Relayout
from ..shapes import computed_size, num_elements
from ..types import TENSOR, make_tensor_type, product_element, shape_of, static_shape, tensor_type
from ..windows import Window, WindowOp, per_dimension, spatial_op_definition

__all__ = [
    "Conv1dOp",
    "Conv1dTransposeOp",
    "Conv2dOp",
    "Conv2dTransposeOp",
    "Conv3dOp",
    "Conv3dTransposeOp",
    "ConvolutionOp",
    "ForwardConvolutionOp",
    "TransposedConvolutionOp",
]


class ConvolutionOp(ConvertsLayout, ScaleAxisRule, WindowOp, ABC):
    """A convolution of a tensor with a weight, forward or transposed.

    The channels are split into `groups`, which are computed separately. The result has the element
    type `out_dtype`, by default that of the operands.
    """

    CHANNELS: ClassVar[str]
    """The order of output (O) and input (I) channels in the usual layout of the weight."""
    OF_ALL_GROUPS: ClassVar[str]
    """The weight axis, O or I, with the channels of all groups; the other has those of one."""

    data = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    data_layout = string_prop()
    kernel_layout = string_prop()
    groups = int_prop(1)
    out_layout = string_prop("")
    out_dtype = opt_type_prop()

    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """Return the layouts of data, weight and result."""
        return (
            Layout.of(self.data_layout, "NC" + self.SPATIAL),
            Layout.of(self.kernel_layout, "OI" + self.SPATIAL),
            self.out_layout_of(self.out_layout, self.data_layout),
        )

    def to_layouts(self, *desired: str) -> Conversion:
        """Compute in the `desired` layouts of data, weight and result.

        The defaults of weight and result follow from the layout of the data.
        """
        old = self.layouts()
        data, weight, out = choose_layouts(desired, *old)
        if desired[1:2] in ((), ("default",)):
            weight = self.kernel_layout_for(data)
        if desired[2:3] in ((), ("default",)):
            out = data
        relayouts = [
            Relayout.parse(a.text, b.text) for a, b in zip(old, (data, weight, out), strict=True)
        ]
        properties = {
            "data_layout": data.text,
            "kernel_layout": weight.text,
            "out_layout": "" if out == data else out.text,
        }
        return Conversion(relayouts[:2], relayouts[2:], properties)

    def kernel_layout_for(self, data: Layout) -> Layout:
        """Return the usual layout of the weight for a layout of the data.

        OIHW for NCHW, HWIO for NHWC (HWOI for a depthwise convolution), and OIHW4i4o for NCHW4c.
        """
        weight = Layout.of(self.kernel_layout, "OI" + self.SPATIAL)
        depthwise = weight.extents(shape_of(tensor_type(self.weight)))["I"] == 1 != self.groups
        order = "".join(c for c in data.axes if c in "C" + self.SPATIAL)
        channels = "OI" if depthwise else self.CHANNELS if order[0] == "C" else "IO"
        block = data.factors.get("c")
        blocks = "" if block is None else f"{1 if depthwise else block}i{block}o"
        return Layout.parse(order.replace("C", channels) + blocks)

    def infer_types(self) -> Sequence[Attribute]:
        data_type, weight_type = tensor_type(self.data), tensor_type(self.weight)
        element = product_element(data_type, weight_type, self.out_dtype)
        data_layout, kernel_layout, out_layout = self.layouts()
        data = data_layout.extents(shape_of(data_type))
        weight = kernel_layout.extents(shape_of(weight_type))
        if (groups := self.groups) < 1:
            raise VerifyException(f"groups is {groups}, expected at least 1")
        out = {"N": data["N"], "C": self.channels(data["C"], weight, groups)}
        for window in self.windows([weight[axis] for axis in self.SPATIAL]):
            out[window.axis] = self.extent(window, data[window.axis])
        return (make_tensor_type(element, out_layout.shape(out)),)

    def scale_result(self, axes: Axes) -> Scaling | None:
        return self._scale_weight(axes, self.layouts()[2], "O")

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        scaling = None if index else self._scale_weight(axes, self.layouts()[0], "I")
        return None if scaling is None else scaling._replace(finite=self.may_read_padding)

    @property
    @abstractmethod
    def may_read_padding(self) -> bool:
        """Whether a sum of the result may have terms without data: zeros of the padding times the
        weight. They become NaN if the weight absorbs an infinite scale."""

    def _scale_weight(self, axes: Axes, layout: Layout, channels: str) -> Scaling | None:
        """Return a scaling of the weight for a scale along `axes` of a tensor in `layout`.

        `channels` is the weight axis, O or I, of that tensor's channels. None unless the scale is
        one number or runs along the channels.
        """
        if not axes:
            return Scaling(weights={1: Along(())})
        along = self._along(channels) if axes == layout.dimensions("C") else None
        return None if along is None else Scaling(weights={1: along})

    def _along(self, channels: str) -> Along | None:
        """Return the weight dimensions along which all channels (`channels` is O or I) run; None if
        they are unknown.

        Only one of O and I has the channels of all groups in its dimensions. For the other, a scale
        needs a view of the weight: OIHW becomes (groups, O / groups, I, H, W), where the input
        channels of all groups run along dimensions 0 and 2.
        """
        layout = self.layouts()[1]
        axes, groups = layout.dimensions(channels), self.groups
        if channels == self.OF_ALL_GROUPS or groups == 1:
            return Along(axes)
        if (shape := static_shape(self.weight.type)) is None:
            return None
        extents, (outer, *inner) = layout.extents(shape), layout.dimensions(self.OF_ALL_GROUPS)
        if extents[channels] == 1 and extents[self.OF_ALL_GROUPS] == groups:
            return Along((outer, *inner))
        if inner:
            return None
        at = len(shape) + outer
        view = (*shape[:at], groups, shape[at] // groups, *shape[at + 1 :])
        # The view has one dimension more: negative indices of dimensions before it move by one.
        return Along((outer - 1, *(a - (a < outer) for a in axes)), view)

    @abstractmethod
    def channels(self, data: int, weight: Mapping[str, int], groups: int) -> int:
        """Return the number of channels of the result.

        `data` is the number of channels of the data, `weight` the size of each weight axis.
        VerifyException if they do not match.
        """

    @abstractmethod
    def extent(self, window: Window, extent: int) -> int:
        """Return the size of the spatial dimension of the result that `window` slides along."""


class ForwardConvolutionOp(ConvolutionOp, ABC):
    """A convolution: each result element is the sum over one window of the data."""

    CHANNELS: ClassVar = "OI"
    OF_ALL_GROUPS: ClassVar = "O"

    def channels(self, data: int, weight: Mapping[str, int], groups: int) -> int:
        inputs, outputs = weight["I"], weight["O"]
        if DYNAMIC_INDEX not in (data, inputs) and data != inputs * groups:
            raise VerifyException(
                f"data has {data} channels, but weight has {inputs} input channels "
                f"for each of {groups} groups"
            )
        return _multiple_of(groups, outputs, "output channels of weight")

    def extent(self, window: Window, extent: int) -> int:
        return window.count(extent)

    @property
    def may_read_padding(self) -> bool:
        return any(self.padding)


class TransposedConvolutionOp(ConvolutionOp, ABC):
    """A transposed convolution: each data element, times the weight, is added to a result window.

    The adjoint of the convolution with the same properties, whose gradient it computes. `padding`
    is cut off the result, then `output_padding` is added at its end.
    """

    CHANNELS: ClassVar = "IO"
    OF_ALL_GROUPS: ClassVar = "I"

    output_padding = ints_prop()

    def channels(self, data: int, weight: Mapping[str, int], groups: int) -> int:
        inputs, outputs = weight["I"], weight["O"]
        if DYNAMIC_INDEX not in (data, inputs) and data != inputs:
            raise VerifyException(
                f"data has {data} channels, but weight has {inputs} input channels"
            )
        _multiple_of(groups, max(data, inputs), "channels of data")
        return num_elements((outputs, groups))

    def extent(self, window: Window, extent: int) -> int:
        padding = per_dimension("output_padding", self.output_padding, self.SPATIAL, minimum=0)
        if window.size == DYNAMIC_INDEX:
            return DYNAMIC_INDEX
        added = padding[self.SPATIAL.index(window.axis)]
        rest = window.covered(0) - window.before - window.after + added
        # The size of a convolution's result, (n + padding - span) // stride + 1, solved for n.
        result = computed_size(lambda n: n * window.stride + rest, extent)
        if DYNAMIC_INDEX != result < 1:
            raise VerifyException(
                f"dimension {window.axis} of the result is {result}: {window.covered(extent)} less "
                f"padding of {window.before} and {window.after}, plus {added}"
            )
        return result

    @property
    def may_read_padding(self) -> bool:
        # Conservative: elements that no window covers, between windows (a stride may exceed their
        # size) or in the output padding, are sums of no terms.
        gaps = any(stride > 1 for stride in self.strides)
        return gaps or any(self.output_padding)


def _multiple_of(groups: int, channels: int, what: str) -> int:
    """Return `channels`; VerifyException unless they split into `groups`."""
    if channels != DYNAMIC_INDEX and channels % groups:
        raise VerifyException(f"{channels} {what} do not split into {groups} groups")
    return channels


@spatial_op_definition
class Conv1dOp(ForwardConvolutionOp):
    """The convolution over one spatial dimension (ONNX Conv)."""

    name = "relax.nn.conv1d"
    SPATIAL: ClassVar = "W"


@spatial_op_definition
class Conv2dOp(ForwardConvolutionOp):
    """The convolution over two spatial dimensions (ONNX Conv)."""

    name = "relax.nn.conv2d"
    SPATIAL: ClassVar = "HW"


@spatial_op_definition
class Conv3dOp(ForwardConvolutionOp):
    """The convolution over three spatial dimensions (ONNX Conv)."""

    name = "relax.nn.conv3d"
    SPATIAL: ClassVar = "DHW"


@spatial_op_definition
class Conv1dTransposeOp(TransposedConvolutionOp):
    """The transposed convolution over one spatial dimension (ONNX ConvTranspose)."""

    name = "relax.nn.conv1d_transpose"
    SPATIAL: ClassVar = "W"


@spatial_op_definition
class Conv2dTransposeOp(TransposedConvolutionOp):
    """The transposed convolution over two spatial dimensions (ONNX ConvTranspose)."""

    name = "relax.nn.conv2d_transpose"
    SPATIAL: ClassVar = "HW"


@spatial_op_definition
class Conv3dTransposeOp(TransposedConvolutionOp):
    """The transposed convolution over three spatial dimensions (ONNX ConvTranspose)."""

    name = "relax.nn.conv3d_transpose"
    SPATIAL: ClassVar = "DHW"
