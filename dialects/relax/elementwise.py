"""Operations that select, limit and convert each element by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from .attributes import float_prop, type_prop
from .base import TensorOp
from .binary import broadcast_type
from .interfaces import Elementwise
from .shapes import broadcast
from .types import (
    TENSOR,
    check_bool,
    check_number,
    is_number,
    shape_of,
    tensor_type,
    with_element,
    with_shape,
)
from .unary import UnaryOp

__all__ = ["AstypeOp", "ClipOp", "ReinterpretOp", "WhereOp"]


@irdl_op_definition
class WhereOp(Elementwise, TensorOp):
    """The element of `x1` where `condition`, an i1, is true, else that of `x2`."""

    name = "relax.where"

    condition = operand_def(TENSOR)
    x1 = operand_def(TENSOR)
    x2 = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_bool(condition := tensor_type(self.condition))
        type = broadcast_type(self.x1, self.x2)
        chosen, choice = shape_of(type), shape_of(condition)
        if chosen is None or choice is None:
            return (with_shape(type, None),)
        return (with_shape(type, broadcast(choice, chosen)),)


@irdl_op_definition
class ClipOp(UnaryOp):
    """The nearest number from `min` to `max`; `max` if that is below `min`, as in ONNX.

    Of integers, the bounds are truncated toward zero, into the range of the element type.
    """

    name = "relax.clip"

    min = float_prop()
    max = float_prop()

    def infer_types(self) -> Sequence[Attribute]:
        if math.isnan(self.min) or math.isnan(self.max):
            raise VerifyException("min and max are numbers, not NaN")
        return super().infer_types()


@irdl_op_definition
class AstypeOp(UnaryOp):
    """The element as a number of type `dtype`, as C converts it, but always defined: a float out
    of the range of integers becomes the nearest one, NaN becomes 0 (LLVM `fptosi.sat`)."""

    name = "relax.astype"

    dtype = type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        check_number(result := with_element(type, self.dtype))
        return (result,)


@irdl_op_definition
class ReinterpretOp(UnaryOp):
    """The bits of the element as an element of type `dtype`, which has as many."""

    name = "relax.reinterpret"

    dtype = type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        check_number(result := with_element(type, self.dtype))
        element = type.element_type
        if is_number(element) and is_number(self.dtype) and element.bitwidth != self.dtype.bitwidth:
            raise VerifyException(
                f"{element} has {element.bitwidth} bits, {self.dtype} has {self.dtype.bitwidth}"
            )
        return (result,)
