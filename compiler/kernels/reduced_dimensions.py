"""The dimensions of a reduction that a kernel merges into one: all reduced, or all kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.interfaces import Elementwise
from ...dialects.relax.reduction.nn import SoftmaxBaseOp
from ...dialects.relax.reduction.reduction import ArgReductionOp, ReductionOp
from ...dialects.relax.shapes import normalize_axes
from ...dialects.relax.windows.pooling import AdaptivePoolOp
from ...dialects.tir.extents import Shape
from .merged_dimensions import are_alike, extents

__all__ = ["AlongAxes", "is_global", "reduced_axes", "reduced_dimensions", "reduced_groups"]

AlongAxes: TypeAlias = ReductionOp | ArgReductionOp | SoftmaxBaseOp | AdaptivePoolOp
"""An operation along some axes of its operand."""


def is_global(op: AdaptivePoolOp) -> bool:
    """Return whether `op` reduces whole spatial dimensions to one element."""
    layout = op.data_layout()
    is_split = any(axis.lower() in layout.factors for axis in op.SPATIAL)
    return not is_split and all(size == 1 for size in op.output_sizes())


def reduced_axes(op: AlongAxes, rank: int) -> Sequence[int]:
    """Return the axes of `op`, whose operand has `rank` dimensions, ascending."""
    if isinstance(op, AdaptivePoolOp):
        layout = op.data_layout()
        return sorted(layout.axes.index(axis) for axis in op.SPATIAL)
    axes = [op.axis] if isinstance(op.axis, int) else op.axis
    return range(rank) if axes is None else sorted(normalize_axes(axes, rank))


def reduced_dimensions(
    ops: Sequence[Operation], end: ReturnOp, sizes: Mapping[SSAValue, Shape]
) -> list[list[int]] | None:
    """Return the groups of adjacent dimensions, counted from the last, -1, that the kernel of `ops`
    may run over as one, if the last of them is a reduction or a softmax, and the others are
    element-wise; None if there is nothing to merge.

    A group is reduced or kept as a whole, and each value has it or is broadcast along it:

        sum(square(tensor<1x8x14x14>)) over 2 and 3    groups [-4, -3], [-2, -1]: 8 sums of 196
    """
    if not ops or not isinstance(op := ops[-1], AlongAxes):
        return None
    if isinstance(op, AdaptivePoolOp) and not is_global(op):
        return None
    *others, _ = ops
    frame = sizes[op.operands[0]]
    elementwise = Elementwise | FullOp | ConstantOp
    if not all(isinstance(other, elementwise) for other in others):
        return None
    if any(value is not op.results[0] for value in end.operands):
        return None
    values = [value for other in others for value in (*other.operands, *other.results)]
    rows = [extents(sizes[value], frame) for value in values]
    groups = reduced_groups(frame, reduced_axes(op, len(frame)), rows)
    return groups if len(groups) < len(frame) else None


def reduced_groups(
    shape: Shape, axes: Sequence[int], rows: Sequence[Sequence[object]] = ()
) -> list[list[int]]:
    """Return groups of adjacent dimensions, counted from the last, that are all in `axes` or all
    not, and alike in each of `rows` (see `extents`)."""
    # A dimension of size 1 joins any group: (1, 8, 1, 196) over the last one is (8, 196), as index
    # 0 of it adds nothing to a row-major position.
    reduced = [None if size == 1 else axis in axes for axis, size in enumerate(shape)]
    groups: list[list[int]] = []
    for axis in range(len(shape)):
        if groups and all(are_alike(row, [*groups[-1], axis]) for row in (reduced, *rows)):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return [[axis - len(shape) for axis in group] for group in groups]
