"""Operations that read and write at indices: gather, scatter, strided slices."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import (
    PropertyValue,
    check_choice,
    int_prop,
    ints_prop,
    opt_int_prop,
    opt_ints_prop,
    string_prop,
)
from ..base import OneResultOp
from ..interfaces import Conversion, Injective, LayoutRule, convert_axes, first_relayout
from ..layout import Relayout
from ..shapes import (
    Shape,
    computed_size,
    merge,
    normalize_axes,
    normalize_axis,
    num_elements,
    replace_dimension,
    shape_text,
    slice_length,
)
from ..types import (
    TENSOR,
    Tensor,
    check_indices,
    check_same_element,
    number_type,
    shape_of,
    tensor_type,
    with_shape,
)

__all__ = [
    "GatherNDOp",
    "GatherOp",
    "NonzeroOp",
    "ScatterElementsOp",
    "ScatterNDOp",
    "StridedSliceOp",
    "TakeOp",
]


# Operations that read elements at computed indices: take, gather, gather_nd, nonzero.


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


# Operations that write elements at computed indices: scatter_elements, scatter_nd.


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


# The operation that takes a strided slice of a tensor.


@irdl_op_definition
class StridedSliceOp(LayoutRule, Injective, OneResultOp):
    """A slice of a tensor, with a stride, along some axes (`relax.strided_slice`, ONNX Slice).

    Bounds are those of Python slices: negative ones count from the end, and all are clamped, so
    that 2^63-1 and -2^63 are beyond any end. Without `axes` the bounds are for the first axes.
    """

    name = "relax.strided_slice"

    data = operand_def(TENSOR)
    begin = ints_prop()
    end = ints_prop()
    strides = opt_ints_prop()
    axes = opt_ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = shape_of(type)
        parts = self.slices(None if shape is None else len(shape))
        if shape is None:
            return (type,)
        for axis, part in parts.items():
            shape = replace_dimension(shape, axis, slice_size(shape[axis], part))
        return (with_shape(type, shape),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Slice a blocked axis by blocks; VerifyException if the slice cuts a block."""
        relayout, shape = first_relayout(relayouts), shape_of(number_type(self.data))
        if shape is None:
            raise VerifyException("the rank of the data is unknown")
        parts: list[tuple[int, slice]] = []
        for axis, part in self.slices(relayout.rank).items():
            (at, *_), factor = relayout.dimensions([axis]), relayout.factor(axis)
            parts.append((at, part if factor == 1 else whole_blocks(part, shape[axis], factor)))
        axes = [axis for axis, _ in parts]
        if self.axes is None:
            parts.sort(key=lambda part: part[0])
            axes = sorted(axes)
        implied = self.axes is None and axes == [*range(len(axes))]
        properties: dict[str, PropertyValue] = {
            "begin": [part.start for _, part in parts],
            "end": [part.stop for _, part in parts],
            "axes": None if implied else axes,
        }
        if self.strides is not None:
            properties["strides"] = [part.step for _, part in parts]
        return Conversion([relayout], [relayout], properties)

    def slices(self, rank: int | None) -> dict[int, slice]:
        """Return axis -> slice along it; axes are not normalized if `rank` is None."""
        begin, end = self.begin, self.end
        strides = (1,) * len(begin) if self.strides is None else self.strides
        axes = (*range(len(begin)),) if self.axes is None else self.axes
        if len({len(begin), len(end), len(strides), len(axes)}) > 1:
            raise VerifyException(
                f"begin {[*begin]}, end {[*end]}, strides {[*strides]} and axes {[*axes]} "
                "do not have the same length"
            )
        if 0 in strides:
            raise VerifyException(f"strides {[*strides]} contains 0")
        axes = axes if rank is None else normalize_axes(axes, rank)
        parts = zip(begin, end, strides, strict=True)
        return {axis: slice(*part) for axis, part in zip(axes, parts, strict=True)}


def whole_blocks(part: slice, size: int, factor: int) -> slice:
    """Return the slice of blocks of `factor` elements for a slice of a dimension of that size.

    VerifyException if the slice does not consist of whole, adjacent blocks.
    """
    start, stop, step = part.indices(max(size, 0))
    if size == DYNAMIC_INDEX or step != 1 or start % factor or stop % factor:
        raise VerifyException(f"the slice does not consist of whole blocks of {factor}")
    return slice(start // factor, stop // factor, 1)


def slice_size(size: int, part: slice) -> int:
    """Return the size of a slice of a dimension."""
    if part.step > 0 and 0 <= part.stop <= part.start:
        return 0  # also if the size is unknown
    length = partial(slice_length, begin=part.start, end=part.stop, step=part.step)
    return computed_size(length, size)
