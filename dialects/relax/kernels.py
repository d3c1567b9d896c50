"""Calls of kernels, which are functions on buffers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IndexType,
    MemRefType,
    SymbolRefAttr,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    ParsePropInAttrDict,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from ..signature import of_signature
from .attributes import PropertyValue, ints_prop, properties_of
from .base import RelaxOp
from .types import is_ranked, is_tensor, refine

__all__ = ["CallTIRInplaceOp", "CallTIROp", "KernelCallOp"]


class CallTIRSymbolUse(SymbolUserOpInterface):
    """The check that the callee's parameters match the operands and results.

    The callee is a function without results; its parameters are the operands, then the results,
    with a buffer in the place of each tensor.
    """

    def verify(self, op: Operation) -> None:
        assert isinstance(op, KernelCallOp)
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
        values = [*op.arguments.types, *(result.type for result in op.new_results())]
        if len(type.inputs.data) != len(values):
            raise VerifyException(
                f"calls {op.callee} with {len(op.arguments)} operands and {len(op.results)} "
                f"results, but it has {len(type.inputs.data)} parameters"
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


def unknown_sizes(type: Attribute) -> int:
    """Return the number of unknown dimensions of a tensor type; 0 for an unknown rank."""
    return type.get_shape().count(DYNAMIC_INDEX) if is_ranked(type) else 0


class KernelCallOp(RelaxOp, ABC):
    """A call of a kernel; `sizes` are the sizes of the unknown dimensions of its new results, in
    order of results and dimensions."""

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    sizes = var_operand_def(IndexType)
    res = var_result_def()

    traits = traits_def(Pure(), CallTIRSymbolUse())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$callee `(` $arguments `)` (`sizes` `(` $sizes^ `)`)? attr-dict "
        "`:` functional-type($arguments, $res)"
    )

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        arguments: Sequence[SSAValue | Operation],
        results: Sequence[Attribute],
        sizes: Sequence[SSAValue | Operation] = (),
        **properties: PropertyValue,
    ):
        symbol = SymbolRefAttr(callee) if isinstance(callee, str) else callee
        super().__init__(
            operands=[arguments, sizes],
            properties={**properties_of(type(self), properties), "callee": symbol},
            result_types=[results],
        )

    @of_signature
    def verify_(self) -> None:
        for type in self.res.types:
            if not is_tensor(type):
                raise VerifyException(f"result type {type} is not a tensor")
        expected = sum(unknown_sizes(result.type) for result in self.new_results())
        if len(self.sizes) != expected:
            raise VerifyException(
                f"has {len(self.sizes)} sizes, expected {expected}: one for each unknown dimension "
                "of the results"
            )

    def new_results(self) -> Sequence[SSAValue]:
        """Return the results in buffers of their own."""
        return self.res


@irdl_op_definition
class CallTIROp(KernelCallOp):
    """A call of a kernel in destination-passing style (`relax.call_tir`).

    `%r = relax.call_tir @f(%x) sizes(%n) : (type) -> type`. The kernel writes its results into
    buffers, which are allocated with the shapes of the result types; `sizes` are the sizes of their
    unknown dimensions, in order of results and dimensions.
    """

    name = "relax.call_tir"


@irdl_op_definition
class CallTIRInplaceOp(KernelCallOp):
    """A call of a kernel that computes results in the buffers of operands.

    `%r = relax.call_tir_inplace @f(%x) {inplace_indices = array<i64: 0>} : (type) -> type`.
    Result i is what the kernel leaves in the buffer of operand `inplace_indices[i]`; -1 stands for
    a buffer of its own, after the operands, with the next `sizes` for its unknown dimensions. The
    operands stay values: `plan-memory` copies an operand that is used later.
    """

    name = "relax.call_tir_inplace"

    inplace_indices = ints_prop()

    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        arguments: Sequence[SSAValue | Operation],
        results: Sequence[Attribute],
        inplace_indices: Sequence[int],
        sizes: Sequence[SSAValue | Operation] = (),
    ):
        super().__init__(callee, arguments, results, sizes, inplace_indices=inplace_indices)

    def new_results(self) -> Sequence[SSAValue]:
        pairs = zip(self.res, self.inplace_indices, strict=True)
        return [result for result, index in pairs if index < 0]

    @of_signature
    def verify_(self) -> None:
        indices = [*self.inplace_indices]
        if len(indices) != len(self.res):
            raise VerifyException(
                f"inplace_indices {indices} has {len(indices)} numbers for {len(self.res)} results"
            )
        in_place = [index for index in indices if index != -1]
        if len({*in_place}) < len(in_place):
            raise VerifyException(f"inplace_indices {indices} names an operand twice")
        for result, index in zip(self.res, indices, strict=True):
            if not -1 <= index < len(self.arguments):
                raise VerifyException(f"there is no operand {index}, only {len(self.arguments)}")
            if index >= 0 and self.arguments[index].type != result.type:
                raise VerifyException(
                    f"result type {result.type} is not the type of operand {index}, "
                    f"{self.arguments[index].type}"
                )
        super().verify_()
