"""Operations of linear algebra."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from .attributes import string_prop
from .base import TensorOp
from .interfaces import Anchor
from .shapes import matmul
from .subscripts import Subscripts
from .types import TENSOR, check_number, combine, shape_of, tensor_type, with_shape

__all__ = ["EinsumOp", "MatmulOp"]


@irdl_op_definition
class MatmulOp(Anchor, TensorOp):
    """The matrix product, of vectors and batches too (`numpy.matmul`, ONNX MatMul)."""

    name = "relax.matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (combine(matmul, tensor_type(self.lhs), tensor_type(self.rhs)),)


@irdl_op_definition
class EinsumOp(Anchor, TensorOp):
    """The sum of products that the subscripts say, such as `ij,jk->ik` (`numpy.einsum`, ONNX
    Einsum); an ellipsis of an operand has to be in the output."""

    name = "relax.einsum"

    args = var_operand_def(TENSOR)
    subscripts = string_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        types = [tensor_type(operand) for operand in self.args]
        if not types:
            raise VerifyException("expected at least one operand")
        for type in types:
            check_number(type)
            if type.element_type != types[0].element_type:
                raise VerifyException(
                    f"element types {types[0].element_type} and {type.element_type} differ"
                )
        shape = Subscripts.parse(self.subscripts.data).infer([shape_of(type) for type in types])
        return (with_shape(types[0], shape),)
