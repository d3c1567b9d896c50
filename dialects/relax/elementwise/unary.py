"""Element-wise functions of one tensor: signs, roots, rounding, predicates, transcendental ones."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from ..base import SameTypeOp, define
from ..interfaces import Elementwise, Homogeneous
from ..types import TENSOR, check_bool, check_float, check_integer, tensor_type, with_element

__all__ = [
    "AbsOp",
    "AcosOp",
    "AcoshOp",
    "AsinOp",
    "AsinhOp",
    "AtanOp",
    "AtanhOp",
    "BitwiseNotOp",
    "CeilOp",
    "CosOp",
    "CoshOp",
    "ErfOp",
    "ExpOp",
    "Expm1Op",
    "FloatPredicateOp",
    "FloatUnaryOp",
    "FloorOp",
    "IsFiniteOp",
    "IsInfOp",
    "IsNanOp",
    "Log1pOp",
    "Log2Op",
    "LogOp",
    "LogicalNotOp",
    "NegativeOp",
    "RoundOp",
    "RsqrtOp",
    "SigmoidOp",
    "SignOp",
    "SinOp",
    "SinhOp",
    "SqrtOp",
    "SquareOp",
    "TanOp",
    "TanhOp",
    "TruncOp",
    "UnaryOp",
]


class UnaryOp(Elementwise, SameTypeOp, ABC):
    """A function of one tensor of numbers."""

    input = operand_def(TENSOR)


class FloatUnaryOp(UnaryOp, ABC):
    """A function of one tensor of floating-point numbers."""

    CHECK: ClassVar = check_float


class FloatPredicateOp(FloatUnaryOp, ABC):
    """A predicate on one tensor of floating-point numbers, with an i1 result."""

    def infer_types(self) -> Sequence[Attribute]:
        super().infer_types()
        return (with_element(tensor_type(self.input), i1),)


@irdl_op_definition
class NegativeOp(Homogeneous, UnaryOp):
    """Negation."""

    name = "relax.negative"
    POSITIVE: ClassVar = False


unary = partial(define, __name__, UnaryOp)
float_unary = partial(define, __name__, FloatUnaryOp)

AbsOp = unary("relax.abs", "Absolute value.", Homogeneous)
SignOp = unary(
    "relax.sign", "-1, 0 or 1 for an element below, equal to or above zero; NaN for NaN."
)
SquareOp = unary("relax.square", "The square.")
CeilOp = unary("relax.ceil", "The element rounded up to an integral value; integers are unchanged.")
FloorOp = unary(
    "relax.floor", "The element rounded down to an integral value; integers are unchanged."
)
RoundOp = unary(
    "relax.round",
    "The element rounded to the nearest integral value, ties to even; integers are unchanged.",
)
TruncOp = unary(
    "relax.trunc", "The element rounded toward zero to an integral value; integers are unchanged."
)
SqrtOp = float_unary("relax.sqrt", "Square root.")
RsqrtOp = float_unary("relax.rsqrt", "1 / sqrt(x).")


@irdl_op_definition
class IsNanOp(FloatPredicateOp):
    """A test for NaN."""

    name = "relax.isnan"


@irdl_op_definition
class IsInfOp(FloatPredicateOp):
    """A test for plus or minus infinity."""

    name = "relax.isinf"


@irdl_op_definition
class IsFiniteOp(FloatPredicateOp):
    """A test for finite numbers: neither infinite nor NaN."""

    name = "relax.isfinite"


LogicalNotOp = unary("relax.logical_not", "Logical not.", CHECK=check_bool)
BitwiseNotOp = unary("relax.bitwise_not", "Bitwise not.", CHECK=check_integer)

# Transcendental functions of floating-point numbers

ExpOp = float_unary("relax.exp", "e to the power of the element.")
Expm1Op = float_unary("relax.expm1", "exp(x) - 1, accurate near zero.")
LogOp = float_unary("relax.log", "Natural logarithm.")
Log2Op = float_unary("relax.log2", "Logarithm to base 2.")
Log1pOp = float_unary("relax.log1p", "log(1 + x), accurate near zero.")
SinOp = float_unary("relax.sin", "Sine.")
CosOp = float_unary("relax.cos", "Cosine.")
TanOp = float_unary("relax.tan", "Tangent.")
AsinOp = float_unary("relax.asin", "Inverse sine.")
AcosOp = float_unary("relax.acos", "Inverse cosine.")
AtanOp = float_unary("relax.atan", "Inverse tangent.")
SinhOp = float_unary("relax.sinh", "Hyperbolic sine.")
CoshOp = float_unary("relax.cosh", "Hyperbolic cosine.")
TanhOp = float_unary("relax.tanh", "Hyperbolic tangent.")
AsinhOp = float_unary("relax.asinh", "Inverse hyperbolic sine.")
AcoshOp = float_unary("relax.acosh", "Inverse hyperbolic cosine.")
AtanhOp = float_unary("relax.atanh", "Inverse hyperbolic tangent.")
ErfOp = float_unary("relax.erf", "The error function.")
SigmoidOp = float_unary("relax.sigmoid", "1 / (1 + exp(-x)).")
