"""Windows over inputs of unknown size: the padding is computed when the model runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from support.models.against_ort import agrees_with_onnxruntime
from support.models.from_text import Array, imported, model_of, run
from support.models.onnxruntime_reference import run_onnxruntime

from passline.compiler.frontends.onnx import UnsupportedModelError, import_model
from passline.dialects.relax.types import shape_of, tensor_type

MODES = ("SAME_UPPER", "SAME_LOWER")
SIZES = ((1, 1), (2, 5), (6, 6), (7, 8), (11, 9))


def data(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def model(op: str, attributes: str, weight: tuple[int, ...] = ()) -> ModelProto:
    parameter, given = (f", float{[*weight]} w", ", w") if weight else ("", "")
    return model_of(
        f"g (float[N, 4, H, W] x{parameter}) => (float[N, M, P, Q] y) "
        f"{{ y = {op} <{attributes}> (x{given}) }}"
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("strides", "window"), [([2, 2], (3, 4)), ([3, 1], (2, 3))])
def test_convolutions(mode: str, strides: list[int], window: tuple[int, int], tmp_path: Path):
    shape = 5, 4, *window
    of = model("Conv", f'auto_pad = "{mode}", strides = {strides}', shape)
    sets = [{"x": data(2, 4, *size), "w": data(*shape, seed=1)} for size in SIZES]
    module = agrees_with_onnxruntime(of, tmp_path, *sets)
    assert [op.name for op in module.walk()].count("relax.dyn.pad") == 1


@pytest.mark.parametrize(("op", "inputs"), [("Conv", 4), ("ConvTranspose", 6)])
def test_unknown_channels_are_those_of_the_weight(op: str, inputs: int, tmp_path: Path):
    body = f"{{ y = {op} <group = 2> (x, w) }}"
    head = "g (float[N, C, H] x, float[6, 2, 3] w) => (float[N, M, P] y)"
    sets = [{"x": data(2, inputs, size), "w": data(6, 2, 3, seed=1)} for size in (3, 8)]
    module = agrees_with_onnxruntime(model_of(head + body), tmp_path, *sets)
    (made,) = (o for o in module.walk() if o.name.startswith("relax.nn.conv1d"))
    shape = shape_of(tensor_type(made.operands[0]))
    assert shape is not None
    assert shape[1] == inputs


@pytest.mark.parametrize("size", SIZES)
def test_dilated_convolutions(size: tuple[int, int]):
    # onnxruntime refuses them; the reference is the same model of known size
    of = model(
        "Conv", 'auto_pad = "SAME_LOWER", strides = [3, 2], dilations = [2, 3]', (5, 4, 2, 3)
    )
    x, w = data(2, 4, *size), data(5, 4, 2, 3, seed=1)
    same_as_of_known_size(of, x, w)


def same_as_of_known_size(of: ModelProto, *inputs: Array) -> None:
    known = import_model(of, shapes={"x": inputs[0].shape})
    assert "relax.dyn.pad" not in [op.name for op in known.walk()]
    np.testing.assert_array_equal(run(imported(of), *inputs)[0], run(known, *inputs)[0])


def test_of_stride_1_the_padding_does_not_depend_on_the_size():
    of = model("Conv", 'auto_pad = "SAME_UPPER"', (5, 4, 2, 4))
    names = [op.name for op in imported(of).walk()]
    assert "relax.dyn.pad" not in names and "relax.nn.conv2d" in names


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "AveragePool counted", "LpPool"])
def test_pooling(mode: str, kind: str, tmp_path: Path):
    op, *counted = kind.split()
    more = ", count_include_pad = 1" if counted else ""
    attributes = f'auto_pad = "{mode}", kernel_shape = [3, 4], strides = [2, 3]{more}'
    sets = [{"x": data(2, 4, *size)} for size in SIZES]
    agrees_with_onnxruntime(model(op, attributes), tmp_path, *sets)


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "AveragePool counted", "LpPool"])
@pytest.mark.parametrize(
    "steps",
    [
        "kernel_shape = [3, 2], strides = [3, 3]",  # the last window of 2 may start past the end
        "kernel_shape = [3, 3], strides = [2, 4], pads = [1, 0, 2, 1]",
        'kernel_shape = [2, 3], strides = [3, 2], dilations = [2, 1], auto_pad = "VALID"',
    ],
)
def test_the_last_windows_may_reach_beyond_the_padding(steps: str, kind: str, tmp_path: Path):
    op, *counted = kind.split()
    more = ", count_include_pad = 1" if counted else ""
    graph = (
        "g (float[N, 4, H, W] x) => (float[N, M, P, Q] y) "
        f"{{ y = {op} <ceil_mode = 1, {steps}{more}> (x) }}"
    )
    of = model_of(graph, opset=19)
    sets = [{"x": data(2, 4, *size)} for size in [(3, 3), *SIZES[2:], (8, 8), (10, 12)]]
    agrees_with_onnxruntime(of, tmp_path, *sets)
    for arrays in sets:
        known = import_model(of, shapes={"x": arrays["x"].shape})
        assert "relax.dyn.pad" not in [op.name for op in known.walk()]
        (expected,) = run_onnxruntime(of, arrays)
        np.testing.assert_allclose(run(known, arrays["x"])[0], expected, rtol=1e-5, atol=1e-6)


def test_the_padding_of_a_maximum_is_the_least_value(tmp_path: Path):
    graph = """g (int8[1, 1, N] x) => (int8[1, 1, M] y) {
        y = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [4], strides = [3]> (x)
    }"""
    sets = [{"x": np.full((1, 1, n), -100, np.int8)} for n in (1, 2, 3, 7)]
    agrees_with_onnxruntime(model_of(graph), tmp_path, *sets)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    "steps", ["strides = [2, 3], auto_pad = 'SAME_LOWER'", "pads = [1, 0, 0, 2], ceil_mode = 1"]
)
def test_places_of_maxima(steps: str, order: int, tmp_path: Path):
    attributes = f"kernel_shape = [2, 3], storage_order = {order}, {steps}".replace("'", '"')
    of = model_of(
        "g (float[N, 2, H, W] x) => (float[N, 2, P, Q] y, int64[N, 2, P, Q] i) "
        f"{{ y, i = MaxPool <{attributes}> (x) }}"
    )
    agrees_with_onnxruntime(of, tmp_path, *({"x": data(2, 2, *size)} for size in SIZES[1:]))


@pytest.mark.parametrize("mode", MODES)
def test_transposed_convolutions(mode: str, tmp_path: Path):
    of = model("ConvTranspose", f'auto_pad = "{mode}", strides = [2, 3]', (4, 5, 3, 4))
    sets = [{"x": data(2, 4, *size), "w": data(4, 5, 3, 4, seed=1)} for size in SIZES]
    names = [op.name for op in agrees_with_onnxruntime(of, tmp_path, *sets).walk()]
    assert "relax.dyn.pad" not in names  # the size of the input cancels out


@pytest.mark.parametrize("size", [(4, 4), (5, 3), (6, 7)])
@pytest.mark.parametrize("mode", ["NOTSET", *MODES])
def test_transposed_convolutions_to_a_given_size(mode: str, size: tuple[int, int]):
    attributes = f'auto_pad = "{mode}", strides = [2, 2], output_shape = [9, 10]'
    of = model("ConvTranspose", attributes, (4, 5, 3, 3))
    same_as_of_known_size(of, data(2, 4, *size), data(4, 5, 3, 3, seed=1))


# onnxruntime pools along at most three axes; the reference is a pooling of planes.
WINDOWS = "kernel_shape = [1, 3, 1, 2], strides = [1, 2, 1, 1], pads = [0, 1, 0, 0, 0, 0, 0, 1]"


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("batch", ["2", "N"])
def test_pooling_along_some_of_many_axes(kind: str, batch: str, tmp_path: Path):
    x = data(2, 3, 5, 6, 4, 7)
    many = model_of(
        f"g (float[{batch}, 3, 5, 6, 4, 7] x) => (float[A, B, C, D, E, F] y) "
        f"{{ y = {kind} <{WINDOWS}> (x) }}"
    )
    planes = model_of(
        "g (float[N, 1, 6, 7] x) => (float[N, 1, P, Q] y) "
        f"{{ y = {kind} <kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 0, 1]> (x) }}"
    )
    moved = x.transpose(0, 1, 2, 4, 3, 5)
    (expected,) = run_onnxruntime(planes, {"x": moved.reshape(-1, 1, 6, 7)})
    expected = expected.reshape(*moved.shape[:4], 3, 7).transpose(0, 1, 2, 4, 3, 5)
    np.testing.assert_allclose(run(imported(many), x)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("batch", ["2", "N"])
def test_convolutions_along_some_of_many_axes(batch: str):
    x, w = data(2, 4, 5, 6, 3, 7), data(8, 2, 1, 3, 1, 2, seed=1)
    many = model_of(
        f"g (float[{batch}, 4, 5, 6, 3, 7] x, float[8, 2, 1, 3, 1, 2] w) => "
        "(float[A, B, C, D, E, F] y) { y = Conv <group = 2, strides = [1, 2, 1, 1], "
        "pads = [0, 1, 0, 0, 0, 0, 0, 1]> (x, w) }"
    )
    planes = model_of(
        "g (float[N, 4, 6, 7] x, float[8, 2, 3, 2] w) => (float[N, M, P, Q] y) "
        "{ y = Conv <group = 2, strides = [2, 1], pads = [1, 0, 0, 1]> (x, w) }"
    )
    moved = x.transpose(0, 2, 4, 1, 3, 5).reshape(-1, 4, 6, 7)
    (expected,) = run_onnxruntime(planes, {"x": moved, "w": w.reshape(8, 2, 3, 2)})
    expected = expected.reshape(2, 5, 3, 8, 3, 7).transpose(0, 3, 1, 4, 2, 5)
    np.testing.assert_allclose(run(imported(many), x, w)[0], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "window", "reason"),
    [
        ("2, 3, 5, 6, 4, 7", "[2, 2, 2, 2]", "windows along 4 axes, expected 1, 2 or 3"),
        ("N, 3, 5, H, 4, 7", "[1, 3, 1, 2]", "two unknown dimensions"),
    ],
)
def test_pooling_along_many_axes_is_refused(shape: str, window: str, reason: str):
    of = model_of(
        f"g (float[{shape}] x) => (float[A, B, C, D, E, F] y) "
        f"{{ y = MaxPool <kernel_shape = {window}> (x) }}"
    )
    with pytest.raises(UnsupportedModelError, match=reason):
        imported(of)
