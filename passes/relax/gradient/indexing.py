"""Gradients of operations that read or write at indices: what is read is added up there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from ....compiler.interpreters.arrays import Array
from ....dialects.relax.data.concatenation import ConcatenateOp
from ....dialects.relax.data.gather import GatherNDOp, GatherOp, TakeOp
from ....dialects.relax.data.scatter import ScatterElementsOp, ScatterNDOp, ScatterOp
from ....dialects.relax.data.sorting import ArgsortOp, SortOp, TopkOp
from ....dialects.relax.elementwise.binary import FloorModOp
from ....dialects.relax.elementwise.elementwise import ClipOp
from ....dialects.relax.interfaces import NotDifferentiable
from ....dialects.relax.shapes import normalize_axis
from .tensors import Rule, Tensor, Tensors

__all__ = ["GRADIENTS", "scatter_along"]


def scatter_along(g: Tensor, indices: Tensor, axis: int, size: int) -> Tensor:
    """Return the adjoint of a tensor of which slices at `indices`, a vector, were taken.

    The tensor has `size` elements along the axis.
    """
    order = [axis, *(i for i in range(g.rank) if i != axis)]
    slices = g.transpose(order)
    zeros = g.tensors.full(0.0, g.element, (size, *slices.shape[1:]))
    # Added, as an element that was taken twice gets both adjoints.
    places = indices.reshape((indices.shape[0], 1))
    added = zeros.apply(ScatterNDOp, places, slices, reduction="add")
    return added.transpose([order.index(i) for i in range(len(order))])


def take(op: TakeOp, b: Tensors, g: Tensor) -> Sequence[Tensor | None]:
    x, indices = b.of(op.x), b.of(op.indices)
    axis = 0 if op.axis is None else normalize_axis(op.axis, x.rank)
    shape = (prod(x.shape),) if op.axis is None else x.shape
    size, count = shape[axis], prod(indices.shape)
    # The adjoint goes where the element was read, so the indices are wrapped or clamped as there.
    if op.mode == "wrap":
        indices = indices.apply(FloorModOp, b.full(size, indices.element))
    elif op.mode != "raise":
        indices = indices.apply(ClipOp, min=0.0, max=float(size - 1))
    rows = g.reshape((*shape[:axis], count, *shape[axis + 1 :]))
    return scatter_along(rows, indices.reshape((count,)), axis, size).reshape(x.shape), None


def gather(op: GatherOp, b: Tensors, g: Tensor) -> Sequence[Tensor | None]:
    zeros = b.zeros(op.data.type)
    added = zeros.apply(ScatterElementsOp, b.of(op.indices), g, axis=op.axis, reduction="add")
    return added, None


def gather_nd(op: GatherNDOp, b: Tensors, g: Tensor) -> Sequence[Tensor | None]:
    """Add up the slices; the positions in the batch become coordinates."""
    indices, batch = b.of(op.indices), op.batch_dims
    if batch:
        outer = indices.shape[:-1]
        grid: Array = np.moveaxis(np.indices(outer)[:batch], 0, -1)
        element = indices.element
        assert isinstance(element, IntegerType)
        places = b.constant(grid.astype(np.int64), element)
        indices = places.apply(ConcatenateOp, indices, axis=-1)
    return b.zeros(op.data.type).apply(ScatterNDOp, indices, g, reduction="add"), None


def scatter_elements(op: ScatterElementsOp, b: Tensors, g: Tensor) -> Sequence[Tensor | None]:
    """Pass the adjoint on, without the elements that the updates replace; of several updates of
    one element each gets it."""
    check_reduction(op)
    indices = b.of(op.indices)
    d_updates = g.apply(GatherOp, indices, axis=op.axis)
    if op.reduction == "update":
        g = g.apply(ScatterElementsOp, indices, b.zeros(op.updates.type), axis=op.axis)
    return g, None, d_updates


def scatter_nd(op: ScatterNDOp, b: Tensors, g: Tensor) -> Sequence[Tensor | None]:
    check_reduction(op)
    indices = b.of(op.indices)
    d_updates = g.apply(GatherNDOp, indices)
    if op.reduction == "update":
        g = g.apply(ScatterNDOp, indices, b.zeros(op.updates.type))
    return g, None, d_updates


def check_reduction(op: ScatterOp) -> None:
    """Raise NotDifferentiable unless the updates replace elements or are added to them."""
    if op.reduction not in ("update", "add"):
        raise NotDifferentiable(
            f'reduction "{op.reduction}" has no gradient, only "update" and "add" have one'
        )


def sort(op: SortOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    # Place k of the result has the element `order[k]` of the data. A permutation, so nothing is
    # added up.
    order = b.of(op.data).apply(ArgsortOp, axis=op.axis, descending=op.descending)
    return (b.zeros(op.data.type).apply(ScatterElementsOp, order, g, axis=op.axis),)


def topk(op: TopkOp, b: Tensors, g: Tensor, _: Tensor) -> Sequence[Tensor]:
    indices = b.of(op.indices)
    return (b.zeros(op.data.type).apply(ScatterElementsOp, indices, g, axis=op.axis),)


GRADIENTS: Mapping[type[Operation], Rule] = {
    GatherNDOp: gather_nd,
    GatherOp: gather,
    ScatterElementsOp: scatter_elements,
    ScatterNDOp: scatter_nd,
    SortOp: sort,
    TakeOp: take,
    TopkOp: topk,
}
