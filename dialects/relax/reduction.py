"""Operations that make one element of many."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from .attributes import PropertyValue, bool_prop, opt_int_prop, opt_ints_prop
from .base import TensorOp
from .interfaces import Conversion, LayoutRule, Reduction, axes_in, of_first
from .layout import Relayout
from .shapes import normalize_axes, normalize_axis, reduce, shape_text
from .types import (
    TENSOR,
    Tensor,
    check_bool,
    check_number,
    shape_of,
    tensor_type,
    with_element,
    with_shape,
)

__all__ = [
    "AllOp",
    "AnyOp",
    "ArgReductionOp",
    "ArgmaxOp",
    "ArgminOp",
    "MaxOp",
    "MeanOp",
    "MinOp",
    "ProdOp",
    "ReductionOp",
    "SumOp",
    "reduced_type",
]


class ReductionOp(LayoutRule, Reduction, TensorOp, ABC):
    """A function of the elements along the axes `axis`, all if it is absent; with `keepdims` these
    stay with size 1. An empty list names no axis (ONNX: noop_with_empty_axes)."""

    input = operand_def(TENSOR)
    axis = opt_ints_prop()
    keepdims = bool_prop(False)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        axes = None if self.axis is None else self.axis
        return (reduced_type(type, axes, self.keepdims),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = of_first(relayouts)
        axes: Sequence[int] = range(relayout.rank)
        properties: dict[str, PropertyValue] = {}
        if self.axis is not None:
            axes = normalize_axes(self.axis, relayout.rank)
            properties["axis"] = axes_in(relayout, self.axis, splits=True)
        result = _reduced(relayout, axes, self.keepdims)
        return Conversion([relayout], [result], properties)


def _reduced(relayout: Relayout, axes: Sequence[int], keepdims: bool) -> Relayout | None:
    return relayout.with_ones(relayout.axes(axes)) if keepdims else relayout.without(axes)


def reduced_type(type: Tensor, axes: Sequence[int] | None, keepdims: bool) -> Tensor:
    """The type of a tensor without some axes, all if None."""
    shape = shape_of(type)
    if shape is None:
        return with_shape(type, () if axes is None and not keepdims else None)
    return with_shape(type, reduce(shape, axes, keepdims))


@irdl_op_definition
class SumOp(ReductionOp):
    """Sum; of f16 and bf16, accumulated in f32."""

    name = "relax.sum"


@irdl_op_definition
class MeanOp(ReductionOp):
    """Mean; of integers, truncated toward zero, their sum taken in 64 bits."""

    name = "relax.mean"


@irdl_op_definition
class MaxOp(ReductionOp):
    """The greatest; NaN if one is NaN. Of none, -inf or the least integer (ONNX ReduceMax)."""

    name = "relax.max"


@irdl_op_definition
class MinOp(ReductionOp):
    """The least; NaN if one is NaN. Of none, inf or the greatest integer (ONNX ReduceMin)."""

    name = "relax.min"


@irdl_op_definition
class ProdOp(ReductionOp):
    """Product; of f16 and bf16, accumulated in f32."""

    name = "relax.prod"


class BoolReductionOp(ReductionOp, ABC):
    """A function of i1 elements."""

    def infer_types(self) -> Sequence[Attribute]:
        check_bool(tensor_type(self.input))
        return super().infer_types()


@irdl_op_definition
class AnyOp(BoolReductionOp):
    """Whether one is true; of none, false."""

    name = "relax.any"


@irdl_op_definition
class AllOp(BoolReductionOp):
    """Whether all are true; of none, true."""

    name = "relax.all"


class ArgReductionOp(LayoutRule, Reduction, TensorOp, ABC):
    """An index (i64) along `axis`, or in the flattened tensor if it is absent.

    It is the first one that fits, the last one with `select_last_index` (ONNX ArgMax).
    """

    input = operand_def(TENSOR)
    axis = opt_int_prop()
    keepdims = bool_prop(False)
    select_last_index = bool_prop(False)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        axes = None if self.axis is None else [self.axis]
        if (shape := shape_of(type)) is not None:
            over = shape if axes is None else [shape[normalize_axis(axes[0], len(shape))]]
            if 0 in over:
                where = "" if axes is None else f" along axis {axes[0]}"
                raise VerifyException(f"shape {shape_text(shape)} has no element{where}")
        return (with_element(reduced_type(type, axes, self.keepdims), i64),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = of_first(relayouts)
        properties = {"axis": axes_in(relayout, self.axis)}
        axes = () if self.axis is None else normalize_axes([self.axis], relayout.rank)
        result = _reduced(relayout, axes, self.keepdims)
        return Conversion([relayout], [result], properties)


@irdl_op_definition
class ArgmaxOp(ArgReductionOp):
    """The index of the greatest; NaN counts as greatest."""

    name = "relax.argmax"


@irdl_op_definition
class ArgminOp(ArgReductionOp):
    """The index of the least; NaN counts as least."""

    name = "relax.argmin"
