"""Error messages about models that cannot be imported: all errors at once, with the names of
nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from support.models.from_text import imported, model_of
from support.tables import table_test
from xdsl.ir import SSAValue

from passline.compiler.frontends.onnx import ModelError, UnsupportedModelError, import_model
from passline.compiler.frontends.onnx.converters import CONVERTERS
from passline.compiler.frontends.onnx.node import Node


def unsupported(model: ModelProto) -> list[str]:
    """The nodes that are reported, one a line."""
    with pytest.raises(UnsupportedModelError) as caught:
        import_model(model)
    lines = str(caught.value).splitlines()[1:]
    assert lines == [f"  {node}" for node in caught.value.nodes]
    return [line.strip() for line in lines]


def test_all_nodes_are_listed_with_their_names():
    graph = """g (float[2, 2] x) => (float[2, 2] z) {
        [first] a = RandomNormalLike(x)
        [fine] b = Relu(x)
        [wrong] c = Reluu(b)
        [types] d = Add(b, i)
        [after] e = RandomNormalLike(d)
        z = RandomUniformLike(e)
    }"""
    model = model_of(graph)
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.int64), "i"))
    assert unsupported(model) == [
        "node 'first' (RandomNormalLike, opset 17): this operator is not supported",
        "node 'wrong' (Reluu, opset 17): no operator of ONNX has this name, did you mean 'Relu'?",
        "node 'types' (Add, opset 17): element types f32 and i64 differ",
        "node 'after' (RandomNormalLike, opset 17): this operator is not supported",
        "node 'z' (RandomUniformLike, opset 17): this operator is not supported",
    ]


def test_what_uses_an_unsupported_node_is_checked_with_the_type_that_onnx_infers():
    graph = """g (float[2, 3] x) => (float[4] z) {
        [a] y = RandomUniformLike(x) [b] n = RandomNormalLike(x) [c] z = Reshape(n, s)
    }"""
    model = model_of(graph)
    model.graph.initializer.append(numpy_helper.from_array(np.array([4]), "s"))
    assert unsupported(model)[2] == (
        "node 'c' (Reshape, opset 17): "
        "shape 2x3 of 6 elements does not reshape to [4] of 4 elements"
    )


def test_a_node_is_reported_once_with_what_defines_it():
    graph = "g (float[3] x) => (float[3] y) { [b] y = Bernoulli(x) }"
    (line,) = unsupported(model_of(graph, opset=22))
    assert line == (
        "node 'b' (Bernoulli, opset 22): "
        "it is defined by RandomUniformLike: this operator is not supported"
    )


def test_nodes_in_branches_are_reported():
    graph = """g (bool c, float[2, 2] x) => (float[2, 2] y) {
        [if] y = If (c) <
            then_branch = t () => (float[2, 2] a) { [in] a = RandomNormalLike(x) },
            else_branch = e () => (float[2, 2] b) { b = Relu(x) }
        >
        [out] z = RandomNormalLike(x)
    }"""
    assert [line.split()[1] for line in unsupported(model_of(graph))] == ["'in'", "'out'"]


@table_test(
    "nodes, reason",
    [
        ("y = Relu<alpha=1.0>(x)", "has no attribute 'alpha'; its attributes are none"),
        ("y = LeakyRelu<alpha=1>(x)", "attribute 'alpha' is of type INT, expected FLOAT"),
        ("y = Cast(x)", "attribute 'to' is missing"),
        ('y = Pad<mode="mirror">(x, x)', "mode = 'mirror'; supported are constant, reflect, edge"),
        ("y = SequenceMap(x)", "attribute 'body' is missing"),
        ("y = Cast<to=8>(x)", "element type STRING is not supported"),
        ("y = Cast<to=14>(x)", "element type COMPLEX64 is not supported"),
        ("y = BatchNormalization<training_mode=1>(x, x, x, x, x)", "gamma has shape"),
        ("y = Conv(x, x)", "the input has 2 dimensions; supported are 3, 4 and 5"),
        ("y = Conv(x)", "has 1 inputs, expected 2 to 3"),
        ("y = AveragePool<kernel_shape=[2, 2]>(x)", "kernel_shape = [2, 2], expected 1 numbers"),
        ("y = Flatten<axis=3>(x)", "axis 3 of a tensor of rank 2"),
        ("y = RandomUniformLike(x)", "this operator is not supported"),
        ("y = AveragePool<kernel_shape=[1], strides=[0]>(x)", "strides = [0], expected positive"),
        (
            'y = MaxPool<kernel_shape=[1], strides=[0], auto_pad="SAME_UPPER">(x)',
            "strides = [0], expected positive",
        ),
        ("y = MaxPool<kernel_shape=[1], dilations=[-1]>(x)", "dilations = [-1], expected positive"),
    ],
)
def test_reasons(nodes: str, reason: str):
    x = "float[1, 1, 4] x" if "Pool" in nodes else "float[2, 3] x"
    (line, *_) = unsupported(model_of(f"g ({x}) => (float y) {{ {nodes} }}"))
    assert reason in line


@table_test(
    "inputs, node, reason",
    [
        (
            "float[2, 3] x, float[1, 6, 3] w, float[1, 6, 2] r",
            "y = GRU<hidden_size=2>(x, w, r)",
            "the input has 2 dimensions, expected 3",
        ),
        (
            "float[2, 4, 3] x, float[2, 3] w",
            "y = TensorScatter(x, w)",
            "input of shape 2x3, expected 3 dimensions",
        ),
        (
            "float[1, 1, 4, 4] x, float[1, 1, 3] w",
            'y = ConvTranspose<auto_pad="SAME_UPPER">(x, w)',
            "the weight has 3 dimensions, expected 4",
        ),
        (
            "float[1, 1, 4] x, float[1, 1, 3] w, float b",
            "y = Conv(x, w, b)",
            "scalar elements for the channels, expected a vector",
        ),
        (
            "float[1, 1, 4, 4] x, float[1, 1, 0, 0] w",
            "y = Conv<kernel_shape = [0, 0]>(x, w)",
            "windows of shape 0x0 have no elements",
        ),
        (
            "float[N, 3, M, 3] x",
            "y = Det(x)",
            "input of shape ?x3x?x3, expected square matrices of known size",
        ),
        (
            "float[N, M] x",
            "y = Unique<axis = 0>(x)",
            "input of shape ?x?: slices along axis 0 of unknown size",
        ),
        (
            "float[2] s, float[0, 2] x",
            "y = Scan<num_scan_inputs=1, body=b (float[2] a, float[2] v) => (float[2] t) "
            "{ t = Add(a, v) }>(s, x)",
            "a scan over sequences of length 0",
        ),
        (
            f"float[2, {2**40}, {2**40}] x",
            "y = Flatten<axis=0>(x)",
            f"a matrix with a dimension of {2**81} elements",
        ),
        (
            f"float[2, 3] x, int64[{2**31}] s, int64[{2**31}] e",
            "y = Slice(x, s, e)",
            f"{2**31} axes of a tensor of rank 2",
        ),
        (
            f"float x, int64[{2**40}] s",
            "y = Expand(x, s)",
            f"a tensor of {2**40} dimensions",
        ),
        (
            f"float x, int64[{2**40}] s",
            "y = ConstantOfShape(s)",
            f"a tensor of {2**40} dimensions",
        ),
        (
            f"float x, int64[{2**40}] s",
            "y = Reshape(x, s)",
            f"a tensor of {2**40} dimensions",
        ),
    ],
)
def test_shapes_that_do_not_fit(inputs: str, node: str, reason: str):
    model = model_of(f"g ({inputs}) => (float y) {{ {node} }}", opset=24)
    (line, *_) = unsupported(model)
    assert reason in line


def test_an_output_is_reported_where_it_is_used():
    graph = """g (float[2, 1, 4] x, float[4] g) => (float[2, 1, 4] y, float[2, 1, 4] j) {
        [norm] y, m = com.microsoft.SkipSimplifiedLayerNormalization(x, x, g)
        [use] j = Identity(m) [more] k = Identity(m)
    }"""
    model = model_of(graph)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    (line,) = unsupported(model)
    assert line == (
        "node 'norm' (com.microsoft.SkipSimplifiedLayerNormalization, opset 1): "
        "its output 1 is not supported"
    )


def test_outputs_that_nobody_uses_need_no_support():
    graph = "g (float[1, 1, 4] x) => (float[1, 1, 4] y) { y, i = MaxPool<kernel_shape=[1]>(x) }"
    assert "relax.nn.max_pool1d" in str(import_model(model_of(graph)))


def test_old_forms_are_reported():
    graph = "g (float[1, 3] x) => (float[1, 3] y) { [s] y = BatchNormalization(x, x, x, x, x) }"
    (line,) = unsupported(model_of(graph, opset=5))
    assert "its version is older than opset 6; onnx.version_converter can update the model" in line


def test_inputs_of_other_types_are_reported():
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    words = helper.make_tensor_value_info("words", TensorProto.STRING, [2])
    items = helper.make_tensor_sequence_value_info("items", TensorProto.FLOAT, [2])
    model.graph.input.extend([words, items])
    assert unsupported(model) == [
        "node 'words' (input, opset 17): element type STRING is not supported",
        "node 'items' (input, opset 17): sequence values are not supported",
    ]


# Models that are not valid


@table_test(
    "nodes, message",
    [
        ("[a] y = Relu(z)", "node 'a' (Relu) uses 'z', which is not defined"),
        (
            "[a] y = Relu(z) [b] z = Exp(y)",
            "node 'a' (Relu) uses 'z', which the later node 'b' (Exp) computes",
        ),
        ("[a] y = Relu(y)", "node 'a' (Relu) uses 'y', which it computes itself"),
        ("y = Relu(x) y = Exp(x)", "the name 'y' is defined twice"),
        ("z = Relu(x)", "output 'y' is not defined"),
        ("[a] y = other.F(x)", "node 'a' (F): the model does not import the operators of 'other'"),
    ],
)
def test_models_that_are_not_valid(nodes: str, message: str):
    with pytest.raises(ModelError) as caught:
        import_model(model_of(f"g (float[3] x) => (float[3] y) {{ {nodes} }}"))
    assert str(caught.value) == message


def test_an_operator_that_came_later():
    graph = "g (float[3] x) => (float[3] y) { [m] y = Mish(x) }"
    (line,) = unsupported(model_of(graph, opset=17))
    assert line == "node 'm' (Mish, opset 17): this operator was added in opset 18"


def test_an_opset_that_is_not_known():
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }", opset=999)
    with pytest.raises(ModelError, match="opset 999 is unknown: the installed onnx supports up to"):
        import_model(model)


@pytest.mark.parametrize("domain", ["", "local"])
@pytest.mark.parametrize("version", [-1, -(2**63), 2**31, 2**63 - 1])
def test_an_opset_that_is_no_version(domain: str, version: int):
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    (entry,) = (entry for entry in model.opset_import if entry.domain == domain)
    entry.version = version
    message = f"opset {version} of '{domain or 'ai.onnx'}' is unknown"
    with pytest.raises(ModelError, match=re.escape(message)):
        import_model(model)


@pytest.mark.parametrize("numbers", [(0.0, float("inf"), 1.0), (float("nan"), 4.0, 1.0)])
def test_a_range_whose_length_is_no_number_is_left_to_run_time(numbers: tuple[float, float, float]):
    model = model_of("g (float[3] x) => (float[N] y) { y = Range(a, b, c) }")
    for name, number in zip("abc", numbers, strict=True):
        model.graph.initializer.append(numpy_helper.from_array(np.array(number, np.float32), name))
    assert "func.return %output : tensor<?xf32>" in str(imported(model))


def test_computed_sizes_of_no_axes_and_a_narrow_identity_matrix():
    nodes = """y = Resize<keep_aspect_ratio_policy="not_larger">(x, , , s)
        m = Cast<to=22>(w) e = EyeLike<dtype=22>(m)"""
    model = model_of(f"g (float x, int64[0] s, float[2, 2] w) => (float y) {{ {nodes} }}", opset=22)
    module = str(imported(model))
    assert "-> (tensor<f32>" in module and "tensor<2x2xi4>" in module


# Names that are not UTF-8


def test_names_that_are_not_text():
    model = model_of("""name_g (float[3] name_x) => (float[3] y) {
        [name_n] z = Add(name_x, name_i) [a] name_o = Relu(z) [b] y = Softplus(name_o)
    }""")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "name_i"))
    content = model.SerializeToString()
    for name in (b"name_g", b"name_x", b"name_n", b"name_i", b"name_o", b"Softplus"):
        with pytest.raises(ModelError, match=r"^the name '.\\xff\S*' is not UTF-8$"):
            import_model(content.replace(name, name[:1] + b"\xff" + name[2:]))
    import_model(content)


def test_domain_that_is_not_text():
    node = "[a] y = local.twice(x)"
    function = '<domain: "local", opset_import: ["": 17]> twice (x) => (y) { y = Add(x, x) }'
    model = model_of(f"g (float[3] x) => (float[3] y) {{ {node} }}", functions=function)
    content = model.SerializeToString()
    with pytest.raises(ModelError, match=r"^the name 'l\\xffcal' is not UTF-8$"):
        import_model(content.replace(b"local", b"l\xffcal"))
    import_model(content)


# Faults of ours


def test_an_unexpected_exception_is_named_and_the_cause(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(CONVERTERS, ("", "Relu"), faulty)
    with pytest.raises(ModelError) as caught:
        import_model(model_of("g (float[3] x) => (float[3] y) { [a] y = Relu(x) }"))
    message = "the model is invalid at node 'a' (Relu): AttributeError: 'int' object has no"
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value.__cause__, AttributeError)


def faulty(node: Node) -> Sequence[SSAValue]:
    """Convert nothing: a converter with a fault."""
    return getattr(1, "missing")  # noqa: B009


# Dimensions


@pytest.mark.parametrize("size", [-1, -7, -(2**62)])
def test_negative_dimension_is_unknown_as_in_onnxruntime(size: int):
    model = model_of("g (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = size
    warnings: list[str] = []
    module = import_model(model, warn=warnings.append)
    assert "%x: tensor<?x3xf32>" in str(module) and str(size) not in str(module)
    assert warnings == [f"input 'x' has the dimension {size}, which is taken as unknown"]


def test_large_dimension_is_a_type_like_any_other():
    model = model_of(f"g (float[{2**40}, 3] x) => (float[{2**40}, 3] y) {{ y = Relu(x) }}")
    assert f"tensor<{2**40}x3xf32>" in str(import_model(model))


def test_negative_dimension_of_data():
    model = model_of("g (float[3] x) => (float[3] y) { y = Add(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "w"))
    model.graph.initializer[0].dims[0] = -3
    (line,) = unsupported(model)
    assert line == "node 'w' (initializer, opset 17): the shape [-3] has a negative dimension"
    model = model_of("""g (float[3] x) => (float[N] y) {
        s = Constant<value = int64[1] {-4}>() y = ConstantOfShape(s)
    }""")
    (line,) = unsupported(model)
    assert line.endswith("(ConstantOfShape, opset 17): the shape [-4] has a negative dimension")


@pytest.mark.parametrize(
    ("inputs", "node", "reason"),
    [
        ("float[3, 4] x", "y = Slice(x, s, e, a, t)", "2 starts and 2 steps of 1 axes"),
        ("float[2, 3] x", "y = Col2Im(x, s, a)", "a block of 1 dimensions in an image of 2"),
        (f"float[1, {2**53}, 1] x", "y, z = MaxPool<kernel_shape=[1]>(x)", "exceeds the limit"),
        (
            "float[1, 1, 2] x, float[1, H, 2] w, float[1, H, R] r",
            f"y = GRU<hidden_size={2**62}>(x, w, r)",
            "exceeds the limit",
        ),
    ],
)
def test_constants_that_do_not_fit(inputs: str, node: str, reason: str):
    constants = (
        "<int64[2] s = {-2, 1}, int64[2] e = {9, 2}, int64[1] a = {0}, int64[2] t = {-1, 1}>"
    )
    model = model_of(f"g ({inputs}) => (float y) {constants} {{ {node} }}", opset=18)
    (line, *_) = unsupported(model)
    assert reason in line
