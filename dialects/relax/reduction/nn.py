"""Operations of neural networks: softmax, dropout, bias_add, pad, batch_flatten."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ...numbers import non_negative
from ..attributes import check_choice, float_prop, int_prop, ints_prop, string_prop
from ..base import OneResultOp, SameTypeOp
from ..data.manipulation import ReshapeOp
from ..elementwise.binary import AddOp
from ..interfaces import (
    Along,
    AlongAxes,
    Anchor,
    Axes,
    Broadcast,
    CompositeOp,
    Conversion,
    Homogeneous,
    Injective,
    LayoutRule,
    ScaleAxisRule,
    Scaling,
    SimplifiesInference,
    View,
    first_relayout,
)
from ..layout import Relayout
from ..shapes import computed_size, normalize_axis, num_elements
from ..types import (
    TENSOR,
    Float,
    check_float,
    check_parameter,
    number_type,
    shape_of,
    tensor_type,
    with_shape,
)

__all__ = [
    "PAD_MODES",
    "BatchFlattenOp",
    "BiasAddOp",
    "DropoutOp",
    "LogSoftmaxOp",
    "PadOp",
    "SoftmaxBaseOp",
    "SoftmaxOp",
    "padded_size",
]

PAD_MODES = ("constant", "reflect", "edge", "circular")


class SoftmaxBaseOp(AlongAxes, Anchor, SameTypeOp, ABC):
    """A normalization of the elements along `axis` to probabilities, or to their logarithms."""

    AXES: ClassVar = ("axis",)

    CHECK: ClassVar = check_float

    data = operand_def(TENSOR)
    axis = int_prop(-1)


@irdl_op_definition
class SoftmaxOp(SoftmaxBaseOp):
    """exp(x) / sum(exp(x)) along an axis (ONNX Softmax)."""

    name = "relax.nn.softmax"


@irdl_op_definition
class LogSoftmaxOp(SoftmaxBaseOp):
    """log(softmax(x)) along an axis (ONNX LogSoftmax)."""

    name = "relax.nn.log_softmax"


@irdl_op_definition
class DropoutOp(AlongAxes, SimplifiesInference, Homogeneous, SameTypeOp):
    """Dropout at inference, which is the identity (ONNX Dropout)."""

    name = "relax.nn.dropout"
    POSITIVE: ClassVar = False

    data = operand_def(TENSOR)
    rate = float_prop(0.5)
    """The fraction of elements that training drops; without effect at inference."""

    def decompose(self, builder: Builder) -> Sequence[SSAValue]:
        return (self.data,)


@irdl_op_definition
class BiasAddOp(LayoutRule, ScaleAxisRule, Broadcast, OneResultOp):
    """The sum of `data` and the vector `bias`, whose elements run along `axis`."""

    name = "relax.nn.bias_add"

    data = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    axis = int_prop(1)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        axis = self.axis
        if (shape := shape_of(type)) is not None:
            axis = normalize_axis(axis, len(shape))
        check_parameter("bias", self.bias, type, [axis])
        return (type,)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Along a split axis, replace the operation by a sum with the bias in blocks."""
        relayout = first_relayout(relayouts)
        axis = normalize_axis(self.axis, relayout.rank)
        (name,) = relayout.axes([axis])
        if name.lower() not in relayout.dst.axes:
            properties = {"axis": relayout.dimension(axis)}
            return Conversion([relayout, None], [relayout], properties)
        bias = relayout.with_ones([c for c in relayout.src.axes if c != name])
        others = [i for i in range(relayout.rank) if i != axis]
        return Conversion([relayout, bias], [relayout], expanded={1: others}, op=AddOp)

    def scale_result(self, axes: Axes) -> Scaling | None:
        if (bias := self._bias_axes(axes)) is None:
            return None
        return Scaling({0: axes}, {1: Along(bias)}, is_sum=True)

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        bias = self._bias_axes(axes)
        return None if index or bias is None else Scaling(divided={1: bias}, result=axes)

    def _bias_axes(self, axes: Axes) -> Axes | None:
        """Return the dimensions of the bias for a scale along `axes` of the data; None if none."""
        shape, axis = shape_of(tensor_type(self.data)), self.axis
        if not axes or shape is None:
            return None if axes else ()
        return (-1,) if axes == (normalize_axis(axis, len(shape)) - len(shape),) else None


