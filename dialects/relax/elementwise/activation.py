"""Activation functions of neural networks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import float_prop, int_prop
from ..base import OneResultOp, define
from ..interfaces import AlongAxes, Broadcast, Homogeneous
from ..shapes import merge, normalize_axis, shape_text
from ..types import TENSOR, check_float, check_same_element, shape_of, tensor_type, with_shape
from .unary import FloatUnaryOp, UnaryOp

__all__ = [
    "GeluOp",
    "GeluTanhOp",
    "LeakyReluOp",
    "PReluOp",
    "ReluOp",
    "SiluOp",
    "SoftplusOp",
]


@irdl_op_definition
class ReluOp(Homogeneous, UnaryOp):
    """max(x, 0)."""

    name = "relax.nn.relu"


@irdl_op_definition
class LeakyReluOp(Homogeneous, FloatUnaryOp):
    """x where x > 0, else alpha * x."""

    name = "relax.nn.leaky_relu"

    alpha = float_prop(0.01)


@irdl_op_definition
class PReluOp(AlongAxes, Homogeneous, Broadcast, OneResultOp):
    """x where x > 0, else alpha[i] * x, where i is the index of x along `axis` (`relax.nn.prelu`).

    `alpha` is a vector with the size of that axis; it does not broadcast.
    """

    AXES: ClassVar = ("axis",)

    name = "relax.nn.prelu"

    data = operand_def(TENSOR)
    alpha = operand_def(TENSOR)
    axis = int_prop(1)

    def infer_types(self) -> Sequence[Attribute]:
        type, alpha_type = tensor_type(self.data), tensor_type(self.alpha)
        check_float(type)
        check_same_element(type.element_type, alpha_type.element_type)
        shape, alpha = shape_of(type), shape_of(alpha_type)
        if alpha is not None and len(alpha) != 1:
            raise VerifyException(f"alpha has shape {shape_text(alpha)}, expected a vector")
        if shape is None:
            return (type,)
        axis = normalize_axis(self.axis, len(shape))
        if alpha is None:
            return (type,)
        if (size := merge(shape[axis : axis + 1], alpha)) is None:
            raise VerifyException(
                f"alpha has size {alpha[0]}, axis {axis} of {shape_text(shape)} has size "
                f"{shape[axis]}"
            )
        return (with_shape(type, shape[:axis] + size + shape[axis + 1 :]),)


float_unary = partial(define, __name__, FloatUnaryOp)

GeluOp = float_unary("relax.nn.gelu", "x / 2 * (1 + erf(x / sqrt(2))).")
GeluTanhOp = float_unary(
    "relax.nn.gelu_tanh",
    "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))), an approximation of gelu.",
)
SiluOp = float_unary("relax.nn.silu", "x * sigmoid(x).")


@irdl_op_definition
class SoftplusOp(FloatUnaryOp):
    """log(1 + exp(beta * x)) / beta; x where beta * x > threshold."""

    name = "relax.nn.softplus"

    beta = float_prop(1.0)
    threshold = float_prop(20.0)
