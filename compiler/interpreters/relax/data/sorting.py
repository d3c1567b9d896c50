"""Semantics of sorting: stable, with NaN greater than any number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .....dialects.relax.data import sorting as ops
from ...arrays import Array
from ..table import Semantics, as_numbers

__all__ = ["SORTING"]


def order(x: Array, axis: int, descending: bool) -> NDArray[np.intp]:
    """Return the indices of the elements in sorted order along `axis`.

    A stable descending order is the ascending order of the flipped array, flipped back.
    """
    x = as_numbers(x)
    if not descending:
        return np.argsort(x, axis, kind="stable")
    indices = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(indices, axis)


def argsort(op: ops.ArgsortOp, x: Array) -> Array:
    return order(x, op.axis, op.descending)


def sort(op: ops.SortOp, x: Array) -> Array:
    return np.take_along_axis(x, order(x, op.axis, op.descending), op.axis)


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
