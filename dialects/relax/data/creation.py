"""Operations that create tensors: shape_of, size_of, arange, one_hot, trilu."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isfinite
from typing import ClassVar

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
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, int_prop
from ..base import OneResultOp
from ..constant import constant_elements
from ..interfaces import Anchor, Injective, OnHost
from ..shapes import MAX_SIZE, normalize_axis, num_elements, shape_text
from ..types import (
    TENSOR,
    check_indices,
    check_same_element,
    number_type,
    shape_of,
    static_shape,
    tensor_type,
    with_shape,
)

__all__ = ["ArangeOp", "OneHotOp", "ShapeOfOp", "SizeOfOp", "TriluOp", "arange_size"]


class ShapeQueryOp(OnHost, OneResultOp, HasFolderInterface, ABC):
    """An operation whose result, in host memory, depends on the shape of a tensor alone."""

    data = operand_def(TENSOR)

    def host_results(self) -> Sequence[int]:
        return (0,)


@irdl_op_definition
class ShapeOfOp(ShapeQueryOp):
    """The shape of a tensor as a vector of i64 (`relay.shape_of`, ONNX Shape)."""

    name = "relax.shape_of"

    def infer_types(self) -> Sequence[Attribute]:
        shape = shape_of(number_type(self.data))
        return (TensorType(i64, (DYNAMIC_INDEX if shape is None else len(shape),)),)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape = static_shape(self.data.type)
        return None if shape is None else (dense_i64(shape, TensorType(i64, (len(shape),))),)


@irdl_op_definition
class SizeOfOp(ShapeQueryOp):
    """The number of elements of a tensor as a scalar i64 (`relay.ndarray_size`, ONNX Size)."""

    name = "relax.size_of"

    def infer_types(self) -> Sequence[Attribute]:
        number_type(self.data)
        return (TensorType(i64, ()),)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape = shape_of(tensor_type(self.data))
        size = DYNAMIC_INDEX if shape is None else num_elements(shape)
        known = size != DYNAMIC_INDEX and size <= MAX_SIZE
        return None if not known else (dense_i64((size,), TensorType(i64, ())),)


def dense_i64(values: Sequence[int], type: TensorType[I64]) -> DenseIntOrFPElementsAttr:
    """Return the dense constant of `type` with these elements."""
    return DenseIntOrFPElementsAttr(type, BytesAttr(i64.pack(values)))


@irdl_op_definition
class ArangeOp(OneResultOp):
    """The numbers start + i * step before `stop` (`numpy.arange`, ONNX Range).

    Floating-point numbers are computed in f64 and rounded once.
    """

    name = "relax.arange"
    FROM_SIGNATURE: ClassVar = False

    start = operand_def(TENSOR)
    stop = operand_def(TENSOR)
    step = operand_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        element = number_type(self.start).element_type
        for value in self.operands:
            check_scalar(value, element)
        known = [constant_elements(value) for value in self.operands]
        numbers = [values[0] for values in known if values is not None and len(values) == 1]
        size = arange_size(*numbers) if len(numbers) == 3 else DYNAMIC_INDEX
        return (TensorType(element, (size,)),)


def arange_size(start: float, stop: float, step: float) -> int:
    """Return the number of elements of `relax.arange`; VerifyException if it would be infinite.

    Exact for all floats: computed with rational numbers.
    """
    if step == 0 or not all(map(isfinite, (start, stop, step))):
        raise VerifyException(f"range from {start} to {stop} by {step} is not finite")
    return max(0, ceil(Fraction(Fraction(stop) - Fraction(start)) / Fraction(step)))


def check_scalar(value: SSAValue, element: Attribute) -> None:
    """Raise VerifyException unless `value` is a tensor of rank 0 with that element type."""
    type = tensor_type(value)
    check_same_element(element, type.element_type)
    if shape := shape_of(type):
        raise VerifyException(f"expected a scalar, got a tensor of shape {shape_text(shape)}")


@irdl_op_definition
class OneHotOp(Anchor, OneResultOp):
    """A one-hot encoding of indices along a new dimension of size `depth` (`relax.one_hot`).

    `axis` is the position of that dimension in the result. It has `on_value` at the index and
    `off_value` elsewhere; an index out of range gives `off_value` everywhere.
    """

    name = "relax.one_hot"

    indices = operand_def(TENSOR)
    on_value = operand_def(TENSOR)
    off_value = operand_def(TENSOR)
    depth = int_prop()
    axis = int_prop(-1)

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
class TriluOp(Injective, OneResultOp):
    """The upper or lower triangles of matrices (`numpy.triu`, `numpy.tril`, ONNX Trilu).

    With `upper`, elements below the k-th diagonal become zero; without it, those above.
    """

    name = "relax.trilu"

    data = operand_def(TENSOR)
    k = operand_def(TENSOR)
    upper = bool_prop(True)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        check_scalar(self.k, i64)
        if (shape := shape_of(type)) is not None and len(shape) < 2:
            raise VerifyException(f"shape {shape_text(shape)} has less than two dimensions")
        return (type,)
