"""Broadcasts and tile with parameters that are operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from ..base import TensorOp
from ..constant import constant_integers
from ..elementwise.broadcast import BroadcastToOp, TileOp
from ..shapes import (
    Shape,
    broadcast,
    check_rank,
    is_static,
)
from ..types import (
    TENSOR,
    Tensor,
    shape_of,
    tensor_type,
    with_shape,
)
from .base import DynamicOp, Values, rank_of, unknown_shape

__all__ = ["DynamicBroadcastToOp", "DynamicExpandOp", "DynamicTileOp"]


@irdl_op_definition
class DynamicBroadcastToOp(DynamicOp):
    """`relax.broadcast_to` to a shape that is an operand."""

    name = "relax.dyn.broadcast_to"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return unknown_shape(type, *lengths)


@irdl_op_definition
class DynamicExpandOp(DynamicOp):
    """A tensor broadcast with a shape that is an operand, in both directions (ONNX Expand).

    Unlike `relax.dyn.broadcast_to`, a dimension of the shape may be 1 where that of the data is
    larger.
    """

    name = "relax.dyn.expand"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        shape = broadcast_both(tensor_type(inputs[0]), values[0])
        if shape is None or not is_static(shape):
            return None
        return BroadcastToOp(*inputs, shape=shape, result_types=result_types)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        target = constant_integers(self.shape)
        if target is None and DYNAMIC_INDEX not in lengths:
            check_rank(lengths[0])
            target = (DYNAMIC_INDEX,) * lengths[0]
        return (with_shape(type, None if target is None else broadcast_both(type, target)),)


def broadcast_both(type: Tensor, target: Sequence[int]) -> Shape | None:
    """Return the result shape of `relax.dyn.expand`; None if `type` is unranked."""
    shape = shape_of(type)
    return None if shape is None else broadcast(shape, (*target,))


@irdl_op_definition
class DynamicTileOp(DynamicOp):
    """`relax.tile` with repetitions that are an operand."""

    name = "relax.dyn.tile"
    STATIC: ClassVar[type[TensorOp]] = TileOp

    data = operand_def(TENSOR)
    reps = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        ranks = (rank_of(type), *lengths)
        return unknown_shape(type, DYNAMIC_INDEX if DYNAMIC_INDEX in ranks else max(ranks))
