"""Converters of activation functions of com.microsoft, with biases."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converters, Node
from ..operators.expression import Expression, inputs

__all__ = ["ACTIVATION", "activated", "gelu", "tanh_gelu"]


def gelu(x: Expression) -> Expression:
    return x.op("nn.gelu")


def tanh_gelu(x: Expression) -> Expression:
    """Return the approximation of GELU by tanh (FastGelu)."""
    return x.op("nn.gelu_tanh")


def plain_gelu(node: Node) -> Sequence[SSAValue]:
    return [gelu(Expression(node, node.input(0))).value]


def bias_gelu(node: Node) -> Sequence[SSAValue]:
    x, bias = inputs(node, 0, 1)
    return [gelu(x + bias).value]


def fast_gelu(node: Node) -> Sequence[SSAValue]:
    x = Expression(node, node.input(0))
    return [tanh_gelu(x + node.input(1) if node.has(1) else x).value]


def quick_gelu(node: Node) -> Sequence[SSAValue]:
    """Compute x * sigmoid(alpha * x)."""
    x = Expression(node, node.input(0))
    return [(x * (x * node.float("alpha")).op("sigmoid")).value]


def bias_split_gelu(node: Node) -> Sequence[SSAValue]:
    """Add the bias, and multiply the first half of the columns by the GELU of the second."""
    x, bias = inputs(node, 0, 1)
    size = node.sizes(bias.value, 1)[0]
    y = x + bias
    return [(y.slice(-1, 0, size // 2) * gelu(y.slice(-1, size // 2, size))).value]


def activated(x: Expression, name: str, parameters: Sequence[float]) -> Expression:
    """Apply the activation that is fused into an operator."""
    given = [*parameters, 0.0, 0.0][:2]
    match name:
        case "":
            return x
        case "Relu":
            return x.op("nn.relu")
        case "Tanh" | "Sigmoid" | "Erf" | "Abs" | "Exp" | "Floor" | "Ceil" | "Round" | "Sqrt":
            return x.op(name.lower())
        case "LeakyRelu":
            return x.op("nn.leaky_relu", alpha=given[0] if parameters else 0.01)
        case "Clip":
            return x.op("clip", min=given[0], max=given[1])
        case "HardSigmoid":
            alpha, beta = given if parameters else (0.2, 0.5)
            return (x * alpha + beta).op("clip", min=0.0, max=1.0)
        case "Elu":
            alpha = given[0] if parameters else 1.0
            low = x.op("minimum", 0.0).op("expm1") * alpha
            return (x < 0.0).where(low, x)
        case "Softplus":
            return x.op("log_add_exp", 0.0)
        case "Gelu":
            return gelu(x)
        case "Neg":
            return -x
        case _:
            raise Unsupported(f"activation = '{name}'")


def bias_add(node: Node) -> Sequence[SSAValue]:
    x, bias, skip = inputs(node, 0, 1, 2)
    return [(x + bias + skip).value]


def bias_dropout(node: Node) -> Sequence[SSAValue | None]:
    """Convert BiasDropout at inference: the sum of its inputs."""
    x, bias = inputs(node, 0, 1)
    if node.has(4) and node.number_of(4) != 0:
        raise Unsupported("training_mode is not false: dropout in training is random")
    y = x + bias
    return [(y + node.input(2) if node.has(2) else y).value]


def bias_softmax(node: Node) -> Sequence[SSAValue]:
    """Compute the softmax of the sum, over `axis` and all axes after it."""
    x, bias = inputs(node, 0, 1)
    y, axis = x + bias, node.axis(node.int("axis"), x.value)
    if axis == y.rank - 1:
        return [y.op("nn.softmax", axis=-1).value]
    axes = range(axis, y.rank)
    powers = (y - y.max(*axes, keepdims=True)).op("exp")
    return [(powers / powers.sum(*axes, keepdims=True)).value]


ACTIVATION: Converters = {
    "BiasAdd": bias_add,
    "BiasDropout": bias_dropout,
    "BiasGelu": bias_gelu,
    "BiasSoftmax": bias_softmax,
    "BiasSplitGelu": bias_split_gelu,
    "FastGelu": fast_gelu,
    "Gelu": plain_gelu,
    "QuickGelu": quick_gelu,
}
