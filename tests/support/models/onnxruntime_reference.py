# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""onnxruntime as the reference: the results of a model, without any optimizations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import onnxruntime
from onnx import ModelProto
from support.models.seeded import Array

__all__ = ["run_onnxruntime"]


def run_onnxruntime(model: Path | ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """Return the outputs of a model, given as its file or as a proto, in order."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4  # a node that fails raises an exception, too
    options.intra_op_num_threads = 1  # idle threads spin, beside the other workers
    source = model if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return cast(list[Array], session.run(None, dict(inputs)))
