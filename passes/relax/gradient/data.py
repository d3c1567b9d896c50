"""Gradients of operations that read or write at indices: what is read is added up there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from ....compiler.interpreters.arrays import Array
from ....dialects.relax.data import manipulation as broadcast
from ....dialects.relax.data import manipulation as permutation
from ....dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp, split_slices
from ....dialects.relax.data.creation import TriluOp
from ....dialects.relax.data.indexing import (
    GatherNDOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNDOp,
    ScatterOp,
    StridedSliceOp,
    TakeOp,
)
from ....dialects.relax.data.sorting import SortOp, TopkOp
from ....dialects.relax.expression import by_operation
from ....dialects.relax.interfaces import NotDifferentiable
from ....dialects.relax.reduction.nn import PadOp
from ....dialects.relax.shapes import normalize_axis
from .tensors import Tensors, Traced


def scatter_along(g: Traced, indices: Traced, axis: int, size: int) -> Traced:
    """Return the adjoint of a tensor whose slices at `indices`, a vector, were taken.

    The tensor has `size` elements along the axis.
    """
    order = [axis, *(i for i in range(g.rank) if i != axis)]
    slices = g.transpose(*order)
    zeros = g.of(g.builder.full(0.0, g.element, (size, *slices.shape[1:])))
    # Added, as an element that was taken twice gets both adjoints.
    places = indices.reshape(indices.shape[0], 1)
    added = zeros.op("scatter_nd", places, slices, reduction="add")
    return added.transpose(*map(order.index, range(len(order))))


def take(op: TakeOp, b: Tensors, g: Traced) -> Sequence[Traced | None]:
    x, indices = b.of(op.x), b.of(op.indices)
    axis = 0 if op.axis is None else normalize_axis(op.axis, x.rank)
    shape = (prod(x.shape),) if op.axis is None else x.shape
    size, count = shape[axis], prod(indices.shape)
    # The adjoint goes where the element was read, so the indices are wrapped or clamped as there.
    if op.mode == "wrap":
        indices = indices % size
    elif op.mode != "raise":
        indices = indices.op("clip", min=0.0, max=float(size - 1))
    rows = g.reshape(*shape[:axis], count, *shape[axis + 1 :])
    return scatter_along(rows, indices.reshape(count), axis, size).reshape(*x.shape), None


def gather(op: GatherOp, b: Tensors, g: Traced) -> Sequence[Traced | None]:
    zeros = b.zeros(op.data.type)
    added = zeros.op("scatter_elements", b.of(op.indices), g, axis=op.axis, reduction="add")
    return added, None


def gather_nd(op: GatherNDOp, b: Tensors, g: Traced) -> Sequence[Traced | None]:
    """Add up the slices; the positions in the batch become coordinates."""
    indices, batch = b.of(op.indices), op.batch_dims
    if batch:
        outer = indices.shape[:-1]
        grid: Array = np.moveaxis(np.indices(outer)[:batch], 0, -1)
        element = indices.element
        assert isinstance(element, IntegerType)
        places = b.constant(grid.astype(np.int64), element)
        indices = places.op("concatenate", indices, axis=-1)
    return b.zeros(op.data.type).op("scatter_nd", indices, g, reduction="add"), None


def scatter_elements(op: ScatterElementsOp, b: Tensors, g: Traced) -> Sequence[Traced | None]:
    """Pass the adjoint on, without the elements that the updates replace; of several updates of
    one element each gets it."""
    check_reduction(op)
    indices = b.of(op.indices)
    d_updates = g.op("gather", indices, axis=op.axis)
    if op.reduction == "update":
        g = g.op("scatter_elements", indices, b.zeros(op.updates.type), axis=op.axis)
    return g, None, d_updates


def scatter_nd(op: ScatterNDOp, b: Tensors, g: Traced) -> Sequence[Traced | None]:
    check_reduction(op)
    indices = b.of(op.indices)
    d_updates = g.op("gather_nd", indices)
    if op.reduction == "update":
        g = g.op("scatter_nd", indices, b.zeros(op.updates.type))
    return g, None, d_updates


def check_reduction(op: ScatterOp) -> None:
    """Raise NotDifferentiable unless the updates replace elements or are added to them."""
    if op.reduction not in ("update", "add"):
        raise NotDifferentiable(
            f'reduction "{op.reduction}" has no gradient, only "update" and "add" have one'
        )


def sort(op: SortOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    # Place k of the result has the element `order[k]` of the data. A permutation, so nothing is
    # added up.
    order = b.of(op.data).op("argsort", axis=op.axis, descending=op.descending)
    return (b.zeros(op.data.type).op("scatter_elements", order, g, axis=op.axis),)


def topk(op: TopkOp, b: Tensors, g: Traced, _: Traced) -> Sequence[Traced]:
    indices = b.of(op.indices)
    return (b.zeros(op.data.type).op("scatter_elements", indices, g, axis=op.axis),)


# Gradients of operations that move elements: reshapes, transpositions, slices, concatenations.


def view(op: Operation, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Reshape the adjoint to the shape of the operand."""
    return (g.reshape(*b.of(op.operands[0]).shape),)


