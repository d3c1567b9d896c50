"""Converters of activation functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ......dialects.relax.types import shape_of
from ...errors import Unsupported
from ...node import Converters, Node, direct
from ..expression import Expression, formula

__all__ = ["ACTIVATION", "activation_named"]


def gelu(x: Expression) -> Expression:
    tanh = x.node.string("approximate", "none") == "tanh"
    return x.op("nn.gelu_tanh" if tanh else "nn.gelu")


def p_relu(node: Node) -> SSAValue:
    """Convert PRelu: relax takes one slope per channel, any other shape is broadcast."""
    x, slope = node.input(0), node.input(1)
    if node.opset < 7 and node.rank(slope) == 1 and node.shape(slope) != (1,):
        return node.op("nn.prelu", x, slope, axis=1)
    shape, slopes = shape_of(node.type(x)), shape_of(node.type(slope))
    if shape is not None and slopes is not None and len(shape) > 1:
        channels, *others = slopes if len(slopes) == len(shape) - 1 else (DYNAMIC_INDEX, 0)
        if channels == shape[1] != DYNAMIC_INDEX and all(size == 1 for size in others):
            slope = node.op("reshape", slope, newshape=[channels])
            return node.op("nn.prelu", x, slope, axis=1)
    data = Expression(node, x)
    scaled = data * slope
    return (data < 0).where(scaled, data).value


def soft_plus(x: Expression) -> Expression:
    """Compute log(1 + exp(x)) as log_add_exp(x, 0), which does not overflow."""
    return x.op("log_add_exp", 0)


def soft_sign(x: Expression) -> Expression:
    return x / (x.op("abs") + 1)


def swish(x: Expression) -> Expression:
    alpha = x.node.float("alpha", 1.0)
    return x.op("nn.silu") if alpha == 1 else x * (x * alpha).op("sigmoid")


def exp_minus_1(x: Expression, alpha: float) -> Expression:
    """Compute alpha * (exp(min(x, 0)) - 1)."""
    low = x.op("minimum", 0).op("expm1")
    return low if alpha == 1 else low * alpha


def elu(x: Expression, alpha: float) -> Expression:
    return (x < 0).where(exp_minus_1(x, alpha), x)


def celu(x: Expression) -> Expression:
    alpha = x.node.float("alpha")
    low = exp_minus_1(x if alpha == 1 else x / alpha, alpha)
    return x.op("maximum", 0) + low


def linear_gate(x: Expression, slope: float, offset: float) -> Expression:
    """Compute slope * x + offset, clipped to the range from 0 to 1."""
    return (x * slope + offset).op("clip", min=0.0, max=1.0)


def shrink(x: Expression) -> Expression:
    limit, bias = x.node.float("lambd"), x.node.float("bias")
    low, high = x + bias, x - bias
    high = (x > limit).where(high, 0)
    return (x < -limit).where(low, high)


ACTIVATION: Converters = {
    "Celu": formula(celu),
    "Elu": formula(lambda x: elu(x, x.node.float("alpha"))),
    "Gelu": formula(gelu),
    "HardSigmoid": formula(lambda x: linear_gate(x, x.node.float("alpha"), x.node.float("beta"))),
    "HardSwish": formula(lambda x: x * linear_gate(x, 1 / 6, 0.5)),
    "LeakyRelu": direct("nn.leaky_relu", "alpha"),
    "Mish": formula(lambda x: x * soft_plus(x).op("tanh")),
    "PRelu": p_relu,
    "Selu": formula(lambda x: elu(x, x.node.float("alpha")) * x.node.float("gamma")),
    "Shrink": formula(shrink),
    "Softplus": formula(soft_plus),
    "Softsign": formula(soft_sign),
    "Swish": formula(swish),
    "ThresholdedRelu": formula(lambda x: (x > x.node.float("alpha")).where(x, 0)),
}


# Activations that are attributes of other operators

Activation: TypeAlias = Callable[[Expression, float, float], Expression]

_PLAIN = {
    "relu": "nn.relu",
    "gelu": "nn.gelu",
    "neg": "negative",
    **{name: name for name in "abs ceil erf exp floor round sigmoid sqrt tanh".split()},
}
"""The operations that are activations without parameters."""

_PARAMETRIC: Mapping[str, tuple[Activation, Sequence[float]]] = {
    "affine": (lambda x, alpha, beta: x * alpha + beta, (1.0, 0.0)),
    "clip": (lambda x, alpha, beta: x.op("clip", min=alpha, max=beta), (0.0, 0.0)),
    "elu": (lambda x, alpha, _: elu(x, alpha), (1.0,)),
    "hardsigmoid": (linear_gate, (0.2, 0.5)),
    "leakyrelu": (lambda x, alpha, _: x.op("nn.leaky_relu", alpha=alpha), (0.01,)),
    "scaledtanh": (lambda x, alpha, beta: (x * beta).op("tanh") * alpha, (1.0, 1.0)),
    "softplus": (lambda x, _, __: soft_plus(x), ()),
    "softsign": (lambda x, _, __: soft_sign(x), ()),
    "thresholdedrelu": (lambda x, alpha, _: (x > alpha).where(x, 0), (1.0,)),
}
"""The other activations, with the defaults of their parameters."""


def activation_named(name: str) -> tuple[Activation, Sequence[float]]:
    """Return the activation of a name, and the defaults of its parameters."""
    if (plain := _PLAIN.get(name.lower())) is not None:
        return lambda x, _, __: x.op(plain), ()
    if (found := _PARAMETRIC.get(name.lower())) is None:
        raise Unsupported(f"activation = '{name}'")
    return found
