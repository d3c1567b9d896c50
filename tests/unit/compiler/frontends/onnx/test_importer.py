"""The import of an ONNX graph as a function: its names, constants, types, local functions."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from support.models.from_text import imported, model_of, run
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, NameLoc, UnrankedTensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from passline.compiler.frontends.onnx import ModelError, import_model
from passline.compiler.interpreters.shape_bindings import ShapeBindingError
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.passes.relax.bind_shapes import BindShapes


def main(module: ModuleOp) -> FuncOp:
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return function


def ops(module: ModuleOp) -> list[Operation]:
    """The operations of `@main` but its return."""
    return list(main(module).body.block.ops)[:-1]


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("relax.") for op in ops(module)]


def with_initializers(model: ModelProto, **arrays: np.ndarray) -> ModelProto:
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in arrays.items())
    return model


ONES = np.ones(3, np.float32)


# Names


def test_names_are_kept():
    model = model_of("net (float[N, 3] x) => (float[N, 3] y) { a = Relu(x) y = Exp(a) }")
    model.graph.node[0].name = "/layer 1/relu"
    module = imported(model)
    function, (relu, exp) = main(module), ops(module)
    assert str(function).splitlines()[0] == (
        'func.func @main(%x: tensor<?x3xf32> {onnx.name = "x", onnx.dims = ["N", unit]}) '
        '-> (tensor<?x3xf32> {onnx.name = "y", onnx.dims = ["N", unit]}) {'
    )
    assert [relu.results[0].name_hint, exp.results[0].name_hint] == ["a", "y"]
    located = [function, function.args[0], relu, exp]
    found = [v.location.desc.data for v in located if isinstance(v.location, NameLoc)]
    assert found == ["net", "x", "/layer 1/relu", "y"]  # of a node without a name, its output


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.b$c-d", "a.b$c-d"),
        ("/layer/Conv_output_0", "layer_Conv_output.0"),  # xDSL drops a number after an underscore
        ("12", "v12"),
        ("é", None),
    ],
)
def test_names_that_are_none_in_mlir_are_changed(name: str, hint: str | None):
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    model.graph.node[0].output[0] = model.graph.output[0].name = name
    module = imported(model)
    assert ops(module)[0].results[0].name_hint == hint
    assert f'{{onnx.name = "{name}"}}' in str(module) or not name.isascii()


def test_an_input_may_be_an_output_and_an_output_twice():
    module = imported(model_of("g (float[3] x) => (float[3] x, float[3] x) { }"))
    np.testing.assert_array_equal(run(module, ONES), [ONES, ONES])


# Shapes


def signature(module: ModuleOp) -> str:
    return str(main(module)).splitlines()[0]


def test_dimensions_get_sizes_by_name_and_by_shape():
    model = model_of("g (float[N, H] x, float[N, K] y) => (float[N, H] z) { z = Exp(x) }")
    dims = import_model(model, dims={"N": 4})
    assert signature(dims).startswith(
        'func.func @main(%x: tensor<4x?xf32> {onnx.name = "x", onnx.dims = [unit, "H"]}, '
        '%y: tensor<4x?xf32> {onnx.name = "y", onnx.dims = [unit, "K"]}) '
        '-> (tensor<4x?xf32> {onnx.name = "z", onnx.dims = [unit, "H"]})'
    )
    shapes = import_model(model, shapes={"x": (2, 3)})
    assert signature(shapes).startswith(
        'func.func @main(%x: tensor<2x3xf32> {onnx.name = "x"}, '
        '%y: tensor<2x?xf32> {onnx.name = "y", onnx.dims = [unit, "K"]}) '
        '-> (tensor<2x3xf32> {onnx.name = "z"})'
    )


def test_the_names_of_results_are_computed_and_bound():
    text = """g (float[N, H] x, float[N, K] y) => (float[A, B] z, float[M] f) {
        z = Concat <axis = 1> (x, y)
        f = NonZero (x)
    }"""
    model = model_of(text.replace("float[M] f", "int64[2, M] f"))
    assert signature(import_model(model)).endswith(
        '-> (tensor<?x?xf32> {onnx.name = "z", onnx.dims = ["N", "H + K"]}, '
        'tensor<2x?xi64> {onnx.name = "f", onnx.dims = [unit, "M"]}) {'
    )
    assert '"z", onnx.dims = ["N", "K + 3"]}' in signature(import_model(model, dims={"H": 3}))


def test_dimensions_that_are_expressions_get_sizes():
    model = model_of("g (float[N, H] x) => (float[N, H] z) { z = Exp(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "2*N + 1"
    assert '"z", onnx.dims = ["N", "2 * N + 1"]}' in signature(import_model(model))
    assert "tensor<4x9xf32>" in signature(import_model(model, dims={"N": 4}))
    assert "tensor<4x9xf32>" in signature(import_model(model, shapes={"x": (None, 9)}))
    with pytest.raises(ShapeBindingError, match="is '2\\*N \\+ 1', which is 9 by dimension 0 of"):
        import_model(model, shapes={"x": (4, 8)})


def test_a_size_of_several_names_is_a_fact_for_later():
    model = model_of("g (float[M, N] x, float[K] y) => (float[M, N] z) { z = Exp(x) }")
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "M * N"
    module = import_model(model, shapes={"y": (65,)})
    assert '%y: tensor<65xf32> {onnx.name = "y", onnx.dims = ["M * N"]}' in signature(module)
    with pytest.raises(ShapeBindingError, match=r"'M \* N', which is 64 by .*, not 65"):
        BindShapes(dims=("M=4", "N=16"))(module)
    renamed = import_model(model, dims={"M": "2 * k"})
    assert 'onnx.dims = ["2 * k", "N"]}, %y' in signature(renamed)
    assert '"z", onnx.dims = ["2 * k", "N"]}' in signature(renamed)


def test_an_operator_that_needs_a_size_gets_it():
    text = "g (float[1, N, 3, 3] x) => (float[1, N, 3, 3] y) { y = InstanceNormalization(x, s, s) }"
    model = with_initializers(model_of(text), s=np.ones(2, np.float32))
    module = import_model(model, dims={"N": 2})
    assert "tensor<1x2x3x3xf32>" in signature(module)


def test_question_marks_are_no_name():
    model = model_of("g (float[N, M] x) => (float[N, M] y) { y = Exp(x) }")
    for dim in model.graph.input[0].type.tensor_type.shape.dim:
        dim.dim_param = "?"
    signatures = [signature(import_model(model, shapes=s)) for s in ({}, {"x": (2, 3)})]
    assert 'tensor<?x?xf32> {onnx.name = "x"}' in signatures[0]
    assert 'tensor<2x3xf32> {onnx.name = "x"}' in signatures[1]


def test_a_shape_that_does_not_fit_is_an_error():
    model = model_of("g (float[N, 3] x) => (float[N, 3] y) { y = Exp(x) }")
    with pytest.raises(ShapeBindingError, match="dimension 1 of parameter 'x' is 3, not 4"):
        import_model(model, shapes={"x": (1, 4)})
    with pytest.raises(ShapeBindingError, match="did you mean 'N'"):
        import_model(model, dims={"n": 4})


# Constants


def test_only_constants_that_are_used_are_made():
    model = model_of("g (float[3] x) => (float[3] y) { y = Add(x, w) k = Constant<value_int=1>() }")
    module = imported(with_initializers(model, w=2 * ONES, unused=ONES))
    assert names(module) == ["constant", "add"]
    assert ops(module)[0].results[0].name_hint == "w"
    np.testing.assert_array_equal(run(module, ONES), [3 * ONES])


@table_test(
    "array",
    [
        np.array([[1.5, -0.0, np.nan, np.inf]], np.float16),
        np.array(2.5, np.float64),
        np.array([], np.float32),
        np.array([True, False]),
        np.array([2**64 - 1, 0], np.uint64),
        np.array([-128, 127], np.int8),
    ],
)
def test_constants_have_the_bits_of_the_model(array: np.ndarray):
    dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
    y = helper.make_tensor_value_info("y", dtype, array.shape)
    graph = helper.make_graph([helper.make_node("Identity", ["c"], ["y"])], "g", [], [y])
    tensors = [numpy_helper.from_array(array, "c")]
    tensors.append(helper.make_tensor("c", dtype, array.shape, array.reshape(-1).tolist()))
    for tensor in tensors:  # as raw bytes, and as numbers
        del graph.initializer[:]
        graph.initializer.append(tensor)
        (result,) = run(imported(helper.make_model(graph)))
        assert result.dtype == array.dtype and result.tobytes() == array.tobytes()


def test_four_bits_are_unpacked():
    tensor = helper.make_tensor("c", TensorProto.INT4, [3], [-8, 7, 3])
    y = helper.make_tensor_value_info("y", TensorProto.INT8, [3])
    cast = helper.make_node("Cast", ["c"], ["y"], to=TensorProto.INT8)
    module = imported(helper.make_model(helper.make_graph([cast], "g", [], [y], [tensor])))
    np.testing.assert_array_equal(run(module), [[-8, 7, 3]])


def test_a_fill_is_not_expanded():
    graph = """g (float[3] x) => (float[1000000, 3] z) {
        s = Constant<value_ints=[1000000, 3]>()
        y = ConstantOfShape<value = float[1] {0.5}>(s)
        z = Add(x, y)
    }"""
    (fill, _) = ops(imported(model_of(graph)))
    assert isinstance(fill, FullOp) and fill.value.value.data == 0.5


def test_a_constant_is_made_once_and_stands_first():
    graph = """g (float[3] x) => (float[3] y) {
        a = Constant<value_float=2.0>() b = Mul(x, a) c = Constant<value_float=2.0>() y = Mul(b, c)
    }"""
    assert names(imported(model_of(graph))) == ["constant", "multiply", "multiply"]


def test_a_view_of_a_constant_is_a_constant_with_the_same_bytes():
    model = model_of(
        """g (float[3, 2] x) => (float[3, 2] y, float[3, 1] z) {
            axes = Constant<value_ints = [1]>()
            v = Unsqueeze(w, axes)
            y = Mul(x, v)
            z = Unsqueeze(w, axes)
        }""",
        opset=17,
    )
    module = imported(with_initializers(model, w=np.arange(3, dtype=np.float32)))
    constant, _ = ops(module)
    assert isinstance(constant, ConstantOp) and names(module) == ["constant", "multiply"]
    assert constant.value.data.data == np.arange(3, dtype=np.float32).tobytes()
    x = np.ones((3, 2), np.float32)
    y, z = run(module, x)
    np.testing.assert_array_equal(z, [[0], [1], [2]])
    np.testing.assert_array_equal(y, x * z)


def test_a_view_of_a_fill_is_a_fill():
    model = model_of(
        """g (float[3, 2] x) => (float[3, 2] y) {
            shape = Constant<value_ints = [3]>()
            fill = ConstantOfShape<value = float[1] {2}>(shape)
            axes = Constant<value_ints = [1]>()
            v = Unsqueeze(fill, axes)
            y = Mul(x, v)
        }"""
    )
    module = imported(model)
    assert names(module) == ["full", "multiply"]
    np.testing.assert_array_equal(run(module, np.ones((3, 2), np.float32)), [[[2, 2]] * 3])


def test_initializers_among_the_inputs_are_no_arguments():
    model = model_of("g (float[3] x, float[3] w) => (float[3] y) { y = Add(x, w) }", ir_version=3)
    module = imported(with_initializers(model, w=ONES))
    assert len(main(module).args) == 1


# Types


def test_shapes_that_depend_on_constants_become_attributes():
    graph = """g (float[2, 3, 4] x) => (float[6, 4] y) {
        s = Shape(x) two = Constant<value_ints=[2]>() d = Gather<axis=0>(s, two)
        m = Constant<value_ints=[-1]>() t = Concat<axis=0>(m, d) y = Reshape(x, t)
    }"""
    (reshape,) = ops(imported(model_of(graph)))
    assert reshape.name == "relax.reshape" and str(reshape.result_types[0]) == "tensor<6x4xf32>"


def test_shapes_that_are_computed_stay():
    graph = """g (float[N, 3] x, float[M] y) => (float[K, L] z) {
        s = Shape(y) m = Constant<value_ints=[-1]>() t = Concat<axis=0>(s, m) z = Reshape(x, t)
    }"""
    module = imported(model_of(graph))
    assert names(module) == ["constant", "shape_of", "concatenate", "dyn.reshape"]
    (z,) = run(module, np.eye(2, 3, dtype=np.float32), ONES[:2])
    assert z.shape == (2, 3)


def test_what_the_model_says_of_a_type_is_used_where_less_is_inferred():
    graph = """g (float[N, 3] x, int64[2] s) => (float[M, 2] z) <float[6, 2] y> {
        y = Reshape(x, s) z = Relu(y)
    }"""
    reshape, relu = ops(imported(model_of(graph)))
    assert str(reshape.result_types[0]) == str(relu.result_types[0]) == "tensor<6x2xf32>"


def test_an_output_that_is_declared_with_other_elements_is_an_error():
    model = model_of("g (float[3] x) => (int64[3] y) { y = Relu(x) }")
    message = "output 'y' is declared as tensor<3xi64>, but the model computes tensor<3xf32>"
    with pytest.raises(ModelError, match=message):
        import_model(model)


@pytest.mark.parametrize("declared", ["float[4]", "float[3, 1]"])
def test_an_output_has_the_shape_that_is_computed(declared: str):
    """As in onnxruntime, which warns: scikit-learn's exporter declares some with other shapes."""
    warnings: list[str] = []
    model = model_of(f"g (float[3] x) => ({declared} y) {{ y = Relu(x) }}")
    module = import_model(model, warn=warnings.append)
    (message,) = warnings
    assert message.startswith("output 'y' is declared as tensor<")
    assert message.endswith(", but the model computes tensor<3xf32>")
    (y,) = run(module, ONES)
    assert y.shape == (3,)


