"""Converters of activation functions of com.microsoft, with biases."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Unsupported
from ..node import Converters, Node
from ..operators.elementwise.activation import activation_named
from ..operators.expression import Expression, formula, given, inputs, total

__all__ = ["ACTIVATION", "activated", "gelu", "tanh_gelu"]


def gelu(x: Expression) -> Expression:
    return x.op("nn.gelu")


def tanh_gelu(x: Expression) -> Expression:
    """Return the approximation of GELU by tanh (FastGelu)."""
    return x.op("nn.gelu_tanh")


def bias_split_gelu(node: Node) -> Expression:
    """Add the bias, and multiply the first half of the columns by the GELU of the second."""
    x, bias = inputs(node, 0, 1)
    size = node.sizes(bias.value, 1)[0]
    y = x + bias
    return y.slice(-1, 0, size // 2) * gelu(y.slice(-1, size // 2, size))


def activated(x: Expression, name: str, parameters: Sequence[float]) -> Expression:
    """Apply the activation that is fused into an operator."""
    if not name:
        return x
    function, defaults = activation_named(name)
    return function(x, *[*(parameters or defaults), 0.0, 0.0][:2])


def bias_dropout(node: Node) -> Expression:
    """Convert BiasDropout at inference: the sum of its inputs."""
    if node.has(4) and node.number_of(4) != 0:
        raise Unsupported("training_mode is not false: dropout in training is random")
    return total([Expression(node, node.input(i)) for i in range(3) if node.has(i)])


def bias_softmax(node: Node) -> Expression:
    """Compute the softmax of the sum, over `axis` and all axes after it."""
    x, bias = inputs(node, 0, 1)
    y, axis = x + bias, node.axis(node.int("axis"), x.value)
    if axis == y.rank - 1:
        return y.op("nn.softmax", axis=-1)
    axes = range(axis, y.rank)
    powers = (y - y.max(*axes, keepdims=True)).op("exp")
    return powers / powers.sum(*axes, keepdims=True)


ACTIVATION: Converters = {
    "BiasAdd": formula(lambda x, bias, skip: x + bias + skip),
    "BiasDropout": bias_dropout,
    "BiasGelu": formula(lambda x, bias: gelu(x + bias)),
    "BiasSoftmax": bias_softmax,
    "BiasSplitGelu": bias_split_gelu,
    "FastGelu": lambda node: tanh_gelu(total(given(node))),
    "Gelu": formula(gelu),
    "QuickGelu": formula(lambda x: x * (x * x.node.float("alpha")).op("sigmoid")),
}
