"""Models of well-known architectures, on numpy, as machine code, and as tile programs on a
simulated GPU, against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from support.models.architectures import ARCHITECTURES
from support.models.from_text import optimized, run
from support.models.kernels import count_kernels
from support.models.onnxruntime_reference import run_onnxruntime
from support.models.seeded import Array
from support.models.transformers import inputs_of
from support.native.needs_llvmlite import needs_native

import passline
from passline.compiler.execution import Engine
from passline.passmanager import PassContext

EACH = pytest.mark.parametrize("name", ARCHITECTURES)
LEVELS = pytest.mark.parametrize("level", [0, 3])

KERNELS = {"U-Net": 11, "MobileNetV3": 25, "EfficientNet": 25, "detection head": 14}
"""The number of kernels when grouped by hand: one for each convolution with what is element-wise
after it, for each pooling, product, concatenation and gate."""


def check(results: list[Array], model: onnx.ModelProto) -> None:
    for actual, expected in zip(results, run_onnxruntime(model, inputs_of(model)), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, strict=True)


@EACH
@LEVELS
def test_numpy(name: str, level: int) -> None:
    model = ARCHITECTURES[name]()
    module = optimized(model, level)
    check(run(module, *inputs_of(model).values()), model)


@pytest.mark.parametrize("engine", [pytest.param("native", marks=needs_native), "cuda-interpreter"])
@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "If and Loop"])
def test_compiled(name: str, engine: Engine) -> None:
    model = ARCHITECTURES[name]()
    with PassContext(verify_each=False):
        function = passline.compile(optimized(model, 3), engine=engine, level=None)
    results = function(*inputs_of(model).values())
    check([np.asarray(r) for r in results], model)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    assert count_kernels(optimized(ARCHITECTURES[name](), 3)) <= KERNELS[name]
