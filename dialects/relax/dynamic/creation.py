"""Fills and one_hot with parameters that are operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from ..attributes import PropertyValue, int_prop
from ..base import TensorOp
from ..constant import FullOp, constant_number
from ..data.creation import OneHotOp, check_scalar
from ..elementwise.broadcast import BroadcastToOp
from ..shapes import (
    normalize_axis,
)
from ..types import (
    TENSOR,
    Tensor,
    shape_of,
    static_shape,
    tensor_type,
    with_shape,
)
from .base import DynamicOp, Values, single_integer, unknown_shape

__all__ = ["DynamicFullOp", "DynamicOneHotOp"]


@irdl_op_definition
class DynamicFullOp(DynamicOp, HasFolderInterface):
    """A tensor filled with a scalar; its shape is an operand, known at run time only.

    The counterpart of `relay.dyn.full` and ONNX ConstantOfShape.
    """

    name = "relax.dyn.full"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    fill_value = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def infer_types(self) -> Sequence[Attribute]:
        check_scalar(self.fill_value, tensor_type(self.fill_value).element_type)
        return super().infer_types()

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return unknown_shape(type, *lengths)

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        value = constant_number(inputs[0])
        if value is not None:
            type = TensorType(value.type, values[0])
            if result_types is None or [*result_types] == [type]:
                return FullOp(value, type)
        return super().static_op(inputs, values, result_types)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        values, value = self.known_values(), constant_number(self.fill_value)
        if values is None or value is None or static_shape(self.result.type) != (*values[0],):
            return None
        return (value,)


@irdl_op_definition
class DynamicOneHotOp(DynamicOp):
    """`relax.one_hot` with a depth that is an operand."""

    name = "relax.dyn.one_hot"
    INPUTS: ClassVar[int] = 3
    STATIC: ClassVar[type[TensorOp]] = OneHotOp

    indices = operand_def(TENSOR)
    on_value = operand_def(TENSOR)
    off_value = operand_def(TENSOR)
    depth = operand_def(TENSOR)
    axis = int_prop(-1)
    result = result_def(TENSOR)

    def arguments(self, *values: Sequence[int]) -> dict[str, PropertyValue]:
        return {"depth": single_integer(*values)}

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        with_depth = OneHotOp(
            *Block(arg_types=self.operand_types).args[:3], depth=0, axis=self.axis
        ).result.type
        shape = shape_of(type)
        if shape is None:
            return (with_depth,)
        axis = normalize_axis(self.axis, len(shape) + 1)
        return (with_shape(with_depth, (*shape[:axis], DYNAMIC_INDEX, *shape[axis:])),)
