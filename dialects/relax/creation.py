"""Operations that make tensors of numbers, of shapes, and of a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isfinite

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
    i64,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .attributes import bool_prop, int_prop
from .base import TensorOp
from .constant import constant_elements
from .interfaces import Anchor, Injective, OnHost
from .shapes import normalize_axis, num_elements, shape_text
from .types import (
    TENSOR,
    check_indices,
    number_type,
    shape_of,
    static_shape,
    tensor_type,
    with_shape,
)

__all__ = ["ArangeOp", "OneHotOp", "ShapeOfOp", "SizeOfOp", "TriluOp", "arange_size"]


@irdl_op_definition
class ShapeOfOp(OnHost, TensorOp, HasFolderInterface):
    """The dimensions of a tensor (`relay.shape_of`, ONNX Shape)."""

    name = "relax.shape_of"

    data = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def host_results(self) -> Sequence[int]:
        return (0,)

    def infer_types(self) -> Sequence[Attribute]:
        shape = shape_of(number_type(self.data))
        return (TensorType(i64, (DYNAMIC_INDEX if shape is None else len(shape),)),)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape = static_shape(self.data.type)
        return None if shape is None else integers(shape, TensorType(i64, (len(shape),)))


@irdl_op_definition
class SizeOfOp(OnHost, TensorOp, HasFolderInterface):
    """The number of elements of a tensor (`relay.ndarray_size`, ONNX Size)."""

    name = "relax.size_of"

    data = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def host_results(self) -> Sequence[int]:
        return (0,)

    def infer_types(self) -> Sequence[Attribute]:
        number_type(self.data)
        return (TensorType(i64, ()),)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape = shape_of(tensor_type(self.data))
        size = DYNAMIC_INDEX if shape is None else num_elements(shape)
        return None if size == DYNAMIC_INDEX else integers((size,), TensorType(i64, ()))


def integers(values: Sequence[int], type: TensorType[I64]) -> Sequence[Attribute]:
    data = BytesAttr(i64.pack(values))
    return (DenseIntOrFPElementsAttr(type, data),)


@irdl_op_definition
class ArangeOp(TensorOp):
    """The numbers from `start` on, `step` apart, that are not at or beyond `stop` (`numpy.arange`,
    ONNX Range); floating-point ones are computed in f64 and rounded once."""

    name = "relax.arange"

    start = operand_def(TENSOR)
    stop = operand_def(TENSOR)
    step = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        element = number_type(self.start).element_type
        for value in self.operands:
            check_scalar(value, element)
        known = [constant_elements(value) for value in self.operands]
        numbers = [values[0] for values in known if values is not None and len(values) == 1]
        size = arange_size(*numbers) if len(numbers) == 3 else DYNAMIC_INDEX
        return (TensorType(element, (size,)),)


def arange_size(start: float, stop: float, step: float) -> int:
    """The number of elements of `relax.arange`; VerifyException if there is no end to them."""
    if step == 0 or not all(map(isfinite, (start, stop, step))):
        raise VerifyException(f"no range goes from {start} to {stop} by {step}")
    return max(0, ceil(Fraction(Fraction(stop) - Fraction(start)) / Fraction(step)))


def check_scalar(value: SSAValue, element: Attribute) -> None:
    """VerifyException unless it is a tensor of one element of that type, of rank 0."""
    type = tensor_type(value)
    if type.element_type != element:
        raise VerifyException(f"element types {element} and {type.element_type} differ")
    if shape := shape_of(type):
        raise VerifyException(f"expected a scalar, got a tensor of shape {shape_text(shape)}")


@irdl_op_definition
class OneHotOp(Anchor, TensorOp):
    """A new dimension of size `depth` at `axis` of the result, with `on_value` at the index and
    `off_value` elsewhere; an index that is negative or too big is nowhere (`relax.one_hot`)."""

    name = "relax.one_hot"

    indices = operand_def(TENSOR)
    on_value = operand_def(TENSOR)
    off_value = operand_def(TENSOR)
    depth = int_prop()
    axis = int_prop(-1)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        indices, type = tensor_type(self.indices), number_type(self.on_value)
        check_indices("indices", indices)
        for value in (self.on_value, self.off_value):
            check_scalar(value, type.element_type)
        if (depth := self.depth) < 0:
            raise VerifyException(f"depth is {depth}")
        if (shape := shape_of(indices)) is None:
            return (with_shape(type, None),)
        axis = normalize_axis(self.axis, len(shape) + 1)
        return (TensorType(type.element_type, (*shape[:axis], depth, *shape[axis:])),)


@irdl_op_definition
class TriluOp(Injective, TensorOp):
    """Matrices with zeros below the k-th diagonal, or above it unless `upper` (`numpy.triu`,
    `numpy.tril`, ONNX Trilu)."""

    name = "relax.trilu"

    data = operand_def(TENSOR)
    k = operand_def(TENSOR)
    upper = bool_prop(True)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        check_scalar(self.k, i64)
        if (shape := shape_of(type)) is not None and len(shape) < 2:
            raise VerifyException(f"shape {shape_text(shape)} is not of matrices")
        return (type,)
