"""Semantics of activation functions; f16 is computed in f32 and rounded once."""

from __future__ import annotations

import math

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from .....dialects.relax.elementwise import activation as ops
from ...arrays import Array
from ..table import Semantics, at_least_f32, on_arrays
from .unary import erf, sigmoid

__all__ = ["ACTIVATION"]


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def leaky_relu(op: ops.LeakyReluOp, x: Array) -> Array:
    x = at_least_f32(x)
    return np.where(x > 0, x, x * op.alpha)


def prelu(op: ops.PReluOp, x: Array, alpha: Array) -> Array:
    if x.shape[op.axis] != alpha.size:
        raise InterpretationError("a parameter and the data differ in size")
    shape = [1] * x.ndim
    shape[op.axis] = alpha.size
    return np.where(x > 0, x, x * alpha.reshape(shape))


def gelu(x: Array) -> Array:
    exact = x.astype(np.float64)
    return exact / 2 * (1 + erf(exact * math.sqrt(0.5)))


def gelu_tanh(x: Array) -> Array:
    x = at_least_f32(x)
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def silu(x: Array) -> Array:
    return at_least_f32(x) * sigmoid(x)


def softplus(op: ops.SoftplusOp, x: Array) -> Array:
    scaled = at_least_f32(x) * op.beta
    return np.where(scaled > op.threshold, x, np.log1p(np.exp(scaled)) / op.beta)


ACTIVATION: Semantics = {
    ops.ReluOp: on_arrays(relu),
    ops.LeakyReluOp: leaky_relu,
    ops.PReluOp: prelu,
    ops.GeluOp: on_arrays(gelu),
    ops.GeluTanhOp: on_arrays(gelu_tanh),
    ops.SiluOp: on_arrays(silu),
    ops.SoftplusOp: softplus,
}
