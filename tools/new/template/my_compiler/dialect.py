"""The dialect `my_compiler`."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, i64
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

__all__ = ["MyCompiler", "PowerOp"]


@irdl_op_definition
class PowerOp(IRDLOperation):
    """The power of an integer with a constant exponent of at least 0, modulo 2^64."""

    name = "my_compiler.power"

    base = operand_def(I64)
    exponent = prop_def(IntegerAttr[I64])
    result = result_def(I64)

    traits = traits_def(Pure())  # passes may merge it, move it, and erase it if it is unused

    assembly_format = "$base `,` $exponent attr-dict"

    def __init__(self, base: SSAValue | Operation, exponent: int):
        properties = {"exponent": IntegerAttr(exponent, i64)}
        super().__init__(operands=[base], properties=properties, result_types=[i64])

    def verify_(self) -> None:
        if self.exponent.value.data < 0:
            raise VerifyException(f"the exponent is {self.exponent.value.data}, less than 0")


MyCompiler = Dialect("my_compiler", [PowerOp])
