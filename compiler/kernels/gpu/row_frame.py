"""The frame of a fused group along rows: the dimensions that all of its values share.

A group such as `sum(exp(x + b))` has one frame, the shape of the operand of the reduction. Each
value is in it with the size of a dimension, or with size 1. Adjacent dimensions that all values
have or lack together are merged:

    sum(square(tensor<1x8x14x14>)) over 2 and 3    frame (8, 196), the second reduced
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.data.manipulation import TransposeOp
from ....dialects.relax.interfaces import Elementwise
from ....dialects.relax.reduction.nn import SoftmaxBaseOp
from ....dialects.relax.reduction.normalization import (
    BatchNormOp,
    GroupNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    LayerNormOp,
    RMSNormOp,
)
from ....dialects.relax.reduction.reduction import ArgReductionOp, ReductionOp
from ....dialects.relax.shapes import normalize_axes
from ....dialects.relax.windows import AdaptivePoolOp
from ....dialects.tir.functions import Extent, Shape
from ..merged_dimensions import (
    extents,
    is_global,
    merged_shape,
    order_of,
    reduced_axes,
    reduced_groups,
)

__all__ = [
    "ParameterOp",
    "ReducingOp",
    "RowFrame",
    "RowOp",
    "after_reduction",
    "broadcast_row",
    "frame_of",
    "is_fill",
    "parameter_axes",
    "plain_frame",
]

ReducingOp: TypeAlias = ReductionOp | ArgReductionOp | AdaptivePoolOp
"""An operation with one element for each row."""
RowOp: TypeAlias = (
    ReducingOp
    | SoftmaxBaseOp
    | BatchNormOp
    | GroupNormOp
    | InstanceNormOp
    | L2NormalizeOp
    | LayerNormOp
    | RMSNormOp
)
"""An operation along rows: reduced or normalized over some dimensions."""
ParameterOp: TypeAlias = BatchNormOp | GroupNormOp | InstanceNormOp | LayerNormOp | RMSNormOp


Order: TypeAlias = tuple[int, ...]
"""For each dimension of a frame, without splits, the dimension of a value that it is; empty if the
value has the order of the frame."""


@dataclass(frozen=True)
class RowFrame:
    """The dimensions of the rows of a group."""

    rank: int
    """The number of dimensions of the data, before they are split and merged."""
    axes: tuple[int, ...]
    """The dimensions that are reduced, split, ascending."""
    split: tuple[int, int] | None
    """The dimension of the channels of a group normalization, and the number of its groups."""
    dropped: bool
    """Whether results of reductions lack the reduced dimensions."""
    groups: Sequence[Sequence[int]] = ()
    """The split dimensions that are merged, counted from the last."""
    sizes: Shape = ()
    """The sizes of the split dimensions."""
    shape: Shape = ()
    """The merged sizes."""
    reduced: tuple[bool, ...] = ()
    """Whether each merged dimension is reduced."""
    orders: Mapping[SSAValue, Order] = field(default_factory=dict[SSAValue, Order], compare=False)
    """The orders of the results before transpositions."""
    adjacent: frozenset[int] = frozenset()
    """The merged dimensions along which a transposed parameter has adjacent elements."""

    def order(self, op: Operation) -> Order:
        """Return the order of the operands of `op`."""
        return before(op, self.orders.get(op.results[0], ()))

    def expanded(self, shape: Shape, order: Order = (), *, after: bool = False) -> Shape:
        """Return the shape of a value in all split dimensions: those that it lacks are 1. `order`
        is that of the value, `after` says that it is computed from the result of a reduction."""
        drops = after and self.dropped
        missing = self.rank - len(shape) - (len(self.axes) if drops else 0)
        sizes = [*(1,) * missing, *shape]
        for axis in self.axes if drops else ():
            sizes.insert(axis, 1)
        if self.split is not None:
            axis, groups = self.split
            size = sizes[axis]
            sizes[axis : axis + 1] = [1, 1] if size == 1 else [groups, size // groups]
        return tuple(sizes[axis] for axis in order) if order else tuple(sizes)

    def merged(self, shape: Shape, order: Order = (), *, after: bool = False) -> Shape:
        """Return the sizes of a value in the dimensions of the frame."""
        return merged_shape(self.expanded(shape, order, after=after), self.groups)

    def in_memory(self, order: Order) -> list[int]:
        """Return the dimensions of the frame as a parameter of an order has them in memory."""

        def place(number: int) -> int:
            group = self.groups[number]
            # Where a dimension of size 1 is does not matter.
            return next((order[i] for i in group if self.sizes[i] != 1), order[group[0]])

        return sorted(range(len(self.groups)), key=place)

    def inside(self, sizes: Sequence[Extent]) -> list[Extent]:
        """Return the sizes of the dimensions that are reduced."""
        return [n for n, reduced in zip(sizes, self.reduced, strict=True) if reduced]

    def placed(self, shape: Shape, axes: Sequence[int]) -> Shape:
        """Return the sizes, in the dimensions of the data, of a parameter that runs along `axes` of
        it, ascending."""
        sizes: list[Extent] = [1] * self.rank
        for axis, size in zip(axes, shape, strict=True):
            sizes[axis] = size
        return tuple(sizes)


def frame_of(
    ops: Sequence[Operation], results: Sequence[SSAValue], sizes: Mapping[SSAValue, Shape]
) -> RowFrame | None:
    """Return the frame of a group of element-wise operations, transpositions, and operations along
    the same rows. Without the last, nothing is reduced, and the frame is the shape of the results.
    None if there are other operations, if two run along different rows, or if it is not known what
    is broadcast."""
    rows = [op for op in ops if isinstance(op, RowOp)]
    plain = Elementwise | FullOp | RowOp | TransposeOp
    if not ops or not all(isinstance(op, plain) or is_fill(op) for op in ops):
        return None
    shapes = {sizes[op.operands[0]] for op in rows} or {sizes[value] for value in results}
    frames = {_own_frame(op, len(sizes[op.operands[0]])) for op in rows}
    if len(shapes) != 1 or len(frames) > 1:
        return None
    shape = shapes.pop()
    frame = frames.pop() if frames else RowFrame(len(shape), (), None, False)
    return None if frame is None else _with_groups(frame, shape, ops, results, sizes)


def before(op: Operation, order: Order) -> Order:
    """Return the order of the operands of `op`, given that of its result."""
    if not isinstance(op, TransposeOp):
        return order
    axes = order_of(op)
    moved = tuple(axes[axis] for axis in order or range(len(axes)))
    return () if moved == tuple(range(len(axes))) else moved


def orders_of(
    ops: Sequence[Operation], results: Sequence[SSAValue], rank: int
) -> Mapping[SSAValue, Order] | None:
    """Return the orders of the results of `ops`, as transpositions may follow; None if a result, or
    an operation along rows, has not the order of the frame, or a value two orders."""
    found: dict[SSAValue, Order] = dict.fromkeys(results, ())
    late = after_reduction(ops)
    for op in reversed(ops):
        order = found.get(op.results[0], ())
        moves = isinstance(op, TransposeOp)
        if (moves and (op.result in late or len(order_of(op)) != rank)) or (
            order and isinstance(op, RowOp)
        ):
            return None
        order = before(op, order)
        inner = [value for value in op.operands if not isinstance(value, BlockArgument)]
        if any(found.setdefault(value, order) != order for value in inner):
            return None
    return found


def after_reduction(ops: Sequence[Operation]) -> set[SSAValue]:
    """Return the values that are computed from results of reductions."""
    found: set[SSAValue] = set()
    for op in ops:
        if isinstance(op, ReducingOp) or any(operand in found for operand in op.operands):
            found.update(op.results)
    return found


def is_fill(op: Operation) -> bool:
    """Return whether all elements of the result of `op` are one number."""
    return isinstance(op, FullOp) or (isinstance(op, ConstantOp) and op.value.is_splat())


def _own_frame(op: RowOp, rank: int) -> RowFrame | None:
    """Return the frame of one operation, without merged dimensions; None if tiles do not fit."""
    dropped = isinstance(op, ReductionOp | ArgReductionOp) and not op.keepdims
    split = None
    if isinstance(op, GroupNormOp):
        channels, *inner = normalize_axes([op.channel_axis, *op.axes], rank)
        split = channels, op.num_groups
        axes = [channels + 1, *(axis + (axis > channels) for axis in inner)]
    elif isinstance(op, BatchNormOp):
        axes = []
    elif isinstance(op, InstanceNormOp):
        axes = [axis for axis in range(1, rank) if axis != op.axis % rank]
    elif isinstance(op, L2NormalizeOp | LayerNormOp | RMSNormOp):
        axes = [*normalize_axes(op.axis if isinstance(op, L2NormalizeOp) else op.axes, rank)]
    elif isinstance(op, AdaptivePoolOp) and not is_global(op):
        return None
    else:
        axes = [*reduced_axes(op, rank)]
    if isinstance(op, LayerNormOp | RMSNormOp) and axes != sorted(axes):
        return None  # the parameters would have to be transposed
    return RowFrame(rank, tuple(sorted(axes)), split, dropped)


def _with_groups(
    frame: RowFrame,
    shape: Shape,
    ops: Sequence[Operation],
    results: Sequence[SSAValue],
    sizes: Mapping[SSAValue, Shape],
) -> RowFrame | None:
    """Return `frame` with the dimensions merged that all values of `ops` have or lack together, and
    that are adjacent before transpositions too; None if a value does not fit. `shape` is that of
    the data."""
    orders = orders_of(ops, results, frame.rank)
    if orders is None or (frame.split is not None and any(orders.values())):
        return None
    frame = replace(frame, orders=orders)
    whole = frame.expanded(shape)
    rows = [broadcast_row(value, whole) for value in _placed(frame, ops, sizes)]
    if 0 in whole or None in rows:
        return None
    moved = [order for op in ops if (order := frame.order(op))]
    # Dimensions that are adjacent in memory, too, are as many places away.
    moves = [
        [None if n == 1 else axis - i for i, (axis, n) in enumerate(zip(order, whole, strict=True))]
        for order in moved
    ]
    groups = reduced_groups(whole, frame.axes, [*(row for row in rows if row), *moves])
    inside = [any(whole[a] != 1 and a % len(whole) in frame.axes for a in g) for g in groups]
    frame = replace(
        frame,
        groups=groups,
        sizes=whole,
        shape=merged_shape(whole, groups),
        reduced=tuple(inside),
    )
    return replace(frame, adjacent=frozenset(frame.in_memory(order)[-1] for order in moved))


def broadcast_row(shape: Shape, whole: Shape) -> list[object] | None:
    """Return for each dimension of `whole` whether a value of `shape`, of the same rank, has it, or
    None where both are the same; None for all if that is not known."""
    if len(shape) != len(whole):
        return None
    row = extents(shape, whole)
    return row if all(entry in (True, False, None) for entry in row) else None


def plain_frame(
    ops: Sequence[Operation], shape: Shape, sizes: Mapping[SSAValue, Shape]
) -> RowFrame | None:
    """Return the frame of element-wise operations on values of `shape`, in which nothing is reduced
    or merged; None if there are others, or if a value does not fit."""
    axes = [[axis] for axis in range(-len(shape), 0)]
    frame = RowFrame(len(shape), (), None, False, axes, shape, shape, (False,) * len(shape))
    if not all(isinstance(op, Elementwise) or is_fill(op) for op in ops):
        return None
    rows = [broadcast_row(value, shape) for value in _placed(frame, ops, sizes)]
    return None if None in rows else frame


def _placed(
    frame: RowFrame, ops: Sequence[Operation], sizes: Mapping[SSAValue, Shape]
) -> Iterator[Shape]:
    """Yield the sizes of all operands and results in the split dimensions of `frame`."""
    after = after_reduction(ops)
    for op in ops:
        if isinstance(op, ParameterOp):
            axes = parameter_axes(op, frame.rank)
            yield from (frame.expanded(frame.placed(sizes[v], axes)) for v in op.operands[1:])
        elif isinstance(op, Elementwise | TransposeOp):
            late, order = op.results[0] in after, frame.order(op)
            yield from (frame.expanded(sizes[v], order, after=late) for v in op.operands)
            yield frame.expanded(sizes[(v := op.results[0])], frame.orders.get(v, ()), after=late)


def parameter_axes(op: ParameterOp, rank: int) -> Sequence[int]:
    """Return the dimensions of the data along which the parameters of a normalization run."""
    if isinstance(op, LayerNormOp | RMSNormOp):
        return normalize_axes(op.axes, rank)
    return normalize_axes([op.channel_axis if isinstance(op, GroupNormOp) else op.axis], rank)
