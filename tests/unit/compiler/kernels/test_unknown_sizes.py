"""Kernels for tensors of unknown sizes: legalized once, they compute what the operations do for all
sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.operations.evaluation import Array
from support.operations.legalized import legalize
from support.parsing import parsed
from support.passes.results import run

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.kernels import CallTIROp
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.walk import walk

Shape = Sequence[int]


def function(parameters: str, results: str, *body: str) -> str:
    """Return a module whose `@main` has operations `body`, the last of which is `%r`."""
    lines = "\n".join(body)
    return f"""func.func @main({parameters}) -> {results} {{
{lines}
  func.return %r : {results}
}}"""


def numbers(shape: Shape, dtype: str = "f4") -> Array:
    values = np.random.default_rng(len(shape)).standard_normal(shape)
    return (10 * values).astype(dtype) if dtype[0] == "i" else values.astype(dtype)


def check(text: str, *cases: Sequence[Shape], rtol: float = 2e-5, target: str = "") -> None:
    """Check that a module has kernels only, and computes the same with them for each case, the
    shapes of the arguments."""
    before, after = parsed(text), parsed(text)
    legalize(after, target)
    left = {op.name for op in walk(after) if isinstance(op, TensorOp)}
    assert left <= {CallTIROp.name, "relax.dyn.reshape", "relax.constant"}, left
    for shapes in cases:
        arguments = tuple(map(numbers, shapes))
        (expected,) = run(before, "main", arguments)
        (actual,) = run(after, "main", arguments)
        mine, other = np.asarray(actual), np.asarray(expected)
        np.testing.assert_allclose(mine, other, rtol, 1e-5, err_msg=str(shapes), strict=True)


M = "tensor<?x?xf32>"


@pytest.mark.parametrize("flags", ["", " {transpose_a = true}", " {transpose_b = false}"])
def test_transposed_matrices(flags: str):
    op = f"  %r = relax.nn.batch_matmul %x, %y{flags} : ({M}, {M}) -> {M}"
    first = [(3, 5), (20, 5), (1, 7), (5, 0)]
    second = [(6, 5), (20, 5), (9, 7), (4, 0)]
    if flags.startswith(" {transpose_a"):
        first = [shape[::-1] for shape in first]
    elif flags:
        second = [shape[::-1] for shape in second]
    check(function(f"%x: {M}, %y: {M}", M, op), *zip(first, second, strict=True))


@pytest.mark.parametrize("second", ["tensor<?xf32>", M, "tensor<1x1xf32>"])
def test_broadcast(second: str):
    op = f"  %r = relax.add %x, %y : ({M}, {second}) -> {M}"
    text = function(f"%x: {M}, %y: {second}", M, op)
    if second == "tensor<1x1xf32>":
        check(text, [(3, 17), (1, 1)], [(0, 5), (1, 1)])
    elif second == M:
        check(text, [(3, 17), (3, 17)], [(1, 8), (4, 8)], [(4, 1), (1, 9)], [(2, 0), (1, 1)])
    else:
        check(text, [(3, 17), (17,)], [(5, 1), (9,)], [(2, 24), (1,)])


def test_sizes_of_one_name_are_merged():
    names = 'onnx.dims = ["n", "m"]'
    body = f"  %r = relax.multiply %x, %y : ({M}, {M}) -> {M}"
    text = function(f"%x: {M} {{{names}}}, %y: {M} {{{names}}}", M, body)
    check(text, [(3, 7), (3, 7)], [(1, 1), (1, 1)], [(0, 4), (0, 4)], [(4, 8), (4, 8)])


def test_operands_that_do_not_broadcast():
    text = function(f"%x: {M}, %y: {M}", M, f"  %r = relax.add %x, %y : ({M}, {M}) -> {M}")
    legalize(module := parsed(text))
    with pytest.raises(PasslineError, match="do not broadcast"):
        run(module, "main", (numbers((2, 3)), numbers((2, 4))))


T = "tensor<?x?x?xf32>"


@pytest.mark.parametrize(
    ("left", "right", "cases"),
    [
        (M, M, [[(1, 1), (1, 1)], [(3, 5), (5, 11)], [(3, 0), (0, 2)]]),
        (T, M, [[(2, 5, 3), (3, 9)], [(1, 1, 8), (8, 1)]]),
        (T, T, [[(2, 5, 3), (2, 3, 9)], [(1, 4, 8), (3, 8, 2)]]),
    ],
)
def test_matmul(left: str, right: str, cases: Sequence[Sequence[Shape]]):
    result = T if T in (left, right) else M
    body = f"  %r = relax.matmul %x, %y : ({left}, {right}) -> {result}"
    check(function(f"%x: {left}, %y: {right}", result, body), *cases)


def test_matmul_of_a_constant():
    weight = "%w = relax.constant dense<0.25> : tensor<6x10xf32>"
    result = "tensor<?x10xf32>"
    product = f"  %p = relax.matmul %x, %w : (tensor<?x6xf32>, tensor<6x10xf32>) -> {result}"
    relu = f"  %r = relax.nn.relu %p : ({result}) -> {result}"
    text = function("%x: tensor<?x6xf32>", result, weight, product, relu)
    check(text, [(1, 6)], [(5, 6)], [(13, 6)], [(0, 6)])


def test_blocks_of_terms():
    weight = "%w = relax.constant dense<0.25> : tensor<600x10xf32>"
    product = (
        "%r = relax.matmul %x, %w : (tensor<?x600xf32>, tensor<600x10xf32>) -> tensor<?x10xf32>"
    )
    text = function("%x: tensor<?x600xf32>", "tensor<?x10xf32>", weight, product)
    check(text, [(1, 600)], [(5, 600)], [(0, 600)], target="x86-64-v3{l2-cache=65536}")


def test_terms_that_only_the_constant_tells():
    values = numbers((4, 5)).tolist()
    weight = f"%w = relax.constant dense<{values}> : tensor<4x5xf32>"
    dense = f"  %r = relax.nn.dense %x, %w : ({M}, tensor<4x5xf32>) -> tensor<?x4xf32>"
    check(function(f"%x: {M}", "tensor<?x4xf32>", weight, dense), [(3, 5)], [(20, 5)])


def test_matrices_that_do_not_multiply():
    text = function(f"%x: {M}, %y: {M}", M, f"  %r = relax.matmul %x, %y : ({M}, {M}) -> {M}")
    legalize(module := parsed(text))
    with pytest.raises(PasslineError, match="other numbers of terms"):
        run(module, "main", (numbers((2, 3)), numbers((4, 2))))


def test_einsum():
    equation = '{subscripts = "bsi,bti->bst"}'
    text = function(
        f"%x: {T}, %y: {T}", T, f"  %r = relax.einsum %x, %y {equation} : ({T}, {T}) -> {T}"
    )
    check(text, [(2, 3, 6), (2, 5, 6)], [(1, 1, 9), (1, 4, 9)], [(0, 2, 3), (0, 1, 3)])
    legalize(module := parsed(text))
    with pytest.raises(PasslineError, match="the sizes of 'i' differ"):
        run(module, "main", (numbers((2, 3, 6)), numbers((2, 5, 7))))


I4 = "tensor<?x?x?x?xf32>"


@pytest.mark.parametrize(
    ("name", "shapes", "wrong", "multiple"),
    [
        ("space_to_depth", [(2, 3, 4, 6), (1, 1, 2, 2), (0, 1, 4, 2)], (1, 2, 5, 4), 2),
        ("depth_to_space", [(2, 8, 3, 5), (1, 4, 1, 1), (1, 12, 2, 0)], (1, 6, 2, 2), 4),
    ],
)
def test_blocks_of_pixels(name: str, shapes: Sequence[Shape], wrong: Shape, multiple: int):
    body = f"  %r = relax.nn.{name} %x {{block_size = 2}} : ({I4}) -> {I4}"
    text = function(f"%x: {I4}", I4, body)
    check(text, *([shape] for shape in shapes))
    legalize(module := parsed(text))
    with pytest.raises(PasslineError, match=f"a size is no multiple of {multiple}"):
        run(module, "main", (numbers(wrong),))


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name: str, axis: int):
    body = f"  %r = relax.nn.{name} %x {{axis = {axis}}} : ({T}) -> {T}"
    check(function(f"%x: {T}", T, body), [(2, 3, 19)], [(1, 1, 1)], [(3, 2, 16)])


@pytest.mark.parametrize("axes", ["[-1]", "[0]", "[0, 2]", "[1, 2]"])
@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_reduction(name: str, axes: str):
    body = f"  %r = relax.{name} %x {{axis = {axes}, keepdims = true}} : ({T}) -> {T}"
    check(function(f"%x: {T}", T, body), [(2, 3, 19)], [(1, 1, 1)], [(3, 5, 16)])


@pytest.mark.parametrize("last", ["false", "true"])
@pytest.mark.parametrize("axis", ["0", "1", "2", "none"])
@pytest.mark.parametrize(
    ("name", "rounded", "element"), [("argmax", "astype", "i8"), ("argmin", "round", "f32")]
)
def test_index_of_an_extremum(name: str, rounded: str, element: str, axis: str, last: str):
    """The data has many equal elements."""
    chosen = "" if axis == "none" else f"axis = {axis}, "
    data, result = f"tensor<?x?x?x{element}>", f"tensor<{'' if axis == 'none' else '?x?x'}i64>"
    given = "{dtype = i8}" if rounded == "astype" else ""
    text = function(
        f"%x: {T}",
        result,
        f"  %i = relax.{rounded} %x {given} : ({T}) -> {data}",
        f"  %r = relax.{name} %i {{{chosen}select_last_index = {last}}} : ({data}) -> {result}",
    )
    check(text, [(2, 3, 19)], [(1, 1, 1)], [(20, 2, 9)], *([[(0, 2, 3)]] if axis == "1" else []))
    legalize(module := parsed(text))
    with pytest.raises(PasslineError, match=f"relax.{name} needs at least one element"):
        run(module, "main", (numbers((0, 0, 0)),))


@pytest.mark.parametrize("form", ["", ", exclusive = true", ", exclusive = true, reverse = true"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scan(axis: int, form: str):
    body = f"  %r = relax.cumsum %x {{axis = {axis}{form}}} : ({T}) -> {T}"
    check(function(f"%x: {T}", T, body), [(2, 3, 19)], [(1, 1, 1)], [(3, 0, 16)], [(0, 5, 4)])


def test_layer_norm():
    data, one = "tensor<?x?x12xf32>", "tensor<12xf32>"
    body = (
        f"  %r = relax.nn.layer_norm %x, %g, %b {{axes = [2]}} : ({data}, {one}, {one}) -> {data}"
    )
    check(
        function(f"%x: {data}, %g: {one}, %b: {one}", data, body),
        [(2, 3, 12), (12,), (12,)],
        [(1, 1, 12), (12,), (12,)],
    )


@pytest.mark.parametrize("axes", ["[1, 0, 2]", "[0, 2, 1]", "[2, 1, 0]"])
def test_transpose(axes: str):
    body = f"  %r = relax.transpose %x {{axes = {axes}}} : ({T}) -> {T}"
    check(function(f"%x: {T}", T, body), [(2, 9, 17)], [(1, 1, 1)], [(3, 0, 2)])


@pytest.mark.parametrize("axis", [0, 1])
def test_concatenate(axis: int):
    body = f"  %r = relax.concatenate %x, %y {{axis = {axis}}} : ({M}, {M}) -> {M}"
    other = (2, 17) if axis == 0 else (3, 5)
    text = function(f"%x: {M}, %y: {M}", M, body)
    check(text, [(3, 17), other], [(1, 1), (1, 1)], [(0, 4), (2, 4) if axis == 0 else (0, 3)])


@pytest.mark.parametrize("part", [(1, 4, 1), (-3, 1 << 40, 1), (0, -1, 2), (7, 2, -2)])
def test_strided_slice(part: tuple[int, int, int]):
    begin, end, step = part
    given = f"begin = [{begin}], end = [{end}], strides = [{step}], axes = [1]"
    body = f"  %r = relax.strided_slice %x {{{given}}} : ({M}) -> {M}"
    check(function(f"%x: {M}", M, body), [(2, 9)], [(3, 2)], [(1, 1)], [(2, 16)])


def test_a_size_without_an_expression_is_computed_in_the_kernel():
    """The joined rows are cut to min(n + m, 6), which the others fit only where it is 6."""
    slice = "{begin = [0], end = [6], strides = [1], axes = [1]}"
    text = f"""func.func @main(%x: {M}, %y: {M}, %z: tensor<?x6xf32>) -> tensor<?x6xf32> {{
  %r = func.call @rows(%x, %y, %z) : ({M}, {M}, tensor<?x6xf32>) -> tensor<?x6xf32>
  func.return %r : tensor<?x6xf32>
}}
func.func private @rows(%x: {M}, %y: {M}, %z: tensor<?x6xf32>) -> tensor<?x6xf32>
    attributes {{relax.primitive}} {{
  %0 = relax.concatenate %x, %y {{axis = 1}} : ({M}, {M}) -> {M}
  %1 = relax.strided_slice %0 {slice} : ({M}) -> {M}
  %r = relax.concatenate %z, %1 : (tensor<?x6xf32>, {M}) -> tensor<?x6xf32>
  func.return %r : tensor<?x6xf32>
}}"""
    check(text, [(2, 3), (2, 5), (4, 6)], [(1, 6), (1, 0), (0, 6)], [(0, 4), (0, 4), (2, 6)])
    legalize(module := parsed(text))
    with pytest.raises(PasslineError, match="the operands differ in size"):
        run(module, "main", tuple(map(numbers, [(2, 3), (2, 1), (4, 6)])))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "circular"])
def test_pad(mode: str):
    given = f'pad_width = [0, 1, 2, 2], pad_mode = "{mode}"'
    body = f"  %r = relax.nn.pad %x {{{given}}} : ({M}) -> {M}"
    check(function(f"%x: {M}", M, body), [(3, 9)], [(4, 3)])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "circular"])
@pytest.mark.parametrize("widths", [[-1, 0, 1, 2], [2, -2, -1, -1], [-2, 3, 0, 0]])
def test_padding_that_removes_elements(widths: list[int], mode: str):
    body = f'  %r = relax.nn.pad %x {{pad_width = {widths}, pad_mode = "{mode}"}} : ({M}) -> {M}'
    text = function(f"%x: {M}", M, body)
    check(text, [(3, 4)], [(5, 3)])
    module, legalized = parsed(text), parsed(text)
    legalize(legalized)
    for form in (module, legalized):
        with pytest.raises(PasslineError, match=r"removes more|fewer than|of shape"):
            run(form, "main", (numbers((0, 1)),))


@pytest.mark.parametrize(
    ("names", "shapes"),
    [
        ('"n", "n * h"', [(2, 6), (3, 3), (0, 0)]),
        ('"2 * h", "h * k"', [(4, 6), (2, 5)]),
        ('"h * k", "n"', [(4, 6)]),
        ('"n", "h // 2"', [(4, 6)]),
        ('"n", "2 * n + h"', [(4, 9)]),
    ],
)
def test_symbols_that_are_no_dimension(names: str, shapes: Sequence[Shape]):
    body = (
        f"  %0 = relax.cumsum %x {{axis = 0}} : ({M}) -> {M}",
        f"  %1 = relax.strided_slice %0 {{begin = [0], end = [9], axes = [1]}} : ({M}) -> {M}",
        f"  %2 = relax.flip %0 {{axis = [0]}} : ({M}) -> {M}",
        f"  %3 = relax.concatenate %2, %1 {{axis = 1}} : ({M}, {M}) -> {M}",
        f"  %4 = relax.cumsum %3 {{axis = 1}} : ({M}) -> {M}",
        f"  %r = relax.nn.batch_flatten %4 : ({M}) -> {M}",
    )
    text = function(f"%x: {M} {{onnx.dims = [{names}]}}", M, *body)
    check(text, *([shape] for shape in shapes))


def test_reshape_keeps_the_number_of_elements():
    body = f"  %r = relax.reshape %x {{newshape = [-1, 4]}} : ({M}) -> tensor<?x4xf32>"
    text = function(f"%x: {M}", "tensor<?x4xf32>", body)
    check(text, [(2, 6)], [(4, 1)], [(0, 3)])
    legalize(module := parsed(text))
    with pytest.raises(PasslineError, match="the number of elements changes"):
        run(module, "main", (numbers((3, 3)),))


@pytest.mark.parametrize("name", ["2 * h", "h"])
def test_a_size_of_the_result_is_part_of_that_of_the_operand(name: str):
    body = "  %r = relax.reshape %x {newshape = [-1, 2]} : (tensor<?xf32>) -> tensor<?x2xf32>"
    parameter = f'%x: tensor<?xf32> {{onnx.dims = ["{name}"]}}'
    check(function(parameter, "tensor<?x2xf32>", body), [(6,)], [(2,)])


@pytest.mark.parametrize("name", ["h * w", "2 * h + 2", "4 * h"])
def test_a_size_of_the_result_that_is_a_quotient_is_computed(name: str):
    body = "  %r = relax.reshape %x {newshape = [-1, 2]} : (tensor<?xf32>) -> tensor<?x2xf32>"
    parameter = f'%x: tensor<?xf32> {{onnx.dims = ["{name}"]}}'
    legalize(module := parsed(function(parameter, "tensor<?x2xf32>", body)))
    x = numbers((8,))
    (result,) = run(module, "main", (x,))
    np.testing.assert_array_equal(np.asarray(result), x.reshape(4, 2))


IMAGE = "tensor<?x2x?x?xf32>"


@pytest.mark.parametrize(
    ("groups", "form"),
    [(1, "strides = [2, 2], "), (2, ""), (2, "strides = [2, 2], "), (2, "dilation = [2, 2], ")],
)
def test_conv2d(groups: int, form: str):
    weight = f"tensor<4x{2 // groups}x3x3xf32>"
    given = f"{form}padding = [1, 1], groups = {groups}"
    result = "tensor<?x4x?x?xf32>"
    body = f"  %r = relax.nn.conv2d %x, %w {{{given}}} : ({IMAGE}, {weight}) -> {result}"
    text = function(f"%x: {IMAGE}, %w: {weight}", result, body)
    kernel = (4, 2 // groups, 3, 3)
    check(text, [(1, 2, 3, 11), kernel], [(2, 2, 3, 3), kernel])


def test_image_that_is_smaller_than_a_window():
    weight, result = "tensor<2x2x3x3xf32>", "tensor<?x2x?x?xf32>"
    body = f"  %r = relax.nn.conv2d %x, %w : ({IMAGE}, {weight}) -> {result}"
    legalize(module := parsed(function(f"%x: {IMAGE}, %w: {weight}", result, body)))
    with pytest.raises(PasslineError):
        run(module, "main", (numbers((1, 2, 2, 2)), numbers((2, 2, 3, 3))))


@pytest.mark.parametrize(
    "given",
    [
        "pool_size = [2, 2], strides = [2, 2]",
        "pool_size = [3, 3], strides = [2, 2], padding = [1, 1]",
        "pool_size = [3, 2], strides = [2, 2], ceil_mode = true",
    ],
)
@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
def test_pooling(name: str, given: str):
    body = f"  %r = relax.nn.{name} %x {{{given}}} : ({IMAGE}) -> {IMAGE}"
    check(function(f"%x: {IMAGE}", IMAGE, body), [(1, 2, 3, 11)], [(2, 2, 4, 4)])


@pytest.mark.parametrize(
    ("method", "scale"),
    [("nearest_neighbor", 2.0), ("nearest_neighbor", 1.3), ("linear", 0.5), ("cubic", 1.3)],
)
def test_resize(method: str, scale: float):
    given = f'size = [-1, -1], scales = [{scale}, {scale}], layout = "NCHW", method = "{method}"'
    body = f"  %r = relax.image.resize2d %x {{{given}}} : ({IMAGE}) -> {IMAGE}"
    check(function(f"%x: {IMAGE}", IMAGE, body), [(1, 2, 3, 5)], [(1, 2, 2, 3)])
