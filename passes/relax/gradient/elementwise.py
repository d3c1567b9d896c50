"""Gradients of element-wise operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation

from ....dialects.relax.elementwise import activation, binary, unary
from ....dialects.relax.elementwise.elementwise import AstypeOp, ClipOp, WhereOp
from ....dialects.relax.expression import by_operation
from ....dialects.relax.shapes import normalize_axis
from .tensors import Rule, Tensors, Traced

Derivative: TypeAlias = Callable[[Traced, Traced], Traced]
"""Computes f'(x) from x and f(x)."""


def by_derivative(derivative: Derivative) -> Rule:
    """Return the rule of a function of one tensor."""

    def rule(op: unary.UnaryOp, b: Tensors, g: Traced) -> Sequence[Traced]:
        # From f(x) where it is there already: `tanh'` is 1 - y^2, with no second tanh.
        return (g * derivative(b.of(op.input), b.of(op.result)),)

    return rule


def sigmoid(x: Traced) -> Traced:
    return x.op("sigmoid")


def gelu_derivative(x: Traced, _: Traced) -> Traced:
    """Return cdf(x) + x * pdf(x) of the normal distribution."""
    cdf = 0.5 * (1 + (x * math.sqrt(0.5)).op("erf"))
    return cdf + x * ((x * x * -0.5).op("exp") * (1 / math.sqrt(2 * math.pi)))


def gelu_tanh_derivative(x: Traced, _: Traced) -> Traced:
    scale, cubic = math.sqrt(2 / math.pi), 0.044715
    square = x * x
    t = (x * (1 + square * cubic) * scale).op("tanh")
    inner = (1 + square * (3 * cubic)) * scale
    return 0.5 * (1 + t) + 0.5 * x * ((1 - t) * (1 + t)) * inner


DERIVATIVES: Mapping[str, Derivative] = {
    # 0 at 0, one of the subgradients, as in PyTorch.
    "abs": lambda x, y: x.op("sign"),
    "square": lambda x, y: 2 * x,
    "sqrt": lambda x, y: 0.5 / y,
    "rsqrt": lambda x, y: -0.5 * y / x,
    "exp": lambda x, y: y,
    "expm1": lambda x, y: x.op("exp"),
    "log": lambda x, y: 1 / x,
    "log2": lambda x, y: (1 / math.log(2)) / x,
    "log1p": lambda x, y: 1 / (1 + x),
    "sin": lambda x, y: x.op("cos"),
    "cos": lambda x, y: -x.op("sin"),
    "tan": lambda x, y: 1 + y * y,
    "asin": lambda x, y: ((1 - x) * (1 + x)).op("rsqrt"),
    "acos": lambda x, y: -((1 - x) * (1 + x)).op("rsqrt"),
    "atan": lambda x, y: 1 / (1 + x * x),
    "sinh": lambda x, y: x.op("cosh"),
    "cosh": lambda x, y: x.op("sinh"),
    # Not 1 - y * y, which cancels where y is near 1.
    "tanh": lambda x, y: (1 - y) * (1 + y),
    "asinh": lambda x, y: (1 + x * x).op("rsqrt"),
    "acosh": lambda x, y: (x - 1).op("rsqrt") * (x + 1).op("rsqrt"),
    "atanh": lambda x, y: 1 / ((1 - x) * (1 + x)),
    "erf": lambda x, y: (-(x * x)).op("exp") * (2 / math.sqrt(math.pi)),
    # sigmoid(-x), where 1 - sigmoid(x) would cancel.
    "sigmoid": lambda x, y: y * sigmoid(-x),
    "nn.silu": lambda x, y: sigmoid(x) * (1 + x * sigmoid(-x)),
    "nn.gelu": gelu_derivative,
    "nn.gelu_tanh": gelu_tanh_derivative,
}


def zero(op: Operation, b: Tensors, g: Traced) -> Sequence[None]:
    """The gradient of a function that is constant almost everywhere."""
    return [None] * len(op.operands)


def identity(op: Operation, b: Tensors, g: Traced) -> Sequence[Traced]:
    return (g,)


