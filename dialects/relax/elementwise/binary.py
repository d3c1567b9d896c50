"""Element-wise functions of two tensors with numpy broadcasting: arithmetic, logic, comparisons."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, traits_def
from xdsl.traits import Commutative

from ..base import OneResultOp, define
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
    check_bool,
    check_float,
    check_integer,
    check_number,
    combine,
    tensor_type,
    with_element,
)

__all__ = [
    "AddOp",
    "Atan2Op",
    "BinaryOp",
    "BitwiseAndOp",
    "BitwiseOp",
    "BitwiseOrOp",
    "BitwiseXorOp",
    "ComparisonOp",
    "DivideOp",
    "EqualOp",
    "FloatBinaryOp",
    "FloorDivideOp",
    "FloorModOp",
    "GreaterEqualOp",
    "GreaterOp",
    "HomogeneousBinaryOp",
    "LeftShiftOp",
    "LessEqualOp",
    "LessOp",
    "LogAddExpOp",
    "LogicalAndOp",
    "LogicalOp",
    "LogicalOrOp",
    "LogicalXorOp",
    "MaximumOp",
    "MinimumOp",
    "ModOp",
    "MultiplyOp",
    "NotEqualOp",
    "PowerOp",
    "RightShiftOp",
    "SubtractOp",
    "broadcast_type",
]


class BinaryOp(Elementwise, OneResultOp, ABC):
    """A function of two tensors with the same element type, whose shapes broadcast."""

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)

    CHECK: ClassVar[Callable[[Tensor], None]] = check_number
    """The check of the type of the operands."""

    def infer_types(self) -> Sequence[Attribute]:
        type(self).CHECK(tensor_type(self.lhs))
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

    CHECK: ClassVar = check_float


@irdl_op_definition
class AddOp(AssociativeCommutative, HasIdentityElement, HomogeneousBinaryOp):
    """The sum."""

    name = "relax.add"
    IDENTITY: ClassVar = 0
    IS_SUM: ClassVar = True


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


@irdl_op_definition
class DivideOp(HasIdentityElement, BinaryOp):
    """The quotient; for integers, truncated toward zero."""

    name = "relax.divide"
    IDENTITY: ClassVar = 1


binary = partial(define, __name__, BinaryOp)

FloorDivideOp = binary("relax.floor_divide", "The quotient, rounded down.")
ModOp = binary(
    "relax.mod", "The remainder of division truncated toward zero, with the sign of lhs, as in C."
)
FloorModOp = binary(
    "relax.floor_mod",
    "The remainder of division rounded down, with the sign of rhs, as in Python.",
)
PowerOp = binary(
    "relax.power",
    "lhs to the power of rhs; for integers, truncated toward zero.",
    HasIdentityElement,
    IDENTITY=1,
)


@irdl_op_definition
class MaximumOp(AssociativeCommutative, HomogeneousBinaryOp):
    """The maximum; NaN if one operand is NaN."""

    name = "relax.maximum"
    POSITIVE: ClassVar = True


@irdl_op_definition
class MinimumOp(AssociativeCommutative, HomogeneousBinaryOp):
    """The minimum; NaN if one operand is NaN."""

    name = "relax.minimum"
    POSITIVE: ClassVar = True


float_binary = partial(define, __name__, FloatBinaryOp)

Atan2Op = float_binary("relax.atan2", "The angle of the point (rhs, lhs), from -pi to pi.")
LogAddExpOp = float_binary(
    "relax.log_add_exp",
    "log(exp(lhs) + exp(rhs)), computed without intermediate overflow.",
    traits=traits_def(Commutative()),
)

# Logic


class LogicalOp(BinaryOp, ABC):
    """A function of two tensors of i1."""

    CHECK: ClassVar = check_bool


class BitwiseOp(BinaryOp, ABC):
    """A function of the bits of two tensors of integers."""

    CHECK: ClassVar = check_integer


logical = partial(define, __name__, LogicalOp)
bitwise = partial(define, __name__, BitwiseOp)
MONOID = (AssociativeCommutative, HasIdentityElement)

LogicalAndOp = logical("relax.logical_and", "Logical and.", *MONOID, IDENTITY=1)
LogicalOrOp = logical("relax.logical_or", "Logical or.", *MONOID, IDENTITY=0)
LogicalXorOp = logical("relax.logical_xor", "Logical exclusive or.", *MONOID, IDENTITY=0)
BitwiseAndOp = bitwise("relax.bitwise_and", "Bitwise and.", AssociativeCommutative)
BitwiseOrOp = bitwise("relax.bitwise_or", "Bitwise or.", *MONOID, IDENTITY=0)
BitwiseXorOp = bitwise("relax.bitwise_xor", "Bitwise exclusive or.", *MONOID, IDENTITY=0)
LeftShiftOp = bitwise(
    "relax.left_shift",
    "lhs shifted left by rhs bits; 0 if rhs is negative or at least the width.",
    HasIdentityElement,
    IDENTITY=0,
)


@irdl_op_definition
class RightShiftOp(HasIdentityElement, BitwiseOp):
    """lhs shifted right by rhs bits: arithmetic for signed integers, logical for unsigned ones.

    If rhs is negative or at least the width, all bits are shifted out.
    """

    name = "relax.right_shift"
    IDENTITY: ClassVar = 0


# Comparisons


class ComparisonOp(BinaryOp, ABC):
    """A comparison of two tensors of numbers, with an i1 result; false is less than true."""

    def infer_types(self) -> Sequence[Attribute]:
        return (with_element(broadcast_type(*self.operands), i1),)


comparison = partial(define, __name__, ComparisonOp)

EqualOp = comparison("relax.equal", "lhs == rhs.", traits=traits_def(Commutative()))
NotEqualOp = comparison(
    "relax.not_equal", "lhs != rhs; true if one is NaN.", traits=traits_def(Commutative())
)
LessOp = comparison("relax.less", "lhs < rhs.")
LessEqualOp = comparison("relax.less_equal", "lhs <= rhs.")
GreaterOp = comparison("relax.greater", "lhs > rhs.")
GreaterEqualOp = comparison("relax.greater_equal", "lhs >= rhs.")
