"""The back end onnxruntime: the results of each operation of its table, and what it refuses."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from support.missing import hide
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from support.suites.inprocess import capture, passline_opt
from xdsl.dialects.builtin import ModuleOp, UnrankedTensorType, f32, f64
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import InterpretationError

from passline.compiler.interpreters.arrays import Array
from passline.compiler.interpreters.codegens import codegen_named
from passline.compiler.interpreters.codegens.calls import checked
from passline.compiler.interpreters.codegens.onnxruntime import NODES, OnnxRuntime
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passmanager import NotInstalledError, PasslineError
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.tools.run import PasslineRunMain

PIPELINE = "fuse-ops-by-pattern{codegens=onnxruntime},merge-composite-functions,run-codegen"
X = "tensor<2x3x6x6xf32>"
UNARY = ("abs", "exp", "negative", "nn.relu", "nn.softmax", "sigmoid", "sqrt", "tanh")
BINARY = ("add", "divide", "multiply", "subtract")
CASES = {
    **{f"relax.{name}": f'"relax.{name}"(%x) : ({X}) -> {X}' for name in UNARY},
    **{f"relax.{name}": f'"relax.{name}"(%x, %y) : ({X}, tensor<6xf32>) -> {X}' for name in BINARY},
    "relax.matmul": f"relax.matmul %x, %x : ({X}, {X}) -> {X}",
    "relax.nn.conv2d": "relax.nn.conv2d %x, %w {strides = [2, 1], padding = [1, 0, 2, 1], "
    f"groups = 3}} : ({X}, tensor<3x1x3x2xf32>) -> tensor<2x3x4x6xf32>",
    "relax.nn.dense": "relax.nn.dense %d, %d : (tensor<2x3xf32>, tensor<2x3xf32>)"
    " -> tensor<2x2xf32>",
    "relax.nn.max_pool2d": "relax.nn.max_pool2d %x {pool_size = [3, 2], padding = [1, 0], "
    f"strides = [1, 2]}} : ({X}) -> tensor<2x3x6x3xf32>",
}


def module_of(name: str) -> ModuleOp:
    result = CASES[name].rpartition("-> ")[2]
    return parsed(
        "func.func @main(%x: tensor<2x3x6x6xf32>, %y: tensor<6xf32>, %w: tensor<3x1x3x2xf32>,"
        f" %d: tensor<2x3xf32>) -> {result} {{\n %0 = {CASES[name]}\n"
        f" %1 = relax.floor %0 : ({result}) -> {result}\n"
        f" %2 = relax.subtract %0, %1 : ({result}, {result}) -> {result}\n"
        f" func.return %2 : {result}\n}}"
    )


def run(module: ModuleOp) -> Array:
    """Return the result of @main on random arguments."""
    rng = np.random.default_rng(0)
    shapes = [(2, 3, 6, 6), (6,), (3, 1, 3, 2), (2, 3)]
    inputs = [rng.uniform(0.5, 2, shape).astype(np.float32) for shape in shapes]
    (result,) = interpret(module, entry_function(module, "main"))(*inputs)
    assert not isinstance(result, tuple) and not callable(result)
    return result


@pytest.mark.parametrize("name", NODES)
def test_results_are_those_of_numpy(name: str) -> None:
    module = module_of(name)
    compiled = parse_pipeline(PIPELINE)(module)
    assert all(op.name != name for op in walk(compiled))
    expected, actual = run(module), run(compiled)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "op",
    [
        'relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"}'
        " : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>",
        "relax.nn.max_pool2d %x {pool_size = [2, 2], ceil_mode = true}"
        " : (tensor<1x4x4x1xf32>) -> tensor<1x4x3x0xf32>",
        "relax.add %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>",
    ],
)
def test_other_layouts_properties_and_types_are_refused(op: str) -> None:
    text = (
        "func.func @main(%x: tensor<1x4x4x1xf32>, %w: tensor<1x1x1x1xf32>, %i: tensor<2xi32>) {"
        f"%0 = {op} func.return }}"
    )
    found = next(inner for inner in walk(parsed(text)) if inner.name in NODES)
    assert not OnnxRuntime().accepts([found])


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_package_that_is_not_installed(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, package)
    with pytest.raises(NotInstalledError, match=f"^{package} is not installed: pip install"):
        run(parse_pipeline(PIPELINE)(module_of("relax.exp")))


def test_a_fill_of_terabytes_is_not_expanded() -> None:
    text = (
        "func.func private @f() -> tensor<1099511627776xf32> attributes "
        '{relax.codegen = "onnxruntime"} { %0 = relax.full 1.0 : tensor<1099511627776xf32> '
        "func.return %0 : tensor<1099511627776xf32> }"
    )
    result = passline_opt("-", "-p", "run-codegen", stdin=text)
    assert result.status == 1
    assert "cannot be compiled by 'onnxruntime': 'relax.full' at" in result.stderr


def test_a_constant_of_rank_0_keeps_its_rank() -> None:
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %c = relax.constant dense<2.0> : tensor<f32>
      %0 = relax.multiply %x, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
      func.return %0 : tensor<f32>
    }"""
    compiled = parse_pipeline(PIPELINE)(parsed(text))
    assert all(op.name != "relax.multiply" for op in walk(compiled))
    (result,) = interpret(compiled, entry_function(compiled, "main"))(np.float32(3))
    assert np.asarray(result).shape == ()
    assert float(np.asarray(result)) == 6  # pyright: ignore[reportArgumentType]


