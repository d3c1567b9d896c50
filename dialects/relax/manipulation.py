"""Operations that move elements without computing with them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from .attributes import string_prop
from .base import TensorOp
from .interfaces import Injective
from .layout import Layout
from .types import TENSOR, check_number, shape_of, tensor_type, with_shape

__all__ = ["LayoutTransformOp"]


@irdl_op_definition
class LayoutTransformOp(Injective, TensorOp):
    """A tensor with dimensions permuted, split and joined (`relay.layout_transform`)."""

    name = "relax.layout_transform"

    input = operand_def(TENSOR)
    src_layout = string_prop()
    dst_layout = string_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        src, dst = Layout.parse(self.src_layout.data), Layout.parse(self.dst_layout.data)
        return (with_shape(type, src.transform(shape_of(type), dst)),)
