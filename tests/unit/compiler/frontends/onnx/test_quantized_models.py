# pyright: reportMissingTypeStubs=false
"""Networks that onnxruntime's tools quantize, beside onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from onnxruntime.quantization import QuantFormat
from support.models.from_text import Array, imported, run
from support.models.quantized import NETWORKS, by_onnxruntime, dynamic, static
from support.native.needs_llvmlite import needs_native
from support.pairs import pairs
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.relax.elementwise.quantization import DequantizeOp
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline


def optimized(module: ModuleOp, level: int) -> ModuleOp:
    with PassContext(opt_level=level):
        return parse_pipeline("optimize")(module)


def image(model: ModelProto) -> Array:
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    return np.random.default_rng(2).standard_normal(sizes).astype(np.float32)


def step_of(model: ModelProto) -> float:
    """Return the scale of the result."""
    tensors = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    return float(tensors[model.graph.node[-1].input[1]])


@pairs(name=NETWORKS, format=[QuantFormat.QDQ, QuantFormat.QOperator], per_channel=[False, True])
def test_static(name: str, format: QuantFormat, per_channel: bool, tmp_path: Path):
    model = static(NETWORKS[name], tmp_path, format, per_channel)
    x = image(model)
    expected, step = by_onnxruntime(model, x), step_of(model)
    module = imported(model)
    for level in (0, 3):
        result = optimized(module, level)
        (actual,) = run(result, x)
        assert np.abs(actual - expected).max() <= (1.01 if level else 0.01) * step
    kept = sum(isinstance(op, DequantizeOp) for op in result.walk())  # pyright: ignore[reportPossiblyUnboundVariable]
    assert kept == (1 if name == "cnn" else 2)  # the result, and the operand of softmax


@pytest.mark.parametrize("name", NETWORKS)
def test_dynamic(name: str, tmp_path: Path):
    model = dynamic(NETWORKS[name], tmp_path)
    x = image(model)
    for level in (0, 3):
        (actual,) = run(optimized(imported(model), level), x)
        np.testing.assert_allclose(actual, by_onnxruntime(model, x), atol=1e-5)


@needs_native
@pytest.mark.parametrize("name", NETWORKS)
def test_machine_code(name: str, tmp_path: Path):
    from passline.compiler.native import compile_module

    model = static(NETWORKS[name], tmp_path, QuantFormat.QDQ, True)
    x, module = image(model), optimized(imported(model), 3)
    (actual,) = compile_module(module)(x)
    np.testing.assert_array_equal(actual, run(module, x)[0])
