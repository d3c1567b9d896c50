"""Loops of ONNX as machine code, against onnxruntime: recurrent layers, Loop, Scan, If."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from support.models.from_text import Array, imported, model_of
from support.models.onnxruntime_reference import run_onnxruntime
from support.native.needs_llvmlite import needs_native

import passline
from passline.passmanager.errors import PasslineError

pytestmark = needs_native

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
HIDDEN, WIDTH = 5, 3


def agrees(
    model: ModelProto, directory: Path, level: int, *inputs: Mapping[str, Array], rtol: float = 2e-5
) -> None:
    """Assert that machine code, compiled once, computes what onnxruntime does for each input."""
    (file := directory / "model.onnx").write_bytes(model.SerializeToString())
    function = passline.compile(imported(model), level=level)
    for arrays in inputs:
        results, expected = function(*arrays.values()), run_onnxruntime(file, arrays)
        assert len(results) == len(expected)
        for actual, wanted in zip(results, expected, strict=True):
            assert (actual.shape, actual.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(actual, wanted, rtol, 1e-6)


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def layer(
    kind: str, direction: str, steps: int | str, batch: int | str, lengths: bool, **more: object
) -> ModelProto:
    """Return the model of a recurrent layer with biases, and with lengths if asked for."""
    gates, directions = GATES[kind], 2 if direction == "bidirectional" else 1
    weights = {
        "w": numbers(directions, gates * HIDDEN, WIDTH, seed=1),
        "r": numbers(directions, gates * HIDDEN, HIDDEN, seed=2),
        "b": numbers(directions, 2 * gates * HIDDEN, seed=3),
    }
    outputs = ["y", "yh", "yc"] if kind == "LSTM" else ["y", "yh"]
    node = helper.make_node(
        kind,
        ["x", "w", "r", "b", "lengths" if lengths else ""],
        outputs,
        hidden_size=HIDDEN,
        direction=direction,
    )
    node.attribute.extend(helper.make_attribute(*pair) for pair in more.items())
    floats = TensorProto.FLOAT
    given = [helper.make_tensor_value_info("x", floats, [steps, batch, WIDTH])]
    if lengths:
        given.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, [batch]))
    graph = helper.make_graph(
        [node],
        "g",
        given,
        [helper.make_tensor_value_info(name, floats, None) for name in outputs],
        [helper.make_tensor(k, floats, v.shape, v.ravel()) for k, v in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def data(steps: int, batch: int, lengths: bool) -> dict[str, Array]:
    values = {"x": numbers(steps, batch, WIDTH, seed=steps)}
    if lengths:
        values["lengths"] = np.array([max(1, steps - i) for i in range(batch)], np.int32)
    return values


@pytest.mark.parametrize(
    ("kind", "direction", "lengths", "level", "more"),
    [
        ("LSTM", "forward", False, 0, {}),
        ("LSTM", "bidirectional", True, 0, {}),
        ("LSTM", "reverse", True, 3, {"clip": 0.5}),
        ("GRU", "bidirectional", False, 3, {"linear_before_reset": 1}),
        ("GRU", "reverse", True, 0, {}),
        ("RNN", "reverse", False, 0, {"activations": ["Relu"]}),
        ("RNN", "forward", True, 3, {}),
    ],
)
def test_recurrent_layers(
    kind: str, direction: str, lengths: bool, level: int, more: dict[str, object], tmp_path: Path
):
    model = layer(kind, direction, 6, 2, lengths, **more)
    agrees(model, tmp_path, level, data(6, 2, lengths))


@pytest.mark.parametrize("level", [0, 3])
def test_a_long_sequence_stays_a_loop(level: int, tmp_path: Path):
    agrees(layer("LSTM", "forward", 300, 2, False), tmp_path, level, data(300, 2, False))


@pytest.mark.parametrize(("kind", "level"), [("LSTM", 0), ("GRU", 3)])
def test_unknown_length_and_batch(kind: str, level: int, tmp_path: Path):
    model = layer(kind, "forward", "steps", "batch", True)
    sizes = [(1, 1), (7, 3), (2, 5)]
    agrees(model, tmp_path, level, *(data(*size, True) for size in sizes))


COLLATZ = """g (int64 n) => (int64[1] steps, int64[N] path) {
    limit = Constant <value_int: int = 1000> ()
    one = Constant <value_int: int = 1> ()
    two = Constant <value_int: int = 2> ()
    three = Constant <value_int: int = 3> ()
    axes = Constant <value_ints: ints = [0]> ()
    goes = Greater(n, one)
    end, count, path = Loop(limit, goes, n, axes) <
        body = b (int64 i, bool c, int64 m, int64[1] k)
            => (bool next, int64 r, int64[1] k2, int64 row) {
            half = Div(m, two)
            odd = Mod(m, two)
            is_odd = Cast <to = 9> (odd)
            triple = Mul(m, three)
            up = Add(triple, one)
            r = Where(is_odd, up, half)
            next = Greater(r, one)
            k2 = Add(k, one)
            row = Identity(r)
        }
    >
    steps = Identity(count)
}"""


@pytest.mark.parametrize("level", [0, 3])
def test_a_loop_whose_end_depends_on_data(level: int, tmp_path: Path):
    model = model_of(COLLATZ)
    agrees(model, tmp_path, level, *({"n": np.array(n)} for n in (1, 6, 27)))


GROWING = """g (int64 turns, float[2] x) => (float[N] y, float[M, 2] rows) {
    yes = Constant <value = bool {1}> ()
    y, rows = Loop(turns, yes, x, x) <
        body = b (int64 i, bool c, float[K] a, float[2] v)
            => (bool go, float[L] b, float[2] w, float[2] row) {
            go = Identity(c)
            w = Mul(v, v)
            b = Concat <axis = 0> (a, w)
            row = Add(v, w)
        }
    >
}"""


@pytest.mark.parametrize("level", [0, 3])
def test_a_tensor_that_grows(level: int, tmp_path: Path):
    model = model_of(GROWING.replace("y, rows = Loop", "y, last, rows = Loop"))
    x = np.array([0.5, -0.25], np.float32)
    agrees(model, tmp_path, level, *({"turns": np.array(n), "x": x} for n in (0, 1, 2, 9)))


FAILING = """g (int64 turns, float[4] x, int64[2] i) => (float[2] y) {
    yes = Constant <value = bool {1}> ()
    zero = Constant <value_floats: floats = [0.0, 0.0]> ()
    one = Constant <value_ints: ints = [1]> ()
    y, at = Loop(turns, yes, zero, i) <
        body = b (int64 t, bool c, float[2] s, int64[2] j) => (bool go, float[2] r, int64[2] k) {
            go = Identity(c)
            v = Gather(x, j)
            r = Add(s, v)
            k = Add(j, one)
        }
    >
}"""


def test_an_assertion_in_the_body_ends_the_loop():
    function = passline.compile(imported(model_of(FAILING)), level=0)
    x, i = np.array([1, 2, 3, 4], np.float32), np.array([0, 1])
    np.testing.assert_array_equal(function(np.array(2), x, i)[0], [3, 5])
    with pytest.raises(PasslineError, match="an index is out of bounds for axis 0 with size 4"):
        function(np.array(1 << 40), x, i)
    np.testing.assert_array_equal(function(np.array(2), x, i)[0], [3, 5])
