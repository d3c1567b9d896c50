"""Element-wise selection, clipping and conversion: where, clip, astype, reinterpret."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import float_prop, type_prop
from ..base import OneResultOp
from ..interfaces import Elementwise
from ..shapes import broadcast
from ..types import (
    TENSOR,
    check_bool,
    check_element,
    is_element,
    shape_of,
    tensor_type,
    with_element,
    with_shape,
)
from .binary import broadcast_type
from .unary import UnaryOp

__all__ = ["AstypeOp", "ClipOp", "ReinterpretOp", "WhereOp"]


@irdl_op_definition
class WhereOp(Elementwise, OneResultOp):
    """The element of `x1` where the i1 `condition` is true, else the element of `x2`."""

    name = "relax.where"

    condition = operand_def(TENSOR)
    x1 = operand_def(TENSOR)
    x2 = operand_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_bool(condition := tensor_type(self.condition))
        type = broadcast_type(self.x1, self.x2)
        data_shape, condition_shape = shape_of(type), shape_of(condition)
        if data_shape is None or condition_shape is None:
            return (with_shape(type, None),)
        return (with_shape(type, broadcast(condition_shape, data_shape)),)


@irdl_op_definition
class ClipOp(UnaryOp):
    """min(max(x, `min`), `max`): `max` if it is less than `min`, as in ONNX.

    For integers the bounds are truncated toward zero and clamped to the range of the element type.
    """

    name = "relax.clip"

    min = float_prop()
    max = float_prop()

    def infer_types(self) -> Sequence[Attribute]:
        if math.isnan(self.min) or math.isnan(self.max):
            raise VerifyException("min or max is NaN")
        return super().infer_types()


@irdl_op_definition
class AstypeOp(UnaryOp):
    """The element converted to `dtype` as in C, but defined for all values.

    A float out of the range of an integer type becomes the nearest integer, NaN becomes 0 (LLVM
    `fptosi.sat`). Out of the range of a float type it becomes infinite; NaN in one without
    infinities, the largest number in one without NaN.
    """

    name = "relax.astype"

    dtype = type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        check_element(type := tensor_type(self.input))
        check_element(result := with_element(type, self.dtype))
        return (result,)


@irdl_op_definition
class ReinterpretOp(UnaryOp):
    """The bits of the element as an element of type `dtype`, of the same width (LLVM bitcast)."""

    name = "relax.reinterpret"

    dtype = type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        check_element(type := tensor_type(self.input))
        check_element(result := with_element(type, self.dtype))
        element = type.element_type
        if (
            is_element(element)
            and is_element(self.dtype)
            and element.bitwidth != self.dtype.bitwidth
        ):
            raise VerifyException(
                f"{element} has {element.bitwidth} bits, {self.dtype} has {self.dtype.bitwidth}"
            )
        return (result,)
