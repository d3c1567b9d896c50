"""Legalizations of activation functions: f16 is computed in f32, and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.elementwise import activation as ops
from ....dialects.tir.builder import Index
from ..builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from ..scalars import computable, convert, maximum, multiply, widen
from .elementwise import in_steps, on_numbers
from .unary import sigmoid, unchanged


def relu(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return maximum(b, x, b.number(0, x.type))


def scaled_below_zero(b: KernelBuilder, x: SSAValue, factor: SSAValue) -> SSAValue:
    """Return `x` if it is above zero, else `x * factor`."""
    # Not a maximum of x and x * factor: that is another function for factors above 1.
    above = b.pure(arith.CmpfOp, x, b.number(0.0, x.type), arg="ogt")
    return b.pure(arith.SelectOp, above, x, multiply(b, x, factor))


def leaky_relu(op: ops.LeakyReluOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    return scaled_below_zero(b, x, b.number(op.alpha, x.type))


def prelu(op: ops.PReluOp, _: KernelBuilder, data: Tensor, alpha: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = broadcast_index(b, [index[axis]], alpha.shape)
        x, factor = widen(b, b.read(data, index)), widen(b, b.read(alpha, place))
        return convert(b, scaled_below_zero(b, x, factor), data.element)

    return Elements(data.shape, computable(data.element), compute)


def half_times_one_plus(b: KernelBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return x / 2 * (1 + y)."""
    half = multiply(b, x, b.number(0.5, x.type))
    return multiply(b, half, b.pure(arith.AddfOp, b.number(1.0, x.type), y))


def gelu(b: KernelBuilder, x: SSAValue) -> SSAValue:
    scaled = multiply(b, x, b.number(sqrt(0.5), x.type))
    return half_times_one_plus(b, x, b.pure(math.ErfOp, scaled))


def gelu_tanh(b: KernelBuilder, x: SSAValue) -> SSAValue:
    cube = multiply(b, multiply(b, x, x), x)
    inner = b.pure(arith.AddfOp, x, multiply(b, b.number(0.044715, x.type), cube))
    scaled = multiply(b, b.number(sqrt(2 / pi), x.type), inner)
    return half_times_one_plus(b, x, b.pure(math.TanhOp, scaled))


def silu(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return multiply(b, x, sigmoid(b, x))


def softplus(op: ops.SoftplusOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    beta = b.number(op.beta, x.type)
    scaled = multiply(b, x, beta)
    limit = b.number(op.threshold, x.type)
    # exp overflows for large numbers (f32: from 88.8 on) and log1p is infinite then, but not
    # selected.
    above = b.pure(arith.CmpfOp, scaled, limit, arg="ogt")
    logarithm = b.pure(math.Log1pOp, b.pure(math.ExpOp, scaled))
    return b.pure(arith.SelectOp, above, x, b.pure(arith.DivfOp, logarithm, beta))


ACTIVATION: dict[type[Operation], Legalization] = {
    ops.GeluOp: on_numbers(gelu),
    ops.GeluTanhOp: on_numbers(gelu_tanh),
    ops.LeakyReluOp: in_steps(leaky_relu),
    ops.PReluOp: prelu,
    ops.ReluOp: on_numbers(relu, unchanged),
    ops.SiluOp: on_numbers(silu),
    ops.SoftplusOp: in_steps(softplus),
}
