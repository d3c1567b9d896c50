"""Reductions, scans and topk with parameters that are operands."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import PropertyValue, bool_prop, check_choice, int_prop, string_prop
from ..base import TensorOp
from ..data.sorting import TopkOp
from ..reduction.reduction import MaxOp, MeanOp, MinOp, ProdOp, ReductionOp, SumOp
from ..reduction.scan import CumprodOp, CumsumOp
from ..shapes import normalize_axis, replace_dimension
from ..types import TENSOR, Tensor, shape_of, with_element, with_shape
from .base import DynamicOp, Values, rank_of, single_integer, unknown_shape

__all__ = [
    "DynamicCumprodOp",
    "DynamicCumsumOp",
    "DynamicReduceOp",
    "DynamicScanOp",
    "DynamicTopkOp",
]


@irdl_op_definition
class DynamicReduceOp(DynamicOp):
    """`relax.sum`, `mean`, `max`, `min` or `prod` along axes that are an operand.

    An empty list of axes means all axes, or none with `noop_with_empty_axes` (ONNX ReduceSum and
    others).
    """

    name = "relax.dyn.reduce"
    STATIC: ClassVar[type[TensorOp]] = ReductionOp
    REDUCTIONS: ClassVar[dict[str, type[ReductionOp]]] = {
        "sum": SumOp,
        "mean": MeanOp,
        "max": MaxOp,
        "min": MinOp,
        "prod": ProdOp,
    }

    data = operand_def(TENSOR)
    axes = operand_def(TENSOR)
    reduction = string_prop("sum")
    keepdims = bool_prop(True)
    noop_with_empty_axes = bool_prop(False)
    result = result_def(TENSOR)

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        (axes,) = values
        all_axes = not axes and not self.noop_with_empty_axes
        return self.REDUCTIONS[self.reduction](
            *inputs,
            axis=None if all_axes else axes,
            keepdims=self.keepdims,
            result_types=result_types,
        )

    def infer_types(self) -> Sequence[Attribute]:
        check_choice("reduction", self.reduction, [*self.REDUCTIONS])
        return super().infer_types()

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        shape = shape_of(type)
        if self.keepdims:
            ones = None if shape is None else tuple(d if d == 1 else DYNAMIC_INDEX for d in shape)
            return (with_shape(type, ones),)
        ranks = (rank_of(type), *lengths)
        if DYNAMIC_INDEX in ranks:
            return unknown_shape(type, DYNAMIC_INDEX)
        if lengths[0] > ranks[0]:
            raise VerifyException(f"{type} has less than {lengths[0]} dimensions")
        return unknown_shape(type, ranks[0] - lengths[0])


class DynamicScanOp(DynamicOp, ABC):
    """A scan along an axis that is an operand."""

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    exclusive = bool_prop(False)
    reverse = bool_prop(False)
    result = result_def(TENSOR)

    def arguments(self, *values: Sequence[int]) -> dict[str, PropertyValue]:
        return {"axis": single_integer(*values)}

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return (type,)


@irdl_op_definition
class DynamicCumsumOp(DynamicScanOp):
    """`relax.cumsum` along an axis that is an operand (ONNX CumSum)."""

    name = "relax.dyn.cumsum"
    STATIC: ClassVar[type[TensorOp]] = CumsumOp


@irdl_op_definition
class DynamicCumprodOp(DynamicScanOp):
    """`relax.cumprod` along an axis that is an operand."""

    name = "relax.dyn.cumprod"
    STATIC: ClassVar[type[TensorOp]] = CumprodOp


@irdl_op_definition
class DynamicTopkOp(DynamicOp):
    """`relax.topk` with a number of elements that is an operand (ONNX TopK)."""

    name = "relax.dyn.topk"
    STATIC: ClassVar[type[TensorOp]] = TopkOp

    data = operand_def(TENSOR)
    k = operand_def(TENSOR)
    axis = int_prop(-1)
    largest = bool_prop(True)
    sorted = bool_prop(True)
    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def arguments(self, *values: Sequence[int]) -> dict[str, PropertyValue]:
        return {"k": single_integer(*values)}

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        if (shape := shape_of(type)) is not None:
            axis = normalize_axis(self.axis, len(shape))
            type = with_shape(type, replace_dimension(shape, axis, DYNAMIC_INDEX))
        return (type, with_element(type, i64))