def test_an_output_of_unknown_size_is_not_as_large_as_declared():
    """onnxmltools declares the labels of LightGBM's classifiers as `int64[1]`."""
    module = import_model(
        model_of("g (float[N, 2] x) => (int64[1] y) { y = ArgMax<keepdims=0,axis=1>(x) }")
    )
    (y,) = run(module, np.eye(3, 2, dtype=np.float32))
    assert y.shape == (3,)


def test_an_output_may_be_declared_less_exactly_and_more_exactly():
    for declared in "float[N]", "float[]", "float[3]":
        imported(model_of(f"g (float[3] x) => ({declared} y) {{ y = Relu(x) }}"))
        imported(model_of(f"g (float[M] x) => ({declared} y) {{ y = Relu(x) }}"))


def test_the_sizes_of_an_output_are_those_that_a_user_chooses():
    model = model_of("g (float[N] x) => (float[N] y) { y = Relu(x) }")
    import_model(model, dims={"N": 4})
    warnings: list[str] = []
    model = model_of("g (float[N] x, float[M] y) => (float[M] z) { z = Relu(x) }")
    import_model(model, dims={"N": 4, "M": 5}, warn=warnings.append)
    assert warnings == [
        "output 'z' is declared as tensor<5xf32>, but the model computes tensor<4xf32>"
    ]


