"""Kernels of operations whose parameters are operands: legalized once, they compute what the
operations do for all parameters, and fail with a message for those that are not valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pytest
from support.operations.evaluation import Array
from support.operations.legalized import legalize
from support.passes.results import run
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.images import COORDINATES
from passline.dialects.relax.kernels import CallTIROp
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

M, V, SCALAR = "tensor<?x?xf32>", "tensor<?xf32>", "tensor<i64>"
Argument: TypeAlias = "Array | np.generic | tuple[int, ...] | list[int] | int"
Arguments: TypeAlias = Sequence[Argument]


def parsed(parameters: Sequence[str], op: str, results: str) -> ModuleOp:
    """Return a module whose `@main` is `op` on parameters %0, %1, ... of these types."""
    given = ", ".join(f"%{i}: {type}" for i, type in enumerate(parameters))
    inputs, many = ", ".join(parameters), len(results.split(", ")) > 1
    values = ", ".join(f"%r#{i}" for i in range(len(results.split(", ")))) if many else "%r"
    number = f":{len(results.split(', '))}" if many else ""
    text = f"""func.func @main({given}) -> ({results}) {{
  %r{number} = {op} : ({inputs}) -> ({results})
  func.return {values} : {results}
}}"""
    return parse_module(make_ir_context(), text, "dynamic.mlir")


def arrays(arguments: Arguments) -> tuple[Array, ...]:
    """Return the arguments as arrays: a shape stands for numbers of this shape, a list for
    integers."""
    return tuple(
        numbers(a)
        if isinstance(a, tuple)
        else np.array(a, np.int64)
        if isinstance(a, list | int)
        else np.asarray(a)
        for a in arguments
    )


def numbers(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("f4")


def legalized(module: ModuleOp) -> ModuleOp:
    legalize(module := module.clone())
    left = {op.name for op in walk(module) if isinstance(op, TensorOp)}
    assert left <= {CallTIROp.name, "relax.dyn.reshape", "relax.constant"}, left
    return module


def check(module: ModuleOp, *cases: Arguments) -> None:
    """Check that a module has kernels only, and computes the same with them."""
    after = legalized(module)
    for case in cases:
        arguments = arrays(case)
        expected, actual = (run(each, "main", arguments) for each in (module, after))
        for mine, other in zip(map(np.asarray, actual), map(np.asarray, expected), strict=True):
            np.testing.assert_allclose(mine, other, 2e-5, 1e-5, err_msg=str(case), strict=True)


def check_fails(module: ModuleOp, message: str, *cases: Arguments) -> None:
    """Check that the kernels and the operations both fail, the kernels with a message."""
    after = legalized(module)
    for case in cases:
        with pytest.raises(PasslineError, match=message):
            run(after, "main", arrays(case))
        with pytest.raises(Exception):
            run(module, "main", arrays(case))


def test_tile():
    module = parsed([M, "tensor<3xi64>"], "relax.dyn.tile %0, %1", "tensor<?x?x?xf32>")
    check(
        module, [(2, 3), [2, 1, 3]], [(2, 3), [1, 0, 2]], [(0, 3), [1, 2, 2]], [(1, 1), [1, 1, 1]]
    )
    check_fails(module, r"dyn\.tile: a number of repetitions is neg", [(2, 3), [1, -1, 2]])


def test_one_hot():
    types = ["tensor<?xi64>", "tensor<f32>", "tensor<f32>", SCALAR]
    module = parsed(types, "relax.dyn.one_hot %0, %1, %2, %3 {axis = 0}", M)
    one, zero = np.float32(2), np.float32(-1)
    check(
        module, *([places, one, zero, depth] for places in ([0, 2, 5, -1], []) for depth in (3, 0))
    )
    check_fails(module, r"dyn\.one_hot: the depth is negative", [[1], one, zero, -1])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "circular"])
def test_pad(mode: str):
    types = [M, "tensor<4xi64>", "tensor<f32>", "tensor<2xi64>"]
    module = parsed(types, f'relax.dyn.pad %0, %1, %2, %3 {{pad_mode = "{mode}"}}', M)
    value = np.float32(7)
    widths = [[0, 0, 0, 0], [1, 2, 2, 0], [-1, 1, 0, -1], [-2, 0, 1, 3]]
    check(module, *([(3, 4), width, value, [0, -1]] for width in widths))
    check(module, [(3, 4), [3, 1, -1, 5], value, [1, 0]])
    check_fails(module, "more than dimension 1 is removed", [(3, 2), [0, -2, 0, -1], value, [0, 1]])
    check_fails(module, "axis is out of bounds for rank 2", [(3, 2), [0, 1, 0, 1], value, [0, 2]])
    check_fails(module, "axis is given twice", [(3, 2), [0, 1, 0, 1], value, [0, -2]])
    empty = [(0, 2), [1, 0, 0, 0], value, [0, 1]]
    if mode == "constant":
        check(module, empty)
    else:
        check_fails(module, "dimension 0 has no elements to copy", empty)


def test_split():
    module = parsed([M, "tensor<3xi64>"], "relax.dyn.split %0, %1 {axis = 1}", f"{M}, {M}, {M}")
    check(
        module, [(2, 6), [1, 0, 5]], [(2, 6), [2, 2, 2]], [(0, 3), [1, 1, 1]], [(3, 0), [0, 0, 0]]
    )
    check_fails(module, "do not add up to dimension 1", [(2, 6), [1, 1, 1]], [(2, 2), [1, 1, 1]])
    check_fails(module, "the size of a part is negative", [(2, 6), [-1, 2, 5]])


def test_split_of_an_unknown_dimension():
    module = parsed([M], "relax.split %0 {axis = 0, sections = 3}", f"{M}, {M}, {M}")
    check(module, [(6, 2)], [(5, 2)], [(4, 2)], [(8, 1)], [(0, 2)])
    check_fails(module, "dimension 0 does not split into 3", [(1, 2)])
    module = parsed([M], "relax.split %0 {axis = -1, indices = [-3, 4]}", f"{M}, {M}, {M}")
    check(module, [(2, 9)], [(2, 4)], [(2, 2)], [(3, 0)])


def test_squeeze_and_expand_dims():
    three = "tensor<?x?x?xf32>"
    module = parsed([three, "tensor<2xi64>"], "relax.dyn.squeeze %0, %1", V)
    check(module, [(1, 5, 1), [0, 2]], [(4, 1, 1), [-1, 1]], [(1, 1, 0), [1, 0]])
    check_fails(module, "relax.dyn.squeeze: ", [(2, 5, 1), [0, 2]], [(1, 1, 1), [0, 0]])
    module = parsed([V, "tensor<2xi64>"], "relax.dyn.expand_dims %0, %1", three)
    check(module, [(5,), [0, 2]], [(4,), [-1, -2]], [(0,), [1, 0]])
    check_fails(module, "relax.dyn.expand_dims: ", [(5,), [0, 3]], [(5,), [1, -2]])


BOUNDS = [([1, 0], [3, 5], [1, 2]), ([-1, 4], [-9, 1], [-1, -2]), ([5, -9], [9, 99], [1, 1])]


@pytest.mark.parametrize("axes", [[0, 1], [-1, 0]])
def test_slice_along_run_time_axes(axes: list[int]):
    types = [M, *["tensor<2xi64>"] * 4]
    module = parsed(types, "relax.dyn.strided_slice %0, %1, %2, %3, %4", M)
    rows = [(begin, end, axes, steps) for begin, end, steps in BOUNDS]
    check(module, *([shape, *row] for shape in ((4, 6), (1, 0)) for row in rows))
    largest = 2**63 - 1
    check(module, [(4, 6), [0, 1], [largest] * 2, axes, [largest, 1]])
    check_fails(module, "a stride is 0", [(4, 6), [0, 0], [2, 2], axes, [1, 0]])
    check_fails(module, "axis is given twice", [(4, 6), [0, 0], [2, 2], [1, -1], [1, 1]])


@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("keepdims", ["true", "false"])
def test_reduce(reduction: str, keepdims: str):
    three = "tensor<?x?x?xf32>"
    op = f'relax.dyn.reduce %0, %1 {{reduction = "{reduction}", keepdims = {keepdims}}}'
    result = three if keepdims == "true" else V
    module = parsed([three, "tensor<2xi64>"], op, result)
    rows = [[0, 1], [2, 0], [-1, -2]]
    check(module, *([shape, axes] for shape in ((2, 3, 4), (1, 1, 5)) for axes in rows))
    if reduction in ("sum", "prod"):
        check(module, [(2, 0, 3), [1, 2]], [(0, 2, 3), [1, 2]])
    check_fails(module, "axis is out of bounds for rank 3", [(2, 3, 4), [0, 3]])


@pytest.mark.parametrize("noop", ["true", "false"])
def test_reduce_without_axes(noop: str):
    op = f"relax.dyn.reduce %0, %1 {{noop_with_empty_axes = {noop}}}"
    check(parsed([M, "tensor<0xi64>"], op, M), [(2, 3), []], [(0, 3), []])


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("form", ["", "exclusive = true", "reverse = true, exclusive = true"])
def test_scan(name: str, form: str):
    three = "tensor<?x?x?xf32>"
    module = parsed([three, SCALAR], f"relax.dyn.{name} %0, %1 {{{form}}}", three)
    check(module, *([shape, axis] for shape in ((2, 3, 4), (2, 0, 3)) for axis in (0, 1, -1)))
    check_fails(module, "axis is out of bounds for rank 3", [(2, 3, 4), 3])


@pytest.mark.parametrize("largest", ["true", "false"])
def test_topk(largest: str):
    op = f"relax.dyn.topk %0, %1 {{axis = 1, largest = {largest}}}"
    module = parsed([M, SCALAR], op, f"{M}, tensor<?x?xi64>")
    ties = np.array([[3, 1, 3, 2, 1], [0, 0, 0, 0, 0]], np.float32)
    check(module, [(2, 5), 3], [(3, 33), 33], [(2, 5), 0], [ties, 4], [(0, 4), 2], [(2, 1), 1])
    check_fails(module, r"k exceeds dimension 1", [(2, 3), 4], [(2, 0), 1])


@pytest.mark.parametrize("descending", ["true", "false"])
def test_sort_of_unknown_sizes(descending: str):
    module = parsed([M], f"relax.sort %0 {{axis = 0, descending = {descending}}}", M)
    check(module, *([(size, 2)] for size in (0, 1, 2, 3, 8, 21)))


@pytest.mark.parametrize("mode", COORDINATES)
@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
def test_resize(mode: str, method: str):
    data = "tensor<1x2x?x?xf32>"
    attributes = f'method = "{method}", coordinate_transformation_mode = "{mode}"'
    attributes += ", roi = [0.1, 0.2, 0.9, 1.2]"
    module = parsed([data, "tensor<2xi64>"], f"relax.dyn.resize %0, %1 {{{attributes}}}", data)
    check(module, *([(1, 2, 3, 4), size] for size in ([6, 9], [2, 3], [3, 1], [1, 2])))
    check_fails(module, "size 1 is less than 1", [(1, 2, 3, 4), [2, 0]])
    check_fails(module, "the data has no elements", [(1, 2, 0, 4), [2, 2]])


@pytest.mark.parametrize(
    ("element", "cases"),
    [
        ("i32", [(0, 5, 1), (0, 5, 2), (5, 0, -2), (3, 3, 1), (0, 5, -1), (-7, 7, 5)]),
        ("f32", [(0, 1, 0.1), (1, 0, -0.25), (0, 3, 1), (0, 2.5, 4), (2, 0, 1), (0.1, 0.7, 0.2)]),
        ("f64", [(0, 1, 0.1), (1e300, 2e300, 1e299)]),
    ],
)
def test_arange(element: str, cases: Sequence[tuple[float, ...]]):
    dtype = {"i32": np.int32, "f32": np.float32, "f64": np.float64}[element]
    module = parsed([f"tensor<{element}>"] * 3, "relax.arange %0, %1, %2", f"tensor<?x{element}>")
    check(module, *([dtype(x) for x in case] for case in cases))
    wrong = [(0, 1, 0)] if element == "i32" else [(0, 1, 0), (0, np.inf, 1), (np.nan, 1, 1)]
    check_fails(module, "the range is not finite", *([dtype(x) for x in case] for case in wrong))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_compress(axis: int | None):
    attribute = "" if axis is None else f" {{axis = {axis}}}"
    result = V if axis is None else M
    module = parsed([M, "tensor<?xi1>"], f"relax.dyn.compress %0, %1{attribute}", result)
    masks = [np.array(mask, np.bool_) for mask in ([1, 0, 1], [0, 0], [], [1])]
    check(module, *([shape, mask] for shape in ((3, 4),) for mask in masks), [(0, 0), masks[1]])
    check_fails(module, "an index is out of bounds", [(2, 2), np.array([0, 0, 0, 0, 1], np.bool_)])


def test_nonzero_of_unknown_sizes():
    module = parsed([M], "relax.nonzero %0", "tensor<2x?xi64>")
    check(module, [np.eye(3, 2, dtype=np.float32)], [np.zeros((0, 3), np.float32)])


@pytest.mark.parametrize("center", ["true", "false"])
def test_non_max_suppression(center: str):
    types = ["tensor<?x?x4xf32>", "tensor<?x?x?xf32>", SCALAR, "tensor<f32>", "tensor<f32>"]
    op = f"relax.vision.non_max_suppression %0, %1, %2, %3, %4 {{center_point_box = {center}}}"
    module = parsed(types, op, "tensor<?x3xi64>")
    rng = np.random.default_rng(0)
    boxes, scores = rng.random((2, 12, 4), np.float32), rng.random((2, 3, 12), np.float32)
    scores[0, 0, 3], scores[1, 2] = np.nan, 0.5
    share, lowest = np.float32(0.3), np.float32(0.25)
    check(module, *([boxes, scores, most, share, lowest] for most in (0, 1, 3, 99, -1)))
    check(module, [boxes[:, :0], scores[:, :, :0], 3, share, lowest])
    check_fails(module, "iou_threshold is not", [boxes, scores, 3, np.float32(1.5), lowest])
