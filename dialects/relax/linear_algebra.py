"""Operations of linear algebra."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from .base import RelaxOp
from .interfaces import InfersType
from .shapes import matmul
from .types import TENSOR, Tensor, combine, tensor_type

__all__ = ["MatmulOp"]


@irdl_op_definition
class MatmulOp(InfersType, RelaxOp):
    """The matrix product, of vectors and batches too (`numpy.matmul`, ONNX MatMul)."""

    name = "relax.matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        result_type: Attribute | None = None,
    ):
        lhs, rhs = SSAValue.get(lhs), SSAValue.get(rhs)
        super().__init__(operands=[lhs, rhs], result_types=[result_type or matmul_type(lhs, rhs)])

    def infer_types(self) -> Sequence[Attribute]:
        return (matmul_type(*self.operands),)


def matmul_type(lhs: SSAValue, rhs: SSAValue) -> Tensor:
    """The type of the matrix product of two tensors."""
    return combine(matmul, tensor_type(lhs), tensor_type(rhs))