@pytest.mark.parametrize("declared", ["int64[3]", "float[4]", "float[3, 1]"])
def test_an_initializer_that_contradicts_its_input_is_an_error(declared: str):
    text = f"g (float[3] x, {declared} w) => (float[3] y) {{ y = Add(x, w) }}"
    model = with_initializers(model_of(text, ir_version=3), w=ONES)
    message = "input 'w' is declared as tensor<.*>, but its initializer is tensor<3xf32>"
    with pytest.raises(ModelError, match=message):
        import_model(model)


def test_an_initializer_may_be_declared_less_exactly():
    text = "g (float[3] x, float[N] w) => (float[3] y) { y = Add(x, w) }"
    imported(with_initializers(model_of(text, ir_version=3), w=ONES))


def test_an_input_without_shape_is_unranked():
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    model.graph.input[0].type.tensor_type.ClearField("shape")
    assert isinstance(main(imported(model)).args[0].type, UnrankedTensorType)


@pytest.mark.parametrize("opset", [7, 11, 17, 22])
def test_a_reshape_with_zero_copies_a_dimension(opset: int):
    graph = """g (float[2, N] x) => (float[2, M] y) {
        s = Constant<value=int64[2] {0, -1}>() y = Reshape(x, s)
    }"""
    assert str(ops(imported(model_of(graph, opset)))[0].result_types[0]) == "tensor<2x?xf32>"


