"""Calls and callables: the interfaces of operations that call, and of those that are called."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import CallableOpInterface, OpTrait

from .external_models import Implementations
from .symbols import SymbolTables

if TYPE_CHECKING:
    from xdsl.dialects.llvm import LLVMFunctionType

__all__ = [
    "CALLABLES",
    "CALLS",
    "CallOpInterface",
    "CallableOpInterface",
    "SymbolCall",
    "ValueCall",
    "callable_of",
    "callable_region",
]


class CallOpInterface(OpTrait, abc.ABC):
    """Interface of operations that pass control to a callable and come back (`func.call`).

    The callable has the trait `CallableOpInterface`, which is xDSL's. Source: MLIR's
    `CallOpInterface`.
    """

    @classmethod
    @abc.abstractmethod
    def get_callee(cls, op: Operation) -> SymbolRefAttr | SSAValue | None:
        """Return the symbol of the callable, or the value that is it; None if neither is known."""
        raise NotImplementedError

    @classmethod
    @abc.abstractmethod
    def get_arguments(cls, op: Operation) -> Sequence[SSAValue]:
        """Return the operands that become the arguments of the callable's region."""
        raise NotImplementedError

    @classmethod
    def get_branch(cls, block: Block, values: Sequence[SSAValue]) -> Operation:
        """Return a branch to `block` with `values`, which takes the place of a return of the
        callable if its body has several blocks and is inlined: `cf.br`."""
        from xdsl.dialects.cf import BranchOp

        return BranchOp(block, *values)


class SymbolCall(CallOpInterface):
    """A call of the symbol in `callee` with all operands as arguments."""

    @classmethod
    def get_callee(cls, op: Operation) -> SymbolRefAttr | SSAValue | None:
        callee = op.get_attr_or_prop("callee")
        return callee if isinstance(callee, SymbolRefAttr) else None

    @classmethod
    def get_arguments(cls, op: Operation) -> Sequence[SSAValue]:
        return op.operands


class ValueCall(CallOpInterface):
    """A call of the first operand with the others as arguments."""

    @classmethod
    def get_callee(cls, op: Operation) -> SymbolRefAttr | SSAValue | None:
        return op.operands[0]

    @classmethod
    def get_arguments(cls, op: Operation) -> Sequence[SSAValue]:
        return op.operands[1:]


class _LLVMCall(SymbolCall):
    """`llvm.call` of a symbol; the first operand is the callee if there is no symbol."""

    @classmethod
    def get_callee(cls, op: Operation) -> SymbolRefAttr | SSAValue | None:
        return super().get_callee(op) or (op.operands[0] if op.operands else None)

    @classmethod
    def get_arguments(cls, op: Operation) -> Sequence[SSAValue]:
        from xdsl.dialects.llvm import CallOp

        assert isinstance(op, CallOp)
        return op.args if super().get_callee(op) else op.args[1:]

    @classmethod
    def get_branch(cls, block: Block, values: Sequence[SSAValue]) -> Operation:
        from xdsl.dialects.llvm import BrOp

        return BrOp(block, *values)


class _LLVMFunction(CallableOpInterface):
    """`llvm.func`."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        return op.regions[0]

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return _function_type(op).inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        from xdsl.dialects.llvm import LLVMVoidType

        output = _function_type(op).output
        return () if isinstance(output, LLVMVoidType) else (output,)


class _OtherFunction(CallableOpInterface):
    """Functions of other dialects for which xDSL declares the interface of `func.func`, which
    refuses them."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        return op.regions[0]

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return _type_of(op).inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return _type_of(op).outputs.data


def _type_of(op: Operation) -> FunctionType:
    return cast("FunctionType", op.get_attr_or_prop("function_type"))


def _function_type(op: Operation) -> LLVMFunctionType:
    from xdsl.dialects.llvm import FuncOp

    assert isinstance(op, FuncOp)
    return op.function_type


CALLS: Final = Implementations(
    CallOpInterface,
    {
        "func.call": SymbolCall(),
        "func.call_indirect": ValueCall(),
        "llvm.call": _LLVMCall(),
        "riscv_func.call": SymbolCall(),
        "csl.call": SymbolCall(),
    },
)
"""The implementations of `CallOpInterface`: `CALLS[type(op)]`, None if `op` is no call."""

CALLABLES: Final = Implementations(
    CallableOpInterface,
    {"llvm.func": _LLVMFunction()},
    instead=dict.fromkeys(
        (
            *("arm_func.func", "pdl_interp.func", "riscv_func.func"),
            *("transform.named_sequence", "x86_func.func"),
        ),
        _OtherFunction(),
    ),
)
"""The implementations of `CallableOpInterface`: `CALLABLES[type(op)]`, None if `op` is none."""


def callable_of(call: Operation, symbols: SymbolTables) -> Operation | None:
    """Return the callable operation that `call` calls; None if `call` has no call interface, or
    its callee is not known (MLIR: `resolveCallableInTable`).

    A callee that is a value is known if a callable operation defines it, as `relax.lambda`.
    """
    if (interface := CALLS[type(call)]) is None:
        return None
    callee = interface.get_callee(call)
    if isinstance(callee, SymbolRefAttr):
        found = symbols.lookup(call, callee)
    else:
        found = callee.op if isinstance(callee, OpResult) else None
        if found is not None and found.name == "func.constant":
            reference = found.get_attr_or_prop("value")
            if isinstance(reference, SymbolRefAttr):
                found = symbols.lookup(found, reference)
    return found if found is not None and CALLABLES[type(found)] is not None else None


def callable_region(op: Operation) -> Region | None:
    """Return the body of a callable operation; None if `op` is none, or only a declaration."""
    if (interface := CALLABLES[type(op)]) is None:
        return None
    region = interface.get_callable_region(op)
    return region if region.blocks else None
