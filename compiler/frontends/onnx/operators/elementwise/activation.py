"""Converters of activation functions."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ......dialects.relax.types import shape_of
from ...node import Converters, Node, direct
from ..expression import Expression, formula

__all__ = ["ACTIVATION", "exp_minus_1", "linear_gate"]


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


def swish(x: Expression) -> Expression:
    alpha = x.node.float("alpha", 1.0)
    return x.op("nn.silu") if alpha == 1 else x * (x * alpha).op("sigmoid")


def exp_minus_1(x: Expression, alpha: float) -> Expression:
    """Compute alpha * (exp(min(x, 0)) - 1)."""
    low = x.op("minimum", 0).op("expm1")
    return low if alpha == 1 else low * alpha


def elu(x: Expression) -> Expression:
    low = exp_minus_1(x, x.node.float("alpha"))
    return (x < 0).where(low, x)


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
    "Elu": formula(elu),
    "Gelu": formula(gelu),
    "HardSigmoid": formula(lambda x: linear_gate(x, x.node.float("alpha"), x.node.float("beta"))),
    "HardSwish": formula(lambda x: x * linear_gate(x, 1 / 6, 0.5)),
    "LeakyRelu": direct("nn.leaky_relu", "alpha"),
    "Mish": formula(lambda x: x * soft_plus(x).op("tanh")),
    "PRelu": p_relu,
    "Selu": formula(lambda x: elu(x) * x.node.float("gamma")),
    "Shrink": formula(shrink),
    "Softplus": formula(soft_plus),
    "Softsign": formula(lambda x: x / (x.op("abs") + 1)),
    "Swish": formula(swish),
    "ThresholdedRelu": formula(lambda x: (x > x.node.float("alpha")).where(x, 0)),
}