@irdl_op_definition
class PadOp(LayoutRule, ScaleAxisRule, Injective, OneResultOp):
    """A tensor padded before and after each dimension (ONNX Pad).

    `pad_width` has two widths for each dimension, before and after. A negative width removes
    elements, which happens before others are added.
    """

    name = "relax.nn.pad"

    data = operand_def(TENSOR)
    pad_width = ints_prop()
    pad_value = float_prop(0.0)
    pad_mode = string_prop("constant")

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        mode = check_choice("pad_mode", self.pad_mode, PAD_MODES)
        value = self.pad_value
        if not isinstance(type.element_type, Float) and not value.is_integer():
            raise VerifyException(f"pad_value {value} is not an element of {type}")
        widths = [*self.pad_width]
        shape = shape_of(type)
        if shape is None:
            shape = (DYNAMIC_INDEX,) * (len(widths) // 2)
        if len(widths) != 2 * len(shape):
            raise VerifyException(
                f"pad_width {widths} has {len(widths)} widths, expected {2 * len(shape)}: "
                f"two for each of {len(shape)} dimensions"
            )
        padded = [
            padded_size(i, size, before, after, mode)
            for i, (size, before, after) in enumerate(
                zip(shape, widths[::2], widths[1::2], strict=True)
            )
        ]
        return (with_shape(type, tuple(padded)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        widths = [*self.pad_width]
        pairs = [*zip(widths[::2], widths[1::2], strict=True)]
        for dimension, pair in enumerate(pairs):
            if pair != (0, 0):
                relayout.dimension(dimension)
        pad_width = [width for pair in relayout.spread(pairs, (0, 0)) for width in pair]
        return Conversion([relayout], [relayout], {"pad_width": pad_width})

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling({0: axes}, finite=True) if self._keeps(axes) else None

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        return Scaling(result=axes, finite=True) if self._keeps(axes) else None

    def _keeps(self, axes: Axes) -> bool:
        """Return whether padding preserves a scale along `axes`.

        It does if the padded values are scaled too, or are zero, and no dimension of `axes` is
        padded.
        """
        widths = self.pad_width
        zero = self.pad_mode != "constant" or self.pad_value == 0
        return zero and all(widths[2 * a] == widths[2 * a + 1] == 0 for a in axes)


def padded_size(index: int, size: int, before: int, after: int, mode: str) -> int:
    """Return the size of dimension `index` after padding; VerifyException if that is invalid."""
    if size == DYNAMIC_INDEX:
        return computed_size(lambda n: non_negative(n + (before + after)), size)
    kept = size + min(before, 0) + min(after, 0)
    if kept < 0:
        raise VerifyException(
            f"dimension {index} is {size}, but padding of {before} and {after} removes more"
        )
    if kept == 0 and mode != "constant" and max(before, after) > 0:
        raise VerifyException(
            f'dimension {index} has no elements that pad_mode "{mode}" could copy'
        )
    return size + before + after


@irdl_op_definition
class BatchFlattenOp(CompositeOp, View, OneResultOp):
    """A tensor with all dimensions but the first joined to one (ONNX Flatten)."""

    name = "relax.nn.batch_flatten"

    data = operand_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        if (shape := shape_of(type)) is None:
            return (with_shape(type, (DYNAMIC_INDEX, DYNAMIC_INDEX)),)
        if not shape:
            raise VerifyException("data is a scalar, expected at least one dimension")
        return (with_shape(type, (shape[0], num_elements(shape[1:]))),)

    def decompose(self, builder: Builder) -> Sequence[SSAValue]:
        return builder.insert(ReshapeOp(self.data, newshape=(0, -1))).results
