"""Operations that tell the compiler something, and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from .base import TensorOp
from .types import TENSOR, tensor_type

__all__ = ["StopFusionOp"]


@irdl_op_definition
class StopFusionOp(TensorOp):
    """The tensor itself; what makes it and what uses it are not fused (`annotation.stop_fusion`).

    `fuse-ops` removes it.
    """

    name = "relax.stop_fusion"

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type(self.input),)
