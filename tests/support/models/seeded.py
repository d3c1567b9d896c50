# pyright: reportUnknownMemberType=false
"""Random weights and inputs for the nine real models that come with onnx.

The weights of the models in `onnx/backend/test/data/light/` are constant fills: every reference
output is one value repeated, whatever the input, so they test shapes and no computation. Here every
float initializer and fill is replaced by seeded random numbers, scaled so that activations neither
vanish nor explode. The logits, the tensor before the last Softmax, are an output too. onnxruntime
with all optimizations and with none agree on them to 3e-6 of their standard deviation, so 1e-4 is a
safe tolerance for a compiler.

    python seeded.py resnet50 --seed 1 -o resnet50.onnx
"""

from __future__ import annotations

import argparse
import math
import pathlib
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

__all__ = ["LIGHT", "NAMES", "light_path", "random_input", "seeded"]

LIGHT = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
NAMES = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)

Array: TypeAlias = NDArray[Any]


def light_path(name: str) -> pathlib.Path:
    """Return the path of a model that comes with onnx."""
    return LIGHT / f"light_{name}.onnx"


def seeded(name: str, seed: int) -> onnx.ModelProto:
    """Return a model with seeded float32 weights as initializers; its outputs are its own and
    the logits."""
    model = onnx.load(light_path(name))
    graph = model.graph
    rng = np.random.default_rng(seed)
    users = {value: (node, i) for node in graph.node for i, value in enumerate(node.input)}
    ints = {
        t.name: numpy_helper.to_array(t)
        for t in graph.initializer
        if t.data_type == onnx.TensorProto.INT64
    }

    def weight(value: str, shape: tuple[int, ...]) -> Array:
        node, i = users[value]
        if node.op_type == "Unsqueeze":  # the scale and shift of a Caffe-style batch norm
            scale = users[node.output[0]][0].op_type == "Mul"
            return rng.uniform(0.5, 1.5, shape) if scale else rng.normal(0, 0.2, shape)
        if node.op_type == "BatchNormalization":
            return rng.uniform(0.5, 1.5, shape) if i in (1, 4) else rng.normal(0, 0.2, shape)
        if len(shape) >= 2:
            return rng.normal(0, math.sqrt(2 / math.prod(shape[1:])), shape)
        return rng.normal(0, 0.1, shape)

    def tensor(value: str, shape: tuple[int, ...]) -> onnx.TensorProto:
        return numpy_helper.from_array(weight(value, shape).astype(np.float32), value)

    weights = [
        tensor(t.name, tuple(t.dims))
        if t.data_type == onnx.TensorProto.FLOAT and t.name in users
        else t
        for t in graph.initializer
    ]
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shape = tuple(int(d) for d in ints[node.input[0]])
            weights.append(tensor(node.output[0], shape))
        else:
            nodes.append(node)
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(weights)
    known = {t.name for t in weights}
    inputs = [v for v in graph.input if v.name not in known]
    del graph.input[:]
    graph.input.extend(inputs)
    softmax = [n for n in nodes if n.op_type == "Softmax"]
    if softmax:
        logits = helper.make_tensor_value_info(softmax[-1].input[0], onnx.TensorProto.FLOAT, None)
        graph.output.append(logits)
    model.ir_version = 8
    return model


def random_input(model: onnx.ModelProto, seed: int) -> dict[str, Array]:
    """Return images for the inputs: coarse random blocks and noise, so that two seeds give
    clearly different logits."""
    rng = np.random.default_rng(seed)
    images: dict[str, Array] = {}
    for value in model.graph.input:
        n, c, h, w = (d.dim_value or 1 for d in value.type.tensor_type.shape.dim)
        blocks = rng.standard_normal((n, c, 8, 8))
        blocks = blocks.repeat(-(-h // 8), axis=2).repeat(-(-w // 8), axis=3)[:, :, :h, :w]
        noise = rng.standard_normal((n, c, h, w))
        images[value.name] = (2 * blocks + 0.3 * noise).astype(np.float32)
    return images


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    onnx.save(seeded(args.name, args.seed), args.output)
