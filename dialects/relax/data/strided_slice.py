"""The operation that takes a strided slice of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import PropertyValue, ints_prop, opt_ints_prop
from ..base import OneResultOp
from ..interfaces import Conversion, Injective, LayoutRule, first_relayout
from ..layout import Relayout
from ..shapes import (
    computed_size,
    normalize_axes,
    replace_dimension,
    slice_length,
)
from ..types import TENSOR, number_type, shape_of, with_shape

__all__ = ["StridedSliceOp"]


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
