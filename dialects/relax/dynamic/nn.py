"""Padding and resizing with parameters that are operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import string_prop
from ..base import TensorOp
from ..constant import constant_elements, constant_integers
from ..data.creation import check_scalar
from ..data.image import ResampleOp, Resize1dOp, Resize2dOp, Resize3dOp, ResizeOp
from ..layout import Layout
from ..reduction.nn import PadOp
from ..shapes import normalize_axes
from ..types import TENSOR, Tensor, number_type, shape_of, tensor_type, with_shape
from .base import DynamicOp, Values, parameter_length, rank_of, unknown_shape

__all__ = ["DynamicPadOp", "DynamicResizeOp"]


@irdl_op_definition
class DynamicPadOp(DynamicOp):
    """`relax.nn.pad` along `axes` with widths that are operands (ONNX Pad).

    `pad_width` has the widths before each of the axes, then the widths after each.
    """

    name = "relax.dyn.pad"
    STATIC: ClassVar[type[TensorOp]] = PadOp

    data = operand_def(TENSOR)
    pad_width = operand_def(TENSOR)
    pad_value = operand_def(TENSOR)
    axes = operand_def(TENSOR)
    pad_mode = string_prop("constant")
    result = result_def(TENSOR)

    def known_widths(self) -> Values | None:
        """Return the widths and the axes; None if they are not all constants."""
        widths, axes = constant_integers(self.pad_width), constant_integers(self.axes)
        return None if widths is None or axes is None else (widths, axes)

    def known_values(self) -> Values | None:
        return None if constant_elements(self.pad_value) is None else self.known_widths()

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        if (rank := rank_of(tensor_type(inputs[0]))) == DYNAMIC_INDEX:
            return None
        widths, axes = values
        (value,) = constant_elements(self.pad_value) or (0,)
        return PadOp(
            *inputs,
            pad_width=pad_width_of(widths, axes, rank),
            pad_value=float(value),
            pad_mode=self.pad_mode,
            result_types=result_types,
        )

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        check_scalar(self.pad_value, type.element_type)
        lengths = parameter_length(self.pad_width), parameter_length(self.axes)
        if (values := self.known_widths()) is not None:
            static = self.static_op(Block(arg_types=[type]).args, values)
            if static is not None:
                return static.result_types
        return self.infer_dynamic(type, *lengths)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        widths, axes = lengths
        if DYNAMIC_INDEX not in lengths and widths != 2 * axes:
            raise VerifyException(f"expected two widths for each of {axes} axes, got {widths}")
        axes = constant_integers(self.axes)
        if (shape := shape_of(type)) is None or axes is None:
            return unknown_shape(type, rank_of(type))
        padded = normalize_axes(axes, len(shape))
        result = (DYNAMIC_INDEX if i in padded else d for i, d in enumerate(shape))
        return (with_shape(type, tuple(result)),)


def pad_width_of(widths: Sequence[int], axes: Sequence[int], rank: int) -> Sequence[int]:
    """Return the property `pad_width` of `relax.nn.pad`: two widths for each dimension."""
    if len(widths) != 2 * len(axes):
        raise VerifyException(
            f"expected two widths for each of {len(axes)} axes, got {len(widths)}"
        )
    result = [0] * 2 * rank
    for i, axis in enumerate(normalize_axes(axes, rank)):
        result[2 * axis], result[2 * axis + 1] = widths[i], widths[i + len(axes)]
    return result


@irdl_op_definition
class DynamicResizeOp(ResampleOp, DynamicOp):
    """`relax.image.resize1d`, `resize2d` or `resize3d` to sizes that are an operand.

    The number of sizes is the number of spatial dimensions. Without `layout`, channels come first
    (`relay.dyn.image.resize2d`).
    """

    name = "relax.dyn.resize"
    STATIC: ClassVar[type[TensorOp]] = ResizeOp
    STATIC_BY_RANK: ClassVar[Sequence[type[ResizeOp]]] = (Resize1dOp, Resize2dOp, Resize3dOp)

    data = operand_def(TENSOR)  # again: the operands of a class come before those of its bases
    size = operand_def(TENSOR)
    layout = string_prop("")

    def resize_class(self, spatial: int) -> type[ResizeOp]:
        """Return the operation class that resizes that number of spatial dimensions."""
        if not 1 <= spatial <= 3:
            raise VerifyException(f"size has {spatial} dimensions, expected 1 to 3")
        return self.STATIC_BY_RANK[spatial - 1]

    def spatial(self) -> str:
        """Return the axes that are resized; VerifyException if their number is not known."""
        return self.resize_class(parameter_length(self.size)).SPATIAL

    def data_layout(self) -> Layout:
        """Return the layout of the data; VerifyException if the number of axes is not known."""
        plain = "NC" + self.spatial()
        return Layout.of(self.layout or plain, plain)

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        (size,) = values
        properties = {**self.properties, "layout": self.layout or None}
        return self.resize_class(len(size))(
            *inputs, size=size, result_types=result_types, location=None, **properties
        )

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        (spatial,) = lengths
        if spatial == DYNAMIC_INDEX:
            return unknown_shape(type, rank_of(type))
        self.check_sampling(spatial)
        layout = self.data_layout()
        extents = layout.extents(shape_of(type)) | dict.fromkeys(self.spatial(), DYNAMIC_INDEX)
        return (with_shape(type, layout.shape(extents)),)
