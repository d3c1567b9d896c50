"""Operations that read elements at computed indices: take, gather, gather_nd, nonzero."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import (
    check_choice,
    int_prop,
    opt_int_prop,
    string_prop,
)
from ..base import OneResultOp
from ..interfaces import Conversion, Injective, LayoutRule, convert_axes, first_relayout
from ..layout import Relayout
from ..shapes import (
    Shape,
    merge,
    normalize_axis,
    num_elements,
    replace_dimension,
    shape_text,
)
from ..types import TENSOR, Tensor, check_indices, number_type, shape_of, tensor_type, with_shape

__all__ = ["GatherNDOp", "GatherOp", "NonzeroOp", "TakeOp"]


MODES = ("clip", "wrap", "raise", "fast")


@irdl_op_definition
class TakeOp(LayoutRule, Injective, OneResultOp):
    """The slices of `x` at `indices` along `axis` (`numpy.take`, `relax.take`, ONNX Gather).

    Without `axis`, `x` is flattened. `mode` says what happens to an index out of range: "clip"
    takes the nearest valid index, "wrap" the index modulo the size. With "raise", negative indices
    count from the end, and any other index out of range is an error at run time. "fast" promises
    that there is none, and is computed as "clip".
    """

    name = "relax.take"

    x = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    axis = opt_int_prop()
    mode = string_prop("clip")

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
        relayout, places = first_relayout(relayouts), shape_of(tensor_type(self.indices))
        properties = {"axis": convert_axes(relayout, self.axis)}
        if self.axis is None or places is None or len(places) > 1:
            raise VerifyException("the indices add dimensions")
        axis = normalize_axis(self.axis, relayout.rank)
        return Conversion(
            [relayout, None], [relayout if places else relayout.without([axis])], properties
        )


@irdl_op_definition
class GatherOp(LayoutRule, Injective, OneResultOp):
    """The elements at `indices` along `axis` (`numpy.take_along_axis`, ONNX GatherElements).

    The indices have the shape of the result, whose dimensions other than `axis` are at most those
    of the data. Negative indices count from the end.
    """

    name = "relax.gather"

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    axis = int_prop(0)

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.data), tensor_type(self.indices)
        check_along(type, indices, self.axis)
        return (with_shape(type, shape_of(indices)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        return Conversion([relayout] * 2, [relayout], {"axis": convert_axes(relayout, self.axis)})


def check_along(data: Tensor, indices: Tensor, axis: int) -> None:
    """Raise VerifyException unless `indices` can index `data` along `axis`.

    They have the same rank, and the other dimensions of `indices` are at most those of `data`.
    """
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
            f"indices of shape {shape_text(places)} do not match shape {shape_text(shape)} along "
            f"axis {axis}: no other dimension may be larger"
        )


@irdl_op_definition
class GatherNDOp(Injective, OneResultOp):
    """The slices of the data at coordinates (`relax.gather_nd`, ONNX GatherND).

    The last axis of `indices` holds the coordinates of a slice, for the dimensions after the first
    `batch_dims`; the batch dimensions of data and indices correspond. Negative coordinates count
    from the end.
    """

    name = "relax.gather_nd"

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    batch_dims = int_prop(0)

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
                f"{shape_text(places)} differ"
            )
        if (rest := indexed_shape(shape[batch:], places)) is None:
            return (with_shape(type, None),)
        return (with_shape(type, shape[:batch] + places[batch:-1] + rest),)


def indexed_shape(shape: Shape, places: Shape) -> Shape | None:
    """Return the shape of a slice at one coordinate; None if the length of coordinates is unknown.

    `places` is the shape of the indices, whose last dimension is that length.
    """
    if not places:
        raise VerifyException("indices are a scalar, expected at least one dimension")
    if places[-1] == DYNAMIC_INDEX:
        return None
    if not 1 <= places[-1] <= len(shape):
        raise VerifyException(
            f"indices of shape {shape_text(places)} are coordinates of {places[-1]} dimensions, "
            f"but there are {len(shape)}"
        )
    return shape[places[-1] :]


@irdl_op_definition
class NonzeroOp(OneResultOp):
    """The coordinates of the nonzero elements, one column each (`numpy.nonzero`, ONNX NonZero).

    For a scalar the columns are empty.
    """

    name = "relax.nonzero"

    x = operand_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        shape = shape_of(number_type(self.x))
        rank = DYNAMIC_INDEX if shape is None else len(shape)
        return (TensorType(i64, (rank, DYNAMIC_INDEX)),)
