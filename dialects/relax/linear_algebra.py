"""Operations of linear algebra."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from .base import TensorOp
from .interfaces import Anchor
from .shapes import matmul
from .types import TENSOR, combine, tensor_type

__all__ = ["MatmulOp"]


@irdl_op_definition
class MatmulOp(Anchor, TensorOp):
    """The matrix product, of vectors and batches too (`numpy.matmul`, ONNX MatMul)."""

    name = "relax.matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (combine(matmul, tensor_type(self.lhs), tensor_type(self.rhs)),)
