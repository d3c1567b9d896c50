"""Differences between releases of xDSL that the compiler adapts to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import I32, DenseArrayBase, SignlessIntegerConstraint, VectorType
from xdsl.interpreter import Interpreter
from xdsl.interpreters import builtin
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    irdl_to_attr_constraint,
    operand_def,
    prop_def,
    result_def,
    successor_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator, Pure

__all__ = [
    "BrOp",
    "FPTruncOp",
    "InsertElementOp",
    "PoisonOp",
    "ShuffleVectorOp",
    "by_name",
    "xdsl_scalar",
]


# Differences between releases of xDSL in values of interpreters, and in its operations.


T = TypeVar("T")

_SCALARS_ARE_ATTRIBUTES = TYPE_CHECKING or hasattr(builtin, "scalar_attr")


def xdsl_scalar(value: float, type: Attribute) -> object:
    """Return a number as xDSL's functions take it: since xDSL 0.75 an attribute of `type`, before
    that the number itself."""
    if not _SCALARS_ARE_ATTRIBUTES:
        return value
    return builtin.scalar_attr(value, type, Interpreter.DEFAULT_BITWIDTH)


def by_name(dialect: Dialect, table: Mapping[str, T]) -> dict[type[Operation], T]:
    """Return a table by classes, without the operations that this xDSL does not have."""
    return {op: table[op.name] for op in dialect.operations if op.name in table}


# Operations of the dialects llvm and ub that xDSL did not always have.


if TYPE_CHECKING:
    from xdsl.dialects.llvm import BrOp, FPTruncOp, InsertElementOp, ShuffleVectorOp
    from xdsl.dialects.ub import PoisonOp
else:
    try:
        from xdsl.dialects.llvm import FPTruncOp
    except ImportError:  # since xDSL 0.72

        @irdl_op_definition
        class FPTruncOp(llvm.GenericCastOp):
            name = "llvm.fptrunc"

    try:
        from xdsl.dialects.llvm import BrOp
    except ImportError:  # since xDSL 0.66

        @irdl_op_definition
        class BrOp(IRDLOperation):
            name = "llvm.br"
            arguments = var_operand_def()
            successor = successor_def()
            traits = traits_def(IsTerminator())
            assembly_format = "$successor (`(` $arguments^ `:` type($arguments) `)`)? attr-dict"

    try:
        from xdsl.dialects.llvm import InsertElementOp, ShuffleVectorOp
    except ImportError:  # since xDSL 0.66

        @irdl_op_definition
        class InsertElementOp(IRDLOperation):
            name = "llvm.insertelement"
            T: ClassVar = VarConstraint("T", AnyAttr())
            V: ClassVar = VarConstraint("V", VectorType.constr(T))
            vector = operand_def(V)
            value = operand_def(T)
            index = operand_def(SignlessIntegerConstraint)
            res = result_def(V)
            traits = traits_def(Pure())
            assembly_format = (
                "$value `,` $vector `[` $index `:` type($index) `]` attr-dict `:` type($vector)"
            )

        @irdl_op_definition
        class ShuffleVectorOp(IRDLOperation):
            name = "llvm.shufflevector"
            T: ClassVar = VarConstraint("T", VectorType.constr(AnyAttr()))
            v1 = operand_def(T)
            v2 = operand_def(T)
            mask = prop_def(irdl_to_attr_constraint(DenseArrayBase[I32]))
            res = result_def(VectorType)
            traits = traits_def(Pure())
            # Printed in the generic form: the type of the result cannot be inferred from a mask.

    try:
        from xdsl.dialects.ub import PoisonOp
    except ImportError:  # since xDSL 0.66; no IR has such an op before

        @irdl_op_definition
        class PoisonOp(IRDLOperation):
            name = "ub.poison"
            result = result_def()
