"""Random decision trees, as the operands of `relax.tree_leaves`."""

from __future__ import annotations

import numpy as np

from .evaluation import Array

__all__ = ["Forest", "random_forest"]

Forest = tuple[Array, Array, Array]
"""The nodes, the splits and the roots."""


def random_forest(count: int, depth: int, features: int, seed: int = 0) -> Forest:
    """Return `count` trees of up to `depth` levels below the root; a leaf is its own child."""
    random = np.random.default_rng(seed)
    nodes: list[list[int]] = []
    splits: list[float] = []

    def grow(levels: int) -> int:
        place = len(nodes)
        nodes.append([int(random.integers(features)), place, place])
        splits.append(random.standard_normal())
        if levels and (levels == depth or random.random() < 0.8):
            nodes[place][1:] = grow(levels - 1), grow(levels - 1)
        return place

    roots = np.array([grow(depth) for _ in range(count)], np.int32)
    return np.array(nodes, np.int32).reshape(-1, 3), np.array(splits), roots
