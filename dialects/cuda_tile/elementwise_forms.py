"""The forms of the operations on each element of tiles: operands, modifiers, text and checks."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, i1
from xdsl.ir import Attribute
from xdsl.irdl import VarConstraint, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect, Pure

from ..signature import of_signature
from .attributes import (
    ComparisonPredicateAttr,
    IntegerOverflow,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    SignednessAttr,
)
from .constraints import (
    ANY_FLOAT,
    BOOL,
    FLOAT,
    INT,
    POINTER,
    check_f32,
    check_rounding,
    check_same_shape,
    element_width,
)
from .folding import TileFolder
from .syntax import FLUSH, OVERFLOW, ROUNDING, SIGNEDNESS, types
from .tile_op import CudaTileOp, Operand
from .types import TileType

NEAREST_EVEN = RoundingModeAttr(RoundingMode.NEAREST_EVEN)
FULL = RoundingModeAttr(RoundingMode.FULL)
NO_FLAGS = IntegerOverflowAttr(IntegerOverflow.NONE)
IEEE = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)

FLOAT_TILE = VarConstraint("T", FLOAT)
INT_TILE = VarConstraint("T", INT)


class ElementwiseForm(CudaTileOp, ABC):
    """A function of the elements at one place of tiles of one shape."""

    @of_signature
    def verify_(self) -> None:
        check_same_shape(*self.operand_types, *self.result_types)


class PureElementwiseForm(ElementwiseForm, ABC):
    """An elementwise operation that is defined for all elements."""

    traits = traits_def(Pure(), TileFolder())


# Functions of floats


class FloatForm(PureElementwiseForm, ABC):
    """A function of floats. `rounding_mode` says how its result is rounded, or how exact it is;
    with `flush_to_zero`, subnormal f32 operands and results are zero."""

    ROUNDINGS: ClassVar[Sequence[RoundingMode]] = IEEE
    """The rounding modes of the operation."""
    F32_ROUNDINGS: ClassVar[Sequence[RoundingMode]] = (RoundingMode.APPROX,)
    """The modes of `ROUNDINGS` that need f32."""

    @of_signature
    def verify_(self) -> None:
        type = self.results[0].type
        mode = self.properties.get("rounding_mode")
        if isinstance(mode, RoundingModeAttr):
            check_rounding(mode, self.ROUNDINGS)
            if mode.data in self.F32_ROUNDINGS:
                check_f32(f"rounding {mode.data}", type)
        if "flush_to_zero" in self.properties:
            check_f32("flush_to_zero", type)


class UnaryFloatForm(FloatForm, ABC):
    """A function of a float."""

    source = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    assembly_format = "$source attr-dict " + types("result")


class FlushingUnaryForm(UnaryFloatForm, ABC):
    """A function of a float that can flush subnormal numbers to zero."""

    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = f"$source {FLUSH} attr-dict " + types("result")


class GradedUnaryForm(UnaryFloatForm, ABC):
    """A function of a float that is computed in full precision, or approximately."""

    ROUNDINGS: ClassVar = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr, default_value=FULL)

    assembly_format = f"$source {ROUNDING} attr-dict " + types("result")


class BinaryFloatForm(FloatForm, ABC):
    """A function of two floats."""

    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    assembly_format = "$lhs `,` $rhs attr-dict " + types("result")


class RoundedBinaryForm(BinaryFloatForm, ABC):
    """A function of two floats that is rounded in a direction of IEEE 754."""

    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = f"$lhs `,` $rhs {ROUNDING} {FLUSH} attr-dict " + types("result")


class ExtremumForm(BinaryFloatForm, ABC):
    """A minimum or maximum: the other number if one is NaN; NaN, with `propagate_nan`."""

    propagate_nan = opt_prop_def(UnitAttr)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs custom<Flags>($flush_to_zero, $propagate_nan) attr-dict " + types("result")
    )


# Functions of integers


class UnaryIntForm(PureElementwiseForm, ABC):
    """A function of an integer."""

    source = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    assembly_format = "$source attr-dict " + types("result")


class BinaryIntForm(PureElementwiseForm, ABC):
    """A function of two integers."""

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    assembly_format = "$lhs `,` $rhs attr-dict " + types("result")


class SignedBinaryForm(BinaryIntForm, ABC):
    """A function of two integers that depends on their signedness."""

    signedness = prop_def(SignednessAttr)

    assembly_format = f"$lhs `,` $rhs {SIGNEDNESS} attr-dict " + types("result")


class WrappingBinaryForm(BinaryIntForm, ABC):
    """A function of two integers modulo 2 to the width; `overflow` says that it does not wrap."""

    overflow = prop_def(IntegerOverflowAttr, default_value=NO_FLAGS)

    assembly_format = f"$lhs `,` $rhs {OVERFLOW} attr-dict " + types("result")


class DivisionForm(ElementwiseForm, ABC):
    """A division of integers. By zero it is undefined: no pass may compute it where the program
    does not."""

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)
    result = result_def(INT_TILE)

    traits = traits_def(NoMemoryEffect(), TileFolder())

    assembly_format = f"$lhs `,` $rhs {SIGNEDNESS} attr-dict " + types("result")


# Comparisons and conversions


class CompareForm(PureElementwiseForm, ABC):
    """A comparison of two numbers: an i1."""

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    result = result_def(BOOL)

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (type.with_element(i1) if isinstance(type, TileType) else type,)


class CastForm(PureElementwiseForm, ABC):
    """The bits of a number or a pointer as another type."""

    source = operand_def(POINTER)
    result = result_def(POINTER)

    assembly_format = "$source attr-dict " + types("source -> result")


class ConversionForm(PureElementwiseForm, ABC):
    """A conversion of a number to another type."""

    from_ = operand_def(ANY_FLOAT)
    to = result_def(ANY_FLOAT)

    def widths(self) -> tuple[int, int]:
        """Return the bits of an element before and after the conversion."""
        return element_width(self.from_.type), element_width(self.to.type)
