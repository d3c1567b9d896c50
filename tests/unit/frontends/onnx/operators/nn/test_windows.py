"""Windows over inputs of unknown size: the padding is computed when the model runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from support.models.against_ort import agrees_with_onnxruntime
from support.models.from_text import Array, imported, model_of, run

from passline.frontends.onnx import import_model

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


def test_the_padding_of_a_maximum_is_the_least_value(tmp_path: Path):
    graph = """g (int8[1, 1, N] x) => (int8[1, 1, M] y) {
        y = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [4], strides = [3]> (x)
    }"""
    sets = [{"x": np.full((1, 1, n), -100, np.int8)} for n in (1, 2, 3, 7)]
    agrees_with_onnxruntime(model_of(graph), tmp_path, *sets)


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
