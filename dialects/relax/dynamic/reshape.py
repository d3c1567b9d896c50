"""Reshape, squeeze and expand_dims with parameters that are operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop
from ..base import TensorOp
from ..data.reshape import ExpandDimsOp, ReshapeOp, SqueezeOp
from ..types import (
    TENSOR,
    Tensor,
)
from .base import DynamicOp, rank_of, unknown_shape

__all__ = ["DynamicExpandDimsOp", "DynamicReshapeOp", "DynamicSqueezeOp"]


@irdl_op_definition
class DynamicReshapeOp(DynamicOp):
    """`relax.reshape` to a shape that is an operand."""

    name = "relax.dyn.reshape"
    STATIC: ClassVar[type[TensorOp]] = ReshapeOp

    data = operand_def(TENSOR)
    newshape = operand_def(TENSOR)
    allowzero = bool_prop(False)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return unknown_shape(type, *lengths)


@irdl_op_definition
class DynamicSqueezeOp(DynamicOp):
    """`relax.squeeze` of axes that are an operand."""

    name = "relax.dyn.squeeze"
    STATIC: ClassVar[type[TensorOp]] = SqueezeOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        (length,), rank = lengths, rank_of(type)
        if DYNAMIC_INDEX in (rank, length):
            return unknown_shape(type, DYNAMIC_INDEX)
        if length > rank:
            raise VerifyException(f"cannot squeeze {length} dimensions of {type}")
        return unknown_shape(type, rank - length)


@irdl_op_definition
class DynamicExpandDimsOp(DynamicOp):
    """`relax.expand_dims` at axes that are an operand."""

    name = "relax.dyn.expand_dims"
    STATIC: ClassVar[type[TensorOp]] = ExpandDimsOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        ranks = (rank_of(type), *lengths)
        return unknown_shape(type, DYNAMIC_INDEX if DYNAMIC_INDEX in ranks else sum(ranks))
