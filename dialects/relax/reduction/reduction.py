"""Reductions along axes: sum, mean, max, min, prod, any, all, argmax, argmin."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import PropertyValue, bool_prop, opt_int_prop, opt_ints_prop
from ..base import OneResultOp, define
from ..interfaces import Conversion, LayoutRule, Reduction, convert_axes, first_relayout
from ..layout import Relayout
from ..shapes import normalize_axes, normalize_axis, reduce, shape_text
from ..types import (
    TENSOR,
    Tensor,
    check_bool,
    check_number,
    number_type,
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


class ReductionOp(LayoutRule, Reduction, OneResultOp, ABC):
    """A reduction along the axes `axis`; without `axis`, along all.

    With `keepdims` the reduced dimensions stay, with size 1. An empty list means no axis (ONNX:
    noop_with_empty_axes).
    """

    input = operand_def(TENSOR)
    axis = opt_ints_prop()
    keepdims = bool_prop(False)

    CHECK: ClassVar[Callable[[Tensor], None]] = check_number
    """The check of the type of the operand."""

    def infer_types(self) -> Sequence[Attribute]:
        type(self).CHECK(operand := tensor_type(self.input))
        return (reduced_type(operand, self.axis, self.keepdims),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        axes: Sequence[int] = range(relayout.rank)
        properties: dict[str, PropertyValue] = {}
        if self.axis is not None:
            axes = normalize_axes(self.axis, relayout.rank)
            properties["axis"] = convert_axes(relayout, self.axis, splits=True)
        result = _reduced(relayout, axes, self.keepdims)
        return Conversion([relayout], [result], properties)


def _reduced(relayout: Relayout, axes: Sequence[int], keepdims: bool) -> Relayout | None:
    """Return the relayout of a tensor after a reduction along `axes`."""
    return relayout.with_ones(relayout.axes(axes)) if keepdims else relayout.without(axes)


def reduced_type(type: Tensor, axes: Sequence[int] | None, keepdims: bool) -> Tensor:
    """Return the type of a tensor after a reduction along `axes`; along all if None."""
    shape = shape_of(type)
    if shape is None:
        return with_shape(type, () if axes is None and not keepdims else None)
    return with_shape(type, reduce(shape, axes, keepdims))


@irdl_op_definition
class SumOp(ReductionOp):
    """The sum; f16 and bf16 are accumulated in f32."""

    name = "relax.sum"


@irdl_op_definition
class MeanOp(ReductionOp):
    """The mean; for integers, the sum is computed in 64 bits, the mean truncated toward zero."""

    name = "relax.mean"


@irdl_op_definition
class MaxOp(ReductionOp):
    """The maximum; NaN if any element is NaN (ONNX ReduceMax).

    Over an empty range -inf, or the minimum of an integer type.
    """

    name = "relax.max"


@irdl_op_definition
class MinOp(ReductionOp):
    """The minimum; NaN if any element is NaN (ONNX ReduceMin).

    Over an empty range inf, or the maximum of an integer type.
    """

    name = "relax.min"


@irdl_op_definition
class ProdOp(ReductionOp):
    """The product; f16 and bf16 are accumulated in f32."""

    name = "relax.prod"


class BoolReductionOp(ReductionOp, ABC):
    """A reduction of i1 elements."""

    CHECK: ClassVar = check_bool


bool_reduction = partial(define, __name__, BoolReductionOp)

AnyOp = bool_reduction("relax.any", "The logical or of the elements; false over an empty range.")
AllOp = bool_reduction("relax.all", "The logical and of the elements; true over an empty range.")


class ArgReductionOp(LayoutRule, Reduction, OneResultOp, ABC):
    """The index (i64) of an extremum along `axis`; without `axis`, in the flattened tensor.

    Of equal elements the first counts, with `select_last_index` the last (ONNX ArgMax).
    """

    input = operand_def(TENSOR)
    axis = opt_int_prop()
    keepdims = bool_prop(False)
    select_last_index = bool_prop(False)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.input)
        axes = None if self.axis is None else [self.axis]
        if (shape := shape_of(type)) is not None:
            over = shape if axes is None else [shape[normalize_axis(axes[0], len(shape))]]
            if 0 in over:
                where = "" if axes is None else f" along axis {axes[0]}"
                raise VerifyException(f"shape {shape_text(shape)} has no elements{where}")
        return (with_element(reduced_type(type, axes, self.keepdims), i64),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        properties = {"axis": convert_axes(relayout, self.axis)}
        axes = () if self.axis is None else normalize_axes([self.axis], relayout.rank)
        result = _reduced(relayout, axes, self.keepdims)
        return Conversion([relayout], [result], properties)


arg_reduction = partial(define, __name__, ArgReductionOp)

ArgmaxOp = arg_reduction("relax.argmax", "The index of the maximum; NaN counts as the maximum.")
ArgminOp = arg_reduction("relax.argmin", "The index of the minimum; NaN counts as the minimum.")
