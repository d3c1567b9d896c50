"""The operation that takes a strided slice of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from .attributes import PropertyValue, ints_prop, opt_ints_prop
from .base import TensorOp
from .interfaces import Conversion, Injective, LayoutRule, of_first
from .layout import Relayout
from .shapes import (
    normalize_axes,
    replace_dimension,
)
from .types import TENSOR, number_type, shape_of, with_shape

__all__ = ["StridedSliceOp"]


_WHOLE = 2**63 - 1


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
            shape = replace_dimension(shape, axis, slice_size(shape[axis], part))
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
