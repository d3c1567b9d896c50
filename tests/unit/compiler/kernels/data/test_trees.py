"""Kernels of tree_leaves compute what the operation does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.native.needs_openmp import needs_openmp
from support.operations.evaluation import Array, constant, run
from support.operations.legalized import check_kernel, legalize
from support.operations.trees import Forest, random_forest
from support.parsing import parsed
from support.passes.results import run as run_function
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32, f64, i32
from xdsl.dialects.func import FuncOp, ReturnOp

from passline.compiler.native import NativeFunction, compile_module
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.data.trees import TreeLeavesOp
from passline.dialects.relax.types import Element
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.walk import walk


def rows_of(count: int, features: int = 3) -> Array:
    return np.random.default_rng(count).standard_normal((count, features)).astype(np.float32)


def tables(forest: Forest, element: Element = f32) -> list[ConstantOp]:
    return [constant(table, kind) for table, kind in zip(forest, (i32, element, i32), strict=True)]


def operation(data: Array, forest: Forest, depth: int, element: Element = f32) -> TreeLeavesOp:
    return TreeLeavesOp(constant(data, element), *tables(forest, element), depth=depth)


def on_constants(data: Array, forest: Forest, depth: int) -> ModuleOp:
    """Return a module whose function walks through constant trees."""
    operands = tables(forest)
    data_type = constant(data, f32).result.type
    func = FuncOp("main", ([data_type], []))
    op = TreeLeavesOp(func.args[0], *operands, depth=depth)
    func.body.block.add_ops([*operands, op, ReturnOp(op.result)])
    func.update_function_type()
    return ModuleOp([func])


# Walks of several trees, and of several rows


@pytest.mark.parametrize("depth", [0, 1, 3, 4, 5, 9])
def test_depths(depth: int):
    check_kernel(operation(rows_of(3), random_forest(4, 5, 3), depth))


@pytest.mark.parametrize("trees", [0, 1, 2, 5, 16, 17])
@pytest.mark.parametrize("rows", [0, 1, 9])
def test_groups(rows: int, trees: int):
    """A group has several rows where the trees are few; its last row may be repeated."""
    nodes, splits, roots = random_forest(17, 3, 3)
    check_kernel(operation(rows_of(rows), (nodes, splits, roots[:trees]), 3))


@pytest.mark.parametrize("trees", [2, 5, 16])
def test_blocks_of_rows(trees: int):
    check_kernel(operation(rows_of(130), random_forest(trees, 2, 3), 2))


@pytest.mark.parametrize("element", [f16, bf16, f32, f64], ids=str)
def test_elements(element: Element):
    data = rows_of(6)
    data[::2, 0], data[1, 1], data[2, 1] = math.nan, math.inf, -math.inf
    check_kernel(operation(data, random_forest(3, 4, 3), 4, element))


# Indices out of range

OUTSIDE: Forest = (
    np.array([[9, -5, 7], [-1, 1, 2**31 - 1], [-(2**31), 2, 2]]),
    np.array([0.5, -0.5, 0]),
    np.array([-1, 99, 1]),
)


def test_indices_of_operands_are_clipped():
    check_kernel(operation(rows_of(5), OUTSIDE, 4))


def test_indices_of_constants_are_clipped_unless_in_range():
    data = rows_of(5)
    minima: list[int] = []
    for forest in (random_forest(3, 4, 3), OUTSIDE):
        before, after = (on_constants(data, forest, 4) for _ in range(2))
        legalize(after)
        minima.append(sum(isinstance(op, arith.MinSIOp) for op in walk(after)))
        expected, actual = (run_function(module, "main", (data,)) for module in (before, after))
        np.testing.assert_array_equal(actual[0], expected[0])
    assert minima[0] < minima[1]


# Machine code, for known sizes and for unknown ones

UNKNOWN = parsed("""
func.func @main(%x: tensor<?x?xf32>, %n: tensor<?x?xi32>, %s: tensor<?xf32>, %r: tensor<?xi32>)
    -> tensor<?x?xi32> {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 6}
      : (tensor<?x?xf32>, tensor<?x?xi32>, tensor<?xf32>, tensor<?xi32>) -> tensor<?x?xi32>
  func.return %0 : tensor<?x?xi32>
}
""")


def arguments(forest: Forest) -> list[Array]:
    return [run(table) for table in tables(forest)]


def check(function: NativeFunction, data: Array, forest: Forest, *others: Array, depth: int = 6):
    (actual,) = function(data, *others)
    np.testing.assert_array_equal(actual, run(operation(data, forest, depth)), strict=True)


@needs_native
def test_unknown_sizes():
    function = compile_module(UNKNOWN.clone())
    for trees in (1, 3, 16, 40):
        forest = random_forest(trees, 6, 4)
        for rows in (0, 1, 7, 64, 65, 200):
            check(function, rows_of(rows, 4), forest, *arguments(forest))
    check(function, rows_of(9), OUTSIDE, *arguments(OUTSIDE))


@needs_native
def test_operands_that_do_not_fit_are_errors():
    function = compile_module(UNKNOWN.clone())
    nodes, splits, roots = arguments(random_forest(2, 3, 4))
    for message, *operands in (
        ("the numbers of nodes and splits differ", rows_of(2, 4), nodes, splits[1:], roots),
        ("a node has not 3 columns", rows_of(2, 4), nodes[:, :2].copy(), splits, roots),
        ("axis 1 of the data has no elements", rows_of(2, 0), nodes, splits, roots),
        ("the table of nodes has no elements", rows_of(2, 4), nodes[:0], splits[:0], roots),
    ):
        with pytest.raises(PasslineError, match=message):
            function(*operands)
    assert np.asarray(function(rows_of(0, 0), nodes[:0], splits[:0], roots)[0]).shape == (0, 2)


@needs_native
@pytest.mark.parametrize(
    ("trees", "threads"), [(1, 1), (7, 1), pytest.param(50, 2, marks=needs_openmp)]
)
def test_constant_trees(trees: int, threads: int):
    forest = random_forest(trees, 8, 5)
    for rows in (1, 10, 300):
        data = rows_of(rows, 5)
        function = compile_module(on_constants(data, forest, 8), threads=threads)
        check(function, data, forest, depth=8)
