"""The semantics of functions on buffers, loops and calls."""

from __future__ import annotations

from xdsl.dialects import affine, func, memref, scf, tensor
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    register_impls,
)
from xdsl.ir import Operation

from ....dialects.tir import ops

__all__ = ["RETURNS", "BufferFunctions", "return_operands"]


def return_operands(
    self: InterpreterFunctions, _: Interpreter, op: Operation, args: PythonValues
) -> tuple[TerminatorValue, PythonValues]:
    """Return from a function or a region with the operands of a terminator."""
    return ReturnedValues(args), ()


RETURNS: frozenset[type[Operation]] = frozenset(
    {
        affine.YieldOp,
        func.ReturnOp,
        memref.AllocaScopeReturnOp,
        scf.ConditionOp,
        scf.ReduceOp,
        scf.ReduceReturnOp,
        scf.YieldOp,
        tensor.YieldOp,
        ops.YieldOp,
    }
)
"""The terminators of tir and of MLIR's dialects that return their operands."""


@register_impls
class BufferFunctions(InterpreterFunctions):
    """The control flow of tir; all loops run sequentially."""

    @impl_callable(ops.PrimFuncOp)
    def call_prim_func(
        self, interpreter: Interpreter, op: ops.PrimFuncOp, args: PythonValues
    ) -> PythonValues:
        if op.is_declaration:
            return interpreter.call_external(op.sym_name.data, op, args)
        return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)

    @impl(ops.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: ops.CallOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.call_op(op.callee, args)

    @impl(ops.ForOp)
    def run_for(self, interpreter: Interpreter, op: ops.ForOp, args: PythonValues) -> PythonValues:
        min, extent = args
        body = op.body
        for i in range(min, min + extent):
            interpreter.run_ssacfg_region(body, (i,), "for")
        return ()

    @impl(ops.LikelyOp)
    def run_likely(self, _: Interpreter, op: ops.LikelyOp, args: PythonValues) -> PythonValues:
        return args
