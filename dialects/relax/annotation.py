"""Annotations of values: operations that return their operand and carry a hint for passes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from .base import TensorOp
from .interfaces import AlongAxes

__all__ = ["StopFusionOp"]


@irdl_op_definition
class StopFusionOp(AlongAxes, TensorOp):
    """A value that is not fused with its users (`relay.annotation.stop_fusion`)."""

    name = "relax.stop_fusion"

    input = operand_def()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        return (self.input.type,)
