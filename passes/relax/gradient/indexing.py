"""Gradients of operations that read or write at indices: what is read is added up there."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import IntegerType

from ....compiler.interpreters.arrays import Array
from ....dialects.relax.data.gather import GatherNDOp, GatherOp, TakeOp
from ....dialects.relax.data.scatter import ScatterElementsOp, ScatterNDOp, ScatterOp
from ....dialects.relax.data.sorting import SortOp, TopkOp
from ....dialects.relax.expression import by_operation
from ....dialects.relax.interfaces import NotDifferentiable
from ....dialects.relax.shapes import normalize_axis
from .tensors import Tensors, Traced

__all__ = ["GRADIENTS", "scatter_along"]


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


GRADIENTS = by_operation(
    {
        gather_nd: "gather_nd",
        gather: "gather",
        scatter_elements: "scatter_elements",
        scatter_nd: "scatter_nd",
        sort: "sort",
        take: "take",
        topk: "topk",
    }
)
