"""The dialect: programs and their instructions."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, SymbolNameConstraint, i64
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface

from .evaluate import EvaluateOp

__all__ = ["AddOp", "PrintOp", "ProgramOp", "PushOp", "StackVM"]


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """A named program: a sequence of instructions on one stack."""

    name = "stackvm.program"

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    assembly_format = "$sym_name attr-dict-with-keyword $body"


@irdl_op_definition
class PushOp(IRDLOperation):
    """Push a number on the stack."""

    name = "stackvm.push"

    value = prop_def(IntegerAttr[I64])

    assembly_format = "$value attr-dict"

    def __init__(self, value: int):
        super().__init__(properties={"value": IntegerAttr(value, i64)})


@irdl_op_definition
class AddOp(IRDLOperation):
    """Pop two numbers and push their sum."""

    name = "stackvm.add"

    assembly_format = "attr-dict"


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Pop a number and print it."""

    name = "stackvm.print"

    assembly_format = "attr-dict"


StackVM = Dialect("stackvm", [ProgramOp, PushOp, AddOp, PrintOp, EvaluateOp])
