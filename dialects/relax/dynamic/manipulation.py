"""Reshapes, broadcasts, slices and parts with parameters that are operands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, int_prop, opt_int_prop
from ..base import TensorOp
from ..constant import constant_integers
from ..data.reshape import ExpandDimsOp, ReshapeOp, SqueezeOp
from ..data.split import SplitOp, check_results
from ..data.strided_slice import StridedSliceOp
from ..elementwise.broadcast import BroadcastToOp, TileOp
from ..shapes import (
    Shape,
    broadcast,
    check_rank,
    is_static,
    normalize_axes,
    normalize_axis,
    replace_dimension,
)
from ..types import TENSOR, Tensor, number_type, shape_of, tensor_type, with_shape
from .base import DynamicOp, Properties, parameter_length, rank_of, unknown_shape

__all__ = [
    "DynamicBroadcastToOp",
    "DynamicCompressOp",
    "DynamicExpandDimsOp",
    "DynamicExpandOp",
    "DynamicReshapeOp",
    "DynamicSplitOp",
    "DynamicSqueezeOp",
    "DynamicStridedSliceOp",
    "DynamicTileOp",
]


@irdl_op_definition
class DynamicReshapeOp(DynamicOp):
    """`relax.reshape` to a shape that is an operand."""

    name = "relax.dyn.reshape"
    STATIC: ClassVar[type[TensorOp]] = ReshapeOp

    data = operand_def(TENSOR)
    newshape = operand_def(TENSOR)
    allowzero = bool_prop(False)
    result = result_def(TENSOR)


@irdl_op_definition
class DynamicSqueezeOp(DynamicOp):
    """`relax.squeeze` of axes that are an operand."""

    name = "relax.dyn.squeeze"
    STATIC: ClassVar[type[TensorOp]] = SqueezeOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        (length,), rank = lengths, rank_of(type)
        if DYNAMIC_INDEX in (rank, length):
            return unknown_shape(type, DYNAMIC_INDEX)
        if length > rank:
            raise VerifyException(f"cannot squeeze {length} dimensions of {type}")
        return unknown_shape(type, rank - length)


@irdl_op_definition
class DynamicExpandDimsOp(DynamicOp):
    """`relax.expand_dims` at axes that are an operand."""

    name = "relax.dyn.expand_dims"
    STATIC: ClassVar[type[TensorOp]] = ExpandDimsOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        ranks = (rank_of(type), *lengths)
        return unknown_shape(type, DYNAMIC_INDEX if DYNAMIC_INDEX in ranks else sum(ranks))


@irdl_op_definition
class DynamicBroadcastToOp(DynamicOp):
    """`relax.broadcast_to` to a shape that is an operand."""

    name = "relax.dyn.broadcast_to"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)


@irdl_op_definition
class DynamicExpandOp(DynamicOp):
    """A tensor broadcast with a shape that is an operand, in both directions (ONNX Expand).

    Unlike `relax.dyn.broadcast_to`, a dimension of the shape may be 1 where that of the data is
    larger.
    """

    name = "relax.dyn.expand"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)

    def static_properties(self, type: Tensor, *values: Sequence[int]) -> Properties | None:
        shape = broadcast_both(type, *values)
        return None if shape is None or not is_static(shape) else {"shape": shape}

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        target = constant_integers(self.shape)
        if target is None and DYNAMIC_INDEX not in lengths:
            check_rank(lengths[0])
            target = (DYNAMIC_INDEX,) * lengths[0]
        return (with_shape(type, None if target is None else broadcast_both(type, target)),)


def broadcast_both(type: Tensor, target: Sequence[int]) -> Shape | None:
    """Return the result shape of `relax.dyn.expand`; None if `type` is unranked."""
    shape = shape_of(type)
    return None if shape is None else broadcast(shape, (*target,))


@irdl_op_definition
class DynamicTileOp(DynamicOp):
    """`relax.tile` with repetitions that are an operand."""

    name = "relax.dyn.tile"
    STATIC: ClassVar[type[TensorOp]] = TileOp

    data = operand_def(TENSOR)
    reps = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        ranks = (rank_of(type), *lengths)
        return unknown_shape(type, DYNAMIC_INDEX if DYNAMIC_INDEX in ranks else max(ranks))


@irdl_op_definition
class DynamicStridedSliceOp(DynamicOp):
    """`relax.strided_slice` with bounds, axes and strides that are operands."""

    name = "relax.dyn.strided_slice"
    STATIC: ClassVar[type[TensorOp]] = StridedSliceOp

    data = operand_def(TENSOR)
    begin = operand_def(TENSOR)
    end = operand_def(TENSOR)
    axes = operand_def(TENSOR)
    strides = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        if len({length for length in lengths if length != DYNAMIC_INDEX}) > 1:
            raise VerifyException("begin, end, axes and strides do not have the same length")
        if (shape := shape_of(type)) is None:
            return (type,)
        axes = constant_integers(self.axes)
        sliced = range(len(shape)) if axes is None else normalize_axes(axes, len(shape))
        result = (DYNAMIC_INDEX if i in sliced else d for i, d in enumerate(shape))
        return (with_shape(type, tuple(result)),)


@irdl_op_definition
class DynamicSplitOp(DynamicOp):
    """The parts of a tensor along `axis`, with sizes that are an operand (ONNX Split)."""

    name = "relax.dyn.split"
    STATIC: ClassVar[type[TensorOp]] = SplitOp

    data = operand_def(TENSOR)
    sizes = operand_def(TENSOR)
    axis = int_prop(0)
    parts = var_result_def(TENSOR)

    def static_properties(self, type: Tensor, *values: Sequence[int]) -> Properties:
        (sizes,) = values
        if shape := shape_of(type):
            check_sizes(sizes, shape[normalize_axis(self.axis, len(shape))])
        return {**self.properties, "indices": [*accumulate(sizes[:-1])]}

    def infer_types(self) -> Sequence[Attribute]:
        type, number = number_type(self.data), parameter_length(self.sizes)
        sizes, shape = constant_integers(self.sizes), shape_of(type)
        axis = 0 if shape is None else normalize_axis(self.axis, len(shape))
        if sizes is not None and shape is not None:
            check_sizes(sizes, shape[axis])
        number = len(self.results) if number == DYNAMIC_INDEX else number
        if number == 0:
            raise VerifyException("the number of results is unknown or 0")
        check_results(self, number)
        sizes = (DYNAMIC_INDEX,) * number if sizes is None else sizes
        return [with_shape(type, shape and replace_dimension(shape, axis, size)) for size in sizes]

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return self.infer_types()


def check_sizes(sizes: Sequence[int], size: int) -> None:
    """Raise VerifyException if one of `sizes` is negative, or if they do not add up to `size`."""
    if min(sizes, default=0) < 0 or size not in (sum(sizes), DYNAMIC_INDEX):
        raise VerifyException(f"dimension of size {size} does not split into {[*sizes]}")


@irdl_op_definition
class DynamicCompressOp(TensorOp):
    """The slices along `axis` where the condition is true (`numpy.compress`, ONNX Compress).

    Without `axis` the data is flattened.
    """

    name = "relax.dyn.compress"
    FROM_SIGNATURE: ClassVar = False

    data = operand_def(TENSOR)
    condition = operand_def(TENSOR)
    axis = opt_int_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type, condition = number_type(self.data), tensor_type(self.condition)
        length = shape_of(condition)
        if condition.element_type != i1 or (length is not None and len(length) != 1):
            raise VerifyException(f"condition is {condition}, expected a vector of i1")
        mask = constant_integers(self.condition)
        number = DYNAMIC_INDEX if mask is None else sum(map(bool, mask))
        if self.axis is None:
            return (with_shape(type, (number,)),)
        if (shape := shape_of(type)) is None:
            return (type,)
        axis = normalize_axis(self.axis, len(shape))
        return (with_shape(type, replace_dimension(shape, axis, number)),)
