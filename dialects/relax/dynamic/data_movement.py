"""Reshapes, broadcasts, slices and parts with parameters that are operands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from ...numbers import Number, equal, non_negative, select
from ..attributes import bool_prop, int_prop, opt_int_prop
from ..base import OneResultOp, TensorOp
from ..constant import constant_integers
from ..data.concatenation import SplitOp, check_results
from ..data.indexing import StridedSliceOp
from ..data.manipulation import BroadcastToOp, ExpandDimsOp, ReshapeOp, SqueezeOp, TileOp
from ..dimensions import (
    Dimensions,
    Facts,
    along_axes,
    axes_of,
    dimensions_of,
    is_axis,
    kept,
    number_in,
    numbers_of,
    reshaped,
    sizes_of,
)
from ..shapes import broadcast, is_static, normalize_axis, replace_dimension, slice_length
from ..types import TENSOR, Tensor, number_type, shape_of, tensor_type, with_shape
from .computation import DynamicOp, Properties, parameter_length

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
class DynamicReshapeOp(DynamicOp, OneResultOp):
    """`relax.reshape` to a shape that is an operand."""

    name = "relax.dyn.reshape"
    STATIC: ClassVar[type[TensorOp]] = ReshapeOp

    data = operand_def(TENSOR)
    newshape = operand_def(TENSOR)
    allowzero = bool_prop(False)

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        target = numbers_of(facts, self.newshape)
        shape = dimensions_of(facts, self.data)
        return [None if target is None else reshaped(shape, target, self.allowzero)]


@irdl_op_definition
class DynamicSqueezeOp(DynamicOp, OneResultOp):
    """`relax.squeeze` of axes that are an operand."""

    name = "relax.dyn.squeeze"
    STATIC: ClassVar[type[TensorOp]] = SqueezeOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        if (shape := dimensions_of(facts, self.data)) is None:
            return [None]
        axes = axes_of(facts, self.axis, len(shape))
        return [None if axes is None else kept(shape, along_axes(axes, len(shape)), len(axes))]


@irdl_op_definition
class DynamicExpandDimsOp(DynamicOp, OneResultOp):
    """`relax.expand_dims` at axes that are an operand."""

    name = "relax.dyn.expand_dims"
    STATIC: ClassVar[type[TensorOp]] = ExpandDimsOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        shape, axes = dimensions_of(facts, self.data), numbers_of(facts, self.axis)
        if shape is None or axes is None:
            return [None]
        result: list[Number] = []
        place: Number = 0
        for is_new in along_axes(axes, len(shape) + len(axes)):
            old: Number = 1
            for number, size in enumerate(shape):
                old = select(equal(place, number), size, old)
            result.append(select(is_new, 1, old))
            place = place + select(is_new, 0, 1)
        return [result]


@irdl_op_definition
class DynamicBroadcastToOp(DynamicOp, OneResultOp):
    """`relax.broadcast_to` to a shape that is an operand."""

    name = "relax.dyn.broadcast_to"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)


@irdl_op_definition
class DynamicExpandOp(DynamicOp, OneResultOp):
    """A tensor broadcast with a shape that is an operand, in both directions (ONNX Expand).

    Unlike `relax.dyn.broadcast_to`, a dimension of the shape may be 1 where that of the data is
    larger.
    """

    name = "relax.dyn.expand"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)

    def static_properties(self, type: Tensor, *values: Sequence[int]) -> Properties | None:
        (target,), shape = values, shape_of(type)
        both = None if shape is None else broadcast(shape, (*target,))
        return None if both is None or not is_static(both) else {"shape": both}

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        shape, given = dimensions_of(facts, self.data), numbers_of(facts, self.shape)
        if shape is None or given is None:
            return [None]
        result = broadcast(sizes_of(shape), sizes_of([*map(non_negative, given)]))
        return [[*map(number_in, result)]]


@irdl_op_definition
class DynamicTileOp(DynamicOp, OneResultOp):
    """`relax.tile` with repetitions that are an operand."""

    name = "relax.dyn.tile"
    STATIC: ClassVar[type[TensorOp]] = TileOp

    data = operand_def(TENSOR)
    reps = operand_def(TENSOR)

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        shape, reps = dimensions_of(facts, self.data), numbers_of(facts, self.reps)
        if shape is None or reps is None:
            return [None]
        rank = max(len(shape), len(reps))
        sizes, numbers = ((*(1,) * (rank - len(row)), *row) for row in (shape, reps))
        return [[non_negative(size * n) for size, n in zip(sizes, numbers, strict=True)]]


@irdl_op_definition
class DynamicStridedSliceOp(DynamicOp, OneResultOp):
    """`relax.strided_slice` with bounds, axes and strides that are operands."""

    name = "relax.dyn.strided_slice"
    STATIC: ClassVar[type[TensorOp]] = StridedSliceOp

    data = operand_def(TENSOR)
    begin = operand_def(TENSOR)
    end = operand_def(TENSOR)
    axes = operand_def(TENSOR)
    strides = operand_def(TENSOR)

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        lengths = [parameter_length(value) for value in self.operands[1:]]
        if len({length for length in lengths if length != DYNAMIC_INDEX}) > 1:
            raise VerifyException("begin, end, axes and strides do not have the same length")
        if (shape := dimensions_of(facts, self.data)) is None:
            return [None]
        if (axes := axes_of(facts, self.axes, len(shape))) is None:
            return [[None] * len(shape)]
        bounds = [self.begin, self.end, self.strides]
        columns = [numbers_of(facts, value, len(axes)) or () for value in bounds]
        rows = [*zip(axes, *columns, strict=False)]

        def along(axis: int, size: Number) -> Number:
            result = size
            for place, *bounds in rows:
                if (here := is_axis(place, axis, len(shape))) is not False:
                    result = select(here, slice_length(size, *bounds), result)
            return result

        return [[along(axis, size) for axis, size in enumerate(shape)]]


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

    def inferred_types(self) -> Sequence[Attribute]:
        return self.infer_types()  # it may read the number of results

    def infer_types(self) -> Sequence[Attribute]:
        parameter_length(self.sizes)
        return self.infer_dynamic()  # parts of a dimension of unknown size have known sizes

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        shape, sizes = dimensions_of(facts, self.data), numbers_of(facts, self.sizes)
        number = len(self.results if sizes is None else sizes)
        if number == 0:
            raise VerifyException("the number of results is unknown or 0")
        check_results(self, number)
        if shape is None:
            return [None] * number
        axis = normalize_axis(self.axis, len(shape))
        known = [size for size in sizes or () if isinstance(size, int)]
        if len(known) == number and isinstance(size := shape[axis], int):
            check_sizes(known, size)
        parts = [None] * number if sizes is None else map(non_negative, sizes)
        return [[*shape[:axis], size, *shape[axis + 1 :]] for size in parts]


def check_sizes(sizes: Sequence[int], size: int) -> None:
    """Raise VerifyException if one of `sizes` is negative, or if they do not add up to `size`."""
    if min(sizes, default=0) < 0 or size not in (sum(sizes), DYNAMIC_INDEX):
        raise VerifyException(f"dimension of size {size} does not split into {[*sizes]}")


@irdl_op_definition
class DynamicCompressOp(OneResultOp):
    """The slices along `axis` where the condition is true (`numpy.compress`, ONNX Compress).

    Without `axis` the data is flattened.
    """

    name = "relax.dyn.compress"
    FROM_SIGNATURE: ClassVar = False

    data = operand_def(TENSOR)
    condition = operand_def(TENSOR)
    axis = opt_int_prop()

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
