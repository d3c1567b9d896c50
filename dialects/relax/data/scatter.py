"""Operations that write elements at computed indices: scatter_elements, scatter_nd."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import (
    check_choice,
    int_prop,
    string_prop,
)
from ..base import OneResultOp
from ..interfaces import Conversion, LayoutRule, convert_axes, first_relayout
from ..layout import Relayout
from ..shapes import (
    Shape,
    merge,
    shape_text,
)
from ..types import (
    TENSOR,
    Tensor,
    check_indices,
    check_same_element,
    number_type,
    shape_of,
    tensor_type,
)
from .gather import check_along, indexed_shape

__all__ = ["ScatterElementsOp", "ScatterNDOp"]


REDUCTIONS = ("update", "add", "mul", "min", "max")


class ScatterOp(OneResultOp, ABC):
    """The data with elements at some indices replaced by, or combined with, updates.

    `reduction` says how: "update" replaces, the others combine. Several updates of one element are
    applied in order. Negative indices count from the end.
    """

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    updates = operand_def(TENSOR)
    reduction = string_prop("update")

    def check_updates(self, type: Tensor, expected: Shape | None) -> None:
        """Raise VerifyException unless the updates match `type` and the `expected` shape."""
        check_choice("reduction", self.reduction, REDUCTIONS)
        updates = tensor_type(self.updates)
        shape = shape_of(updates)
        check_same_element(type.element_type, updates.element_type)
        if shape is not None and expected is not None and merge(shape, expected) is None:
            raise VerifyException(
                f"updates have shape {shape_text(shape)}, expected {shape_text(expected)}"
            )


@irdl_op_definition
class ScatterElementsOp(LayoutRule, ScatterOp):
    """The data with updates at indices along `axis` (`relax.scatter_elements`)."""

    name = "relax.scatter_elements"

    axis = int_prop(0)

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.data), tensor_type(self.indices)
        check_along(type, indices, self.axis)
        self.check_updates(type, shape_of(indices))
        return (type,)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        return Conversion([relayout] * 3, [relayout], {"axis": convert_axes(relayout, self.axis)})


@irdl_op_definition
class ScatterNDOp(ScatterOp):
    """The data with updates at coordinates, the last axis of `indices` (`relax.scatter_nd`)."""

    name = "relax.scatter_nd"

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.data), tensor_type(self.indices)
        check_indices("indices", indices)
        shape, places = shape_of(type), shape_of(indices)
        expected: Shape | None = None
        if shape is not None and places is not None:
            rest = indexed_shape(shape, places)
            expected = None if rest is None else places[:-1] + rest
        self.check_updates(type, expected)
        return (type,)
