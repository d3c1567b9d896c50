# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""onnxruntime as the reference: the results of a model, without any optimizations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import onnxruntime
from support.seeded import Array

__all__ = ["run_onnxruntime"]


def run_onnxruntime(file: Path, inputs: Mapping[str, Array]) -> list[Array]:
    """Return the outputs of the model in `file`, in order."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # idle threads spin, beside the other workers
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return cast(list[Array], session.run(None, dict(inputs)))
