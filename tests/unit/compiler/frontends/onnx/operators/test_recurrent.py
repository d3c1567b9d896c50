"""Recurrent layers whose length, batch or rank is not known, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.models.against_ort import agrees_with_onnxruntime
from support.models.from_text import Array, imported, model_of, run
from xdsl.dialects.tensor import CastOp

from passline.passmanager.errors import PasslineError

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
HIDDEN, WIDTH = 3, 2
SIZES = ((1, 1), (4, 3))
"""Numbers of steps and batches."""


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def layer(kind: str, directions: int, initial: bool, lengths: bool, **attributes: object):
    """Return the model of a layer of unknown length and batch, and its inputs for given sizes."""
    gates, count = GATES[kind], 2 if kind == "LSTM" else 1
    weights = {
        "w": numbers(directions, gates * HIDDEN, WIDTH, seed=1),
        "r": numbers(directions, gates * HIDDEN, HIDDEN, seed=2),
        "b": numbers(directions, 2 * gates * HIDDEN, seed=3),
    }
    states = ["h", "c"][:count] if initial else []
    inputs = ["x", "w", "r", "b", "lengths" if lengths else "", *states]
    outputs = ["y", "yh", "yc"][: count + 1]
    node = helper.make_node(kind, inputs, outputs, hidden_size=HIDDEN)
    node.attribute.extend(helper.make_attribute(*pair) for pair in attributes.items())
    floats = TensorProto.FLOAT

    def info(name: str, *shape: int | str):
        return helper.make_tensor_value_info(name, floats, shape)

    given = [info("x", "steps", "batch", WIDTH)]
    given += [helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"])] * lengths
    given += [info(name, directions, "batch", HIDDEN) for name in states]
    graph = helper.make_graph(
        [node],
        "g",
        given,
        [info("y", "steps", directions, "batch", HIDDEN)]
        + [info(name, directions, "batch", HIDDEN) for name in outputs[1:]],
        [helper.make_tensor(k, floats, v.shape, v.ravel()) for k, v in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)

    def arrays(steps: int, batch: int) -> dict[str, Array]:
        values = {"x": numbers(steps, batch, WIDTH)}
        if lengths:
            values["lengths"] = np.array([max(1, steps - i) for i in range(batch)], np.int32)
        return values | {
            name: numbers(directions, batch, HIDDEN, seed=4 + i) for i, name in enumerate(states)
        }

    return model, arrays


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize(
    ("direction", "lengths", "initial"),
    [("forward", False, False), ("reverse", False, True), ("bidirectional", True, False)],
)
def test_unknown_length_and_batch(
    kind: str, direction: str, lengths: bool, initial: bool, tmp_path: Path
):
    directions = 2 if direction == "bidirectional" else 1
    model, arrays = layer(kind, directions, initial, lengths, direction=direction)
    module = agrees_with_onnxruntime(model, tmp_path, *(arrays(*size) for size in SIZES))
    types = next(op for op in module.walk() if op.name == "func.return").operand_types
    assert str(types[0]) == f"tensor<?x{directions}x?x{HIDDEN}xf32>"


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (["Affine", "ScaledTanh"], {"activation_alpha": [0.5, 1.5], "activation_beta": [0.1, 0.7]}),
        (["HardSigmoid", "LeakyRelu"], {"activation_alpha": [0.3, 0.2], "activation_beta": [0.4]}),
        (["HardSigmoid", "Elu"], {}),
        (["Softsign", "Softplus"], {}),
        (["ThresholdedRelu", "Relu"], {"activation_alpha": [0.25]}),
    ],
)
def test_activations(names: list[str], more: dict[str, object], tmp_path: Path):
    model, arrays = layer("GRU", 1, True, False, activations=names, **more)
    agrees_with_onnxruntime(model, tmp_path, arrays(4, 2))


def test_the_parameters_of_activations_are_listed_by_direction(tmp_path: Path):
    names = ["Affine", "Tanh", "Affine", "LeakyRelu"]
    more = {"activation_alpha": [0.5, 0.25, 0.125], "activation_beta": [0.1, 0.2]}
    model, arrays = layer(
        "GRU", 2, True, False, activations=names, direction="bidirectional", **more
    )
    agrees_with_onnxruntime(model, tmp_path, arrays(3, 2))


RANKED = """g (bool c, float[4, 5] x, float[1, 16, 5] w, float[1, 16, 4] r) => (float[N, 1, B, 4] y)
{{
    v = If (c) <
        then_branch = t () => (float[A, B, C] a) {{ i = Constant <value_ints=[0]> () {then} }},
        else_branch = e () => (float[A, B] b) {{ b = Identity(x) }}
    >
    y = LSTM <hidden_size = 4> (v, w, r)
}}"""


UNKNOWN_RANK = ["tensor<*xf32>", "tensor<?x?x?xf32>"]


def test_the_rank_of_the_data_is_3():
    module = imported(model_of(RANKED.format(then="a = Unsqueeze(x, i)")))
    (cast,) = (op for op in module.walk() if op.name == "tensor.cast" and "?x?x5" in str(op))
    ranked = cast.operands[0].owner
    assert isinstance(ranked, CastOp)
    assert [str(v.type) for v in (ranked.source, ranked.dest)] == UNKNOWN_RANK
    inputs = numbers(4, 5), numbers(1, 16, 5, seed=1), numbers(1, 16, 4, seed=2)
    (y,) = run(module, np.array(True), *inputs)
    known = "g (float[1, 4, 5] x, float[1, 16, 5] w, float[1, 16, 4] r) => (float[N, 1, B, 4] y) {"
    same = imported(model_of(known + " y = LSTM <hidden_size = 4> (x, w, r) }"))
    np.testing.assert_array_equal(y, run(same, inputs[0][None], *inputs[1:])[0])
    with pytest.raises(PasslineError, match=r"a tensor of shape 4x5 is not of type tensor<\?x\?x"):
        run(module, np.array(False), *inputs)
