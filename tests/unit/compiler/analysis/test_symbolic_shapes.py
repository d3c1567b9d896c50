"""Shapes as expressions of the names at the parameters, beside the shapes of runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

import passline
from passline.compiler.analysis.symbolic_shapes import SymbolicShapes
from passline.compiler.interpreters.arrays import Array
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.shape_bindings import bound_dimension
from passline.dialects.relax.types import is_tensor, shape_of
from passline.dialects.signature import dimension_names_in
from passline.dialects.sizes import Size
from passline.passes.relax.fold_symbolic_shapes import fold_symbolic_shapes
from passline.passes.relax.infer_type import infer_types
from passline.passmanager.errors import PasslineError

X = "%x: tensor<?x?x6xf32> {onnx.dims = ['b', 's', unit]}"
Y = "%y: tensor<?x?x6xf32> {onnx.dims = ['b', 't', unit]}"
IMAGE = "%i: tensor<?x2x?x?xf32> {onnx.dims = ['b', unit, '2 * s', 't']}"
BLOCKS = "%i: tensor<?x2x?x?x4xf32> {onnx.dims = ['b', unit, '2 * s', 't', unit]}"
V = "%v: tensor<?xf32> {onnx.dims = ['s']}"
T3, T4, V1 = "tensor<?x?x?xf32>", "tensor<?x?x?x?xf32>", "tensor<?xf32>"

PARTS = """
  %shape = relax.shape_of %x : (tensor<?x?x6xf32>) -> tensor<3xi64>
  %i0 = relax.constant dense<0> : tensor<i64>
  %i1 = relax.constant dense<1> : tensor<i64>
  %b0 = relax.take %shape, %i0 {axis = 0, mode = "raise"}
      : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %s0 = relax.take %shape, %i1 {axis = 0, mode = "raise"}
      : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %b = relax.expand_dims %b0 {axis = [0]} : (tensor<i64>) -> tensor<1xi64>
  %s = relax.expand_dims %s0 {axis = [0]} : (tensor<i64>) -> tensor<1xi64>
  %m1 = relax.constant dense<-1> : tensor<1xi64>
  %n0 = relax.constant dense<0> : tensor<1xi64>
  %n1 = relax.constant dense<1> : tensor<1xi64>
  %n2 = relax.constant dense<2> : tensor<1xi64>
  %n3 = relax.constant dense<3> : tensor<1xi64>
