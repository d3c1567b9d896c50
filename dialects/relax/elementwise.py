"""Operations that compute each element by itself, with numpy's broadcasting."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Commutative

from .base import TensorOp
from .interfaces import Elementwise
from .shapes import broadcast
from .types import (
    TENSOR,
    Tensor,
    check_float,
    check_number,
    combine,
    tensor_type,
)

__all__ = [
    "AbsOp",
    "AddOp",
    "BinaryOp",
    "DivideOp",
    "ExpOp",
    "LogOp",
    "MaximumOp",
    "MinimumOp",
    "MultiplyOp",
    "NegativeOp",
    "PowerOp",
    "ReluOp",
    "SigmoidOp",
    "SqrtOp",
    "SubtractOp",
    "TanhOp",
    "UnaryOp",
]


class UnaryOp(Elementwise, TensorOp, ABC):
    """A function of one tensor of numbers."""

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        return (type,)


class FloatUnaryOp(UnaryOp, ABC):
    """A function of one tensor of floating-point numbers."""

    def infer_types(self) -> Sequence[Attribute]:
        check_float(type := tensor_type(self.input))
        return (type,)


class BinaryOp(Elementwise, TensorOp, ABC):
    """A function of two tensors of the same element type, whose shapes broadcast."""

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (broadcast_type(*self.operands),)


def broadcast_type(lhs: SSAValue, rhs: SSAValue) -> Tensor:
    """The result type of a function of two tensors, element by element."""
    lhs_type, rhs_type = tensor_type(lhs), tensor_type(rhs)
    if lhs_type is rhs_type or lhs_type == rhs_type:
        check_number(lhs_type)
        return lhs_type
    return combine(broadcast, lhs_type, rhs_type)


@irdl_op_definition
class AbsOp(UnaryOp):
    """Absolute value."""

    name = "relax.abs"


@irdl_op_definition
class NegativeOp(UnaryOp):
    """Negation."""

    name = "relax.negative"


@irdl_op_definition
class ReluOp(UnaryOp):
    """The greater of the element and zero."""

    name = "relax.nn.relu"


@irdl_op_definition
class ExpOp(FloatUnaryOp):
    """e to the power of the element."""

    name = "relax.exp"


@irdl_op_definition
class LogOp(FloatUnaryOp):
    """Natural logarithm."""

    name = "relax.log"


@irdl_op_definition
class SqrtOp(FloatUnaryOp):
    """Square root."""

    name = "relax.sqrt"


@irdl_op_definition
class TanhOp(FloatUnaryOp):
    """Hyperbolic tangent."""

    name = "relax.tanh"


@irdl_op_definition
class SigmoidOp(FloatUnaryOp):
    """1 / (1 + exp(-x))."""

    name = "relax.sigmoid"


@irdl_op_definition
class AddOp(BinaryOp):
    """Sum."""

    name = "relax.add"

    traits = traits_def(Commutative())


@irdl_op_definition
class SubtractOp(BinaryOp):
    """Difference."""

    name = "relax.subtract"


@irdl_op_definition
class MultiplyOp(BinaryOp):
    """Product."""

    name = "relax.multiply"

    traits = traits_def(Commutative())


@irdl_op_definition
class DivideOp(BinaryOp):
    """Quotient; of integers, truncated toward zero."""

    name = "relax.divide"


@irdl_op_definition
class MaximumOp(BinaryOp):
    """The greater; NaN if one is NaN."""

    name = "relax.maximum"

    traits = traits_def(Commutative())


@irdl_op_definition
class MinimumOp(BinaryOp):
    """The lesser; NaN if one is NaN."""

    name = "relax.minimum"

    traits = traits_def(Commutative())


@irdl_op_definition
class PowerOp(BinaryOp):
    """lhs to the power of rhs; of integers, truncated toward zero."""

    name = "relax.power"
