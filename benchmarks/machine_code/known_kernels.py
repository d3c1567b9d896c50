"""The kernels of benchmarks/kernels.py, from models of the onnx package and other models."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from math import prod
from pathlib import Path

import numpy as np
import onnx
from machine_code.kernel import Kernel, Node, Weight, kernel
from onnx import helper

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.models.seeded import NAMES, light_path

__all__ = ["all_kernels"]

Shape = tuple[int, ...]
W = Weight
RELU = (Node("Relu", ()),)
RELU6 = (Node("Clip", (0.0, 6.0)),)
HARD_SWISH = (Node("HardSwish", ()),)
SWISH = (Node("Sigmoid", ()), Node("Mul", ("y0",)))
GELU = (Node("Gelu", ()),)


def all_kernels() -> list[Kernel]:
    return [*onnx_kernels(), *KERNELS]


# The models of the onnx package

UNTIMED = {"ConstantOfShape", "Unsqueeze", "Reshape", "Dropout", "Relu", "Mul"}
"""Nodes that are computed at compile time or that are timed with the node before them."""
LARGEST = 1 << 26
"""The maximum number of bytes of a weight."""


def onnx_kernels() -> list[Kernel]:
    """Return the largest convolution of each kind, and the largest and smallest other nodes."""
    groups: dict[str, list[Kernel]] = {}
    for found in chain.from_iterable(map(kernels_of, NAMES)):
        groups.setdefault(kind_of(found.nodes[0]), []).append(found)
    chosen: dict[str, Kernel] = {}
    for members in groups.values():
        largest, smallest = (choose(members, key=size_of) for choose in (max, min))
        for found in (largest,) if largest.nodes[0].op == "Conv" else (largest, smallest):
            chosen.setdefault(found.name, found)
    return [*chosen.values()]


def kind_of(node: Node) -> str:
    """Return a key for nodes that differ in size only, convolutions in channels only."""
    first, *others = shapes_of(node)
    match node.op:
        case "Conv":
            weight, group = others[0], node.attributes.get("group", 1)
            form = "dense" if group == 1 else "depthwise" if weight[1] == 1 else "grouped"
            return f"{form} {first[2:]} {weight[2:]} {node.attributes['strides']}"
        case "Gemm":
            return f"Gemm {first}"
        case _:
            return f"{node.op} {len(others)} {sorted(node.attributes.items())}"


def size_of(kernel: Kernel) -> int:
    """Return a measure of the work of a kernel, for comparison with others of its kind."""
    shapes = shapes_of(kernel.nodes[0])
    return prod(shapes[1]) if kernel.nodes[0].op == "Conv" else sum(map(prod, shapes))


def shapes_of(node: Node) -> list[Shape]:
    """Return the shapes of the operands of a node of these models."""
    shapes = (o.shape if isinstance(o, Weight) else o for o in node.operands)
    return [shape for shape in shapes if isinstance(shape, tuple)]


def kernels_of(name: str) -> Iterator[Kernel]:
    """Yield the nodes of a model that are to be timed, each with the Relu that follows it."""
    model = onnx.load(light_path(name))
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {
        value.name: tuple(d.dim_value for d in value.type.tensor_type.shape.dim)
        for value in (*graph.value_info, *graph.input, *graph.output)
    }
    shapes |= {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    constants = {tensor.name for tensor in graph.initializer}
    constants |= {n.output[0] for n in graph.node if n.op_type in ("ConstantOfShape", "Unsqueeze")}
    before_relu = {node.input[0] for node in graph.node if node.op_type == "Relu"}
    for node in graph.node:
        weights = [shapes[value] for value in node.input if value in constants]
        if node.op_type in UNTIMED or any(4 * prod(shape) > LARGEST for shape in weights):
            continue
        operands = (Weight(shapes[v]) if v in constants else shapes[v] for v in node.input)
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Conv":
            del attributes["kernel_shape"]  # the shape of the weight tells it
        then = RELU if node.output[0] in before_relu else ()
        yield kernel(name, node.op_type, *operands, then=then, **attributes)


# Other models


def conv(
    source: str,
    data: Shape,
    weight: Shape,
    stride: int = 1,
    then: tuple[Node, ...] = (),
    dilation: int = 1,
    pad: int | None = None,
) -> Kernel:
    """Return a convolution with bias, by default padded so that stride 1 keeps the size."""
    ranks = len(data) - 2
    pads = [dilation * (k - 1) // 2 if pad is None else pad for k in weight[2:]] * 2
    return kernel(
        source,
        "Conv",
        data,
        W(weight),
        W(weight[:1]),
        then=then,
        strides=[stride] * ranks,
        dilations=[dilation] * ranks,
        pads=pads,
        group=data[1] // weight[1],
    )


def transposed(source: str, data: Shape, weight: Shape, pad: int = 0) -> Kernel:
    """Return a transposed convolution of stride 2 with bias."""
    bias = W(weight[1:2])
    strides, pads = [2, 2], [pad] * 4
    return kernel(source, "ConvTranspose", data, W(weight), bias, strides=strides, pads=pads)


IMAGE = (1, 64, 56, 56)
TOKENS = (1, 128, 768)
ATTENTION = (12, 128, 128)
indices = np.random.default_rng(0).integers(0, 30522, (1, 128))
mask = np.tril(np.ones((1024, 1024), np.bool_))

KERNELS = [
    kernel("call overhead", "Add", (8,), (8,)),
    # Mobile networks: depthwise convolutions and their activations
    conv("mobilenet_v2", (1, 3, 224, 224), (32, 3, 3, 3), 2, RELU6),
    conv("mobilenet_v2", (1, 32, 112, 112), (32, 1, 3, 3), 1, RELU6),
    conv("mobilenet_v2", (1, 96, 112, 112), (96, 1, 3, 3), 2, RELU6),
    conv("mobilenet_v2", (1, 144, 56, 56), (144, 1, 3, 3), 1, RELU6),
    conv("mobilenet_v2", (1, 144, 56, 56), (144, 1, 3, 3), 2, RELU6),
    conv("mobilenet_v2", (1, 384, 14, 14), (384, 1, 3, 3), 1, RELU6),
    conv("mobilenet_v2", (1, 960, 7, 7), (960, 1, 3, 3), 1, RELU6),
    conv("mobilenet_v2", (1, 16, 112, 112), (96, 16, 1, 1), 1, RELU6),
    conv("mobilenet_v2", (1, 144, 56, 56), (24, 144, 1, 1)),
    conv("mobilenet_v2", (1, 320, 7, 7), (1280, 320, 1, 1), 1, RELU6),
    conv("mobilenet_v3", (1, 3, 224, 224), (16, 3, 3, 3), 2, HARD_SWISH),
    conv("mobilenet_v3", (1, 72, 56, 56), (72, 1, 5, 5), 2, RELU),
    conv("mobilenet_v3", (1, 120, 28, 28), (120, 1, 5, 5), 1, RELU),
    conv("mobilenet_v3", (1, 672, 14, 14), (672, 1, 5, 5), 2, HARD_SWISH),
    conv("mobilenet_v3", (1, 960, 7, 7), (960, 1, 5, 5), 1, HARD_SWISH),
    conv("mobilenet_v3", (1, 960, 1, 1), (240, 960, 1, 1), 1, RELU),
    kernel("mobilenet_v3", "HardSwish", (1, 16, 112, 112)),
    kernel("mobilenet_v3", "HardSigmoid", (1, 960, 1, 1), alpha=1 / 6),
    kernel("mobilenet_v3", "Mul", (1, 672, 14, 14), (1, 672, 1, 1)),
    conv("efficientnet_b0", (1, 16, 112, 112), (96, 16, 1, 1), 1, SWISH),
    conv("efficientnet_b0", (1, 144, 56, 56), (144, 1, 5, 5), 2, SWISH),
    conv("efficientnet_b0", (1, 480, 14, 14), (480, 1, 5, 5), 1, SWISH),
    kernel(
        "efficientnet_b0", "Sigmoid", (1, 96, 112, 112), then=(Node("Mul", ((1, 96, 112, 112),)),)
    ),
    conv("convnext", (1, 96, 56, 56), (96, 1, 7, 7)),
    conv("shufflenet_v2", (1, 58, 28, 28), (58, 1, 3, 3)),
    conv("deeplab_v3", (1, 128, 28, 28), (128, 128, 3, 3), 1, RELU, dilation=6),
    conv("yolov8", (1, 3, 640, 640), (16, 3, 3, 3), 2, SWISH),
    conv("yolov8", (1, 32, 80, 80), (32, 32, 3, 3), 1, SWISH),
    # Transformers
    kernel("bert", "MatMul", TOKENS[1:], W((768, 768))),
    kernel("bert", "MatMul", TOKENS[1:], W((768, 768)), then=(Node("Add", (W((768,)),)),)),
    kernel("bert", "MatMul", TOKENS[1:], W((768, 3072))),
    kernel("bert", "MatMul", (128, 3072), W((3072, 768))),
    kernel("bert", "MatMul", (12, 128, 64), (12, 64, 128)),
    kernel("bert", "MatMul", (12, 128, 128), (12, 128, 64)),
    kernel("bert", "Add", (1, *ATTENTION), (1, 1, 1, 128)),
    kernel("bert", "Softmax", ATTENTION, axis=-1),
    kernel("bert", "LayerNormalization", TOKENS, W((768,)), W((768,)), axis=-1),
    kernel("bert", "Add", TOKENS, TOKENS),
    kernel("bert", "Gelu", (1, 128, 3072)),
    kernel("bert", "Erf", (1, 128, 3072)),
    kernel("bert", "Transpose", (1, 128, 12, 64), perm=[0, 2, 1, 3]),
    kernel("bert", "Transpose", (1, 128, 12, 64), perm=[0, 2, 3, 1]),
    kernel("bert", "Gather", W((30522, 768)), indices, axis=0),
    kernel(
        "bert", "MatMul", (1, 128, 768), W((768, 3072)), then=(Node("Add", (W((3072,)),)), *GELU)
    ),
    conv("vit_b16", (1, 3, 224, 224), (768, 3, 16, 16), 16, pad=0),
    kernel("vit_b16", "MatMul", (197, 768), W((768, 3072))),
    kernel("vit_b16", "MatMul", (12, 197, 64), (12, 64, 197)),
    kernel("vit_b16", "Softmax", (12, 197, 197), axis=-1),
    kernel("vit_b16", "LayerNormalization", (1, 197, 768), W((768,)), W((768,)), axis=-1),
    kernel("vit_b16", "Slice", (1, 197, 768), [0], [1], [1]),
    kernel("gpt2", "MatMul", (1, 768), W((768, 3072))),
    kernel("gpt2", "MatMul", (12, 1, 64), (12, 64, 512)),
    kernel("gpt2", "Softmax", (12, 1, 512), axis=-1),
    kernel("gpt2", "Gelu", (1, 128, 3072), approximate="tanh"),
    kernel("gpt2", "Where", mask, (1024, 1024), -1e9),
    # Products
    kernel("lstm", "Gemm", (1, 256), W((256, 1024)), W((1024,))),
    kernel("lstm", "MatMul", (64, 256), W((256, 1024))),
    kernel("mlp", "Gemm", (32, 784), W((784, 128)), W((128,)), then=RELU),
    kernel("small", "MatMul", (8, 8), (8, 8)),
    kernel("small", "MatMul", (17, 33), (33, 65)),
    kernel("small", "MatMul", (64, 64), (64, 64)),
    kernel("square", "MatMul", (512, 512), (512, 512)),
    kernel("linear", "MatMul", (512, 512), W((512, 512))),
    kernel("square", "Gemm", (512, 512), (512, 512), transA=1),
    kernel("vector", "MatMul", (1, 1024), (1024, 1024)),
    kernel("vector", "MatMul", (1024, 1024), (1024, 1)),
    # Convolutions in one and three dimensions, and transposed ones
    conv("magika", (1, 64, 256, 1), (64, 64, 5, 1)),
    conv("wav2vec2", (1, 1, 16000), (512, 1, 10), 5, pad=0),
    conv("wav2vec2", (1, 512, 799), (512, 512, 3), 2, GELU, pad=0),
    conv("whisper", (1, 80, 3000), (384, 80, 3), 1, GELU),
    conv("conformer", (1, 256, 400), (256, 1, 31)),
    conv("c3d", (1, 3, 16, 112, 112), (64, 3, 3, 3, 3), 1, RELU),
    conv("r3d", (1, 64, 4, 28, 28), (64, 64, 3, 3, 3), 1, RELU),
    transposed("unet", (1, 128, 64, 64), (128, 64, 2, 2)),
    transposed("unet", (1, 512, 16, 16), (512, 256, 2, 2)),
    transposed("dcgan", (1, 512, 8, 8), (512, 256, 4, 4), 1),
    transposed("dcgan", (1, 128, 32, 32), (128, 3, 4, 4), 1),
    # Reductions and normalizations
    kernel("rows", "ReduceSum", (1000, 512), [0], keepdims=0),
    kernel("rows", "ReduceSum", (1000, 512), [1], keepdims=0),
    kernel("rows", "ReduceMax", (1000, 512), [1], keepdims=0),
    kernel("rows", "ReduceSum", (1000, 512), [0, 1], keepdims=0),
    kernel("resnet50", "ReduceMean", (1, 2048, 7, 7), [2, 3], keepdims=1),
    kernel("tokens", "ReduceMean", TOKENS, [2], keepdims=1),
    kernel("tokens", "ReduceMean", TOKENS, [1], keepdims=0),
    kernel("rows", "ArgMax", (1000, 512), axis=-1, keepdims=0),
    kernel("deeplab_v3", "ArgMax", (1, 21, 64, 64), axis=1, keepdims=0),
    kernel("deeplab_v3", "Softmax", (1, 21, 64, 64), axis=1),
    kernel("classifier", "LogSoftmax", (32, 1000), axis=-1),
    kernel("fast style", "InstanceNormalization", (1, 64, 128, 128), W((64,)), W((64,))),
    kernel(
        "diffusion", "GroupNormalization", (1, 320, 32, 32), W((320,)), W((320,)), num_groups=32
    ),
    # Element-wise
    *(
        kernel("element-wise", op, IMAGE)
        for op in ("Sin", "Exp", "Log", "Tanh", "Sigmoid", "Erf", "Sqrt", "Relu", "Neg", "Softplus")
    ),
    kernel("element-wise", "LeakyRelu", IMAGE, alpha=0.1),
    kernel("element-wise", "Pow", IMAGE, 2.0),
    kernel("element-wise", "Pow", IMAGE, 3.0),
    kernel("element-wise", "Pow", IMAGE, 0.75),
    kernel("element-wise", "Add", IMAGE, IMAGE, then=RELU),
    kernel("element-wise", "Div", IMAGE, IMAGE),
    kernel("element-wise", "Mul", IMAGE, 0.125),
    kernel("broadcasting", "Add", (1000, 512), (512,)),
    kernel("broadcasting", "Add", (1000, 512), (1000, 1)),
    kernel("broadcasting", "Add", IMAGE, (1, 64, 1, 1)),
    kernel("broadcasting", "Add", IMAGE, (1, 64, 1, 1), then=RELU),
    # Data movement
    kernel("yolov3", "Resize", (1, 128, 40, 40), None, [1.0, 1.0, 2.0, 2.0], mode="nearest"),
    kernel(
        "unet",
        "Resize",
        (1, 64, 64, 64),
        None,
        [1.0, 1.0, 2.0, 2.0],
        mode="linear",
        coordinate_transformation_mode="half_pixel",
    ),
    kernel(
        "deeplab_v3",
        "Resize",
        (1, 21, 33, 33),
        None,
        None,
        [1, 21, 257, 257],
        mode="linear",
        coordinate_transformation_mode="align_corners",
    ),
    kernel("padding", "Pad", IMAGE, [0, 0, 1, 1, 0, 0, 1, 1]),
    kernel("fast style", "Pad", (1, 32, 128, 128), [0, 0, 4, 4, 0, 0, 4, 4], mode="reflect"),
    kernel("shufflenet_v2", "Slice", (1, 116, 28, 28), [58], [116], [1]),
    kernel("yolov5", "Slice", (1, 3, 640, 640), [0, 1], [640, 640], [2, 3], [2, 2]),
    kernel("espcn", "DepthToSpace", (1, 256, 64, 64), blocksize=2, mode="CRD"),
    kernel("matrix", "Transpose", (1024, 1024), perm=[1, 0]),
    kernel("layout", "Transpose", (1, 64, 112, 112), perm=[0, 2, 3, 1]),
    kernel("layout", "Transpose", (1, 112, 112, 64), perm=[0, 3, 1, 2]),
    kernel("unet", "Concat", (1, 64, 128, 128), (1, 64, 128, 128), axis=1),
    kernel("tokens", "Concat", (1, 128, 256), (1, 128, 256), axis=-1),
    kernel("detection", "Gather", (1, 100, 85), [0, 2, 1, 3], axis=2),
    kernel("resizing", "Expand", (1, 64, 1, 1), [1, 64, 56, 56]),
    kernel("tiling", "Tile", (1, 64, 56), [1, 1, 4]),
]
