# pyright: reportUnknownMemberType=false
"""Small models of well-known architectures in ONNX, with seeded weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
from onnx import TensorProto

from .transformers import Graph

__all__ = ["ARCHITECTURES", "dynamic_detector"]


class Vision(Graph):
    """A builder with the layers of networks for images."""

    def conv(
        self, x: str, inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1
    ) -> str:
        """Add a convolution with bias, padded to keep the extent for stride 1."""
        fan_in = inputs // groups * size * size
        weight = self.weight(outputs, inputs // groups, size, size, scale=fan_in**-0.5)
        bias = self.weight(outputs, scale=0.1)
        pads, strides = [size // 2] * 4, [stride] * 2
        return self.op("Conv", x, weight, bias, pads=pads, strides=strides, group=groups)

    def batch_norm(self, x: str, channels: int) -> str:
        scale, variance = (self.weight(channels, mean=1.0, scale=0.1) for _ in range(2))
        bias, mean = (self.weight(channels, scale=0.1) for _ in range(2))
        return self.op("BatchNormalization", x, scale, bias, mean, variance)

    def squeeze_excite(self, x: str, channels: int, hidden: int, gate: str, act: str) -> str:
        """Scale channels by a gate computed from their means."""
        squeezed = self.op("GlobalAveragePool", x)
        reduced = self.op(act, self.conv(squeezed, channels, hidden, 1))
        return self.op("Mul", x, self.op(gate, self.conv(reduced, hidden, channels, 1)))

    def silu(self, x: str) -> str:
        return self.op("Mul", x, self.op("Sigmoid", x))

    def inverted_residual(
        self,
        x: str,
        inputs: int,
        hidden: int,
        outputs: int,
        stride: int,
        act: Callable[[str], str],
        gate: str,
        reduced: str,
        size: int = 3,
    ) -> str:
        """Expand channels, convolve each alone, gate them, and project them."""
        y = act(self.batch_norm(self.conv(x, inputs, hidden, 1), hidden))
        y = act(self.batch_norm(self.conv(y, hidden, hidden, size, stride, hidden), hidden))
        y = self.squeeze_excite(y, hidden, max(hidden // 4, 1), gate, reduced)
        y = self.batch_norm(self.conv(y, hidden, outputs, 1), outputs)
        return self.op("Add", x, y) if stride == 1 and inputs == outputs else y

    def classify(self, x: str, channels: int, classes: int) -> str:
        pooled = self.op("Flatten", self.op("GlobalAveragePool", x), axis=1)
        return self.op("Gemm", pooled, self.weight(classes, channels), transB=1)


def unet() -> onnx.ModelProto:
    """Two levels: max pooling down, transposed convolution and interpolation up, concatenation."""
    g = Vision()
    skips: list[str] = []
    x = g.input("x", (1, 3, 24, 32))
    for inputs, outputs in ((3, 8), (8, 16)):
        skips.append(x := g.op("Relu", g.conv(x, inputs, outputs)))
        x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Relu", g.conv(x, 16, 32))
    up = g.weight(32, 16, 2, 2, scale=0.1)
    x = g.op("ConvTranspose", x, up, kernel_shape=[2, 2], strides=[2, 2])
    x = g.op("Relu", g.conv(g.op("Concat", x, skips[1], axis=1), 32, 16))
    scales = g.constant(np.array([1, 1, 2, 2], np.float32))
    modes = {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}
    x = g.op("Resize", x, "", scales, **modes)
    x = g.op("Relu", g.conv(g.op("Concat", x, skips[0], axis=1), 24, 8))
    g.output("y", g.op("Sigmoid", g.conv(x, 8, 1, 1)), (1, 1, 24, 32))
    return g.model()


def dynamic_detector() -> onnx.ModelProto:
    """Return a fully convolutional detector for images of any height and width that are multiples
    of 8: depthwise blocks, pooling, a pyramid that is joined after resizing, and two heads."""
    g = Graph()

    def block(x: str, inputs: int, outputs: int, stride: int) -> str:
        depthwise = g.weight(inputs, 1, 3, 3, scale=0.3)
        strides, pads = [stride] * 2, [1] * 4
        x = g.op("Conv", x, depthwise, strides=strides, pads=pads, group=inputs)
        x = g.op("Clip", x, g.number(0.0), g.number(6.0))
        x = g.op("Conv", x, g.weight(outputs, inputs, 1, 1, scale=0.3), g.weight(outputs))
        return g.op("Relu", x)

    x = g.input("image", ("batch", 3, "height", "width"))
    x = g.op("Conv", x, g.weight(8, 3, 3, 3, scale=0.2), strides=[2, 2], pads=[1] * 4)
    half = block(g.op("LeakyRelu", x), 8, 16, 1)
    quarter = block(g.op("MaxPool", half, kernel_shape=[2, 2], strides=[2, 2]), 16, 24, 1)
    eighth = block(quarter, 24, 32, 2)
    context = g.op("MaxPool", eighth, kernel_shape=[5, 5], pads=[2] * 4)
    gate = g.op("Sigmoid", g.op("GlobalAveragePool", eighth))
    eighth = g.op(
        "Mul", g.op("Concat", eighth, context, axis=1), g.op("Concat", gate, gate, axis=1)
    )
    scales = g.constant(np.array([1, 1, 2, 2], np.float32))
    up = g.op("Resize", eighth, "", scales, mode="nearest", **NEAREST)
    joined = block(g.op("Concat", quarter, up, axis=1), 88, 32, 1)
    up = g.op("Resize", joined, "", scales, mode="linear")
    joined = block(g.op("Concat", half, up, axis=1), 48, 16, 1)
    boxes = g.op("Conv", joined, g.weight(4, 16, 3, 3, scale=0.1), pads=[1] * 4)
    smooth = g.op("AveragePool", joined, kernel_shape=[3, 3], pads=[1] * 4)
    classes = g.op("Softmax", g.op("Conv", smooth, g.weight(5, 16, 1, 1)), axis=1)
    g.output("boxes", boxes, ("batch", 4, "rows", "columns"))
    g.output("classes", classes, ("batch", 5, "rows", "columns"))
    return g.model()


NEAREST = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def mobilenet_v3() -> onnx.ModelProto:
    """Inverted residuals with hard swish, and hard sigmoid as gates."""
    g = Vision()
    x = g.input("x", (2, 3, 32, 24))
    x = g.op("HardSwish", g.batch_norm(g.conv(x, 3, 8, 3, 2), 8))
    for inputs, hidden, outputs, stride, act in (
        (8, 8, 8, 1, "Relu"),
        (8, 24, 12, 2, "Relu"),
        (12, 48, 12, 1, "HardSwish"),
    ):
        x = g.inverted_residual(
            x,
            inputs,
            hidden,
            outputs,
            stride,
            lambda y, act=act: g.op(act, y),
            "HardSigmoid",
            "Relu",
        )
    x = g.op("HardSwish", g.batch_norm(g.conv(x, 12, 32, 1), 32))
    g.output("y", g.classify(x, 32, 10), (2, 10))
    return g.model()


def efficientnet() -> onnx.ModelProto:
    """Inverted residuals with SiLU written out, kernels of 3 and 5, and sigmoids as gates."""
    g = Vision()
    x = g.input("x", (1, 3, 32, 32))
    x = g.silu(g.batch_norm(g.conv(x, 3, 8, 3, 2), 8))
    for inputs, hidden, outputs, stride, size in (
        (8, 16, 8, 1, 3),
        (8, 32, 16, 2, 5),
        (16, 48, 16, 1, 5),
    ):
        x = g.inverted_residual(
            x, inputs, hidden, outputs, stride, g.silu, "Sigmoid", "HardSwish", size
        )
    g.output("y", g.classify(g.silu(g.conv(x, 16, 24, 1)), 24, 10), (1, 10))
    return g.model()


def recurrent(kind: str, gates: int, direction: str) -> onnx.ModelProto:
    """Two layers over a sequence, with the last state of each, and a classifier of every step."""
    g = Graph()
    length, batch, size, hidden = 6, 2, 5, 7
    ways = 2 if direction == "bidirectional" else 1
    x = g.input("x", (length, batch, size))
    states: list[str] = []
    for width in (size, ways * hidden):
        w = g.weight(ways, gates * hidden, width, scale=0.3)
        r = g.weight(ways, gates * hidden, hidden, scale=0.3)
        b = g.weight(ways, 2 * gates * hidden, scale=0.1)
        more = {"linear_before_reset": 1} if kind == "GRU" else {}
        x, state, *_ = g.ops(
            kind, 3 if kind == "LSTM" else 2, x, w, r, b,
            hidden_size=hidden, direction=direction, **more,
        )  # fmt: skip
        states.append(state)
        moved = g.op("Transpose", x, perm=[0, 2, 1, 3])
        x = g.op("Reshape", moved, g.ints(0, 0, -1))
    g.output("y", g.op("Softmax", g.dense(x, ways * hidden, 4), axis=-1), (length, batch, 4))
    g.output("h", g.op("Concat", *states, axis=0), (2 * ways, batch, hidden))
    return g.model()


def detection_head() -> onnx.ModelProto:
    """Two scales of an anchor-free detector: boxes from distances, scores, the best of them."""
    g = Vision()
    x = g.input("x", (1, 3, 32, 32))
    boxes: list[str] = []
    scores: list[str] = []
    for inputs, outputs, stride in ((3, 8, 4), (8, 12, 8)):
        x = g.silu(g.conv(x, inputs, outputs, 3, stride=4 if stride == 4 else 2))
        places = 32 // stride
        flat = g.op("Reshape", g.conv(x, outputs, 4 + 3, 1), g.ints(1, 7, places * places))
        distances, classes = g.ops("Split", 2, flat, g.ints(4, 3), axis=1)
        left_top, right_bottom = g.ops("Split", 2, distances, g.ints(2, 2), axis=1)
        y, z = np.meshgrid(np.arange(places), np.arange(places))
        centers = g.constant((np.stack([y, z]).reshape(1, 2, -1) + 0.5).astype(np.float32))
        corners = [g.op("Sub", centers, left_top), g.op("Add", centers, right_bottom)]
        boxes.append(g.op("Mul", g.op("Concat", *corners, axis=1), g.number(stride)))
        scores.append(g.op("Sigmoid", classes))
    box = g.op("Transpose", g.op("Concat", *boxes, axis=2), perm=[0, 2, 1])
    best = g.op("ReduceMax", score := g.op("Concat", *scores, axis=2), axes=[1], keepdims=0)
    top, places = g.ops("TopK", 2, best, g.ints(10), axis=1)
    labels = g.op("ArgMax", score, axis=1, keepdims=0)
    chosen = g.op("GatherElements", labels, places, axis=1)
    index = g.op("Expand", g.op("Unsqueeze", places, g.ints(2)), g.ints(1, 10, 4))
    g.output("boxes", g.op("GatherElements", box, index, axis=1), (1, 10, 4))
    g.output("scores", top, (1, 10))
    g.output("labels", g.op("Cast", chosen, to=TensorProto.FLOAT), (1, 10))
    return g.model()


def branches_and_loops() -> onnx.ModelProto:
    """An If on the data, and a Loop that halves a tensor until it is small, at most eight times."""
    g = Graph()
    x = g.input("x", (3, 4))
    mean = g.op("ReduceMean", x, keepdims=0)
    taken, other = Graph(1, "then_"), Graph(2, "else_")
    for branch, kind in ((taken, "Exp"), (other, "Tanh")):
        branch.output(f"{branch.prefix}z", branch.op(kind, x), (3, 4))
    condition = g.op("Greater", mean, g.number(0.0))
    chosen = g.op("If", condition, then_branch=taken.graph(), else_branch=other.graph())
    body = Graph(3, "body_")
    body.input("i", (), TensorProto.INT64)
    body.input("going", (), TensorProto.BOOL)
    y = body.op("Mul", body.input("value", (3, 4)), body.number(0.5))
    largest = body.op("ReduceMax", body.op("Abs", y), keepdims=0)
    going = body.op("Greater", largest, body.number(0.3))
    body.output("go_on", going, (), TensorProto.BOOL)
    body.output("halved", y, (3, 4))
    body.output("largest", largest, ())
    true = g.constant(np.array(True))
    last, sizes = g.ops("Loop", 2, g.constant(np.array(8)), true, chosen, body=body.graph())
    g.output("y", last, (3, 4))
    g.output("sizes", sizes, ("n",))
    return g.model()


ARCHITECTURES: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "U-Net": unet,
    "MobileNetV3": mobilenet_v3,
    "EfficientNet": efficientnet,
    "LSTM": lambda: recurrent("LSTM", 4, "forward"),
    "bidirectional LSTM": lambda: recurrent("LSTM", 4, "bidirectional"),
    "GRU": lambda: recurrent("GRU", 3, "forward"),
    "detection head": detection_head,
    "If and Loop": branches_and_loops,
}
"""The models by name; transformers are in `transformers`."""