"""
"""The parts of shapes, as exporters compute them."""


def reshape(data: str, *parts: str) -> str:
    """Return the text of a reshape to the shape that consists of `parts`."""
    ones, n = ", ".join(["tensor<1xi64>"] * len(parts)), len(parts)
    source, result = ("tensor<?x?x6xf32>", f"tensor<{'?x' * n}f32>")
    return (
        PARTS + f"  %to = relax.concatenate {', '.join(parts)} : ({ones}) -> tensor<{n}xi64>\n"
        f"  %r = relax.dyn.reshape {data}, %to : ({source}, tensor<{n}xi64>) -> {result}"
    )


CASES: dict[str, tuple[list[str], str, list[str | None]]] = {
    "unary": ([X], f"%r = relax.exp %x : (tensor<?x?x6xf32>) -> {T3}", ["b", "s", "6"]),
    "equal names do not broadcast": (
        [X, V.replace("<?x", "<?x1x")[:-1].replace("['s'", "['s', unit") + "}"],
        f"%r = relax.add %x, %v : (tensor<?x?x6xf32>, tensor<?x1xf32>) -> {T3}",
        ["b", "s", "6"],
    ),
    "other names may broadcast": (
        [X, Y],
        f"%r = relax.add %x, %y : (tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> {T3}",
        ["b", None, "6"],
    ),
    "a table cut to the length of the data": (
        [X, "%p: tensor<1x4x6xf32>"],
        PARTS
        + f"""
  %p4 = relax.dyn.strided_slice %p, %n0, %s, %n1, %n1 : (tensor<1x4x6xf32>, tensor<1xi64>,
      tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x?x6xf32>
  %r = relax.add %x, %p4 : (tensor<?x?x6xf32>, tensor<1x?x6xf32>) -> {T3}""",
        ["b", "s", "6"],
    ),
    "concatenation": (
        [X, Y],
        f"%r = relax.concatenate %x, %y {{axis = 1}} : "
        f"(tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> {T3}",
        ["b", "s + t", "6"],
    ),
    "pool": (
        [IMAGE],
        "%r = relax.nn.max_pool2d %i {pool_size = [2, 3], strides = [2, 2], padding = [0, 1]} "
        f": (tensor<?x2x?x?xf32>) -> {T4}",
        ["b", "2", "s", "(t + 1) // 2"],
    ),
    "pool with a last window that is cut": (
        [IMAGE],
        "%r = relax.nn.max_pool2d %i {pool_size = [2, 2], strides = [1, 3], ceil_mode = true} "
        f": (tensor<?x2x?x?xf32>) -> {T4}",
        ["b", "2", "2 * s - 1", None],
    ),
    "convolution": (
        [IMAGE, "%w: tensor<5x2x3x3xf32>"],
        "%r = relax.nn.conv2d %i, %w {strides = [2, 1], padding = [1, 1]} "
        f": (tensor<?x2x?x?xf32>, tensor<5x2x3x3xf32>) -> {T4}",
        ["b", "5", "s", "t"],
    ),
    "transposed convolution": (
        [IMAGE, "%w: tensor<2x5x2x2xf32>"],
        "%r = relax.nn.conv2d_transpose %i, %w {strides = [2, 2], output_padding = [1, 0]} "
        f": (tensor<?x2x?x?xf32>, tensor<2x5x2x2xf32>) -> {T4}",
        ["b", "5", "4 * s + 1", "2 * t"],
    ),
    "convolution of blocks": (
        [BLOCKS, "%w: tensor<12x8x3x3xf32>"],
        "%r = relax.nn.conv2d %i, %w {padding = [1, 1], strides = [1, 2], "
        'data_layout = "NCHW4c", kernel_layout = "OIHW"} : (tensor<?x2x?x?x4xf32>, '
        "tensor<12x8x3x3xf32>) -> tensor<?x?x?x?x?xf32>",
        ["b", "3", "2 * s", "(t + 1) // 2", "4"],
    ),
    "pool of blocks": (
        [BLOCKS],
        '%r = relax.nn.max_pool2d %i {pool_size = [2, 2], strides = [2, 1], layout = "NCHW4c"} '
        ": (tensor<?x2x?x?x4xf32>) -> tensor<?x?x?x?x?xf32>",
        ["b", "2", "s", "t - 1", "4"],
    ),
    "transformed layout": (
        [BLOCKS],
        '%r = relax.layout_transform %i {src_layout = "NCHW4c", dst_layout = "NHWC2c"} '
        ": (tensor<?x2x?x?x4xf32>) -> tensor<?x?x?x?x?xf32>",
        ["b", "2 * s", "t", "4", "2"],
    ),
    "slices at coordinates": (
        [X, "%p: tensor<?x2xi64> {onnx.dims = ['t', unit]}"],
        "%r = relax.gather_nd %x, %p : (tensor<?x?x6xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>",
        ["t", "6"],
    ),
    "einsum": (
        [X, Y],
        '%r = relax.einsum %x, %y {subscripts = "bsi,bti->bst"} '
        f": (tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> {T3}",
        ["b", "s", "t"],
    ),
    "blocks of pixels as channels": (
        [IMAGE],
        f"%r = relax.nn.space_to_depth %i {{block_size = 2}} : (tensor<?x2x?x?xf32>) -> {T4}",
        ["b", "8", "s", "t // 2"],
    ),
    "channels as blocks of pixels": (
        ["%i: tensor<?x?x?x?xf32> {onnx.dims = ['b', '8 * s', 't', 's']}"],
        f"%r = relax.nn.depth_to_space %i {{block_size = 2}} : (tensor<?x?x?x?xf32>) -> {T4}",
        ["b", "2 * s", "2 * t", "2 * s"],
    ),
    "slices where a condition is true": (
        [X],
        "%c = relax.constant dense<[1, 0]> : tensor<2xi1>\n"
        f"%r = relax.dyn.compress %x, %c {{axis = 2}} : (tensor<?x?x6xf32>, tensor<2xi1>) -> {T3}",
        ["b", "s", None],
    ),
    "global pool": (
        [IMAGE],
        f"%r = relax.nn.global_avg_pool2d %i : (tensor<?x2x?x?xf32>) -> {T4}",
        ["b", "2", "1", "1"],
    ),
    "resize by powers of 2": (
        [IMAGE],
        "%r = relax.image.resize2d %i {size = [-1, -1], scales = [0.5, 2.0]} "
        f": (tensor<?x2x?x?xf32>) -> {T4}",
        ["b", "2", "s", "2 * t"],
    ),
    "resize by a reciprocal that is rounded": (  # floor(161 * (1 / 161)) is 0
        [IMAGE],
        f"%r = relax.image.resize2d %i {{size = [-1, -1], scales = [{1 / 161}, 3.0]}} "
        f": (tensor<?x2x?x?xf32>) -> {T4}",
        ["b", "2", None, "3 * t"],
    ),
    "flatten": ([X], f"%r = relax.flatten %x : (tensor<?x?x6xf32>) -> {V1}", ["6 * b * s"]),
    "matmul": (
        [X, Y],
        "%z = relax.transpose %y {axes = [0, 2, 1]} : (tensor<?x?x6xf32>) -> tensor<?x6x?xf32>\n"
        f"%r = relax.matmul %x, %z : (tensor<?x?x6xf32>, tensor<?x6x?xf32>) -> {T3}",
        ["b", "s", "t"],
    ),
    "sum": (
        [X],
        f"%r = relax.sum %x {{axis = [2], keepdims = true}} : (tensor<?x?x6xf32>) -> {T3}",
        ["b", "s", "1"],
    ),
    "static reshape": (
        [X],
        f"%r = relax.reshape %x {{newshape = [0, -1, 3]}} : (tensor<?x?x6xf32>) -> {T3}",
        ["b", "2 * s", "3"],
    ),
    "reshape to a product": (
        [X],
        "%r = relax.reshape %x {newshape = [-1, 4]} : (tensor<?x?x6xf32>) -> tensor<?x?xf32>",
        ["b * s + ((b * s) // 2)", "4"],
    ),
    "heads": ([X], reshape("%x", "%b", "%s", "%n2", "%n3"), ["b", "s", "2", "3"]),
    "flat batch": ([X], reshape("%x", "%b", "%m1"), ["b", "6 * s"]),
    "a computed size of 0 copies": (
        [X],
        reshape("%x", "%s", "%b", "%n2", "%n3"),
        [None] * 2 + ["2", "3"],
    ),
    "a rest beside a size that may copy": ([X], reshape("%x", "%s", "%m1"), [None, None]),
    "matrices transposed one by one": (
        [X],
        reshape("%x", "%b", "%s", "%n2", "%n3").replace("%r =", "%h =")
        + """
  %q = relax.transpose %h {axes = [0, 2, 1, 3]} : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %m = relax.concatenate %m1, %s, %n3
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %q3 = relax.dyn.reshape %q, %m : (tensor<?x?x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %t3 = relax.transpose %q3 {axes = [0, 2, 1]} : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %t = relax.concatenate %b, %n2, %n3, %s
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %r = relax.dyn.reshape %t3, %t : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>""",
        [None, "2", "3", "s"],
    ),
    "a copied 0": ([X], reshape("%x", "%n0", "%n0", "%m1"), ["b", "s", "6"]),
    "half a slice": (
        [X],
        "%r = relax.strided_slice %x {begin = [0], end = [9223372036854775807], strides = [2], "
        f"axes = [1]}} : (tensor<?x?x6xf32>) -> {T3}",
        ["b", "(s + 1) // 2", "6"],
    ),
    "a slice that may be empty": (
        [X],
        "%r = relax.strided_slice %x {begin = [1], end = [9223372036854775807], axes = [1]} "
        f": (tensor<?x?x6xf32>) -> {T3}",
        ["b", None, "6"],
    ),
    "a slice that may be shorter": (
        [X],
        "%r = relax.strided_slice %x {begin = [0], end = [3], axes = [1]} "
        f": (tensor<?x?x6xf32>) -> {T3}",
        ["b", None, "6"],
    ),
    "reversed": (
        [X],
        "%r = relax.strided_slice %x {begin = [-1], end = [-9223372036854775808], strides = [-1], "
        f"axes = [1]}} : (tensor<?x?x6xf32>) -> {T3}",
        ["b", "s", "6"],
    ),
    "the part of a cache": (
        [X, Y],
        PARTS + "  %both = relax.concatenate %x, %y {axis = 1} : "
        "(tensor<?x?x6xf32>, tensor<?x?x6xf32>) -> tensor<?x?x6xf32>\n"
        "  %all = relax.shape_of %both : (tensor<?x?x6xf32>) -> tensor<3xi64>\n"
        "  %end = relax.strided_slice %all {begin = [1], end = [2]} "
        ": (tensor<3xi64>) -> tensor<1xi64>\n"
        "  %r = relax.dyn.strided_slice %both, %s, %end, %n1, %n1 : (tensor<?x?x6xf32>, "
        "tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x?xf32>",
        ["b", "t", "6"],
    ),
    "expand as torch writes it": (
        [X, "%u: tensor<?x1x1xf32> {onnx.dims = ['b', unit, unit]}"],
        PARTS + "  %to = relax.concatenate %b, %s, %m1 "
        ": (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>\n"
        "  %ones = relax.full 1 : tensor<3xi64>\n"
        "  %minus = relax.full -1 : tensor<3xi64>\n"
        "  %c = relax.equal %to, %minus : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>\n"
        "  %size = relax.where %c, %ones, %to "
        ": (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>\n"
        f"  %r = relax.dyn.expand %u, %size : (tensor<?x1x1xf32>, tensor<3xi64>) -> {T3}",
        ["b", "s", "1"],
    ),
    "arithmetic on sizes": (
        [X],
        PARTS
        + "  %h = relax.floor_divide %s, %n2 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>\n"
        "  %p = relax.multiply %h, %n3 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>\n"
        "  %q = relax.add %p, %b : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>\n"
        "  %f = relax.constant dense<1.0> : tensor<f32>\n"
        f"  %r = relax.dyn.full %f, %q : (tensor<f32>, tensor<1xi64>) -> {V1}",
        ["b + 3 * (s // 2)"],
    ),
    "sizes in i32 may wrap": (
        [X],
        PARTS + "  %h = relax.astype %s {dtype = i32} : (tensor<1xi64>) -> tensor<1xi32>\n"
        "  %f = relax.constant dense<1.0> : tensor<f32>\n"
        f"  %r = relax.dyn.full %f, %h : (tensor<f32>, tensor<1xi32>) -> {V1}",
        [None],
    ),
    "range": (
        [X],
        PARTS + "  %r = relax.arange %i0, %s0, %i1 "
        ": (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>",
        ["s"],
    ),
    "parts": (
        [IMAGE],
        "%r, %z = relax.split %i {sections = 2, axis = 2} "
        f": (tensor<?x2x?x?xf32>) -> ({T4}, {T4})",
        ["b", "2", "s", "t"],
    ),
    "parts rounded up": (
        [X],
        f"%r, %z = relax.split %x {{sections = 2, axis = 1}} : (tensor<?x?x6xf32>) -> ({T3}, {T3})",
        ["b", "(s + 1) // 2", "6"],
    ),
    "a computed number of repetitions": (
        [X],
        PARTS + "  %reps = relax.concatenate %n1, %s, %n2 "
        ": (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>\n"
        f"  %r = relax.dyn.tile %x, %reps : (tensor<?x?x6xf32>, tensor<3xi64>) -> {T3}",
        ["b", "s * s", "12"],
    ),
    "axes that are operands": (
        [X],
        f'{PARTS}  %r = relax.dyn.reduce %x, %n1 {{reduction = "sum", keepdims = true}} '
        f": (tensor<?x?x6xf32>, tensor<1xi64>) -> {T3}",
        ["b", "1", "6"],
    ),
    "padding by operands": (
        [X],
        PARTS
        + "  %w = relax.concatenate %n2, %s : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>\n"
        "  %f = relax.constant dense<1.0> : tensor<f32>\n"
        "  %r = relax.dyn.pad %x, %w, %f, %n1 "
        f": (tensor<?x?x6xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> {T3}",
        ["b", "2 * s + 2", "6"],
    ),
    "branches that agree": (
        [X, Y, "%c: i1"],
        f"%r = scf.if %c -> ({T3}) {{\n"
        f"  %0 = relax.exp %x : (tensor<?x?x6xf32>) -> {T3}\n  scf.yield %0 : {T3}\n}} else {{\n"
        f"  %1 = relax.exp %y : (tensor<?x?x6xf32>) -> {T3}\n  scf.yield %1 : {T3}\n}}",
        ["b", None, "6"],
    ),
    "a loop": (
        [X, Y],
        "%lo = arith.constant 0 : index\n%hi = arith.constant 2 : index\n"
        "%st = arith.constant 1 : index\n"
        f"%x0 = relax.exp %x : (tensor<?x?x6xf32>) -> {T3}\n"
        f"%r = scf.for %k = %lo to %hi step %st iter_args(%a = %x0) -> ({T3}) {{\n"
        f"  %0 = relax.concatenate %a, %y {{axis = 1}} : ({T3}, tensor<?x?x6xf32>) -> {T3}\n"
        f"  scf.yield %0 : {T3}\n}}",
        [None, None, None],
    ),
}


def module_of(name: str) -> ModuleOp:
    """Return the module of a case, whose function returns `%r`."""
    parameters, body, sizes = CASES[name]
    text = ", ".join(parameters).replace("'", '"')
    type = "tensor<?xi64>" if name == "range" else f"tensor<{'?x' * len(sizes)}f32>"
    function = f"func.func @main({text}) -> {type} {{\n{body}\n  func.return %r : {type}\n}}"
    return passline.load(function)


def function_of(module: ModuleOp) -> FuncOp:
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def returned(function: FuncOp) -> SSAValue:
    end = function.body.blocks[-1].last_op
    assert isinstance(end, ReturnOp)
    return end.operands[0]


def arguments(function: FuncOp, sizes: dict[str, int]) -> list[Array]:
    """Return arguments of the sizes that the names of the parameters stand for."""
    arrays: list[Array] = []
    rng = np.random.default_rng(0)
    assert function.arg_attrs is not None
    for arg, attributes in zip(function.args, function.arg_attrs, strict=True):
        if not is_tensor(arg.type):
            arrays.append(np.array(True))
            continue
        shape = shape_of(arg.type) or ()
        names = dimension_names_in(attributes, len(shape))
        dims = [
            n if name is None else bound_dimension(name, sizes) for n, name in zip(shape, names)
        ]
        array = rng.standard_normal([int(d or 0) for d in dims]).astype(np.float32)
        # Coordinates are those of the first slice.
        arrays.append(np.zeros(array.shape, np.int64) if arg.type.element_type == i64 else array)
    return arrays


def runs(module: ModuleOp) -> Iterator[tuple[dict[str, int], Array]]:
    """Yield sizes, and the result for arguments of these; empty dimensions are among them."""
    function = function_of(module)
    run = interpret(module, function)
    for b, s, t in product((0, 1, 4), (0, 1, 2, 5), (0, 3)):
        sizes = {"b": b, "s": s, "t": t}
        try:
            (result,) = run(*arguments(function, sizes))
        except PasslineError:  # a window that does not fit, or sizes that do not broadcast
            continue
        assert isinstance(result, np.ndarray)
        yield sizes, result


@pytest.mark.parametrize("name", CASES)
def test_sizes_are_inferred(name: str):
    module = module_of(name)
    module.verify()
    value = returned(function_of(module))
    found = SymbolicShapes(module).of(value)
    assert found is not None
    expected = CASES[name][2]
    assert [None if size.text is None else str(size) for size in found] == expected
    tried = 0
    for sizes, result in runs(module):
        tried += 1
        for size, actual in zip(found, result.shape, strict=True):
            if size.text is not None:
                assert size.bind(sizes) == Size.of(actual), sizes
    assert tried >= 4


@pytest.mark.parametrize("name", CASES)
def test_folding_keeps_the_results(name: str):
    before, after = module_of(name), module_of(name)
    infer_types(after)
    fold_symbolic_shapes(after)
    after.verify()
    results = {(*sizes.values(),): result for sizes, result in runs(after)}
    tried = 0
    for sizes, result in runs(before):
        tried += 1
        np.testing.assert_array_equal(results[*sizes.values()], result)
    assert tried >= 4


def test_names_belong_to_a_function():
    """A call gives the sizes of the arguments to the names of the parameters."""
    module = passline.load("""
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["n", "m"]}) -> tensor<?x?xf32> {
  %0 = func.call @twice(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = func.call @other(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %1 : tensor<?x?xf32>
}
func.func @twice(%a: tensor<?x?xf32> {onnx.dims = ["m", "n"]}) -> tensor<?x?xf32> {
  %0 = relax.concatenate %a, %a {axis = 0} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}
func.func private @other(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = relax.transpose %a : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}
""")
    sizes = SymbolicShapes(module).of(returned(function_of(module)))
    assert sizes is not None and [size.text for size in sizes] == ["m", "2 * n"]


def test_a_recursion_has_no_known_sizes():
    module = passline.load("""
func.func @main(%x: tensor<?xf32> {onnx.dims = ["n"]}) -> tensor<?xf32> {
  %0 = func.call @main(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
""")
    sizes = SymbolicShapes(module).of(returned(function_of(module)))
    assert sizes is not None and sizes[0].text is None


def test_sizes_without_names_are_equal_along_a_chain():
    module = passline.load("""
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
""")
    function, shapes = function_of(module), SymbolicShapes(module)
    assert shapes.of(returned(function)) == shapes.of(function.args[0])


def test_too_large_expressions_are_unknown():
    lines = [
        f"  %{i + 1} = relax.concatenate %{i}, %{i} {{axis = 0}} "
        ": (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>"
        for i in range(70)
    ]
    text = "\n".join(lines)
    module = passline.load(
        f'func.func @main(%0: tensor<?xf32> {{onnx.dims = ["n"]}}) -> tensor<?xf32> {{\n{text}\n'
        "  func.return %70 : tensor<?xf32>\n}"
    )
    sizes = SymbolicShapes(module).of(returned(function_of(module)))
    assert sizes is not None and sizes[0].text is None


def test_sizes_broadcast_in_any_order_to_one():
    """The second layer of a model adds again what the first one added."""
    types = "(tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>"
    function = function_of(
        passline.load(f"""
func.func @main(%a: {V1} {{onnx.dims = ["a"]}}, %b: {V1} {{onnx.dims = ["b"]}},
    %c: {V1} {{onnx.dims = ["c"]}}) -> ({V1}, {V1}, {V1}, {V1}) {{
  %0 = relax.add %a, %b : {types}
  %1 = relax.add %0, %b : {types}
  %2 = relax.add %b, %a : {types}
  %3 = relax.add %2, %c : {types}
  %4 = relax.add %c, %b : {types}
  %5 = relax.add %4, %a : {types}
  %6 = func.call @add(%c, %1) : {types}
  func.return %1, %2, %5, %6 : {V1}, {V1}, {V1}, {V1}
}}
func.func private @add(%a: {V1} {{onnx.dims = ["d0"]}}, %b: {V1} {{onnx.dims = ["d1"]}}) -> {V1} {{
  %0 = relax.add %a, %b : {types}
  func.return %0 : {V1}
}}""")
    )
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    shapes = SymbolicShapes(module)
    sizes = {
        op.results[0].name_hint or str(n): shapes.of(op.results[0])
        for n, op in enumerate(function.body.block.ops)
        if op.results
    }
    once, again, swapped, three, _, reordered, called = sizes.values()
    assert once == again == swapped
    assert three == reordered == called
    assert once != three
