"""Operations that read elements at computed indices: take, gather, gather_nd, nonzero."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from .attributes import (
    check_choice,
    int_prop,
    opt_int_prop,
    string_prop,
)
from .base import TensorOp
from .interfaces import Conversion, Injective, LayoutRule, axes_in, of_first
from .layout import Relayout
from .shapes import (
    Shape,
    merge,
    normalize_axis,
    num_elements,
    replace_dimension,
    shape_text,
)
from .types import TENSOR, Tensor, check_indices, number_type, shape_of, tensor_type, with_shape

__all__ = ["GatherNDOp", "GatherOp", "NonzeroOp", "TakeOp"]


MODES = ("clip", "wrap", "fast")


@irdl_op_definition
class TakeOp(LayoutRule, Injective, TensorOp):
    """The slices of `x` along `axis` at the indices; without one, elements of it flattened
    (`numpy.take`, `relax.take`, ONNX Gather).

    Indices that are out of range are brought into it: by "clip" to the nearest, by "wrap" modulo
    the size. With "fast" there must be none; it is computed as "clip".
    """

    name = "relax.take"

    x = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    axis = opt_int_prop()
    mode = string_prop("clip")
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.x), tensor_type(self.indices)
        check_indices("indices", indices)
        check_choice("mode", self.mode, MODES)
        shape, places = shape_of(type), shape_of(indices)
        if self.axis is None:
            size = DYNAMIC_INDEX if shape is None else num_elements(shape)
            shape, axis = (size,), 0
        elif shape is None:
            return (type,)
        else:
            axis = normalize_axis(self.axis, len(shape))
        if shape[axis] == 0 and places is not None and num_elements(places) > 0:
            raise VerifyException(f"dimension {axis} has no elements to take")
        return (
            with_shape(type, places if places is None else replace_dimension(shape, axis, *places)),
        )

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout, places = of_first(relayouts), shape_of(tensor_type(self.indices))
        properties = {"axis": axes_in(relayout, self.axis)}
        if self.axis is None or places is None or len(places) > 1:
            raise VerifyException("it adds dimensions")
        axis = normalize_axis(self.axis, relayout.rank)
        return Conversion(
            [relayout, None], [relayout if places else relayout.without([axis])], properties
        )


@irdl_op_definition
class GatherOp(LayoutRule, Injective, TensorOp):
    """The elements at the indices along `axis` (`numpy.take_along_axis`, ONNX GatherElements).

    The indices have the shape of the result, smaller than that of the data along other axes, or the
    same; negative ones count from the end.
    """

    name = "relax.gather"

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    axis = int_prop(0)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.data), tensor_type(self.indices)
        check_along(type, indices, self.axis)
        return (with_shape(type, shape_of(indices)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = of_first(relayouts)
        return Conversion([relayout] * 2, [relayout], {"axis": axes_in(relayout, self.axis)})


def check_along(data: Tensor, indices: Tensor, axis: int) -> None:
    """VerifyException unless the indices can be places along an axis of the data."""
    check_indices("indices", indices)
    shape, places = shape_of(data), shape_of(indices)
    for known in (shape, places):
        if known is not None:
            axis = normalize_axis(axis, len(known))
    if shape is None or places is None:
        return
    pairs = enumerate(zip(places, shape, strict=False))
    within = all(a <= b or b == DYNAMIC_INDEX for i, (a, b) in pairs if i != axis)
    if len(shape) != len(places) or not within:
        raise VerifyException(
            f"indices of shape {shape_text(places)} do not fit shape {shape_text(shape)} "
            f"along axis {axis}: no other dimension may be greater"
        )


@irdl_op_definition
class GatherNDOp(Injective, TensorOp):
    """The parts of the data at the coordinates that stand along the last axis of `indices`
    (`relax.gather_nd`, ONNX GatherND).

    Coordinates are of the dimensions after the first `batch_dims`, which go with those of the
    indices; negative ones count from the end.
    """

    name = "relax.gather_nd"

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    batch_dims = int_prop(0)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.data), tensor_type(self.indices)
        check_indices("indices", indices)
        shape, places, batch = shape_of(type), shape_of(indices), self.batch_dims
        if batch < 0:
            raise VerifyException(f"batch_dims is {batch}")
        if shape is None or places is None:
            return (with_shape(type, None),)
        if merge(shape[:batch], places[:-1][:batch]) is None:
            raise VerifyException(
                f"the first {batch} dimensions of shapes {shape_text(shape)} and "
                f"{shape_text(places)} are not the same"
            )
        if (rest := after_coordinates(shape[batch:], places)) is None:
            return (with_shape(type, None),)
        return (with_shape(type, shape[:batch] + places[batch:-1] + rest),)


def after_coordinates(shape: Shape, places: Shape) -> Shape | None:
    """The dimensions after those that a coordinate is of; None if it is not known of how many."""
    if not places:
        raise VerifyException("indices are a scalar, which has no coordinates")
    if places[-1] == DYNAMIC_INDEX:
        return None
    if not 1 <= places[-1] <= len(shape):
        raise VerifyException(
            f"indices of shape {shape_text(places)} are coordinates of {places[-1]} dimensions, "
            f"where there are {len(shape)}"
        )
    return shape[places[-1] :]


@irdl_op_definition
class NonzeroOp(TensorOp):
    """The indices of the elements that are not zero, a column each (`numpy.nonzero`, ONNX NonZero).

    A scalar gives columns of no elements.
    """

    name = "relax.nonzero"

    x = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        shape = shape_of(number_type(self.x))
        rank = DYNAMIC_INDEX if shape is None else len(shape)
        return (TensorType(i64, (rank, DYNAMIC_INDEX)),)
