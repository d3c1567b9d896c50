"""Calls of kernels: of functions on buffers."""

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

from .base import RelaxOp
from .types import is_tensor, refine

__all__ = ["CallTIROp"]


class CallTIRSymbolUse(SymbolUserOpInterface):
    """The callee is a function without results, whose parameters are the operands and then the
    results, each tensor a buffer."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallTIROp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if callee is None:
            raise VerifyException(f"calls {op.callee}, which is no symbol of the module")
        type = callee.get_attr_or_prop("function_type")
        if not isinstance(type, FunctionType):
            raise VerifyException(f"calls {op.callee}, which is a '{callee.name}', not a function")
        if type.outputs.data:
            raise VerifyException(
                f"calls {op.callee}, which returns results: it has to write them into buffers, "
                "its last parameters"
            )
        values = [*op.operand_types, *op.result_types]
        if len(type.inputs.data) != len(values):
            raise VerifyException(
                f"gives {op.callee} {len(op.operands)} operands and {len(op.results)} results, "
                f"but it has {len(type.inputs.data)} parameters"
            )
        for number, (parameter, value) in enumerate(zip(type.inputs.data, values, strict=True)):
            if refine(as_tensor(parameter), value) is None:
                raise VerifyException(
                    f"gives {op.callee} {value} as parameter {number}, which is {parameter}"
                )


def as_tensor(parameter: Attribute) -> Attribute:
    """The type of the tensor that a buffer holds; any other type as it is."""
    match parameter:
        case MemRefType():
            return TensorType(parameter.element_type, parameter.get_shape())
        case UnrankedMemRefType():
            return UnrankedTensorType(parameter.element_type)
        case _:
            return parameter


@irdl_op_definition
class CallTIROp(RelaxOp):
    """A call of a kernel, which writes its results into buffers that it is given (`call_tir`).

    `%r = relax.call_tir @f(%x) : (type) -> type`; the result types are the shapes to allocate.
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

    def verify_(self) -> None:
        for type in self.res.types:
            if not is_tensor(type):
                raise VerifyException(f"gives {type}, which is no tensor")
