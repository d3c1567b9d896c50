"""Operations computed by machine code of the kernels that `legalize-ops` makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from evaluation import Array
from evaluation import run_all as run_on_numpy
from legalized import check_close, legalize, module_of
from xdsl.builder import Builder
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from passline.dialects.relax.kernels import CallTIROp
from passline.dialects.tir.ops import CallOp, PrimFuncOp, YieldOp
from passline.passmanager import PassContext
from passline.passmanager.ir.verifying import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.tools.native import compile_module

__all__ = ["check_machine_code"]


def check_machine_code(ops: Sequence[Operation], rtol: float = 0, atol: float = 0) -> None:
    """Check that one function, as machine code, of the kernels of all operations gives what these
    do on the constants that they are given."""
    module = module_of(ops)
    legalize(module)
    main = main_of(module)
    module.body.block.add_op(main)
    verify(module)
    arguments: list[Array] = []
    expected: list[Array] = []
    for op in ops:
        owners = [operand.owner for operand in op.operands]
        arguments += [run_on_numpy(v)[0] for v in owners if isinstance(v, Operation)]
        expected += run_on_numpy(op)
    with PassContext():
        parse_pipeline("tir-unroll-loop,tir-vectorize-loop").apply(make_ir_context(), module)
    actual = compile_module(module)(*arguments)
    names = [op.name for op in ops for _ in op.results]
    for name, mine, other in zip(names, actual, expected, strict=True):
        try:
            check_close(np.asarray(mine), other, rtol, atol)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def main_of(module: ModuleOp) -> PrimFuncOp:
    """A function `@main` that calls the kernel of each function: the buffers of all parameters,
    then those of all results."""
    functions = [func for func in module.ops if isinstance(func, FuncOp)]
    calls = [call_in(func) for func in functions]
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, PrimFuncOp)}
    callees = [kernels[call.callee.root_reference.data] for call in calls]
    inputs: list[Attribute] = []
    outputs: list[Attribute] = []
    for func, call, callee in zip(functions, calls, callees, strict=True):
        types = callee.function_type.inputs.data
        outputs += types[len(call.arguments) :]
        by_parameter = dict(zip(call.arguments, types))
        inputs += [by_parameter[arg] for arg in func.args]
    count = IntegerAttr(len(outputs), i64)
    main = PrimFuncOp("main", [*inputs, *outputs], attributes={"tir.outputs": count})
    given, results = iter(main.args), iter(main.args[len(inputs) :])
    builder = Builder(InsertPoint.at_end(main.body.block))
    for func, call, callee in zip(functions, calls, callees, strict=True):
        buffers: dict[SSAValue, BlockArgument] = {arg: next(given) for arg in func.args}
        operands = [buffers[arg] for arg in call.arguments]
        builder.insert(CallOp(call.callee, [*operands, *(next(results) for _ in call.results)]))
    builder.insert(YieldOp())
    return main


def call_in(func: FuncOp) -> CallTIROp:
    """The call that a function consists of."""
    call = func.body.block.first_op
    assert isinstance(call, CallTIROp), f"there is no kernel for\n{func}"
    return call
