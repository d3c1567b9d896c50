"""Operations of MLIR's dialect llvm that xDSL's lacks, or that it has for scalars alone."""

from __future__ import annotations

from typing import ClassVar, Self, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    I1,
    AnyFloatConstr,
    IntegerAttr,
    SignlessIntegerConstraint,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ..compiler.releases import BrOp, FPTruncOp, InsertElementOp, ShuffleVectorOp

__all__ = [
    "UNPREDICTABLE",
    "ExtractElementOp",
    "FCmpOp",
    "FPToSIOp",
    "FPToUIOp",
    "PoisonOp",
    "SelectOp",
    "UIToFPOp",
    "comparison_class",
    "extend",
    "selection_class",
    "truth",
]

UNPREDICTABLE = "llvm.unpredictable"
"""The attribute of a select, of arith or llvm, whose condition changes at random: LLVM makes no
branch of it."""


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """Read one lane of a vector."""

    name = "llvm.extractelement"

    vector = operand_def(VectorType)
    position = operand_def(SignlessIntegerConstraint)
    res = result_def(AnyAttr())

    traits = traits_def(Pure())

    assembly_format = (
        "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector) `->` type($res)"
    )


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """Return a value that no result may depend on."""

    name = "llvm.mlir.poison"

    res = result_def(AnyAttr())

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($res)"


@irdl_op_definition
class UIToFPOp(llvm.GenericCastOp):
    """Convert unsigned integers to floats."""

    name = "llvm.uitofp"


@irdl_op_definition
class FPToSIOp(llvm.GenericCastOp):
    """Convert floats to signed integers, towards zero."""

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(llvm.GenericCastOp):
    """Convert floats to unsigned integers, towards zero."""

    name = "llvm.fptoui"


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """Compare vectors of floats; a comparison of numbers is read as xDSL's operation."""

    name = "llvm.fcmp"

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(I1 | VectorType[I1])
    predicate = prop_def(IntegerAttr[i64])
    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=llvm.FastMathAttr(None))

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        predicate = llvm.FCmpPredicateFlag(parser.parse_str_literal()).to_int()
        lhs = parser.parse_unresolved_operand()
        parser.parse_characters(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_characters(":")
        type: Attribute = parser.parse_type()
        flags = attributes.pop("fastmathFlags", llvm.FastMathAttr(None))
        new = comparison_class(type).create(
            operands=parser.resolve_operands([lhs, rhs], [type, type], parser.pos),
            result_types=[truth(type)],
            properties={"predicate": IntegerAttr(predicate, i64), "fastmathFlags": flags},
            attributes=attributes,
        )
        return cast("Self", new)

    def print(self, printer: Printer) -> None:
        predicate = llvm.FCmpPredicateFlag.from_int(self.predicate.value.data)
        printer.print_string(f' "{predicate}" ')
        printer.print_list((self.lhs, self.rhs), printer.print_ssa_value)
        print_attributes(self, self.fastmathFlags, printer)
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class SelectOp(IRDLOperation):
    """Select each lane from one of two vectors; a selection by one bit is read as xDSL's
    operation."""

    name = "llvm.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    cond = operand_def(I1 | VectorType[I1])
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=llvm.FastMathAttr(None))

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_characters(",")
            names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_characters(":")
        condition: Attribute = parser.parse_type()
        parser.parse_characters(",")
        type: Attribute = parser.parse_type()
        flags = attributes.pop("fastmathFlags", llvm.FastMathAttr(None))
        new = selection_class(condition).create(
            operands=parser.resolve_operands(names, [condition, type, type], parser.pos),
            result_types=[type],
            properties={"fastmathFlags": flags},
            attributes=attributes,
        )
        return cast("Self", new)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_attributes(self, self.fastmathFlags, printer)
        printer.print_list((self.cond.type, self.res.type), printer.print_attribute)


def print_attributes(op: Operation, flags: llvm.FastMathAttr, printer: Printer) -> None:
    """Print the attributes of an operation, its flags among them, and the colon before types."""
    attributes = dict(op.attributes)
    if flags.data:
        attributes["fastmathFlags"] = flags
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")


EXTENSION: tuple[type[Operation], ...] = (
    *(ExtractElementOp, FCmpOp, FPToSIOp, FPToUIOp, PoisonOp, SelectOp, UIToFPOp),
    # xDSL's own, where it has them:
    *(BrOp, FPTruncOp, InsertElementOp, ShuffleVectorOp),
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect llvm with the operations above, in place of its own of their names."""
    names = {op.name for op in EXTENSION}
    others = (op for op in dialect.operations if op.name not in names)
    return Dialect(dialect.name, [*others, *EXTENSION], [*dialect.attributes])


def comparison_class(operand: Attribute) -> type[Operation]:
    """Return the class of comparisons of floats of a type."""
    return FCmpOp if isinstance(operand, VectorType) else llvm.FCmpOp


def selection_class(condition: Attribute) -> type[Operation]:
    """Return the class of selections by a condition of a type."""
    return SelectOp if isinstance(condition, VectorType) else llvm.SelectOp


def truth(operand: Attribute) -> Attribute:
    """Return the type of a comparison of values of a type."""
    if not isinstance(operand, VectorType):
        return i1
    vector = cast("VectorType[Attribute]", operand)
    return VectorType(i1, vector.shape, vector.scalable_dims)
