"""Operations that repeat the elements of a tensor: broadcast_to, tile, repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ..attributes import (
    int_prop,
    ints_prop,
    opt_int_prop,
)
from ..base import OneResultOp
from ..interfaces import (
    AlongAxes,
    Conversion,
    Injective,
    LayoutRule,
    first_relayout,
)
from ..layout import Relayout
from ..shapes import (
    Shape,
    normalize_axis,
    num_elements,
    replace_dimension,
    shape_text,
)
from ..types import (
    TENSOR,
    number_type,
    shape_of,
    with_shape,
)

__all__ = ["BroadcastToOp", "RepeatOp", "TileOp", "infer_broadcast_to"]


@irdl_op_definition
class BroadcastToOp(LayoutRule, Injective, OneResultOp):
    """A tensor repeated along new dimensions and dimensions of size 1 (`numpy.broadcast_to`)."""

    name = "relax.broadcast_to"

    data = operand_def(TENSOR)
    shape = ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        return (with_shape(type, infer_broadcast_to(shape_of(type), self.shape)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout, shape = first_relayout(relayouts), self.shape
        if len(shape) != relayout.rank:
            raise VerifyException("the broadcast adds dimensions")
        properties = {"shape": relayout.transform(shape)}
        return Conversion([relayout.unsplit()], [relayout], properties)


def infer_broadcast_to(shape: Shape | None, target: Shape) -> Shape:
    """Return the result shape of `relax.broadcast_to`; VerifyException if a dimension does not fit.

    `shape` is None for an unranked operand.
    """
    if wrong := [d for d in target if d < 0 and d != DYNAMIC_INDEX]:
        raise VerifyException(f"shape {[*target]} has {wrong[0]}, which is not a size")
    if shape is None:
        return target
    pairs = zip(reversed(shape), reversed(target), strict=False)
    fits = all(a in (b, 1) or DYNAMIC_INDEX in (a, b) for a, b in pairs)
    if len(shape) > len(target) or not fits:
        raise VerifyException(
            f"shape {shape_text(shape)} does not broadcast to {shape_text(target)}"
        )
    return target


@irdl_op_definition
class TileOp(LayoutRule, Injective, OneResultOp):
    """A tensor repeated as a whole, `reps[i]` times along dimension i (`numpy.tile`)."""

    name = "relax.tile"

    data = operand_def(TENSOR)
    reps = ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        reps = self.reps
        if wrong := [n for n in reps if n < 0]:
            raise VerifyException(f"reps {[*reps]} has {wrong[0]}, expected at least 0")
        if (shape := shape_of(type)) is None:
            return (type,)
        rank = max(len(shape), len(reps))
        shape = (1,) * (rank - len(shape)) + shape
        reps = (1,) * (rank - len(reps)) + reps
        return (
            with_shape(type, tuple(num_elements(pair) for pair in zip(shape, reps, strict=True))),
        )

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout, reps = first_relayout(relayouts), self.reps
        if len(reps) > relayout.rank:
            raise VerifyException("tiling adds dimensions")
        reps = (1,) * (relayout.rank - len(reps)) + reps
        return Conversion([relayout], [relayout], {"reps": relayout.spread(reps, 1)})


@irdl_op_definition
class RepeatOp(AlongAxes, Injective, OneResultOp):
    """A tensor with each element repeated along `axis` (`numpy.repeat`).

    Without `axis` the tensor is flattened first.
    """

    AXES: ClassVar = ("axis",)

    name = "relax.repeat"

    data = operand_def(TENSOR)
    repeats = int_prop()
    axis = opt_int_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        repeats, shape = self.repeats, shape_of(type)
        if repeats < 0:
            raise VerifyException(f"repeats is {repeats}, expected at least 0")
        if self.axis is None:
            flat = (DYNAMIC_INDEX,) if shape is None else shape
            return (with_shape(type, (num_elements((*flat, repeats)),)),)
        if shape is None:
            return (type,)
        axis = normalize_axis(self.axis, len(shape))
        return (
            with_shape(type, replace_dimension(shape, axis, num_elements((shape[axis], repeats)))),
        )
