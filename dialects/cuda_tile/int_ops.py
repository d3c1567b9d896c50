"""Functions of integers: arithmetic, shifts, bits."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..signature import of_signature
from .attributes import (
    IntegerOverflow,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    Signedness,
    SignednessAttr,
)
from .checks import check_rounding
from .constraints import INT
from .syntax import types
from .tile_op import CudaTileOp, PureOp

__all__ = [
    "AbsIOp",
    "AddIOp",
    "AndIOp",
    "DivIOp",
    "MaxIOp",
    "MinIOp",
    "MulIOp",
    "MulhiIOp",
    "NegIOp",
    "OrIOp",
    "RemIOp",
    "ShLIOp",
    "ShRIOp",
    "SubIOp",
    "XOrIOp",
]

NO_OVERFLOW_FLAGS = IntegerOverflowAttr(IntegerOverflow.NONE)


class UnaryIntOp(PureOp, ABC):
    """A function of each element of a tile of integers."""

    T: ClassVar = VarConstraint("T", INT)
    source = operand_def(T)
    result = result_def(T)

    assembly_format = "$source attr-dict " + types("result")


class BinaryIntOp(PureOp, ABC):
    """A function of each two elements of tiles of integers."""

    T: ClassVar = VarConstraint("T", INT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    assembly_format = "$lhs `,` $rhs attr-dict " + types("result")


class SignedBinaryOp(BinaryIntOp, ABC):
    """A function of integers that depends on their signedness."""

    signedness = prop_def(SignednessAttr)

    assembly_format = "$lhs `,` $rhs custom<Keyword>($signedness) attr-dict " + types("result")


class WrappingBinaryOp(BinaryIntOp, ABC):
    """A function of integers modulo 2 to the width; `overflow` says what does not happen."""

    overflow = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW_FLAGS)

    assembly_format = "$lhs `,` $rhs (`overflow` `` $overflow^)? attr-dict " + types("result")


@irdl_op_definition
class AbsIOp(UnaryIntOp):
    """The absolute value of a signed integer."""

    name = "cuda_tile.absi"


@irdl_op_definition
class NegIOp(UnaryIntOp):
    """The negation."""

    name = "cuda_tile.negi"

    overflow = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW_FLAGS)

    assembly_format = "$source (`overflow` `` $overflow^)? attr-dict " + types("result")

    @of_signature
    def verify_(self) -> None:
        if self.overflow.data is IntegerOverflow.NUW:
            raise VerifyException(
                "overflow no_unsigned_wrap: integers are signed, expected no_signed_wrap or no_wrap"
            )


@irdl_op_definition
class AddIOp(WrappingBinaryOp):
    """The sum."""

    name = "cuda_tile.addi"


@irdl_op_definition
class SubIOp(WrappingBinaryOp):
    """The difference."""

    name = "cuda_tile.subi"


@irdl_op_definition
class MulIOp(WrappingBinaryOp):
    """The product."""

    name = "cuda_tile.muli"


@irdl_op_definition
class ShLIOp(WrappingBinaryOp):
    """`lhs` shifted to the left by `rhs` bits."""

    name = "cuda_tile.shli"


@irdl_op_definition
class ShRIOp(SignedBinaryOp):
    """`lhs` shifted to the right by `rhs` bits; copies of the sign come in if it is signed."""

    name = "cuda_tile.shri"


@irdl_op_definition
class DivIOp(CudaTileOp):
    """The quotient, rounded to zero, or as `rounding` says."""

    name = "cuda_tile.divi"

    T: ClassVar = VarConstraint("T", INT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    signedness = prop_def(SignednessAttr)
    rounding = prop_def(RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.ZERO))
    result = result_def(T)

    # Division by zero is undefined: no pass may compute it where the program does not.
    traits = traits_def(NoMemoryEffect())

    assembly_format = (
        "$lhs `,` $rhs custom<Keyword>($signedness) (`rounding` `` $rounding^)? attr-dict "
        + types("result")
    )

    @of_signature
    def verify_(self) -> None:
        allowed = [RoundingMode.ZERO, RoundingMode.POSITIVE_INF]
        if self.signedness.data is Signedness.SIGNED:
            allowed.append(RoundingMode.NEGATIVE_INF)
        check_rounding(self.rounding, allowed)


@irdl_op_definition
class RemIOp(SignedBinaryOp):
    """The remainder of the division that is rounded to zero."""

    name = "cuda_tile.remi"


@irdl_op_definition
class MaxIOp(SignedBinaryOp):
    """The greater integer."""

    name = "cuda_tile.maxi"


@irdl_op_definition
class MinIOp(SignedBinaryOp):
    """The lesser integer."""

    name = "cuda_tile.mini"


@irdl_op_definition
class MulhiIOp(PureOp):
    """The upper half of the bits of the product of unsigned integers."""

    name = "cuda_tile.mulhii"

    T: ClassVar = VarConstraint("T", INT)
    x = operand_def(T)
    y = operand_def(T)
    result = result_def(T)

    assembly_format = "$x `,` $y attr-dict " + types("result")


@irdl_op_definition
class AndIOp(BinaryIntOp):
    """Bitwise and."""

    name = "cuda_tile.andi"


@irdl_op_definition
class OrIOp(BinaryIntOp):
    """Bitwise or."""

    name = "cuda_tile.ori"


@irdl_op_definition
class XOrIOp(BinaryIntOp):
    """Bitwise exclusive or."""

    name = "cuda_tile.xori"
