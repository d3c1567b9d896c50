"""Gradients of element-wise operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation

from ....dialects.relax import device
from ....dialects.relax.elementwise import activation, binary, elementwise, unary
from ....dialects.relax.elementwise.binary import FloorDivideOp, PowerOp
from ....dialects.relax.elementwise.elementwise import AstypeOp, ClipOp, WhereOp
from ....dialects.relax.elementwise.unary import (
    CoshOp,
    CosOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LogOp,
    RsqrtOp,
    SigmoidOp,
    SignOp,
    SinhOp,
    TruncOp,
)
from ....dialects.relax.elementwise.unary import SinOp as Sine
from ....dialects.relax.elementwise.unary import TanhOp as Tanh
from ....dialects.relax.shapes import normalize_axis
from .tensors import Rule, Tensor, Tensors

__all__ = ["GRADIENTS"]

Derivative: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Computes f'(x) from x and f(x)."""


def by_derivative(derivative: Derivative) -> Rule:
    """Return the rule of a function of one tensor."""

    def rule(op: unary.UnaryOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
        # From f(x) where it is there already: `tanh'` is 1 - y^2, with no second tanh.
        return (g * derivative(b.of(op.input), b.of(op.result)),)

    return rule


def sigmoid(x: Tensor) -> Tensor:
    return x.apply(SigmoidOp)


def gelu_derivative(x: Tensor, _: Tensor) -> Tensor:
    """Return cdf(x) + x * pdf(x) of the normal distribution."""
    cdf = 0.5 * (1 + (x * math.sqrt(0.5)).apply(ErfOp))
    return cdf + x * ((x * x * -0.5).apply(ExpOp) * (1 / math.sqrt(2 * math.pi)))


def gelu_tanh_derivative(x: Tensor, _: Tensor) -> Tensor:
    scale, cubic = math.sqrt(2 / math.pi), 0.044715
    square = x * x
    t = (x * (1 + square * cubic) * scale).apply(Tanh)
    inner = (1 + square * (3 * cubic)) * scale
    return 0.5 * (1 + t) + 0.5 * x * ((1 - t) * (1 + t)) * inner


DERIVATIVES: Mapping[type[Operation], Derivative] = {
    # 0 at 0, one of the subgradients, as in PyTorch.
    unary.AbsOp: lambda x, y: x.apply(SignOp),
    unary.SquareOp: lambda x, y: 2 * x,
    unary.SqrtOp: lambda x, y: 0.5 / y,
    unary.RsqrtOp: lambda x, y: -0.5 * y / x,
    unary.ExpOp: lambda x, y: y,
    unary.Expm1Op: lambda x, y: x.apply(ExpOp),
    unary.LogOp: lambda x, y: 1 / x,
    unary.Log2Op: lambda x, y: (1 / math.log(2)) / x,
    unary.Log1pOp: lambda x, y: 1 / (1 + x),
    unary.SinOp: lambda x, y: x.apply(CosOp),
    unary.CosOp: lambda x, y: -x.apply(Sine),
    unary.TanOp: lambda x, y: 1 + y * y,
    unary.AsinOp: lambda x, y: ((1 - x) * (1 + x)).apply(RsqrtOp),
    unary.AcosOp: lambda x, y: -((1 - x) * (1 + x)).apply(RsqrtOp),
    unary.AtanOp: lambda x, y: 1 / (1 + x * x),
    unary.SinhOp: lambda x, y: x.apply(CoshOp),
    unary.CoshOp: lambda x, y: x.apply(SinhOp),
    # Not 1 - y * y, which cancels where y is near 1.
    unary.TanhOp: lambda x, y: (1 - y) * (1 + y),
    unary.AsinhOp: lambda x, y: (1 + x * x).apply(RsqrtOp),
    unary.AcoshOp: lambda x, y: (x - 1).apply(RsqrtOp) * (x + 1).apply(RsqrtOp),
    unary.AtanhOp: lambda x, y: 1 / ((1 - x) * (1 + x)),
    unary.ErfOp: lambda x, y: (-(x * x)).apply(ExpOp) * (2 / math.sqrt(math.pi)),
    # sigmoid(-x), where 1 - sigmoid(x) would cancel.
    unary.SigmoidOp: lambda x, y: y * sigmoid(-x),
    activation.SiluOp: lambda x, y: sigmoid(x) * (1 + x * sigmoid(-x)),
    activation.GeluOp: gelu_derivative,
    activation.GeluTanhOp: gelu_tanh_derivative,
}


def zero(op: Operation, b: Tensors, g: Tensor) -> Sequence[None]:
    """The gradient of a function that is constant almost everywhere."""
    return [None] * len(op.operands)


def identity(op: Operation, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    return (g,)


def negative(op: unary.NegativeOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    return (-g,)


def relu(op: activation.ReluOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    # A selection, not a product with 0 or 1: the adjoint may be infinite where it is not wanted.
    return (b.where(b.of(op.input) > 0, g, 0),)


def leaky_relu(op: activation.LeakyReluOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    return (b.where(b.of(op.input) > 0, g, g * op.alpha),)


def prelu(op: activation.PReluOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    x, alpha = b.of(op.data), b.of(op.alpha)
    axis = normalize_axis(op.axis, x.rank)
    along = alpha.reshape((-1, *(1,) * (x.rank - axis - 1)))
    positive = x > 0
    others = [i for i in range(x.rank) if i != axis]
    d_alpha = b.where(positive, 0, g * x).sum(others)
    return b.where(positive, g, g * along), d_alpha


def softplus(op: activation.SoftplusOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    scaled = b.of(op.input) * op.beta
    return (b.where(scaled > op.threshold, g, g * sigmoid(scaled)),)


def clip(op: ClipOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    """Pass the adjoint on within the bounds, which are included."""
    x = b.of(op.input)
    below = b.where(x <= op.max, g, 0)
    return (b.where(x < op.min, 0, below),)


def astype(op: AstypeOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
    return (g.astype(b.of(op.input).element),)


def where(op: WhereOp, b: Tensors, g: Tensor) -> Sequence[Tensor | None]:
    condition = b.of(op.condition)
    taken = b.where(condition, g, 0)
    other = b.where(condition, 0, g)
    return None, taken.sum_to(op.x1), other.sum_to(op.x2)


# Functions of two tensors: the adjoint of each operand before it is summed to the operand's shape.

Partial: TypeAlias = Callable[[Tensors, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Computes the adjoints of x and y from x, y, f(x, y) and the adjoint of the result."""


def by_partials(partials: Partial) -> Rule:
    """Return the rule of a function of two tensors that broadcast."""

    def rule(op: binary.BinaryOp, b: Tensors, g: Tensor) -> Sequence[Tensor]:
        adjoints = partials(b, b.of(op.lhs), b.of(op.rhs), b.of(op.result), g)
        return [a.sum_to(x) for a, x in zip(adjoints, op.operands, strict=True)]

    return rule


def power(b: Tensors, x: Tensor, y: Tensor, z: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Return zero, not 0 * inf, where the exponent is 0; and where the base is 0, for the
    exponent."""
    d_x = b.where(y.equals(0), 0, y * x.apply(PowerOp, y - 1))
    zero_base = x.equals(0)
    # The logarithm of 1 in place of 0, as both operands of a selection are computed.
    d_y = b.where(zero_base, 0, z * b.where(zero_base, 1, x).apply(LogOp))
    return g * d_x, g * d_y


def maximum(b: Tensors, x: Tensor, y: Tensor, z: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Return the adjoints; of equal elements the first operand's has it all, as in TVM."""
    second = x < y
    return b.where(second, 0, g), b.where(second, g, 0)


def minimum(b: Tensors, x: Tensor, y: Tensor, z: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    second = x > y
    return b.where(second, 0, g), b.where(second, g, 0)


def atan2(b: Tensors, y: Tensor, x: Tensor, z: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    scaled = g / (x * x + y * y)
    return scaled * x, -(scaled * y)


PARTIALS: Mapping[type[Operation], Partial] = {
    binary.AddOp: lambda b, x, y, z, g: (g, g),
    binary.SubtractOp: lambda b, x, y, z, g: (g, -g),
    binary.MultiplyOp: lambda b, x, y, z, g: (g * y, g * x),
    # -g * x / y^2 by the quotient z, which is there already: y^2 might overflow.
    binary.DivideOp: lambda b, x, y, z, g: (g / y, -(g / y) * z),
    binary.ModOp: lambda b, x, y, z, g: (g, -(g * (x / y).apply(TruncOp))),
    binary.FloorModOp: lambda b, x, y, z, g: (g, -(g * (x / y).apply(FloorOp))),
    binary.PowerOp: power,
    binary.MaximumOp: maximum,
    binary.MinimumOp: minimum,
    binary.Atan2Op: atan2,
    binary.LogAddExpOp: lambda b, x, y, z, g: (g * sigmoid(x - y), g * sigmoid(y - x)),
}

GRADIENTS: Mapping[type[Operation], Rule] = {
    **{cls: by_derivative(derivative) for cls, derivative in DERIVATIVES.items()},
    **{cls: by_partials(partials) for cls, partials in PARTIALS.items()},
    unary.NegativeOp: negative,
    unary.SignOp: zero,
    unary.CeilOp: zero,
    unary.FloorOp: zero,
    unary.RoundOp: zero,
    unary.TruncOp: zero,
    FloorDivideOp: zero,
    activation.ReluOp: relu,
    activation.LeakyReluOp: leaky_relu,
    activation.PReluOp: prelu,
    activation.SoftplusOp: softplus,
    elementwise.ClipOp: clip,
    elementwise.AstypeOp: astype,
    elementwise.WhereOp: where,
    device.OnDeviceOp: identity,
    device.DeviceCopyOp: identity,
}
