"""Scans: cumulative sums and products along an axis (TVM `topi/scan.py`)."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from ..attributes import bool_prop, opt_int_prop
from ..base import SameTypeOp
from ..interfaces import AlongAxes
from ..shapes import num_elements
from ..types import TENSOR, number_type, shape_of, with_shape

__all__ = ["CumprodOp", "CumsumOp", "CumulativeOp"]


class CumulativeOp(AlongAxes, SameTypeOp, ABC):
    """A cumulative reduction along `axis`; without `axis`, of the flattened tensor.

    With `exclusive` an element is not part of its own result; `reverse` accumulates from the end
    (ONNX CumSum).
    """

    AXES: ClassVar = ("axis",)

    input = operand_def(TENSOR)
    axis = opt_int_prop()
    exclusive = bool_prop(False)
    reverse = bool_prop(False)

    def infer_types(self) -> Sequence[Attribute]:
        if self.axis is not None:
            return super().infer_types()
        shape = shape_of(type := number_type(self.input))
        size = DYNAMIC_INDEX if shape is None else num_elements(shape)
        return (with_shape(type, (size,)),)


@irdl_op_definition
class CumsumOp(CumulativeOp):
    """The cumulative sum; f16 and bf16 are accumulated in f32."""

    name = "relax.cumsum"


@irdl_op_definition
class CumprodOp(CumulativeOp):
    """The cumulative product; f16 and bf16 are accumulated in f32."""

    name = "relax.cumprod"
