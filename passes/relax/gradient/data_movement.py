"""Gradients of operations that move elements: reshapes, transpositions, slices, concatenations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod

import numpy as np
from xdsl.ir import Operation

from ....compiler.interpreters.arrays import Array
from ....dialects.relax.data import permutation
from ....dialects.relax.data.concatenation import ConcatenateOp, StackOp
from ....dialects.relax.data.creation import TriluOp
from ....dialects.relax.data.split import SplitOp, split_slices
from ....dialects.relax.data.strided_slice import StridedSliceOp
from ....dialects.relax.elementwise import broadcast
from ....dialects.relax.expression import by_operation
from ....dialects.relax.reduction.nn import PadOp
from ....dialects.relax.shapes import normalize_axis
from .indexing import scatter_along
from .tensors import Tensors, Traced

__all__ = ["GRADIENTS"]


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
