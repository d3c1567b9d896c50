"""Comparisons, selection, and conversions of numbers and pointers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import VarConstraint, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ...passmanager.releases.floats import Float4E2M1FNType, Float8E8M0FNUType
from ..signature import of_signature
from .attributes import (
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    IntegerOverflow,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    SignednessAttr,
)
from .checks import check_rounding, check_same_shape, tile, width_of
from .constraints import ANY_FLOAT, BOOL, FLOAT, INT, NUMBER, POINTER, TILE, TileOf
from .elements import I4, INTEGERS
from .syntax import types
from .tile_op import Operand, PureOp
from .types import TileType

__all__ = [
    "BitcastOp",
    "CmpFOp",
    "CmpIOp",
    "ExtIOp",
    "FToFOp",
    "FToIOp",
    "IToFOp",
    "IntToPtrOp",
    "OffsetOp",
    "PtrToIntOp",
    "PtrToPtrOp",
    "SelectOp",
    "TruncIOp",
]


NEAREST_EVEN = RoundingModeAttr(RoundingMode.NEAREST_EVEN)
NO_OVERFLOW_FLAGS = IntegerOverflowAttr(IntegerOverflow.NONE)


@irdl_op_definition
class CmpFOp(PureOp):
    """Whether floats are in a relation."""

    name = "cuda_tile.cmpf"

    T: ClassVar = VarConstraint("T", FLOAT)
    comparison_predicate = prop_def(ComparisonPredicateAttr)
    comparison_ordering = prop_def(ComparisonOrderingAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(BOOL)

    assembly_format = (
        "custom<Keyword>($comparison_predicate) custom<Keyword>($comparison_ordering) "
        "$lhs `,` $rhs attr-dict " + types("lhs -> result")
    )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (type.with_element(i1) if isinstance(type, TileType) else type,)

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.lhs.type, self.result.type)


@irdl_op_definition
class CmpIOp(PureOp):
    """Whether integers are in a relation."""

    name = "cuda_tile.cmpi"

    T: ClassVar = VarConstraint("T", INT)
    comparison_predicate = prop_def(ComparisonPredicateAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    signedness = prop_def(SignednessAttr)
    result = result_def(BOOL)

    assembly_format = (
        "custom<Keyword>($comparison_predicate) $lhs `,` $rhs `,` "
        "custom<Keyword>($signedness) attr-dict " + types("lhs -> result")
    )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (type.with_element(i1) if isinstance(type, TileType) else type,)

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.lhs.type, self.result.type)


@irdl_op_definition
class SelectOp(PureOp):
    """The element of `val_if_true` where `cond` is true, else that of `val_if_false`."""

    name = "cuda_tile.select"

    RESULT_OF: ClassVar = 1

    T: ClassVar = VarConstraint("T", TILE)
    cond = operand_def(BOOL)
    val_if_true = operand_def(T)
    val_if_false = operand_def(T)
    result = result_def(T)

    assembly_format = "$cond `,` $val_if_true `,` $val_if_false attr-dict " + types("cond, result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.cond.type, self.result.type)
        if isinstance(element := tile(self.result.type).element_type, Float4E2M1FNType):
            raise VerifyException(f"elements of {element} have no addresses: expected others")


@irdl_op_definition
class BitcastOp(PureOp):
    """The bits of the element as a number of another type of the same width."""

    name = "cuda_tile.bitcast"

    source = operand_def(NUMBER)
    result = result_def(NUMBER)

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)
        widths = [width_of(tile(v.type).element_type) for v in (self.source, self.result)]
        if widths[0] != widths[1]:
            raise VerifyException(f"expected elements of {widths[0]} bits, got {widths[1]}")


@irdl_op_definition
class ExtIOp(PureOp):
    """The integer with more bits: copies of the sign if it is signed, else zeros."""

    name = "cuda_tile.exti"

    from_ = operand_def(TileOf((*INTEGERS, I4)))
    signedness = prop_def(SignednessAttr)
    to = result_def(TileOf((*INTEGERS, I4)))

    assembly_format = "$from_ custom<Keyword>($signedness) attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        widths = [width_of(tile(v.type).element_type) for v in (self.from_, self.to)]
        if widths[0] >= widths[1]:
            raise VerifyException(f"expected more bits than {widths[0]}, got {widths[1]}")


@irdl_op_definition
class TruncIOp(PureOp):
    """The lower bits of the integer."""

    name = "cuda_tile.trunci"

    from_ = operand_def(TileOf((*INTEGERS, I4)))
    overflow = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW_FLAGS)
    to = result_def(TileOf((*INTEGERS, I4)))

    assembly_format = "$from_ (`overflow` `` $overflow^)? attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        widths = [width_of(tile(v.type).element_type) for v in (self.from_, self.to)]
        if widths[0] <= widths[1]:
            raise VerifyException(f"expected fewer bits than {widths[0]}, got {widths[1]}")


@irdl_op_definition
class FToFOp(PureOp):
    """The float as a float of another type."""

    name = "cuda_tile.ftof"

    from_ = operand_def(ANY_FLOAT)
    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    to = result_def(ANY_FLOAT)

    assembly_format = "$from_ (`rounding` `` $rounding_mode^)? attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        if self.from_.type == self.to.type:
            raise VerifyException(f"expected another type than {self.to.type}")
        # Only powers of two without a sign have this type.
        is_scale = isinstance(tile(self.to.type).element_type, Float8E8M0FNUType)
        check_rounding(
            self.rounding_mode,
            (RoundingMode.ZERO, RoundingMode.POSITIVE_INF)
            if is_scale
            else (RoundingMode.NEAREST_EVEN,),
        )


@irdl_op_definition
class FToIOp(PureOp):
    """The float without its fraction, as an integer."""

    name = "cuda_tile.ftoi"

    from_ = operand_def(ANY_FLOAT)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(
        RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.NEAREST_INT_TO_ZERO)
    )
    to = result_def(INT)

    assembly_format = (
        "$from_ custom<Keyword>($signedness) (`rounding` `` $rounding_mode^)? attr-dict "
        + types("from_ -> to")
    )

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        check_rounding(self.rounding_mode, (RoundingMode.NEAREST_INT_TO_ZERO,))


@irdl_op_definition
class IToFOp(PureOp):
    """The integer as a float."""

    name = "cuda_tile.itof"

    from_ = operand_def(INT)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    to = result_def(ANY_FLOAT)

    assembly_format = (
        "$from_ custom<Keyword>($signedness) (`rounding` `` $rounding_mode^)? attr-dict "
        + types("from_ -> to")
    )

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        if isinstance(element := tile(self.to.type).element_type, Float8E8M0FNUType):
            raise VerifyException(f"no integer becomes {element}: expected another float first")
        check_rounding(self.rounding_mode, (RoundingMode.NEAREST_EVEN,))


@irdl_op_definition
class IntToPtrOp(PureOp):
    """The address as a pointer."""

    name = "cuda_tile.int_to_ptr"

    source = operand_def(TileOf((i64,)))
    result = result_def(POINTER)

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)


@irdl_op_definition
class PtrToIntOp(PureOp):
    """The address of the pointer."""

    name = "cuda_tile.ptr_to_int"

    source = operand_def(POINTER)
    result = result_def(TileOf((i64,)))

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)


@irdl_op_definition
class PtrToPtrOp(PureOp):
    """The pointer as a pointer to another type."""

    name = "cuda_tile.ptr_to_ptr"

    source = operand_def(POINTER)
    result = result_def(POINTER)

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)


@irdl_op_definition
class OffsetOp(PureOp):
    """The pointer, moved by `offset` elements of its pointee type."""

    name = "cuda_tile.offset"

    T: ClassVar = VarConstraint("T", POINTER)
    ptr = operand_def(T)
    offset = operand_def(INT)
    result = result_def(T)

    assembly_format = "$ptr `,` $offset attr-dict " + types("ptr, offset -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.ptr.type, self.offset.type)
