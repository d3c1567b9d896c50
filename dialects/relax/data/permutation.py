"""Operations that permute the elements of a tensor: transposition, layouts, reversal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ..attributes import (
    int_prop,
    ints_prop,
    opt_ints_prop,
    string_prop,
)
from ..base import OneResultOp, SameTypeOp
from ..interfaces import (
    AlongAxes,
    Axes,
    Conversion,
    Injective,
    LayoutRule,
    ScaleAxisRule,
    Scaling,
    first_relayout,
)
from ..layout import Layout, Relayout
from ..shapes import merge, normalize_axes, normalize_axis, shape_text
from ..types import TENSOR, check_indices, number_type, shape_of, tensor_type, with_shape

__all__ = ["FlipOp", "LayoutTransformOp", "ReverseSequenceOp", "TransposeOp"]


@irdl_op_definition
class TransposeOp(LayoutRule, ScaleAxisRule, Injective, OneResultOp):
    """A tensor with permuted dimensions (`numpy.transpose`).

    Dimension i of the result is dimension `axes[i]` of the data; without `axes` the order is
    reversed.
    """

    name = "relax.transpose"

    data = operand_def(TENSOR)
    axes = opt_ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = shape_of(type)
        if (axes := self.axes) is None:
            return (with_shape(type, shape and shape[::-1]),)
        rank = len(axes) if shape is None else len(shape)
        if len(axes) != rank or {*normalize_axes(axes, rank)} != {*range(rank)}:
            raise VerifyException(f"axes {[*axes]} are not a permutation of {[*range(rank)]}")
        if shape is None:
            return (with_shape(type, (DYNAMIC_INDEX,) * rank),)
        return (with_shape(type, tuple(shape[axis] for axis in axes)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Produce the original result by transposing along other axes."""
        relayout = first_relayout(relayouts)
        old = range(relayout.rank)[::-1] if self.axes is None else self.axes
        axes = [relayout.dimension(axis) for axis in normalize_axes(old, relayout.rank)]
        return Conversion([relayout], [None], {"axes": axes}, forwards=axes == sorted(axes))

    def scale_result(self, axes: Axes) -> Scaling | None:
        if (order := self.order()) is None:
            return None
        return Scaling({0: tuple(order[axis] - len(order) for axis in axes)})

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        if (order := self.order()) is None:
            return None
        rank = len(order)
        return Scaling(result=tuple(order.index(axis % rank) - rank for axis in axes))

    def order(self) -> list[int] | None:
        """Return the dimension of the data for each dimension of the result, counted from the
        first; None if the rank is unknown."""
        if (axes := self.axes) is None:
            shape = shape_of(tensor_type(self.data))
            return None if shape is None else [*range(len(shape))][::-1]
        return [axis % len(axes) for axis in axes]


@irdl_op_definition
class LayoutTransformOp(LayoutRule, Injective, OneResultOp):
    """A tensor transformed from `src_layout` to `dst_layout` (`relay.layout_transform`).

    Dimensions are permuted, split into blocks and joined: `NCHW` to `NCHW4c`.
    """

    name = "relax.layout_transform"

    input = operand_def(TENSOR)
    src_layout = string_prop()
    dst_layout = string_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.input)
        src, dst = Layout.parse(self.src_layout), Layout.parse(self.dst_layout)
        return (with_shape(type, src.transform(shape_of(type), dst)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Produce the original result from another source layout."""
        relayout = first_relayout(relayouts)
        src = relayout.along(Layout.parse(self.src_layout)).dst
        forwards = src.text == self.dst_layout
        return Conversion([relayout], [None], {"src_layout": src.text}, forwards=forwards)


@irdl_op_definition
class FlipOp(AlongAxes, Injective, SameTypeOp):
    """A tensor with the order of elements reversed along the dimensions `axis` (`numpy.flip`)."""

    AXES: ClassVar = ("axis",)
    SPLITS: ClassVar = True

    name = "relax.flip"

    data = operand_def(TENSOR)
    axis = ints_prop()


@irdl_op_definition
class ReverseSequenceOp(AlongAxes, Injective, OneResultOp):
    """A batch of sequences, each with its first elements reversed (ONNX ReverseSequence).

    Sequence i of `batch_axis` has its first `seq_lengths[i]` elements along `seq_axis` reversed
    (`relay.reverse_sequence`).
    """

    AXES: ClassVar = ("seq_axis", "batch_axis")

    name = "relax.reverse_sequence"

    data = operand_def(TENSOR)
    seq_lengths = operand_def(TENSOR)
    seq_axis = int_prop(1)
    batch_axis = int_prop(0)

    def infer_types(self) -> Sequence[Attribute]:
        type, lengths = number_type(self.data), tensor_type(self.seq_lengths)
        check_indices("seq_lengths", lengths)
        if (shape := shape_of(type)) is None:
            return (type,)
        seq = normalize_axis(self.seq_axis, len(shape))
        batch = normalize_axis(self.batch_axis, len(shape))
        if seq == batch:
            raise VerifyException(f"seq_axis and batch_axis are both {seq}")
        size, expected = shape_of(lengths), (shape[batch],)
        if size is not None and merge(size, expected) is None:
            raise VerifyException(
                f"seq_lengths has shape {shape_text(size)}, "
                f"but dimension {batch} of shape {shape_text(shape)} needs {shape_text(expected)}"
            )
        return (type,)
