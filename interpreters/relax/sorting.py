"""What operations compute that order elements: NaN last, equal elements in their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dialects.relax import sorting as ops
from ..arrays import Array
from .table import Semantics, as_numbers

__all__ = ["SORTING"]


def order(x: Array, axis: int, descending: bool) -> NDArray[np.intp]:
    """The indices of the elements in order.

    In descending order equal elements stay in theirs too: the order of the flipped ones, flipped.
    """
    x = as_numbers(x)
    if not descending:
        return np.argsort(x, axis, kind="stable")
    indices = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(indices, axis)


def argsort(op: ops.ArgsortOp, x: Array) -> Array:
    return order(x, op.axis, op.descending)


def sort(op: ops.SortOp, x: Array) -> Array:
    axis = op.axis
    return np.take_along_axis(x, order(x, axis, op.descending), axis)


def topk(op: ops.TopkOp, x: Array) -> tuple[Array, Array]:
    axis, k = op.axis, op.k
    indices = order(x, axis, op.largest)
    if k >= 1:
        indices = np.take(indices, range(k), axis)
    return np.take_along_axis(x, indices, axis), indices


SORTING: Semantics = {
    ops.ArgsortOp: argsort,
    ops.SortOp: sort,
    ops.TopkOp: topk,
}
