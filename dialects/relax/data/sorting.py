"""Sorting: sort, argsort, topk.

Sorting is stable, in descending order too. NaN is greater than any number.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, int_prop
from ..base import SameTypeOp, TensorOp
from ..interfaces import AlongAxes
from ..shapes import normalize_axis, shape_text
from ..types import TENSOR, number_type, shape_of, tensor_type, with_element, with_shape

__all__ = ["ArgsortOp", "SortOp", "SortingOp", "TopkOp"]


class SortingOp(AlongAxes, SameTypeOp, ABC):
    """An operation that sorts the elements along `axis`, in ascending order unless `descending`."""

    AXES: ClassVar = ("axis",)

    data = operand_def(TENSOR)
    axis = int_prop(-1)
    descending = bool_prop(False)


@irdl_op_definition
class SortOp(SortingOp):
    """The elements in sorted order."""

    name = "relax.sort"


@irdl_op_definition
class ArgsortOp(SortingOp):
    """The indices (i64) of the elements in sorted order."""

    name = "relax.argsort"

    def infer_types(self) -> Sequence[Attribute]:
        super().infer_types()
        return (with_element(tensor_type(self.data), i64),)


@irdl_op_definition
class TopkOp(AlongAxes, TensorOp):
    """The `k` largest elements along `axis`, or the smallest, and their indices (i64).

    `k` below 1 selects all elements, as in TVM. Equal elements keep their order. Without `sorted`
    any order of the results is allowed, as in ONNX TopK.
    """

    AXES: ClassVar = ("axis",)

    name = "relax.topk"

    data = operand_def(TENSOR)
    k = int_prop(1)
    axis = int_prop(-1)
    largest = bool_prop(True)
    sorted = bool_prop(True)
    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        k = self.k
        if (shape := shape_of(type)) is not None:
            axis = normalize_axis(self.axis, len(shape))
            if k > shape[axis] != DYNAMIC_INDEX:
                raise VerifyException(
                    f"k is {k}, but axis {axis} of {shape_text(shape)} has size {shape[axis]}"
                )
            size = shape[axis] if k < 1 else k
            type = with_shape(type, (*shape[:axis], size, *shape[axis + 1 :]))
        return (type, with_element(type, i64))