# Functions


LOCAL = """<opset_import: ["": 17], domain: "local">
scaled <factor: float = 3.0> (x) => (y) {
    k = Constant<value_float: float = @factor>() y = Mul(x, k)
}"""


def test_functions_of_the_model_are_inlined():
    graph = """g (float[3] x) => (float[3] z) {
        y = local.scaled<factor = 2.0>(x) z = local.scaled(y)
    }"""
    module = imported(model_of(graph, functions=LOCAL))
    assert names(module) == ["constant", "constant", "multiply", "multiply"]
    np.testing.assert_array_equal(run(module, ONES), [6 * ONES])


def test_a_function_that_calls_itself_is_an_error():
    functions = (
        '<opset_import: ["": 17, "local": 1], domain: "local">\nf (x) => (y) { y = local.f(x) }'
    )
    model = model_of("g (float[3] x) => (float[3] y) { y = local.f(x) }", functions=functions)
    with pytest.raises(ModelError, match="function 'f' calls itself"):
        import_model(model)


def doubling(count: int, inner: str = "") -> ModelProto:
    """Return a model with `count` functions, each of which calls the one before twice."""
    head = '<opset_import: ["": 17, "local": 1], domain: "local">'
    functions = f"{head}\nf0 (a) => (b) {{ b = Relu(a) }}"
    for i in range(1, count):
        body = f"t = local.f{i - 1}(a) b = local.f{i - 1}(t)"
        functions += f"\n{head}\nf{i} (a) => (b) {{ {body} }}"
    call = inner or f"y = local.f{count - 1}(x)"
    return model_of(f"g (float[3] x) => (float[3] y) {{ {call} }}", functions=functions)


