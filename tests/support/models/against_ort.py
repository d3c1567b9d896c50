"""Models against onnxruntime: as imported, and optimized at levels 0 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from onnx import ModelProto
from support.models.from_text import Array, imported, run
from support.models.onnxruntime_reference import run_onnxruntime
from xdsl.dialects.builtin import ModuleOp

import passline

__all__ = ["agrees_with_onnxruntime"]


def agrees_with_onnxruntime(
    model: ModelProto,
    directory: Path,
    *inputs: Mapping[str, Array],
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> ModuleOp:
    """Assert that a model computes what onnxruntime does for each set of inputs, at -O0 and at -O3
    too; return the module as imported."""
    (file := directory / "model.onnx").write_bytes(model.SerializeToString())
    module = imported(model)
    forms = {"imported": module} | {
        f"-O{level}": passline.optimize(module, level=level) for level in (0, 3)
    }
    for arrays in inputs:
        expected = run_onnxruntime(file, arrays)
        for name, form in forms.items():
            results = run(form, *arrays.values())
            assert len(results) == len(expected), name
            for actual, wanted in zip(results, expected, strict=True):
                assert actual.shape == wanted.shape, name
                assert actual.dtype == wanted.dtype, name
                np.testing.assert_allclose(actual, wanted, rtol, atol, err_msg=name)
    return module