def test_an_unknown_back_end() -> None:
    with pytest.raises(PasslineError, match="no back end 'ort'; registered are onnxruntime"):
        codegen_named("ort")


def model(node: onnx.NodeProto, *initializers: onnx.TensorProto) -> bytes:
    value = helper.make_tensor_value_info("x", 1, [2])
    out = helper.make_tensor_value_info("y", 1, [2])
    graph = helper.make_graph([node], "g", [value], [out], [*initializers])
    return helper.make_model(graph).SerializeToString()


def test_models_that_it_did_not_compile_are_not_run() -> None:
    """The text of a module is untrusted."""
    outside = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location="EXTERNAL")
    outside.external_data.add(key="location", value="/etc/passwd")
    branch = helper.make_graph([], "g", [], [])
    for bad, reason in {
        b"\xff\xff": "not an ONNX model",
        model(helper.make_node("Custom", ["x"], ["y"], domain="other")): "node 'Custom'",
        model(helper.make_node("If", ["x"], ["y"], then_branch=branch)): "node 'If'",
        model(helper.make_node("Relu", ["x"], ["y"]), outside): "data outside",
    }.items():
        with pytest.raises(PasslineError, match=reason):
            OnnxRuntime().load(bad)


@needs_native
def test_machine_code_says_who_computes_the_function() -> None:
    text = str(parse_pipeline(PIPELINE)(module_of("relax.exp")))
    result = capture(lambda: PasslineRunMain(["-", "--engine=native"]).run(), text)
    assert result.status == 1
    assert "is computed by the back end 'onnxruntime', which only the engine numpy" in result.stderr


def test_results_of_another_type_are_an_error() -> None:
    compiled = str(parse_pipeline(PIPELINE)(module_of("relax.exp")))
    other = compiled.replace("2x3x6x6xf32>, relax", "x").replace(
        "onnxruntime_region(tensor<2x3x6x6xf32>) -> tensor<2x3x6x6xf32>",
        "onnxruntime_region(tensor<2x3x6x6xf32>) -> tensor<2x3x6x5xf32>",
    )
    assert other != compiled
    module = parsed(other)
    with pytest.raises(PasslineError, match="'onnxruntime' returned float32"):
        run(module)


def test_the_element_type_of_an_unranked_result_is_checked() -> None:
    results = [np.zeros(2, np.float32)]
    func = FuncOp.external("f", [], [UnrankedTensorType(f32)])
    assert checked(func, "other", results) == tuple(results)
    func = FuncOp.external("f", [], [UnrankedTensorType(f64)])
    with pytest.raises(InterpretationError, match=r"'other' returned float32\[2\] for a result"):
        checked(func, "other", results)


def test_the_text_can_be_read_again() -> None:
    compiled = parse_pipeline(PIPELINE)(module_of("relax.exp"))
    again = passline_opt("-", stdin=str(compiled))
    expected, actual = run(compiled), run(parsed(again.stdout))
    np.testing.assert_array_equal(actual, expected)
