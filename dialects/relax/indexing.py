"""Operations that read and write elements at places that are given."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from .attributes import PropertyValue, int_prop, ints_prop, opt_int_prop, opt_ints_prop, string_prop
from .base import TensorOp
from .interfaces import Conversion, Injective, LayoutRule, axes_in, of_first
from .layout import Relayout
from .manipulation import check_indices, count, number_type, replaced
from .shapes import Shape, merge, normalize_axes, normalize_axis, shape_text
from .types import TENSOR, Tensor, shape_of, tensor_type, with_shape

__all__ = [
    "GatherNDOp",
    "GatherOp",
    "NonzeroOp",
    "ScatterElementsOp",
    "ScatterNDOp",
    "StridedSliceOp",
    "TakeOp",
]

_WHOLE = 2**63 - 1
REDUCTIONS = ("update", "add", "mul", "min", "max")
MODES = ("clip", "wrap", "fast")


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """VerifyException unless a property has one of these values."""
    if value not in choices:
        raise VerifyException(f'{name} "{value}" is none of {", ".join(choices)}')


# Reading


@irdl_op_definition
class StridedSliceOp(LayoutRule, Injective, TensorOp):
    """Every so many elements between two bounds on some axes (`relax.strided_slice`, ONNX Slice).

    Bounds are those of Python slices: from the end if negative, and cut off at the ends, so that
    2^63-1 and -2^63 are beyond any. Without `axes` they are of the first ones.
    """

    name = "relax.strided_slice"

    data = operand_def(TENSOR)
    begin = ints_prop()
    end = ints_prop()
    strides = opt_ints_prop()
    axes = opt_ints_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = shape_of(type)
        parts = self.slices(None if shape is None else len(shape))
        if shape is None:
            return (type,)
        for axis, part in parts.items():
            shape = replaced(shape, axis, slice_size(shape[axis], part))
        return (with_shape(type, shape),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Where an axis is split, whole blocks are taken."""
        relayout, shape = of_first(relayouts), shape_of(number_type(self.data))
        if shape is None:
            raise VerifyException("the rank of the data is not known")
        parts: list[tuple[int, slice]] = []
        for axis, part in self.slices(relayout.rank).items():
            (at, *_), factor = relayout.dimensions([axis]), relayout.factor(axis)
            parts.append((at, part if factor == 1 else blocks_of(part, shape[axis], factor)))
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
        """Axis -> what is taken along it; the axes as they stand if the rank is not known."""
        begin, end = self.begin, self.end
        strides = (1,) * len(begin) if self.strides is None else self.strides
        axes = (*range(len(begin)),) if self.axes is None else self.axes
        if len({len(begin), len(end), len(strides), len(axes)}) > 1:
            raise VerifyException(
                f"begin {[*begin]}, end {[*end]}, strides {[*strides]} and axes {[*axes]} "
                "are not equally long"
            )
        if 0 in strides:
            raise VerifyException(f"strides {[*strides]} have a 0")
        axes = axes if rank is None else normalize_axes(axes, rank)
        parts = zip(begin, end, strides, strict=True)
        return {axis: slice(*part) for axis, part in zip(axes, parts, strict=True)}


def blocks_of(part: slice, size: int, factor: int) -> slice:
    """The slice of blocks that a slice of a dimension takes; VerifyException if it cuts some."""
    start, stop, step = part.indices(max(size, 0))
    if size == DYNAMIC_INDEX or step != 1 or start % factor or stop % factor:
        raise VerifyException(f"it does not take whole blocks of {factor}")
    return slice(start // factor, stop // factor, 1)


def slice_size(size: int, part: slice) -> int:
    """The size of a slice of a dimension; DYNAMIC_INDEX if it is not known."""
    if size != DYNAMIC_INDEX:
        return len(range(*part.indices(size)))
    whole = (part.start, part.stop, part.step) in ((0, _WHOLE, 1), (-1, -_WHOLE - 1, -1))
    empty = part.step > 0 and 0 <= part.stop <= part.start
    return size if whole or not empty else 0


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
            size = DYNAMIC_INDEX if shape is None else count(shape)
            shape, axis = (size,), 0
        elif shape is None:
            return (type,)
        else:
            axis = normalize_axis(self.axis, len(shape))
        if shape[axis] == 0 and places is not None and count(places) > 0:
            raise VerifyException(f"dimension {axis} has no elements to take")
        return (with_shape(type, places if places is None else replaced(shape, axis, *places)),)

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


# Writing


class ScatterOp(TensorOp, ABC):
    """The data, with updates put in at the indices, or added to what is there, and so on.

    Of several updates of one element each is taken in, in order. Negative indices count from the
    end.
    """

    data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    updates = operand_def(TENSOR)
    reduction = string_prop("update")
    result = result_def(TENSOR)

    def check_updates(self, type: Tensor, expected: Shape | None) -> None:
        """VerifyException unless the updates have elements of that type, and that shape."""
        check_choice("reduction", self.reduction, REDUCTIONS)
        updates = tensor_type(self.updates)
        shape = shape_of(updates)
        if updates.element_type != type.element_type:
            raise VerifyException(
                f"element types {type.element_type} and {updates.element_type} differ"
            )
        if shape is not None and expected is not None and merge(shape, expected) is None:
            raise VerifyException(
                f"updates have shape {shape_text(shape)}, expected {shape_text(expected)}"
            )


@irdl_op_definition
class ScatterElementsOp(LayoutRule, ScatterOp):
    """The data, with updates at the indices along `axis` (`relax.scatter_elements`)."""

    name = "relax.scatter_elements"

    axis = int_prop(0)

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.data), tensor_type(self.indices)
        check_along(type, indices, self.axis)
        self.check_updates(type, shape_of(indices))
        return (type,)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = of_first(relayouts)
        return Conversion([relayout] * 3, [relayout], {"axis": axes_in(relayout, self.axis)})


@irdl_op_definition
class ScatterNDOp(ScatterOp):
    """The data, with updates at the coordinates along the last axis of `indices`
    (`relax.scatter_nd`)."""

    name = "relax.scatter_nd"

    def infer_types(self) -> Sequence[Attribute]:
        type, indices = number_type(self.data), tensor_type(self.indices)
        check_indices("indices", indices)
        shape, places = shape_of(type), shape_of(indices)
        expected: Shape | None = None
        if shape is not None and places is not None:
            rest = after_coordinates(shape, places)
            expected = None if rest is None else places[:-1] + rest
        self.check_updates(type, expected)
        return (type,)
