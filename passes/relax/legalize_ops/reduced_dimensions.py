"""The dimensions of a reduction that a kernel merges into one: all reduced, or all kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.interfaces import Elementwise
from ....dialects.relax.nn import SoftmaxBaseOp
from ....dialects.relax.reduction import ArgReductionOp, ReductionOp
from ....dialects.relax.shapes import normalize_axes
from ....dialects.relax.types import static_shape
from .merged_dimensions import are_alike, extents

__all__ = ["AlongAxes", "reduced_dimensions"]

AlongAxes: TypeAlias = ReductionOp | ArgReductionOp | SoftmaxBaseOp
"""An operation along some axes of its operand."""


def axes_of(op: AlongAxes) -> Sequence[int] | None:
    """Return the axes of `op`, None for all."""
    axes = op.axis
    return [axes] if isinstance(axes, int) else axes


def reduced_dimensions(ops: Sequence[Operation], end: ReturnOp) -> list[list[int]] | None:
    """Return the groups of adjacent dimensions, counted from the last, -1, that the kernel of `ops`
    may run over as one, if the last of them is a reduction or a softmax, and the others are
    element-wise; None if there is nothing to merge.

    A group is reduced or kept as a whole, and each value has it or is broadcast along it:

        sum(square(tensor<1x8x14x14>)) over 2 and 3    groups [-4, -3], [-2, -1]: 8 sums of 196
    """
    if not ops or not isinstance(op := ops[-1], AlongAxes):
        return None
    *others, _ = ops
    frame = static_shape(op.operands[0].type)
    elementwise = Elementwise | FullOp | ConstantOp
    if frame is None or not all(isinstance(other, elementwise) for other in others):
        return None
    if any(value is not op.results[0] for value in end.operands):
        return None
    values = [value for other in others for value in (*other.operands, *other.results)]
    rows = [extents(value, frame) for value in values]
    axes = axes_of(op)
    over = range(len(frame)) if axes is None else normalize_axes(axes, len(frame))
    rows.append([None if size == 1 else axis in over for axis, size in enumerate(frame)])
    groups: list[list[int]] = []
    for axis in range(len(frame)):
        if groups and all(are_alike(row, [*groups[-1], axis]) for row in rows):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if len(groups) == len(frame):
        return None
    return [[axis - len(frame) for axis in group] for group in groups]
