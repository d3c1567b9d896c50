"""Semantics of operations on decision trees."""

from __future__ import annotations

import numpy as np

from ....dialects.relax.data.trees import TreeLeavesOp
from ...arrays import Array
from ..table import Semantics

__all__ = ["TREES"]


def tree_leaves(op: TreeLeavesOp, data: Array, nodes: Array, splits: Array, roots: Array) -> Array:
    """Walk all trees for all rows at once, one level after the other."""
    rows = np.arange(len(data))[:, np.newaxis]
    at = np.broadcast_to(roots, (len(data), len(roots)))
    if not at.size:
        return at
    at = clipped(at, len(nodes))
    for _ in range(op.depth):
        feature, first, second = (nodes[at, column] for column in range(3))
        values = data[rows, clipped(feature, data.shape[1])]
        before, at = at, clipped(np.where(values <= splits[at], first, second), len(nodes))
        if np.array_equal(before, at):  # all are at leaves
            break
    return at


def clipped(indices: Array, size: int) -> Array:
    return np.clip(indices, 0, size - 1)


TREES: Semantics = {TreeLeavesOp: tree_leaves}