def test_functions_that_call_each_other_twice():
    assert str(imported(doubling(6))).count("relax.nn.relu ") == 2**5
    message = f"has {2**29} nodes once its 30 functions are inlined, and the limit is {2**20}"
    with pytest.raises(ModelError, match=message):
        import_model(doubling(30))


def test_functions_that_are_called_in_a_branch_count_too():
    branch = "a () => (float[3] b) { b = local.f24(x) }"
    branches = f"then_branch = {branch}, else_branch = {branch}"
    call = f"c = Constant<value = bool {{1}}>() y = If <{branches}> (c)"
    with pytest.raises(ModelError, match=f"has {2 * 2**24 + 2} nodes once"):
        import_model(doubling(25, call))


def test_an_operator_without_converter_is_what_onnx_defines_it_by():
    graph = "g (float[2, 3] x, int64[2] t) => (float l) { l = NegativeLogLikelihoodLoss(x, t) }"
    module = imported(model_of(graph, opset=22))
    x = np.array([[-1, -2, -3], [-4, -5, -6]], np.float32)
    np.testing.assert_allclose(run(module, x, np.array([2, 0])), [3.5])


def test_a_value_that_has_a_name_keeps_its_type_when_more_is_said_of_another():
    graph = """g (float[2, 3] x, int64[2] s) => (float[2, 3] z, float[K, L] w) {
        y = Reshape(x, s) z = Identity(y) w = Relu(y)
    }"""
    module = imported(model_of(graph))
    assert names(module) == ["dyn.reshape", "tensor.cast", "nn.relu"]
