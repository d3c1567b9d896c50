"""Sequences and optional values, which are resolved while the model is imported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from support.models.against_ort import agrees_with_onnxruntime
from support.models.from_text import imported, model_of, run
from support.tables import table_test

from passline.compiler.frontends.onnx import UnsupportedModelError, import_model
from passline.compiler.interpreters.shape_bindings import ShapeBindingError

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def model(body: str, inputs: str = "float[3, 4] x", outputs: str = "float[] y") -> ModelProto:
    constants = "".join(
        f"{name} = Constant <value = int64 {{{value}}}> () " for name, value in CONSTANTS.items()
    )
    return model_of(f"g ({inputs}) => ({outputs}) {{ {constants} {body} }}")


CONSTANTS = {"zero": 0, "one": 1, "two": 2, "last": -1}

CASES = {
    "at": "s = SequenceConstruct(x, k) y = SequenceAt(s, one)",
    "at, from the end": "s = SequenceConstruct(x, k, x) y = SequenceAt(s, last)",
    "at, computed": "s = SequenceConstruct(x, k, x) i = ReduceMin<keepdims=0>(n) "
    "y = SequenceAt(s, i)",
    "insert": "s = SequenceConstruct(x) t = SequenceInsert(s, k, zero) y = SequenceAt(t, zero)",
    "insert at the end": "e = SequenceEmpty() s = SequenceInsert(e, x) t = SequenceInsert(s, k) "
    "y = SequenceAt(t, one)",
    "erase": "s = SequenceConstruct(x, k) t = SequenceErase(s) y = SequenceAt(t, last)",
    "erase the first": "s = SequenceConstruct(x, k) t = SequenceErase(s, zero) "
    "y = SequenceAt(t, zero)",
    "length": "s = SequenceConstruct(x, k) y = SequenceLength(s)",
    "concatenate": "s = SequenceConstruct(x, k) y = ConcatFromSequence<axis=1>(s)",
    "concatenate one": "s = SequenceConstruct(x) y = ConcatFromSequence<axis=1>(s)",
    "stack": "s = SequenceConstruct(x, k) y = ConcatFromSequence<axis=-1, new_axis=1>(s)",
    "split": "s = SplitToSequence<axis=1>(x) y = SequenceAt(s, two)",
    "split, without the axis": "s = SplitToSequence<axis=1, keepdims=0>(x) y = SequenceAt(s, two)",
    "split by two": "s = SplitToSequence<axis=0>(x, two) y = SequenceAt(s, one)",
    "split by sizes": "p = Constant<value_ints=[1, 3]>() s = SplitToSequence<axis=1>(x, p) "
    "y = SequenceAt(s, one)",
    "split by computed sizes": "s = SplitToSequence<axis=1>(x, n) y = SequenceAt(s, one)",
    "an optional value": "o = Optional(x) b = OptionalHasElement(o) z = OptionalGetElement(o) "
    "y = Where(b, z, k)",
    "branches": """i = ReduceMin<keepdims=0>(n) c = Equal(i, two)
        s = If (c) <
            then_branch = t () => (seq(float[]) a) { a = SequenceConstruct(x, k) },
            else_branch = e () => (seq(float[]) b) { b = SequenceConstruct(k, x) }
        > y = SequenceAt(s, zero)""",
}


@pytest.mark.parametrize("case", CASES)
def test_against_onnxruntime(case: str, tmp_path: Path):
    outputs = "int64 y" if case == "length" else "float[] y"
    of = model(f"k = Exp(x) {CASES[case]}", "float[3, 4] x, int64[2] n", outputs)
    sets = [{"x": X / 5, "n": np.array([1, 3])}, {"x": -X / 5, "n": np.array([2, 2])}]
    module = agrees_with_onnxruntime(of, tmp_path, *sets)
    assert not any("sequence" in str(type) for op in module.walk() for type in op.result_types)


def test_a_sequence_is_a_tuple():
    graph = "s = SequenceConstruct(x, x)"
    module = imported(model(graph, outputs="seq(float[3, 4]) s"))
    assert "tuple<tensor<3x4xf32>, tensor<3x4xf32>>" in str(module)
    (result,) = run(module, X)
    np.testing.assert_array_equal(result, [X, X])


def test_a_map_of_a_sequence():
    """onnxruntime runs its definition, a loop over sequences; the text form has no sequences."""
    floats = TensorProto.FLOAT

    def info(name: str):
        return helper.make_tensor_value_info(name, floats, None)

    body = helper.make_graph(
        [helper.make_node("Mul", ["a", "b"], ["c"])], "body", [info("a"), info("b")], [info("c")]
    )
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["s"], axis=0),
        helper.make_node("SequenceMap", ["s", "x"], ["t"], body=body),
        helper.make_node("ConcatFromSequence", ["t"], ["y"], axis=0),
    ]
    x = helper.make_tensor_value_info("x", floats, [3, 4])
    graph = helper.make_graph(nodes, "g", [x], [info("y")])
    of = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    (y,) = run(imported(of), X)
    np.testing.assert_array_equal(y, np.concatenate([row * X for row in X]))


@table_test(
    "body, reason",
    [
        ("s = SequenceConstruct(x) y = SequenceAt(s, two)", "position 2 of a sequence of 1 elem"),
        ("e = SequenceEmpty() y = SequenceAt(e, zero)", "position 0 of a sequence of 0 elem"),
        ("s = SequenceConstruct(x) t = SequenceErase(s, n) y = SequenceAt(t, zero)", "not known"),
        ("s = SplitToSequence(x, n) y = SequenceAt(s, zero)", "the sizes of the parts are not"),
        ("s = SequenceConstruct(x) y = Exp(s)", "expected a tensor"),
        ("y = SequenceAt(x, zero)", "expected a sequence"),
        ("y = Optional<type = float>()", "absent"),
    ],
)
def test_what_is_not_supported(body: str, reason: str):
    with pytest.raises(UnsupportedModelError, match=reason):
        imported(model(body, "float[3, 4] x, int64 n"))


def test_unused_tuples_are_erased():
    module = imported(model("s = SequenceConstruct(x, x) y = SequenceAt(s, zero)"))
    assert [op.name for op in module.walk()][2:] == ["func.return"]


ADD = """g (seq(float[N]) x) => (float[] y, int64[] n) {
    n = SequenceLength(x) z = Constant<value_int=0>() a = SequenceAt(x, z)
    y = ReduceSum<keepdims=0>(a) }"""


def test_an_input_that_is_a_sequence_is_one_parameter_for_each_element():
    module = import_model(model_of(ADD), shapes={"x": [(3,), (2,)]})
    first, second = np.arange(3, dtype=np.float32), np.ones(2, np.float32)
    total, number = run(module, first, second)
    assert total == 3 and number == 2
    assert 'onnx.name = "x.1"' in str(module)


def test_shapes_of_elements_are_for_sequences():
    model = model_of("g (float[3] x) => (float[3] y) { y = Exp(x) }")
    with pytest.raises(ShapeBindingError, match="no input 'x' that is a sequence"):
        import_model(model, shapes={"x": [(3,)]})


LOOP = """g (int64 n, seq(float[N]) x) => (int64[] length) {{
    {trips}
    y = Loop (trips, , x) <
        body = b (int64 i, bool go, seq(float[N]) s) => (bool on, seq(float[N]) t) {{
            on = Identity(go) z = Constant<value_int=0>() e = SequenceAt(s, z)
            t = SequenceInsert(s, e)
        }}>
    length = SequenceLength(y) }}"""


def test_a_loop_that_carries_a_sequence_is_copied():
    model = model_of(LOOP.format(trips="trips = Constant<value_int=3>()"))
    module = import_model(model, shapes={"x": [(2,)]})
    (length,) = run(module, np.array(0), np.ones(2, np.float32))
    assert length == 4


def test_a_loop_that_carries_a_sequence_runs_a_known_number_of_times():
    model = model_of(LOOP.format(trips="trips = Identity(n)"))
    with pytest.raises(UnsupportedModelError, match="how often it runs is not known"):
        import_model(model, shapes={"x": [(2,)]})


COUNTED = """g (seq(float[N]) x) => (int64[] length) {{
    zero = Constant<value_int=0>() {start}
    last, y = Loop (, {go}, zero, x) <
        body = b (int64 i, bool go, int64 k, seq(float[N]) s)
            => (bool on, int64 next, seq(float[N]) t) {{
            one = Constant<value_int=1>() end = Constant<value_int={end}>()
            next = Add(k, one) on = Less(next, end)
            z = Constant<value_int=0>() e = SequenceAt(s, z) t = SequenceInsert(s, e)
        }}>
    length = SequenceLength(y) }}"""


@pytest.mark.parametrize(
    ("start", "length"),
    [("", 4), ("go = Equal(zero, zero)", 4), ("go = Greater(zero, zero)", 1)],
)
def test_a_loop_that_carries_a_sequence_ends_by_its_condition(start: str, length: int):
    model = model_of(COUNTED.format(start=start, go="go" if start else "", end=3))
    module = import_model(model, shapes={"x": [(2,)]})
    assert run(module, np.ones(2, np.float32)) == [length]


def test_a_loop_that_carries_a_sequence_ends_after_some_time():
    model = model_of(COUNTED.format(start="", go="", end=1 << 40))
    with pytest.raises(UnsupportedModelError, match="runs more than 1024 times"):
        import_model(model, shapes={"x": [(2,)]})
