"""The semantics of tree_leaves, with a walk of single nodes as the oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.operations.evaluation import FLOATS, Array, constant, run
from support.operations.trees import Forest, random_forest
from xdsl.dialects.builtin import f32, i32

from passline.dialects.relax.data.trees import TreeLeavesOp
from passline.dialects.relax.types import Element

STUMP: Forest = (np.array([[1, 1, 2], [0, 1, 1], [0, 2, 2]]), np.array([0.5, 0, 0]), np.array([0]))


def leaves(data: object, forest: Forest, depth: int, element: Element = f32) -> Array:
    nodes, splits, roots = forest
    numbers = constant(nodes, i32), constant(splits, element), constant(roots, i32)
    return run(TreeLeavesOp(constant(data, element), *numbers, depth=depth))


def walk(row: Array, forest: Forest, root: int, depth: int) -> int:
    nodes, splits, _ = forest
    for _ in range(depth):
        feature, *children = nodes[root].tolist()
        root = children[0] if row[feature] <= splits[root] else children[1]
    return root


@pytest.mark.parametrize("depth", [0, 1, 3, 6, 9])
@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_walks(element: Element, depth: int):
    nodes, splits, roots = random_forest(5, 6, 3)
    splits = run(constant(splits, element))
    data = run(constant(np.random.default_rng(1).standard_normal((20, 3)), element))
    forest = nodes, splits, roots
    expected = [[walk(row, forest, root, depth) for root in roots.tolist()] for row in data]
    result = leaves(data, forest, depth, element)
    assert result.dtype == np.int32
    assert result.tolist() == expected


def test_nan_goes_to_the_second_child():
    rows = [[0.0, x] for x in (0.4, 0.5, 0.6, math.nan, math.inf, -math.inf)]
    assert leaves(rows, STUMP, 1)[:, 0].tolist() == [1, 1, 2, 2, 2, 1]


def test_indices_out_of_range_are_the_nearest():
    nodes, splits = np.array([[9, -5, 7], [-1, 1, 1], [0, 2, 2]]), np.array([0.5, 0, 0])
    assert leaves([[0, 0.4], [0, 0.6]], (nodes, splits, np.array([-1, 99])), 1).tolist() == [
        [0, 2],
        [2, 2],
    ]


def test_no_rows_and_no_trees():
    nodes, splits, roots = STUMP
    assert leaves(np.zeros((0, 2)), STUMP, 1).shape == (0, 1)
    assert leaves(np.zeros((3, 2)), (nodes, splits, roots[:0]), 1).shape == (3, 0)
    assert leaves(np.zeros((0, 0)), (nodes[:0], splits[:0], roots), 1).shape == (0, 1)
