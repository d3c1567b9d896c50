"""Element-wise logical and bitwise functions, and shifts."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Commutative

from ..interfaces import (
    AssociativeCommutative,
    HasIdentityElement,
)
from ..types import (
    check_bool,
    check_integer,
    tensor_type,
)
from .binary import BinaryOp
from .unary import UnaryOp

__all__ = [
    "BitwiseAndOp",
    "BitwiseNotOp",
    "BitwiseOp",
    "BitwiseOrOp",
    "BitwiseXorOp",
    "LeftShiftOp",
    "LogicalAndOp",
    "LogicalNotOp",
    "LogicalOp",
    "LogicalOrOp",
    "LogicalXorOp",
    "RightShiftOp",
]


class LogicalOp(BinaryOp, ABC):
    """A function of two tensors of i1."""

    def infer_types(self) -> Sequence[Attribute]:
        check_bool(tensor_type(self.lhs))
        return super().infer_types()


class BitwiseOp(BinaryOp, ABC):
    """A function of the bits of two tensors of integers."""

    def infer_types(self) -> Sequence[Attribute]:
        check_integer(tensor_type(self.lhs))
        return super().infer_types()


@irdl_op_definition
class LogicalAndOp(AssociativeCommutative, HasIdentityElement, LogicalOp):
    """Logical and."""

    name = "relax.logical_and"
    IDENTITY: ClassVar = 1

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalOrOp(AssociativeCommutative, HasIdentityElement, LogicalOp):
    """Logical or."""

    name = "relax.logical_or"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalXorOp(AssociativeCommutative, HasIdentityElement, LogicalOp):
    """Logical exclusive or."""

    name = "relax.logical_xor"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseAndOp(AssociativeCommutative, BitwiseOp):
    """Bitwise and."""

    name = "relax.bitwise_and"

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseOrOp(AssociativeCommutative, HasIdentityElement, BitwiseOp):
    """Bitwise or."""

    name = "relax.bitwise_or"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseXorOp(AssociativeCommutative, HasIdentityElement, BitwiseOp):
    """Bitwise exclusive or."""

    name = "relax.bitwise_xor"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class LeftShiftOp(HasIdentityElement, BitwiseOp):
    """lhs shifted left by rhs bits; 0 if rhs is negative or at least the width."""

    name = "relax.left_shift"
    IDENTITY: ClassVar = 0


@irdl_op_definition
class RightShiftOp(HasIdentityElement, BitwiseOp):
    """lhs shifted right by rhs bits: arithmetic for signed integers, logical for unsigned ones.

    If rhs is negative or at least the width, all bits are shifted out.
    """

    name = "relax.right_shift"
    IDENTITY: ClassVar = 0


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """Logical not."""

    name = "relax.logical_not"

    def infer_types(self) -> Sequence[Attribute]:
        check_bool(type := tensor_type(self.input))
        return (type,)


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """Bitwise not."""

    name = "relax.bitwise_not"

    def infer_types(self) -> Sequence[Attribute]:
        check_integer(type := tensor_type(self.input))
        return (type,)
