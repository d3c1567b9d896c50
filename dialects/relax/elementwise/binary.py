"""Element-wise functions of two tensors with numpy broadcasting: base classes and arithmetic."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Commutative

from ..base import TensorOp
from ..interfaces import (
    AssociativeCommutative,
    Axes,
    Elementwise,
    HasIdentityElement,
    ScaleAxisRule,
    Scaling,
)
from ..shapes import broadcast
from ..types import (
    TENSOR,
    Tensor,
    check_float,
    check_number,
    combine,
    tensor_type,
)

__all__ = [
    "AddOp",
    "Atan2Op",
    "BinaryOp",
    "DivideOp",
    "FloatBinaryOp",
    "FloorDivideOp",
    "FloorModOp",
    "HomogeneousBinaryOp",
    "LogAddExpOp",
    "MaximumOp",
    "MinimumOp",
    "ModOp",
    "MultiplyOp",
    "PowerOp",
    "SubtractOp",
    "broadcast_type",
]


class BinaryOp(Elementwise, TensorOp, ABC):
    """A function of two tensors with the same element type, whose shapes broadcast."""

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (broadcast_type(*self.operands),)


def broadcast_type(lhs: SSAValue, rhs: SSAValue) -> Tensor:
    """Return the result type of an element-wise function of two tensors of numbers."""
    lhs_type, rhs_type = tensor_type(lhs), tensor_type(rhs)
    if lhs_type is rhs_type or lhs_type == rhs_type:
        check_number(lhs_type)
        return lhs_type
    return combine(broadcast, lhs_type, rhs_type)


class HomogeneousBinaryOp(ScaleAxisRule, BinaryOp, ABC):
    """A function with `f(s * x, s * y) = s * f(x, y)`."""

    POSITIVE: ClassVar[bool] = False
    """True if this holds for positive scales only."""
    IS_SUM: ClassVar[bool] = False
    """True if a term added to an operand is added to the result unchanged."""

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling({0: axes, 1: axes}, positive=self.POSITIVE, is_sum=self.IS_SUM)

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        return Scaling(divided={1 - index: axes}, result=axes, positive=self.POSITIVE)


class FloatBinaryOp(BinaryOp, ABC):
    """A function of two tensors of floating-point numbers."""

    def infer_types(self) -> Sequence[Attribute]:
        check_float(tensor_type(self.lhs))
        return super().infer_types()


@irdl_op_definition
class AddOp(AssociativeCommutative, HasIdentityElement, HomogeneousBinaryOp):
    """The sum."""

    name = "relax.add"
    IDENTITY: ClassVar = 0
    IS_SUM: ClassVar = True

    traits = traits_def(Commutative())


@irdl_op_definition
class SubtractOp(HasIdentityElement, HomogeneousBinaryOp):
    """The difference."""

    name = "relax.subtract"
    IDENTITY: ClassVar = 0


@irdl_op_definition
class MultiplyOp(AssociativeCommutative, HasIdentityElement, BinaryOp):
    """The product."""

    name = "relax.multiply"
    IDENTITY: ClassVar = 1

    traits = traits_def(Commutative())


@irdl_op_definition
class DivideOp(HasIdentityElement, BinaryOp):
    """The quotient; for integers, truncated toward zero."""

    name = "relax.divide"
    IDENTITY: ClassVar = 1


@irdl_op_definition
class FloorDivideOp(BinaryOp):
    """The quotient, rounded down."""

    name = "relax.floor_divide"


@irdl_op_definition
class ModOp(BinaryOp):
    """The remainder of division truncated toward zero, with the sign of lhs, as in C."""

    name = "relax.mod"


@irdl_op_definition
class FloorModOp(BinaryOp):
    """The remainder of division rounded down, with the sign of rhs, as in Python."""

    name = "relax.floor_mod"


@irdl_op_definition
class PowerOp(HasIdentityElement, BinaryOp):
    """lhs to the power of rhs; for integers, truncated toward zero."""

    name = "relax.power"
    IDENTITY: ClassVar = 1


@irdl_op_definition
class MaximumOp(AssociativeCommutative, HomogeneousBinaryOp):
    """The maximum; NaN if one operand is NaN."""

    name = "relax.maximum"
    POSITIVE: ClassVar = True

    traits = traits_def(Commutative())


@irdl_op_definition
class MinimumOp(AssociativeCommutative, HomogeneousBinaryOp):
    """The minimum; NaN if one operand is NaN."""

    name = "relax.minimum"
    POSITIVE: ClassVar = True

    traits = traits_def(Commutative())


@irdl_op_definition
class Atan2Op(FloatBinaryOp):
    """The angle of the point (rhs, lhs), from -pi to pi."""

    name = "relax.atan2"


@irdl_op_definition
class LogAddExpOp(FloatBinaryOp):
    """log(exp(lhs) + exp(rhs)), computed without intermediate overflow."""

    name = "relax.log_add_exp"

    traits = traits_def(Commutative())