def negative(op: unary.NegativeOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    return (-g,)


def relu(op: activation.ReluOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    # A selection, not a product with 0 or 1: the adjoint may be infinite where it is not wanted.
    return ((b.of(op.input) > 0).where(g, 0),)


def leaky_relu(op: activation.LeakyReluOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    return ((b.of(op.input) > 0).where(g, g * op.alpha),)


def prelu(op: activation.PReluOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    x, alpha = b.of(op.data), b.of(op.alpha)
    axis = normalize_axis(op.axis, x.rank)
    along = alpha.reshape(-1, *(1,) * (x.rank - axis - 1))
    positive = x > 0
    others = [i for i in range(x.rank) if i != axis]
    d_alpha = positive.where(0, g * x).sum(*others)
    return positive.where(g, g * along), d_alpha


def softplus(op: activation.SoftplusOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    scaled = b.of(op.input) * op.beta
    return ((scaled > op.threshold).where(g, g * sigmoid(scaled)),)


def clip(op: ClipOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Pass the adjoint on within the bounds, which are included."""
    x = b.of(op.input)
    below = (x <= op.max).where(g, 0)
    return ((x < op.min).where(0, below),)


def astype(op: AstypeOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    return (g.cast(b.of(op.input).element),)


def where(op: WhereOp, b: Tensors, g: Traced) -> Sequence[Traced | None]:
    condition = b.of(op.condition)
    taken = condition.where(g, 0)
    other = condition.where(0, g)
    return None, taken.sum_to(op.x1), other.sum_to(op.x2)


# Functions of two tensors: the adjoint of each operand before it is summed to the operand's shape.

Partial: TypeAlias = Callable[[Traced, Traced, Traced, Traced], tuple[Traced, Traced]]
"""Computes the adjoints of x and y from x, y, f(x, y) and the adjoint of the result."""


def by_partials(partials: Partial) -> Rule:
    """Return the rule of a function of two tensors that broadcast."""

    def rule(op: binary.BinaryOp, b: Tensors, g: Traced) -> Sequence[Traced]:
        adjoints = partials(b.of(op.lhs), b.of(op.rhs), b.of(op.result), g)
        return [a.sum_to(x) for a, x in zip(adjoints, op.operands, strict=True)]

    return rule


def power(x: Traced, y: Traced, z: Traced, g: Traced) -> tuple[Traced, Traced]:
    """Return zero, not 0 * inf, where the exponent is 0; and where the base is 0, for the
    exponent."""
    d_x = y.equals(0).where(0, y * x.op("power", y - 1))
    zero_base = x.equals(0)
    # The logarithm of 1 in place of 0, as both operands of a selection are computed.
    d_y = zero_base.where(0, z * zero_base.where(1, x).op("log"))
    return g * d_x, g * d_y


def maximum(x: Traced, y: Traced, z: Traced, g: Traced) -> tuple[Traced, Traced]:
    """Return the adjoints; of equal elements the first operand's has it all, as in TVM."""
    second = x < y
    return second.where(0, g), second.where(g, 0)


def minimum(x: Traced, y: Traced, z: Traced, g: Traced) -> tuple[Traced, Traced]:
    second = x > y
    return second.where(0, g), second.where(g, 0)


def atan2(y: Traced, x: Traced, z: Traced, g: Traced) -> tuple[Traced, Traced]:
    scaled = g / (x * x + y * y)
    return scaled * x, -(scaled * y)


PARTIALS: Mapping[str, Partial] = {
    "add": lambda x, y, z, g: (g, g),
    "subtract": lambda x, y, z, g: (g, -g),
    "multiply": lambda x, y, z, g: (g * y, g * x),
    # -g * x / y^2 by the quotient z, which is there already: y^2 might overflow.
    "divide": lambda x, y, z, g: (g / y, -(g / y) * z),
    "mod": lambda x, y, z, g: (g, -(g * (x / y).op("trunc"))),
    "floor_mod": lambda x, y, z, g: (g, -(g * (x / y).op("floor"))),
    "power": power,
    "maximum": maximum,
    "minimum": minimum,
    "atan2": atan2,
    "log_add_exp": lambda x, y, z, g: (g * sigmoid(x - y), g * sigmoid(y - x)),
}

GRADIENTS: Mapping[str, Rule] = {
    **{f"relax.{name}": by_derivative(derivative) for name, derivative in DERIVATIVES.items()},
    **{f"relax.{name}": by_partials(partials) for name, partials in PARTIALS.items()},
    **by_operation(
        {
            negative: "negative",
            zero: "sign ceil floor round trunc floor_divide",
            relu: "nn.relu",
            leaky_relu: "nn.leaky_relu",
            prelu: "nn.prelu",
            softplus: "nn.softplus",
            clip: "clip",
            astype: "astype",
            where: "where",
            identity: "on_device device_copy",
        }
    ),
}
