"""Operations that move elements without computing with them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from .base import RelaxOp
from .interfaces import InfersType
from .layout import Layout
from .types import TENSOR, Tensor, check_number, shape_of, tensor_type, with_shape

__all__ = ["LayoutTransformOp"]


@irdl_op_definition
class LayoutTransformOp(InfersType, RelaxOp):
    """A tensor with dimensions permuted, split and joined (`relay.layout_transform`)."""

    name = "relax.layout_transform"

    input = operand_def(TENSOR)
    src_layout = prop_def(StringAttr)
    dst_layout = prop_def(StringAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$input attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        input: SSAValue | Operation,
        src_layout: str,
        dst_layout: str,
        result_type: Attribute | None = None,
    ):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            properties={"src_layout": StringAttr(src_layout), "dst_layout": StringAttr(dst_layout)},
            result_types=[result_type or transformed_type(input, src_layout, dst_layout)],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return (transformed_type(self.input, self.src_layout.data, self.dst_layout.data),)


def transformed_type(input: SSAValue, src_layout: str, dst_layout: str) -> Tensor:
    """The type in layout `dst_layout` of a tensor in layout `src_layout`."""
    check_number(type := tensor_type(input))
    src, dst = Layout.parse(src_layout), Layout.parse(dst_layout)
    if (shape := shape_of(type)) is None:
        shape = (DYNAMIC_INDEX,) * len(src.axes)
    return with_shape(type, src.transform(shape, dst))
