"""Semantics of operations on decision trees."""

from __future__ import annotations

import numpy as np

from .....dialects.relax.data.trees import TreeLeavesOp
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
        node: Array = nodes[at]
        values = data[rows, clipped(node[..., 0], data.shape[1])]
        child: Array = np.where(values <= splits[at], node[..., 1], node[..., 2])
        before, at = at, clipped(child, len(nodes))
        if np.array_equal(before, at):  # all are at leaves
            break
    return at


def clipped(indices: Array, size: int) -> Array:
    return np.clip(indices, 0, size - 1)


TREES: Semantics = {TreeLeavesOp: tree_leaves}
