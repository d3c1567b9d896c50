"""Element-wise logical and bitwise functions, and shifts."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Commutative

from .binary import BinaryOp
from .interfaces import (
    AssociativeCommutative,
    HasIdentityElement,
)
from .types import (
    check_bool,
    check_integer,
    tensor_type,
)
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
    """Whether both are true."""

    name = "relax.logical_and"
    IDENTITY: ClassVar = 1

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalOrOp(AssociativeCommutative, HasIdentityElement, LogicalOp):
    """Whether one is true."""

    name = "relax.logical_or"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class LogicalXorOp(AssociativeCommutative, HasIdentityElement, LogicalOp):
    """Whether exactly one is true."""

    name = "relax.logical_xor"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseAndOp(AssociativeCommutative, BitwiseOp):
    """The bits that both have."""

    name = "relax.bitwise_and"

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseOrOp(AssociativeCommutative, HasIdentityElement, BitwiseOp):
    """The bits that one has."""

    name = "relax.bitwise_or"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class BitwiseXorOp(AssociativeCommutative, HasIdentityElement, BitwiseOp):
    """The bits that exactly one has."""

    name = "relax.bitwise_xor"
    IDENTITY: ClassVar = 0

    traits = traits_def(Commutative())


@irdl_op_definition
class LeftShiftOp(HasIdentityElement, BitwiseOp):
    """lhs with its bits moved up by rhs places."""

    name = "relax.left_shift"
    IDENTITY: ClassVar = 0


@irdl_op_definition
class RightShiftOp(HasIdentityElement, BitwiseOp):
    """lhs with its bits moved down by rhs places; a signed one keeps its sign."""

    name = "relax.right_shift"
    IDENTITY: ClassVar = 0


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """Negation of i1."""

    name = "relax.logical_not"

    def infer_types(self) -> Sequence[Attribute]:
        check_bool(type := tensor_type(self.input))
        return (type,)


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """Each bit inverted."""

    name = "relax.bitwise_not"

    def infer_types(self) -> Sequence[Attribute]:
        check_integer(type := tensor_type(self.input))
        return (type,)
