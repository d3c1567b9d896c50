"""Linear algebra: matmul, einsum, dense, batch_matmul."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, opt_type_prop, string_prop
from ..base import OneResultOp
from ..interfaces import Along, Anchor, Axes, ScaleAxisRule, Scaling
from ..shapes import matmul, merge
from ..types import (
    TENSOR,
    check_number,
    check_same_element,
    combine,
    make_tensor_type,
    product_element,
    shape_of,
    shape_of_rank,
    tensor_type,
    with_shape,
)
from .subscripts import Subscripts

__all__ = ["BatchMatmulOp", "DenseOp", "EinsumOp", "MatmulOp"]


@irdl_op_definition
class MatmulOp(ScaleAxisRule, Anchor, OneResultOp):
    """The product of matrices, vectors, or batches of matrices (`numpy.matmul`, ONNX MatMul).

    Sums have the element type `out_dtype`, by default that of the operands.
    """

    name = "relax.matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    out_dtype = opt_type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        lhs, rhs = tensor_type(self.lhs), tensor_type(self.rhs)
        if self.out_dtype is None:
            return (combine(matmul, lhs, rhs),)
        element = product_element(lhs, rhs, self.out_dtype)
        shapes = shape_of(lhs), shape_of(rhs)
        known = None if shapes[0] is None or shapes[1] is None else matmul(shapes[0], shapes[1])
        return (make_tensor_type(element, known),)

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling({1: axes}) if self._scales(axes) else None

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        if index or not self._scales(axes):
            return None
        return Scaling({1: (-2,) if axes else ()})

    def _scales(self, axes: Axes) -> bool:
        """Return whether a scale along `axes` is one number, or runs along columns of matrices."""
        shapes = [shape_of(tensor_type(operand)) for operand in self.operands]
        return not axes or (axes == (-1,) and all(shape and len(shape) > 1 for shape in shapes))


@irdl_op_definition
class EinsumOp(Anchor, OneResultOp):
    """The Einstein summation `subscripts`, such as `ij,jk->ik` (`numpy.einsum`, ONNX Einsum).

    An ellipsis in an operand must also be in the output.
    """

    name = "relax.einsum"

    args = var_operand_def(TENSOR)
    subscripts = string_prop()

    def infer_types(self) -> Sequence[Attribute]:
        types = [tensor_type(operand) for operand in self.args]
        if not types:
            raise VerifyException("expected at least one operand")
        for type in types:
            check_number(type)
            check_same_element(types[0].element_type, type.element_type)
        shape = Subscripts.parse(self.subscripts).infer([shape_of(type) for type in types])
        return (with_shape(types[0], shape),)


@irdl_op_definition
class DenseOp(ScaleAxisRule, Anchor, OneResultOp):
    """The product of `data` with the transpose of the matrix `weight` (Relay nn.dense).

    The last dimension of `data` is contracted. Sums have the element type `out_dtype`, by default
    that of the operands.
    """

    name = "relax.nn.dense"

    data = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    out_dtype = opt_type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        data, weight = tensor_type(self.data), tensor_type(self.weight)
        element = product_element(data, weight, self.out_dtype)
        matrix = shape_of_rank("weight has", weight, 2)
        if (shape := shape_of(data)) is not None:
            if not shape:
                raise VerifyException("data is a scalar, expected at least one dimension")
            if merge(shape[-1:], matrix[1:]) is None:
                raise VerifyException(
                    f"data has {shape[-1]} elements along its last dimension, "
                    f"but weight has {matrix[1]}"
                )
            shape = (*shape[:-1], matrix[0])
        return (make_tensor_type(element, shape),)

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling(weights={1: Along((-2,) if axes else ())}) if axes in ((), (-1,)) else None

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        return None if index or axes not in ((), (-1,)) else Scaling(weights={1: Along(axes)})


@irdl_op_definition
class BatchMatmulOp(Anchor, OneResultOp):
    """The products of two batches of matrices (Relay nn.batch_matmul).

    `transpose_a` and `transpose_b` transpose the matrices of an operand; a batch of one matrix
    broadcasts.
    """

    name = "relax.nn.batch_matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    transpose_a = bool_prop(False)
    transpose_b = bool_prop(True)
    out_dtype = opt_type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        lhs, rhs = tensor_type(self.lhs), tensor_type(self.rhs)
        element = product_element(lhs, rhs, self.out_dtype)
        n, *a = shape_of_rank("lhs has", lhs, 3)
        m, *b = shape_of_rank("rhs has", rhs, 3)
        if self.transpose_a:
            a.reverse()
        if self.transpose_b:
            b.reverse()
        return (make_tensor_type(element, matmul((n, *a), (m, *b))),)