def broadcast_to(op: broadcast.BroadcastToOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    return (g.sum_to(op.data),)


def tile(op: broadcast.TileOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    x = b.of(op.data)
    rank = g.rank
    reps = (1,) * (rank - len(op.reps)) + op.reps
    sizes = (1,) * (rank - x.rank) + x.shape
    # A tile is a broadcast along a new axis before each: the adjoint is the sum over these.
    parts = g.reshape(*(n for pair in zip(reps, sizes, strict=True) for n in pair))
    return (parts.sum(*range(0, 2 * rank, 2)).reshape(*x.shape),)


def repeat(op: broadcast.RepeatOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    x = b.of(op.data)
    if op.axis is None:
        return (g.reshape(prod(x.shape), op.repeats).sum(1).reshape(*x.shape),)
    axis = normalize_axis(op.axis, x.rank)
    parts = g.reshape(*x.shape[: axis + 1], op.repeats, *x.shape[axis + 1 :])
    return (parts.sum(axis + 1),)


def transpose(op: permutation.TransposeOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    # The inverse permutation: axis i of the data is where `op.order()` has i.
    order = op.order() or []
    return (g.transpose(*map(order.index, range(len(order)))),)


def layout_transform(op: permutation.LayoutTransformOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    swapped = {"src_layout": op.dst_layout, "dst_layout": op.src_layout}
    return (g.op("layout_transform", **swapped),)


def flip(op: permutation.FlipOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    return (g.op("flip", axis=op.axis),)


def reverse_sequence(
    op: permutation.ReverseSequenceOp, b: Tensors, g: Traced
) -> Sequence[Traced | None]:
    """Reverse the same elements: the operation is its own inverse."""
    axes = {"seq_axis": op.seq_axis, "batch_axis": op.batch_axis}
    return g.op("reverse_sequence", b.of(op.seq_lengths), **axes), None


def trilu(op: TriluOp, b: Tensors, g: Traced) -> Sequence[Traced | None]:
    return g.op("trilu", b.of(op.k), upper=op.upper), None


def concatenate(op: ConcatenateOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    axis = normalize_axis(op.axis, g.rank)
    sizes = [b.of(operand).shape[axis] for operand in op.tensors]
    return [g.slice(axis, *ends) for ends in pairwise(accumulate(sizes, initial=0))]


def stack(op: StackOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    axis = normalize_axis(op.axis, g.rank)
    return [
        g.slice(axis, i, i + 1).reshape(*b.of(operand).shape)
        for i, operand in enumerate(op.tensors)
    ]


def split(op: SplitOp, b: Tensors, *adjoints: Traced) -> Sequence[Traced]:
    """Concatenate the adjoints of the parts; if parts overlap or leave elements out, add them up,
    each padded to the size of the data."""
    x = b.of(op.data)
    axis = normalize_axis(op.axis, x.rank)
    size = x.shape[axis]
    parts = [part.indices(size)[:2] for part in split_slices(size, op.indices, op.sections or 0)]
    # Then the parts follow each other: the ends of one are the starts of the next.
    if all(start <= stop for start, stop in parts):
        first, *others = adjoints
        return (first.op("concatenate", *others, axis=axis),)
    total = b.zeros(op.data.type)
    for (start, stop), g in zip(parts, adjoints, strict=True):
        if start < stop:
            total = total + g.pad(_along(axis, x.rank, (start, size - stop)))
    return (total,)


def strided_slice(op: StridedSliceOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Put the adjoint back at its places, with zeros between, before and after."""
    x = b.of(op.data)
    # For `x[1:8:3]` of 10 elements: [a b c] becomes 0 a 0 0 b 0 0 c 0 0.
    for axis, part in op.slices(x.rank).items():
        size = x.shape[axis]
        places = range(*part.indices(size))
        if places.step < 0:
            places = places[::-1]
            g = g.op("flip", axis=[axis])
        g = dilate(g, axis, places.step)
        before = places.start if places else 0
        g = g.pad(_along(axis, x.rank, (before, size - before - g.shape[axis])))
    return (g,)


def dilate(x: Traced, axis: int, step: int) -> Traced:
    """Insert `step - 1` zeros behind each element along an axis."""
    if step == 1 or not x.shape[axis]:
        return x
    shape = x.shape
    # Without a scatter: a new axis is padded with zeros, and merged.
    column = x.reshape(*shape[: axis + 1], 1, *shape[axis + 1 :])
    padded = column.pad(_along(axis + 1, len(shape) + 1, (0, step - 1)))
    return padded.reshape(*shape[:axis], shape[axis] * step, *shape[axis + 1 :])


def _along(axis: int, rank: int, widths: tuple[int, int]) -> list[tuple[int, int]]:
    return [widths if i == axis else (0, 0) for i in range(rank)]


def pad(op: PadOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Cut the padding off; what the padding copies is added to the elements that it copies."""
    widths = [*zip(op.pad_width[::2], op.pad_width[1::2], strict=True)]
    if op.pad_mode == "constant":
        return (g.pad([(-before, -after) for before, after in widths]),)
    shape = b.of(op.data).shape
    for axis, (size, (before, after)) in enumerate(zip(shape, widths, strict=True)):
        if (before, after) != (0, 0):
            cut = np.arange(max(-before, 0), size - max(-after, 0))
            added = (max(before, 0), max(after, 0))
            # The padding of the positions tells which element each copy is of.
            places = _padded(cut, added, op.pad_mode)
            g = scatter_along(g, b.integers(places), axis, size)
    return (g,)


def _padded(places: Array, widths: tuple[int, int], mode: str) -> Array:
    match mode:
        case "reflect":
            return np.pad(places, widths, mode="reflect")
        case "edge":
            return np.pad(places, widths, mode="edge")
        case _:
            return np.pad(places, widths, mode="wrap")


GRADIENTS = by_operation(
    {
        gather_nd: "gather_nd",
        gather: "gather",
        scatter_elements: "scatter_elements",
        scatter_nd: "scatter_nd",
        sort: "sort",
        take: "take",
        topk: "topk",
        concatenate: "concatenate",
        pad: "nn.pad",
        split: "split",
        stack: "stack",
        strided_slice: "strided_slice",
        trilu: "trilu",
        broadcast_to: "broadcast_to",
        repeat: "repeat",
        tile: "tile",
        flip: "flip",
        layout_transform: "layout_transform",
        reverse_sequence: "reverse_sequence",
        transpose: "transpose",
        view: "expand_dims reshape squeeze",
    }
)
