"""Activation functions: f16 in f32, and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import activation as ops
from ....dialects.tir.builder import Index
from .elementwise import in_steps, on_numbers
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from .scalars import convert, maximum, multiply, signless, widen
from .unary import sigmoid

__all__ = ["ACTIVATION"]


def relu(w: KernelBuilder, x: SSAValue) -> SSAValue:
    return maximum(w, x, w.number(0, x.type))


def scaled_below_zero(w: KernelBuilder, x: SSAValue, factor: SSAValue) -> SSAValue:
    """The element if it is above zero, else a multiple of it."""
    above = w.pure(arith.CmpfOp, x, w.number(0.0, x.type), arg="ogt")
    return w.pure(arith.SelectOp, above, x, multiply(w, x, factor))


def leaky_relu(op: ops.LeakyReluOp, w: KernelBuilder, x: SSAValue) -> SSAValue:
    return scaled_below_zero(w, x, w.number(op.alpha, x.type))


def prelu(op: ops.PReluOp, _: KernelBuilder, data: Tensor, alpha: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)

    def compute(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = broadcast_index(w, [index[axis]], alpha.shape)
        x, factor = widen(w, w.read(data, index)), widen(w, w.read(alpha, place))
        return convert(w, scaled_below_zero(w, x, factor), data.element)

    return Elements(data.shape, signless(data.element), compute)


def half_times_one_plus(w: KernelBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x / 2 * (1 + y)."""
    half = multiply(w, x, w.number(0.5, x.type))
    return multiply(w, half, w.pure(arith.AddfOp, w.number(1.0, x.type), y))


def gelu(w: KernelBuilder, x: SSAValue) -> SSAValue:
    scaled = multiply(w, x, w.number(sqrt(0.5), x.type))
    return half_times_one_plus(w, x, w.pure(math.ErfOp, scaled))


def gelu_tanh(w: KernelBuilder, x: SSAValue) -> SSAValue:
    cube = multiply(w, multiply(w, x, x), x)
    inner = w.pure(arith.AddfOp, x, multiply(w, w.number(0.044715, x.type), cube))
    scaled = multiply(w, w.number(sqrt(2 / pi), x.type), inner)
    return half_times_one_plus(w, x, w.pure(math.TanhOp, scaled))


def silu(w: KernelBuilder, x: SSAValue) -> SSAValue:
    return multiply(w, x, sigmoid(w, x))


def softplus(op: ops.SoftplusOp, w: KernelBuilder, x: SSAValue) -> SSAValue:
    beta = w.number(op.beta, x.type)
    scaled = multiply(w, x, beta)
    limit = w.number(op.threshold, x.type)
    above = w.pure(arith.CmpfOp, scaled, limit, arg="ogt")
    logarithm = w.pure(math.Log1pOp, w.pure(math.ExpOp, scaled))
    return w.pure(arith.SelectOp, above, x, w.pure(arith.DivfOp, logarithm, beta))


ACTIVATION: dict[type[Operation], Legalization] = {
    ops.GeluOp: on_numbers(gelu),
    ops.GeluTanhOp: on_numbers(gelu_tanh),
    ops.LeakyReluOp: in_steps(leaky_relu),
    ops.PReluOp: prelu,
    ops.ReluOp: on_numbers(relu),
    ops.SiluOp: on_numbers(silu),
    ops.SoftplusOp: in_steps(softplus),
}
