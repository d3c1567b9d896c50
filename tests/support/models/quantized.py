# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Small networks, quantized by onnxruntime's tools, and their results in onnxruntime."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, load, numpy_helper, save
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from support.models.from_text import Array
from support.models.onnxruntime_reference import run_onnxruntime

__all__ = ["NETWORKS", "by_onnxruntime", "dynamic", "static"]

N = helper.make_node


def network(
    nodes: Sequence[NodeProto], weights: Mapping[str, Sequence[int]], shape: Sequence[int]
) -> ModelProto:
    """Return a model of random weights from `x` to `y`."""
    generator = np.random.default_rng(0)
    tensors = [
        numpy_helper.from_array(
            (generator.standard_normal(size) / np.sqrt(np.prod(size[1:]))).astype(np.float32), name
        )
        for name, size in weights.items()
    ]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, size)
        for name, size in (("x", shape), ("y", None))
    )
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


CNN = network(
    [
        N("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], strides=[2, 2]),
        N("Relu", ["c1"], ["r1"]),
        N("Conv", ["r1", "w2", "b1"], ["c2"], pads=[1, 1, 1, 1], group=8),
        N("LeakyRelu", ["c2"], ["l"], alpha=0.1),
        N("Conv", ["l", "w3"], ["c3"]),
        N("Add", ["c3", "r1"], ["a"]),
        N("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        N("AveragePool", ["a"], ["q"], kernel_shape=[2, 2], strides=[2, 2]),
        N("Concat", ["p", "q"], ["k"], axis=1),
        N("Sigmoid", ["k"], ["s"]),
        N("Mul", ["k", "s"], ["m"]),
        N("GlobalAveragePool", ["m"], ["g"]),
        N("Flatten", ["g"], ["f"]),
        N("Gemm", ["f", "w4", "b4"], ["y"], transB=1),
    ],
    {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (8, 1, 3, 3), "w3": (8, 8, 1, 1)}
    | {"w4": (10, 16), "b4": (10,)},
    (2, 3, 12, 12),
)

LAYER = network(
    [
        N("MatMul", ["x", "wq"], ["q0"]),
        N("Add", ["q0", "b"], ["q"]),
        N("MatMul", ["x", "wk"], ["k"]),
        N("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
        N("MatMul", ["q", "t"], ["s"]),
        N("Softmax", ["s"], ["p"], axis=-1),
        N("MatMul", ["p", "x"], ["o"]),
        N("Add", ["o", "x"], ["h"]),
        N("MatMul", ["h", "w1"], ["f"]),
        N("Relu", ["f"], ["r"]),
        N("MatMul", ["r", "w2"], ["y"]),
    ],
    {"wq": (16, 16), "b": (16,), "wk": (16, 16), "w1": (16, 32), "w2": (32, 16)},
    (2, 6, 16),
)

NETWORKS = {"cnn": CNN, "layer": LAYER}


class Samples(CalibrationDataReader):
    """Random inputs, from which the ranges of numbers follow."""

    def __init__(self, model: ModelProto) -> None:
        sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        generator = np.random.default_rng(1)
        self.arrays: Iterator[Array] = (
            generator.standard_normal(sizes).astype(np.float32) for _ in range(4)
        )

    def get_next(self) -> dict[str, Array] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        array = next(self.arrays, None)
        return None if array is None else {"x": array}


@contextmanager
def quiet() -> Generator[None]:
    """Drop the warnings of onnxruntime's tools, which go to the root logger."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@quiet()
def static(model: ModelProto, path: Path, format: QuantFormat, per_channel: bool) -> ModelProto:
    """Return the model quantized with ranges from samples."""
    save(model, path / "float.onnx")
    quantize_static(
        path / "float.onnx",
        path / "quantized.onnx",
        Samples(model),
        quant_format=format,
        per_channel=per_channel,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        # Weights of 7 bits: without VNNI, onnxruntime's sums of two products saturate in 16 bits.
        reduce_range=True,
    )
    return load(path / "quantized.onnx")


@quiet()
def dynamic(model: ModelProto, path: Path) -> ModelProto:
    """Return the model with quantized weights, which quantizes activations when it runs."""
    save(model, path / "float.onnx")
    quantize_dynamic(path / "float.onnx", path / "quantized.onnx")
    return load(path / "quantized.onnx")


def by_onnxruntime(model: ModelProto, x: Array) -> Array:
    """Return the result of onnxruntime, without optimizations."""
    return run_onnxruntime(model, {"x": x})[0]
