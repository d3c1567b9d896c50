"""Models of unknown sizes are compiled once to machine code, and agree with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from support.models.architectures import dynamic_detector
from support.models.from_text import imported
from support.models.onnxruntime_reference import run_onnxruntime
from support.models.transformers import Sizes, dynamic_encoder
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array

import passline


def check(model: onnx.ModelProto, directory: Path, *inputs: Mapping[str, Array]) -> None:
    """Check the results of one compiled function for each set of inputs."""
    (file := directory / "model.onnx").write_bytes(model.SerializeToString())
    compiled = passline.compile(passline.optimize(imported(model), level=3))
    for arrays in inputs:
        expected = run_onnxruntime(file, arrays)
        for mine, other in zip(compiled(*arrays.values()), expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5, strict=True)


@needs_native
def test_transformer_of_unknown_batch_and_length(tmp_path: Path):
    random = np.random.default_rng(0)
    inputs: list[Mapping[str, Array]] = []
    for batch, length in ((1, 1), (1, 8), (3, 7), (2, 33)):
        mask = np.ones((batch, length), np.int64)
        mask[:, max(1, length - length // 4) :] = 0
        inputs.append({"tokens": random.integers(0, 50, (batch, length)), "mask": mask})
    check(dynamic_encoder(Sizes(length=40)), tmp_path, *inputs)


@needs_native
def test_detector_of_unknown_height_and_width(tmp_path: Path):
    random = np.random.default_rng(0)
    shapes = ((1, 8, 8), (2, 16, 24), (1, 72, 40))
    images = [random.standard_normal((n, 3, h, w)).astype(np.float32) for n, h, w in shapes]
    check(dynamic_detector(), tmp_path, *({"image": image} for image in images))
