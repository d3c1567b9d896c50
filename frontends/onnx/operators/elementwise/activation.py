"""Converters of activation functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from .....dialects.relax.types import shape_of
from ...node import Converters, Node

__all__ = ["ACTIVATION", "exp_minus_1"]


def gelu(node: Node) -> Sequence[SSAValue]:
    tanh = node.string("approximate", "none") == "tanh"
    return [node.op("nn.gelu_tanh" if tanh else "nn.gelu", node.input(0))]


def leaky_relu(node: Node) -> Sequence[SSAValue]:
    return [node.op("nn.leaky_relu", node.input(0), alpha=node.float("alpha"))]


def p_relu(node: Node) -> Sequence[SSAValue]:
    """Convert PRelu: relax takes one slope per channel, any other shape is broadcast."""
    x, slope = node.input(0), node.input(1)
    if node.opset < 7 and node.rank(slope) == 1 and node.shape(slope) != (1,):
        return [node.op("nn.prelu", x, slope, axis=1)]
    shape, slopes = shape_of(node.type(x)), shape_of(node.type(slope))
    if shape is not None and slopes is not None and len(shape) > 1:
        channels, *others = slopes if len(slopes) == len(shape) - 1 else (DYNAMIC_INDEX, 0)
        if channels == shape[1] != DYNAMIC_INDEX and all(size == 1 for size in others):
            slope = node.op("reshape", slope, newshape=[channels])
            return [node.op("nn.prelu", x, slope, axis=1)]
    scaled = node.op("multiply", x, slope)
    return [node.op("where", node.op("less", x, node.like(0, x)), scaled, x)]


def soft_plus(node: Node) -> Sequence[SSAValue]:
    """Compute log(1 + exp(x)) as log_add_exp(x, 0), which does not overflow."""
    x = node.input(0)
    return [node.op("log_add_exp", x, node.like(0, x))]


def soft_sign(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    return [node.op("divide", x, node.op("add", node.op("abs", x), node.like(1, x)))]


def mish(node: Node) -> Sequence[SSAValue]:
    (plus,) = soft_plus(node)
    return [node.op("multiply", node.input(0), node.op("tanh", plus))]


def swish(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    if (alpha := node.float("alpha", 1.0)) == 1:
        return [node.op("nn.silu", x)]
    gate = node.op("sigmoid", node.op("multiply", x, node.like(alpha, x)))
    return [node.op("multiply", x, gate)]


def exp_minus_1(node: Node, x: SSAValue, alpha: float) -> SSAValue:
    """Compute alpha * (exp(min(x, 0)) - 1)."""
    low = node.op("expm1", node.op("minimum", x, node.like(0, x)))
    return low if alpha == 1 else node.op("multiply", low, node.like(alpha, x))


def elu(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    low = exp_minus_1(node, x, node.float("alpha"))
    return [node.op("where", node.op("less", x, node.like(0, x)), low, x)]


def selu(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    low = exp_minus_1(node, x, node.float("alpha"))
    both = node.op("where", node.op("less", x, node.like(0, x)), low, x)
    return [node.op("multiply", both, node.like(node.float("gamma"), x))]


def celu(node: Node) -> Sequence[SSAValue]:
    x, alpha = node.input(0), node.float("alpha")
    scaled = x if alpha == 1 else node.op("divide", x, node.like(alpha, x))
    low = node.op("expm1", node.op("minimum", scaled, node.like(0, x)))
    low = low if alpha == 1 else node.op("multiply", low, node.like(alpha, x))
    return [node.op("add", node.op("maximum", x, node.like(0, x)), low)]


def hard_sigmoid(node: Node) -> Sequence[SSAValue]:
    return [linear_gate(node, node.float("alpha"), node.float("beta"))]


def hard_swish(node: Node) -> Sequence[SSAValue]:
    return [node.op("multiply", node.input(0), linear_gate(node, 1 / 6, 0.5))]


def linear_gate(node: Node, slope: float, offset: float) -> SSAValue:
    """Compute slope * x + offset, clipped to the range from 0 to 1."""
    x = node.input(0)
    line = node.op("multiply", x, node.like(slope, x))
    line = node.op("add", line, node.like(offset, x))
    return node.op("clip", line, min=0.0, max=1.0)


def thresholded_relu(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    above = node.op("greater", x, node.like(node.float("alpha"), x))
    return [node.op("where", above, x, node.like(0, x))]


def shrink(node: Node) -> Sequence[SSAValue]:
    x, limit, bias = node.input(0), node.float("lambd"), node.float("bias")
    low = node.op("add", x, node.like(bias, x))
    high = node.op("subtract", x, node.like(bias, x))
    high = node.op("where", node.op("greater", x, node.like(limit, x)), high, node.like(0, x))
    return [node.op("where", node.op("less", x, node.like(-limit, x)), low, high)]


ACTIVATION: Converters = {
    "Celu": celu,
    "Elu": elu,
    "Gelu": gelu,
    "HardSigmoid": hard_sigmoid,
    "HardSwish": hard_swish,
    "LeakyRelu": leaky_relu,
    "Mish": mish,
    "PRelu": p_relu,
    "Selu": selu,
    "Shrink": shrink,
    "Softplus": soft_plus,
    "Softsign": soft_sign,
    "Swish": swish,
    "ThresholdedRelu": thresholded_relu,
}
