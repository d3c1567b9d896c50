"""Calls of kernels, which are functions on buffers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    FunctionType,
    MemRefType,
    SymbolRefAttr,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import Pure, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from ..signature import of_signature
from .base import RelaxOp
from .types import is_tensor, refine

__all__ = ["CallTIROp"]


class CallTIRSymbolUse(SymbolUserOpInterface):
    """The check that the callee's parameters match the operands and results.

    The callee is a function without results; its parameters are the operands, then the results,
    with a buffer in the place of each tensor.
    """

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallTIROp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if callee is None:
            raise VerifyException(f"calls {op.callee}, which is not a symbol of the module")
        type = callee.get_attr_or_prop("function_type")
        if not isinstance(type, FunctionType):
            raise VerifyException(f"calls {op.callee}, which is a '{callee.name}', not a function")
        if type.outputs.data:
            raise VerifyException(
                f"calls {op.callee}, which returns results: a kernel writes them into buffers, "
                "its last parameters"
            )
        values = [*op.operand_types, *op.result_types]
        if len(type.inputs.data) != len(values):
            raise VerifyException(
                f"calls {op.callee} with {len(op.operands)} operands and {len(op.results)} results,"
                f" but it has {len(type.inputs.data)} parameters"
            )
        for number, (parameter, value) in enumerate(zip(type.inputs.data, values, strict=True)):
            if refine(as_tensor(parameter), value) is None:
                raise VerifyException(
                    f"calls {op.callee} with {value} for parameter {number}, which is {parameter}"
                )


def as_tensor(parameter: Attribute) -> Attribute:
    """Return the tensor type for a buffer type; any other type unchanged."""
    match parameter:
        case MemRefType():
            return TensorType(parameter.element_type, parameter.get_shape())
        case UnrankedMemRefType():
            return UnrankedTensorType(parameter.element_type)
        case _:
            return parameter


@irdl_op_definition
class CallTIROp(RelaxOp):
    """A call of a kernel in destination-passing style (`relax.call_tir`).

    `%r = relax.call_tir @f(%x) : (type) -> type`. The kernel writes its results into buffers, which
    are allocated with the shapes of the result types.
    """

    name = "relax.call_tir"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    res = var_result_def()

    traits = traits_def(Pure(), CallTIRSymbolUse())

    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        arguments: Sequence[SSAValue | Operation],
        results: Sequence[Attribute],
    ):
        super().__init__(
            operands=[arguments],
            properties={"callee": SymbolRefAttr(callee) if isinstance(callee, str) else callee},
            result_types=[results],
        )

    @of_signature
    def verify_(self) -> None:
        for type in self.res.types:
            if not is_tensor(type):
                raise VerifyException(f"result type {type} is not a tensor")
