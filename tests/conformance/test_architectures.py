"""Models of well-known architectures, on numpy and as machine code, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from support.architectures import ARCHITECTURES
from support.kernels import count_kernels
from support.machine import needs_native
from support.models import run
from support.ort import run_onnxruntime
from support.seeded import Array
from support.transformers import inputs_of
from xdsl.dialects.builtin import ModuleOp

from passline.frontends.onnx import import_model
from passline.passes import OPTIMIZE
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.tools.native import compile_module

EACH = pytest.mark.parametrize("name", ARCHITECTURES)
LEVELS = pytest.mark.parametrize("level", [0, 3])

KERNELS = {"U-Net": 11, "MobileNetV3": 25, "EfficientNet": 25, "detection head": 14}
"""The number of kernels when grouped by hand: one for each convolution with what is element-wise
after it, for each pooling, product, concatenation and gate."""


def optimized(model: onnx.ModelProto, level: int) -> ModuleOp:
    module = import_model(model)
    with PassContext(opt_level=level):
        parse_pipeline(",".join(OPTIMIZE)).apply(make_ir_context(), module)
    return module


def check(results: list[Array], model: onnx.ModelProto, path: Path) -> None:
    (file := path / "model.onnx").write_bytes(model.SerializeToString())
    for actual, expected in zip(results, run_onnxruntime(file, inputs_of(model)), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, strict=True)


@EACH
@LEVELS
def test_numpy(name: str, level: int, tmp_path: Path) -> None:
    model = ARCHITECTURES[name]()
    module = optimized(model, level)
    check(run(module, *inputs_of(model).values()), model, tmp_path)


@needs_native
@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "If and Loop"])
def test_machine_code(name: str, tmp_path: Path) -> None:
    model = ARCHITECTURES[name]()
    with PassContext(verify_each=False):
        function = compile_module(optimized(model, 3))
    results = function(*inputs_of(model).values())
    check([np.asarray(r) for r in results], model, tmp_path)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    assert count_kernels(optimized(ARCHITECTURES[name](), 3)) <= KERNELS[name]
